#include "tamis/engine/build.h"

#include <algorithm>
#include <optional>

#include "core/src/engine/engine_access.h"
#include "core/src/filters/registry/kinds.h"

namespace tamis {

void detail::WithWorkers(const Engine* engine, const std::function<void(Workers&)>& work) {
  if (engine != nullptr) return EngineAccess::WithWorkers(*engine, work);
  CallingThread alone;
  work(alone);
}

AnyFilter BuildFilter(FilterKind kind, const RepeatableSource& source, FilterOptions options,
                      const Engine* engine) {
  if (KindInfo(kind).is_static) {
    std::optional<AnyFilter> filter;
    detail::WithWorkers(engine, [&](detail::Workers& workers) {
      filter = detail::KindOf(kind).build(source, options, workers);
    });
    return *std::move(filter);
  }
  const uint64_t count = detail::CountKeys(source, options);
  options.capacity = std::max<uint64_t>(count, 1);
  AnyFilter filter = MakeFilter(kind, options);
  ChangeableFilter& changeable = RequireChangeable(*filter);
  uint64_t inserted = 0;
  detail::AddCounted(source, count, [&](const Keys& keys) {
    inserted += engine != nullptr ? engine->Insert(changeable, keys) : changeable.Insert(keys);
  });
  detail::RequireAllInserted(inserted, count);
  return filter;
}

}  // namespace tamis
