// Join filters in C, compared with the C++ interface and with std::set.
#include "tamis/c/join.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tamis/engine/calibration.h"
#include "tamis/join/join_filter.h"
#include "tamis/join/join_keys.h"
#include "tests/c/c_test_util.h"
#include "tests/c/pointer_checks.h"
#include "tests/test_util.h"

namespace tamis::join_test {

struct FreeJoin {
  void operator()(tamis_join_part* part) const { tamis_join_part_free(part); }
  void operator()(tamis_join_probe* probe) const { tamis_join_probe_free(probe); }
};
using CPart = std::unique_ptr<tamis_join_part, FreeJoin>;
using CProbe = std::unique_ptr<tamis_join_probe, FreeJoin>;

tamis_join_options JoinOptions(uint64_t expected_keys, uint32_t key_type = TAMIS_JOIN_INTEGERS) {
  auto options = TAMIS_INIT(tamis_join_options);
  options.expected_keys = expected_keys;
  options.key_type = key_type;
  return options;
}

CFilter MakeJoin(const tamis_join_options& options) {
  return Made<tamis_filter>(tamis_join_create, &options);
}

CPart MakePart(const tamis_filter* join, uint32_t index) {
  tamis_join_part* part = nullptr;
  EXPECT_EQ(tamis_join_part_create(join, index, &part), TAMIS_OK) << tamis_last_error();
  return CPart(part);
}

void Insert(const CPart& part, const tamis_keys& keys) {
  EXPECT_EQ(tamis_join_part_insert(part.get(), &keys), TAMIS_OK) << tamis_last_error();
}

tamis_keys KeysOf(const std::vector<uint64_t>& values) {
  return tamis_keys_u64(values.data(), values.size());
}

std::vector<std::byte> BytesOf(const CPart& part) {
  uint64_t bytes = 0, written = 0;
  EXPECT_EQ(tamis_join_part_serialize(part.get(), nullptr, 0, &bytes), TAMIS_OK);
  std::vector<std::byte> data(bytes);
  EXPECT_EQ(tamis_join_part_serialize(part.get(), data.data(), bytes, &written), TAMIS_OK);
  EXPECT_EQ(written, bytes);
  return data;
}

CPart PartFrom(const std::vector<std::byte>& bytes) {
  tamis_join_part* part = nullptr;
  EXPECT_EQ(tamis_join_part_from_bytes(bytes.data(), bytes.size(), &part), TAMIS_OK)
      << tamis_last_error();
  return CPart(part);
}

void AddAndComplete(tamis_filter* join, const CPart& part) {
  ASSERT_EQ(tamis_join_add(join, part.get()), TAMIS_OK) << tamis_last_error();
  ASSERT_EQ(tamis_join_complete(join, 1), TAMIS_OK) << tamis_last_error();
}

// Makes a complete join filter of one part.
CFilter Joined(const tamis_join_options& options, const tamis_keys& keys) {
  CFilter join = MakeJoin(options);
  const CPart part = MakePart(join.get(), 0);
  Insert(part, keys);
  AddAndComplete(join.get(), part);
  return join;
}

template <typename Handle>
std::string JsonOf(tamis_status (*describe)(const Handle*, char**), const Handle* handle) {
  char* text = nullptr;
  EXPECT_EQ(describe(handle, &text), TAMIS_OK) << tamis_last_error();
  return CText(text).get();
}

std::string FormOf(const CFilter& join) {
  const std::string json = JsonOf(tamis_join_json, join.get());
  const size_t begin = json.find("\"form\":\"") + 8;
  return json.substr(begin, json.find('"', begin) - begin);
}

uint64_t Count(const CFilter& join, const tamis_keys& keys) {
  uint64_t hits = 0;
  EXPECT_EQ(tamis_filter_count(join.get(), nullptr, &keys, &hits), TAMIS_OK) << tamis_last_error();
  return hits;
}

// ---- Equality with C++ ----

// Joins the keys of a set in both interfaces, and compares all answers for all sets that both
// accept.
TEST(CJoinTest, EveryLayout_AnswersLikeCpp) {
  const CEngine engine = MakeEngine(2);
  for (const bool with_nulls : {false, true}) {
    const KeySets build(300, /*offset=*/3, with_nulls, /*seed=*/1);
    const KeySets probe(5000, /*offset=*/5, with_nulls, /*seed=*/2);
    for (size_t s = 0; s < build.sets().size(); ++s) {
      const KeySets::Set& keys = build.sets()[s];
      SCOPED_TRACE(keys.name);
      JoinFilter cpp({.expected_keys = 300, .key_type = JoinKeyType::kHashes});
      JoinFilter::Part cpp_part = cpp.MakePart(0);
      cpp_part.Insert(keys.cpp);
      const CFilter c = MakeJoin(JoinOptions(300, TAMIS_JOIN_HASHES));
      const CPart part = MakePart(c.get(), 0);
      Insert(part, keys.c);
      EXPECT_EQ(BytesOf(part), cpp_part.Serialize());
      ExpectSameAnswers(c.get(), nullptr, cpp, probe.sets()[s]);
      cpp.Add(std::move(cpp_part));
      cpp.Complete(1);
      AddAndComplete(c.get(), part);
      ExpectSameAnswers(c.get(), nullptr, cpp, keys);
      ExpectSameAnswers(c.get(), engine.get(), cpp, probe.sets()[s]);
    }
  }
}

TEST(CJoinTest, IntegersOfEveryWidth_AreTheSameKeys) {
  const std::vector<int8_t> narrow = {-5, 7, 100};
  const std::vector<int64_t> wide = {-5, 7, 100, 101};
  const CFilter join = Joined(
      JoinOptions(10), {TAMIS_KEYS_I8, 0, 3, 0, narrow.data(), nullptr, 0, nullptr, nullptr});
  EXPECT_EQ(Count(join, {TAMIS_KEYS_I64, 0, 4, 0, wide.data(), nullptr, 0, nullptr, nullptr}), 3u);
  EXPECT_EQ(tamis_filter_contains_u64(join.get(), static_cast<uint64_t>(-5)), 1);
  EXPECT_EQ(tamis_filter_contains_u64(join.get(), 5), 0);
  EXPECT_EQ(FormOf(join), "list");
}

TEST(CJoinTest, HashColumns_EqualsCppInEveryPairOfLayouts) {
  for (const bool with_nulls : {false, true}) {
    const KeySets sets(200, /*offset=*/7, with_nulls, /*seed=*/4);
    for (size_t s = 0; s < sets.sets().size(); ++s) {
      const KeySets::Set& first = sets.sets()[s];
      const KeySets::Set& second = sets.sets()[(s + 1) % sets.sets().size()];
      SCOPED_TRACE(first.name + " and " + second.name);
      const Keys cpp[] = {first.cpp, second.cpp};
      const ColumnHashes expected = HashColumns(cpp, {HashKind::kXxh64, 9});
      const tamis_keys c[] = {first.c, second.c};
      const tamis_hash hash = {TAMIS_HASH_XXH64, 0, 9, 0, 0};
      std::vector<uint64_t> hashes(200), valid(BitmapWords(200), 0xAAAA);
      ASSERT_EQ(tamis_join_hash_columns(c, 2, &hash, hashes.data(), 200, valid.data(), 4), TAMIS_OK)
          << tamis_last_error();
      size_t num_valid = 0;
      for (size_t i = 0; i < 200; ++i) {
        const bool is_valid = (valid[i / 64] >> (i % 64) & 1) != 0;
        num_valid += is_valid;
        EXPECT_EQ(is_valid, expected.keys().IsValid(i));
        if (is_valid) {
          EXPECT_EQ(hashes[i], expected.hashes()[i]);
        }
      }
      EXPECT_EQ(valid[3] >> (200 % 64), 0u);
      // The arrays are keys.
      tamis_keys rows = KeysOf(hashes);
      rows.layout = TAMIS_KEYS_HASHES;
      rows.validity = reinterpret_cast<const uint8_t*>(valid.data());
      EXPECT_EQ(Count(Joined(JoinOptions(200, TAMIS_JOIN_HASHES), rows), rows), num_valid);
    }
  }
  const std::vector<uint64_t> three = {1, 2, 3}, four = {1, 2, 3, 4};
  const tamis_keys uneven[] = {KeysOf(three), KeysOf(four)};
  uint64_t hashes[4], valid[1];
  ExpectStatus(tamis_join_hash_columns(uneven, 2, nullptr, hashes, 4, valid, 1),
               TAMIS_INVALID_ARGUMENT, "column 1 has 4 keys");
  ExpectStatus(tamis_join_hash_columns(uneven, 0, nullptr, hashes, 4, valid, 1),
               TAMIS_INVALID_ARGUMENT, "num_columns");
  ExpectStatus(tamis_join_hash_columns(uneven, 1, nullptr, hashes, 2, valid, 1),
               TAMIS_INVALID_ARGUMENT, "hashes has room for 2");
}

// ---- The model ----

// Random parts, in a random order, some of them as bytes of another machine.
TEST(CJoinTest, RandomParts_NeverAnswerAWrongNo) {
  std::set<std::string> forms;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    tamis_join_options options = JoinOptions(1 + random.Below(2000));
    options.kept_keys = 1 + random.Below(400);
    options.max_bytes = 4096 * (1 + random.Below(8));
    const uint64_t range = random.Below(2) == 0 ? 10'000 : ~uint64_t{0};
    options.has_range = random.Below(3) == 0 && range == 10'000;
    options.range_high = options.has_range ? range : 0;
    const CFilter join = MakeJoin(options);
    const auto num_parts = static_cast<uint32_t>(1 + random.Below(4));
    std::vector<uint32_t> order(num_parts);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
    std::set<uint64_t> model;
    for (const uint32_t index : order) {
      CPart part = MakePart(join.get(), index);
      std::vector<uint64_t> keys(random.Below(400));
      for (uint64_t& key : keys) key = random() % range;
      // Breaks the promise of a range.
      if (random.Below(10) == 0) keys.push_back(range + 1);
      model.insert(keys.begin(), keys.end());
      Insert(part, KeysOf(keys));
      if (random.Below(2) == 0) part = PartFrom(BytesOf(part));
      EXPECT_EQ(Count(join, KeysOf(keys)), keys.size()) << "maybe before completion";
      ASSERT_EQ(tamis_join_add(join.get(), part.get()), TAMIS_OK) << tamis_last_error();
    }
    ASSERT_EQ(tamis_join_complete(join.get(), num_parts), TAMIS_OK) << tamis_last_error();
    const std::string form = FormOf(join);
    forms.insert(form);
    std::vector<uint64_t> queries(model.begin(), model.end());
    for (int i = 0; i < 1000; ++i) queries.push_back(random() % range);
    std::vector<uint8_t> bytes(queries.size());
    const tamis_keys keys = KeysOf(queries);
    uint64_t hits = 0;
    ASSERT_EQ(
        tamis_filter_contains_bytes(join.get(), nullptr, &keys, bytes.data(), bytes.size(), &hits),
        TAMIS_OK);
    for (size_t i = 0; i < queries.size(); ++i) {
      const bool in = model.contains(queries[i]);
      if (in) {
        EXPECT_EQ(bytes[i], 1) << seed << ' ' << form;
      }
      if (form == "list" || form == "bitmap") {
        EXPECT_EQ(bytes[i], in) << seed << ' ' << form;
      }
    }
    // A selection vector gives the same answers, in place.
    std::vector<uint32_t> rows(queries.size() / 2);
    for (uint32_t& row : rows) row = static_cast<uint32_t>(random.Below(queries.size()));
    std::vector<uint32_t> expected;
    std::ranges::copy_if(rows, std::back_inserter(expected), [&](auto row) { return bytes[row]; });
    ASSERT_EQ(tamis_filter_select_from(join.get(), &keys, rows.data(), rows.size(), rows.data(),
                                       rows.size(), &hits),
              TAMIS_OK);
    rows.resize(hits);
    EXPECT_EQ(rows, expected);
  }
  EXPECT_EQ(forms, (std::set<std::string>{"bitmap", "blocks", "list", "nothing"}));
}

