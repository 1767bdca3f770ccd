// Views of blocks in memory of the caller, at any address, act like a filter of these blocks, bit
// for bit. Memory that cannot be a view is refused.
#include "tamis/filters/split_block_view.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tamis/backends.h"
#include "tamis/changes.h"
#include "tamis/filters/blocks_queryable.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/hash_kinds.h"
#include "tests/core/file_parts.h"
#include "tests/core/file_test_util.h"
#include "tests/core/reference_filter.h"
#include "tests/core/scoped_env.h"
#include "tests/test_util.h"

namespace tamis::split_block_view_test {

static_assert(std::is_trivially_copyable_v<ConstSplitBlockView>);
static_assert(std::is_trivially_copyable_v<SplitBlockView>);
static_assert(std::is_convertible_v<SplitBlockView, ConstSplitBlockView>);
static_assert(!std::is_convertible_v<ConstSplitBlockView, SplitBlockView>);
static_assert(!std::is_constructible_v<SplitBlockView, std::span<const std::byte>>);

constexpr size_t kBlockCounts[] = {1, 2, 3, 1000};
constexpr size_t kWordsPerLine = 16;  // possible places of a 4-byte word in 64 bytes
constexpr size_t kNumKeys = 333;      // full steps of every backend, and a rest

// Zeroed words directly after a page that cannot be accessed.
class WordsAfterGuard {
 public:
  explicit WordsAfterGuard(size_t words)
      : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))),
        map_bytes_(page_ + words * 4),
        n_(words) {
    void* const map =
        mmap(nullptr, map_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) throw std::bad_alloc();
    map_ = static_cast<std::byte*>(map);
    mprotect(map_, page_, PROT_NONE);
  }
  WordsAfterGuard(const WordsAfterGuard&) = delete;
  WordsAfterGuard& operator=(const WordsAfterGuard&) = delete;
  ~WordsAfterGuard() { munmap(map_, map_bytes_); }

  std::span<std::byte> bytes() const { return {map_ + page_, n_ * 4}; }

 private:
  size_t page_;
  size_t map_bytes_;
  size_t n_;
  std::byte* map_;
};

// The same number of keys in every layout.
struct Forms {
  explicit Forms(size_t n) : u64(RandomKeys(n, 1)), strings(RandomStrings(n, 2)) {
    offsets.push_back(0);
    for (size_t i = 0; i < n; ++i) {
      i64.push_back(static_cast<int64_t>(~u64[i]));
      u32.push_back(static_cast<uint32_t>(u64[i]));
      i32.push_back(static_cast<int32_t>(u64[i] >> 32));
      bytes += strings[i];
      offsets.push_back(static_cast<int32_t>(bytes.size()));
    }
    large_offsets.assign(offsets.begin(), offsets.end());
    views.assign(strings.begin(), strings.end());
  }

  std::vector<std::pair<const char*, Keys>> All() const {
    return {{"u64", u64},
            {"i64", i64},
            {"u32", u32},
            {"i32", i32},
            {"hashes", Hashes{u64}},
            {"string views", views},
            {"column", StringColumn{bytes.data(), offsets}},
            {"large column", LargeStringColumn{bytes.data(), large_offsets}}};
  }

  std::vector<uint64_t> u64;
  std::vector<int64_t> i64;
  std::vector<uint32_t> u32;
  std::vector<int32_t> i32;
  std::vector<std::string> strings;
  std::vector<std::string_view> views;
  std::string bytes;
  std::vector<int32_t> offsets;
  std::vector<int64_t> large_offsets;
};

// All outputs of a filter or a view for the same keys.
struct Answers {
  template <typename Filter>
  Answers(const Filter& filter, Keys keys)
      : words(BitmapWords(keys.size())),
        bytes(keys.size()),
        rows32(keys.size()),
        rows64(keys.size()),
        counts{filter.Count(keys), filter.Contains(keys, Bitmap(words)),
               filter.Contains(keys, std::span(bytes)), filter.Select(keys, std::span(rows32)),
               filter.Select(keys, std::span(rows64))} {
    rows32.resize(counts[3]);
    rows64.resize(counts[4]);
  }
  bool operator==(const Answers&) const = default;

  std::vector<uint64_t> words;
  std::vector<uint8_t> bytes;
  std::vector<uint32_t> rows32;
  std::vector<uint64_t> rows64;
  std::vector<size_t> counts;
};

