// Threads that insert, erase and query at the same time, in a filter so full that fingerprints are
// constantly moved.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tamis/backends.h"
#include "tamis/detail/kernels.h"
#include "tamis/live/concurrent_cuckoo.h"
#include "tests/core/file_test_util.h"
#include "tests/live/concurrent_types.h"
#include "tests/test_util.h"

namespace tamis::concurrent_cuckoo_threads_test {

template <typename Bits>
class ConcurrentCuckooThreadsTest : public testing::Test {
 protected:
  using Plain = CuckooFilter<Bits::value>;
  using Concurrent = ConcurrentCuckooFilter<Bits::value>;
};

TYPED_TEST_SUITE(ConcurrentCuckooThreadsTest, CuckooTypes, CuckooTypeName);

// Counts the bulk queries that noticed a concurrent change.
struct Counted {
  static inline std::atomic<size_t> changing;
  template <int kBits>
  static void Contains(const void* words, const cuckoo::Geometry& geometry,
                       const detail::Batch& batch, uint64_t* bits, uint64_t* places) {
    ++changing;
    DefaultBackend().kernels->cuckoo<kBits>().contains_changing(words, geometry, batch, bits,
                                                                places);
  }
};

// Readers query staying keys, in bulk and one by one, while a writer erases and inserts other keys.
TYPED_TEST(ConcurrentCuckooThreadsTest, KeysThatStayAreFoundWhileOthersAreMoved) {
  constexpr size_t kSmall = 2000, kLarge = 20'000, kReaders = 2;
  detail::Kernels kernels = *DefaultBackend().kernels;
  kernels.cuckoo8.contains_changing = Counted::Contains<8>;
  kernels.cuckoo12.contains_changing = Counted::Contains<12>;
  kernels.cuckoo16.contains_changing = Counted::Contains<16>;
  const Backend backend = {DefaultBackend().name, "", &kernels};
  for (const size_t capacity : {kSmall, kLarge}) {
    typename TestFixture::Concurrent filter({.capacity = capacity, .backend = &backend});
    Counted::changing = 0;
    const std::vector<uint64_t> keys = RandomKeys(capacity, 1);
    ASSERT_EQ(filter.Insert(keys), keys.size());
    const auto staying = std::span<const uint64_t>(keys).first(capacity / 2);
    const auto leaving = std::span<const uint64_t>(keys).subspan(capacity / 2);
    std::atomic<bool> done = false;
    std::atomic<size_t> missed = 0, asked = 0;
    std::vector<std::thread> readers;
    for (size_t r = 0; r < kReaders; ++r) {
      readers.emplace_back([&, r] {
        std::vector<uint64_t> bits(BitmapWords(staying.size()));
        while (!done) {
          if (r == 0) {
            missed += staying.size() - filter.Contains(staying, Bitmap(bits));
          } else {
            for (const uint64_t key : staying) missed += !filter.Contains(key);
          }
          ++asked;
        }
      });
    }
    // A new random order each time, because otherwise the same places would become free again.
    Random random(2);
    std::vector<uint64_t> order(leaving.begin(), leaving.end());
    const size_t rounds = 40'000 / capacity + 2;
    for (size_t round = 0; round < rounds || asked < 2 * kReaders || Counted::changing == 0;
         ++round) {
      for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.Below(i)]);
      ASSERT_EQ(filter.Erase(order), order.size());
      for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.Below(i)]);
      for (const uint64_t key : order) ASSERT_TRUE(filter.Insert(key));
    }
    done = true;
    for (std::thread& reader : readers) reader.join();
    EXPECT_EQ(missed, 0);
    EXPECT_EQ(filter.inserted_count(), keys.size());
    EXPECT_EQ(filter.Count(keys), keys.size());
  }
}

// A bulk query whose kernel finds nothing, because all fingerprints are moved while the kernel
// runs. The query must find the keys even so. (With real threads, this is too rare for a test.)
struct MovedMeanwhile {
  static inline std::function<void()> move;
  static void Contains(const void*, const cuckoo::Geometry&, const detail::Batch& batch,
                       uint64_t* bits) {
    std::fill_n(bits, BitmapWords(batch.n), 0);
    move();
  }
};