// ---- Errors ----

class CJoinErrorsTest : public testing::Test {
 protected:
  const std::vector<uint64_t> numbers_ = RandomKeys(1000, 5);
  const tamis_keys keys_ = KeysOf(numbers_);
  const CFilter join_ = MakeJoin(JoinOptions(1000));
};

TEST_F(CJoinErrorsTest, PointersAreChecked) {
  tamis_filter* made = nullptr;
  tamis_join_part* made_part = nullptr;
  tamis_join_probe* made_probe = nullptr;
  char* text = nullptr;
  tamis_join_options options = JoinOptions(10);
  auto probe_options = TAMIS_INIT(tamis_join_probe_options);
  const CPart part = MakePart(join_.get(), 0);
  uint64_t words[64], n = 0;
  uint32_t rows[8] = {0, 1};
  const uint32_t selection[2] = {0, 1};
  tamis_hash hash{};
  ExpectPointersChecked(tamis_join_create, {}, &options, &made);
  ExpectPointersChecked(tamis_join_part_create, {}, join_.get(), uint32_t{0}, &made_part);
  ExpectPointersChecked(tamis_join_part_insert, {}, part.get(), &keys_);
  ExpectPointersChecked(tamis_join_part_serialize, {3}, part.get(), static_cast<void*>(words),
                        uint64_t{512}, &n);
  ExpectPointersChecked(tamis_join_part_from_bytes, {}, static_cast<const void*>(words),
                        uint64_t{512}, &made_part);
  ExpectPointersChecked(tamis_join_part_json, {}, part.get(), &text);
  ExpectPointersChecked(tamis_join_add, {}, join_.get(), part.get());
  ExpectPointersChecked(tamis_join_complete, {}, join_.get(), uint32_t{1});
  ExpectPointersChecked(tamis_join_json, {}, join_.get(), &text);
  ExpectPointersChecked(tamis_join_hash_columns, {2}, &keys_, uint64_t{1}, &hash, words,
                        uint64_t{1000}, words, uint64_t{16});
  ExpectPointersChecked(tamis_join_probe_create, {1}, join_.get(), &probe_options, &made_probe);
  tamis_join_probe* probe = nullptr;
  ASSERT_EQ(tamis_join_probe_create(join_.get(), nullptr, &probe), TAMIS_OK);
  const CProbe owner(probe);
  ExpectPointersChecked(tamis_join_probe_wanted, {}, probe, uint64_t{1});
  ExpectPointersChecked(tamis_join_probe_select_from, {}, probe, &keys_, selection, uint64_t{2},
                        rows, uint64_t{8}, &n);
  ExpectPointersChecked(tamis_join_probe_record, {}, probe, uint64_t{1}, uint64_t{1}, 1.0);
  ExpectPointersChecked(tamis_join_probe_json, {}, probe, &text);
  EXPECT_TRUE(made == nullptr && made_part == nullptr && made_probe == nullptr && text == nullptr);
  tamis_join_part_free(nullptr);
  tamis_join_probe_free(nullptr);
}

