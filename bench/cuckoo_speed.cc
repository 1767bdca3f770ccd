// Cuckoo filters: bulk operations against one-key loops, split-block filters of as many keys, and
// the machine's limit, in one process and the same memory; and the latencies of single insertions.
//
// Usage: tamis_cuckoo_speed [MAX_KEYS [REPETITIONS]], by default 100 million keys (1.5 GiB) and 5.
// Run it pinned, with nothing else running: `taskset -c 1 tamis_cuckoo_speed`; the two-thread row
// needs two processors and is left out on one.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/huge_memory.h"
#include "bench/limits.h"
#include "bench/machine.h"
#include "bench/timing.h"
#include "bench/workload.h"
#include "tamis/cuckoo_filter.h"
#include "tamis/engine.h"
#include "tamis/split_block_filter.h"

namespace tamis::bench {
namespace {

constexpr size_t kMaxQueries = 4'000'000;
constexpr uint64_t kKeysPerSample = 8'000'000;

int Passes(uint64_t keys) {
  return static_cast<int>(std::clamp<uint64_t>(kKeysPerSample / keys, 1, 100));
}

// Samples of nanoseconds per key, one in each repetition.
struct Row {
  std::string name;
  std::vector<double> ns;
};

class Size {
 public:
  Size(uint64_t num_keys, Arena& arena)
      : arena_(arena),
        keys_(MakeKeys(num_keys)),
        queries_(MakeQueries(num_keys, std::min<size_t>(num_keys, kMaxQueries), 50)),
        bits_(BitmapWords(queries_.keys.size())),
        bytes_(queries_.keys.size()) {}

  void Measure(int repetitions) {
    for (int i = 0; i < repetitions; ++i) {
      row_ = 0;
      MeasureSplitBlock();
      MeasureCuckoo<8>();
      MeasureCuckoo<12>();
      MeasureCuckoo<16>();
    }
    std::printf("\n%zu keys, %zu queries of which half are hits; median (quartiles) ns per key\n",
                keys_.size(), queries_.keys.size());
    for (const Row& row : rows_) {
      std::printf("  %-44s %7.2f  (%.2f to %.2f)\n", row.name.c_str(), Median(row.ns),
                  Quantile(row.ns, 0.25), Quantile(row.ns, 0.75));
    }
    std::fflush(stdout);
  }

 private:
  // Rows come in the same order in every repetition.
  void Add(const std::string& name, double ns) {
    if (row_ == rows_.size()) rows_.push_back({name, {}});
    rows_[row_++].ns.push_back(ns);
  }

  template <typename Call>
  void Time1(const std::string& name, uint64_t keys, const Call& call) {
    Add(name, MedianNanoseconds(Time::kThread, Passes(keys), call) / static_cast<double>(keys));
  }

  template <typename F>
  void MeasureLookups(const std::string& name, const F& filter) {
    const std::span<const uint64_t> queries = queries_.keys;
    Time1(name + " Contains, one key a call", queries.size(), [&] {
      for (size_t i = 0; i < queries.size(); ++i) bytes_[i] = filter.Contains(queries[i]);
    });
    Time1(name + " Contains, bulk to a bitmap", queries.size(),
          [&] { filter.Contains(queries, Bitmap(bits_)); });
    for (size_t i = 0; i < queries.size(); ++i) {
      if (queries_.present[i] && (!Bitmap(bits_).Test(i) || !bytes_[i])) {
        throw std::runtime_error(name + ": a false negative");
      }
    }
  }

  void MeasureSplitBlock() {
    SplitBlockBloomFilter filter({.capacity = keys_.size(),
                                  .bytes = FilterBytes(keys_.size()),
                                  .memory = {.resource = &arena_}});
    filter.Insert(std::span<const uint64_t>(keys_));
    MeasureLookups("split-block, 12 bits:", filter);
  }

