// A hash join of a large table of sales with a small table of products. The filter removes sales
// without a product before they reach the hash table.
#include <tamis/join/join_filter.h>
#include <tamis/join/join_probe.h>

#include <cstddef>
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

// Another machine fills its part with the same options, and sends the part as bytes.
std::vector<std::byte> RemoteShare(const tamis::JoinFilterOptions& options, uint32_t number,
                                   const std::vector<int64_t>& keys) {
  const tamis::JoinFilter makes_the_part(options);
  tamis::JoinFilter::Part part = makes_the_part.MakePart(number);
  part.Insert(keys);
  return part.Serialize();
}

// Keeps the rows that may have a match, and returns their number. Each thread of the probe side has
// a JoinProbe of its own.
size_t KeepRows(tamis::JoinProbe& probe, const std::vector<int64_t>& keys,
                std::span<uint32_t> rows) {
  if (!probe.Wanted(rows.size())) return rows.size();
  return probe.SelectFrom(keys, rows, rows);
}

int main() {
  // Product i has the key 10 i - 1000. Two threads and another machine read a third each.
  constexpr int64_t kProducts = 20'000;
  std::vector<int64_t> shares[3];
  for (int64_t i = 0; i < kProducts; ++i) shares[i % 3].push_back(10 * i - 1000);
  std::unordered_set<int64_t> table;
  for (const std::vector<int64_t>& share : shares) table.insert(share.begin(), share.end());

  const tamis::JoinFilterOptions options = {.expected_keys = kProducts};
  tamis::JoinFilter filter(options);
  std::thread other([&] { BuildShare(filter, 1, shares[1]); });
  BuildShare(filter, 0, shares[0]);
  other.join();
  const std::vector<std::byte> received = RemoteShare(options, 2, shares[2]);
  filter.Add(tamis::JoinFilter::Part::FromBytes(received));
  filter.Complete(3);  // throws if one of the three parts is missing
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
