// Engines, and plans.
#include "tamis/engine/engine.h"

#include <cstddef>
#include <string>
#include <utility>

#include "bindings/c/src/abilities.h"
#include "bindings/c/src/handles.h"
#include "bindings/c/src/options.h"
#include "bindings/c/src/text.h"
#include "tamis/c/engine.h"
#include "tamis/c/plan.h"
#include "tamis/filters/sizing.h"
#include "tamis/plan/plan.h"

namespace tamis::c {
namespace {

EngineOptions ReadEngine(const tamis_engine_options* options) {
  const tamis_engine_options given = ReadOptions(options, "options");
  RequireZero(given.reserved);
  EngineOptions engine;
  engine.threads = given.threads;
  engine.backend = ReadBackend(given.backend);
  if (given.calibration_path != nullptr) {
    engine.calibration = Calibration::Load(given.calibration_path);
  }
  return engine;
}

PlanNeeds ReadNeeds(const tamis_plan_options& given) {
  PlanNeeds needs;
  needs.must = ReadAbilities(given.must);
  if (ReadFlag(given.has_range, "has_range")) {
    needs.range = KeyRange{given.range_low, given.range_high};
  }
  needs.max_bytes = given.max_bytes;
  if (given.batch_keys != 0) needs.batch_keys = given.batch_keys;
  if (given.key_bytes != 0) needs.key_bytes = given.key_bytes;
  needs.is_static = ReadFlag(given.is_static, "is_static");
  RequireZero(given.reserved);
  return needs;
}

}  // namespace
}  // namespace tamis::c

using namespace tamis;
using namespace tamis::c;

tamis_status tamis_engine_create(const tamis_engine_options* options, tamis_engine** out) {
  return Guard([&] {
    tamis_engine*& handle = Required(out, "out");
    EngineOptions read = ReadEngine(options);
    Engine engine(read);
    handle = new tamis_engine{std::move(read), std::move(engine)};
  });
}

void tamis_engine_free(tamis_engine* engine) { delete engine; }

tamis_status tamis_engine_threads(const tamis_engine* engine, uint32_t* out) {
  return Guard([&] { Required(out, "out") = Required(engine, "engine").engine.threads(); });
}

tamis_status tamis_plan_json(const tamis_plan_options* options, const tamis_engine* engine,
                             char** out) {
  return Guard([&] {
    char*& text = Required(out, "out");
    const tamis_plan_options given = ReadOptions(Required(options, "options"), "options",
                                                 offsetof(tamis_plan_options, key_bytes));
    const FilterPlan plan =
        PlanFilters(given.keys, given.fpr != 0 ? given.fpr : kDefaultFpr, ReadNeeds(given),
                    engine != nullptr ? &engine->options : nullptr);
    text = NewText(PlanJson(plan));
  });
}
