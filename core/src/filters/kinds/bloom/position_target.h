// Bulk insertion into classic filters, ordered by filter region.
#ifndef TAMIS_CORE_SRC_FILTERS_KINDS_BLOOM_POSITION_TARGET_H_
#define TAMIS_CORE_SRC_FILTERS_KINDS_BLOOM_POSITION_TARGET_H_

#include <cstdint>

#include "core/src/bulk/partitioned_writer.h"
#include "tamis/detail/kernels.h"

namespace tamis::detail {

// Returns the target for a classic filter of `words`. An entry is the low half of a position.
PositionWriter::Target PositionTarget(uint64_t* words, uint64_t num_bits, uint32_t num_hashes,
                                      const Kernels& kernels);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_KINDS_BLOOM_POSITION_TARGET_H_
