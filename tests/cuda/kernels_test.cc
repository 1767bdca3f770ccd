// The bodies of the kernels on emulated warps, compared with the portable backend.
#include "tamis/detail/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "cuda/src/kernel_bodies.h"
#include "cuda/src/launch.h"
#include "tamis/backends.h"
#include "tamis/cuda/filter_ref.cuh"
#include "tamis/keys.h"
#include "tests/cuda/emulator.h"
#include "tests/os/test_os.h"
#include "tests/test_util.h"

namespace tamis::cuda::kernels_test {

constexpr size_t kSizes[] = {0, 1, 2, 31, 32, 33, 63, 64, 65, 96, 127, 128, 129, 397, 797};
constexpr uint64_t kBlockCounts[] = {1, 3, 101, 4096};
// One warp that does all the work, several with unequal shares, and more warps than pieces of work.
constexpr uint64_t kWarpCounts[] = {1, 3, 40};

constexpr HashSpec kSpecs[] = {{HashKind::kXxh3, 0},
                               {HashKind::kXxh3, 0x8123456789ABCDEF},
                               {HashKind::kXxh64, 0},
                               {HashKind::kXxh64, 0xFEDCBA9876543218},
                               HashOf(HashKind::kSipHash13, 7),
                               HashOf(HashKind::kSipHash24, 7)};

const tamis::detail::Kernels& Portable() { return *FindBackend("portable").kernels; }

template <typename Call>
void RunAll(const Call& call, uint64_t num_warps) {
  RunGrid(num_warps, [&](const EmulatedLane& lane) { RunLane(lane, call); });
}

// Filter words with the alignment of device memory.
class Words {
 public:
  explicit Words(uint64_t blocks) : blocks_(blocks), memory_(blocks + 1) {
    data_ = memory_.data()->words;
  }
  uint32_t* data() { return data_; }
  std::vector<uint32_t> vector() const { return {data_, data_ + split_block::kWords * blocks_}; }

