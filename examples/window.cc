// Recognizes events that come again soon, in a stream that never ends.
#include <tamis/engine/windowed_filter.h>
#include <tamis/tamis.h>

#include <cstdint>
#include <cstdio>

int main() {
  // Remembers the last 100,000 events or more, and forgets older ones.
  tamis::WindowedFilter<tamis::SplitBlockBloomFilter> recent({.window = 100'000, .fpr = 1e-4});
  uint64_t handled = 0, events = 0;
  for (uint64_t id = 0; id < 1'000'000; ++id) {
    for (const uint64_t event : {id, id / 2}) {  // half of the ids come again, later and later
      ++events;
      if (recent.InsertIfAbsent(event)) ++handled;
    }
  }
  std::printf("%llu of %llu events handled, by %llu bytes that remember at most %llu of them\n",
              static_cast<unsigned long long>(handled), static_cast<unsigned long long>(events),
              static_cast<unsigned long long>(recent.bytes()),
              static_cast<unsigned long long>(recent.max_keys()));
  return recent.Contains(uint64_t{999'999}) && handled > 1'000'000 && handled < events ? 0 : 1;
}
