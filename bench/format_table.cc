// Measures bulk insertion and queries of integer keys in filters of other libraries, with each
// backend that runs here.
//
// Usage: tamis_format_table [PASSES [KEYS]]   by default 11, and filters of 10^5 and 10^7 keys
// In each pass the backends take turns, on one thread and in the same memory. A figure is the
// median of all passes in nanoseconds. The figure in brackets is the median of its ratio to
// `portable` in the same pass. Exit status: 0 if no key was missed and all backends found the same
// number of keys, 1 if not, 2 for bad arguments.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "bench/arguments.h"
#include "bench/huge_memory.h"
#include "bench/timing.h"
#include "bench/workload.h"
#include "tamis/backend.h"
#include "tamis/backends.h"
#include "tamis/formats/guava.h"
#include "tamis/formats/redis_bloom.h"
#include "tamis/formats/redis_cuckoo.h"
#include "tamis/formats/spark.h"

namespace tamis::bench {
namespace {

constexpr double kFpr = 0.01;

class Table {
 public:
  Table(uint64_t passes, uint64_t num_keys)
      : passes_(passes), keys_(num_keys), arena_(4 * num_keys + (uint64_t{4} << 20)) {
    for (uint64_t i = 0; i < num_keys; ++i) keys_[i] = KeyAt(i);
    // Half of the queries are in the filter.
    for (uint64_t i = 0; i < kQueries; ++i) {
      const uint64_t number = KeyAt(i) % num_keys;
      queries_.push_back(KeyAt(i % 2 == 0 ? number : number + (uint64_t{1} << 40)));
    }
  }

  // Returns whether no key was missed and all backends found the same number of keys.
  bool Run() {
    bool right = true;
    for (uint64_t pass = 0; pass < passes_; ++pass) {
      for (size_t i = 0; i < Backends().size(); ++i) {
        const Backend& backend = Backends()[(i + pass) % Backends().size()];
        const MemoryOptions memory{.resource = &arena_};
        for (const SparkVersion version : {SparkVersion::kV1, SparkVersion::kV2}) {
          right &= Measure(version == SparkVersion::kV1 ? "Spark, version 1" : "Spark, version 2",
                           backend, [&] {
                             return SparkBloomFilter({.capacity = keys_.size(),
                                                      .fpr = kFpr,
                                                      .version = version,
                                                      .memory = memory,
                                                      .backend = &backend});
                           });
        }
        right &= Measure("Guava", backend, [&] {
          return GuavaBloomFilter(
              GuavaFunnel::kLong,
              {.capacity = keys_.size(), .fpr = kFpr, .memory = memory, .backend = &backend});
        });
        right &= Measure("RedisBloom", backend, [&] {
          return RedisBloomFilter({.capacity = keys_.size(),
                                   .error_rate = kFpr,
                                   .non_scaling = true,
                                   .integers = RedisIntegers::kBytes,
                                   .memory = memory,
                                   .backend = &backend});
        });
        right &= Measure("RedisBloom's cuckoo", backend, [&] {
          return RedisCuckooFilter({.capacity = keys_.size(),
                                    .integers = RedisIntegers::kBytes,
                                    .memory = memory,
                                    .backend = &backend});
        });
      }
    }
    Print();
    return right;
  }

 private:
  static constexpr uint64_t kQueries = 1'000'000;

  void Add(const std::string& row, const Backend& backend, uint64_t keys, double nanoseconds) {
    if (!rows_.contains(row)) order_.push_back(row);
    rows_[row][std::string(backend.name)].push_back(nanoseconds / static_cast<double>(keys));
  }

  template <typename Make>
  bool Measure(const std::string& name, const Backend& backend, const Make& make) {
    auto filter = make();
    std::vector<uint64_t> words(BitmapWords(kQueries));
    size_t found = 0;
    Add(name + ", insertion", backend, keys_.size(),
        Nanoseconds(Time::kThread, [&] { filter.Insert(keys_); }));
    Add(name + ", query", backend, kQueries,
        Nanoseconds(Time::kThread, [&] { found = filter.Contains(queries_, Bitmap(words)); }));
    const size_t want = found_.try_emplace(name, found).first->second;
    return found == want && filter.Count(keys_) == keys_.size();
  }

  void Print() const {
    std::printf("| ns per key (of portable), %zu keys |", keys_.size());
    for (const Backend& backend : Backends()) {
      std::printf(" %.*s |", static_cast<int>(backend.name.size()), backend.name.data());
    }
    std::printf("\n|---|");
    for (size_t i = 0; i < Backends().size(); ++i) std::printf("---:|");
    for (const std::string& name : order_) {
      const Row& row = rows_.at(name);
      std::printf("\n| %s |", name.c_str());
      for (const Backend& backend : Backends()) {
        const std::vector<double>& samples = row.at(std::string(backend.name));
        std::vector<double> ratios;
        for (size_t pass = 0; pass < passes_; ++pass) {
          ratios.push_back(samples[pass] / row.at("portable")[pass]);
        }
        std::printf(" %.2f (%.2f) |", Median(samples), Median(ratios));
      }
    }
    std::printf("\n\n");
  }

  using Row = std::map<std::string, std::vector<double>>;  // the key is the backend
  const uint64_t passes_;
  HugeVector<uint64_t> keys_;
  HugeVector<uint64_t> queries_;
  Arena arena_;
  std::map<std::string, Row> rows_;
  std::vector<std::string> order_;
  std::map<std::string, size_t> found_;  // the key is the filter
};

}  // namespace
}  // namespace tamis::bench

int main(int argc, char** argv) {
  using tamis::bench::ParseCount;
  uint64_t passes = 11, num_keys = 0;
  if (argc > 3 || (argc > 1 && !ParseCount(argv[1], passes, 1, 1000)) ||
      (argc > 2 && !ParseCount(argv[2], num_keys, 1, 1'000'000'000))) {
    std::fprintf(stderr, "usage: %s [PASSES [KEYS]], in [1, 1000] and [1, 10^9]\n", argv[0]);
    return 2;
  }
  try {
    bool right = true;
    for (const uint64_t n : {uint64_t{100'000}, uint64_t{10'000'000}}) {
      if (argc < 3 || n == 100'000) {
        right &= tamis::bench::Table(passes, argc < 3 ? n : num_keys).Run();
      }
    }
    return right ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 2;
  }
}