TEST(CJoinTest, Calibration_ReplacesTheCosts) {
  const std::string path = testing::TempDir() + "tamis_c_join_calibration.json";
  for (const int ns : {3, 40}) {
    Calibration calibration;
    calibration.points = {{"portable", uint64_t{1} << 20, static_cast<double>(ns), 1, 1}};
    calibration.Save(path);
    tamis_join_options options = JoinOptions(1000);
    options.backend = "portable";
    options.calibration_path = path.c_str();
    const CFilter join = MakeJoin(options);
    const std::string json = JsonOf(tamis_join_json, static_cast<const tamis_filter*>(join.get()));
    EXPECT_NE(json.find("\"ns_per_row\":" + std::to_string(ns)), std::string::npos) << json;
  }
  std::remove(path.c_str());
}

TEST_F(CJoinErrorsTest, OptionsAreChecked) {
  tamis_filter* made = nullptr;
  const auto expect = [&](auto tamis_join_options::*member, auto value, const char* text) {
    tamis_join_options options = JoinOptions(10);
    options.*member = value;
    ExpectStatus(tamis_join_create(&options, &made), TAMIS_INVALID_ARGUMENT, text);
  };
  expect(&tamis_join_options::struct_bytes, size_t{0}, "TAMIS_INIT");
  expect(&tamis_join_options::expected_keys, uint64_t{0}, "expected_keys");
  expect(&tamis_join_options::key_type, uint32_t{2}, "key_type is 2");
  expect(&tamis_join_options::has_range, uint32_t{2}, "has_range");
  expect(&tamis_join_options::fpr, 0.9, "fpr");
  expect(&tamis_join_options::max_bytes, uint64_t{1}, "max_bytes");
  expect(&tamis_join_options::l2_bytes, uint64_t{1} << 40, "l2_bytes");
  expect(&tamis_join_options::hash, tamis_hash{TAMIS_HASH_SIPHASH13, 0, 0, 1, 2}, "secret");
  tamis_join_options options = JoinOptions(10);
  options.backend = "abacus";
  ExpectStatus(tamis_join_create(&options, &made), TAMIS_UNKNOWN_BACKEND, "abacus");
  options = JoinOptions(10);
  options.calibration_path = "/none/of/these";
  EXPECT_EQ(tamis_join_create(&options, &made), TAMIS_IO) << tamis_last_error();
  options = JoinOptions(10, TAMIS_JOIN_HASHES);
  options.has_range = 1;
  ExpectStatus(tamis_join_create(&options, &made), TAMIS_INVALID_ARGUMENT, "range");
  auto probe_options = TAMIS_INIT(tamis_join_probe_options);
  tamis_join_probe* probe = nullptr;
  probe_options.margin = 0.5;
  ExpectStatus(tamis_join_probe_create(join_.get(), &probe_options, &probe), TAMIS_INVALID_ARGUMENT,
               "margin");
  probe_options = TAMIS_INIT(tamis_join_probe_options);
  probe_options.reserved = 1;
  ExpectStatus(tamis_join_probe_create(join_.get(), &probe_options, &probe), TAMIS_INVALID_ARGUMENT,
               "reserved");
  EXPECT_TRUE(made == nullptr && probe == nullptr);
}

