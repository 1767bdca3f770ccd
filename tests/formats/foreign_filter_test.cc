// Filters by the names of their formats, and files that state their format.
#include "tamis/formats/foreign_filter.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tamis/error.h"
#include "tamis/filters/any_filter.h"
#include "tamis/formats/guava.h"
#include "tests/core/file_test_util.h"
#include "tests/formats/guava_test_keys.h"
#include "tests/formats/kudu_test_keys.h"
#include "tests/test_util.h"

namespace tamis::foreign_filter_test {

std::filesystem::path GuavaFile(const std::string& name) {
  return std::filesystem::path(TAMIS_GOLDEN_DIR) / "guava" / (name + "_mitz64.guava");
}

std::span<const std::byte> AsBytes(const Bytes& bytes) { return std::as_bytes(std::span(bytes)); }

// The golden files of a library.
struct Files {
  std::string folder, first, extension;
};
const std::map<std::string, Files> kFiles = {{"dcso", {"dcso", "", ".bloom"}},
                                             {"guava", {"guava", "", ".guava"}},
                                             {"kudu", {"kudu", "", ".kudu"}},
                                             {"milvus", {"milvus", "", ".mbf1"}},
                                             {"redisbloom", {"redis_bloom", "bf_", ".dump"}},
                                             {"redisbloom-cf", {"redis_bloom", "cf_", ".dump"}},
                                             {"spark", {"spark", "", ".spark"}}};

Bytes Written(const ForeignFilter& filter) {
  const std::vector<std::byte> bytes = filter.ToBytes();
  EXPECT_EQ(bytes.size(), filter.serialized_bytes());
  Bytes chars(bytes.size());
  std::memcpy(chars.data(), bytes.data(), bytes.size());
  return chars;
}

TEST(ForeignFilterTest, NamesAreSortedAndDiffer) {
  std::set<std::string> names;
  std::string last;
  for (const ForeignFormat& format : ForeignFormats()) {
    EXPECT_LT(last, format.name);
    EXPECT_LE(std::strlen(format.name), 31u);
    EXPECT_NE(format.what[0], '\0');
    last = format.name;
  }
}

TEST(ForeignFilterTest, ImportedFilesAnswerAndGiveBackTheSameBytes) {
  const TemporaryFolder folder;
  for (const GuavaFunnel funnel : kGuavaFunnels) {
    const std::string name = GuavaFunnelName(funnel);
    SCOPED_TRACE(name);
    const std::filesystem::path golden = GuavaFile(name);
    const std::string format = "guava:" + name;
    const ForeignFilter loaded = ForeignFilter::Load(golden, format);
    EXPECT_EQ(loaded.format().name, format);
    const std::filesystem::path path = folder.path() / name;
    EXPECT_FALSE(ForeignFilter::IsImported(golden));
    loaded.SaveImported(path);
    EXPECT_TRUE(ForeignFilter::IsImported(path));
    const ForeignFilter opened = ForeignFilter::Open(path);
    EXPECT_EQ(opened.format().name, format);
    EXPECT_EQ(Written(opened), ReadBytes(golden));
    const std::filesystem::path exported = folder.path() / (name + ".guava");
    opened.Save(exported);
    EXPECT_EQ(ReadBytes(exported), ReadBytes(golden));

    // The class itself gives the same answers.
    const auto guava = GuavaBloomFilter::Load(golden, funnel);
    const GuavaTestKeys keys(funnel, 3000);
    std::vector<uint64_t> mine(BitmapWords(3000)), theirs(mine.size());
    const size_t found = guava.Contains(keys.keys(), Bitmap(theirs));
    EXPECT_EQ(opened.Contains(keys.keys(), Bitmap(mine)), found);
    EXPECT_EQ(mine, theirs);
    std::vector<uint64_t> rows(3000);
    EXPECT_EQ(opened.Select(keys.keys(), rows), found);
    EXPECT_EQ(opened.Count(keys.keys()), found);
    EXPECT_EQ(opened.bytes(), guava.bytes());
    EXPECT_EQ(opened.expected_fpr(), guava.expected_fpr());
    EXPECT_EQ(opened.estimated_count(), guava.estimated_count());
  }
}

// Opens golden files in each format, and saves and opens them as imported files.
TEST(ForeignFilterTest, EveryFormatIsOpened) {
  const TemporaryFolder folder;
  const std::filesystem::path golden = TAMIS_GOLDEN_DIR;
  for (const ForeignFormat& format : ForeignFormats()) {
    const std::string name = format.name;
    SCOPED_TRACE(name);
    const Files& files = kFiles.at(name.substr(0, name.find(':')));
    size_t opened = 0;
    for (const auto& entry : std::filesystem::directory_iterator(golden / files.folder)) {
      const std::string file = entry.path().filename().string();
      if (!file.starts_with(files.first) || !file.ends_with(files.extension)) continue;
      const Bytes bytes = ReadBytes(entry.path());
      const ForeignFilter filter = ForeignFilter::FromBytes(AsBytes(bytes), name);
      ++opened;
      const std::filesystem::path path = folder.path() / entry.path().filename();
      filter.SaveImported(path);
      const ForeignFilter again = ForeignFilter::Open(path);
      EXPECT_EQ(again.format().name, name);
      EXPECT_EQ(Written(again), bytes) << entry.path();
      EXPECT_GE(filter.expected_fpr(), 0);
      EXPECT_LE(filter.expected_fpr(), 1);
      EXPECT_GE(filter.estimated_count(), 0);
      EXPECT_GT(filter.bytes(), 0u);
      // A batch of another key type is refused before its keys are read.
      const uint64_t integer = 1;
      const std::string text = "text";
      const bool integers = format.key_types.Has(KeyType::kInteger);
      const bool strings = format.key_types.Has(KeyType::kBytes);
      if (integers) filter.Count(Keys(std::span(&integer, 1)));
      if (strings) filter.Count(Keys(std::span(&text, 1)));
      if (!integers) {
        ExpectError([&] { filter.Count(Keys(std::span(&integer, 1))); },
                    ErrorCode::kInvalidArgument, "text, but the keys of this call are integers");
      }
      if (!strings) {
        ExpectError([&] { filter.Count(Keys(std::span(&text, 1))); }, ErrorCode::kInvalidArgument,
                    "integers, but the keys of this call are text");
      }
    }
    EXPECT_GT(opened, 0u);
  }
}

// A golden file of each format, with all functions.
TEST(ForeignFilterTest, GoldenFilesOfFormats) {
  const TemporaryFolder folder;
  const std::filesystem::path golden = TAMIS_GOLDEN_DIR;
  std::vector<std::pair<std::string, std::filesystem::path>> files;
  for (const GuavaFunnel funnel : kGuavaFunnels) {
    const std::string name = GuavaFunnelName(funnel);
    files.emplace_back("guava:" + name, GuavaFile(name));
  }
  for (const KuduType type : kKuduTypes) {
    const std::string name = KuduTypeName(type);
    files.emplace_back("kudu:" + name, golden / "kudu" / (name + ".kudu"));
  }
  for (const std::string name : {"int64", "utf8"}) {
    files.emplace_back("milvus:" + name, golden / "milvus" / (name + ".mbf1"));
  }
  for (const auto& [format, file] : files) {
    SCOPED_TRACE(format);
    const ForeignFilter loaded = ForeignFilter::Load(file, format);
    EXPECT_EQ(Written(loaded), ReadBytes(file));
    const std::filesystem::path path = folder.path() / "imported";
    loaded.SaveImported(path);
    ForeignFilter opened = ForeignFilter::Open(path);
    EXPECT_EQ(opened.format().name, format);
    opened.Save(folder.path() / "exported");
    EXPECT_EQ(ReadBytes(folder.path() / "exported"), ReadBytes(file));
    opened.Merge(loaded);
    EXPECT_EQ(Written(opened), ReadBytes(file));
    EXPECT_GT(opened.estimated_count(), 10);
    const std::vector<uint64_t> integers = {1, 2, 100};
    const std::vector<std::string> strings = {"1", "2", "a string"};
    const Keys keys =
        opened.format().key_types.Has(KeyType::kInteger) ? Keys(integers) : Keys(strings);
    const Keys others =
        opened.format().key_types.Has(KeyType::kInteger) ? Keys(strings) : Keys(integers);
    opened.Insert(keys);
    EXPECT_EQ(opened.Count(keys), 3u);
    std::vector<uint64_t> bits(1), rows(3);
    EXPECT_EQ(opened.InsertIfAbsent(keys, Bitmap(bits)), 0u);
    std::vector<uint8_t> bytes(3);
    EXPECT_EQ(opened.Contains(keys, Bitmap(bits)), 3u);
    EXPECT_EQ(opened.Contains(keys, std::span(bytes)), 3u);
    EXPECT_EQ(opened.Select(keys, std::span(rows)), 3u);
    ExpectError([&] { opened.Count(others); }, ErrorCode::kInvalidArgument,
                "but the keys of this call are");
    ExpectError([&] { opened.Insert(others); }, ErrorCode::kInvalidArgument,
                "but the keys of this call are");
  }
}

// A set of Milvus answers "no" to keys of a domain that it lacks, until one is inserted.
TEST(ForeignFilterTest, DomainsOfMilvus) {
  const std::filesystem::path file =
      std::filesystem::path(TAMIS_GOLDEN_DIR) / "milvus" / "int64.mbf1";
  // The text with the bytes of an inserted integer.
  const uint64_t integer = Mix(3);
  const std::vector<std::string> text = {
      std::string(reinterpret_cast<const char*>(&integer), sizeof(integer))};
  ForeignFilter filter = ForeignFilter::Load(file, "milvus:utf8");
  std::vector<uint64_t> bits(1, ~uint64_t{0}), rows(1);
  std::vector<uint8_t> bytes(1, 7);
  EXPECT_EQ(filter.Count(text), 0u);
  EXPECT_EQ(filter.Contains(text, Bitmap(bits)), 0u);
  EXPECT_EQ(filter.Contains(text, std::span(bytes)), 0u);
  EXPECT_EQ(filter.Select(text, std::span(rows)), 0u);
  EXPECT_EQ(bits[0], 0u);
  EXPECT_EQ(bytes[0], 0);
  EXPECT_EQ(ForeignFilter::Load(file, "milvus:int64").Count(std::vector<uint64_t>{integer}), 1u);
  EXPECT_EQ(filter.Insert(std::vector<std::string>{}), 0u);
  EXPECT_EQ(Written(filter), ReadBytes(file));
  filter.Insert(text);
  EXPECT_EQ(filter.Count(text), 1u);
  EXPECT_EQ(Written(filter)[28], 3);
}

TEST(ForeignFilterTest, TheUnionEqualsTheClasses) {
  GuavaBloomFilter odd(GuavaFunnel::kLong, {.capacity = 100});
  GuavaBloomFilter even(GuavaFunnel::kLong, {.capacity = 100});
  for (uint64_t i = 0; i < 100; ++i) (i % 2 == 0 ? even : odd).Insert(i);
  ForeignFilter merged = ForeignFilter::FromBytes(odd.ToBytes(), "guava:long");
  merged.Merge(ForeignFilter::FromBytes(even.ToBytes(), "guava:long"));
  odd.Merge(even);
  EXPECT_EQ(merged.ToBytes(), odd.ToBytes());

  const ForeignFilter text = ForeignFilter::FromBytes(even.ToBytes(), "guava:utf8");
  ExpectError([&] { merged.Merge(text); }, ErrorCode::kIncompatible, "guava:utf8");
  const GuavaBloomFilter large(GuavaFunnel::kLong, {.capacity = 10'000});
  const ForeignFilter other = ForeignFilter::FromBytes(large.ToBytes(), "guava:long");
  ExpectError([&] { merged.Merge(other); }, ErrorCode::kIncompatible, "numbers of");
  EXPECT_EQ(merged.ToBytes(), odd.ToBytes());
}

TEST(ForeignFilterTest, MovedFrom) {
  ForeignFilter from = ForeignFilter::Load(GuavaFile("long"), "guava:long");
  ForeignFilter to = std::move(from);
  const std::vector<uint64_t> keys = {1};
  EXPECT_EQ(from.format().name, to.format().name);
  EXPECT_EQ(from.bytes() + from.serialized_bytes(), 0u);
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "none";
  std::vector<uint64_t> rows(1);
  std::vector<uint8_t> bytes(1);
  const auto refused = [](const auto& act) {
    ExpectError(act, ErrorCode::kReadOnly, "was moved from");
  };
  refused([&] { from.Count(keys); });
  refused([&] { from.Contains(keys, Bitmap(rows)); });
  refused([&] { from.Contains(keys, std::span(bytes)); });
  refused([&] { from.Select(keys, rows); });
  refused([&] { from.Insert(keys); });
  refused([&] { from.Merge(to); });
  refused([&] { to.Merge(from); });
  refused([&] { from.estimated_count(); });
  refused([&] { from.expected_fpr(); });
  refused([&] { from.ToBytes(); });
  refused([&] { from.Save(path); });
  refused([&] { from.SaveImported(path); });
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(Written(to), ReadBytes(GuavaFile("long")));
  from = std::move(to);
  EXPECT_EQ(Written(from), ReadBytes(GuavaFile("long")));
}

TEST(ForeignFilterTest, UnknownNamesAreErrorsThatListTheKnownOnes) {
  for (const char* name : {"", "guava", "guava:", "guava:utf88", "GUAVA:LONG", "tamis"}) {
    ExpectError([&] { ForeignFilter::Load(GuavaFile("long"), name); }, ErrorCode::kInvalidArgument,
                "guava:utf8");
  }
  ExpectError([&] { ForeignFilter::FromBytes({}, "guava:long"); }, ErrorCode::kCorrupt,
              "file length");
}

TEST(ForeignFilterTest, FiltersOfTamisAndForeignOnesAreNotMixedUp) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "imported";
  ForeignFilter::Load(GuavaFile("long"), "guava:long").SaveImported(path);
  ExpectError([&] { Load(path); }, ErrorCode::kUnsupported, "imported filter");
  const std::filesystem::path own =
      std::filesystem::path(TAMIS_GOLDEN_DIR) / "split_block_v2_empty.tamis";
  EXPECT_FALSE(ForeignFilter::IsImported(own));
  ExpectError([&] { ForeignFilter::Open(own); }, ErrorCode::kCorrupt, "magic");
  ExpectError([&] { ForeignFilter::Open(folder.path() / "none"); }, ErrorCode::kIo, "none");
  ExpectError([&] { ForeignFilter::IsImported(folder.path()); }, ErrorCode::kIo, "");
}

// A checksum covers every bit, and every length is compared.
TEST(ForeignFilterTest, DamageIsAnError) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "imported";
  ForeignFilter::Load(GuavaFile("utf8"), "guava:utf8").SaveImported(path);
  const Bytes whole = ReadBytes(path);
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    Bytes bytes = whole;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    WriteBytes(path, bytes);
    EXPECT_THROW(ForeignFilter::Open(path), FormatError) << bit;
  }
  for (size_t n = 0; n < whole.size(); ++n) {
    WriteBytes(path, Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(n)));
    EXPECT_THROW(ForeignFilter::Open(path), FormatError) << n;
  }
  Bytes longer = whole;
  longer.push_back(0);
  WriteBytes(path, longer);
  EXPECT_THROW(ForeignFilter::Open(path), FormatError);
  WriteBytes(path, whole);
  EXPECT_EQ(Written(ForeignFilter::Open(path)), ReadBytes(GuavaFile("utf8")));
}

