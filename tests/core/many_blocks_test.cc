// Split-block filters of more than 2^32 - 1 blocks (128 GiB), in memory and files of which only a
// few pages are touched: their files, their regions, and the false-positive rate of an index of 64
// bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/src/bulk/partitioned_writer.h"
#include "core/src/bulk/region_lists.h"
#include "core/src/bulk/regions.h"
#include "core/src/file/file_format.h"
#include "core/src/file/page_table.h"
#include "tamis/backends.h"
#include "tamis/detail/kernels.h"
#include "tamis/error.h"
#include "tamis/file/file_checks.h"
#include "tamis/filters/sizing.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/layout/split_block.h"
#include "tests/core/file_test_util.h"
#include "tests/os/test_os.h"
#include "tests/test_util.h"

namespace tamis::many_blocks_test {

namespace fs = std::filesystem;
namespace sb = split_block;

constexpr uint64_t kHeaderBytes = 192;

// A block in a file.
struct Block {
  uint64_t at;  // from the start of the file
  uint32_t words[sb::kWords];
};

class ManyBlocksFileTest : public testing::Test {
 protected:
  void SetUp() override {
    const Bytes golden =
        ReadBytes(fs::path(TAMIS_GOLDEN_DIR) / "split_block_v3_many_blocks.sparse");
    header_.assign(golden.begin(), golden.begin() + kHeaderBytes);
    for (size_t at = kHeaderBytes; at < golden.size(); at += sizeof(uint64_t) + sb::kBlockBytes) {
      Block block;
      block.at = GetField<uint64_t>(golden, at);
      std::memcpy(block.words, golden.data() + at + sizeof(uint64_t), sb::kBlockBytes);
      blocks_.push_back(block);
    }
  }

  uint64_t payload_bytes() const {
    return GetField<uint64_t>(header_, detail::offset::kPayloadLength);
  }

  // Writes the file. Skips the test if the file system has no files with holes, or no files of this
  // size.
  void WriteFile(const fs::path& path) const {
    const uint64_t payload = payload_bytes();
    const uint64_t table_at = kHeaderBytes + detail::Padded(payload);
    const uint64_t pages = detail::NumPages(payload);
    const auto page_bytes = [&](uint64_t page) {
      return std::min<uint64_t>(detail::kPageBytes, payload - page * detail::kPageBytes);
    };
    std::vector<char> page(detail::kPageBytes);
    const auto checksum = [&](size_t n) {
      return detail::PageTable(std::as_bytes(std::span(page).first(n)))[0];
    };
    std::vector<uint64_t> table(pages, checksum(detail::kPageBytes));
    table.back() = checksum(page_bytes(pages - 1));
    WriteBytes(path, header_);
    if (!test_os::AppendHole(path, table_at + pages * sizeof(uint64_t) - kHeaderBytes)) {
      GTEST_SKIP() << "no files with holes of this size";
    }
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    for (size_t i = 0; i < blocks_.size();) {
      const uint64_t index = (blocks_[i].at - kHeaderBytes) / detail::kPageBytes;
      std::fill(page.begin(), page.end(), 0);
      for (; i < blocks_.size(); ++i) {
        const uint64_t in_page = blocks_[i].at - kHeaderBytes - index * detail::kPageBytes;
        if (in_page >= detail::kPageBytes) break;
        std::memcpy(page.data() + in_page, blocks_[i].words, sb::kBlockBytes);
        file.seekp(static_cast<std::streamoff>(blocks_[i].at));
        file.write(reinterpret_cast<const char*>(blocks_[i].words), sb::kBlockBytes);
      }
      table[index] = checksum(page_bytes(index));
    }
    file.seekp(static_cast<std::streamoff>(table_at));
    file.write(reinterpret_cast<const char*>(table.data()),
               static_cast<std::streamsize>(pages * sizeof(uint64_t)));
    ASSERT_TRUE(file.flush());
  }

