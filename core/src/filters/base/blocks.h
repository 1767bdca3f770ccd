// Code shared by the filter kinds that consist of blocks.
#ifndef TAMIS_CORE_SRC_FILTERS_BASE_BLOCKS_H_
#define TAMIS_CORE_SRC_FILTERS_BASE_BLOCKS_H_

#include <cstdint>
#include <string>

#include "core/src/file/field_check.h"
#include "tamis/detail/str_cat.h"

namespace tamis::detail {

// Checks that the geometry is a number of blocks in [min_blocks, max_blocks]. Returns their bytes.
inline uint64_t CheckBlocks(const FileHeader& header, const FieldCheck& check, uint64_t block_bytes,
                            uint64_t min_blocks, uint64_t max_blocks) {
  check.InRange("blocks", offset::kGeometry, header.geometry[0], min_blocks, max_blocks);
  check.UnusedGeometry(header, 1);
  return header.geometry[0] * block_bytes;
}

inline std::string ShapeOfBlocks(const FileHeader& header) {
  return StrCat(header.geometry[0], " blocks");
}

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_BASE_BLOCKS_H_
