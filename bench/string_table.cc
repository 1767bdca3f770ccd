// Compares queries of strings with a simple loop in the same filter: the loop hashes each string by
// an inlined XXH3_64bits, and then queries the hashes in bulk.
//
// Usage: tamis_string_table [PASSES]   by default 11
// The filter is for 100,000 keys, and contains half of the queries. Lengths are spread evenly from
// half to one and a half of the mean. For a mean of 8, all lengths are 8. "cached" queries 2^13
// strings repeatedly, "stream" 2^20 strings in turn. In each pass all methods take turns on one
// thread. Figures are medians: of nanoseconds per key, and of the ratio to the loop in the same
// pass. Exit status: 0 if all answers agree, 1 if not, 2 for bad arguments.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdio>
#include <exception>
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

struct Strings {
  Strings(size_t mean, size_t n) {
    for (size_t i = 0; i < n; ++i) {
      const size_t length = mean <= 8 ? 8 : mean / 2 + KeyAt(i) % (mean + 1);
      for (size_t at = 0; at < length; ++at) {
        bytes += static_cast<char>(KeyAt(i * 1024 + at / 8) >> (8 * (at % 8)));
      }
      offsets.push_back(static_cast<int32_t>(bytes.size()));
    }
    for (size_t i = 0; i < n; ++i) views.push_back(column()[i]);
  }
  StringColumn column() const { return {bytes.data(), offsets}; }

  std::string bytes;
  std::vector<int32_t> offsets = {0};
  std::vector<std::string_view> views;
};

// Returns whether all answers equal those of the loop.
template <typename HashString>
bool Row(const char* hash_name, HashKind kind, const HashString& hash_string, size_t mean, size_t n,
         int passes) {
  const Strings strings(mean, n);
  SplitBlockBloomFilter filter({.bytes = FilterBytes(kFilterKeys), .hash = {.kind = kind}});
  for (size_t i = 0; i < n && i < 2 * kFilterKeys; i += 2) filter.Insert(strings.views[i]);
  for (size_t i = n / 2; i < kFilterKeys; ++i) filter.Insert(KeyAt(i));

  std::vector<uint64_t> hashes(n), bits(BitmapWords(n)), expected(BitmapWords(n));
  const StringColumn column = strings.column();
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
    naive.push_back(per_key([&] {
      for (size_t i = 0; i < n; ++i) hashes[i] = hash_string(column[i]);
      filter.Contains(Hashes{hashes}, Bitmap(expected));
    }));
    ours.push_back(per_key([&] { filter.Contains(column, Bitmap(bits)); }));
    same &= bits == expected;
    views.push_back(per_key([&] { filter.Contains(strings.views, Bitmap(bits)); }));
    same &= bits == expected;
    ours_ratio.push_back(ours.back() / naive.back());
    views_ratio.push_back(views.back() / ours.back());
  }
  std::printf("%-6s %5zu  %-7s %6.2f %7.2f %7.2f   %5.2f  %5.2f\n", hash_name, mean,
              n == kAnswered ? "stream" : "cached", Median(naive), Median(ours), Median(views),
              Median(ours_ratio), Median(views_ratio));
  std::fflush(stdout);
  return same;
}

bool Run(int passes) {
  std::printf(
      "backend %s\nhash    mean  strings  naive  column   views  column/naive  views/column\n",
      std::string(DefaultBackend().name).c_str());
  bool same = true;
  for (const size_t mean : {8, 16, 40, 80, 200}) {
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
