// What a backend does for cuckoo filters.
#ifndef TAMIS_DETAIL_CUCKOO_KERNELS_H_
#define TAMIS_DETAIL_CUCKOO_KERNELS_H_

#include <cstddef>
#include <cstdint>

#include "tamis/detail/batch.h"
#include "tamis/detail/change.h"

namespace tamis::cuckoo {
struct Geometry;
}  // namespace tamis::cuckoo

namespace tamis::detail {

// Of one width of fingerprints.
struct CuckooKernels {
  // As for split-block filters; `words` are the buckets.
  void (*contains)(const void* words, const cuckoo::Geometry& geometry, const Batch& batch,
                   uint64_t* bits);
  // places[i] = cuckoo::Pack of where value i is; n of them.
  void (*locate)(const cuckoo::Geometry& geometry, const Batch& batch, uint64_t* places);
  // Inserts or erases what n places say, in their order, in one chunk (the chunks that they name do
  // not matter) or in a whole table. Where that is not possible the fingerprint of a place becomes
  // 0. Returns for how many it was.
  size_t (*change_chunk)(Change change, void* buckets, uint32_t chunk_buckets, uint64_t* places,
                         size_t n);
  size_t (*change_table)(Change change, void* buckets, uint32_t chunk_buckets, uint64_t* places,
                         size_t n);
};

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_CUCKOO_KERNELS_H_