TEST_F(CJoinErrorsTest, WrongOrder_ChangesNothing) {
  CPart first = MakePart(join_.get(), 0);
  Insert(first, keys_);
  const std::vector<std::byte> bytes = BytesOf(first);
  ExpectStatus(tamis_join_complete(join_.get(), 2), TAMIS_INVALID_ARGUMENT, "missing: 0, 1");
  ASSERT_EQ(tamis_join_add(join_.get(), first.get()), TAMIS_OK);
  // The part is empty now.
  ExpectStatus(tamis_join_add(join_.get(), first.get()), TAMIS_INVALID_ARGUMENT, "moved");
  ExpectStatus(tamis_join_part_insert(first.get(), &keys_), TAMIS_READ_ONLY, "added");
  uint64_t n = 0;
  EXPECT_EQ(tamis_join_part_serialize(first.get(), nullptr, 0, &n), TAMIS_READ_ONLY);
  char* text = nullptr;
  EXPECT_EQ(tamis_join_part_json(first.get(), &text), TAMIS_READ_ONLY);
  ExpectStatus(tamis_join_add(join_.get(), PartFrom(bytes).get()), TAMIS_INVALID_ARGUMENT,
               "part 0 was added before");
  ExpectStatus(tamis_join_complete(join_.get(), 2), TAMIS_INVALID_ARGUMENT, "missing: 1");
  ExpectStatus(tamis_join_complete(join_.get(), 0), TAMIS_INVALID_ARGUMENT, "1 parts were added");
  EXPECT_EQ(Count(join_, KeysOf(RandomKeys(100, 6))), 100u) << "maybe before completion";
  const CPart late = MakePart(join_.get(), 1);
  ASSERT_EQ(tamis_join_complete(join_.get(), 1), TAMIS_OK);
  ExpectStatus(tamis_join_complete(join_.get(), 1), TAMIS_READ_ONLY, "complete");
  ExpectStatus(tamis_join_add(join_.get(), late.get()), TAMIS_READ_ONLY, "complete");
  EXPECT_EQ(Count(join_, keys_), 1000u);
  EXPECT_LT(Count(join_, KeysOf(RandomKeys(1000, 6))), 100u);
}