std::vector<std::byte> Copy(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

class SplitBlockViewTest : public BackendTest {
 protected:
  SplitBlockBloomFilter MakeFilter(size_t blocks, const HashSpec& hash) const {
    return SplitBlockBloomFilter({.bytes = 32 * blocks, .hash = hash, .backend = &backend()});
  }

  // Inserts half of the keys of every layout through a view of `memory`, which must be zero, and
  // queries all of them.
  void ExpectTheFilter(std::span<std::byte> memory, const HashSpec& hash) const {
    for (const auto& [name, keys] : forms_.All()) {
      SCOPED_TRACE(name);
      SplitBlockBloomFilter filter = MakeFilter(memory.size() / 32, hash);
      filter.Insert(keys.Slice(0, kNumKeys / 2));

      std::memset(memory.data(), 0, memory.size());
      uint64_t inserted = 5;
      const SplitBlockView view(memory, hash, &inserted, &backend());
      view.Insert(keys.Slice(0, kNumKeys / 2));
      ASSERT_EQ(Copy(memory), Payload(filter));
      EXPECT_EQ(inserted, 5 + kNumKeys / 2);

      const Answers want(filter, keys);
      const ConstSplitBlockView asked(memory, hash, &backend());
      ASSERT_TRUE(Answers(view, keys) == want);
      ASSERT_TRUE(Answers(asked, keys) == want);
      ASSERT_EQ(asked.estimated_count(), filter.estimated_count());
      ASSERT_EQ(asked.expected_fpr(), filter.expected_fpr());
      ASSERT_EQ(Copy(memory), Payload(filter)) << "asking changed the blocks";
    }
  }

  void ExpectTheFilterOneKeyAtATime(std::span<std::byte> memory, const HashSpec& hash) const {
    SplitBlockBloomFilter filter = MakeFilter(memory.size() / 32, hash);
    std::memset(memory.data(), 0, memory.size());
    uint64_t inserted = 0;
    const SplitBlockView view(memory, hash, &inserted, &backend());
    for (size_t i = 0; i < 20; ++i) {
      filter.Insert(forms_.u64[i]);
      filter.Insert(forms_.views[i]);
      filter.InsertHash(forms_.u64[i]);
      view.Insert(forms_.u64[i]);
      view.Insert(forms_.views[i]);
      view.InsertHash(forms_.u64[i]);
    }
    ASSERT_EQ(Copy(memory), Payload(filter));
    EXPECT_EQ(inserted, 60u);
    for (size_t i = 0; i < kNumKeys; ++i) {
      ASSERT_EQ(view.Contains(forms_.u64[i]), filter.Contains(forms_.u64[i]));
      ASSERT_EQ(view.Contains(forms_.views[i]), filter.Contains(forms_.views[i]));
      ASSERT_EQ(view.ContainsHash(forms_.u64[i]), filter.ContainsHash(forms_.u64[i]));
    }
  }

  const Forms forms_{kNumKeys};
};

TEST_P(SplitBlockViewTest, IsTheFilterAtEveryPlaceOfFourBytes) {
  for (const size_t blocks : kBlockCounts) {
    for (size_t slack = 0; slack < kWordsPerLine; ++slack) {
      for (const HashKind kind : kHashKinds) {
        SCOPED_TRACE(std::to_string(blocks) + " blocks, " + std::to_string(slack) + " words off");
        const GuardedArray<uint32_t> words(8 * blocks, slack);
        const std::span<std::byte> memory = std::as_writable_bytes(words.span());
        ExpectTheFilter(memory, HashOf(kind, slack));
        ExpectTheFilterOneKeyAtATime(memory, HashOf(kind, slack));
        ASSERT_TRUE(words.Intact());
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(SplitBlockViewTest, NothingBeforeTheBlocksIsAccessed) {
  for (const size_t blocks : kBlockCounts) {
    const WordsAfterGuard words(8 * blocks);
    ExpectTheFilter(words.bytes(), {});
    ExpectTheFilterOneKeyAtATime(words.bytes(), {});
  }
}

// At this size kernels prefetch in another way, and a filter would order many keys.
TEST_P(SplitBlockViewTest, LargeViewsEqualTheFilter) {
  constexpr size_t kBlocks = (size_t{64} << 20) / 32 + 1;
  const std::vector<uint64_t> keys = RandomKeys(100'000, /*seed=*/3);
  SplitBlockBloomFilter filter = MakeFilter(kBlocks, {});
  filter.Insert(keys);
  for (const size_t slack : {0, 3}) {
    const GuardedArray<uint32_t> words(8 * kBlocks, slack);
    const SplitBlockView view(std::as_writable_bytes(words.span()), {}, nullptr, &backend());
    view.Insert(keys);
    EXPECT_EQ(std::memcmp(words.data(), filter.payload().data(), filter.bytes()), 0);
    EXPECT_TRUE(words.Intact());
    const std::vector<uint64_t> others = RandomKeys(100'000, /*seed=*/4);
    EXPECT_TRUE(Answers(view, others) == Answers(filter, others));
    EXPECT_EQ(view.Count(keys), keys.size());
  }
}

TEST_P(SplitBlockViewTest, FullBlocksAndEmptyOnes) {
  for (const size_t slack : {0, 5}) {
    const GuardedArray<uint32_t> words(24, slack);
    const ConstSplitBlockView view(std::as_bytes(words.span()), {}, &backend());
    EXPECT_EQ(view.Count(forms_.u64), 0u);
    EXPECT_EQ(view.Count(Keys()), 0u);
    EXPECT_EQ(view.estimated_count(), 0);
    EXPECT_EQ(view.expected_fpr(), 0);
    std::memset(words.data(), 0xFF, 96);
    EXPECT_EQ(view.Count(forms_.u64), kNumKeys);
    EXPECT_EQ(view.expected_fpr(), 1);
  }
}

TEST_P(SplitBlockViewTest, OutputsThatAreTooSmallAreErrors) {
  const GuardedArray<uint32_t> words(8);
  const ConstSplitBlockView view(std::as_bytes(words.span()), {}, &backend());
  const std::vector<uint64_t> keys = RandomKeys(65, 1);
  std::vector<uint64_t> bits(1, 7);
  std::vector<uint8_t> bytes(64, 7);
  std::vector<uint32_t> rows32(64, 7);
  std::vector<uint64_t> rows64(64, 7);
  constexpr ErrorCode kCode = ErrorCode::kInvalidArgument;
  ExpectError([&] { view.Contains(keys, Bitmap(bits)); }, kCode, "65 keys");
  ExpectError([&] { view.Contains(keys, bytes); }, kCode, "65 keys");
  ExpectError([&] { view.Select(keys, rows32); }, kCode, "65 keys");
  ExpectError([&] { view.Select(keys, rows64); }, kCode, "65 keys");
  EXPECT_EQ(bits, std::vector<uint64_t>(1, 7));
  EXPECT_EQ(bytes, std::vector<uint8_t>(64, 7));
  EXPECT_EQ(rows32, std::vector<uint32_t>(64, 7));
  EXPECT_EQ(rows64, std::vector<uint64_t>(64, 7));
}

TEST_P(SplitBlockViewTest, ViewsOfAFilterAreTheFilter) {
  SplitBlockBloomFilter filter = MakeFilter(100, {HashKind::kXxh64, 9});
  const ConstSplitBlockView view = filter.view();
  EXPECT_EQ(&view.backend(), &filter.backend());
  EXPECT_EQ(view.hash(), filter.hash());
  EXPECT_EQ(view.num_blocks(), 100u);
  EXPECT_EQ(view.bytes(), filter.bytes());
  EXPECT_EQ(view.blocks().data(), filter.payload().data());
  EXPECT_EQ(view.blocks().size(), filter.payload().size());

  const SplitBlockView to_change = filter.mutable_view();
  to_change.Insert(forms_.views);
  to_change.Insert(forms_.u64[0]);
  EXPECT_EQ(filter.inserted_count(), kNumKeys + 1);
  EXPECT_EQ(filter.Count(forms_.views), kNumKeys);
  EXPECT_TRUE(Answers(view, forms_.u64) == Answers(filter, forms_.u64));
  EXPECT_EQ(view.estimated_count(), filter.estimated_count());
  EXPECT_EQ(view.expected_fpr(), filter.expected_fpr());

  filter.Clear();
  EXPECT_EQ(view.Count(forms_.views), 0u);
}

TEST_P(SplitBlockViewTest, BlocksQueryable_Insert_IsInsertOfTheView) {
  std::vector<uint32_t> words(800), other_words(800);
  uint64_t counter = 0, other_counter = 0;
  const auto view_of = [&](std::vector<uint32_t>& of, uint64_t& count) {
    return SplitBlockView(std::as_writable_bytes(std::span(of)), {}, &count, &backend());
  };
  const SplitBlockView view = view_of(words, counter);
  BlocksQueryable blocks(view_of(other_words, other_counter));
  std::vector<uint8_t> validity(kNumKeys / 8 + 1, 0b10110111);
  const Keys keys = Keys(forms_.u64).WithValidity(validity.data());
  std::vector<uint64_t> rejected(kNumKeys), nulls;
  for (size_t i = 0; i < kNumKeys; ++i) {
    if (!keys.IsValid(i)) nulls.push_back(i);
  }
  view.Insert(keys);
  const size_t inserted = blocks.Insert(keys, rejected);
  EXPECT_EQ(inserted, kNumKeys - nulls.size());
  rejected.resize(nulls.size());
  EXPECT_EQ(rejected, nulls);
  EXPECT_EQ(words, other_words);
  EXPECT_EQ(other_counter, counter);
  EXPECT_EQ(blocks.inserted_count(), inserted);
  EXPECT_FALSE(blocks.read_only());
  EXPECT_EQ(blocks.writable_view().num_blocks(), 100u);

  BlocksQueryable constant{ConstSplitBlockView(view)};
  EXPECT_TRUE(constant.read_only());
  EXPECT_EQ(constant.inserted_count(), 0u);
  ExpectError([&] { constant.Insert(keys); }, ErrorCode::kReadOnly, "constant");
  ExpectError([&] { constant.writable_view(); }, ErrorCode::kReadOnly, "constant");
  ExpectError([&] { Erase(blocks, keys); }, ErrorCode::kUnsupported, "erased");
  EXPECT_EQ(words, other_words);
}

// A page of a Parquet file: the bytes of another writer, at an odd address.
TEST_P(SplitBlockViewTest, ParquetBlocksAnswerForTheirKeys) {
  const Bytes file = ReadBytes(GoldenPath("split_block_v1_parquet"));
  const std::vector<std::string_view> keys = {"hello", "parquet", "bloom", "filter"};
  const std::vector<std::string_view> others = {"Hello", "", "parquets", "loom", "tamis"};
  const size_t bytes = file.size() - HeaderBytesOf(1);
  ASSERT_EQ(bytes, 1024u);
  for (const size_t slack : {0, 1, 7}) {
    const GuardedArray<uint32_t> words(bytes / 4, slack);
    std::memcpy(words.data(), file.data() + HeaderBytesOf(1), bytes);
    const ConstSplitBlockView view(std::as_bytes(words.span()), {HashKind::kXxh64, 0}, &backend());
    EXPECT_EQ(view.Count(keys), keys.size());
    for (const std::string_view key : keys) EXPECT_TRUE(view.Contains(key)) << key;
    EXPECT_EQ(view.Count(others), 0u);
    for (const std::string_view key : others) EXPECT_FALSE(view.Contains(key)) << key;
    // Other hashes find nothing.
    EXPECT_EQ(ConstSplitBlockView(std::as_bytes(words.span())).Count(keys), 0u);
  }
}

TEST(SplitBlockViewMakingTest, MisfitSizesAreErrors) {
  alignas(32) std::byte memory[64] = {};
  constexpr ErrorCode kCode = ErrorCode::kInvalidArgument;
  const auto expect = [&](uint64_t size) {
    const std::string text = "a view of " + std::to_string(size) +
                             " bytes; allowed: multiples of 32 from 32 to 35184372088832";
    // The bytes are not accessed.
    ExpectError([&] { ConstSplitBlockView(std::span<const std::byte>(memory, size)); }, kCode,
                text);
    ExpectError([&] { SplitBlockView(std::span<std::byte>(memory, size)); }, kCode, text);
  };
  for (const uint64_t size : {0, 1, 31, 33, 63}) expect(size);
  const uint64_t most = split_block::kBlockBytes * split_block::kMaxBlocks;
  expect(most - 1);
  expect(most + 1);
  expect(most + 32);
  expect(~uint64_t{0});
  expect(~uint64_t{31});
  ExpectError([] { ConstSplitBlockView({}); }, kCode, "a view of 0 bytes");
  EXPECT_EQ(ConstSplitBlockView(std::span<const std::byte>(memory, 32)).num_blocks(), 1u);
  EXPECT_EQ(ConstSplitBlockView(std::span<const std::byte>(memory, most)).num_blocks(),
            split_block::kMaxBlocks);
}

TEST(SplitBlockViewMakingTest, MisfitPlacesAreErrors) {
  alignas(64) std::byte memory[64 + 32] = {};
  for (size_t at = 0; at < 64; ++at) {
    const std::span<std::byte> place = std::span(memory).subspan(at, 32);
    if (at % 4 == 0) {
      EXPECT_EQ(SplitBlockView(place).blocks().data(), place.data());
      EXPECT_EQ(ConstSplitBlockView(place).blocks().data(), place.data());
      continue;
    }
    const std::string text = "leaves " + std::to_string(at % 4) + " when divided by 4";
    ExpectError([&] { ConstSplitBlockView{place}; }, ErrorCode::kInvalidArgument, text);
    ExpectError([&] { SplitBlockView{place}; }, ErrorCode::kInvalidArgument, text);
  }
}

TEST(SplitBlockViewMakingTest, WithoutABackendItIsTheDefaultOne) {
  alignas(32) std::byte memory[32] = {};
  EXPECT_EQ(ConstSplitBlockView(memory).backend().name, DefaultBackend().name);
  const ScopedEnv none("TAMIS_BACKEND", "sundial");
  ExpectError([&] { ConstSplitBlockView{memory}; }, ErrorCode::kUnknownBackend, "sundial");
  const Backend& portable = FindBackend("portable");
  EXPECT_EQ(&ConstSplitBlockView(memory, {}, &portable).backend(), &portable);
}

// A view does not need a count. Copies of a view share their count.
TEST(SplitBlockViewMakingTest, CountsAreOptional) {
  alignas(32) std::byte memory[32] = {};
  const SplitBlockView uncounted{memory};
  uncounted.Insert(uint64_t{1});
  uncounted.Insert("one");
  uncounted.InsertHash(1);
  uncounted.Insert(RandomKeys(10, 1));

  uint64_t inserted = 0;
  const SplitBlockView view(memory, {}, &inserted);
  const SplitBlockView copy = view;
  view.Insert(uint64_t{1});
  copy.Insert(uint64_t{1});
  copy.Insert("one");
  view.InsertHash(1);
  copy.Insert(RandomKeys(10, 1));
  view.Insert(Keys());
  EXPECT_EQ(inserted, 14u);
}

TEST(SplitBlockViewMakingTest, CopiedBlocksMakeTheSameFilter) {
  SplitBlockBloomFilter filter({.bytes = 3200});
  filter.Insert(RandomKeys(100, 1));
  SplitBlockBloomFilter copy({.bytes = 3200});
  const SplitBlockView view = copy.mutable_view();
  const std::span<std::byte> blocks = view.mutable_blocks();
  ASSERT_EQ(blocks.size(), 3200u);
  std::memcpy(blocks.data(), filter.view().blocks().data(), blocks.size());
  view.AddInserted(100);
  EXPECT_EQ(copy.Count(RandomKeys(100, 1)), 100u);
  EXPECT_EQ(copy.inserted_count(), 100u);
  EXPECT_EQ(copy.view().blocks().data(), blocks.data());
}

TEST(SplitBlockViewMakingTest, AReadOnlyFilterIsAskedOnly) {
  const TemporaryFolder folder;
  SplitBlockBloomFilter filter({.bytes = 320});
  filter.Insert(uint64_t{42});
  filter.Save(folder / "filter");
  SplitBlockBloomFilter mapped = SplitBlockBloomFilter::Map(folder / "filter");
  EXPECT_TRUE(mapped.view().Contains(uint64_t{42}));
  ExpectError([&] { mapped.mutable_view(); }, ErrorCode::kReadOnly, "mapped from a file");
}

INSTANTIATE_TEST_SUITE_P(Backends, SplitBlockViewTest,
                         testing::ValuesIn(Backends().begin(), Backends().end()), BackendName());

}  // namespace tamis::split_block_view_test
