#include "tamis/any_filter.h"

#include "tamis/bloom_filter.h"
#include "tamis/counting_filter.h"
#include "tamis/cuckoo_filter.h"
#include "tamis/scalable_filter.h"
#include "tamis/split_block_filter.h"

namespace tamis {
namespace {

// Calls visit<F>() for the class F of the kind, one that layers can be of.
template <typename Visit>
AnyFilter VisitLayerKind(FilterKind kind, const Visit& visit) {
  switch (kind) {
    case FilterKind::kCuckoo8:
      return visit.template operator()<CuckooFilter<8>>();
    case FilterKind::kCuckoo12:
      return visit.template operator()<CuckooFilter<12>>();
    case FilterKind::kCuckoo16:
      return visit.template operator()<CuckooFilter<16>>();
    case FilterKind::kBloom:
      return visit.template operator()<BloomFilter>();
    default:  // ReadHeader has refused all others
      return visit.template operator()<SplitBlockBloomFilter>();
  }
}

// Calls open_as<F>() for the class F of the filter in the file.
template <typename OpenAs>
AnyFilter Dispatch(const std::filesystem::path& path, const OpenAs& open_as) {
  const FileHeader header = ReadHeader(path);
  switch (header.kind) {
    case FilterKind::kCounting:
      return open_as.template operator()<CountingBloomFilter>();
    case FilterKind::kScalable:
      return VisitLayerKind(static_cast<FilterKind>(header.geometry[1]),
                            [&]<typename F>() -> AnyFilter {
                              return open_as.template operator()<ScalableFilter<F>>();
                            });
    default:
      return VisitLayerKind(header.kind, open_as);
  }
}

}  // namespace

AnyFilter Open(const std::filesystem::path& path, const LoadOptions& options) {
  return Dispatch(path, [&]<typename F>() -> AnyFilter { return F::Load(path, options); });
}

AnyFilter OpenMapped(const std::filesystem::path& path, const MapOptions& options) {
  return Dispatch(path, [&]<typename F>() -> AnyFilter { return F::Map(path, options); });
}

}  // namespace tamis
