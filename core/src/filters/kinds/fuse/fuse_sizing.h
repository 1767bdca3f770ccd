// The sizes and rates of binary fuse filters.
#ifndef TAMIS_CORE_SRC_FILTERS_KINDS_FUSE_FUSE_SIZING_H_
#define TAMIS_CORE_SRC_FILTERS_KINDS_FUSE_FUSE_SIZING_H_

#include <cstdint>

#include "tamis/layout/fuse.h"

namespace tamis::detail {

// 2^-bits + keys * 2^-64: the fingerprints of two hashes are equal, or the hashes of two keys are.
// 0 for no keys.
double FuseFpr(int fingerprint_bits, double keys) noexcept;

// Throws Error(kInvalidArgument) if filters with fingerprints of this width do not have an fpr this
// low, or the fpr is out of range.
void CheckFuseFpr(int fingerprint_bits, double fpr);

// A filter of `keys` keys has 1 << LogShards(keys) shards.
uint32_t LogShards(uint64_t keys) noexcept;

// The geometry of shards of at most `shard_keys` keys. `growth` is the number of smaller geometries
// with which construction failed.
fuse::Geometry FuseGeometry(uint32_t log_shards, uint64_t shard_keys, uint32_t growth = 0);

// The geometry that a filter of `keys` distinct keys is expected to have. The largest shard
// decides, so the filter itself can be a segment per shard smaller or larger.
fuse::Geometry ExpectedFuseGeometry(uint64_t keys);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_KINDS_FUSE_FUSE_SIZING_H_
