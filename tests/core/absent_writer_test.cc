// Insertion of absent keys, ordered by filter region, gives the same result as inserting one key
// after the other, with any number of threads, any batches and any spread of the keys.
#include "core/src/bulk/absent_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "core/src/bulk/batches.h"
#include "core/src/filters/base/filter_access.h"
#include "core/src/filters/registry/kinds.h"
#include "tamis/backends.h"
#include "tamis/engine/engine.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/test_util.h"

namespace tamis::absent_writer_test {

constexpr uint64_t kMiB = uint64_t{1} << 20;

SplitBlockBloomFilter MakeFilter(uint64_t bytes, const Backend& backend) {
  return SplitBlockBloomFilter(
      {.capacity = 1, .bytes = bytes, .memory = {.huge_pages = false}, .backend = &backend});
}

bool SameBits(const Filter& a, const Filter& b) { return SameBytes(a.payload(), b.payload()); }

// Returns which hashes are new, inserted one by one.
std::vector<uint64_t> OneByOne(SplitBlockBloomFilter& filter, const std::vector<uint64_t>& hashes) {
  std::vector<uint64_t> fresh(BitmapWords(hashes.size()));
  for (size_t i = 0; i < hashes.size(); ++i) {
    fresh[i / 64] |= uint64_t{filter.InsertHashIfAbsent(hashes[i])} << (i % 64);
  }
  return fresh;
}

// Works like the change loop: slice after slice. Each thread inserts consecutive keys of a slice,
// in batches of different lengths.
std::vector<uint64_t> ByThreads(SplitBlockBloomFilter& filter, const std::vector<uint64_t>& hashes,
                                unsigned threads, uint64_t expected_keys) {
  const detail::Kernels& kernels = *filter.backend().kernels;
  auto* const words =
      reinterpret_cast<uint32_t*>(detail::FilterAccess::WritablePayload(filter).data());
  const auto insert = [&, blocks = filter.num_blocks()](const detail::Batch& some,
                                                        uint64_t* fresh) {
    kernels.split_block.insert_if_absent(words, blocks, some, fresh);
  };
  detail::AbsentWriter writer({{filter.bytes(), filter.num_blocks()}, insert}, kernels,
                              expected_keys, threads);
  EXPECT_TRUE(writer.in_order());
  EXPECT_EQ(writer.max_slice_keys() % 64, 0u);
  std::vector<uint64_t> fresh(BitmapWords(hashes.size()));
  detail::Outcomes outcomes(ChangeOutputs{.fresh = fresh.data()});
  uint64_t num_fresh = hashes.size();
  for (size_t begin = 0, n = 0; begin < hashes.size(); begin += n) {
    n = std::min<size_t>(writer.max_slice_keys(), hashes.size() - begin);
    const size_t share = (n / threads / 64 + 1) * 64;
    std::vector<std::jthread> running;
    for (unsigned thread = 0; thread < threads; ++thread) {
      running.emplace_back([&, thread] {
        Random random(begin + thread);
        const size_t end = begin + std::min(n, (thread + 1) * share);
        for (size_t at = begin + std::min(n, thread * share); at < end;) {
          const size_t size = std::min<size_t>(end - at, 1 + random.Below(3 * detail::kBatchKeys));
          writer.Add(thread, detail::HashBatch(hashes.data() + at, size), at);
          at += size;
        }
      });
    }
    running.clear();
    for (size_t task = writer.num_tasks(); task > 0; --task) writer.Run(task - 1);
    for (unsigned thread = threads; thread > 0; --thread) writer.Tell(thread - 1, outcomes);
    num_fresh -= writer.EndSlice(outcomes);
  }
  EXPECT_EQ(num_fresh, kernels.popcount(fresh.data(), fresh.size()));
  return fresh;
}

struct Spread {
  const char* name;
  uint64_t (*hash)(uint64_t i);
};

constexpr Spread kSpreads[] = {
    {"half of them repeats", [](uint64_t i) { return Mix(i % 2 == 0 ? i : i / 2); }},
    {"first region only", [](uint64_t i) { return Mix(i / 3) >> 8; }},
    {"few different hashes", [](uint64_t i) { return Mix(i % 1000); }},
    {"equal hashes", [](uint64_t) { return uint64_t{0x123456789ABCDEF0}; }},
};

class AbsentWriterTest : public BackendTest {};

TEST_P(AbsentWriterTest, ReportsTheSameNewKeysAsOneByOne) {
  for (const uint64_t bytes : {uint64_t{32}, 8 * kMiB, 27 * kMiB + 32 * 12345}) {
    for (const Spread& spread : kSpreads) {
      std::vector<uint64_t> hashes(200'000);
      for (size_t i = 0; i < hashes.size(); ++i) hashes[i] = spread.hash(i);
      SplitBlockBloomFilter want = MakeFilter(bytes, FindBackend("portable"));
      const std::vector<uint64_t> fresh = OneByOne(want, hashes);
      for (const unsigned threads : {1u, 4u}) {
        SplitBlockBloomFilter got = MakeFilter(bytes, backend());
        ASSERT_TRUE(ByThreads(got, hashes, threads, hashes.size()) == fresh)
            << bytes << " bytes, " << spread.name << ", " << threads << " threads";
        ASSERT_TRUE(SameBits(got, want)) << bytes << " bytes, " << spread.name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, AbsentWriterTest,
                         testing::ValuesIn(Backends().begin(), Backends().end()), BackendName());

TEST(AbsentWriterSizesTest, AnyNumberOfKeysAndOfThemAnnounced) {
  for (const size_t n : {0, 1, 3, 64, 1000, 20'000}) {
    std::vector<uint64_t> hashes = RandomKeys(n, /*seed=*/n);
    for (size_t i = 0; i < n; i += 2) hashes[i] = hashes[i / 2];
    SplitBlockBloomFilter want = MakeFilter(9 * kMiB, FindBackend("portable"));
    const std::vector<uint64_t> fresh = OneByOne(want, hashes);
    for (const uint64_t announced : {uint64_t{1}, uint64_t{n}, uint64_t{10'000'000}}) {
      SplitBlockBloomFilter got = MakeFilter(9 * kMiB, Backends().front());
      ASSERT_EQ(ByThreads(got, hashes, 3, announced), fresh) << n << " of " << announced;
      ASSERT_TRUE(SameBits(got, want)) << n << " of " << announced;
    }
  }
}

// Several slices of keys. Keys repeat from one slice to the next.
TEST(AbsentWriterSizesTest, SeveralSlices) {
  constexpr size_t kKeys = 2'500'000;
  std::vector<uint64_t> keys(kKeys);
  for (size_t i = 0; i < kKeys; ++i) keys[i] = Mix(i % 3 == 0 ? i / 3 : i);
  const std::vector<uint8_t> validity(kKeys / 8 + 2, 0b1011'0111);
  for (const Keys& all : {Keys(keys), Keys(keys).WithValidity(validity.data(), 3)}) {
    SplitBlockBloomFilter want = MakeFilter(8 * kMiB, Backends().front());
    std::vector<uint64_t> fresh(BitmapWords(kKeys)), got_fresh(fresh);
    size_t num_fresh = 0;
    for (size_t i = 0; i < kKeys; ++i) {
      const bool is_new = all.IsValid(i) && want.InsertIfAbsent(keys[i]);
      num_fresh += is_new;
      fresh[i / 64] |= uint64_t{is_new} << (i % 64);
    }
    for (const unsigned threads : {1u, 3u}) {
      SplitBlockBloomFilter got = MakeFilter(8 * kMiB, Backends().front());
      const Engine engine({.pin = CallRoute{.threads = threads, .partitioned = true}});
      EXPECT_EQ(engine.InsertIfAbsent(got, all, Bitmap(got_fresh)), num_fresh);
      EXPECT_TRUE(got_fresh == fresh) << threads << " threads";
      EXPECT_TRUE(SameBits(got, want)) << threads << " threads";
      EXPECT_EQ(got.inserted_count(), num_fresh);
    }
  }
}

}  // namespace tamis::absent_writer_test
