// Keeps only the first of equal events.
#include <tamis/tamis.h>

#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  std::vector<uint64_t> keys;
  for (uint64_t i = 0; i < 100'000; ++i) keys.push_back(i * i % 99'991);

  tamis::SplitBlockBloomFilter filter({.capacity = keys.size(), .fpr = 1e-4});
  std::vector<uint64_t> fresh(tamis::BitmapWords(keys.size()));
  // Sets bit i of `fresh` if key i was not there before.
  size_t n = filter.InsertIfAbsent(keys, tamis::Bitmap(fresh));
  std::printf("%zu events, %zu of them new\n", keys.size(), n);
  // The keys are squares modulo a prime, and each comes again. A few may be false positives.
  if (n > 49'996 || n < 49'900 || filter.Count(keys) != keys.size()) return 1;

  // No key is new now, whether one key or all keys are queried.
  if (filter.InsertIfAbsent(keys[7])) return 1;
  return filter.InsertIfAbsent(keys, tamis::Bitmap(fresh)) == 0 ? 0 : 1;
}
