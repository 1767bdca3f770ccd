#include "tools/filter_kinds.h"

#include <tamis/bloom_filter.h>
#include <tamis/counting_filter.h>
#include <tamis/cuckoo_filter.h>
#include <tamis/error.h>
#include <tamis/split_block_filter.h>

namespace tamis::tools {
namespace {

template <typename F>
AnyFilter Make(const FilterOptions& options) {
  return F(options);
}

template <typename F>
void Merge(AnyFilter& filter, const AnyFilter& other) {
  filter.As<F>()->Merge(*other.As<F>());
}

constexpr KindInfo kSplitBlock = {
    .kind = FilterKind::kSplitBlock,
    .make = Make<SplitBlockBloomFilter>,
    .merge = Merge<SplitBlockBloomFilter>,
    .no_merge = nullptr,
    .erases = false,
    .geometry = {"blocks"},
};

template <int kBits>
constexpr KindInfo kCuckoo = {
    .kind = CuckooFilter<kBits>::kKind,
    .make = Make<CuckooFilter<kBits>>,
    .merge = nullptr,
    .no_merge = "a cuckoo filter has one slot for each key, and two full tables do not go into one",
    .erases = true,
    .geometry = {"chunks", "chunk_buckets"},
};

constexpr KindInfo kBloom = {
    .kind = FilterKind::kBloom,
    .make = Make<BloomFilter>,
    .merge = Merge<BloomFilter>,
    .no_merge = nullptr,
    .erases = false,
    .geometry = {"bits", "hashes"},
};

constexpr KindInfo kCounting = {
    .kind = FilterKind::kCounting,
    .make = Make<CountingBloomFilter>,
    .merge = Merge<CountingBloomFilter>,
    .no_merge = nullptr,
    .erases = true,
    .geometry = {"blocks"},
};

// Not in the list of kinds that can be made of FilterOptions: see scalable.h.
constexpr KindInfo kScalable = {
    .kind = FilterKind::kScalable,
    .make = nullptr,
    .merge = nullptr,
    .no_merge = "scalable filters have layers of different sizes; query both",
    .erases = false,  // that depends on the layers
    .geometry = {"layers"},
};

constexpr KindInfo kKinds[] = {kSplitBlock, kCuckoo<8>, kCuckoo<12>,
                               kCuckoo<16>, kBloom,     kCounting};

}  // namespace

std::span<const KindInfo> FilterKinds() { return kKinds; }

const KindInfo& InfoOf(FilterKind kind) {
  for (const KindInfo& info : kKinds) {
    if (info.kind == kind) return info;
  }
  if (kind == FilterKind::kScalable) return kScalable;
  throw Error(ErrorCode::kUnsupported,
              std::string("no support for filters of kind ") + FilterKindName(kind));
}

std::vector<std::string> KindNames() {
  std::vector<std::string> names;
  for (const KindInfo& info : kKinds) names.emplace_back(FilterKindName(info.kind));
  return names;
}

}  // namespace tamis::tools
