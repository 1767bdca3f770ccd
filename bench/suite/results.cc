#include "bench/suite/results.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>

#include "bench/suite/other_load.h"
#include "bench/timing.h"

namespace tamis::bench {
namespace {

namespace fs = std::filesystem;

using Json = nlohmann::ordered_json;

Json Statistics(const std::vector<double>& samples) {
  return {{"median", Median(samples)},
          {"q1", Quantile(samples, 0.25)},
          {"q3", Quantile(samples, 0.75)},
          {"samples", samples}};
}

Json OrNull(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json ToJson(const Row& row, const std::string& default_backend) {
  const Case& point = row.point;
  const bool own = point.backend == nullptr;
  Json json = {{"name", row.name},
               {"kind", row.kind},
               {"library", row.library},
               {"operation", OperationName(point.operation)},
               {"backend", own ? "own" : std::string(point.backend->name)},
               {"default_backend", own || point.backend->name == default_backend},
               {"threads", point.threads},
               {"size_class", row.size_class},
               {"hit_percent", IsLookup(point.operation) ? Json(point.hit_percent) : Json()},
               {"keys", KeyTypeName(point.form)},
               {"huge_pages", row.huge_pages},
               {"filter_bytes", row.filter_bytes},
               {"num_keys", row.num_keys},
               {"call_keys", point.call_keys == 0 ? Json() : Json(point.call_keys)},
               {"batch_keys", row.batch_keys},
               {"bits_per_key",
                8 * static_cast<double>(row.filter_bytes) / static_cast<double>(row.num_keys)},
               {"fpr", row.fpr},
               {"expected_fpr", OrNull(row.expected_fpr)},
               {"ns_per_key", Statistics(row.ns_per_key)},
               {"keys_per_second", 1e9 / Median(row.ns_per_key)}};
  json["share_of_limit"] =
      row.share_of_limit.empty() ? Json() : Json(Statistics(row.share_of_limit));
  if (!row.clock.empty()) json["chained_multiplications_per_ns"] = Statistics(row.clock);
  return json;
}

Json ToJson(const Limit& limit) {
  Json json = {{"name", limit.name},       {"size_class", limit.size_class},
               {"threads", limit.threads}, {"huge_pages", limit.huge_pages},
               {"unit", limit.unit},       {"per_second", Statistics(limit.per_second)}};
  if (!limit.method.empty()) json["method"] = limit.method;
  return json;
}

Json ToJson(const Accuracy& accuracy) {
  return {{"kind", accuracy.kind},
          {"library", accuracy.library},
          {"bits_per_key", accuracy.bits_per_key},
          {"num_keys", accuracy.num_keys},
          {"queries", accuracy.queries},
          {"fpr", accuracy.fpr},
          {"expected_fpr", OrNull(accuracy.expected_fpr)}};
}

Json ToJson(const Latency& latency) {
  const auto statistics = [&](double Percentiles::*percentile) {
    std::vector<double> samples;
    for (const Percentiles& one : latency.ns) samples.push_back(one.*percentile);
    return Statistics(samples);
  };
  const bool alone = latency.large_threads == 0;
  const auto& ratios = latency.p99_over_alone;
  return {{"name", latency.name},
          {"kind", latency.kind},
          {"backend", latency.backend},
          {"threads", latency.threads},
          {"size_class", latency.size_class},
          {"filter_bytes", latency.filter_bytes},
          {"num_keys", latency.num_keys},
          {"call_keys", latency.call_keys},
          {"beside", latency.beside},
          {"large_threads", alone ? Json() : Json(latency.large_threads)},
          {"large_keys", alone ? Json() : Json(latency.large_keys)},
          {"calls", latency.calls},
          {"p50_ns", statistics(&Percentiles::p50)},
          {"p99_ns", statistics(&Percentiles::p99)},
          {"p999_ns", statistics(&Percentiles::p999)},
          {"max_ns", statistics(&Percentiles::max)},
          {"p99_over_alone", ratios.empty() ? Json() : Json(Statistics(ratios))}};
}

Json ContextJson(const Results& results) {
  Json json;
  for (const auto& [name, value] : results.context) json[name] = value;
  json["processors"] = results.processors;
  if (results.other_processors) {
    json["other_processors"] = *results.other_processors;
    json["busy"] = IsBusy(*results.other_processors, results.processors);
  }
  json["memory_bytes"] = results.memory_bytes;
  json["cache_bytes"] = {
      {"L1", results.caches.l1}, {"L2", results.caches.l2}, {"LLC", results.caches.last_level}};
  json["default_backend"] = results.default_backend;
  json["backends"] = results.backends;
  json["peers"] = Json::object();
  for (const auto& [kind, library] : results.peers) json["peers"][kind] = library;
  return json;
}

}  // namespace

void RequireWritable(const std::string& path) {
  if (path.empty()) return;
  std::error_code ignored;
  const bool is_new = !fs::exists(fs::symlink_status(path, ignored));
  if (!std::ofstream(path, std::ios::app)) {
    throw std::runtime_error("cannot write \"" + path + "\"");
  }
  if (is_new) fs::remove(path, ignored);
}

void WriteResults(const std::string& path, const Results& results) {
  Json json = {{"schema", "tamis-bench"},
               {"schema_version", kSchemaVersion},
               {"mode", results.mode},
               {"seconds", results.seconds},
               {"context", ContextJson(results)},
               {"size_classes", Json::array()},
               {"limits", Json::array()},
               {"rows", Json::array()},
               {"accuracy", Json::array()},
               {"refused", Json::array()}};
  for (const SizeClass& size : results.sizes) {
    json["size_classes"].push_back({{"name", size.name}, {"filter_bytes", size.bytes}});
  }
  for (const Limit& limit : results.limits) json["limits"].push_back(ToJson(limit));
  for (const Row& row : results.rows) {
    json["rows"].push_back(ToJson(row, results.default_backend));
  }
  for (const Accuracy& accuracy : results.accuracy) json["accuracy"].push_back(ToJson(accuracy));
  // Readers treat a file without "latencies" as a file with none.
  for (const Latency& latency : results.latencies) json["latencies"].push_back(ToJson(latency));
  for (const Refusal& refusal : results.refusals) {
    json["refused"].push_back(
        {{"backend", refusal.backend}, {"kind", refusal.kind}, {"what", refusal.what}});
  }
  // One line for each row, so that files can be read, searched and compared by lines.
  std::ofstream out(path, std::ios::binary);
  const char* before = "{\n";
  for (const auto& [name, value] : json.items()) {
    out << before << Json(name).dump() << ": ";
    before = ",\n";
    if (!value.is_array()) {
      out << value.dump();
      continue;
    }
    const char* between = "[\n";
    for (const Json& element : value) {
      out << between << "  " << element.dump();
      between = ",\n";
    }
    out << (value.empty() ? "[]" : "\n]");
  }
  out << "\n}\n";
  if (!out.flush()) throw std::runtime_error("cannot write \"" + path + "\"");
}

}  // namespace tamis::bench