  template <int kBits>
  void MeasureCuckoo() {
    const std::string name = "cuckoo" + std::to_string(kBits) + ":";
    const std::span<const uint64_t> keys = keys_;
    CuckooFilter<kBits> filter({.capacity = keys.size(), .memory = {.resource = &arena_}});
    const auto require_full = [&] {
      if (filter.size() != keys.size()) throw std::runtime_error(name + " keys did not go in");
    };
    const auto build = [&](const std::string& how, const auto& insert) {
      Time1(name + " Insert, " + how, keys.size(), [&] {
        filter.Clear();
        insert();
        require_full();
      });
    };
    build("one key a call", [&] {
      for (const uint64_t key : keys) filter.Insert(key);
    });
    build("bulk", [&] { filter.Insert(keys); });
    if (Engine().threads() >= 2) {
      const Engine one({.threads = 1}), two({.threads = 2});
      for (const Engine* engine : {&one, &two}) {
        Add(name + " Insert, Engine, " + (engine == &one ? "1 thread" : "2 threads"),
            MedianNanoseconds(Time::kWall, Passes(keys.size()), [&] {
              filter.Clear();
              engine->Insert(filter, keys);
              require_full();
            }) / static_cast<double>(keys.size()));
      }
    }
    MeasureLookups(name, filter);
    // Where it is: two lines for each key, of a table of this size.
    const RandomLines lines(filter.bytes(), queries_.keys.size());
    Add(name + " limit, two random lines of the table",
        2 * lines.Measure(arena_.memory(), Passes(queries_.keys.size())).ns);
  }

  Arena& arena_;
  HugeVector<uint64_t> keys_;
  Queries queries_;
  HugeVector<uint64_t> bits_;
  HugeVector<uint8_t> bytes_;
  std::vector<Row> rows_;
  size_t row_ = 0;
};

// The filter stays full to its capacity: in each turn the oldest key is erased and a new one
// inserted.
template <int kBits>
void PrintLatencies(uint64_t capacity) {
  constexpr size_t kTurns = 1'000'000;
  CuckooFilter<kBits> filter({.capacity = capacity});
  for (uint64_t i = 0; i < capacity; ++i) filter.Insert(KeyAt(i));
  std::vector<double> ns;
  uint64_t failed = 0;
  for (size_t turn = 0; turn < kTurns; ++turn) {
    filter.Erase(KeyAt(turn));
    const uint64_t key = KeyAt(capacity + turn);
    bool inserted = false;
    ns.push_back(Nanoseconds(Time::kWall, [&] { inserted = filter.Insert(key); }));
    failed += !inserted;
  }
  std::printf(
      "  cuckoo%-2d  %9llu keys, load %.2f%%: p50 %.0f ns, p99 %.0f, p99.9 %.0f, max %.0f; "
      "%llu of %zu failed\n",
      kBits, static_cast<unsigned long long>(capacity), 100 * filter.load_factor(),
      Quantile(ns, 0.5), Quantile(ns, 0.99), Quantile(ns, 0.999), Quantile(ns, 1),
      static_cast<unsigned long long>(failed), kTurns);
  std::fflush(stdout);
}

void Run(uint64_t max_keys, int repetitions) {
  for (const auto& [name, value] : MachineFacts()) {
    std::printf("%-20s %s\n", name.c_str(), value.c_str());
  }
  std::printf("%-20s %s\n", "backend", DefaultBackend().name.data());
  // A cuckoo filter of 16 bits is the largest.
  Arena arena(max_keys * 18 / 8 + (uint64_t{1} << 20));
  for (uint64_t keys = 100'000; keys <= max_keys; keys *= 10)
    Size(keys, arena).Measure(repetitions);

  std::printf(
      "\nOne key inserted into a filter that stays full to its capacity, with the clock's own "
      "time\n");
  for (uint64_t keys = 100'000; keys <= std::min<uint64_t>(max_keys, 10'000'000); keys *= 10) {
    PrintLatencies<8>(keys);
    PrintLatencies<12>(keys);
    PrintLatencies<16>(keys);
  }
}

bool ParseCount(const char* text, uint64_t& value) {
  const char* const end = text + std::strlen(text);
  const auto result = std::from_chars(text, end, value);
  return result.ec == std::errc() && result.ptr == end && value >= 1 && value <= 1'000'000'000;
}

}  // namespace
}  // namespace tamis::bench

int main(int argc, char** argv) {
  uint64_t max_keys = 100'000'000, repetitions = 5;
  if (argc > 3 || (argc > 1 && !tamis::bench::ParseCount(argv[1], max_keys)) ||
      (argc > 2 && !tamis::bench::ParseCount(argv[2], repetitions))) {
    std::fprintf(stderr, "usage: %s [MAX_KEYS [REPETITIONS]], each a number in [1, 10^9]\n",
                 argv[0]);
    return 2;
  }
  try {
    tamis::bench::Run(max_keys, static_cast<int>(repetitions));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}
