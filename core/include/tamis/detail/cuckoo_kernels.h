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

// The low halves of places that kInsertIfAbsent did not insert.
inline constexpr uint64_t kIsIn = 0;
inline constexpr uint64_t kIsRefused = uint64_t{1} << 16;

// Of one width of fingerprints.
struct CuckooKernels {
  // As for split-block filters; `words` are the buckets.
  void (*contains)(const void* words, const cuckoo::Geometry& geometry, const Batch& batch,
                   uint64_t* bits);
  // The same for a table that another thread may be changing, and where the n values are, as by
  // `locate`.
  void (*contains_changing)(const void* words, const cuckoo::Geometry& geometry, const Batch& batch,
                            uint64_t* bits, uint64_t* places);
  // places[i] = cuckoo::Pack of where value i is; n of them.
  void (*locate)(const cuckoo::Geometry& geometry, const Batch& batch, uint64_t* places);
  // Changes one chunk (the chunks that they name do not matter) or a whole table by what n places
  // say, in their order. Where there is nothing to change the fingerprint of a place becomes 0; its
  // bucket then tells, for kInsertIfAbsent, why: kIsIn, or kIsRefused for want of room. Returns how
  // many changes there were.
  size_t (*change_chunk)(Change change, void* buckets, uint32_t chunk_buckets, uint64_t* places,
                         size_t n);
  size_t (*change_table)(Change change, void* buckets, uint32_t chunk_buckets, uint64_t* places,
                         size_t n);
};

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_CUCKOO_KERNELS_H_
