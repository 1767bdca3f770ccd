#include "core/src/filters/kinds/scalable/scalable_kind.h"

#include <string>

#include "core/src/filters/kinds/scalable/scalable_file.h"
#include "tamis/error.h"
#include "tamis/file/filter_kind_name.h"
#include "tamis/filters/any_scalable_filter.h"
#include "tamis/filters/scalable_filter.h"

namespace tamis {
namespace {

// The functions of a class of scalable filters, which depends on the kind of their layers.
struct LayerKind {
  FilterKind kind;
  AnyFilter (*make)(const ScalableOptions& options);
  AnyFilter (*load)(const detail::InputFile& file, const LoadOptions& options);
  AnyFilter (*map)(const detail::InputFile& file, const MapOptions& options);
  AnyFilter (*clone)(const Filter& filter, const MemoryOptions& memory);
  std::optional<ScalableView> (*view)(const Filter& filter);
};

template <typename F>
constexpr LayerKind Of() {
  using Scalable = ScalableFilter<F>;
  return {F::kKind,
          [](const ScalableOptions& options) -> AnyFilter { return Scalable(options); },
          [](const detail::InputFile& file, const LoadOptions& options) -> AnyFilter {
            return detail::FilterAccess::Make<Scalable>(detail::LoadLayers(file, F::kKind, options),
                                                        options.memory, options.backend);
          },
          [](const detail::InputFile& file, const MapOptions& options) -> AnyFilter {
            return detail::FilterAccess::Make<Scalable>(detail::MapLayers(file, F::kKind, options),
                                                        MemoryOptions{}, options.backend);
          },
          detail::CloneAs<Scalable>,
          [](const Filter& filter) -> std::optional<ScalableView> {
            const auto* const scalable = dynamic_cast<const Scalable*>(&filter);
            if (scalable == nullptr) return std::nullopt;
            ScalableView view{scalable->options(), {}};
            for (const F& layer : scalable->layers()) view.layers.push_back(&layer);
            return view;
          }};
}

constexpr LayerKind kLayerKinds[] = {Of<SplitBlockBloomFilter>(), Of<CuckooFilter<8>>(),
                                     Of<CuckooFilter<12>>(), Of<CuckooFilter<16>>(),
                                     Of<BloomFilter>()};

const LayerKind* Find(FilterKind kind) {
  for (const LayerKind& layer : kLayerKinds) {
    if (layer.kind == kind) return &layer;
  }
  return nullptr;
}

// `header` must have passed its checks.
const LayerKind& LayersOf(const FileHeader& header) {
  return *Find(static_cast<FilterKind>(header.geometry[1]));
}

AnyFilter LoadLayered(const detail::InputFile& file, const LoadOptions& options) {
  return LayersOf(file.header()).load(file, options);
}

AnyFilter MapLayered(const detail::InputFile& file, const MapOptions& options) {
  return LayersOf(file.header()).map(file, options);
}

AnyFilter CloneLayered(const Filter& filter, const MemoryOptions& memory) {
  return LayersOf(filter.Header()).clone(filter, memory);
}

}  // namespace

AnyFilter MakeScalableFilter(FilterKind layers, const ScalableOptions& options) {
  const LayerKind* const found = Find(layers);
  if (found == nullptr) {
    throw Error(ErrorCode::kInvalidArgument,
                std::string("a scalable filter cannot have ") + FilterKindName(layers) + " layers");
  }
  return found->make(options);
}

std::optional<ScalableView> ViewScalable(const Filter& filter) {
  for (const LayerKind& layer : kLayerKinds) {
    if (std::optional<ScalableView> view = layer.view(filter)) return view;
  }
  return std::nullopt;
}

namespace detail {

constexpr Kind kScalableKind = {
    .info = {.kind = FilterKind::kScalable,
             .name = "scalable",
             .can = {.grow = true},
             .geometry = {"layers"},
             .no_merge = "scalable filters have layers of different sizes; query both",
             .has_layers = true},
    .file = {.check_geometry = CheckScalableGeometry, .read_layers = ReadLayers},
    .make = nullptr,
    .load = LoadLayered,
    .map = MapLayered,
    .clone = CloneLayered,
    .calibration = {.costs_as = FilterKind::kSplitBlock},
};

}  // namespace detail
}  // namespace tamis
