// A filter that is rebuilt while other threads query it. Each thread uses the old filter until it
// takes a new snapshot.
#include <tamis/live/live.h>
#include <tamis/tamis.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <stop_token>
#include <thread>
#include <vector>

using Filter = tamis::SplitBlockBloomFilter;

constexpr uint64_t kKeysOfADay = 10'500;

// Returns the keys of a day: some are the same every day, others are new.
std::vector<uint64_t> KeysOf(uint64_t day) {
  std::vector<uint64_t> keys;
  for (uint64_t i = 0; i < kKeysOfADay; ++i) keys.push_back(i % 2 == 0 ? i : day * kKeysOfADay + i);
  return keys;
}

Filter BuildFor(uint64_t day, tamis::RebuildContext& context) {
  const std::vector<uint64_t> keys = KeysOf(day);
  context.SetTotal(keys.size());
  Filter filter({.capacity = keys.size(), .fpr = 0.001});
  for (const tamis::Keys& some : tamis::Keys(keys).Chunks(1000)) {
    filter.Insert(some);
    context.Advance(some.size());  // throws if the rebuild is cancelled
  }
  return filter;
}

int main() {
  tamis::Live<Filter> live;
  live.Rebuild({[](tamis::RebuildContext& context) { return BuildFor(0, context); }});

  // A reader takes a snapshot for each batch of work, and queries it without a lock.
  std::atomic<uint64_t> missed = 0;
  std::vector<std::jthread> readers;
  for (int r = 0; r < 3; ++r) {
    readers.emplace_back([&](const std::stop_token& stop) {
      const std::vector<uint64_t> batch = {0, 2, 4, 6, 8};
      while (!stop.stop_requested()) {
        const tamis::Snapshot<Filter> filter = live.Read();
        missed += batch.size() - filter->Count(batch);
      }
    });
  }

  // Another thread builds a new filter, which then replaces the old one.
  for (uint64_t day = 1; day < 4; ++day) {
    tamis::RebuildJob job = live.StartRebuild(
        {[day](tamis::RebuildContext& context) { return BuildFor(day, context); }});
    const uint64_t generation = job.Wait();  // or throws, and the old filter stays
    std::printf("generation %llu serves day %llu\n", static_cast<unsigned long long>(generation),
                static_cast<unsigned long long>(day));
  }
  readers.clear();
  std::printf("%llu lookups found an incomplete filter\n",
              static_cast<unsigned long long>(missed.load()));
  return missed == 0 && live.Read()->Contains(3 * kKeysOfADay + 1) ? 0 : 1;
}
