// Lookups ordered by filter region give the same bits as lookups one after the other, with any
// sizes, any spread of the keys and any number of uses of the lists.
#include "core/src/bulk/region_lists.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/src/bulk/query.h"
#include "core/src/bulk/regions.h"
#include "core/src/filters/base/filter_access.h"
#include "tamis/backends.h"
#include "tamis/engine/engine.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/core/file_test_util.h"
#include "tests/test_util.h"

namespace tamis::region_lists_test {

using detail::Batch;
using detail::FilterAccess;
using detail::RegionLists;

constexpr uint64_t kMiB = uint64_t{1} << 20;

// The blocks that most keys share.
enum class Spread { kEven, kOneBlock, kFirstAndLast };

std::vector<uint64_t> HashesOf(Spread spread, size_t n, uint64_t seed) {
  std::vector<uint64_t> hashes = RandomKeys(n, seed);
  if (spread == Spread::kEven) return hashes;
  for (uint64_t& hash : hashes) {
    const bool last = spread == Spread::kFirstAndLast && hash % 3 == 0;
    hash = (hash & 0xFFFFFFFF) | (last ? uint64_t{0xFFFFFFFF} << 32 : 0);
  }
  return hashes;
}

class RegionListsTest : public BackendTest {};

TEST_P(RegionListsTest, BitsEqualDirectLookups) {
  for (const uint64_t bytes : {uint64_t{32}, 3 * kMiB - 32, 9 * kMiB, 40 * kMiB}) {
    SplitBlockBloomFilter filter(
        {.capacity = 1, .bytes = bytes, .memory = {.huge_pages = false}, .backend = &backend()});
    const detail::Kernels& kernels = *backend().kernels;
    const std::vector<uint64_t> in = RandomKeys(bytes / 64 + 1, /*seed=*/bytes);
    filter.Insert(Hashes{in});
    constexpr size_t kMost = 70'000;
    RegionLists lists(*FilterAccess::RegionsOf(filter), kMost);
    EXPECT_GE(lists.num_regions(), detail::NumRegions(bytes) / 2);
    // Uses the same lists again and again; they must forget earlier keys.
    for (const size_t n : {kMost, size_t{1}, size_t{0}, size_t{1025}, size_t{64}, size_t{20'000}}) {
      for (const Spread spread : {Spread::kEven, Spread::kOneBlock, Spread::kFirstAndLast}) {
        SCOPED_TRACE(std::to_string(bytes) + " bytes, " + std::to_string(n) + " keys");
        std::vector<uint64_t> hashes = HashesOf(spread, n, /*seed=*/n);
        for (size_t i = 0; i < n; i += 2) hashes[i] = in[i % in.size()];
        std::vector<uint64_t> want(BitmapWords(n) + 1, 7), bits(want);
        filter.Contains(Hashes{hashes}, Bitmap(want));
        detail::QueryByRegion(
            kernels, filter.hash(),
            [&](const Batch& batch, uint64_t* out) {
              FilterAccess::Probe(filter, kernels, batch, out);
            },
            lists, Hashes{hashes}, bits.data());
        ASSERT_EQ(bits, want);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, RegionListsTest,
                         testing::ValuesIn(Backends().begin(), Backends().end()), BackendName());

// A list is visited in the order in which its keys came. It has all keys of its region, and no
// others.
TEST(RegionListsOrderTest, ListsKeepTheOrder) {
  const uint64_t blocks = 10 * kMiB / 32 + 5;
  const detail::Kernels& kernels = *Backends().front().kernels;
  RegionLists lists({blocks * 32, blocks}, 10'000);
  const std::vector<uint64_t> hashes = RandomKeys(10'000, /*seed=*/1);
  for (size_t at = 0; at < hashes.size();) {
    const size_t n = std::min(hashes.size() - at, 1 + at % 2999);
    lists.Add(kernels, detail::HashBatch(hashes.data() + at, n));
    at += n;
  }
  EXPECT_EQ(lists.num_keys(), hashes.size());
  const uint64_t region_blocks = detail::RegionBlocks(blocks * 32, blocks);
  size_t seen = 0;
  for (size_t region = 0; region < lists.num_regions(); ++region) {
    std::vector<uint64_t> want, got;
    for (const uint64_t hash : hashes) {
      if (((hash >> 32) * blocks >> 32) / region_blocks == region) want.push_back(hash);
    }
    lists.ForRegion(region, [&](const Batch& batch, uint64_t*) {
      got.insert(got.end(), batch.values, batch.values + batch.n);
    });
    ASSERT_EQ(got, want) << region;
    seen += got.size();
  }
  EXPECT_EQ(seen, hashes.size());
}

TEST(RegionListsMemoryTest, MoreThanThereIsThrows) {
  ExpectError(
      [] {
        RegionLists({9 * kMiB, 9 * kMiB / 32}, uint64_t{1} << 55);
      },
      ErrorCode::kOutOfMemory, "cannot allocate");
}

}  // namespace tamis::region_lists_test
