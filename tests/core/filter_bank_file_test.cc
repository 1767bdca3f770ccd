// Filter banks in files: they are read back unchanged, and all damage is detected.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tamis/bank/filter_bank.h"
#include "tamis/file/file_checks.h"
#include "tamis/filters/any_filter.h"
#include "tamis/hash_kinds.h"
#include "tests/core/file_parts.h"
#include "tests/core/file_test_util.h"
#include "tests/core/filter_bank_test_util.h"

namespace tamis::filter_bank_file_test {

class FilterBankFileTest : public FileTest {
 protected:
  const std::filesystem::path path_ = folder_ / "test.bank";

  // Expects the same error from every way to open the file. If `rows` is true, only functions that
  // verify rows detect it.
  void ExpectRefused(const Bytes& file, const std::string& check, uint64_t at, bool rows = false,
                     ErrorCode code = ErrorCode::kCorrupt) {
    WriteBytes(path_, file);
    ExpectFormatError([&] { FilterBank::Load(path_); }, check, at, code);
    ExpectFormatError([&] { FilterBank::Map(path_, {.verify = Verify::kFull}); }, check, at, code);
    if (rows) {
      EXPECT_NO_THROW(FilterBank::Map(path_));
    } else {
      ExpectFormatError([&] { FilterBank::Map(path_); }, check, at, code);
    }
  }

