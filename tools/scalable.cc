#include "tools/scalable.h"

#include <tamis/bloom_filter.h>
#include <tamis/cuckoo_filter.h>
#include <tamis/error.h>
#include <tamis/split_block_filter.h>

namespace tamis::tools {
namespace {

struct LayerKind {
  FilterKind kind;
  AnyFilter (*make)(const ScalableOptions& options);
  // Returns whether the filter is one with layers of this kind.
  bool (*view)(const AnyFilter& filter, ScalableView& view);
};

template <typename F>
constexpr LayerKind Of(FilterKind kind) {
  return {kind,
          [](const ScalableOptions& options) -> AnyFilter { return ScalableFilter<F>(options); },
          [](const AnyFilter& filter, ScalableView& view) {
            const auto* const scalable = filter.As<ScalableFilter<F>>();
            if (scalable == nullptr) return false;
            view.options = scalable->options();
            for (const F& layer : scalable->layers()) view.layers.push_back(&layer);
            return true;
          }};
}

constexpr LayerKind kLayerKinds[] = {
    Of<SplitBlockBloomFilter>(FilterKind::kSplitBlock), Of<BloomFilter>(FilterKind::kBloom),
    Of<CuckooFilter<8>>(FilterKind::kCuckoo8), Of<CuckooFilter<12>>(FilterKind::kCuckoo12),
    Of<CuckooFilter<16>>(FilterKind::kCuckoo16)};

}  // namespace

std::vector<std::string> LayerKindNames() {
  std::vector<std::string> names;
  for (const LayerKind& layer : kLayerKinds) names.emplace_back(FilterKindName(layer.kind));
  return names;
}

AnyFilter MakeScalable(FilterKind layer_kind, const ScalableOptions& options) {
  for (const LayerKind& layer : kLayerKinds) {
    if (layer.kind == layer_kind) return layer.make(options);
  }
  throw Error(ErrorCode::kInvalidArgument, std::string("a scalable filter cannot have ") +
                                               FilterKindName(layer_kind) + " layers");
}

ScalableView ViewScalable(const AnyFilter& filter) {
  ScalableView view;
  for (const LayerKind& layer : kLayerKinds) {
    if (layer.view(filter, view)) break;
  }
  return view;
}

}  // namespace tamis::tools