  Bytes header_;
  std::vector<Block> blocks_;  // by their place
  const TemporaryFolder folder_;
};

std::vector<uint64_t> Integers(uint64_t n) {
  std::vector<uint64_t> keys(n);
  for (uint64_t i = 0; i < n; ++i) keys[i] = i * 0x9E3779B97F4A7C15;
  return keys;
}

TEST_F(ManyBlocksFileTest, GoldenFileIsMapped) {
  const fs::path path = folder_ / "f.tamis";
  WriteFile(path);
  if (IsSkipped()) return;
#ifdef __aarch64__
  // The emulator qemu reserves memory for all bytes that it maps from a file.
  try {
    SplitBlockBloomFilter::Map(path);
  } catch (const Error& error) {
    const std::string no_memory = std::generic_category().message(ENOMEM);
    if (std::string_view(error.what()).find(no_memory) == std::string_view::npos) throw;
    GTEST_SKIP() << error.what();
  }
#endif
  const SplitBlockBloomFilter filter = SplitBlockBloomFilter::Map(path);
  EXPECT_EQ(filter.num_blocks(), (uint64_t{1} << 32) + 5);
  EXPECT_EQ(filter.capacity(), 100u);
  EXPECT_EQ(filter.inserted_count(), 100u);
  // Few keys, because the system reads ahead at each page that is touched.
  const std::vector<uint64_t> keys = Integers(120);
  std::vector<uint64_t> bits(BitmapWords(keys.size()));
  filter.Contains(keys, Bitmap(bits));
  for (size_t i = 0; i < keys.size(); ++i) {
    ASSERT_EQ((bits[i / 64] >> (i % 64) & 1) != 0, i < 100) << i;
    ASSERT_EQ(filter.Contains(keys[i]), i < 100) << i;
  }
  const FileHeader header = ReadHeader(path);
  EXPECT_EQ(header.version, 3u);
  const std::vector<std::byte> encoded = detail::EncodeHeader(header);
  ASSERT_EQ(encoded.size(), header_.size());
  EXPECT_EQ(std::memcmp(encoded.data(), header_.data(), encoded.size()), 0);
}

TEST_F(ManyBlocksFileTest, TheLibrarySetsTheSameBits) {
  const test_os::SparseMemory memory(payload_bytes());
  if (memory.empty()) GTEST_SKIP() << "no address space";
  SplitBlockView view(std::span(static_cast<std::byte*>(memory.begin()), payload_bytes()));
  view.Insert(Integers(100));
  const auto* const words = static_cast<const std::byte*>(memory.begin());
  for (const Block& block : blocks_) {
    EXPECT_EQ(std::memcmp(words + block.at - kHeaderBytes, block.words, sb::kBlockBytes), 0);
  }
}

TEST_F(ManyBlocksFileTest, OnlyVersion3HasThem) {
  const auto decode = [&](const FileHeader& header) {
    const std::vector<std::byte> bytes = detail::EncodeHeader(header);
    return detail::DecodeHeaderAt(bytes, 0, "f");
  };
  const std::span<const std::byte> bytes = std::as_bytes(std::span(header_));
  const FileHeader many = detail::DecodeHeaderAt(bytes, 0, "f");
  EXPECT_EQ(detail::HeaderToSave(many, {}).version, 3u);
  ExpectError([&] { detail::HeaderToSave(many, {.version = 1}); }, ErrorCode::kInvalidArgument,
              "version 1 of the format does not have split-block filters of more than 128 GiB");
  for (const uint32_t version : {1, 2}) {
    FileHeader header = many;
    header.version = version;
    ExpectFormatError([&] { decode(header); }, "blocks", detail::offset::kGeometry);
  }
  FileHeader few = many;
  few.geometry[0] = sb::kMaxBlocks32;
  few.payload_bytes = sb::kBlockBytes * sb::kMaxBlocks32;
  ExpectFormatError([&] { decode(few); }, "blocks", detail::offset::kGeometry);
  EXPECT_EQ(detail::HeaderToSave(few, {}).version, 2u);
  FileHeader counting = few;
  counting.kind = FilterKind::kCounting;
  counting.payload_bytes *= 2;
  ExpectFormatError([&] { decode(counting); }, "version", detail::offset::kVersion);
  FileHeader too_many = many;
  too_many.geometry[0] = sb::kMaxBlocks + 1;
  ExpectFormatError([&] { decode(too_many); }, "blocks", detail::offset::kGeometry);
}

// Bulk insertions and lookups of such filters are ordered by region.
TEST(ManyBlocksRegionsTest, HashesGoToTheRegionOfTheirBlock) {
  const detail::Kernels& kernels = *DefaultBackend().kernels;
  for (const uint64_t num_blocks : {sb::kMaxBlocks32, sb::kMaxBlocks32 + 1, sb::kMaxBlocks}) {
    const uint64_t bytes = num_blocks * sb::kBlockBytes;
    std::vector<uint64_t> hashes = RandomKeys(10'000, /*seed=*/num_blocks);
    hashes.insert(hashes.end(), {0, 1, ~uint64_t{0}, ~uint64_t{0} << 32, 0xFFFFFFFF});
    const detail::Batch batch = detail::HashBatch(hashes.data(), hashes.size());

    std::vector<uint64_t> written;
    detail::HashWriter writer(
        detail::HashTarget(bytes, num_blocks, kernels,
                           [&](const detail::Batch& part, uint64_t first, uint64_t blocks) {
                             for (size_t i = 0; i < part.n; ++i) {
                               const uint64_t hash = part.values[i];
                               EXPECT_LT(sb::BlockIndex(hash, num_blocks) - first, blocks);
                               written.push_back(hash);
                             }
                           }),
        hashes.size(), 1);
    writer.Add(0, batch, 0);
    for (size_t i = 0; i < writer.num_tasks(); ++i) writer.Run(i);

    detail::RegionLists lists({bytes, num_blocks}, hashes.size());
    const uint64_t of_region = detail::RegionBlocks(bytes, num_blocks);
    std::vector<uint64_t> listed;
    lists.Add(kernels, batch);
    for (size_t region = 0; region < lists.num_regions(); ++region) {
      lists.ForRegion(region, [&](const detail::Batch& part, uint64_t*) {
        for (size_t i = 0; i < part.n; ++i) {
          EXPECT_EQ(sb::BlockIndex(part.values[i], num_blocks) / of_region, region);
          listed.push_back(part.values[i]);
        }
      });
    }

    std::sort(hashes.begin(), hashes.end());
    for (std::vector<uint64_t>* const found : {&written, &listed}) {
      std::sort(found->begin(), found->end());
      EXPECT_EQ(*found, hashes);
    }
  }
}

// Returns a hash of block [first, first + blocks), of num_blocks.
uint64_t HashInWindow(Random& random, uint64_t first, uint64_t blocks, uint64_t num_blocks) {
  const auto begin_of = [&](uint64_t block) {
    return static_cast<uint64_t>(((static_cast<unsigned __int128>(block) << 64) - 1) / num_blocks) +
           1;
  };
  return begin_of(first) + random.Below(begin_of(first + blocks) - begin_of(first));
}

// All keys and queries are in a window of 4 MiB that is filled as the whole would be. The keys of a
// block have up to eight of the bits in common that choose bits, which must not change the rate.
TEST(ManyBlocksRateTest, IsThatOfTheFormula) {
  constexpr uint64_t kWindow = uint64_t{1} << 17;  // blocks
  for (const uint64_t num_blocks : {sb::kMaxBlocks32 + 1, uint64_t{0x234567891}, sb::kMaxBlocks}) {
    const test_os::SparseMemory memory(num_blocks * sb::kBlockBytes);
    if (memory.empty()) GTEST_SKIP() << "no address space for " << num_blocks << " blocks";
    auto* const words = static_cast<uint32_t*>(memory.begin());
    const detail::SplitBlockKernels& kernels = DefaultBackend().kernels->split_block;
    const uint64_t first = num_blocks - num_blocks / 3;
    Random random(/*seed=*/num_blocks);
    constexpr double kKeysOfBlock = 24.3;  // 1%
    std::vector<uint64_t> keys(static_cast<size_t>(kKeysOfBlock * kWindow));
    for (uint64_t& key : keys) key = HashInWindow(random, first, kWindow, num_blocks);
    kernels.insert(words, num_blocks, detail::HashBatch(keys.data(), keys.size()));
    std::vector<uint64_t> bits(BitmapWords(keys.size()));
    const auto hits = [&] {
      kernels.contains(words, num_blocks, detail::HashBatch(keys.data(), keys.size()), bits.data());
      return DefaultBackend().kernels->popcount(bits.data(), bits.size());
    };
    EXPECT_EQ(hits(), keys.size());
    for (uint64_t& key : keys) key = HashInWindow(random, first, kWindow, num_blocks);
    const double expected =
        SplitBlockFpr(kKeysOfBlock * static_cast<double>(num_blocks), num_blocks);
    const uint64_t found = hits();
    EXPECT_GT(found, 10'000u);
    EXPECT_NEAR(static_cast<double>(found) / static_cast<double>(keys.size()) / expected, 1, 0.05)
        << num_blocks << " blocks";
  }
}

// The same index in a filter of usual size.
TEST(ManyBlocksRateTest, OfTheIndexInASmallFilter) {
  constexpr uint64_t kBlocks = 100'003;
  std::vector<uint32_t> words(kBlocks * sb::kWords);
  const auto block_of = [&](uint64_t hash) {
    return words.data() + sb::kWords * sb::BlockIndex64(hash, kBlocks);
  };
  const size_t n = SplitBlockCapacity(kBlocks, 0.01);
  for (const uint64_t hash : RandomKeys(n, /*seed=*/1)) sb::BlockInsert(block_of(hash), hash);
  uint64_t found = 0;
  for (const uint64_t hash : RandomKeys(n, /*seed=*/2)) {
    found += sb::BlockContains(block_of(hash), hash);
  }
  EXPECT_GT(found, 10'000u);
  EXPECT_NEAR(static_cast<double>(found) / static_cast<double>(n) / 0.01, 1, 0.05);
}

}  // namespace tamis::many_blocks_test
