// What a comparison came to: tables, ratios, and a JSON file.
#ifndef TAMIS_BENCH_COMPARE_REPORT_H_
#define TAMIS_BENCH_COMPARE_REPORT_H_

#include <string>
#include <utility>
#include <vector>

#include "bench/comparison.h"

namespace tamis::bench {

using Facts = std::vector<std::pair<std::string, std::string>>;

// How many times as fast one contender is as another: the median over the repetitions of the ratio
// within each, and the smallest and the largest of these.
struct Ratio {
  uint64_t keys = 0;
  std::string what;
  double median = 0, min = 0, max = 0;
  double required = 0;  // 0: nothing is

  bool met() const { return median >= required; }
};

// The ratios of all pairs that were measured. What is required of them is what the project asks of
// itself at sizes within the second-level cache (100 k and 1 M keys), the third-level one, and
// beyond.
std::vector<Ratio> Ratios(const std::vector<SizeResult>& results);

void PrintFacts(const Facts& facts);
void PrintSize(const SizeResult& result);
void PrintRatios(const std::vector<Ratio>& ratios);

// Throws std::runtime_error if the file cannot be written, or if this program was built without
// nlohmann-json.
void WriteJson(const std::string& path, const Facts& facts, const std::vector<SizeResult>& results,
               const std::vector<Ratio>& ratios);

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_COMPARE_REPORT_H_
