// Files in shards: every way to open them gives the filter of the whole file, and every set of
// files that are not exactly its shards is refused.
#include "core/src/file/shards.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/src/file/atomic_file.h"
#include "core/src/file/file_format.h"
#include "core/src/file/page_table.h"
#include "core/src/file/regular_file.h"
#include "tamis/engine/build.h"
#include "tamis/file/file_checks.h"
#include "tamis/file/folder.h"
#include "tamis/file/saving.h"
#include "tamis/filters/any_filter.h"
#include "tamis/filters/any_scalable_filter.h"
#include "tamis/filters/filter_kinds.h"
#include "tamis/filters/serialize.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/hash_kinds.h"
#include "tamis/layout/split_block.h"
#include "tests/core/file_test_util.h"
#include "tests/core/filter_bank_test_util.h"
#include "tests/os/test_os.h"
#include "tests/test_util.h"

namespace tamis::shards_test {

namespace fs = std::filesystem;
namespace sb = split_block;
using detail::kShardUnit;

constexpr size_t kKeys = 150'000;

AnyFilter FilterOf(const FilterKindInfo& kind, std::span<const uint64_t> keys, HashSpec hash) {
  const FilterOptions options{.capacity = keys.size(), .hash = hash};
  if (kind.is_static) {
    return BuildFilter(kind.kind, [&](const auto& visit) { visit(keys); }, {.hash = hash});
  }
  AnyFilter filter = kind.has_layers
                         ? MakeScalableFilter(FilterKinds().front().kind,
                                              {.initial_capacity = keys.size() / 8, .hash = hash})
                         : MakeFilter(kind.kind, options);
  EXPECT_EQ(RequireChangeable(*filter).Insert(keys), keys.size());
  return filter;
}

Bytes BytesOf(const Filter& filter, uint32_t version = FileHeader::kNewestVersion) {
  const std::vector<std::byte> bytes = Serialize(filter, {.version = version});
  const auto* const begin = reinterpret_cast<const char*>(bytes.data());
  return Bytes(begin, begin + bytes.size());
}

// Whether the system can map several files as one.
#ifdef _WIN32
constexpr bool kMaps = false;
#else
constexpr bool kMaps = true;
#endif

using Open = std::function<AnyFilter()>;

class ShardsTest : public FileTest {
 protected:
  fs::path Shard(uint64_t i) const { return detail::ShardPath(first_, i); }

  // Cuts a file as `split -b` does. Removes all other files.
  void Cut(const Bytes& file, uint64_t shard_bytes) const {
    RemoveAll();
    for (uint64_t at = 0, i = 0; at < file.size(); at += shard_bytes, ++i) {
      const auto begin = file.begin() + static_cast<std::ptrdiff_t>(at);
      const auto n = static_cast<std::ptrdiff_t>(std::min(shard_bytes, file.size() - at));
      WriteBytes(Shard(i), Bytes(begin, begin + n));
    }
  }

  void RemoveAll() const {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_.path())) {
      fs::remove_all(entry.path());
    }
  }

  // Returns the contents of all shards, joined.
  Bytes Joined() const {
    Bytes joined;
    for (uint64_t i = 0; fs::exists(Shard(i)); ++i) {
      const Bytes shard = ReadBytes(Shard(i));
      joined.insert(joined.end(), shard.begin(), shard.end());
    }
    return joined;
  }

  // Calls `act` with each way to open a file, and whether this way verifies all bytes.
  static void InEveryWay(const fs::path& path,
                         const std::function<void(const Open&, bool verified)>& act) {
    act([&] { return Load(path); }, true);
    if (!kMaps) return;
    act([&] { return Map(path, {.verify = Verify::kFull}); }, true);
    act([&] { return Map(path); }, false);
  }

  void ExpectShardsAreAllFiles() const {
    std::vector<fs::path> shards;
    for (uint64_t i = 0; i < folder_.NumFiles(); ++i) shards.push_back(Shard(i));
    EXPECT_EQ(ShardsOf(first_), shards);
  }

  const fs::path first_ = folder_ / "f.tamis.0000";
};

