// Filter banks give the same results in both interfaces, for all types of keys, on the calling
// thread and on an engine. Invalid arguments are errors that change nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/bank/filter_bank.h"
#include "tamis/filters/serialize.h"
#include "tests/c/c_test_util.h"
#include "tests/c/key_sets.h"
#include "tests/c/pointer_checks.h"
#include "tests/core/file_test_util.h"
#include "tests/test_util.h"

namespace tamis::bank_test {

constexpr tamis_hash kHash = {TAMIS_HASH_XXH64, 0, 77, 0, 0};
constexpr HashSpec kSpec = {HashKind::kXxh64, 77};

CBank MakeBank(double fpr = 0.01) {
  auto options = TAMIS_INIT(tamis_bank_options);
  options.fpr = fpr;
  options.hash = kHash;
  return Made<tamis_bank>(tamis_bank_create, &options);
}

tamis_bank_info InfoOf(const tamis_bank* bank) {
  auto info = TAMIS_INIT(tamis_bank_info);
  EXPECT_EQ(tamis_bank_get_info(bank, &info), TAMIS_OK) << tamis_last_error();
  return info;
}

tamis_status AddKeys(tamis_bank* bank, std::string_view name, const tamis_keys& keys) {
  return tamis_bank_add_keys(bank, nullptr, name.data(), name.size(), &keys);
}

std::vector<std::string> NamesOf(const tamis_bank* bank) {
  std::vector<uint64_t> indexes(InfoOf(bank).members);
  EXPECT_EQ(tamis_bank_members(bank, indexes.data(), indexes.size()), TAMIS_OK);
  std::vector<std::string> names;
  for (const uint64_t index : indexes) {
    const char* name = nullptr;
    size_t bytes = 0;
    EXPECT_EQ(tamis_bank_name(bank, index, &name, &bytes), TAMIS_OK) << tamis_last_error();
    names.emplace_back(name, bytes);
    EXPECT_EQ(name[bytes], '\0');
    uint64_t found = 0;
    EXPECT_EQ(tamis_bank_find(bank, name, bytes, &found), 1);
    EXPECT_EQ(found, index);
  }
  return names;
}

void ExpectSameMembers(const tamis_bank* c, const FilterBank& cpp) {
  std::vector<std::string> names;
  for (const BankMember& member : cpp.members()) names.push_back(member.name);
  ASSERT_EQ(NamesOf(c), names);
  for (const std::string& name : names) {
    const CFilter filter = Made<tamis_filter>(tamis_bank_extract, c, name.data(), name.size());
    EXPECT_EQ(SerializedC(filter.get()), Serialize(cpp.Extract(name))) << name;
  }
}

void ExpectSameAnswers(const tamis_bank* c, const tamis_engine* engine, const FilterBank& cpp,
                       const KeySets::Set& keys) {
  const size_t n = keys.cpp.size(), words = n * cpp.row_words();
  std::vector<uint64_t> rows(words, ~uint64_t{0}), cpp_rows(words);
  uint64_t hits = ~uint64_t{0};
  ASSERT_EQ(tamis_bank_contains_bitmap(c, engine, &keys.c, rows.data(), words, &hits), TAMIS_OK)
      << tamis_last_error();
  EXPECT_EQ(hits, cpp.Contains(keys.cpp, Bitmap(cpp_rows)));
  EXPECT_EQ(rows, cpp_rows);
  const std::vector<BankHit> pairs = cpp.Select(keys.cpp);
  std::vector<uint64_t> key_indices(pairs.size()), members(pairs.size());
  ASSERT_EQ(tamis_bank_select(c, engine, &keys.c, key_indices.data(), members.data(), pairs.size(),
                              &hits),
            TAMIS_OK)
      << tamis_last_error();
  ASSERT_EQ(hits, pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    ASSERT_EQ((BankHit{key_indices[i], members[i]}), pairs[i]) << i;
  }
  const uint64_t indexes = InfoOf(c).indexes;
  std::vector<uint64_t> counts(indexes, ~uint64_t{0});
  ASSERT_EQ(tamis_bank_count_per_member(c, engine, &keys.c, counts.data(), indexes), TAMIS_OK);
  EXPECT_EQ(counts, cpp.CountPerMember(keys.cpp));
  std::vector<uint64_t> best(indexes);
  ASSERT_EQ(tamis_bank_best_members(counts.data(), indexes, 2, best.data(), 3, &hits), TAMIS_OK);
  const std::vector<MemberCount> cpp_best = BestMembers(counts, 2, 3);
  ASSERT_EQ(hits, cpp_best.size());
  for (size_t i = 0; i < hits; ++i) EXPECT_EQ(best[i], cpp_best[i].member);
}

TEST(BankTest, ManyKeysOfEveryForm) {
  struct Shape {
    size_t n;
    uint64_t offset;
    bool nulls;
  };
  const CEngine engine = MakeEngine(2);
  // Keys of 8 and 16 bits and pointers are converted in runs of 65,536.
  for (const Shape shape :
       {Shape{0, 0, false}, {1, 3, true}, {1000, 13, false}, {65'537, 5, true}}) {
    const KeySets own(shape.n, shape.offset, shape.nulls, 1), others(shape.n, 0, shape.nulls, 2);
    const CBank c = MakeBank();
    FilterBank cpp({.fpr = 0.01, .hash = kSpec});
    for (const KeySets::Set& keys : own.sets()) {
      for (const tamis_engine* const by : {static_cast<tamis_engine*>(nullptr), engine.get()}) {
        const std::string name = keys.name + (by != nullptr ? " engine" : "");
        ASSERT_EQ(tamis_bank_add_keys(c.get(), by, name.data(), name.size(), &keys.c), TAMIS_OK)
            << tamis_last_error();
        cpp.Add(name, keys.cpp);
      }
    }
    ExpectSameMembers(c.get(), cpp);
    const bool many = shape.n > 10'000;  // only layouts that are converted in runs
    for (const bool flushed : {false, true}) {
      if (flushed) {
        EXPECT_EQ(tamis_bank_flush(c.get()), TAMIS_OK);
        cpp.Flush();
      } else if (many) {
        continue;
      }
      for (const KeySets* const sets : {&own, &others}) {
        if (many && sets == &others) continue;
        for (const KeySets::Set& keys : sets->sets()) {
          SCOPED_TRACE(keys.name + " of " + std::to_string(shape.n));
          ExpectSameAnswers(c.get(), engine.get(), cpp, keys);
          if (!many) ExpectSameAnswers(c.get(), nullptr, cpp, keys);
        }
      }
    }
  }
}

// Returns a bank with members "0" ... of 10 integers each.
CBank BankOfTens(uint64_t members) {
  CBank bank = MakeBank(1e-6);
  for (uint64_t i = 0; i < members; ++i) {
    std::vector<uint64_t> keys(10);
    for (size_t k = 0; k < keys.size(); ++k) keys[k] = 10 * i + k;
    EXPECT_EQ(AddKeys(bank.get(), std::to_string(i), tamis_keys_u64(keys.data(), 10)), TAMIS_OK);
  }
  return bank;
}

TEST(BankTest, OneKey) {
  const CBank bank = BankOfTens(700);
  EXPECT_EQ(AddKeys(bank.get(), "text",
                    tamis_keys_strings(std::vector{"ada", ""}.data(),
                                       std::vector<uint64_t>{3, 0}.data(), 2)),
            TAMIS_OK);
  EXPECT_EQ(tamis_bank_flush(bank.get()), TAMIS_OK);
  const tamis_bank_info info = InfoOf(bank.get());
  EXPECT_EQ(info.members, 701u);
  EXPECT_EQ(info.row_words * 64, info.indexes);
  std::vector<uint64_t> row(info.row_words);
  const auto expect_one = [&](const tamis_keys& key, std::string_view name) {
    uint64_t hits = 0;
    const tamis_status status =
        tamis_bank_contains_bitmap(bank.get(), nullptr, &key, row.data(), row.size(), &hits);
    ASSERT_EQ(status, TAMIS_OK) << tamis_last_error();
    EXPECT_GE(hits, 1u);
    uint64_t index = 0;
    ASSERT_EQ(tamis_bank_find(bank.get(), name.data(), name.size(), &index), 1);
    EXPECT_TRUE(Bitmap(row).Test(index)) << name;
  };
  for (uint64_t key = 0; key < 7000; key += 37) {
    expect_one(tamis_keys_u64(&key, 1), std::to_string(key / 10));
    const uint64_t hash = HashU64(key, kSpec);
    tamis_keys hashes = tamis_keys_u64(&hash, 1);
    hashes.layout = TAMIS_KEYS_HASHES;
    expect_one(hashes, std::to_string(key / 10));
  }
  for (const char* const text : {"ada", ""}) {
    const uint64_t length = std::strlen(text);
    expect_one(tamis_keys_strings(&text, &length, 1), "text");
  }
  double false_members = -1;
  EXPECT_EQ(tamis_bank_expected_false_members(bank.get(), &false_members), TAMIS_OK);
  EXPECT_GT(false_members, 0);
  EXPECT_LT(false_members, 1e-3);
}

TEST(BankTest, MembersComeAndGo) {
  const CBank bank = BankOfTens(5);
  const CFilter filter = MakeC(TAMIS_SPLIT_BLOCK, 100, kHash);
  EXPECT_EQ(tamis_filter_insert_u64(filter.get(), 7), 1);
  const std::string odd("a\0\xff", 3);
  EXPECT_EQ(tamis_bank_add_filter(bank.get(), odd.data(), odd.size(), filter.get()), TAMIS_OK);
  EXPECT_EQ(tamis_bank_remove(bank.get(), "3", 1), 1);
  EXPECT_EQ(tamis_bank_remove(bank.get(), "3", 1), 0);
  EXPECT_EQ(tamis_bank_find(bank.get(), "3", 1, nullptr), 0);
  EXPECT_EQ(NamesOf(bank.get()), (std::vector<std::string>{"0", "1", "2", "4", odd}));
  const CFilter back = Made<tamis_filter>(tamis_bank_extract, bank.get(), odd.data(), odd.size());
  EXPECT_EQ(SerializedC(back.get()), SerializedC(filter.get()));
  EXPECT_EQ(tamis_bank_flush(bank.get()), TAMIS_OK);
  EXPECT_EQ(tamis_bank_remove(bank.get(), "0", 1), 1);
  EXPECT_EQ(tamis_bank_compact(bank.get()), TAMIS_OK);
  const CBank other = MakeBank();
  EXPECT_EQ(tamis_bank_merge(other.get(), bank.get()), TAMIS_OK);
  ExpectStatus(tamis_bank_merge(other.get(), bank.get()), TAMIS_INVALID_ARGUMENT, "has a member");
  EXPECT_EQ(NamesOf(other.get()).size(), 4u);
}

class BankFileTest : public FileTest {};

TEST_F(BankFileTest, OpenAndMap) {
  const std::string path = (folder_ / "a.bank").string();
  const CBank bank = BankOfTens(600);
  EXPECT_EQ(tamis_bank_save(bank.get(), path.c_str(), nullptr), TAMIS_OK) << tamis_last_error();
  ExpectSameMembers(bank.get(), FilterBank::Load(path));
  tamis_open_options options = Mapping();
  options.verify = 1;
  const CBank opened = Made<tamis_bank>(tamis_bank_open, path.c_str(), nullptr);
  const CBank mapped = Made<tamis_bank>(tamis_bank_open, path.c_str(), &options);
  EXPECT_EQ(InfoOf(opened.get()).read_only, 0u);
  EXPECT_EQ(InfoOf(mapped.get()).read_only, 1u);
  const KeySets keys(500, 0, true, 3);
  for (const tamis_bank* const b : {opened.get(), mapped.get()}) {
    ExpectSameMembers(b, FilterBank::Map(path));
    ExpectSameAnswers(b, nullptr, FilterBank::Map(path), keys.sets().front());
    EXPECT_EQ(InfoOf(b).fpr, 1e-6);
    EXPECT_EQ(InfoOf(b).hash_kind, uint32_t{TAMIS_HASH_XXH64});
    EXPECT_EQ(InfoOf(b).seed, 77u);
  }
  const CFilter filter = MakeC(TAMIS_SPLIT_BLOCK, 100, kHash);
  tamis_bank* const m = mapped.get();
  const uint64_t number = 1;
  ExpectStatus(AddKeys(m, "x", tamis_keys_u64(&number, 1)), TAMIS_READ_ONLY, "mapped");
  ExpectStatus(tamis_bank_add_filter(m, "x", 1, filter.get()), TAMIS_READ_ONLY, "mapped");
  EXPECT_EQ(tamis_bank_remove(m, "1", 1), -TAMIS_READ_ONLY);
  EXPECT_EQ(tamis_bank_flush(m), TAMIS_READ_ONLY);
  EXPECT_EQ(tamis_bank_compact(m), TAMIS_READ_ONLY);
  EXPECT_EQ(tamis_bank_merge(m, bank.get()), TAMIS_READ_ONLY);
  EXPECT_EQ(tamis_bank_save(m, (path + "2").c_str(), nullptr), TAMIS_OK) << tamis_last_error();
  tamis_bank* none = nullptr;
  EXPECT_EQ(tamis_bank_open((path + "3").c_str(), nullptr, &none), TAMIS_IO);
  tamis_filter* no_filter = nullptr;
  ExpectStatus(tamis_filter_open(path.c_str(), nullptr, &no_filter), TAMIS_UNSUPPORTED, "bank");
  EXPECT_EQ(tamis_filter_save(filter.get(), (path + "4").c_str(), nullptr), TAMIS_OK);
  EXPECT_EQ(tamis_bank_open((path + "4").c_str(), nullptr, &none), TAMIS_UNSUPPORTED);
  std::fstream(path + "2", std::ios::in | std::ios::out | std::ios::binary).seekp(20'000).put('!');
  EXPECT_EQ(tamis_bank_open((path + "2").c_str(), nullptr, &none), TAMIS_CORRUPT);
  EXPECT_EQ(tamis_bank_open((path + "2").c_str(), &options, &none), TAMIS_CORRUPT);
  EXPECT_EQ(none, nullptr);
}

TEST(BankTest, WrongArguments) {
  const CBank bank = BankOfTens(3);
  tamis_bank* const b = bank.get();
  const uint64_t numbers[2] = {1, 11};
  const tamis_keys keys = tamis_keys_u64(numbers, 2);
  const std::string too_long(4097, 'x');
  ExpectStatus(AddKeys(b, "0", keys), TAMIS_INVALID_ARGUMENT, "already");
  ExpectStatus(AddKeys(b, "", keys), TAMIS_INVALID_ARGUMENT, "0 bytes");
  ExpectStatus(AddKeys(b, too_long, keys), TAMIS_INVALID_ARGUMENT, "4097 bytes");
  const CFilter bloom = MakeC(TAMIS_BLOOM, 10, kHash), foreign = MakeC(TAMIS_SPLIT_BLOCK, 10);
  ExpectStatus(tamis_bank_add_filter(b, "x", 1, bloom.get()), TAMIS_UNSUPPORTED, "bloom");
  ExpectStatus(tamis_bank_add_filter(b, "x", 1, foreign.get()), TAMIS_INCOMPATIBLE, "hash");
  ExpectStatus(tamis_bank_merge(b, b), TAMIS_INVALID_ARGUMENT, "same");
  tamis_filter* filter = nullptr;
  ExpectStatus(tamis_bank_extract(b, "x", 1, &filter), TAMIS_INVALID_ARGUMENT, "x");
  EXPECT_EQ(filter, nullptr);
  const char* name = nullptr;
  size_t name_bytes = 0;
  ExpectStatus(tamis_bank_name(b, 3, &name, &name_bytes), TAMIS_INVALID_ARGUMENT, "index 3");
  ExpectStatus(tamis_bank_name(b, UINT64_MAX, &name, &name_bytes), TAMIS_INVALID_ARGUMENT, "index");

  uint64_t words[64] = {}, hits = 99;
  const tamis_bank_info info = InfoOf(b);
  ExpectStatus(tamis_bank_contains_bitmap(b, nullptr, &keys, words, 2 * info.row_words - 1, &hits),
               TAMIS_INVALID_ARGUMENT, "rows has room for");
  ExpectStatus(tamis_bank_count_per_member(b, nullptr, &keys, words, info.indexes - 1),
               TAMIS_INVALID_ARGUMENT, "counts has room for");
  ExpectStatus(tamis_bank_members(b, words, 2), TAMIS_INVALID_ARGUMENT, "indexes has room for 2");
  ExpectStatus(tamis_bank_best_members(words, 64, 0, words, 1, &hits), TAMIS_INVALID_ARGUMENT,
               "at_least");
  EXPECT_EQ(hits, 99u);
  // The number of pairs is returned even so.
  ExpectStatus(tamis_bank_select(b, nullptr, &keys, words, words + 1, 1, &hits),
               TAMIS_INVALID_ARGUMENT, "needs 2");
  EXPECT_EQ(hits, 2u);
  EXPECT_EQ(tamis_bank_select(b, nullptr, &keys, nullptr, nullptr, 0, &hits),
            TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(hits, 2u);
  EXPECT_TRUE(std::ranges::all_of(words, [](uint64_t word) { return word == 0; }));
  EXPECT_EQ(NamesOf(b).size(), 3u);

  const auto expect_options = [](tamis_status status, const auto& set) {
    auto options = TAMIS_INIT(tamis_bank_options);
    set(options);
    tamis_bank* made = nullptr;
    EXPECT_EQ(tamis_bank_create(&options, &made), status) << tamis_last_error();
    EXPECT_EQ(made, nullptr);
  };
  expect_options(TAMIS_INVALID_ARGUMENT, [](auto& o) { o.fpr = 2; });
  expect_options(TAMIS_INVALID_ARGUMENT, [](auto& o) { o.false_members = 1; });
  expect_options(TAMIS_INVALID_ARGUMENT, [](auto& o) { o.members = 1; });
  expect_options(TAMIS_INVALID_ARGUMENT, [](auto& o) { o.reserved = 1; });
  expect_options(TAMIS_INVALID_ARGUMENT, [](auto& o) { o.no_huge_pages = 2; });
  expect_options(TAMIS_INVALID_ARGUMENT, [](auto& o) { o.struct_bytes = 0; });
  expect_options(TAMIS_UNKNOWN_BACKEND, [](auto& o) { o.backend = "Z80"; });
  expect_options(TAMIS_SECRET, [](auto& o) { o.hash.kind = TAMIS_HASH_SIPHASH13; });
}

TEST(BankTest, PointersAreChecked) {
  const CBank bank = BankOfTens(3), other = MakeBank();
  tamis_bank* const b = bank.get();
  const CFilter filter = MakeC(TAMIS_SPLIT_BLOCK, 10, kHash);
  const uint64_t numbers[2] = {1, 11};
  tamis_keys keys = tamis_keys_u64(numbers, 2);
  uint64_t words[512] = {}, n = 0;
  auto options = TAMIS_INIT(tamis_bank_options);
  auto info = TAMIS_INIT(tamis_bank_info);
  auto save = TAMIS_INIT(tamis_save_options);
  auto open = TAMIS_INIT(tamis_open_options);
  tamis_bank* made = nullptr;
  tamis_filter* made_filter = nullptr;
  const char* name = nullptr;
  size_t name_bytes = 0;
  double number = 0;
  const tamis_engine* const engine = nullptr;
  ExpectPointersChecked(tamis_bank_create, {0}, &options, &made);
  ExpectPointersChecked(tamis_bank_open, {1}, "/nowhere/x.bank", &open, &made);
  ExpectPointersChecked(tamis_bank_save, {2}, b, "/nowhere/x.bank", &save);
  ExpectPointersChecked(tamis_bank_get_info, {}, b, &info);
  ExpectPointersChecked(tamis_bank_expected_false_members, {}, b, &number);
  ExpectPointersChecked(tamis_bank_add_filter, {}, b, "x", size_t{1}, filter.get());
  ExpectPointersChecked(tamis_bank_add_keys, {1}, b, engine, "x", size_t{1}, &keys);
  ExpectPointersChecked(tamis_bank_remove, {}, b, "x", size_t{1});
  ExpectPointersChecked(tamis_bank_extract, {}, b, "0", size_t{1}, &made_filter);
  ExpectPointersChecked(tamis_bank_merge, {}, b, other.get());
  ExpectPointersChecked(tamis_bank_flush, {}, b);
  ExpectPointersChecked(tamis_bank_compact, {}, b);
  ExpectPointersChecked(tamis_bank_find, {3}, b, "0", size_t{1}, &n);
  ExpectPointersChecked(tamis_bank_members, {}, b, words, uint64_t{3});
  ExpectPointersChecked(tamis_bank_name, {}, b, uint64_t{0}, &name, &name_bytes);
  const uint64_t room = 512;
  ExpectPointersChecked(tamis_bank_contains_bitmap, {1, 5}, b, engine, &keys, words, room, &n);
  ExpectPointersChecked(tamis_bank_select, {1}, b, engine, &keys, words, words + 9, uint64_t{9},
                        &n);
  ExpectPointersChecked(tamis_bank_count_per_member, {1}, b, engine, &keys, words, room);
  ExpectPointersChecked(tamis_bank_best_members, {}, numbers, uint64_t{2}, uint64_t{1}, words,
                        uint64_t{2}, &n);
  EXPECT_EQ(NamesOf(b).size(), 3u);
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(made_filter, nullptr);
}

}  // namespace tamis::bank_test
