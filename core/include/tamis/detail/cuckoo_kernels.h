// The kernels of a backend for cuckoo filters.
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

// The low half of a place whose key kInsertIfAbsent did not insert: the key is in the filter, or
// was refused because there is no room for it.
inline constexpr uint64_t kIsIn = 0;
inline constexpr uint64_t kIsRefused = uint64_t{1} << 16;

// The kernels for one width of fingerprints.
struct CuckooKernels {
  // See the function with the same name in SplitBlockKernels. `words` are the buckets.
  void (*contains)(const void* words, const cuckoo::Geometry& geometry, const Batch& batch,
                   uint64_t* bits);
  // Like contains and locate, for a table that another thread may be changing: writes the bits and
  // the n places of the values.
  void (*contains_changing)(const void* words, const cuckoo::Geometry& geometry, const Batch& batch,
                            uint64_t* bits, uint64_t* places);
  // Sets places[i] to cuckoo::Pack of the place of value i, for n values.
  void (*locate)(const cuckoo::Geometry& geometry, const Batch& batch, uint64_t* places);
  // Make a change for each of n places, in their order. change_chunk changes one chunk and ignores
  // the chunk in each place. change_table changes a whole table. Return the number of places that
  // changed the table. All other places get the fingerprint 0; for kInsertIfAbsent, their low
  // halves become kIsIn or kIsRefused.
  size_t (*change_chunk)(Change change, void* buckets, uint32_t chunk_buckets, uint64_t* places,
                         size_t n);
  size_t (*change_table)(Change change, void* buckets, uint32_t chunk_buckets, uint64_t* places,
                         size_t n);
};

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_CUCKOO_KERNELS_H_
