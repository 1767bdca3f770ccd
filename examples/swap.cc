// A filter that is rebuilt while others ask it: they keep the old one until they are done with it.
#include <tamis/tamis.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

using FilterPointer = std::shared_ptr<const tamis::SplitBlockBloomFilter>;

// The filter of the moment. The lock is held for as long as it takes to copy a pointer.
class Current {
 public:
  FilterPointer Get() {
    const std::lock_guard lock(mutex_);
    return filter_;
  }
  void Set(FilterPointer filter) {
    const std::lock_guard lock(mutex_);
    filter_.swap(filter);
  }  // the old one, if nobody has it any more, goes after the lock

 private:
  std::mutex mutex_;
  FilterPointer filter_;
};

FilterPointer BuildFor(uint64_t day) {
  std::vector<uint64_t> keys;
  for (uint64_t i = 0; i < 10'000; ++i) keys.push_back(day * 10'000 + i);
  auto filter = std::make_shared<tamis::SplitBlockBloomFilter>(
      tamis::FilterOptions{.capacity = keys.size(), .fpr = 0.001});
  filter->Insert(keys);
  return filter;
}

int main() {
  Current current;
  current.Set(BuildFor(0));
  std::atomic<bool> done = false;
  std::atomic<uint64_t> missed = 0;

  // A reader takes the filter once for each batch of work, and asks it without a lock.
  std::vector<std::jthread> readers;
  for (int r = 0; r < 3; ++r) {
    readers.emplace_back([&] {
      while (!done) {
        const FilterPointer filter = current.Get();
        missed += !filter->Contains(uint64_t{5}) && !filter->Contains(uint64_t{10'005}) &&
                  !filter->Contains(uint64_t{20'005});
      }
    });
  }

  // The writer makes a new one aside, and puts it in place whole.
  for (uint64_t day = 0; day < 3; ++day) current.Set(BuildFor(day));
  done = true;
  readers.clear();
  std::printf("%llu lookups found a filter that was not whole\n",
              static_cast<unsigned long long>(missed.load()));
  return missed == 0 ? 0 : 1;
}