TEST_F(CJoinErrorsTest, PartOfAnotherGeometry_NamesBoth) {
  tamis_join_options other = JoinOptions(1000);
  other.max_bytes = 8192;
  const CFilter small = MakeJoin(other);
  const CPart part = MakePart(small.get(), 0);
  Insert(part, keys_);
  ExpectStatus(tamis_join_add(join_.get(), part.get()), TAMIS_INCOMPATIBLE, "8192");
  ExpectStatus(tamis_join_add(join_.get(), PartFrom(BytesOf(part)).get()), TAMIS_INCOMPATIBLE,
               "67108864");
  EXPECT_EQ(tamis_join_add(small.get(), part.get()), TAMIS_OK) << "the part was not changed";
}

TEST_F(CJoinErrorsTest, DamagedBytes_AreRefused) {
  const CPart part = MakePart(join_.get(), 0);
  std::vector<uint64_t> few(numbers_.begin(), numbers_.begin() + 20);
  Insert(part, KeysOf(few));
  const std::vector<std::byte> bytes = BytesOf(part);
  tamis_join_part* made = nullptr;
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const int bit : {0, 3, 7}) {
      std::vector<std::byte> damaged = bytes;
      damaged[i] ^= static_cast<std::byte>(1 << bit);
      const tamis_status status = tamis_join_part_from_bytes(damaged.data(), damaged.size(), &made);
      EXPECT_TRUE(status == TAMIS_CORRUPT || status == TAMIS_UNSUPPORTED) << i << ' ' << status;
    }
    EXPECT_EQ(tamis_join_part_from_bytes(bytes.data(), i, &made), TAMIS_CORRUPT) << i;
  }
  EXPECT_EQ(made, nullptr);
  std::vector<std::byte> small(bytes.size() - 1);
  uint64_t written = 7;
  ExpectStatus(tamis_join_part_serialize(part.get(), small.data(), small.size(), &written),
               TAMIS_INVALID_ARGUMENT, "has room for");
  EXPECT_EQ(written, 7u);
  EXPECT_EQ(small, std::vector<std::byte>(small.size()));
}

