// Events that come more than once: keep the first of each.
#include <tamis/tamis.h>

#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  std::vector<uint64_t> keys;
  for (uint64_t i = 0; i < 100'000; ++i) keys.push_back(i * i % 99'991);

  tamis::SplitBlockBloomFilter filter({.capacity = keys.size(), .fpr = 1e-4});
  std::vector<uint64_t> fresh(tamis::BitmapWords(keys.size()));
  // Bit i of `fresh` becomes whether key i was not there before.
  size_t n = filter.InsertIfAbsent(keys, tamis::Bitmap(fresh));
  std::printf("%zu events, %zu of them new\n", keys.size(), n);
  // The squares modulo a prime, each of which comes again; a few may be taken for others.
  if (n > 49'996 || n < 49'900 || filter.Count(keys) != keys.size()) return 1;

  // None of them is new any more, be it asked for one key or for all.
  if (filter.InsertIfAbsent(keys[7])) return 1;
  return filter.InsertIfAbsent(keys, tamis::Bitmap(fresh)) == 0 ? 0 : 1;
}