  // Returns a file of three members, one of them removed, in two groups of one block each.
  Bytes SmallFile() {
    Random random(/*seed=*/1);
    FilterBank bank;
    bank.Add("a", RandomFilter(1, random));
    bank.Add("removed", RandomFilter(1, random));
    bank.Add("some longer name", RandomFilter(2, random));
    bank.Flush();
    bank.Remove("removed");
    bank.Save(path_);
    return ReadBytes(path_);
  }
};

// The fields and checksums of a bank in core/FORMAT.md.
constexpr uint64_t kPayloadAt = 16384;
uint64_t TablesAt(const Bytes& file) { return kPayloadAt + GetField<uint64_t>(file, 80); }
uint64_t DirectoryAt(const Bytes& file) {
  return TablesAt(file) + GetField<uint64_t>(file, 80) / 16384 * 8;
}
void Seal(Bytes& file, bool tables = true) {
  if (tables) {
    const uint64_t at = TablesAt(file);
    const XXH128_hash_t checksum = XXH3_128bits(file.data() + at, file.size() - at);
    SetField(file, 88, checksum.low64);
    SetField(file, 96, checksum.high64);
  }
  SetField(file, 184, XXH3_64bits(file.data(), 184));
}

TEST_F(FilterBankFileTest, IsTheSameBankAgain) {
  for (const HashKind kind : {HashKind::kXxh3, HashKind::kSipHash13}) {
    Random random(/*seed=*/2);
    const HashSpec hash = HashOf(kind, 5);
    BankModel model({.fpr = 0.001, .hash = hash});
    model.AddMany(800, random);
    model.RemoveSome(random);
    model.bank().Save(path_);
    const bool keyed = IsKeyed(kind);
    const auto secret = keyed ? std::optional(hash.secret) : std::nullopt;
    FilterBank loaded = FilterBank::Load(path_, {.secret = secret});
    FilterBank mapped = FilterBank::Map(path_, {.secret = secret});
    EXPECT_EQ(loaded.fpr(), 0.001);
    EXPECT_EQ(loaded.bytes(), mapped.bytes());
    model.ExpectEqual(loaded, random, 20);
    model.ExpectEqual(mapped, random, 20);
    model.ExpectEqual(FilterBank::Map(path_, {.verify = Verify::kFull, .secret = secret}), random,
                      20);
    EXPECT_FALSE(loaded.read_only());
    EXPECT_TRUE(mapped.read_only());
    ExpectError([&] { mapped.Add("x", std::vector<uint64_t>{1}); }, ErrorCode::kReadOnly, "mapped");
    ExpectError([&] { mapped.Remove("member 1"); }, ErrorCode::kReadOnly, "mapped");
    ExpectError([&] { mapped.Flush(); }, ErrorCode::kReadOnly, "mapped");
    ExpectError([&] { mapped.Compact(); }, ErrorCode::kReadOnly, "mapped");
    ExpectError([&] { mapped.Merge(loaded); }, ErrorCode::kReadOnly, "mapped");

    // Saving again gives the same file, and a bank continues from the state in its file.
    const Bytes file = ReadBytes(path_);
    mapped.Save(folder_ / "mapped");
    EXPECT_EQ(ReadBytes(folder_ / "mapped"), file);
    loaded.Save(folder_ / "loaded");
    EXPECT_EQ(ReadBytes(folder_ / "loaded"), file);
    FilterBank both({.hash = hash});
    both.Merge(mapped);
    model.ExpectEqual(both, random, 20);
    if (keyed) {
      ExpectError([&] { FilterBank::Load(path_); }, ErrorCode::kSecret, "");
      loaded.Save(folder_ / "with secret", {.with_secret = true});
      model.ExpectEqual(FilterBank::Load(folder_ / "with secret"), random, 5);
    }
  }
}

// Written by tests/golden/make_golden.py, a second implementation of the format.
TEST_F(FilterBankFileTest, GoldenFileIsWrittenAndReadAgain) {
  const std::filesystem::path golden =
      std::filesystem::path(TAMIS_GOLDEN_DIR) / "bank_v2_two_groups.bank";
  const HashSpec hash = {HashKind::kXxh3, 7};
  FilterBank bank({.fpr = 0.01, .hash = hash});
  const auto filter_of = [&](uint64_t blocks, uint64_t capacity) {
    return SplitBlockBloomFilter({.capacity = capacity, .bytes = 32 * blocks, .hash = hash});
  };
  const auto integers = [](uint64_t n) {
    std::vector<uint64_t> keys(n);
    for (uint64_t i = 0; i < n; ++i) keys[i] = i * 0x9E3779B97F4A7C15;
    return keys;
  };
  std::vector<std::string> strings(30);
  for (size_t length = 0; length < strings.size(); ++length) {
    for (size_t i = 0; i < length; ++i) strings[length] += static_cast<char>(length + i);
  }
  const auto add = [&](const MemberName& name, uint64_t blocks, uint64_t capacity, Keys keys) {
    SplitBlockBloomFilter filter = filter_of(blocks, capacity);
    filter.Insert(keys);
    bank.Add(name, filter);
  };
  add("empty", 1, 1, integers(0));
  add("strings", 1, 40, strings);
  add("gone", 1, 5, integers(5));
  add(41, 1, 20, integers(20));
  add("three blocks", 3, 61, integers(60));
  bank.Flush();
  bank.Remove("gone");
  bank.Save(path_);
  EXPECT_EQ(ReadBytes(path_), ReadBytes(golden));
  FilterBank::Load(golden).Save(path_);
  EXPECT_EQ(ReadBytes(path_), ReadBytes(golden));
  const FilterBank mapped = FilterBank::Map(golden, {.verify = Verify::kFull});
  EXPECT_EQ(mapped.CountPerMember(integers(60))[512], 60u);
}

TEST_F(FilterBankFileTest, CompactLeavesNothingOfRemovedMembers) {
  Random random(/*seed=*/3);
  const SplitBlockBloomFilter kept = RandomFilter(5, random), gone = RandomFilter(5, random);
  FilterBank bank, other;
  bank.Add("kept", kept);
  bank.Add("gone", gone);
  bank.Flush();
  bank.Remove("gone");
  bank.Compact();
  bank.Save(path_);
  other.Add("kept", kept);
  other.Save(folder_ / "other");
  EXPECT_EQ(ReadBytes(path_), ReadBytes(folder_ / "other"));
}

TEST_F(FilterBankFileTest, EmptyBank) {
  FilterBank().Save(path_);
  EXPECT_EQ(FilterBank::Load(path_).num_members(), 0u);
  FilterBank mapped = FilterBank::Map(path_);
  EXPECT_EQ(mapped.row_words(), 0u);
  mapped.Save(folder_ / "again");
  EXPECT_EQ(ReadBytes(folder_ / "again"), ReadBytes(path_));
}

TEST_F(FilterBankFileTest, IsNotAFilter) {
  SmallFile();
  const auto refused = [&](const std::function<void()>& open) {
    ExpectFormatError(open, "filter kind", 16, ErrorCode::kUnsupported);
    ExpectError(open, ErrorCode::kUnsupported, "FilterBank");
  };
  refused([&] { Load(path_); });
  refused([&] { SplitBlockBloomFilter::Load(path_); });
  refused([&] { VerifyFile(path_); });
  SplitBlockBloomFilter({.bytes = 64}).Save(path_);
  ExpectError([&] { FilterBank::Map(path_); }, ErrorCode::kUnsupported,
              "a single filter, of kind split-block");
  ExpectRefused(ReadBytes(path_), "filter kind", 16, false, ErrorCode::kUnsupported);
  ExpectError([&] { FilterBank().Save(path_, {.version = 1}); }, ErrorCode::kInvalidArgument,
              "version 2");
}

TEST_F(FilterBankFileTest, EveryByteCounts) {
  const Bytes file = SmallFile();
  for (size_t at = 0; at < file.size(); ++at) {
    // Tests only some of the rows, and of the zeros before them.
    if (at >= kPayloadAt && at < TablesAt(file) && at % 1009 != 0) continue;
    if (at >= 192 && at < kPayloadAt && at % 499 != 0) continue;
    Bytes damaged = file;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    WriteBytes(path_, damaged);
    const bool row = at >= kPayloadAt && at < TablesAt(file);
    if (row) {
      const uint64_t page = at / kPayloadAt * kPayloadAt;
      ExpectFormatError([&] { FilterBank::Load(path_); }, "page checksum", page);
      FilterBank mapped = FilterBank::Map(path_);
      ExpectFormatError([&] { mapped.Save(folder_ / "again"); }, "page checksum", page);
      const bool first = page == kPayloadAt;
      ExpectFormatError([&] { mapped.Extract(first ? "a" : "some longer name"); }, "page checksum",
                        page);
      EXPECT_NO_THROW(mapped.Extract(first ? "some longer name" : "a"));
      FilterBank other;
      ExpectFormatError([&] { other.Merge(mapped); }, "page checksum", page);
    } else {
      EXPECT_THROW(FilterBank::Load(path_), FormatError) << at;
      EXPECT_THROW(FilterBank::Map(path_), FormatError) << at;
    }
    if (HasFailure()) FAIL() << "byte " << at;
  }
}

TEST_F(FilterBankFileTest, EveryLengthCounts) {
  Bytes file = SmallFile();
  const Bytes whole = file;
  file.push_back(0);
  ExpectRefused(file, "file length", whole.size());
  for (size_t length = whole.size(); length-- > 0;) {
    if (length > 200 && length < TablesAt(whole) && length % 1009 != 0) continue;
    file.resize(length);
    ExpectRefused(file, "file length", length);
    if (HasFailure()) FAIL() << "length " << length;
  }
}

// Headers with right checksums and impossible fields.
TEST_F(FilterBankFileTest, InvalidFields) {
  const Bytes file = SmallFile();
  const auto refused = [&](size_t at, uint64_t value, const std::string& check, size_t where,
                           ErrorCode code = ErrorCode::kCorrupt) {
    Bytes damaged = file;
    SetField(damaged, at, value);
    Seal(damaged, /*tables=*/false);
    ExpectRefused(damaged, check, where, false, code);
  };
  const auto unsupported = ErrorCode::kUnsupported;
  const uint64_t kind_and_hash = 32 + (uint64_t{9} << 32);
  refused(16, kind_and_hash, "hash kind", 20, unsupported);
  refused(32, (1 << 20) + 1, "groups", 32);
  refused(32, 1, "payload length", 80);
  refused(32, 3, "directory length", 56);
  refused(40, 1025, "members", 40);
  refused(40, 1, "members", 40);
  refused(48, 64, "group members", 48, unsupported);
  refused(56, 0, "directory length", 56);
  refused(56, ~uint64_t{0}, "directory length", 56);
  refused(56, GetField<uint64_t>(file, 56) + 8, "file length", file.size());
  refused(64, 0, "fpr", 64);
  refused(64, ~uint64_t{0}, "fpr", 64);
  refused(72, 192, "payload offset", 72);
  refused(80, uint64_t{1} << 60, "payload length", 80);
  refused(80, GetField<uint64_t>(file, 80) + 1, "payload length", 80);
  refused(80, uint64_t{1} << 50, "file length", file.size());
  refused(88, 5, "tables checksum", 88);
  refused(104, 1, "key types", 104);
  refused(104, uint64_t{1} << 32, "flags", 108);
  refused(112, 1, "key tag", 112);
  refused(128, 1, "secret", 128);
  refused(144, 16, "page size", 144, unsupported);
  refused(160, 1, "reserved bytes", 160);
}

// The same for the directory: two groups, then two members, "a" and "some longer name".
TEST_F(FilterBankFileTest, InvalidDirectory) {
  const Bytes file = SmallFile();
  const uint64_t begin = DirectoryAt(file);
  const uint64_t members = begin + 2 * 136;
  const auto refused = [&](uint64_t at, auto value, const std::string& check, uint64_t where) {
    Bytes damaged = file;
    SetField(damaged, at, value);
    Seal(damaged);
    ExpectRefused(damaged, check, where);
  };
  refused(begin, uint64_t{0}, "blocks", begin);
  refused(begin, uint64_t{4}, "blocks", begin);
  refused(begin, ~uint64_t{0}, "blocks", begin);
  refused(begin + 136, uint64_t{1}, "payload length", 80);
  refused(begin + 8, uint64_t{5}, "filled members", begin + 72);
  refused(begin + 8, uint64_t{3}, "members", 40);
  refused(begin + 72, uint64_t{0}, "filled members", begin + 72);
  refused(members, uint64_t{0}, "capacity", members);
  refused(members + 16, uint32_t{256}, "key types", members + 16);
  refused(members + 20, uint32_t{0}, "name length", members + 20);
  refused(members + 20, uint32_t{4097}, "name length", members + 20);
  refused(members + 20, uint32_t{4000}, "name", members + 24);
  refused(members + 31, char{1}, "padding", members + 31);
  refused(members + 32 + 20, uint32_t{8}, "directory length", 56);
  refused(members + 32 + 20, uint32_t{20}, "name", members + 32 + 24);
  // Two members of one name.
  Bytes twice = file;
  SetField(twice, members + 32 + 20, uint32_t{1});
  twice[members + 32 + 24] = 'a';
  std::fill(twice.begin() + long(members + 32 + 25), twice.end(), 0);
  twice.erase(twice.end() - 8, twice.end());  // with resize, g++ 12 would warn
  SetField(twice, 56, GetField<uint64_t>(twice, 56) - 8);
  Seal(twice);
  ExpectRefused(twice, "name", members + 32 + 24);
}

// Returns names with the same value under libstdc++'s std::hash<std::string>, which is not seeded.
// A table that uses it would compare each name with all others.
std::vector<std::string> CollidingNames(int log2_names) {
  constexpr uint64_t kMul = 0xC6A4A7935BD1E995;  // of MurmurHash64A
  uint64_t inverse = kMul;
  for (int i = 0; i < 6; ++i) inverse *= 2 - kMul * inverse;
  // A pair of words, and the pair whose mixed words have their highest bits inverted: the second
  // word undoes the effect of the first on the state.
  const auto fold = [](uint64_t x) { return x ^ (x >> 47); };
  const uint64_t word = 0x4141414141414141;
  const uint64_t mixed = (fold(word * kMul) * kMul) ^ (uint64_t{1} << 63);
  const uint64_t other = fold(mixed * inverse) * inverse;
  std::vector<std::string> names;
  for (uint64_t n = 0; n >> log2_names == 0; ++n) {
    std::string name;
    for (int bit = 0; bit < log2_names; ++bit) {
      const uint64_t of_pair = ((n >> bit) & 1) != 0 ? other : word;
      for (int half = 0; half < 2; ++half) {
        name.append(reinterpret_cast<const char*>(&of_pair), sizeof(of_pair));
      }
    }
    names.push_back(name);
  }
  return names;
}

TEST_F(FilterBankFileTest, NamesThatCollideTakeNoLonger) {
  const std::vector<std::string> colliding = CollidingNames(14);
#if defined(__GLIBCXX__) && defined(__x86_64__)
  EXPECT_EQ(std::hash<std::string>()(colliding[5]), std::hash<std::string>()(colliding[6]));
#endif
  const SplitBlockBloomFilter filter({.capacity = 1, .bytes = 32});
  const auto seconds = [&](const auto& name_of) {
    const auto start = std::chrono::steady_clock::now();
    FilterBank bank;
    for (size_t i = 0; i < colliding.size(); ++i) bank.Add(name_of(i), filter);
    bank.Save(path_);
    FilterBank::Load(path_);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const double usual = seconds([&](size_t i) { return std::to_string(i) + colliding[0]; });
  EXPECT_LT(seconds([&](size_t i) { return colliding[i]; }), 0.5 + 10 * usual);
}

}  // namespace tamis::filter_bank_file_test
