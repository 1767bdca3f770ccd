// If the number of keys is unknown, a scalable filter adds layers as it fills.
#include <tamis/tamis.h>

#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  tamis::ScalableFilter<tamis::SplitBlockBloomFilter> seen(
      {.initial_capacity = 1'000, .fpr = 0.01});

  // 200,000 keys come in batches, though the first layer has room for 1,000.
  std::vector<uint64_t> all;
  while (all.size() < 200'000) {
    std::vector<uint64_t> batch;
    for (uint64_t i = 0; i < 10'000; ++i) batch.push_back(all.size() + i);
    seen.Insert(batch);
    all.insert(all.end(), batch.begin(), batch.end());
  }
  if (seen.Count(all) != all.size()) return 1;

  // The false-positive rate stays below the requested one, whatever the number of layers.
  std::vector<uint64_t> others;
  for (uint64_t i = 0; i < 100'000; ++i) others.push_back(1'000'000'000 + i);
  const double rate = static_cast<double>(seen.Count(others)) / static_cast<double>(others.size());
  std::printf("%zu layers, %llu bytes, false positives %.2f%%\n", seen.layers().size(),
              static_cast<unsigned long long>(seen.bytes()), 100 * rate);

  // If you still have all keys, one smaller and faster filter can replace the layers.
  const tamis::SplitBlockBloomFilter one = seen.Compact(all);
  std::printf("1 filter, %llu bytes\n", static_cast<unsigned long long>(one.bytes()));
  return rate < 0.01 && one.bytes() < seen.bytes() && one.Count(all) == all.size() ? 0 : 1;
}
