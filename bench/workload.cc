#include "bench/workload.h"

namespace tamis::bench {

HugeVector<uint64_t> MakeKeys(uint64_t n) {
  HugeVector<uint64_t> keys(n);
  for (uint64_t i = 0; i < n; ++i) keys[i] = KeyAt(i);
  return keys;
}

Queries MakeQueries(uint64_t num_keys, size_t n, int hit_percent) {
  Queries queries{HugeVector<uint64_t>(n), HugeVector<uint8_t>(n)};
  for (size_t i = 0; i < n; ++i) {
    const uint64_t random = KeyAt(~uint64_t{i});  // from the other end of the sequence
    queries.present[i] = (random >> 32) % 100 < static_cast<uint64_t>(hit_percent);
    const uint64_t chosen = ((random & 0xFFFFFFFF) * num_keys) >> 32;
    queries.keys[i] = KeyAt(queries.present[i] ? chosen : num_keys + i);
  }
  return queries;
}

Strings::Strings(std::span<const uint64_t> keys) : words(2 * keys.size()), views(keys.size()) {
  const char* bytes = reinterpret_cast<const char*>(words.data());
  for (size_t i = 0; i < keys.size(); ++i) {
    words[2 * i] = keys[i];
    words[2 * i + 1] = KeyAt(keys[i]);
    views[i] = {bytes + 16 * i, 16};
  }
}

}  // namespace tamis::bench