TEST_F(ShardsTest, EveryKind_InShardsOfAnyLength_IsTheWholeFile) {
  Random random(/*seed=*/1);
  const std::vector<uint64_t> keys = RandomKeys(150'000, /*seed=*/1);
  const std::vector<uint64_t> others = RandomKeys(keys.size(), /*seed=*/2);
  for (const FilterKindInfo& kind : FilterKinds()) {
    const uint32_t version = 1 + static_cast<uint32_t>(random.Below(2));
    const AnyFilter filter = FilterOf(kind, keys, {HashKind::kXxh64, random()});
    const Bytes whole = BytesOf(*filter, version);
    // Every second time, the second shard has little more than the checksums of the pages.
    const uint64_t most = (whole.size() - 1) / kShardUnit;
    const uint64_t shard_bytes =
        kShardUnit * (random.Below(2) == 0 ? most : 1 + random.Below(most));
    SCOPED_TRACE(std::string(kind.name) + ", version " + std::to_string(version) + ", shards of " +
                 std::to_string(shard_bytes) + " of " + std::to_string(whole.size()) + " bytes");
    const auto expect_same = [&] {
      EXPECT_EQ(folder_.NumFiles(), detail::NumShards(whole.size(), shard_bytes));
      EXPECT_TRUE(Joined() == whole);
      EXPECT_EQ(ReadHeader(first_).inserted, filter->inserted_count());
      EXPECT_EQ(VerifyFile(first_).inserted, filter->inserted_count());
      ExpectShardsAreAllFiles();
      InEveryWay(first_, [&](const Open& open, bool) {
        const AnyFilter opened = open();
        EXPECT_TRUE(BytesOf(*opened, version) == whole);
        EXPECT_EQ(opened->Count(keys), keys.size());
        EXPECT_EQ(opened->Count(others), filter->Count(others));
      });
    };
    Cut(whole, shard_bytes);
    expect_same();
    RemoveAll();
    const SaveOptions options{.version = version, .shard_bytes = shard_bytes};
    RequireSavable(first_, options);
    filter->Save(first_, options);
    expect_same();
  }
}

// A split-block filter of about five shards. Other seeds give other filters of the same length.
SplitBlockBloomFilter Sample(uint64_t seed, uint64_t blocks = 10'000) {
  SplitBlockBloomFilter filter({.bytes = blocks * sb::kBlockBytes});
  filter.Insert(RandomKeys(10 * blocks, seed));
  return filter;
}

TEST_F(ShardsTest, FileThatEndsWithAFullShard_Opens) {
  const auto file_bytes = [](uint64_t blocks) {
    const uint64_t payload = blocks * sb::kBlockBytes;
    return detail::kHeaderBytes2 + detail::Padded(payload) + detail::PageTableBytes(payload);
  };
  uint64_t blocks = 10'000;
  while (file_bytes(blocks) % kShardUnit != 0) ++blocks;
  const SplitBlockBloomFilter filter = Sample(1, blocks);
  filter.Save(first_, {.shard_bytes = kShardUnit});
  EXPECT_EQ(folder_.NumFiles(), file_bytes(blocks) / kShardUnit);
  EXPECT_TRUE(BytesOf(*Load(first_)) == BytesOf(filter));
  WriteBytes(Shard(folder_.NumFiles()), {});
  ExpectFormatError([&] { ReadHeader(first_); }, "shard length", 0);
}

TEST_F(ShardsTest, ShardsOfOtherFiles_AreThePathAlone) {
  const fs::path second = Shard(1), other = folder_ / "f.tamis";
  const auto expect_alone = [&] {
    for (const fs::path& path : {first_, second, other}) {
      EXPECT_EQ(ShardsOf(path), std::vector<fs::path>{path});
    }
  };
  expect_alone();  // no files
  for (const fs::path& path : {first_, second, other}) Sample(1).Save(path);
  expect_alone();
  const Bytes whole = ReadBytes(first_);
  WriteBytes(first_, Bytes(whole.begin(), whole.begin() + 1000));  // a damaged file
  expect_alone();
  WriteBytes(first_, Bytes(kShardUnit, 'k'));  // keys
  expect_alone();
  fs::remove(first_);
  fs::create_directory(first_);
  expect_alone();
}

TEST_F(ShardsTest, OneFile_NeverReplacesAShard) {
  constexpr uint64_t kShards = 5;
  const SplitBlockBloomFilter filter = Sample(1), other = Sample(2);
  filter.Save(first_, {.shard_bytes = kShardUnit});
  ASSERT_EQ(folder_.NumFiles(), kShards);
  const fs::path link = folder_.path().string() + "-link";
  if (!test_os::MakeSymbolicLink(first_, link)) GTEST_SKIP() << "no links";
  BankModel model;
  Random random(/*seed=*/3);
  model.AddMany(10, random);
  std::vector<fs::path> refused = {link};
  for (uint64_t i = 0; i <= kShards; ++i) refused.push_back(Shard(i));  // the last is surplus
  for (const fs::path& path : refused) {
    const std::vector<std::function<void()>> saves = {
        [&] { RequireSavable(path); }, [&] { other.Save(path); }, [&] { model.bank().Save(path); },
        [&] { detail::WriteFileAtomicallyBy(path, [](os::TemporaryFile&) {}); }};
    for (const auto& save : saves) {
      ExpectError(save, ErrorCode::kInvalidArgument,
                  path.string() + ": one file under this name would damage the 5 shards of " +
                      first_.string());
    }
  }
  fs::remove(link);
  EXPECT_TRUE(BytesOf(*Load(first_)) == BytesOf(filter));
  other.Save(Shard(kShards + 1));
  // Whole filters with such names are replaced.
  RemoveAll();
  for (int times = 0; times < 2; ++times) {
    for (uint64_t i = 0; i < 3; ++i) other.Save(Shard(i));
  }
}

TEST_F(ShardsTest, OneShard_IsAFileAndIgnoresItsNeighbors) {
  const SplitBlockBloomFilter filter = Sample(1);
  filter.Save(first_, {.shard_bytes = uint64_t{1} << 40});
  EXPECT_EQ(folder_.NumFiles(), 1u);
  Sample(2).Save(Shard(1));
  InEveryWay(first_,
             [&](const Open& open, bool) { EXPECT_TRUE(BytesOf(*open()) == BytesOf(filter)); });
  Sample(3).Save(first_);
  EXPECT_EQ(VerifyFile(Shard(1)).inserted, Sample(2).inserted_count());
}

TEST_F(ShardsTest, SetThatIsNotTheFile_IsRefusedInEveryWay) {
  const Bytes whole = BytesOf(Sample(1)), other = BytesOf(Sample(2));
  const uint64_t n = detail::NumShards(whole.size(), kShardUnit);
  ASSERT_EQ(n, 5u);
  const auto expect_refused = [&](const std::string& what, bool only_by_sums,
                                  const std::function<void()>& change) {
    SCOPED_TRACE(what);
    Cut(whole, kShardUnit);
    change();
    InEveryWay(first_, [&](const Open& open, bool verified) {
      if (verified || !only_by_sums) {
        EXPECT_THROW(open(), Error);
      } else {
        open()->Count(RandomKeys(10'000, /*seed=*/1));
      }
    });
    EXPECT_THROW(VerifyFile(first_), Error);
    if (only_by_sums) return;
    EXPECT_THROW(ReadHeader(first_), Error);
  };
  for (uint64_t i = 0; i < n; ++i) {
    const std::string shard = "shard " + std::to_string(i);
    expect_refused(shard + " is missing", false, [&] { fs::remove(Shard(i)); });
    expect_refused(shard + " is a folder", false, [&] {
      fs::remove(Shard(i));
      fs::create_directory(Shard(i));
    });
    for (const uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{192}, kShardUnit / 2,
                                 kShardUnit - 1, kShardUnit + 1, 2 * kShardUnit, 3 * kShardUnit}) {
      expect_refused(shard + " has " + std::to_string(bytes) + " bytes", false,
                     [&] { ASSERT_TRUE(test_os::Resize(Shard(i), bytes)); });
    }
    expect_refused(shard + " is that of another filter", true, [&] {
      const auto begin = other.begin() + static_cast<std::ptrdiff_t>(i * kShardUnit);
      const auto left = static_cast<std::ptrdiff_t>(other.size() - i * kShardUnit);
      const auto end = begin + std::min<std::ptrdiff_t>(kShardUnit, left);
      WriteBytes(Shard(i), Bytes(begin, end));
    });
  }
  expect_refused("two shards are swapped", true, [&] {
    const Bytes one = ReadBytes(Shard(1)), two = ReadBytes(Shard(2));
    WriteBytes(Shard(1), two);
    WriteBytes(Shard(2), one);
  });
  expect_refused("one shard is two", true, [&] {
    fs::remove(Shard(2));
    fs::create_hard_link(Shard(1), Shard(2));
  });
  expect_refused("a surplus shard", false, [&] { WriteBytes(Shard(n), {}); });
  expect_refused("no header", false, [&] { WriteBytes(first_, ReadBytes(Shard(1))); });
}

TEST_F(ShardsTest, Errors_NameTheShardAndTheOffset) {
  const Bytes whole = BytesOf(Sample(1));
  const auto expect = [&](const std::string& check, uint64_t offset, const fs::path& path,
                          const std::function<void()>& change) {
    Cut(whole, kShardUnit);
    change();
    ExpectFormatError([&] { ReadHeader(first_); }, check, offset);
    ExpectError([&] { ReadHeader(first_); }, ErrorCode::kCorrupt, path.string() + ": " + check);
  };
  expect("shard length", 100, Shard(2), [&] { test_os::Resize(Shard(2), 100); });
  expect("shard length", kShardUnit, Shard(2), [&] { test_os::Resize(Shard(2), 1 << 20); });
  expect("shard length", 0, Shard(5), [&] { WriteBytes(Shard(5), {}); });
  expect("file length", 1000, first_, [&] { test_os::Resize(first_, 1000); });
  Cut(whole, kShardUnit);
  fs::remove(Shard(3));
  ExpectError([&] { Load(first_); }, ErrorCode::kIo, Shard(3).string() + ": cannot open");
  // Errors of a shard that is not the first show how to open the filter.
  Cut(whole, kShardUnit);
  for (uint64_t i = 1; i < 5; ++i) {
    for (const auto& open : {std::function<void()>([&] { Load(Shard(i)); }),
                             std::function<void()>([&] { FilterBank::Load(Shard(i)); })}) {
      ExpectError(open, ErrorCode::kCorrupt,
                  "It is one of 5 shards: open the first, " + first_.string());
    }
  }
  // Other names do not begin a set.
  fs::rename(first_, folder_ / "f.tamis.000");
  ExpectFormatError([&] { Load(folder_ / "f.tamis.000"); }, "file length", kShardUnit);
  ExpectError([&] { Load(folder_ / "f.tamis.000"); }, ErrorCode::kCorrupt,
              "its name must have the form NAME.0000");
  ExpectError([&] { Load(Shard(1)); }, ErrorCode::kCorrupt, "begin like a tamis file");
}

TEST_F(ShardsTest, HeaderOfTooManyShards_IsRefused) {
  FileHeader header = ReadHeader(GoldenPath("split_block_v2_empty"));
  header.geometry[0] = sb::kMaxBlocks32;
  header.payload_bytes = header.geometry[0] * sb::kBlockBytes;
  const std::vector<std::byte> start = detail::EncodeHeader(header);
  const auto* const begin = reinterpret_cast<const char*>(start.data());
  WriteBytes(first_, Bytes(begin, begin + start.size()));
  ASSERT_TRUE(test_os::Resize(first_, kShardUnit));
  ExpectFormatError([&] { ReadHeader(first_); }, "file length", kShardUnit);
  ExpectError([&] { ReadHeader(first_); }, ErrorCode::kCorrupt, "at most 10000 shards");
}

TEST_F(ShardsTest, ShardThatIsCutShortWhileOpen_IsAnError) {
  const Bytes whole = BytesOf(Sample(1));
  Cut(whole, kShardUnit);
  detail::RegularFile file(first_);
  file.OpenShards(whole.size());
  EXPECT_EQ(file.bytes(), whole.size());
  Bytes read(whole.size());
  file.Read(std::as_writable_bytes(std::span(read)), 0);
  EXPECT_TRUE(read == whole);
  ASSERT_TRUE(test_os::Resize(Shard(3), 5));
  const std::span<std::byte> part = std::as_writable_bytes(std::span(read).first(2000));
  file.Read(part, 3 * kShardUnit - 2000);
  ExpectFormatError([&] { file.Read(part, 3 * kShardUnit - 1000); }, "file length", 5);
  ExpectFormatError([&] { file.Read(part, 4 * kShardUnit - 1000); }, "file length", 5);
  file.Read(part, 4 * kShardUnit);
}

TEST_F(ShardsTest, MappedShards_OutliveTheirNamesAndAreUnmappedTogether) {
  if (!test_os::MappingsOf(folder_.path())) GTEST_SKIP() << "the system does not list mappings";
  const Bytes whole = BytesOf(Sample(1));
  Cut(whole, kShardUnit);
  {
    const AnyFilter one = Map(first_), two = Map(first_);
    for (uint64_t i = 0; i < 5; ++i) EXPECT_EQ(test_os::MappingsOf(Shard(i)), 2u);
    RemoveAll();
    EXPECT_TRUE(BytesOf(*one) == whole);
    EXPECT_TRUE(BytesOf(*two) == whole);
  }
  Cut(whole, kShardUnit);
  for (uint64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(test_os::MappingsOf(fs::path(Shard(i).string() + " (deleted)")), 0u);
  }
}

TEST_F(ShardsTest, LinksLeadToTheFirstShard) {
  const SplitBlockBloomFilter old_filter = Sample(1), new_filter = Sample(2);
  const fs::path folder = folder_ / "sets", link = folder_ / "current.tamis";
  fs::create_directory(folder);
  old_filter.Save(folder / "1.tamis.0000", {.shard_bytes = kShardUnit});
  new_filter.Save(folder / "2.tamis.0000", {.shard_bytes = kShardUnit});
  if (!test_os::MakeSymbolicLink("sets/1.tamis.0000", link)) GTEST_SKIP() << "no links";
  test_os::MakeSymbolicLink(link, folder_ / "link to a link");
  InEveryWay(folder_ / "link to a link",
             [&](const Open& open, bool) { EXPECT_TRUE(BytesOf(*open()) == BytesOf(old_filter)); });
  // A link whose name ends in .0000 can lead to any file. Each shard can be on another disk.
  for (uint64_t i = 0; i < 5; ++i) {
    const fs::path shard = folder / ("disk" + std::to_string(i));
    fs::rename(detail::ShardPath(folder / "1.tamis.0000", i), shard);
    test_os::MakeSymbolicLink(shard, Shard(i));
  }
  InEveryWay(first_,
             [&](const Open& open, bool) { EXPECT_TRUE(BytesOf(*open()) == BytesOf(old_filter)); });
  // If the link changes between the first shard and the others, shards of two filters would be
  // mixed.
  fs::remove(link);
  test_os::MakeSymbolicLink(first_, link);
  detail::RegularFile file(link);
  fs::remove(link);
  test_os::MakeSymbolicLink("sets/2.tamis.0000", link);
  ExpectError([&] { file.OpenShards(BytesOf(old_filter).size()); }, ErrorCode::kBusy, "replaced");
  EXPECT_TRUE(BytesOf(*Load(link)) == BytesOf(new_filter));
}

TEST_F(ShardsTest, Save_NeverReplacesAFile) {
  const SplitBlockBloomFilter filter = Sample(1);
  const SaveOptions options{.shard_bytes = kShardUnit};
  for (uint64_t i = 0; i <= 5; ++i) {
    RemoveAll();
    WriteBytes(Shard(i), {'x'});
    ExpectError([&] { filter.Save(first_, options); }, ErrorCode::kBusy,
                Shard(i).string() + ": it exists");
    if (i < 2) ExpectError([&] { RequireSavable(first_, options); }, ErrorCode::kBusy, "it exists");
    EXPECT_EQ(folder_.NumFiles(), 1u);
    EXPECT_EQ(ReadBytes(Shard(i)), Bytes{'x'});
  }
}

TEST_F(ShardsTest, Save_WithInvalidOptions_IsRefusedBeforeWriting) {
  const SplitBlockBloomFilter filter = Sample(1);
  const auto expect = [&](const fs::path& path, uint64_t shard_bytes, const std::string& problem) {
    const SaveOptions options{.shard_bytes = shard_bytes};
    for (const auto& act : {std::function<void()>([&] { filter.Save(path, options); }),
                            std::function<void()>([&] { RequireSavable(path, options); })}) {
      ExpectError(act, ErrorCode::kInvalidArgument, problem);
    }
    EXPECT_EQ(folder_.NumFiles(), 0u);
  };
  expect(first_, kShardUnit + 1, "must be a multiple of 65536");
  expect(first_, 1, "must be a multiple of 65536");
  expect(folder_ / "f.tamis", kShardUnit, "must have the form NAME.0000");
  expect(folder_ / "f.tamis.0001", kShardUnit, "must have the form NAME.0000");
  expect(folder_ / ".0000", kShardUnit, "must have the form NAME.0000");
}

TEST_F(ShardsTest, TooManyShards_AreRefusedByALowerBoundOfTheSize) {
  const SaveOptions options{.shard_bytes = kShardUnit};
  RequireSavable(first_, options, 20 * kShardUnit);
  ExpectError([&] { RequireSavable(first_, options, 10'000 * kShardUnit + 1); },
              ErrorCode::kInvalidArgument,
              "would have 10001 shards of 65536 bytes; allowed: 10000");
}

TEST_F(ShardsTest, Banks_InShards_AreTheWholeBank) {
  Random random(/*seed=*/3);
  BankModel model;
  model.AddMany(700, random);
  model.bank().Save(folder_ / "whole");
  const Bytes whole = ReadBytes(folder_ / "whole");
  RemoveAll();
  const uint64_t shard_bytes = kShardUnit * (1 + random.Below(whole.size() / kShardUnit));
  model.bank().Save(first_, {.shard_bytes = shard_bytes});
  EXPECT_GT(folder_.NumFiles(), 1u);
  EXPECT_TRUE(Joined() == whole);
  ExpectShardsAreAllFiles();
  model.ExpectEqual(FilterBank::Load(first_), random, 10);
  if (kMaps) {
    model.ExpectEqual(FilterBank::Map(first_), random, 10);
    model.ExpectEqual(FilterBank::Map(first_, {.verify = Verify::kFull}), random, 10);
  }
  fs::remove(Shard(1));
  EXPECT_THROW(FilterBank::Load(first_), Error);
  EXPECT_THROW(FilterBank::Map(first_), Error);
}

TEST_F(ShardsTest, FilesOf_AFolder_NamesTheFirstShardOnly) {
  Sample(1).Save(first_, {.shard_bytes = kShardUnit});
  EXPECT_EQ(FilesOf({folder_.path()}, {".tamis", ".tamis.0000"}), std::vector<fs::path>{first_});
}

// A split-block filter of 200 GiB in four sparse shards, which has a key in the last block before
// and in the first block after each border.
TEST_F(ShardsTest, SparseShardsOf200GiB_AreMapped) {
  constexpr uint64_t kShardBytes = uint64_t{64} << 30;
  constexpr uint64_t kPayload = uint64_t{200} << 30;
  constexpr uint64_t kBlocks = kPayload / sb::kBlockBytes;
  FileHeader header;
  header.version = FileHeader::kVersionOfManyBlocks;
  header.geometry = {kBlocks, 0, 0};
  header.capacity = 1;
  header.payload_bytes = kPayload;
  const detail::Extent extent{header};
  std::vector<uint64_t> blocks = {0, kBlocks - 1};
  for (uint64_t border = kShardBytes; border < kPayload; border += kShardBytes) {
    const uint64_t after = (border - extent.payload_at()) / sb::kBlockBytes;
    blocks.insert(blocks.end(), {after - 1, after});
  }
  ASSERT_EQ(blocks.size(), 8u);

  const auto write = [&](uint64_t at, const void* bytes, size_t n) {
    std::fstream file(Shard(at / kShardBytes), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at % kShardBytes));
    file.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(n));
    ASSERT_TRUE(file.flush());
  };
  for (uint64_t at = 0, i = 0; at < extent.end(); at += kShardBytes, ++i) {
    WriteBytes(Shard(i), {});
    if (!test_os::AppendHole(Shard(i), std::min(kShardBytes, extent.end() - at))) {
      GTEST_SKIP() << "no files with holes of this size";
    }
  }
  std::vector<std::byte> page(detail::kPageBytes);
  std::vector<uint64_t> table(detail::NumPages(kPayload), detail::PageTable(page)[0]);
  std::vector<uint64_t> hashes;
  std::map<uint64_t, std::vector<std::byte>> pages;
  for (const uint64_t block : blocks) {
    const uint64_t at = block * sb::kBlockBytes;
    std::vector<std::byte>& touched =
        pages.try_emplace(at / detail::kPageBytes, page).first->second;
    // The smallest hash of the block, with random low bits.
    hashes.push_back(static_cast<uint64_t>(
        ((static_cast<unsigned __int128>(block) << 64) + kBlocks - 1) / kBlocks));
    hashes.back() += Mix(block) % (UINT64_MAX / kBlocks - 1);
    ASSERT_EQ(sb::BlockIndex(hashes.back(), kBlocks), block);
    uint32_t words[sb::kWords] = {};
    sb::BlockInsert(words, hashes.back());
    std::memcpy(touched.data() + at % detail::kPageBytes, words, sizeof(words));
    write(extent.payload_at() + at, words, sizeof(words));
  }
  for (const auto& [index, bytes] : pages) table[index] = detail::PageTable(bytes)[0];
  write(extent.pages_at(), table.data(), table.size() * sizeof(uint64_t));
  header.payload_checksum = detail::TableChecksum(table);
  header.inserted = hashes.size();
  const std::vector<std::byte> start = detail::EncodeHeader(header);
  write(0, start.data(), start.size());

  const SplitBlockBloomFilter filter = SplitBlockBloomFilter::Map(first_);
  EXPECT_EQ(filter.num_blocks(), kBlocks);
  EXPECT_EQ(filter.Count(Hashes{hashes}), hashes.size());
  for (uint64_t& hash : hashes) hash ^= 1u << 30;  // chooses eight other bits
  EXPECT_EQ(filter.Count(Hashes{hashes}), 0u);
  ASSERT_TRUE(test_os::Resize(Shard(1), kShardBytes - 32));
  ExpectFormatError([&] { SplitBlockBloomFilter::Map(first_); }, "shard length", kShardBytes - 32);
}

}  // namespace tamis::shards_test
