#include "bench/compare_report.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <stdexcept>

#include "bench/timing.h"

#if TAMIS_HAVE_JSON
#include <nlohmann/json.hpp>
#endif

namespace tamis::bench {
namespace {

using SamplesOf = std::vector<double> Row::*;

// What a ratio is of, and from how many keys on which value is required of it.
struct Comparison {
  const char* what;
  SamplesOf samples;
  const char* slow;
  const char* fast;
  std::map<uint64_t, double> required = {};  // by the number of keys
};

constexpr uint64_t k100K = 100'000, k1M = 1'000'000, k10M = 10'000'000, k100M = 100'000'000;

const std::vector<Comparison>& Comparisons() {
  using Required = std::map<uint64_t, double>;
  static const Required kOverOneKey = {{k100K, 1.4}, {k1M, 1.4}, {k10M, 2.0}};
  static const Required kOverLimit = {{k100M, 0.9}};
  static const Required kOverBoost = {{k100K, 1.3}, {k1M, 1.3}, {k10M, 1.15}, {k100M, 1.2}};
  static const Required kBuildOverBoost = {{k10M, 1.4}, {k100M, 2.0}};
  static const Required kTwoThreads = {{k100K, 1.7}, {k1M, 1.7}, {k10M, 1.7}, {k100M, 1.7}};
  // A small filter is built before a second thread has begun.
  static const Required kTwoThreadBuild = {{k10M, 1.7}, {k100M, 1.7}};
  constexpr SamplesOf kLookup = &Row::lookup_ns;
  constexpr SamplesOf kBuild = &Row::build_ns;
  static const std::vector<Comparison> kComparisons = {
      {"lookup: bulk to bitmap / one key", kLookup, kOneKey, kBulkBits, kOverOneKey},
      {"lookup: bulk to bytes / one key", kLookup, kOneKey, kBulkBytes, kOverOneKey},
      {"lookup: bulk to bitmap / limit", kLookup, kLineLimit, kBulkBits, kOverLimit},
      {"lookup: bulk to bitmap / boost bulk", kLookup, kBoostBulk, kBulkBits, kOverBoost},
      {"lookup: bulk to bytes / boost bulk", kLookup, kBoostBulk, kBulkBytes, kOverBoost},
      {"lookup: bulk to bitmap / boost bulk, murmur3", kLookup, kBoostMurmurBulk, kBulkBits,
       kOverBoost},
      {"lookup: bulk to bytes / boost bulk, murmur3", kLookup, kBoostMurmurBulk, kBulkBytes,
       kOverBoost},
      {"lookup: one key / boost one key", kLookup, kBoostOneKey, kOneKey},
      {"lookup: one key / boost one key, murmur3", kLookup, kBoostMurmurOneKey, kOneKey},
      {"lookup: 2 threads / 1 thread", kLookup, kEngineOne, kEngineTwo, kTwoThreads},
      {"build: bulk / one key", kBuild, kOneKey, kBulkBits},
      {"build: bulk / boost bulk", kBuild, kBoostBulk, kBulkBits, kBuildOverBoost},
      {"build: bulk / boost bulk, murmur3", kBuild, kBoostMurmurBulk, kBulkBits, kBuildOverBoost},
      {"build: 2 threads / 1 thread", kBuild, kEngineOne, kEngineTwo, kTwoThreadBuild},
  };
  return kComparisons;
}

const std::vector<double>* Find(const SizeResult& result, const char* name, SamplesOf samples) {
  for (const Row& row : result.rows) {
    if (row.name == name) return &(row.*samples);
  }
  return nullptr;
}

std::string MedianText(const std::vector<double>& samples) {
  if (samples.empty()) return "-";
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f", Median(samples));
  return text;
}

std::string Quartiles(const std::vector<double>& samples) {
  if (samples.empty()) return "-";
  char text[64];
  std::snprintf(text, sizeof(text), "%.2f [%.2f %.2f]", Median(samples), Quantile(samples, 0.25),
                Quantile(samples, 0.75));
  return text;
}

// The one that was the fastest most often.
std::string MostFrequent(const std::vector<std::string>& names) {
  std::map<std::string, int> times;
  for (const std::string& name : names) ++times[name];
  const auto most = std::max_element(
      times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == times.end() ? "none" : most->first;
}

}  // namespace

std::vector<Ratio> Ratios(const std::vector<SizeResult>& results) {
  std::vector<Ratio> ratios;
  for (const SizeResult& result : results) {
    for (const Comparison& comparison : Comparisons()) {
      const auto* slow = Find(result, comparison.slow, comparison.samples);
      const auto* fast = Find(result, comparison.fast, comparison.samples);
      if (slow == nullptr || fast == nullptr) continue;
      std::vector<double> quotients;
      for (size_t i = 0; i < slow->size(); ++i) quotients.push_back((*slow)[i] / (*fast)[i]);
      const auto required = comparison.required.find(result.keys);
      ratios.push_back({result.keys, comparison.what, Median(quotients), Quantile(quotients, 0),
                        Quantile(quotients, 1),
                        required == comparison.required.end() ? 0 : required->second});
    }
  }
  return ratios;
}

void PrintFacts(const Facts& facts) {
  for (const auto& [name, value] : facts) std::printf("%-12s %s\n", name.c_str(), value.c_str());
}

void PrintSize(const SizeResult& result) {
  std::printf(
      "\n%llu keys, %zu queries (half of them hits), %zu repetitions; ns/key, median [q1 q3]\n",
      static_cast<unsigned long long>(result.keys), result.queries, result.limit_methods.size());
  std::printf("%-24s %9s %22s %22s %9s %9s %8s\n", "", "1st build", "build", "lookup", "of limit",
              "bits/key", "FPR");
  const double limit = Median(result.rows[0].lookup_ns);
  for (const Row& row : result.rows) {
    std::printf("%-24s %9s %22s %22s", row.name.c_str(), MedianText(row.first_build_ns).c_str(),
                Quartiles(row.build_ns).c_str(), Quartiles(row.lookup_ns).c_str());
    if (row.build_ns.empty()) {  // the limit
      std::printf("  best: %s\n", MostFrequent(result.limit_methods).c_str());
    } else {
      std::printf(" %9.2f %9.3f %7.3f%%\n", limit / Median(row.lookup_ns), row.bits_per_key,
                  100 * row.fpr);
    }
  }
  std::printf("The measuring thread had its processor %.1f%% of the time.\n",
              100 * result.processor_share);
  std::fflush(stdout);
}

void PrintRatios(const std::vector<Ratio>& ratios) {
  std::printf("\nHow many times as fast: median of the repetitions [least most]\n");
  std::printf("%10s  %-46s %8s %-14s %9s\n", "keys", "", "measured", "", "required");
  for (const Ratio& ratio : ratios) {
    char range[32];
    std::snprintf(range, sizeof(range), "[%.2f %.2f]", ratio.min, ratio.max);
    std::printf("%10llu  %-46s %8.2f %-14s", static_cast<unsigned long long>(ratio.keys),
                ratio.what.c_str(), ratio.median, range);
    if (ratio.required > 0) {
      std::printf(" %9.2f  %s", ratio.required, ratio.met() ? "met" : "MISSED");
    }
    std::printf("\n");
  }
}

#if TAMIS_HAVE_JSON
void WriteJson(const std::string& path, const Facts& facts, const std::vector<SizeResult>& results,
               const std::vector<Ratio>& ratios) {
  nlohmann::ordered_json json;
  for (const auto& [name, value] : facts) json["machine"][name] = value;
  for (const SizeResult& result : results) {
    nlohmann::ordered_json size = {{"keys", result.keys}, {"queries", result.queries}};
    for (const Row& row : result.rows) {
      size["rows"].push_back({{"name", row.name},
                              {"bits_per_key", row.bits_per_key},
                              {"fpr", row.fpr},
                              {"first_build_ns", row.first_build_ns},
                              {"build_ns", row.build_ns},
                              {"lookup_ns", row.lookup_ns}});
    }
    size["processor_share"] = result.processor_share;
    size["limit_methods"] = result.limit_methods;
    json["sizes"].push_back(size);
  }
  for (const Ratio& ratio : ratios) {
    nlohmann::ordered_json entry = {{"keys", ratio.keys},
                                    {"what", ratio.what},
                                    {"median", ratio.median},
                                    {"min", ratio.min},
                                    {"max", ratio.max}};
    if (ratio.required > 0) {
      entry["required"] = ratio.required;
      entry["met"] = ratio.met();
    }
    json["ratios"].push_back(entry);
  }
  std::ofstream out(path);
  out << json.dump(2) << '\n';
  if (!out.flush()) throw std::runtime_error("cannot write \"" + path + "\"");
}
#else
void WriteJson(const std::string& path, const Facts&, const std::vector<SizeResult>&,
               const std::vector<Ratio>&) {
  throw std::runtime_error("cannot write \"" + path + "\": built without nlohmann-json");
}
#endif

}  // namespace tamis::bench
