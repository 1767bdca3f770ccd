// Filters in files, and in bytes of files in memory.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "tamis/file/file_checks.h"
#include "tamis/filters/filter_kinds.h"
#include "tamis/filters/serialize.h"
#include "tests/c/c_test_util.h"
#include "tests/core/file_test_util.h"
#include "tests/test_util.h"

namespace tamis::file_test {

class CFileTest : public FileTest {
 protected:
  std::string Path(const char* name) const {
    const std::u8string folder = folder_.path().u8string();
    return std::string(folder.begin(), folder.end()) + "/" + name;
  }

  const std::vector<uint64_t> numbers_ = RandomKeys(1000, /*seed=*/1);
  const tamis_keys keys_ = tamis_keys_u64(numbers_.data(), numbers_.size());
};

TEST_F(CFileTest, EachReadsTheOthersFiles) {
  for (const FilterKindInfo& info : FilterKinds()) {
    if (!info.is_plain()) continue;
    SCOPED_TRACE(info.name);
    const CFilter c = MakeC(static_cast<uint32_t>(info.kind), 1000);
    ASSERT_EQ(tamis_filter_insert(c.get(), nullptr, &keys_, nullptr, nullptr, 0), TAMIS_OK);
    const AnyFilter cpp = MakeFilter(info.kind, {.capacity = 1000});
    RequireChangeable(*cpp).Insert(numbers_);
    ASSERT_EQ(tamis_filter_save(c.get(), Path("c").c_str(), nullptr), TAMIS_OK);
    cpp->Save(Path("cpp"));
    EXPECT_EQ(ReadBytes(Path("c")), ReadBytes(Path("cpp")));
    EXPECT_EQ(Load(Path("c"))->Count(numbers_), 1000u);
    const CFilter opened = Made<tamis_filter>(tamis_filter_open, Path("cpp").c_str(), nullptr);
    EXPECT_EQ(SerializedC(opened.get()), Serialize(*cpp));
    const CFilter mapped = Mapped(Path("cpp"));
    EXPECT_EQ(SerializedC(mapped.get()), Serialize(*cpp));
    auto info_out = TAMIS_INIT(tamis_filter_info);
    ASSERT_EQ(tamis_filter_get_info(mapped.get(), &info_out), TAMIS_OK);
    EXPECT_EQ(info_out.read_only, 1u);
  }
}

TEST_F(CFileTest, AMappedFilterCannotBeChanged) {
  for (const uint32_t kind : {TAMIS_CUCKOO16, TAMIS_COUNTING}) {
    const CFilter filter = MakeC(kind, 1000);
    ASSERT_EQ(tamis_filter_save(filter.get(), Path("f").c_str(), nullptr), TAMIS_OK);
    const CFilter mapped = Mapped(Path("f"));
    tamis_filter* const f = mapped.get();
    uint64_t words[16];
    EXPECT_EQ(tamis_filter_insert(f, nullptr, &keys_, nullptr, nullptr, 0), TAMIS_READ_ONLY);
    EXPECT_EQ(tamis_filter_insert_if_absent(f, nullptr, &keys_, words, nullptr, 16, nullptr),
              TAMIS_READ_ONLY);
    EXPECT_EQ(tamis_filter_erase(f, nullptr, &keys_, nullptr, nullptr, 0), TAMIS_READ_ONLY);
    EXPECT_EQ(tamis_filter_clear(f), TAMIS_READ_ONLY);
    EXPECT_EQ(tamis_filter_insert_u64(f, 1), -TAMIS_READ_ONLY);
    EXPECT_EQ(tamis_filter_insert_string(f, "a", 1), -TAMIS_READ_ONLY);
    EXPECT_EQ(tamis_filter_insert_hash(f, 1), -TAMIS_READ_ONLY);
    EXPECT_EQ(tamis_filter_insert_if_absent_u64(f, 1), -TAMIS_READ_ONLY);
    EXPECT_EQ(tamis_filter_erase_u64(f, 1), -TAMIS_READ_ONLY);
    if (kind == TAMIS_COUNTING) {
      EXPECT_EQ(tamis_filter_merge(f, filter.get()), TAMIS_READ_ONLY);
    }
  }
}

TEST_F(CFileTest, FilesThatCannotBeReadOrWritten) {
  tamis_filter* out = nullptr;
  const tamis_open_options map = Mapping();
  ExpectStatus(tamis_filter_open(Path("none").c_str(), nullptr, &out), TAMIS_IO, "none");
  ExpectStatus(tamis_filter_open("", nullptr, &out), TAMIS_IO, "");
  ExpectStatus(tamis_filter_open(Path(".").c_str(), &map, &out), TAMIS_IO, "directory");
  // The message has room for a long path, and is still terminated.
  const std::string long_path = Path(std::string(100'000, 'x').c_str());
  EXPECT_EQ(tamis_filter_open(long_path.c_str(), nullptr, &out), TAMIS_IO);
  EXPECT_EQ(std::strlen(tamis_last_error()), size_t{5 * 1024 - 1});
  const CFilter filter = MakeC(TAMIS_BLOOM, 1000);
  ExpectStatus(tamis_filter_save(filter.get(), Path("no/such/folder").c_str(), nullptr), TAMIS_IO,
               "no/such");
  WriteBytes(Path("bad"), Bytes(500, 'x'));
  ExpectStatus(tamis_filter_open(Path("bad").c_str(), nullptr, &out), TAMIS_CORRUPT, "magic");
  ExpectStatus(tamis_filter_open(Path("bad").c_str(), &map, &out), TAMIS_CORRUPT, "magic");
  EXPECT_EQ(out, nullptr);
}

TEST_F(CFileTest, SaveOptions) {
  const CFilter filter = MakeC(TAMIS_BLOOM, 1000);
  auto options = TAMIS_INIT(tamis_save_options);
  options.version = 1;
  ASSERT_EQ(tamis_filter_save(filter.get(), Path("f").c_str(), &options), TAMIS_OK);
  EXPECT_EQ(ReadHeader(Path("f")).version, 1u);
  options.version = 3;
  EXPECT_EQ(tamis_filter_save(filter.get(), Path("f").c_str(), &options), TAMIS_INVALID_ARGUMENT);
  options = TAMIS_INIT(tamis_save_options);
  options.with_secret = 1;
  ExpectStatus(tamis_filter_save(filter.get(), Path("f").c_str(), &options), TAMIS_INVALID_ARGUMENT,
               "no secret");
  options.with_secret = 2;
  ExpectStatus(tamis_filter_save(filter.get(), Path("f").c_str(), &options), TAMIS_INVALID_ARGUMENT,
               "with_secret");
  options = TAMIS_INIT(tamis_save_options);
  options.imported = 1;
  ExpectStatus(tamis_filter_save(filter.get(), Path("f").c_str(), &options), TAMIS_INVALID_ARGUMENT,
               "other libraries");
  const tamis_bank_options* const defaults = nullptr;
  const CBank bank = Made<tamis_bank>(tamis_bank_create, defaults);
  ExpectStatus(tamis_bank_save(bank.get(), Path("b").c_str(), &options), TAMIS_INVALID_ARGUMENT,
               "other libraries");
}

TEST_F(CFileTest, Save_InShards_IsTheWholeFile) {
  const CFilter filter = MakeC(TAMIS_BLOOM, 500'000);
  ASSERT_EQ(tamis_filter_insert(filter.get(), nullptr, &keys_, nullptr, nullptr, 0), TAMIS_OK);
  const tamis_bank_options* const defaults = nullptr;
  const CBank bank = Made<tamis_bank>(tamis_bank_create, defaults);
  ASSERT_EQ(tamis_bank_add_keys(bank.get(), nullptr, "a", 1, &keys_), TAMIS_OK);
  auto options = TAMIS_INIT(tamis_save_options);
  options.shard_bytes = 65'536;
  const auto expect_shards =
      [&](const char* name,
          const std::function<tamis_status(const char*, const tamis_save_options*)>& save) {
        const std::string whole = Path(name), first = whole + ".0000";
        ASSERT_EQ(save(whole.c_str(), nullptr), TAMIS_OK);
        ExpectStatus(save(whole.c_str(), &options), TAMIS_INVALID_ARGUMENT, "NAME.0000");
        ASSERT_EQ(save(first.c_str(), &options), TAMIS_OK) << tamis_last_error();
        ExpectStatus(save(first.c_str(), &options), TAMIS_BUSY, "it exists");
        Bytes joined;
        for (const auto& shard : ShardsOf(first)) {
          const Bytes bytes = ReadBytes(shard);
          EXPECT_LE(bytes.size(), 65'536u);
          joined.insert(joined.end(), bytes.begin(), bytes.end());
        }
        EXPECT_TRUE(joined == ReadBytes(whole));
        // A program that was compiled before there were shards.
        auto old = TAMIS_INIT(tamis_save_options);
        old.struct_bytes = offsetof(tamis_save_options, shard_bytes);
        old.shard_bytes = 1;  // not a part of its structure
        EXPECT_EQ(save(whole.c_str(), &old), TAMIS_OK) << tamis_last_error();
      };
  expect_shards("f", [&](const char* path, const tamis_save_options* save) {
    return tamis_filter_save(filter.get(), path, save);
  });
  expect_shards("b", [&](const char* path, const tamis_save_options* save) {
    return tamis_bank_save(bank.get(), path, save);
  });
  tamis_filter* opened = nullptr;
  ASSERT_EQ(tamis_filter_open(Path("f.0000").c_str(), nullptr, &opened), TAMIS_OK);
  EXPECT_EQ(SerializedC(CFilter(opened).get()), SerializedC(filter.get()));
}

TEST_F(CFileTest, SecretsOfKeyedHashes) {
  tamis_hash hash{};
  ASSERT_EQ(tamis_hash_random(TAMIS_HASH_SIPHASH13, &hash), TAMIS_OK);
  EXPECT_NE(hash.secret_low | hash.secret_high, 0u);
  EXPECT_EQ(hash.seed, 0u);
  const CFilter filter = MakeC(TAMIS_SPLIT_BLOCK, 1000, hash);
  ASSERT_EQ(tamis_filter_insert(filter.get(), nullptr, &keys_, nullptr, nullptr, 0), TAMIS_OK);
  ASSERT_EQ(tamis_filter_save(filter.get(), Path("f").c_str(), nullptr), TAMIS_OK);
  tamis_filter* out = nullptr;
  ExpectStatus(tamis_filter_open(Path("f").c_str(), nullptr, &out), TAMIS_SECRET, "secret");
  auto options = TAMIS_INIT(tamis_open_options);
  options.has_secret = 1;
  options.secret_low = hash.secret_low;
  options.secret_high = hash.secret_high + 1;
  EXPECT_EQ(tamis_filter_open(Path("f").c_str(), &options, &out), TAMIS_SECRET);
  EXPECT_EQ(out, nullptr);
  options.secret_high = hash.secret_high;
  const CFilter opened = Made<tamis_filter>(tamis_filter_open, Path("f").c_str(), &options);
  uint64_t hits = 0;
  ASSERT_EQ(tamis_filter_count(opened.get(), nullptr, &keys_, &hits), TAMIS_OK);
  EXPECT_EQ(hits, 1000u);
  tamis_hash seeded{};
  ASSERT_EQ(tamis_hash_random(0, &seeded), TAMIS_OK);
  EXPECT_EQ(seeded.kind, uint32_t{TAMIS_HASH_XXH3});
  EXPECT_EQ(seeded.secret_low, 0u);
}

TEST_F(CFileTest, BytesInMemory) {
  const CFilter filter = MakeC(TAMIS_CUCKOO12, 1000);
  ASSERT_EQ(tamis_filter_insert(filter.get(), nullptr, &keys_, nullptr, nullptr, 0), TAMIS_OK);
  const std::vector<std::byte> bytes = SerializedC(filter.get());
  const CFilter copy =
      Made<tamis_filter>(tamis_filter_open_memory, bytes.data(), uint64_t{bytes.size()}, nullptr);
  EXPECT_EQ(SerializedC(copy.get()), bytes);

  auto aligned = GuardedArray<std::byte>::Output((bytes.size() + 63) / 64 * 64, 0);
  std::memcpy(aligned.data(), bytes.data(), bytes.size());
  tamis_open_options options = Mapping();
  options.verify = 1;
  const CFilter mapped = Made<tamis_filter>(tamis_filter_open_memory, aligned.data(),
                                            uint64_t{bytes.size()}, &options);
  const void* payload = nullptr;
  uint64_t size = 0;
  ASSERT_EQ(tamis_filter_payload(mapped.get(), &payload, &size), TAMIS_OK);
  EXPECT_EQ(payload, aligned.data() + 192) << "was copied";
  uint64_t hits = 0;
  ASSERT_EQ(tamis_filter_count(mapped.get(), nullptr, &keys_, &hits), TAMIS_OK);
  EXPECT_EQ(hits, 1000u);

  tamis_filter* out = nullptr;
  std::vector<std::byte> room(bytes.size() + 8);
  uint64_t written = 77;
  ExpectStatus(
      tamis_filter_serialize(filter.get(), nullptr, room.data(), bytes.size() - 1, &written),
      TAMIS_INVALID_ARGUMENT, "room for");
  EXPECT_EQ(written, 77u);
  EXPECT_EQ(room[0], std::byte{0});
  ExpectStatus(tamis_filter_open_memory(nullptr, 0, nullptr, &out), TAMIS_CORRUPT, "length");
  ExpectStatus(tamis_filter_open_memory(bytes.data(), ~uint64_t{0}, nullptr, &out),
               TAMIS_INVALID_ARGUMENT, "any memory");
  ExpectStatus(tamis_filter_open_memory(bytes.data(), bytes.size() - 1, nullptr, &out),
               TAMIS_CORRUPT, "length");
  std::memcpy(room.data() + 1, bytes.data(), bytes.size());
  ExpectStatus(tamis_filter_open_memory(room.data() + 1, bytes.size(), &options, &out),
               TAMIS_INVALID_ARGUMENT, "multiple of 64");
  const CFilter moved = Made<tamis_filter>(tamis_filter_open_memory, room.data() + 1,
                                           uint64_t{bytes.size()}, nullptr);
  EXPECT_EQ(SerializedC(moved.get()), bytes);
  room[500] ^= std::byte{1};
  ExpectStatus(tamis_filter_open_memory(room.data() + 1, bytes.size(), nullptr, &out),
               TAMIS_CORRUPT, "checksum");
  EXPECT_EQ(out, nullptr);
}

// On Windows the process may have any narrow encoding.
TEST_F(CFileTest, PathsAreUtf8WhereSystemsHaveWideCharacters) {
  const CFilter filter = MakeC(TAMIS_BLOOM, 10);
  const std::string path = Path("\xce\xba\xcf\x8c\xcf\x83\xce\xba\xce\xb9\xce\xbd\xce\xbf");
  ASSERT_EQ(tamis_filter_save(filter.get(), path.c_str(), nullptr), TAMIS_OK) << tamis_last_error();
  EXPECT_TRUE(
      std::filesystem::exists(folder_.path() / u8"\u03ba\u03cc\u03c3\u03ba\u03b9\u03bd\u03bf"));
  EXPECT_NE(Made<tamis_filter>(tamis_filter_open, path.c_str(), nullptr), nullptr);
  tamis_filter* none = nullptr;
  const bool wide = !std::is_same_v<std::filesystem::path::value_type, char>;
  ExpectStatus(tamis_filter_open(Path("\xff\xfe").c_str(), nullptr, &none),
               wide ? TAMIS_INVALID_ARGUMENT : TAMIS_IO, wide ? "not UTF-8" : "cannot open");
}

}  // namespace tamis::file_test
