// Binary fuse filters in plain C++: the reference for all other backends.
#include "core/src/backend/portable.h"
#include "tamis/layout/fuse.h"

namespace tamis::detail {
namespace {

template <int kBits>
void FuseContains(const fuse::Table& table, const Batch& batch, uint64_t* bits) {
  BitOfEach(batch, bits, [&](uint64_t hash) { return fuse::Contains<kBits>(table, hash); });
}

}  // namespace

namespace portable {

constexpr FuseKernels fuse8 = {.contains = FuseContains<8>};
constexpr FuseKernels fuse12 = {.contains = FuseContains<12>};
constexpr FuseKernels fuse16 = {.contains = FuseContains<16>};
constexpr FuseKernels fuse32 = {.contains = FuseContains<32>};

}  // namespace portable
}  // namespace tamis::detail
