// Threads that insert into a filter and query it at the same time. Each test covers a possible
// mistake: loading, changing and storing a word, which loses bits of other threads; a wrong
// checksum in a file saved during insertions; the answer "no" for an inserted key.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory_resource>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tamis/live/concurrent_bloom.h"
#include "tests/core/file_test_util.h"
#include "tests/live/concurrent_types.h"
#include "tests/test_util.h"

namespace tamis::concurrent_bloom_threads_test {

template <typename F>
class ConcurrentBloomThreadsTest : public testing::Test {
 protected:
  using Concurrent = ConcurrentBloom<F>;
};

TYPED_TEST_SUITE(ConcurrentBloomThreadsTest, BloomTypes, BloomTypeName);

constexpr size_t kThreads = 4;

// Calls work(thread) on kThreads threads that start together.
template <typename Work>
void OnThreads(const Work& work) {
  std::atomic<size_t> ready = 0;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      ++ready;
      while (ready < kThreads) std::this_thread::yield();
      work(t);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// The filter is so small that all threads constantly set bits in the same words.
TYPED_TEST(ConcurrentBloomThreadsTest, NoBitIsLost) {
  const FilterOptions options = {.capacity = 1000, .bytes = 8192};
  for (uint64_t round = 0; round < 60; ++round) {
    typename TestFixture::Concurrent filter(options);
    std::vector<std::vector<uint64_t>> keys;
    TypeParam plain(options);
    for (size_t t = 0; t < kThreads; ++t) {
      keys.push_back(RandomKeys(600, round * kThreads + t));
      plain.Insert(keys.back());
    }
    OnThreads([&](size_t t) {
      if ((round + t) % 3 == 0) {  // single keys, then small and large batches
        for (const uint64_t key : keys[t]) filter.Insert(key);
      } else if ((round + t) % 3 == 1) {
        for (size_t i = 0; i < keys[t].size(); i += 50) {
          filter.Insert(std::span<const uint64_t>(keys[t]).subspan(i, 50));
        }
      } else {
        filter.Insert(keys[t]);
      }
    });
    ASSERT_TRUE(SameBytes(plain.payload(), filter.filter().payload())) << round;
    ASSERT_EQ(filter.inserted_count(), plain.inserted_count());
  }
}

// Every thread queries its own keys, and the keys that other threads have announced.
TYPED_TEST(ConcurrentBloomThreadsTest, InsertedKeysAreFound) {
  constexpr size_t kKeys = 20'000, kStep = 100;
  typename TestFixture::Concurrent filter({.capacity = kThreads * kKeys});
  std::vector<std::vector<uint64_t>> keys;
  for (size_t t = 0; t < kThreads; ++t) keys.push_back(RandomKeys(kKeys, 100 + t));
  std::array<std::atomic<size_t>, kThreads> inserted = {};
  std::atomic<size_t> missed = 0;
  OnThreads([&](size_t t) {
    std::vector<uint64_t> bits(BitmapWords(kKeys));
    for (size_t i = 0; i < kKeys; i += kStep) {
      filter.Insert(std::span<const uint64_t>(keys[t]).subspan(i, kStep));
      inserted[t] = i + kStep;
      const size_t other = (t + i / kStep) % kThreads;
      const auto known = std::span<const uint64_t>(keys[other]).first(inserted[other]);
      missed += known.size() - filter.Contains(known, Bitmap(bits));
      if (!known.empty()) missed += !filter.Contains(known.back());
    }
  });
  EXPECT_EQ(missed, 0);
}

// If several threads insert the same keys at once, at least one thread learns that a key is new. If
// all insert in the same order, few keys are reported twice.
TYPED_TEST(ConcurrentBloomThreadsTest, AtLeastOneThreadLearnsThatAKeyIsNew) {
  constexpr size_t kKeys = 5000;
  const std::vector<uint64_t> keys = RandomKeys(kKeys, 16);
  typename TestFixture::Concurrent filter({.capacity = kKeys, .fpr = 1e-6});
  std::vector<std::vector<uint64_t>> fresh(kThreads, std::vector<uint64_t>(BitmapWords(kKeys)));
  OnThreads([&](size_t t) {
    if (t % 2 == 0) {
      filter.InsertIfAbsent(keys, Bitmap(fresh[t]));
    } else {
      for (size_t i = 0; i < kKeys; ++i) {
        fresh[t][i / 64] |= uint64_t{filter.InsertIfAbsent(keys[i])} << (i % 64);
      }
    }
  });
  size_t told = 0;
  for (size_t w = 0; w < BitmapWords(kKeys); ++w) {
    uint64_t any = 0;
    for (const std::vector<uint64_t>& bits : fresh) any |= bits[w];
    told += static_cast<size_t>(std::popcount(any));
  }
  EXPECT_GE(told, kKeys - 2);  // except for false positives
}

TYPED_TEST(ConcurrentBloomThreadsTest, AFileHasAllThatWasInserted) {
  const TemporaryFolder folder;
  constexpr size_t kKeys = 40'000, kStep = 50;
  typename TestFixture::Concurrent filter({.capacity = kKeys});
  const std::vector<uint64_t> keys = RandomKeys(kKeys, 17);
  std::atomic<size_t> inserted = 0;
  std::thread writer([&] {
    for (size_t i = 0; i < kKeys; i += kStep) {
      filter.Insert(std::span<const uint64_t>(keys).subspan(i, kStep));
      inserted = i + kStep;
      std::this_thread::yield();
    }
  });
  bool last = false;
  typename TestFixture::Concurrent merged({.capacity = kKeys});
  do {
    last = inserted == kKeys;
    const auto known = std::span<const uint64_t>(keys).first(inserted);
    filter.Save(folder / "f");
    const TypeParam loaded = TypeParam::Load(folder / "f");  // verifies the file
    ASSERT_EQ(loaded.Count(known), known.size());
    ASSERT_GE(loaded.inserted_count(), known.size());
    merged.Clear();
    merged.Merge(filter);
    ASSERT_EQ(merged.Count(known), known.size());
  } while (!last);
  writer.join();
}

// Memory that forked children share.
class SharedMemory final : public std::pmr::memory_resource {
  void* do_allocate(size_t bytes, size_t) override {
    void* const map =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) throw std::bad_alloc();
    return map;
  }
  void do_deallocate(void* map, size_t bytes, size_t) override { munmap(map, bytes); }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

TYPED_TEST(ConcurrentBloomThreadsTest, ProcessesShareIt) {
  SharedMemory memory;
  const FilterOptions options = {.capacity = 1000, .bytes = 8192, .memory = {.resource = &memory}};
  typename TestFixture::Concurrent filter(options);
  TypeParam plain({.capacity = 1000, .bytes = 8192});
  std::vector<pid_t> children;
  for (uint64_t child = 0; child < 3; ++child) {
    const std::vector<uint64_t> keys = RandomKeys(500, 18 + child);
    plain.Insert(keys);
    const pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      for (const uint64_t key : keys) filter.Insert(key);
      _exit(filter.Count(keys) == keys.size() ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  EXPECT_TRUE(SameBytes(plain.payload(), filter.filter().payload()));
}

}  // namespace tamis::concurrent_bloom_threads_test
