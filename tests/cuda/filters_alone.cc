// Uses filters. With an argument, the program lists all backends instead, which searches for GPUs.
// driver_test.py checks that only the list loads a driver.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "tamis/backends.h"
#include "tamis/filters/filter_kinds.h"
#include "tamis/hash_keys.h"
#include "tamis/tamis.h"

int main(int argc, char**) {
  if (argc > 1) return tamis::Backends().empty() ? 1 : 0;
  const std::vector<uint64_t> keys = {1, 2, 3};
  std::vector<uint64_t> hashes(keys.size());
  tamis::HashKeys(keys, {}, hashes);
  for (const tamis::FilterKind kind : {tamis::FilterKind::kSplitBlock, tamis::FilterKind::kCuckoo8,
                                       tamis::FilterKind::kBloom, tamis::FilterKind::kCounting}) {
    tamis::AnyFilter filter = tamis::MakeFilter(kind, {.capacity = 1000});
    RequireChangeable(*filter).Insert(keys);
    if (filter->Count(keys) != keys.size()) return 1;
  }
  const tamis::SplitBlockBloomFilter pinned(
      {.capacity = 10, .backend = &tamis::FindBackend("portable")});
  return pinned.Count(keys) == 0 ? 0 : 1;
}