// A truncated file is still an imported file. The error is about its length.
TEST(ForeignFilterTest, TheMagicAloneMakesAnImportedFile) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "imported";
  ForeignFilter::Load(GuavaFile("utf8"), "guava:utf8").SaveImported(path);
  const Bytes whole = ReadBytes(path);
  for (const ptrdiff_t n : {0, 7, 8, 63, 64, 79}) {
    WriteBytes(path, Bytes(whole.begin(), whole.begin() + n));
    EXPECT_EQ(ForeignFilter::IsImported(path), n >= 8) << n;
    ExpectError([&] { ForeignFilter::Open(path); }, ErrorCode::kCorrupt, "file length");
  }
}

// An imported file with correct checksums can contain a stream that is invalid in its format. The
// error then contains the file's name and the offset in the file.
TEST(ForeignFilterTest, AStreamThatIsNotOfItsFormat) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "imported";
  ForeignFilter::Load(GuavaFile("utf8"), "guava:utf8").SaveImported(path);
  const Bytes whole = ReadBytes(path);
  Bytes stream(whole.begin() + 64, whole.end() - 16);
  stream[1] = 0;  // hashes
  const XXH128_hash_t sum = XXH3_128bits(stream.data(), stream.size());
  Bytes lying(whole.begin(), whole.begin() + 64);
  lying.insert(lying.end(), stream.begin(), stream.end());
  for (const uint64_t half : {sum.low64, sum.high64}) {
    const auto* const bytes = reinterpret_cast<const char*>(&half);
    lying.insert(lying.end(), bytes, bytes + sizeof(half));
  }
  WriteBytes(path, lying);
  try {
    ForeignFilter::Open(path);
    ADD_FAILURE() << "opened";
  } catch (const FormatError& error) {
    EXPECT_EQ(error.check(), "hashes");
    EXPECT_EQ(error.offset(), 65u);
    EXPECT_EQ(error.what(), path.string() + ": hashes at offset 65: is 0, allowed: [1, 255]");
  }
}

}  // namespace tamis::foreign_filter_test
