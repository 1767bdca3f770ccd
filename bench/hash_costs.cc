// Measures the cost of each hash: of integers and strings alone, and in split-block filters of two
// sizes.
//
// Usage: tamis_hash_costs [PASSES]   by default 11
// In each pass the hashes take turns, on one thread and in the same memory. A figure is the median
// of all passes in nanoseconds. The figure in brackets is the median of its ratio to the first hash
// in the same pass. Exit status: 0 if no key was missed, 1 if one was, 2 for bad arguments.
#include <array>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/arguments.h"
#include "bench/huge_memory.h"
#include "bench/timing.h"
#include "bench/workload.h"
#include "tamis/backends.h"
#include "tamis/detail/kernels.h"
#include "tamis/detail/str_cat.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/hash_kinds.h"

namespace tamis::bench {
namespace {

HashSpec SpecOf(HashKind kind) {
  if (IsKeyed(kind)) return {kind, 0, {KeyAt(0), KeyAt(1)}};
  return {kind, KeyAt(0)};
}

class Table {
 public:
  explicit Table(uint64_t passes) : passes_(passes), arena_(kLarge + (uint64_t{4} << 20)) {}

  // Returns whether no key was missed.
  bool Run() {
    bool all_found = true;
    for (uint64_t pass = 0; pass < passes_; ++pass) {
      for (size_t i = 0; i < std::size(kHashKinds); ++i) {
        const size_t kind = (i + pass) % std::size(kHashKinds);
        Integers(kind);
        for (const size_t length : {16, 40, 80}) Strings(kind, length);
        all_found &= Filters(kind, kSmall) && Filters(kind, kLarge);
      }
    }
    Print();
    return all_found && sink_ != 0;
  }

 private:
  static constexpr uint64_t kSmall = uint64_t{1} << 20;
  static constexpr uint64_t kLarge = uint64_t{64} << 20;

  void Add(const std::string& row, size_t kind, uint64_t keys, const std::function<void()>& call) {
    if (!rows_.contains(row)) order_.push_back(row);
    rows_[row][kind].push_back(Nanoseconds(Time::kThread, call) / static_cast<double>(keys));
  }

  // Measures with keys and hashes in the first-level cache, as in a batch.
  void Integers(size_t kind) {
    constexpr size_t kKeys = 2048, kTimes = 200;
    alignas(64) static uint64_t keys[kKeys], hashes[kKeys];
    for (size_t i = 0; i < kKeys; ++i) keys[i] = KeyAt(i);
    const detail::Batch batch = detail::KeyBatch(SpecOf(kHashKinds[kind]), keys, kKeys);
    Add("integers in bulk, hash alone", kind, kKeys * kTimes, [&] {
      for (size_t i = 0; i < kTimes; ++i) DefaultBackend().kernels->hash(batch, hashes);
    });
    sink_ += hashes[KeyAt(kind) % kKeys];
  }

  void Strings(size_t kind, size_t length) {
    constexpr size_t kStrings = 4096, kTimes = 20;
    std::string bytes(kStrings * length, '\0');
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(KeyAt(i));
    const HashSpec spec = SpecOf(kHashKinds[kind]);
    Add(detail::StrCat("strings of ", length, " bytes, hash alone"), kind, kStrings * kTimes, [&] {
      uint64_t sum = 0;
      for (size_t i = 0; i < kStrings * kTimes; ++i) {
        sum += HashBytes({bytes.data() + i % kStrings * length, length}, spec);
      }
      sink_ += sum;
    });
  }

  bool Filters(size_t kind, uint64_t bytes) {
    const std::string size = detail::StrCat("filter of ", bytes >> 20, " MiB, ");
    const uint64_t num_keys = 8 * bytes / kBitsPerKey;
    // Half of the queries are in the filter.
    if (keys_.size() < num_keys) {
      keys_.resize(num_keys);
      for (uint64_t i = 0; i < num_keys; ++i) keys_[i] = KeyAt(i);
    }
    constexpr uint64_t kQueries = uint64_t{1} << 20;
    if (queries_[bytes].empty()) {
      for (uint64_t i = 0; i < kQueries; ++i) {
        const uint64_t number = KeyAt(i) % num_keys;
        queries_[bytes].push_back(KeyAt(i % 2 == 0 ? number : number + (uint64_t{1} << 40)));
      }
    }
    const HugeVector<uint64_t>& queries = queries_[bytes];
    const std::span<const uint64_t> keys = std::span(keys_).first(num_keys);

    SplitBlockBloomFilter filter(
        {.bytes = bytes, .hash = SpecOf(kHashKinds[kind]), .memory = {.resource = &arena_}});
    std::vector<uint64_t> words(BitmapWords(kQueries));
    Add(size + "insertion in bulk", kind, num_keys, [&] { filter.Insert(keys); });
    Add(size + "bulk query", kind, kQueries,
        [&] { sink_ += filter.Contains(queries, Bitmap(words)); });
    Add(size + "query, one key per call", kind, kQueries, [&] {
      uint64_t found = 0;
      for (const uint64_t key : queries) found += filter.Contains(key);
      sink_ += found;
    });
    return filter.Count(keys) == num_keys;
  }

  void Print() const {
    std::printf("| ns per key (of %s) |", HashKindName(kHashKinds[0]));
    for (const HashKind kind : kHashKinds) std::printf(" %s |", HashKindName(kind));
    std::printf("\n|---|");
    for (size_t i = 0; i < std::size(kHashKinds); ++i) std::printf("---:|");
    for (const std::string& name : order_) {
      const Row& row = rows_.at(name);
      std::printf("\n| %s |", name.c_str());
      for (const std::vector<double>& samples : row) {
        std::vector<double> ratios;
        for (size_t pass = 0; pass < passes_; ++pass) {
          ratios.push_back(samples[pass] / row[0][pass]);
        }
        std::printf(" %.2f (%.2f) |", Median(samples), Median(ratios));
      }
    }
    std::printf("\n");
  }

  using Row = std::array<std::vector<double>, std::size(kHashKinds)>;
  const uint64_t passes_;
  Arena arena_;
  HugeVector<uint64_t> keys_;
  std::map<uint64_t, HugeVector<uint64_t>> queries_;  // the key is the size of the filter
  std::map<std::string, Row> rows_;
  std::vector<std::string> order_;
  uint64_t sink_ = 0;  // sum of all answers, so that the compiler keeps them
};

}  // namespace
}  // namespace tamis::bench

int main(int argc, char** argv) {
  uint64_t passes = 11;
  if (argc > 2 || (argc > 1 && !tamis::bench::ParseCount(argv[1], passes, 1, 1000))) {
    std::fprintf(stderr, "usage: %s [PASSES], a number in [1, 1000]\n", argv[0]);
    return 2;
  }
  try {
    return tamis::bench::Table(passes).Run() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 2;
  }
}
