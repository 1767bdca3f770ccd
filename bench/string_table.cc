// Compares queries of strings with a simple loop in the same filter: the loop hashes each string by
// an inlined XXH3_64bits, and then queries the hashes in bulk.
//
// Usage: tamis_string_table [PASSES]   by default 11
// The filter is for 100,000 keys, and contains half of the queries. Lengths are spread evenly from
// half to one and a half of the mean. For a mean of 8, all lengths are 8. "cached" queries 2^13
// strings repeatedly, whose lengths a processor may learn. "shuffled" queries 2^20 strings, in a
// new order in each pass. In each pass all methods take turns on one thread. Figures are medians:
// of nanoseconds per key, and of the ratio to the loop in the same pass. Exit status: 0 if all
// answers agree, 1 if not, 2 for bad arguments.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/arguments.h"
#include "bench/timing.h"
#include "bench/workload.h"
#include "tamis/backends.h"
#include "tamis/filters/split_block_filter.h"

namespace tamis::bench {
namespace {

constexpr size_t kFilterKeys = 100'000;
constexpr size_t kAnswered = size_t{1} << 20;  // keys that a sample queries

class Strings {
 public:
  Strings(size_t mean, size_t n) {
    for (size_t i = 0; i < n; ++i) {
      const size_t length = mean <= 8 ? 8 : mean / 2 + KeyAt(i) % (mean + 1);
      std::string string;
      for (size_t at = 0; at < length; ++at) {
        string += static_cast<char>(KeyAt(i * 1024 + at / 8) >> (8 * (at % 8)));
      }
      Append(string);
    }
    SetViews();
  }

  // Gives the strings a random order, which depends on `seed`.
  void Shuffle(uint64_t seed) {
    const std::string old_bytes = std::exchange(bytes_, {});
    const std::vector<int32_t> old_offsets = std::exchange(offsets_, {0});
    const StringColumn old = {old_bytes.data(), old_offsets};
    std::vector<uint32_t> order(old.size());
    std::iota(order.begin(), order.end(), 0U);
    std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
    for (const uint32_t i : order) Append(old[i]);
    SetViews();
  }

  StringColumn column() const { return {bytes_.data(), offsets_}; }
  const std::vector<std::string_view>& views() const { return views_; }

 private:
  void Append(std::string_view string) {
    bytes_ += string;
    offsets_.push_back(static_cast<int32_t>(bytes_.size()));
  }
  void SetViews() {
    views_.clear();
    for (size_t i = 0; i < column().size(); ++i) views_.push_back(column()[i]);
  }

  std::string bytes_;
  std::vector<int32_t> offsets_ = {0};
  std::vector<std::string_view> views_;
};

// Returns whether all answers equal those of the loop.
template <typename HashString>
bool Row(const char* hash_name, HashKind kind, const HashString& hash_string, size_t mean, size_t n,
         int passes) {
  Strings strings(mean, n);
  SplitBlockBloomFilter filter({.bytes = FilterBytes(kFilterKeys), .hash = {.kind = kind}});
  for (size_t i = 0; i < n && i < 2 * kFilterKeys; i += 2) filter.Insert(strings.views()[i]);
  for (size_t i = n / 2; i < kFilterKeys; ++i) filter.Insert(KeyAt(i));

  std::vector<uint64_t> hashes(n), bits(BitmapWords(n)), expected(BitmapWords(n));
  const size_t times = kAnswered / n;
  const auto per_key = [&](const auto& call) {
    return Nanoseconds(Time::kThread,
                       [&] {
                         for (size_t i = 0; i < times; ++i) call();
                       }) /
           static_cast<double>(times * n);
  };
  std::vector<double> naive, ours, views, ours_ratio, views_ratio;
  bool same = true;
  for (int pass = 0; pass < passes; ++pass) {
    if (n == kAnswered) strings.Shuffle(static_cast<uint64_t>(pass));
    const StringColumn column = strings.column();
    naive.push_back(per_key([&] {
      for (size_t i = 0; i < n; ++i) hashes[i] = hash_string(column[i]);
      filter.Contains(Hashes{hashes}, Bitmap(expected));
    }));
    ours.push_back(per_key([&] { filter.Contains(column, Bitmap(bits)); }));
    same &= bits == expected;
    views.push_back(per_key([&] { filter.Contains(strings.views(), Bitmap(bits)); }));
    same &= bits == expected;
    ours_ratio.push_back(ours.back() / naive.back());
    views_ratio.push_back(views.back() / ours.back());
  }
  std::printf("%-6s %5zu  %-8s %6.2f %7.2f %7.2f   %5.2f  %5.2f\n", hash_name, mean,
              n == kAnswered ? "shuffled" : "cached", Median(naive), Median(ours), Median(views),
              Median(ours_ratio), Median(views_ratio));
  std::fflush(stdout);
  return same;
}

bool Run(int passes) {
  std::printf(
      "backend %s\nhash    mean  strings   naive  column   views  column/naive  views/column\n",
      std::string(DefaultBackend().name).c_str());
  bool same = true;
  for (const size_t mean : {8, 16, 40, 100, 200}) {
    for (const size_t n : {size_t{1} << 13, kAnswered}) {
      same &= Row(
          "XXH3", HashKind::kXxh3,
          [](std::string_view s) { return XXH3_64bits(s.data(), s.size()); }, mean, n, passes);
      same &= Row(
          "XXH64", HashKind::kXxh64,
          [](std::string_view s) { return XXH64(s.data(), s.size(), 0); }, mean, n, passes);
    }
  }
  if (!same) std::fprintf(stderr, "answers differ\n");
  return same;
}

}  // namespace
}  // namespace tamis::bench

int main(int argc, char** argv) try {
  uint64_t passes = 11;
  if (argc > 2 || (argc == 2 && !tamis::bench::ParseCount(argv[1], passes, 1, 1000))) {
    std::fprintf(stderr, "usage: %s [PASSES]\n", argv[0]);
    return 2;
  }
  return tamis::bench::Run(static_cast<int>(passes)) ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
