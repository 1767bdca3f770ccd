#include "tools/commands/demo.h"

#include <tamis/filters/sizing.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "tools/commands/phone_numbers.h"

namespace tamis::tools {
namespace {

constexpr int kTimedRuns = 7;
constexpr uint64_t kQuerySeed = 42;  // makes the same queries every time

}  // namespace

uint64_t NumbersThatFit(uint64_t most, double fpr, uint64_t max_bytes) {
  constexpr uint64_t kMillion = 1'000'000;
  const uint64_t blocks = std::min(max_bytes / split_block::kBlockBytes, split_block::kMaxBlocks);
  if (blocks == 0) return 0;
  const uint64_t numbers = SplitBlockCapacity(blocks, fpr);
  if (numbers >= most) return most;
  return numbers >= kMillion ? numbers / kMillion * kMillion : numbers;
}

PhoneQueries::PhoneQueries(uint64_t numbers, uint64_t n) {
  std::mt19937_64 random(kQuerySeed);
  std::uniform_int_distribution<uint64_t> members(0, numbers - 1);
  std::uniform_int_distribution<uint64_t> others(numbers, PhoneNumbers::kCount - 1);
  keys.reserve(n);
  for (uint64_t i = 0; i < n; ++i) {
    keys.push_back(PhoneNumbers::At(i < n / 2 ? members(random) : others(random)));
  }
  std::shuffle(keys.begin(), keys.end(), random);
  known.reserve(n);
  for (const uint64_t key : keys) {
    known.push_back(PhoneNumbers::IndexOf(key) < numbers);
    num_known += known.back();
  }
}

QueryResult AskAll(Engine& engine, const Filter& filter, const PhoneQueries& queries) {
  std::vector<uint64_t> words(BitmapWords(queries.keys.size()));
  const Bitmap found(words);
  QueryResult result;
  for (int run = -1; run < kTimedRuns; ++run) {
    const auto start = std::chrono::steady_clock::now();
    result.found = engine.Contains(filter, queries.keys, found);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    if (run >= 0) result.seconds.push_back(elapsed.count());
  }
  std::sort(result.seconds.begin(), result.seconds.end());
  for (size_t i = 0; i < queries.keys.size(); ++i) {
    result.false_negatives += queries.known[i] && !found.Test(i);
    result.false_positives += !queries.known[i] && found.Test(i);
  }
  return result;
}

uint64_t CountFound(Engine& engine, const Filter& filter, uint64_t first, uint64_t n) {
  constexpr uint64_t kBatch = 1 << 20;
  std::vector<uint64_t> numbers;
  uint64_t found = 0;
  for (uint64_t done = 0; done < n; done += numbers.size()) {
    numbers.resize(std::min(kBatch, n - done));
    PhoneNumbers::Fill(first + done, numbers);
    found += engine.Count(filter, numbers);
  }
  return found;
}

}  // namespace tamis::tools
