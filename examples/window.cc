// Recognizes events that come again soon, in a stream that never ends.
#include <tamis/engine/windowed_filter.h>
#include <tamis/tamis.h>

#include <chrono>
#include <cstdint>
#include <cstdio>

using namespace std::chrono_literals;

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

  // Remembers the events of the last 5 minutes or more, with room for 100,000 different ones.
  tamis::WindowedFilter<tamis::SplitBlockBloomFilter> minutes(
      {.window = 100'000, .span = 5min, .fpr = 1e-4});
  minutes.Advance(12h);  // the time of the next events, by any clock
  const bool is_new = minutes.InsertIfAbsent("a login");
  minutes.Save("minutes.window");  // and the program may stop here

  minutes = decltype(minutes)::Load("minutes.window");
  minutes.Advance(12h + 4min);
  const bool still_in = minutes.Contains("a login");
  minutes.Advance(12h + 7min);  // after minutes.max_age() at the latest
  const bool forgotten = !minutes.Contains("a login");

  std::printf("%llu of %llu events handled, by %llu bytes that remember at most %llu of them\n",
              static_cast<unsigned long long>(handled), static_cast<unsigned long long>(events),
              static_cast<unsigned long long>(recent.bytes()),
              static_cast<unsigned long long>(recent.max_keys()));
  const bool kept = recent.Contains(uint64_t{999'999}) && handled > 1'000'000 && handled < events;
  return kept && is_new && still_in && forgotten ? 0 : 1;
}
