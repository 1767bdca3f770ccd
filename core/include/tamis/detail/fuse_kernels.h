// The kernels of a backend for binary fuse filters.
#ifndef TAMIS_DETAIL_FUSE_KERNELS_H_
#define TAMIS_DETAIL_FUSE_KERNELS_H_

#include <cstdint>

#include "tamis/detail/batch.h"

namespace tamis::fuse {
struct Table;
}  // namespace tamis::fuse

namespace tamis::detail {

struct FuseKernels {
  // See the function with the same name in SplitBlockKernels.
  void (*contains)(const fuse::Table& table, const Batch& batch, uint64_t* bits);
};

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_FUSE_KERNELS_H_
