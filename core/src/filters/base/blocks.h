// Code shared by the filter kinds that consist of blocks.
#ifndef TAMIS_CORE_SRC_FILTERS_BASE_BLOCKS_H_
#define TAMIS_CORE_SRC_FILTERS_BASE_BLOCKS_H_

#include <cstdint>
#include <string>

#include "core/src/file/field_check.h"
#include "tamis/detail/str_cat.h"

namespace tamis::detail {

// Implements Kind::check_geometry and Kind::shape for these kinds.
template <uint64_t kMaxBlocks, uint64_t kBlockBytes>
uint64_t CheckBlocks(const FileHeader& header, const FieldCheck& check) {
  check.InRange("blocks", offset::kGeometry, header.geometry[0], 1, kMaxBlocks);
  check.UnusedGeometry(header, 1);
  return header.geometry[0] * kBlockBytes;
}

inline std::string ShapeOfBlocks(const FileHeader& header) {
  return StrCat(header.geometry[0], " blocks");
}

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_BASE_BLOCKS_H_
