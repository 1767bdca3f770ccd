#include "tools/filter_kinds.h"

#include <tamis/error.h>
#include <tamis/sizing.h>
#include <tamis/split_block_filter.h>

namespace tamis::tools {
namespace {

constexpr KindInfo kKinds[] = {
    {
        FilterKind::kSplitBlock,
        [](uint64_t capacity, double fpr) {
          return SplitBlockBlocks(capacity, fpr) * split_block::kBlockBytes;
        },
        [](double keys, uint64_t bytes) {
          return SplitBlockFpr(keys, bytes / split_block::kBlockBytes);
        },
        [](AnyFilter& filter, const AnyFilter& other) {
          filter.As<SplitBlockBloomFilter>()->Merge(*other.As<SplitBlockBloomFilter>());
        },
    },
};

}  // namespace

std::span<const KindInfo> FilterKinds() { return kKinds; }

const KindInfo& InfoOf(FilterKind kind) {
  for (const KindInfo& info : kKinds) {
    if (info.kind == kind) return info;
  }
  throw Error(ErrorCode::kUnsupported,
              std::string("no support for filters of kind ") + FilterKindName(kind));
}

}  // namespace tamis::tools