TEST_F(CJoinErrorsTest, KeysOfAnotherType_AreRefused) {
  const char* const text[] = {"a"};
  const uint64_t length[] = {1};
  const tamis_keys strings = tamis_keys_strings(text, length, 1);
  const CPart part = MakePart(join_.get(), 0);
  ExpectStatus(tamis_join_part_insert(part.get(), &strings), TAMIS_INVALID_ARGUMENT, "integers");
  EXPECT_EQ(JsonOf(tamis_join_part_json, part.get()),
            "{\"index\":0,\"contents\":\"list\",\"inserted\":0,\"bytes\":0}");
  uint64_t hits = 0;
  ExpectStatus(tamis_filter_count(join_.get(), nullptr, &strings, &hits), TAMIS_INVALID_ARGUMENT,
               "integers");
}

TEST_F(CJoinErrorsTest, OtherFunctionsAndOtherFilters_AreUnsupported) {
  tamis_filter* const join = join_.get();
  tamis_filter* made = nullptr;
  const void* data = nullptr;
  uint64_t n = 0;
  const CFilter other = MakeC(TAMIS_BLOOM, 10);
  const auto unsupported = [](tamis_status status) {
    ExpectStatus(status, TAMIS_UNSUPPORTED, "a join filter cannot be");
  };
  unsupported(tamis_filter_insert(join, nullptr, &keys_, nullptr, nullptr, 0));
  unsupported(-tamis_filter_insert_u64(join, 1));
  unsupported(-tamis_filter_insert_if_absent_u64(join, 1));
  unsupported(-tamis_filter_erase_u64(join, 1));
  unsupported(tamis_filter_erase(join, nullptr, &keys_, nullptr, nullptr, 0));
  unsupported(tamis_filter_clone(join, &made));
  unsupported(tamis_filter_fold(join, &made));
  unsupported(tamis_filter_clear(join));
  unsupported(tamis_filter_save(join, "/nowhere/x.tamis", nullptr));
  unsupported(tamis_filter_serialize(join, nullptr, nullptr, 0, &n));
  unsupported(tamis_filter_payload(join, &data, &n));
  unsupported(tamis_filter_set_backend(join, "portable"));
  unsupported(tamis_filter_intersect(join, other.get()));
  EXPECT_EQ(tamis_filter_merge(join, other.get()), TAMIS_INCOMPATIBLE);
  const CFilter second = MakeJoin(JoinOptions(1000));
  unsupported(tamis_filter_merge(join, second.get()));
  const auto no_join = [](tamis_status status) {
    ExpectStatus(status, TAMIS_UNSUPPORTED, "a filter of kind bloom is not a join filter");
  };
  const CPart part = MakePart(join, 0);
  tamis_join_part* made_part = nullptr;
  tamis_join_probe* made_probe = nullptr;
  char* text = nullptr;
  no_join(tamis_join_part_create(other.get(), 0, &made_part));
  no_join(tamis_join_add(other.get(), part.get()));
  no_join(tamis_join_complete(other.get(), 0));
  no_join(tamis_join_json(other.get(), &text));
  no_join(tamis_join_probe_create(other.get(), nullptr, &made_probe));
  ExpectStatus(tamis_join_part_create(join, 1 << 20, &made_part), TAMIS_INVALID_ARGUMENT,
               "must be below");
}

