// Insertion ordered by filter region leaves the same bits as direct insertion, with any number of
// threads, any batches and any spread of the keys.
#include "core/src/bulk/partitioned_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/src/bulk/batches.h"
#include "core/src/bulk/regions.h"
#include "core/src/filters/base/filter_access.h"
#include "core/src/filters/kinds/bloom/position_target.h"
#include "core/src/filters/registry/kinds.h"
#include "tamis/backends.h"
#include "tamis/engine/engine.h"
#include "tamis/filters/bloom_filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/hash_kinds.h"
#include "tests/test_util.h"

namespace tamis::partitioned_writer_test {

constexpr uint64_t kMiB = uint64_t{1} << 20;

SplitBlockBloomFilter MakeFilter(uint64_t bytes, const std::string& backend, HashSpec hash = {}) {
  // Small pages: the pages of a large filter without keys take no memory.
  return SplitBlockBloomFilter({.capacity = 1,
                                .bytes = bytes,
                                .hash = hash,
                                .memory = {.huge_pages = false},
                                .backend = &FindBackend(backend)});
}

// Returns the writer that the filter would make for itself.
detail::HashWriter WriterOf(SplitBlockBloomFilter& filter, uint64_t n, unsigned threads) {
  const detail::Kernels& kernels = *filter.backend().kernels;
  auto* const words =
      reinterpret_cast<uint32_t*>(detail::FilterAccess::WritablePayload(filter).data());
  const auto insert = [&kernels, words, num_blocks = filter.num_blocks()](
                          const detail::Batch& hashes, uint64_t first, uint64_t blocks) {
    EXPECT_LE(first + blocks, num_blocks);
    for (size_t i = 0; i < hashes.n; ++i) {
      ASSERT_LT(split_block::BlockIndex(hashes.values[i], num_blocks) - first, blocks);
    }
    kernels.split_block.insert(words, num_blocks, hashes);
  };
  return {detail::HashTarget(filter.bytes(), filter.num_blocks(), kernels, insert), n, threads};
}

bool SameBits(const Filter& a, const Filter& b) { return SameBytes(a.payload(), b.payload()); }

// Inserts one key at a time, with the portable backend.
SplitBlockBloomFilter Direct(uint64_t bytes, const std::vector<uint64_t>& hashes) {
  SplitBlockBloomFilter filter = MakeFilter(bytes, "portable");
  for (const uint64_t hash : hashes) filter.InsertHash(hash);
  return filter;
}

// Runs all tasks on several threads, which claim them in turn.
void RunTasks(detail::BulkWriter& inserter, unsigned lanes) {
  std::atomic<size_t> next{0};
  std::vector<std::jthread> threads;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    threads.emplace_back([&] {
      for (size_t task; (task = next++) < inserter.num_tasks();) inserter.Run(task);
    });
  }
}

// Lane i adds the i-th share of the hashes, in batches of different lengths, on its own thread.
// Then all lanes run the tasks.
void InsertByLanes(detail::BulkWriter& inserter, const std::vector<uint64_t>& hashes,
                   unsigned lanes) {
  std::vector<std::jthread> threads;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    threads.emplace_back([&, lane] {
      const size_t end = hashes.size() * (lane + 1) / lanes;
      Random random(lane);
      for (size_t at = hashes.size() * lane / lanes; at < end;) {
        const size_t n = std::min(end - at, size_t{random.Below(3 * detail::kBatchKeys)});
        inserter.Add(lane, detail::HashBatch(hashes.data() + at, n), at);
        at += n;
      }
    });
  }
  threads.clear();  // which joins them
  RunTasks(inserter, lanes);
}

void InsertByLanes(SplitBlockBloomFilter& filter, const std::vector<uint64_t>& hashes,
                   unsigned lanes, uint64_t expected_keys) {
  detail::HashWriter inserter = WriterOf(filter, expected_keys, lanes);
  InsertByLanes(inserter, hashes, lanes);
}

struct Spread {
  const char* name;
  uint64_t (*hash)(uint64_t i);
};

