// Compares the forms of a join filter with a plain bitmap loop, a split-block filter, and a hash
// table without a filter.
//
// Usage: tamis_join_table [KEYS [ROWS [PASSES [PERCENT [LEAD]]]]]
// By default 100,000 keys, 2^22 rows, 5 passes. PERCENT: only this share of rows match; by default
// 1, 10, 50 and 100. LEAD: this percentage of the rows, at the start of a pass, all match; by
// default 0. Dense keys are one of each four consecutive integers, and sparse keys are
// random. Absent rows are in the same range. In each pass all methods take turns on one thread.
// Figures are medians of nanoseconds per row. Exit status: 0 if no filter misses a key, 1 if one
// does, 2 for bad arguments.
#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/arguments.h"
#include "bench/timing.h"
#include "bench/workload.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/join/join_filter.h"
#include "tamis/join/join_probe.h"

namespace tamis::bench {
namespace {

constexpr size_t kBatch = 4096;  // rows of a batch of an engine

using HashTable = boost::unordered_flat_set<uint64_t>;

// The usual loop of engines: checks the range and tests a bit.
struct PlainBitmap {
  uint64_t low = 0, span = 0;
  std::vector<uint64_t> words;

  PlainBitmap(const std::vector<uint64_t>& keys, uint64_t first, uint64_t last)
      : low(first), span(last - first), words(span / 64 + 1) {
    for (const uint64_t key : keys) words[(key - low) / 64] |= uint64_t{1} << ((key - low) % 64);
  }
  void Query(const uint64_t* rows, size_t n, uint64_t* bits) const {
    for (size_t i = 0; i < n; i += 64) {
      uint64_t word = 0;
      for (size_t j = i; j < n && j < i + 64; ++j) {
        const uint64_t bit = rows[j] - low;
        const bool in = bit <= span && ((words[bit / 64] >> (bit % 64)) & 1) != 0;
        word |= uint64_t{in} << (j - i);
      }
      bits[i / 64] = word;
    }
  }
};

std::unique_ptr<JoinFilter> Build(JoinFilterOptions options, const std::vector<uint64_t>& keys) {
  options.expected_keys = keys.size();
  auto filter = std::make_unique<JoinFilter>(options);
  JoinFilter::Part part = filter->MakePart(0);
  part.Insert(keys);
  filter->Add(std::move(part));
  filter->Complete(1);
  return filter;
}

// Looks up the rows that pass. Returns the number of matches.
size_t JoinRows(const HashTable& table, JoinProbe* probe, const std::vector<uint64_t>& rows,
                std::vector<uint32_t>& selected) {
  size_t matches = 0;
  for (size_t begin = 0; begin < rows.size(); begin += kBatch) {
    const size_t n = std::min(kBatch, rows.size() - begin);
    const uint64_t* const batch = rows.data() + begin;
    if (probe != nullptr && probe->Wanted(n)) {
      const size_t passed = probe->Select(std::span(batch, n), std::span(selected));
      for (size_t i = 0; i < passed; ++i) matches += table.contains(batch[selected[i]]);
    } else {
      for (size_t i = 0; i < n; ++i) matches += table.contains(batch[i]);
    }
  }
  return matches;
}

struct Method {
  const char* name;
  std::function<size_t()> run;
  std::vector<double> samples = {};
};

bool Cell(bool dense, const std::vector<uint64_t>& keys, const HashTable& table,
          const JoinFilter& chosen, const JoinFilter* bitmap, const JoinFilter& blocks,
          const SplitBlockBloomFilter& plain, const PlainBitmap* loop, double share, uint64_t lead,
          size_t num_rows, int passes) {
  std::vector<uint64_t> rows(num_rows);
  size_t matches = 0;
  for (size_t i = 0; i < num_rows; ++i) {
    const uint64_t random = KeyAt(i + 1'000'000'000);
    const bool match =
        i < num_rows / 100 * lead || static_cast<double>(random % 10'000) < share * 10'000;
    const uint64_t number = (random >> 20) % keys.size();
    rows[i] = match ? keys[number] : dense ? keys[number] ^ 1 : KeyAt(keys.size() + number) >> 8;
    matches += match;
  }
  std::vector<uint64_t> bits(BitmapWords(num_rows));
  std::vector<uint32_t> selected(kBatch);
  // An engine knows the cost of its hash table. One probe for all passes, as in a long scan.
  const double row_ns =
      MedianNanoseconds(Time::kThread, 3, [&] { JoinRows(table, nullptr, rows, selected); }) /
      static_cast<double>(num_rows);
  JoinProbe probe(chosen, {.row_ns = row_ns});
  std::vector<Method> methods = {
      {"chosen", [&] { return chosen.Contains(rows, Bitmap(bits)); }},
      {"blocks", [&] { return blocks.Contains(rows, Bitmap(bits)); }},
      {"split-block", [&] { return plain.Contains(rows, Bitmap(bits)); }},
      {"table", [&] { return JoinRows(table, nullptr, rows, selected); }},
      {"filter and table", [&] { return JoinRows(table, &probe, rows, selected); }}};
  if (bitmap != nullptr) {
    methods.push_back({"bitmap", [&] { return bitmap->Contains(rows, Bitmap(bits)); }});
    methods.push_back({"loop", [&] {
                         loop->Query(rows.data(), rows.size(), bits.data());
                         return matches;
                       }});
  }
  bool good = true;
  for (int pass = 0; pass <= passes; ++pass) {
    // No method is always the one after the hash table, which empties the caches.
    for (size_t i = 0; i < methods.size(); ++i) {
      Method& method = methods[(i + static_cast<size_t>(pass)) % methods.size()];
      size_t found = 0;
      const double ns = Nanoseconds(Time::kThread, [&] { found = method.run(); });
      good = good && found >= matches;
      if (pass > 0) method.samples.push_back(ns / static_cast<double>(num_rows));
    }
  }
  const auto median = [&](size_t i) { return Median(methods[i].samples); };
  const auto text = [&](size_t i) {
    char buffer[32] = "-";
    if (i < methods.size()) std::snprintf(buffer, sizeof(buffer), "%.2f", median(i));
    return std::string(buffer);
  };
  std::printf("| %zu | %s | %.0f%% | %s %s | %s | %s | %s | %s | %s | %s | %.2f | %s |\n",
              keys.size(), dense ? "dense" : "sparse", 100 * share, JoinFormName(chosen.form()),
              text(0).c_str(), text(5).c_str(), text(1).c_str(), text(6).c_str(), text(2).c_str(),
              text(3).c_str(), text(4).c_str(), median(4) / median(3),
              JoinVerdictName(probe.verdict()));
  std::fflush(stdout);
  return good;
}

bool Table(size_t num_keys, size_t rows, int passes, const std::vector<uint64_t>& percents,
           uint64_t lead) {
  bool good = true;
  for (const bool dense : {true, false}) {
    std::vector<uint64_t> keys(num_keys);
    for (size_t i = 0; i < num_keys; ++i)
      keys[i] = dense ? 4 * i + 2 * (KeyAt(i) & 1) : KeyAt(i) >> 8;
    // Engines build the table in the order of the rows of the build side, which is random.
    HashTable table(num_keys);
    for (size_t i = 0; i < num_keys; ++i) table.insert(keys[i]);
    JoinFilterOptions options;
    if (dense) options.range = JoinKeyRange(0, 4 * num_keys);
    const auto chosen = Build(options, keys);
    const auto blocks = Build({.kept_keys = 1}, keys);
    std::unique_ptr<JoinFilter> bitmap;
    std::unique_ptr<PlainBitmap> loop;
    if (dense) {
      options.l2_bytes = options.l3_bytes = uint64_t{1} << 40;  // a bitmap of any size
      bitmap = Build(options, keys);
      loop = std::make_unique<PlainBitmap>(keys, 0, 4 * num_keys);
    }
    SplitBlockBloomFilter plain({.capacity = num_keys});
    plain.Insert(keys);
    for (const uint64_t percent : percents) {
      good &= Cell(dense, keys, table, *chosen, bitmap.get(), *blocks, plain, loop.get(),
                   static_cast<double>(percent) / 100, lead, rows, passes);
    }
  }
  return good;
}

int Main(int argc, char** argv) {
  uint64_t keys = 100'000, rows = uint64_t{1} << 22, passes = 5, percent = 0, lead = 0;
  uint64_t* const values[] = {&keys, &rows, &passes, &percent, &lead};
  for (int i = 1; i < argc; ++i) {
    if (i > 5 || !ParseCount(argv[i], *values[i - 1]) || percent > 100 || lead > 100) {
      std::fprintf(stderr, "usage: tamis_join_table [KEYS [ROWS [PASSES [PERCENT [LEAD]]]]]\n");
      return 2;
    }
  }
  std::printf(
      "| Keys | Range | Matches | Chosen | Bitmap | Blocks | Bitmap loop | Split-block | "
      "Table | Filter and table | Ratio | Verdict |\n"
      "|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|\n");
  std::vector<uint64_t> percents = {1, 10, 50, 100};
  if (percent > 0) percents = {percent};
  return Table(keys, rows, static_cast<int>(passes), percents, lead) ? 0 : 1;
}

}  // namespace
}  // namespace tamis::bench

int main(int argc, char** argv) {
  try {
    return tamis::bench::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