// ---- Description ----

TEST(CJoinTest, Json_HasTheFormAndTheChoice) {
  std::vector<uint64_t> numbers(2000);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = 100 + 3 * i;
  const CFilter empty = MakeJoin(JoinOptions(2000));
  const std::string before = JsonOf(tamis_join_json, empty.get());
  EXPECT_TRUE(
      before.starts_with("{\"complete\":false,\"form\":\"nothing\",\"parts_added\":0,"
                         "\"bytes\":0,\"choice\":{\"form\":\"blocks\",\"reason\":\""))
      << before;
  const CFilter join = Joined(JoinOptions(2000), KeysOf(numbers));
  const std::string json = JsonOf(tamis_join_json, join.get());
  EXPECT_TRUE(
      json.starts_with("{\"complete\":true,\"form\":\"bitmap\",\"parts_added\":1,"
                       "\"bytes\":752,\"range\":[100,6097],\"choice\":{\"form\":\"bitmap\","
                       "\"reason\":\"a bitmap of 752 bytes fits the second-level cache"))
      << json;
  EXPECT_NE(json.find("\"candidates\":[{\"form\":\"bitmap\",\"bytes\":752,\"place\":\"L2\","
                      "\"ns_per_row\":"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find("{\"form\":\"list\",\"error\":\"not known to be at most 64 keys\"}"),
            std::string::npos)
      << json;
  auto info = TAMIS_INIT(tamis_filter_info);
  ASSERT_EQ(tamis_filter_get_info(join.get(), &info), TAMIS_OK);
  EXPECT_EQ(info.kind, 0u);
  EXPECT_EQ(info.format, nullptr);
  EXPECT_EQ(info.read_only, 1u);
  EXPECT_EQ(info.bytes, 752u);
  EXPECT_EQ(info.hash_kind, uint32_t{TAMIS_HASH_XXH3});
  double number = 0;
  ASSERT_EQ(tamis_filter_estimated_count(join.get(), &number), TAMIS_OK);
  EXPECT_EQ(number, 2000);
  ASSERT_EQ(tamis_filter_expected_fpr(join.get(), &number), TAMIS_OK);
  EXPECT_EQ(number, 0);
}

// ---- The probe ----

TEST(CJoinTest, Probe_SelectsAndSwitchesOff) {
  std::vector<uint64_t> numbers(4096);
  std::iota(numbers.begin(), numbers.end(), 0);
  const tamis_keys keys = KeysOf(numbers);
  std::vector<uint32_t> all(4096), rows(4096);
  std::iota(all.begin(), all.end(), 0);
  const CFilter join = MakeJoin(JoinOptions(4096));
  auto options = TAMIS_INIT(tamis_join_probe_options);
  options.sample_rows = 4096;
  options.pause_rows = 10'000;
  options.max_pauses = 1;
  tamis_join_probe* made = nullptr;
  ASSERT_EQ(tamis_join_probe_create(join.get(), &options, &made), TAMIS_OK) << tamis_last_error();
  const CProbe probe(made);
  EXPECT_EQ(tamis_join_probe_wanted(made, 4096), 0) << "before completion";
  const CPart part = MakePart(join.get(), 0);
  Insert(part, keys);
  AddAndComplete(join.get(), part);
  // All rows match, so the filter never pays.
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(tamis_join_probe_wanted(made, 4096), 1);
    uint64_t hits = 0;
    ASSERT_EQ(tamis_join_probe_select_from(made, &keys, all.data(), 4096, rows.data(), 4096, &hits),
              TAMIS_OK);
    EXPECT_EQ(hits, 4096u);
    EXPECT_EQ(rows, all);
  }
  const tamis_join_probe* const described = made;
  EXPECT_TRUE(JsonOf(tamis_join_probe_json, described)
                  .starts_with("{\"verdict\":\"try again later\",\"rows\":8192,\"passed\":8192,"
                               "\"skipped\":4096,\"ns\":"))
      << JsonOf(tamis_join_probe_json, described);
  EXPECT_EQ(tamis_join_probe_wanted(made, 10'000), 0);
  EXPECT_EQ(tamis_join_probe_wanted(made, 1), 1);
  // A program that measures by itself.
  ASSERT_EQ(tamis_join_probe_record(made, 4096, 4096, 1e9), TAMIS_OK);
  EXPECT_NE(JsonOf(tamis_join_probe_json, described).find("switch off"), std::string::npos);
  EXPECT_EQ(tamis_join_probe_wanted(made, 1), 0);
}

// ---- Threads ----

// The element of a null may be any number, also one that overflows in nanoseconds.
TEST(CJoinTest, TimesWithNulls_AreIntegers) {
  const std::vector<uint64_t> counts = {7, 1, uint64_t{1} << 63, 4, INT64_MAX};
  const uint8_t validity = 0b01010;
  for (uint32_t layout = TAMIS_KEYS_DAYS; layout <= TAMIS_KEYS_NANOS; ++layout) {
    tamis_keys keys = tamis_keys_u64(counts.data(), 4);
    keys.layout = layout;
    keys.offset = 1;
    keys.validity = &validity;
    const CFilter join = MakeJoin(JoinOptions(10));
    const CPart part = MakePart(join.get(), 0);
    Insert(part, keys);
    EXPECT_EQ(Count(join, keys), 2u);
    AddAndComplete(join.get(), part);
    EXPECT_EQ(Count(join, keys), 2u);
  }
}

TEST(CJoinTest, ThreadsBuildAndQueryAtTheSameTime) {
  constexpr uint32_t kThreads = 4;
  const CFilter join = MakeJoin(JoinOptions(40'000));
  std::vector<std::vector<uint64_t>> shares;
  for (uint32_t t = 0; t < kThreads; ++t) shares.push_back(RandomKeys(10'000, 100 + t));
  std::atomic<bool> done = false;
  std::thread reader([&] {
    do {
      for (const std::vector<uint64_t>& share : shares)
        EXPECT_EQ(Count(join, KeysOf(share)), 10'000u);
      JsonOf(tamis_join_json, join.get());
    } while (!done);
  });
  std::vector<std::thread> builders;
  for (uint32_t t = 0; t < kThreads; ++t) {
    builders.emplace_back([&, t] {
      const CPart part = MakePart(join.get(), t);
      Insert(part, KeysOf(shares[t]));
      EXPECT_EQ(tamis_join_add(join.get(), part.get()), TAMIS_OK) << tamis_last_error();
    });
  }
  for (std::thread& builder : builders) builder.join();
  EXPECT_EQ(tamis_join_complete(join.get(), kThreads), TAMIS_OK) << tamis_last_error();
  done = true;
  reader.join();
  EXPECT_LT(Count(join, KeysOf(RandomKeys(10'000, 1))), 500u);
}

}  // namespace tamis::join_test