TYPED_TEST(ConcurrentCuckooThreadsTest, ABulkLookupSeesThatFingerprintsWereMoved) {
  detail::Kernels kernels = *DefaultBackend().kernels;
  kernels.cuckoo8.contains = kernels.cuckoo12.contains = kernels.cuckoo16.contains =
      MovedMeanwhile::Contains;
  const Backend backend = {DefaultBackend().name, "", &kernels};
  constexpr size_t kKeys = 600;
  typename TestFixture::Concurrent filter({.capacity = kKeys, .backend = &backend});
  const std::vector<uint64_t> staying = RandomKeys(kKeys - 60, 30), others = RandomKeys(4000, 31);
  ASSERT_EQ(filter.Insert(staying), staying.size());
  size_t next = 0;
  MovedMeanwhile::move = [&] {
    std::vector<uint64_t> in;
    for (size_t i = 0; i < 20'000; ++i) {
      if (filter.Insert(others[next % others.size()])) in.push_back(others[next % others.size()]);
      ++next;
      if (in.size() < 60) continue;
      EXPECT_EQ(filter.Erase(in), in.size());
      in.clear();
    }
    EXPECT_EQ(filter.Erase(in), in.size());
  };
  std::vector<uint8_t> bytes(staying.size());
  EXPECT_EQ(filter.Contains(staying, bytes), staying.size());
  EXPECT_GE(filter.repeated_looks(), staying.size());

  MovedMeanwhile::move = [] {};
  EXPECT_EQ(filter.Count(staying), 0);  // without moves, the result of the kernel counts
}

// Each thread inserts its own keys and erases half of them. The filter must have the other half.
TYPED_TEST(ConcurrentCuckooThreadsTest, NoChangeIsLost) {
  constexpr size_t kThreads = 4, kKeys = 5000;
  typename TestFixture::Concurrent filter({.capacity = kThreads * kKeys});
  std::vector<std::thread> threads;
  std::atomic<size_t> failed = 0;
  std::vector<std::vector<uint64_t>> keys;
  for (size_t t = 0; t < kThreads; ++t) keys.push_back(RandomKeys(kKeys, 10 + t));
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const std::span<const uint64_t> mine(keys[t]);
      if (t % 2 == 0) {
        failed += kKeys - filter.Insert(mine);
        failed += kKeys / 2 - filter.Erase(mine.first(kKeys / 2));
      } else {
        for (const uint64_t key : mine) failed += !filter.Insert(key);
        for (const uint64_t key : mine.first(kKeys / 2)) failed += !filter.Erase(key);
      }
      failed += kKeys / 2 - filter.Count(mine.subspan(kKeys / 2));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(filter.inserted_count(), kThreads * kKeys / 2);
  for (const std::vector<uint64_t>& mine : keys) {
    for (const uint64_t key : std::span(mine).subspan(kKeys / 2)) ASSERT_TRUE(filter.Erase(key));
  }
  const auto empty = filter.Snapshot();
  EXPECT_TRUE(std::ranges::all_of(empty.payload(), [](std::byte b) { return b == std::byte{0}; }));
}

// If several threads insert the same keys in different orders, exactly one thread learns that a key
// is new, except for keys with the same buckets and fingerprint as another.
TYPED_TEST(ConcurrentCuckooThreadsTest, OneThreadLearnsThatAKeyIsNew) {
  constexpr size_t kThreads = 4, kKeys = 20'000;
  typename TestFixture::Concurrent filter({.capacity = kKeys});
  typename TestFixture::Plain plain({.capacity = kKeys});
  const std::vector<uint64_t> keys = RandomKeys(kKeys, 50);
  std::vector<uint64_t> fresh(BitmapWords(kKeys));
  plain.InsertIfAbsent(keys, Bitmap(fresh));
  std::atomic<size_t> told = 0;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::vector<uint64_t> mine(keys);
      std::rotate(mine.begin(), mine.begin() + static_cast<ptrdiff_t>(t * 100), mine.end());
      std::vector<uint64_t> bits(BitmapWords(kKeys));
      if (t % 2 == 0) {
        told += filter.InsertIfAbsent(mine, Bitmap(bits));
      } else {
        for (const uint64_t key : mine) told += filter.InsertIfAbsent(key);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(filter.Count(keys), kKeys);
  EXPECT_EQ(told, filter.inserted_count());
  // It does not matter which of two indistinguishable keys comes first.
  EXPECT_EQ(told, plain.inserted_count());
}

// A file states how many fingerprints its table has. Loading fails if this number is wrong.
TYPED_TEST(ConcurrentCuckooThreadsTest, AFileIsOfOneTime) {
  const TemporaryFolder folder;
  constexpr size_t kKeys = 5000;
  typename TestFixture::Concurrent filter({.capacity = 2 * kKeys});
  const std::vector<uint64_t> staying = RandomKeys(kKeys, 20), others = RandomKeys(kKeys, 21);
  filter.Insert(staying);
  std::atomic<bool> done = false;
  std::thread writer([&] {
    while (!done) {
      filter.Insert(others);
      filter.Erase(others);
    }
  });
  for (int i = 0; i < 20; ++i) {
    filter.Save(folder / "f");
    EXPECT_EQ(TestFixture::Plain::Load(folder / "f").Count(staying), kKeys);
  }
  done = true;
  writer.join();
}

}  // namespace tamis::concurrent_cuckoo_threads_test