 private:
  struct alignas(32) Block {
    uint32_t words[split_block::kWords] = {};
  };
  uint64_t blocks_;
  std::vector<Block> memory_;
  uint32_t* data_;
};

void FillPortably(Words& words, uint64_t blocks, const tamis::detail::Batch& batch) {
  Portable().split_block.insert(words.data(), blocks, batch);
}

TEST(Contains, GivesThePortableBitsBytesAndCount) {
  for (const HashSpec& spec : kSpecs) {
    for (const uint64_t blocks : kBlockCounts) {
      const std::vector<uint64_t> keys = RandomKeys(797, blocks);
      Words words(blocks);
      FillPortably(words, blocks, tamis::detail::KeyBatch(spec, keys.data(), keys.size() / 2));
      const SplitBlockRef ref{words.data(), blocks, tamis::detail::KeyHasher(spec)};
      for (const size_t n : kSizes) {
        for (const uint64_t warps : kWarpCounts) {
          std::vector<uint64_t> want(BitmapWords(n));
          Portable().split_block.contains(
              words.data(), blocks, tamis::detail::KeyBatch(spec, keys.data(), n), want.data());
          const std::vector<uint64_t> copy(keys.begin(), keys.begin() + n);
          const GuardedArray<uint64_t> input(copy);
          const auto bits = GuardedArray<uint64_t>::Output(BitmapWords(n), 0);
          const auto bytes = GuardedArray<uint8_t>::Output(n, 0);
          uint64_t count = 1000;
          RunAll(ContainsCall<SplitBlockRef>{ref,
                                             {input.data(), n, Width::kU64, ref.hasher},
                                             reinterpret_cast<uint32_t*>(bits.data()),
                                             bytes.data(),
                                             &count},
                 warps);
          ASSERT_EQ(bits.vector(), want) << n << " keys, " << warps << " warps";
          ASSERT_TRUE(bits.Intact() && bytes.Intact());
          uint64_t ones = 0;
          for (size_t i = 0; i < n; ++i) {
            ASSERT_EQ(bytes.data()[i], want[i / 64] >> (i % 64) & 1);
            ones += bytes.data()[i];
          }
          ASSERT_EQ(count, 1000 + ones);
        }
      }
    }
  }
}

// Common lookups have special kernels. They are compared with the general one.
TEST(Contains, CommonCallsGiveTheSameAnswers) {
  const std::vector<uint64_t> keys = RandomKeys(797, 3);
  const HashSpec spec{HashKind::kXxh3, 0x8123456789ABCDEF};
  Words words(101);
  FillPortably(words, 101, tamis::detail::KeyBatch(spec, keys.data(), keys.size() / 2));
  const SplitBlockRef ref{words.data(), 101, tamis::detail::KeyHasher(spec)};
  for (const size_t n : kSizes) {
    const KeyColumn column{keys.data(), n, Width::kU64, ref.hasher};
    std::vector<uint32_t> want_bits(2 * BitmapWords(n)), bits(2 * BitmapWords(n));
    std::vector<uint8_t> want_bytes(n), bytes(n);
    uint64_t want_count = 0;
    uint64_t counts[3] = {};
    std::vector<uint32_t> alone_bits(2 * BitmapWords(n));
    std::vector<uint8_t> alone_bytes(n);
    RunAll(
        ContainsCall<SplitBlockRef>{ref, column, want_bits.data(), want_bytes.data(), &want_count},
        3);
    int common = 0;
    const auto run = [&](const ContainsCall<SplitBlockRef>& asked) {
      WithKernelOf(asked, [&](const auto& call) {
        common += !std::is_same_v<decltype(call), const ContainsCall<SplitBlockRef>&>;
        RunAll(call, 3);
      });
    };
    run({ref, column, bits.data(), nullptr, &counts[0]});
    run({ref, column, nullptr, bytes.data(), &counts[1]});
    run({ref, column, nullptr, nullptr, &counts[2]});
    run({ref, column, alone_bits.data(), nullptr, nullptr});
    run({ref, column, nullptr, alone_bytes.data(), nullptr});
    EXPECT_EQ(common, n == 0 ? 3 : 5) << "empty outputs are none";
    EXPECT_EQ(alone_bits, want_bits);
    EXPECT_EQ(alone_bytes, want_bytes);
    EXPECT_EQ(bits, want_bits);
    EXPECT_EQ(bytes, want_bytes);
    for (const uint64_t count : counts) EXPECT_EQ(count, want_count);
    const int before = common;
    // Other hashes, other widths, and both outputs together do not use a common kernel.
    run({ref, {keys.data(), n, Width::kU32, ref.hasher}, bits.data(), nullptr, nullptr});
    run({ref, {keys.data(), n, Width::kU64, {}}, bits.data(), nullptr, nullptr});
    if (n != 0) run({ref, column, bits.data(), bytes.data(), nullptr});
    EXPECT_EQ(common, before);
  }
}

// Common lookups of keys with nulls, with any first bit.
TEST(Contains, CommonCallsWithNullsGiveTheSameAnswers) {
  using Call = ContainsCall<SplitBlockRef, MaskedColumn>;
  const std::vector<uint64_t> keys = RandomKeys(797, 3);
  const HashSpec spec{HashKind::kXxh3, 0x8123456789ABCDEF};
  Words words(101);
  FillPortably(words, 101, tamis::detail::KeyBatch(spec, keys.data(), keys.size() / 2));
  const SplitBlockRef ref{words.data(), 101, tamis::detail::KeyHasher(spec)};
  for (const size_t n : kSizes) {
    for (uint32_t first_bit = 0; first_bit < 8; ++first_bit) {
      GuardedArray<uint8_t> validity((first_bit + n + 7) / 8);
      Random random(n + first_bit);
      for (uint8_t& byte : validity.span()) byte = static_cast<uint8_t>(random.Below(256));
      std::vector<uint32_t> want(2 * BitmapWords(n)), bits(want.size()), alone(want.size());
      uint64_t want_count = 0, count = 0;
      for (size_t i = 0; i < n; ++i) {
        const uint64_t bit = first_bit + i;
        const bool valid = (validity.data()[bit / 8] >> (bit % 8) & 1) != 0;
        const bool hit = valid && ref.Contains(keys[i]);
        want[i / 32] |= uint32_t{hit} << (i % 32);
        want_count += hit;
      }
      const MaskedColumn column{
          {keys.data(), n, Width::kU64, ref.hasher}, validity.data(), first_bit};
      int common = 0;
      const auto run = [&](const Call& asked) {
        WithKernelOf(asked, [&](const auto& call) {
          common += !std::is_same_v<decltype(call), const Call&>;
          RunAll(call, 3);
        });
      };
      run({ref, column, bits.data(), nullptr, &count});
      run({ref, column, alone.data(), nullptr, nullptr});
      ASSERT_EQ(common, n == 0 ? 0 : 2);
      ASSERT_EQ(bits, want) << n << " keys from bit " << first_bit;
      ASSERT_EQ(alone, want);
      ASSERT_EQ(count, want_count);
      // Other hashes, other widths and other outputs do not use a common kernel.
      std::vector<uint8_t> bytes(n);
      run({ref,
           {{keys.data(), n, Width::kU32, ref.hasher}, validity.data(), first_bit},
           bits.data(),
           nullptr,
           nullptr});
      run({ref,
           {{keys.data(), n, Width::kU64, {}}, validity.data(), first_bit},
           bits.data(),
           nullptr,
           nullptr});
      run({ref, column, nullptr, bytes.data(), nullptr});
      run({ref, column, nullptr, nullptr, &count});
      if (n != 0) run({ref, column, bits.data(), bytes.data(), nullptr});
      ASSERT_EQ(common, n == 0 ? 0 : 2);
    }
  }
}

TEST(Contains, WritesOnlyTheOutputsThatAreAskedFor) {
  const std::vector<uint64_t> keys = RandomKeys(397, 1);
  Words words(10);
  FillPortably(words, 10, tamis::detail::KeyBatch({}, keys.data(), 200));
  const SplitBlockRef ref{words.data(), 10, tamis::detail::KeyHasher(HashSpec{})};
  uint64_t count = 0;
  const KeyColumn column{keys.data(), keys.size(), Width::kU64, ref.hasher};
  RunAll(ContainsCall<SplitBlockRef>{ref, column, nullptr, nullptr, &count}, 5);
  std::vector<uint8_t> bytes(keys.size());
  RunAll(ContainsCall<SplitBlockRef>{ref, column, nullptr, bytes.data(), nullptr}, 5);
  EXPECT_EQ(count, std::accumulate(bytes.begin(), bytes.end(), uint64_t{0}));
  EXPECT_GE(count, 200u);
}

TEST(Contains, WidensNarrowIntegersByTheirValue) {
  const std::vector<int32_t> keys = {0, 1, -1, 2147483647, -2147483647 - 1, 77};
  std::vector<uint64_t> as_signed(keys.size());
  std::vector<uint64_t> as_unsigned(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    as_signed[i] = static_cast<uint64_t>(int64_t{keys[i]});
    as_unsigned[i] = static_cast<uint32_t>(keys[i]);
  }
  const uint64_t blocks = 1000;
  for (const Width width : {Width::kI32, Width::kU32}) {
    Words want(blocks);
    Words got(blocks);
    const auto& wide = width == Width::kI32 ? as_signed : as_unsigned;
    FillPortably(want, blocks, tamis::detail::KeyBatch({}, wide.data(), wide.size()));
    const SplitBlockRef ref{got.data(), blocks, tamis::detail::KeyHasher(HashSpec{})};
    RunAll(InsertCall<SplitBlockRef>{ref, {keys.data(), keys.size(), width, ref.hasher}}, 1);
    EXPECT_EQ(got.vector(), want.vector());
  }
}

TEST(Insert, SetsThePortableBits) {
  for (const HashSpec& spec : kSpecs) {
    for (const uint64_t blocks : kBlockCounts) {
      for (const size_t n : kSizes) {
        for (const uint64_t warps : kWarpCounts) {
          const GuardedArray<uint64_t> keys(RandomKeys(n, blocks + n));
          Words want(blocks);
          Words got(blocks);
          FillPortably(want, blocks, tamis::detail::KeyBatch(spec, keys.data(), n));
          const SplitBlockRef ref{got.data(), blocks, tamis::detail::KeyHasher(spec)};
          RunAll(InsertCall<SplitBlockRef>{ref, {keys.data(), n, Width::kU64, ref.hasher}}, warps);
          ASSERT_EQ(got.vector(), want.vector()) << n << " keys, " << warps << " warps";
        }
      }
    }
  }
}

// Called as in a user's kernel: any lanes of a warp have keys.
TEST(Insert, TogetherInsertsTheKeysOfLanesThatHaveOne) {
  const std::vector<uint64_t> keys = RandomKeys(kWarpLanes, 3);
  for (const uint32_t with_key : {0u, 1u, 0x80000000u, 0x00FF00FFu, 0xA5C3F00Fu, ~0u}) {
    Words want(5);
    Words got(5);
    const SplitBlockRef ref{got.data(), 5, tamis::detail::KeyHasher(kSpecs[0])};
    const SplitBlockRef one{want.data(), 5, ref.hasher};
    for (uint32_t i = 0; i < kWarpLanes; ++i) {
      if ((with_key >> i & 1) != 0) one.Insert(keys[i]);
    }
    RunWarp(0, 1, [&](const EmulatedLane& lane) {
      ref.InsertTogether(lane, keys[lane.Index()], (with_key >> lane.Index() & 1) != 0);
    });
    ASSERT_EQ(got.vector(), want.vector()) << with_key;
  }
}

TEST(Insert, TakesHashesAsTheyAre) {
  // These hashes select the first and the last block, and the first and the last bit of a word.
  const std::vector<uint64_t> hashes = {0, ~uint64_t{0}, 0xFFFFFFFF, 0xFFFFFFFF00000000, 1};
  Words want(7);
  Words got(7);
  FillPortably(want, 7, tamis::detail::HashBatch(hashes.data(), hashes.size()));
  const SplitBlockRef ref{got.data(), 7, tamis::detail::KeyHasher(HashSpec{})};
  RunAll(
      InsertCall<SplitBlockRef>{
          ref, {hashes.data(), hashes.size(), Width::kU64, tamis::detail::KeyHasher()}},
      1);
  EXPECT_EQ(got.vector(), want.vector());
}

uint64_t num_shared_accesses;

// Each block adds to the shared count once, whatever it finds.
TEST(Contains, CountsWithOneAdditionPerBlock) {
  constexpr uint64_t kBlocks = 3;
  const std::vector<uint64_t> keys = RandomKeys(5003, 1);
  Words words(64);
  FillPortably(words, 64, tamis::detail::KeyBatch({}, keys.data(), keys.size()));
  const SplitBlockRef ref{words.data(), 64, tamis::detail::KeyHasher(HashSpec{})};
  const auto count = [&](uint64_t n, uint64_t warps) {
    uint64_t sum = 0;
    num_shared_accesses = 0;
    detail::before_shared_access = [] { ++num_shared_accesses; };
    RunAll(
        ContainsCall<SplitBlockRef>{
            ref, {keys.data(), n, Width::kU64, ref.hasher}, nullptr, nullptr, &sum},
        warps);
    detail::before_shared_access = nullptr;
    EXPECT_EQ(sum, n);
  };
  count(keys.size(), kBlocks * kBlockWarps);
  EXPECT_EQ(num_shared_accesses, kBlocks);
  count(kWarpLanes * (kBlockWarps + 1), kBlocks * kBlockWarps);
  EXPECT_EQ(num_shared_accesses, 2u) << "the third block finds nothing";
  count(0, kBlockWarps);
  EXPECT_EQ(num_shared_accesses, 0u);
}

// Several threads run warps of the same grid. ThreadSanitizer reports accesses that are not atomic.
TEST(Insert, ThreadsMayInsertTheSameBlocks) {
  constexpr uint64_t kThreads = 4;
  const std::vector<uint64_t> keys = RandomKeys(4000, 5);
  for (const uint64_t blocks : {1, 5, 64}) {
    Words want(blocks);
    Words got(blocks);
    FillPortably(want, blocks, tamis::detail::KeyBatch({}, keys.data(), keys.size()));
    const SplitBlockRef ref{got.data(), blocks, tamis::detail::KeyHasher(HashSpec{})};
    const InsertCall<SplitBlockRef> call{ref, {keys.data(), keys.size(), Width::kU64, ref.hasher}};
    uint64_t count = 0;
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < kThreads; ++t) {
      threads.emplace_back(
          [&, t] { RunWarp(t, kThreads, [&](const EmulatedLane& lane) { RunLane(lane, call); }); });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(got.vector(), want.vector());
    threads.clear();
    const ContainsCall<SplitBlockRef> probe{ref, call.keys, nullptr, nullptr, &count};
    for (uint64_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        RunWarp(t, kThreads, [&](const EmulatedLane& lane) { RunLane(lane, probe); });
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(count, keys.size());
  }
}

// The pointers point before the memory, so that only keys past 2^32 are in it.
TEST(Contains, CountsKeysPast32Bits) {
  constexpr uint64_t kFirst = (uint64_t{1} << 32) + 64 * 5;
  constexpr uint64_t kWarps = kFirst / kWarpLanes + 100;  // one round
  const std::vector<uint64_t> keys = RandomKeys(397, 6);
  const uint64_t blocks = 100;
  Words words(blocks);
  FillPortably(words, blocks, tamis::detail::KeyBatch({}, keys.data(), 200));
  const SplitBlockRef ref{words.data(), blocks, tamis::detail::KeyHasher(HashSpec{})};
  std::vector<uint64_t> want(BitmapWords(keys.size()));
  Portable().split_block.contains(
      words.data(), blocks, tamis::detail::KeyBatch({}, keys.data(), keys.size()), want.data());
  const auto bits = GuardedArray<uint64_t>::Output(want.size(), 0);
  const auto bytes = GuardedArray<uint8_t>::Output(keys.size(), 0);
  const auto before = [](auto* memory, uint64_t elements) {
    return reinterpret_cast<decltype(memory)>(reinterpret_cast<uintptr_t>(memory) -
                                              elements * sizeof(*memory));
  };
  const ContainsCall<SplitBlockRef> call{
      ref,
      {before(keys.data(), kFirst), kFirst + keys.size(), Width::kU64, ref.hasher},
      before(reinterpret_cast<uint32_t*>(bits.data()), kFirst / 32),
      before(bytes.data(), kFirst),
      nullptr};
  for (uint64_t warp = kFirst / kWarpLanes; warp < kFirst / kWarpLanes + 14; ++warp) {
    RunWarp(warp, kWarps, [&](const EmulatedLane& lane) { RunLane(lane, call); });
  }
  EXPECT_EQ(bits.vector(), want);
  for (size_t i = 0; i < keys.size(); ++i) {
    ASSERT_EQ(bytes.data()[i], want[i / 64] >> (i % 64) & 1);
  }

  Words inserted(blocks);
  Words expected(blocks);
  const InsertCall<SplitBlockRef> insert{{inserted.data(), blocks, ref.hasher}, call.keys};
  for (uint64_t warp = kFirst / kWarpLanes; warp < kFirst / kWarpLanes + 14; ++warp) {
    RunWarp(warp, kWarps, [&](const EmulatedLane& lane) { RunLane(lane, insert); });
  }
  FillPortably(expected, blocks, tamis::detail::KeyBatch({}, keys.data(), keys.size()));
  EXPECT_EQ(inserted.vector(), expected.vector());
}

// A filter of more than 2^32 words. Only the touched pages take memory.
TEST(Contains, ReachesBlocksPast16GiB) {
  constexpr uint64_t kBlocks = (uint64_t{1} << 29) + 12345;
  constexpr uint64_t kBytes = kBlocks * split_block::kBlockBytes;
  const test_os::SparseMemory memory(kBytes);
  if (memory.empty()) GTEST_SKIP() << "no address space for 16 GiB";
  void* const map = memory.begin();
  auto* const words = static_cast<uint32_t*>(map);
  const SplitBlockRef ref{words, kBlocks, tamis::detail::KeyHasher(HashSpec{})};
  std::vector<uint64_t> keys = RandomKeys(65, 7);
  const KeyColumn column{keys.data(), keys.size(), Width::kU64, ref.hasher};
  RunAll(InsertCall<SplitBlockRef>{ref, column}, 3);
  std::vector<uint64_t> bits(BitmapWords(keys.size()));
  Portable().split_block.contains(
      words, kBlocks, tamis::detail::KeyBatch({}, keys.data(), keys.size()), bits.data());
  EXPECT_EQ(Portable().popcount(bits.data(), bits.size()), keys.size());
  // The very last block.
  const uint64_t last_hash = ~uint64_t{0};
  ref.InsertHash(last_hash);
  EXPECT_TRUE(split_block::BlockContains(words + split_block::kWords * (kBlocks - 1), last_hash));
  uint64_t count = 0;
  RunAll(ContainsCall<SplitBlockRef>{ref, column, nullptr, nullptr, &count}, 3);
  EXPECT_EQ(count, keys.size());
}

TEST(Ref, OneKeyFunctionsAgreeWithTheBulkOnes) {
  const std::vector<uint64_t> keys = RandomKeys(500, 8);
  Words want(20);
  Words got(20);
  FillPortably(want, 20, tamis::detail::KeyBatch({}, keys.data(), 250));
  const SplitBlockRef ref{got.data(), 20, tamis::detail::KeyHasher(HashSpec{})};
  static_assert(std::is_trivially_copyable_v<SplitBlockRef>);
  for (size_t i = 0; i < 250; ++i) ref.Insert(keys[i]);
  EXPECT_EQ(got.vector(), want.vector());
  for (const uint64_t key : keys) {
    ASSERT_EQ(ref.Contains(key),
              Portable().split_block.contains_one(want.data(), 20, HashU64(key)));
  }
}

TEST(Combine, IsTheUnionOrTheIntersection) {
  for (const uint64_t n : {0, 1, 31, 32, 33, 397}) {
    const std::vector<uint64_t> from = RandomKeys(n, 9);
    const std::vector<uint64_t> into = RandomKeys(n, 10);
    const GuardedArray<uint64_t> united(into), common(into);
    RunAll(CombineCall<Combination::kUnion>{united.data(), from.data(), n}, 2);
    RunAll(CombineCall<Combination::kIntersection>{common.data(), from.data(), n}, 2);
    for (uint64_t i = 0; i < n; ++i) {
      ASSERT_EQ(united.data()[i], into[i] | from[i]);
      ASSERT_EQ(common.data()[i], into[i] & from[i]);
    }
    ASSERT_TRUE(united.Intact() && common.Intact());
  }
}

template <typename Offset>
void TestHashColumn(size_t n, const HashSpec& spec) {
  const std::vector<std::string> strings = RandomStrings(n, 11);
  std::string bytes;
  std::vector<Offset> offsets = {0};
  for (const std::string& s : strings) {
    bytes += s;
    offsets.push_back(static_cast<Offset>(bytes.size()));
  }
  const auto hashes = GuardedArray<uint64_t>::Output(n, 0);
  const HashColumnCall<Offset> call{bytes.data(), offsets.data(), n, spec, hashes.data()};
  RunAll(call, 3);
  for (size_t i = 0; i < n; ++i) ASSERT_EQ(hashes.data()[i], HashBytes(strings[i], spec));
  ASSERT_TRUE(hashes.Intact());
}

// Strings at all alignments, in memory of exactly their size.
TEST(HashColumn, ReadsNothingBesideTheStrings) {
  for (const size_t before : {0, 1, 2, 3}) {
    const std::vector<std::string> strings = RandomStrings(9, before);
    std::vector<char> bytes;
    std::vector<int32_t> offsets = {static_cast<int32_t>(before)};
    bytes.resize(before);
    for (const std::string& s : strings) {
      bytes.insert(bytes.end(), s.begin(), s.end());
      offsets.push_back(static_cast<int32_t>(bytes.size()));
    }
    // With AddressSanitizer, every byte past the end is detected.
    const std::unique_ptr<char[]> exact(new char[bytes.size() - before]);
    std::copy(bytes.begin() + static_cast<ptrdiff_t>(before), bytes.end(), exact.get());
    std::vector<uint64_t> hashes(strings.size());
    const auto* start =
        reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(exact.get()) - before);
    RunAll(HashColumnCall<int32_t>{start, offsets.data(), strings.size(), {}, hashes.data()}, 1);
    for (size_t i = 0; i < strings.size(); ++i) EXPECT_EQ(hashes[i], HashBytes(strings[i]));
  }
}

TEST(HashColumn, GivesTheHashesOfTheStrings) {
  for (const size_t n : kSizes) {
    for (const HashSpec& spec : kSpecs) {
      TestHashColumn<int32_t>(n, spec);
      TestHashColumn<int64_t>(n, spec);
    }
  }
}

template <typename Index>
void TestListOnes(size_t n, double density, uint64_t warps) {
  Random random(n);
  std::vector<uint64_t> bits(BitmapWords(n));
  for (size_t i = 0; i < n; ++i) bits[i / 64] |= uint64_t{random.Unit() < density} << (i % 64);
  std::vector<Index> want;
  for (size_t i = 0; i < n; ++i) {
    if (bits[i / 64] >> (i % 64) & 1) want.push_back(static_cast<Index>(i));
  }
  const auto* words = reinterpret_cast<const uint32_t*>(bits.data());
  const uint64_t num_words = 2 * bits.size();
  const uint64_t tiles = WarpsFor(num_words, kTileWords);
  const auto counts = GuardedArray<uint64_t>::Output(tiles, 0);
  uint64_t sum = ~uint64_t{0};
  RunAll(CountTilesCall{words, num_words, counts.data()}, warps);
  RunAll(ScanTilesCall{counts.data(), tiles, &sum}, warps);
  ASSERT_EQ(sum, want.size());
  const auto out = GuardedArray<Index>::Output(want.size(), 0);
  RunAll(ListOnesCall<Index>{words, num_words, counts.data(), out.data()}, warps);
  ASSERT_EQ(out.vector(), want) << n << " bits, " << warps << " warps";
  ASSERT_TRUE(out.Intact() && counts.Intact());
}

TEST(ListOnes, GivesTheIndicesInOrder) {
  for (const size_t n : {0, 1, 31, 32, 33, 64, 397, 32769}) {
    for (const double density : {0.0, 0.03, 0.5, 1.0}) {
      for (const uint64_t warps : {1, 7}) {
        TestListOnes<uint32_t>(n, density, warps);
        TestListOnes<uint64_t>(n, density, warps);
      }
    }
  }
}

// A lane that counts the steps of its warp, and an index that records its address and the step of
// each write.
struct CountingLane {
  const EmulatedLane& lane;
  mutable uint64_t steps = 0;