constexpr Spread kSpreads[] = {
    {"even", [](uint64_t i) { return Mix(i); }},
    // Half of the keys fall into the first 1/256 of the filter, so that the buffers of few regions
    // overflow.
    {"skewed", [](uint64_t i) { return Mix(i) >> (i % 2 == 0 ? 0 : 8); }},
    // Keys at both ends, with few different hashes.
    {"ends", [](uint64_t i) { return i % 2 == 0 ? ~(Mix(i) >> 40) : Mix(i) >> 40; }},
};

class PartitionedInsertTest : public BackendTest {};

TEST_P(PartitionedInsertTest, BitsEqualDirectInsertion) {
  for (const uint64_t bytes : {8 * kMiB, 8 * kMiB + 32, 27 * kMiB + 32 * 12345}) {
    for (const Spread& spread : kSpreads) {
      std::vector<uint64_t> hashes(300'000);
      for (size_t i = 0; i < hashes.size(); ++i) hashes[i] = spread.hash(i);
      const SplitBlockBloomFilter want = Direct(bytes, hashes);
      for (const unsigned lanes : {1u, 3u}) {
        SplitBlockBloomFilter got = MakeFilter(bytes, std::string(backend().name));
        InsertByLanes(got, hashes, lanes, hashes.size());
        ASSERT_TRUE(SameBits(got, want))
            << bytes << " bytes, " << spread.name << ", " << lanes << " lanes";
      }
    }
  }
}

// Tests any size, fewer keys than lanes, and many more or fewer keys than announced.
TEST(PartitionedInsertSizesTest, AnyFilterAndAnyNumberOfKeys) {
  const std::string best(Backends().front().name);
  // A region of the last filter has twice the usual bytes. Comparing its bits takes seconds.
  constexpr uint64_t kLarge = detail::kRegionBytes * detail::kMaxRegions + 8 * kMiB;
  for (const uint64_t bytes : {uint64_t{32}, uint64_t{96}, kMiB, 3 * kMiB + 64, kLarge}) {
    for (const size_t n : {0, 1, 3, 1000, 20'000}) {
      if (bytes == kLarge && n != 1 && n != 20'000) continue;
      const std::vector<uint64_t> hashes = RandomKeys(n, /*seed=*/n);
      const SplitBlockBloomFilter want = Direct(bytes, hashes);
      for (const uint64_t announced : {uint64_t{1}, uint64_t{n}, uint64_t{10'000'000}}) {
        SplitBlockBloomFilter got = MakeFilter(bytes, best);
        InsertByLanes(got, hashes, 3, announced);
        ASSERT_TRUE(SameBits(got, want))
            << bytes << " bytes, " << n << " keys, announced " << announced;
      }
    }
  }
}

TEST(PartitionedInsertSizesTest, KeysAreHashedAsInDirectInsertion) {
  const std::vector<uint64_t> keys = RandomKeys(50'000, /*seed=*/1);
  for (const HashKind kind : kHashKinds) {
    const HashSpec hash = HashOf(kind, 99);
    SplitBlockBloomFilter want = MakeFilter(10 * kMiB, "portable", hash);
    for (const uint64_t key : keys) want.Insert(key);
    SplitBlockBloomFilter got = MakeFilter(10 * kMiB, std::string(Backends().front().name), hash);
    detail::HashWriter inserter = WriterOf(got, keys.size(), 1);
    inserter.Add(0, detail::KeyBatch(hash, keys.data(), keys.size()), 0);
    RunTasks(inserter, 1);
    EXPECT_TRUE(SameBits(got, want)) << HashKindName(kind);
  }
}

TEST(PartitionedInsertSizesTest, AFlushedLaneCanBeUsedAgain) {
  const std::vector<uint64_t> hashes = RandomKeys(30'000, /*seed=*/2);
  const SplitBlockBloomFilter want = Direct(9 * kMiB, hashes);
  SplitBlockBloomFilter got = MakeFilter(9 * kMiB, std::string(Backends().front().name));
  detail::HashWriter inserter = WriterOf(got, hashes.size(), 1);
  for (size_t i = 0; i < hashes.size(); i += 10'000) {
    inserter.Add(0, detail::HashBatch(hashes.data() + i, 10'000), i);
    RunTasks(inserter, 1);
    EXPECT_EQ(got.Count(Hashes{std::span(hashes).first(i + 10'000)}), i + 10'000);
  }
  EXPECT_TRUE(SameBits(got, want));
}

// After each task, a thread of an Engine may turn to a small call. So a task is short: it writes
// one region, however many keys wait in the buffers.
TEST(PartitionedInsertSizesTest, ATaskIsOneRegion) {
  constexpr uint64_t kBytes = 64 * kMiB;
  constexpr unsigned kLanes = 2;
  const std::vector<uint64_t> hashes = RandomKeys(400'000, /*seed=*/5);
  SplitBlockBloomFilter filter = MakeFilter(kBytes, "portable");
  std::vector<uint64_t> regions;  // the first block of each write
  size_t written = 0;
  const auto insert = [&](const detail::Batch& batch, uint64_t first, uint64_t) {
    regions.push_back(first);
    written += batch.n;
  };
  detail::HashWriter inserter(
      detail::HashTarget(kBytes, filter.num_blocks(), *FindBackend("portable").kernels, insert),
      hashes.size(), kLanes);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const size_t begin = hashes.size() * lane / kLanes;
    inserter.Add(lane, detail::HashBatch(hashes.data() + begin, hashes.size() / kLanes), begin);
  }
  ASSERT_EQ(inserter.num_tasks(), kBytes / detail::kRegionBytes);
  std::set<uint64_t> seen;
  for (size_t task = 0; task < inserter.num_tasks(); ++task) {
    regions.clear();
    inserter.Run(task);
    ASSERT_EQ(regions.size(), kLanes);
    EXPECT_EQ(regions[0], regions[1]);
    EXPECT_TRUE(seen.insert(regions[0]).second) << "two tasks write one region";
  }
  EXPECT_EQ(written, hashes.size());
}

BloomFilter MakeClassic(uint64_t bits, uint64_t capacity, const std::string& backend) {
  return BloomFilter({.capacity = capacity,
                      .bytes = bits / 8,
                      .memory = {.huge_pages = false},
                      .backend = &FindBackend(backend)});
}

// Inserts by a writer of positions, on several threads.
void InsertPositions(BloomFilter& filter, const std::vector<uint64_t>& hashes, unsigned lanes,
                     uint64_t announced) {
  auto* const words =
      reinterpret_cast<uint64_t*>(detail::FilterAccess::WritablePayload(filter).data());
  detail::PositionWriter writer(
      detail::PositionTarget(words, filter.num_bits(), filter.num_hashes(),
                             *filter.backend().kernels),
      announced, lanes);
  InsertByLanes(writer, hashes, lanes);
}

// One region and many, a last region of one word, and from 1 to 64 positions per key.
TEST_P(PartitionedInsertTest, PositionsEqualDirectInsertion) {
  constexpr uint64_t kRegionBits = uint64_t{1} << 22;
  for (const uint64_t bits : {uint64_t{64}, kRegionBits, kRegionBits + 64, 9 * kRegionBits - 64}) {
    for (const uint64_t capacity : {bits, bits / 10, bits / 1000}) {
      std::vector<uint64_t> hashes(10'001);
      for (size_t i = 0; i < hashes.size(); ++i) hashes[i] = Mix(i);
      BloomFilter want = MakeClassic(bits, std::max<uint64_t>(capacity, 1), "portable");
      for (const uint64_t hash : hashes) want.InsertHash(hash);
      for (const unsigned lanes : {1u, 3u}) {
        BloomFilter got = MakeClassic(bits, want.capacity(), std::string(backend().name));
        InsertPositions(got, hashes, lanes, hashes.size());
        ASSERT_TRUE(SameBits(got, want))
            << bits << " bits, " << want.num_hashes() << " hashes, " << lanes << " lanes";
      }
    }
  }
}

// Positions above 2^32, of which the lists keep the low halves.
TEST_P(PartitionedInsertTest, PositionsOfALargeFilter) {
  constexpr uint64_t kBits = (uint64_t{1} << 33) + 64;
  const std::vector<uint64_t> hashes = RandomKeys(1000, /*seed=*/7);
  BloomFilter got = MakeClassic(kBits, kBits / 10, std::string(backend().name));
  InsertPositions(got, hashes, 1, hashes.size());
  std::set<uint64_t> positions;
  for (const uint64_t hash : hashes) {
    bloom::Walk walk = bloom::Start(hash, kBits);
    for (uint32_t i = 1; i <= got.num_hashes(); ++i) {
      positions.insert(walk.position);
      walk = bloom::Next(walk, i, kBits);
    }
  }
  const auto* const words = reinterpret_cast<const uint64_t*>(got.payload().data());
  for (const uint64_t position : positions) ASSERT_TRUE(bloom::TestBit(words, position));
  EXPECT_EQ(got.backend().kernels->popcount(words, kBits / bloom::kWordBits), positions.size());
}

// An engine takes this route on request, for keys of every layout.
TEST(PartitionedInsertSizesTest, KeysOfEveryForm) {
  const std::vector<uint64_t> keys = RandomKeys(100'000, /*seed=*/3);
  std::vector<std::string_view> bytes;  // of the same keys, so with the same hashes
  for (const uint64_t& key : keys) bytes.emplace_back(reinterpret_cast<const char*>(&key), 8);
  const std::vector<int64_t> integers(keys.begin(), keys.end());
  SplitBlockBloomFilter want = MakeFilter(9 * kMiB, "portable");
  for (const uint64_t key : keys) want.Insert(key);

  const Engine engine({.pin = CallRoute{.threads = 1, .partitioned = true}});
  for (const Keys& form : {Keys(keys), Keys(bytes), Keys(integers)}) {
    SplitBlockBloomFilter got = MakeFilter(9 * kMiB, "portable");
    EXPECT_EQ(engine.Insert(got, form), keys.size());
    EXPECT_TRUE(SameBits(got, want));
    EXPECT_EQ(got.inserted_count(), keys.size());
  }
}

// The bulk Insert of a filter chooses this route if it is faster.
TEST(PartitionedInsertSizesTest, BulkInsertOfALargeFilter) {
  SplitBlockBloomFilter got = MakeFilter(70 * kMiB + 32, std::string(Backends().front().name));
  uint64_t n = 1'000'000;
  while (!detail::PartitioningPays(got.kind(), got.backend().name, got.bytes(), n))
    ASSERT_LT(n *= 2, 100'000'000u);
  EXPECT_EQ(got.Insert(RandomKeys(n, /*seed=*/4)), n);
  EXPECT_EQ(got.inserted_count(), n);
  SplitBlockBloomFilter want = MakeFilter(got.bytes(), "portable");
  for (const uint64_t key : RandomKeys(n, /*seed=*/4)) want.Insert(key);
  EXPECT_TRUE(SameBits(got, want));
}

// For a filter in cache, or a handful of keys, this route is never faster.
TEST(PartitionedInsertSizesTest, DoesNotPayForSmallFiltersOrFewKeys) {
  for (const char* backend : {"SSE4", "AVX2", "AVX3_DL", "NEON", "SVE_256"}) {
    EXPECT_FALSE(
        detail::PartitioningPays(FilterKind::kSplitBlock, backend, 256 * 1024, 1'000'000'000));
    EXPECT_FALSE(detail::PartitioningPays(FilterKind::kSplitBlock, backend, 100 * kMiB, 100));
    EXPECT_FALSE(detail::PartitioningPays(FilterKind::kSplitBlock, backend, 100 * kMiB, 10'000));
  }
}

// Kinds without regions do not have this route.
TEST(PartitionedInsertSizesTest, DoesNotPayForKindsWithoutRegions) {
  EXPECT_FALSE(detail::PartitioningPays(FilterKind::kScalable, "AVX2", 1024 * kMiB, 1'000'000'000));
}

INSTANTIATE_TEST_SUITE_P(Backends, PartitionedInsertTest,
                         testing::ValuesIn(Backends().begin(), Backends().end()), BackendName());

}  // namespace tamis::partitioned_writer_test
