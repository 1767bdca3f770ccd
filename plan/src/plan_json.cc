// Plans in JSON.
#include <cstdint>
#include <string>

#include "core/src/base/json.h"
#include "tamis/file/filter_kind_name.h"
#include "tamis/plan/plan.h"

namespace tamis {
namespace {

using detail::Json;

Json WholeNumber(double value) {
  if (value < 0x1p63) return static_cast<uint64_t>(value);
  return value;
}

Json AbilitiesJson(const Abilities& abilities) {
  Json json = Json::array();
  for (const AbilityInfo& info : kAbilities) {
    if (abilities.*info.ability) json.push_back(info.name);
  }
  return json;
}

Json CandidateJson(const PlanCandidate& candidate) {
  Json json = {{"name", candidate.name}};
  if (candidate.kind) json["kind"] = FilterKindName(*candidate.kind);
  if (candidate.layers) json["layers"] = FilterKindName(*candidate.layers);
  if (!candidate.possible()) {
    json["error"] = candidate.error;
    return json;
  }
  json["bytes"] = WholeNumber(candidate.bytes);
  json["bits_per_key"] = candidate.bits_per_key;
  json["fpr"] = candidate.fpr;
  json["cache_lines"] = candidate.cache_lines;
  if (candidate.probe) {
    json["probe"] = {{"ns", candidate.probe->ns},
                     {"at_least", candidate.probe->at_least},
                     {"backend", candidate.probe->backend->name},
                     {"threads", candidate.probe->threads}};
  } else {
    json["probe"] = nullptr;
  }
  json["can"] = AbilitiesJson(candidate.can);
  json["lacks"] = candidate.lacks;
  json["suitable"] = candidate.suitable();
  json["note"] = candidate.note;
  return json;
}

Json PlanToJson(const FilterPlan& plan) {
  Json json = {{"n", plan.keys}, {"fpr", plan.fpr}};
  json["needs"] = AbilitiesJson(plan.needs.must);
  json["static"] = plan.needs.is_static;
  if (plan.needs.range) json["range"] = {plan.needs.range->low, plan.needs.range->high};
  json["max_bytes"] = plan.needs.max_bytes;
  json["batch_keys"] = plan.needs.batch_keys;
  json["key_bytes"] = plan.needs.key_bytes;
  json["hit_rate"] = 0.5;
  json["calibration"] = plan.calibration.empty() ? Json() : Json(plan.calibration);
  json["filters"] = Json::array();
  json["exact"] = Json::array();
  for (const PlanCandidate& filter : plan.filters) json["filters"].push_back(CandidateJson(filter));
  for (const PlanCandidate& exact : plan.exact) json["exact"].push_back(CandidateJson(exact));
  json["least"] = {{"bytes", WholeNumber(plan.least_bytes)},
                   {"bits_per_key", 8 * plan.least_bytes / static_cast<double>(plan.keys)}};
  json["choice"] = plan.choice ? Json(plan.choice->name) : Json();
  json["advice"] = plan.advice;
  return json;
}

}  // namespace

std::string PlanJson(const FilterPlan& plan) { return detail::JsonText(PlanToJson(plan)); }

}  // namespace tamis