  uint32_t Index() const { return lane.Index(); }
  uint64_t Warp() const { return lane.Warp(); }
  uint64_t NumWarps() const { return lane.NumWarps(); }
  uint32_t Shuffle(uint32_t value, uint32_t from) const {
    ++steps;
    return lane.Shuffle(value, from);
  }
};

const CountingLane* storing_lane;
std::map<uint64_t, std::vector<uint64_t>> stored_by_step;

struct ToldIndex {
  uint64_t value;

  ToldIndex() = default;
  explicit ToldIndex(uint64_t index) : value(index) {}
  ToldIndex& operator=(const ToldIndex& other) {
    value = other.value;
    stored_by_step[storing_lane->steps].push_back(reinterpret_cast<uintptr_t>(this));
    return *this;
  }
};

// The addresses that the lanes of a warp write in one step are adjacent.
TEST(ListOnes, WritesSideBySide) {
  const std::vector<uint64_t> bits = RandomKeys(64, 1);  // two rows
  std::vector<uint64_t> starts(1);
  const uint64_t ones = Portable().popcount(bits.data(), bits.size());
  std::vector<ToldIndex> out(ones);
  const ListOnesCall<ToldIndex> call{reinterpret_cast<const uint32_t*>(bits.data()),
                                     2 * bits.size(), starts.data(), out.data()};
  stored_by_step.clear();
  RunWarp(0, 1, [&](const EmulatedLane& lane) {
    // A lane runs from step to step, so the lane that began last is not the one that stores.
    struct Lane : CountingLane {
      uint32_t Shuffle(uint32_t value, uint32_t from) const {
        const uint32_t result = CountingLane::Shuffle(value, from);
        storing_lane = this;
        return result;
      }
    };
    const Lane counting{{lane}};
    RunLane(counting, call);
  });
  uint64_t stores = 0;
  for (const auto& [step, addresses] : stored_by_step) {
    stores += addresses.size();
    const auto [first, last] = std::minmax_element(addresses.begin(), addresses.end());
    ASSERT_EQ(*last - *first, (addresses.size() - 1) * sizeof(ToldIndex)) << "step " << step;
    ASSERT_LE(addresses.size(), kWarpLanes);
  }
  EXPECT_EQ(stores, ones);
  EXPECT_GE(stored_by_step.size(), 2 * kWarpLanes - 2);
}

// With more tiles than lanes of a warp, the scan takes several rounds.
TEST(ListOnes, ScansManyTiles) { TestListOnes<uint64_t>(70 * 32768 + 5, 0.01, 9); }

}  // namespace tamis::cuda::kernels_test
