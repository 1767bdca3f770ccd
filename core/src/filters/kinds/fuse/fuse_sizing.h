// The sizes and rates of binary fuse filters.
#ifndef TAMIS_CORE_SRC_FILTERS_KINDS_FUSE_FUSE_SIZING_H_
#define TAMIS_CORE_SRC_FILTERS_KINDS_FUSE_FUSE_SIZING_H_

#include <cstdint>

#include "tamis/layout/fuse.h"

namespace tamis::detail {

// Returns 2^-bits + keys * 2^-64: the probabilities of equal fingerprints and of equal hashes.
// Returns 0 for no keys.
double FuseFpr(int fingerprint_bits, double keys) noexcept;

// Throws Error(kInvalidArgument) if `fpr` is out of range, or below FuseFpr.
void CheckFuseFpr(int fingerprint_bits, uint64_t keys, double fpr);

// Throws Error(kInvalidArgument) for more than fuse::kMaxKeys keys.
void CheckFuseKeys(uint64_t keys);

// The number of shards of a filter of `keys` <= fuse::kMaxKeys keys is 1 << LogShards(keys).
uint32_t LogShards(uint64_t keys) noexcept;

// The geometry of a filter of `keys` <= fuse::kMaxKeys different keys. `growth` is the number of
// smaller geometries with which construction failed; for random keys, 0 is enough.
fuse::Geometry FuseGeometry(uint64_t keys, uint32_t growth = 0);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_KINDS_FUSE_FUSE_SIZING_H_
