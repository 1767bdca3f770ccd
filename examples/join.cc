// A hash join of a large table of sales with a small table of products. The filter removes sales
// without a product before they reach the hash table.
#include <tamis/join/join_filter.h>
#include <tamis/join/join_probe.h>

#include <cstdint>
#include <cstdio>
#include <numeric>
#include <span>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

// Each thread of the build side fills a part of its own.
void BuildShare(tamis::JoinFilter& filter, uint32_t number, const std::vector<int64_t>& keys) {
  tamis::JoinFilter::Part part = filter.MakePart(number);
  part.Insert(keys);
  filter.Add(std::move(part));
}

// Keeps the rows that may have a match, and returns their number. Each thread of the probe side has
// a JoinProbe of its own.
size_t KeepRows(tamis::JoinProbe& probe, const std::vector<int64_t>& keys,
                std::span<uint32_t> rows) {
  if (!probe.Wanted(rows.size())) return rows.size();
  return probe.SelectFrom(keys, rows, rows);
}

int main() {
  // Product i has the key 10 i - 1000. Each thread reads a half of the products.
  constexpr int64_t kProducts = 20'000;
  std::vector<int64_t> halves[2];
  for (int64_t i = 0; i < kProducts; ++i) halves[i % 2].push_back(10 * i - 1000);
  std::unordered_set<int64_t> table(halves[0].begin(), halves[0].end());
  table.insert(halves[1].begin(), halves[1].end());

  tamis::JoinFilter filter({.expected_keys = kProducts});
  std::thread other([&] { BuildShare(filter, 1, halves[1]); });
  BuildShare(filter, 0, halves[0]);
  other.join();
  filter.Complete(2);  // throws if one of the two parts is missing
  std::printf("%s: %s\n", tamis::JoinFormName(filter.form()), filter.choice().reason.c_str());

  // Batches of sales.
  tamis::JoinProbe probe(filter);
  std::vector<int64_t> sales(2048);
  std::vector<uint32_t> rows(sales.size());
  size_t matches = 0, lookups = 0, expected = 0;
  for (int64_t batch = 0; batch < 200; ++batch) {
    for (size_t i = 0; i < sales.size(); ++i) {
      sales[i] = (batch * 104'729 + static_cast<int64_t>(i) * 7919) % 500'000;
      expected += sales[i] % 10 == 0 && sales[i] < 10 * kProducts - 1000;
    }
    std::iota(rows.begin(), rows.end(), 0);
    const size_t n = KeepRows(probe, sales, rows);
    lookups += n;
    for (const uint32_t row : std::span(rows).first(n)) matches += table.count(sales[row]);
  }
  std::printf("%zu matches of 409600 sales, %s lookups in the hash table\n", matches,
              lookups == matches ? "and as many" : "and more");
  return matches == expected ? 0 : 1;
}
