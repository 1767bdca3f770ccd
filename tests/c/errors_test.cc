// Invalid arguments: each is an error with a message, and changes nothing.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tamis/filters/any_scalable_filter.h"
#include "tamis/filters/serialize.h"
#include "tests/c/c_test_util.h"
#include "tests/c/pointer_checks.h"

namespace tamis::errors_test {

class ErrorsTest : public testing::Test {
 protected:
  // These calls must not change the filter.
  void TearDown() override { EXPECT_EQ(SerializedC(filter_.get()), before_); }

  tamis_status Count(const tamis_keys& keys) const {
    uint64_t hits = 12345;
    const tamis_status status = tamis_filter_count(filter_.get(), nullptr, &keys, &hits);
    if (status != TAMIS_OK) {
      EXPECT_EQ(hits, 12345u) << "written by a call that failed";
    }
    return status;
  }

  uint64_t numbers_[3] = {1, 2, 3};
  tamis_keys keys_ = tamis_keys_u64(numbers_, 3);
  uint64_t words_[8] = {};
  uint8_t bytes_[8] = {};
  uint32_t rows_[8] = {};
  uint64_t n_ = 0;
  double number_ = 0;
  const CFilter filter_ = MakeC(TAMIS_COUNTING, 100);
  const std::vector<std::byte> before_ = SerializedC(filter_.get());
};

TEST_F(ErrorsTest, PointersAreChecked) {
  tamis_filter* const f = filter_.get();
  tamis_filter* made = nullptr;
  tamis_filter_options options = OptionsFor(10);
  auto scalable = TAMIS_INIT(tamis_scalable_options);
  auto info = TAMIS_INIT(tamis_filter_info);
  const CFilter other = MakeC(TAMIS_COUNTING, 100);
  const void* data = nullptr;
  uint32_t u32 = 0;
  tamis_hash hash{};
  ExpectPointersChecked(tamis_hash_random, {}, uint32_t{1}, &hash);
  ExpectPointersChecked(tamis_kind_by_name, {}, "bloom", &u32);
  ExpectPointersChecked(tamis_kind_abilities, {}, uint32_t{1}, &u32);
  ExpectPointersChecked(tamis_hash_keys, {1, 4}, &keys_, &hash, words_, uint64_t{8}, &n_);
  ExpectPointersChecked(tamis_filter_create, {}, uint32_t{1}, &options, &made);
  ExpectPointersChecked(tamis_filter_create_scalable, {0}, &scalable, &made);
  tamis_filter_options no_size = OptionsFor(0);
  ExpectPointersChecked(tamis_filter_build, {1, 2}, uint32_t{TAMIS_FUSE8}, &no_size, nullptr,
                        &keys_, uint64_t{1}, &made);
  ExpectPointersChecked(tamis_filter_clone, {}, f, &made);
  ExpectPointersChecked(tamis_filter_fold, {}, f, &made);
  ExpectPointersChecked(tamis_filter_get_info, {}, f, &info);
  ExpectPointersChecked(tamis_filter_estimated_count, {}, f, &number_);
  ExpectPointersChecked(tamis_filter_expected_fpr, {}, f, &number_);
  ExpectPointersChecked(tamis_filter_payload, {}, f, &data, &n_);
  ExpectPointersChecked(tamis_filter_set_backend, {}, f, "portable");
  ExpectPointersChecked(tamis_filter_contains_u64, {}, f, uint64_t{1});
  ExpectPointersChecked(tamis_filter_contains_string, {}, f, "a", size_t{1});
  ExpectPointersChecked(tamis_filter_contains_hash, {}, f, uint64_t{1});
  ExpectPointersChecked(tamis_filter_insert_string, {0}, f, "a", size_t{1});
  ExpectPointersChecked(tamis_filter_insert_if_absent_string, {0}, f, "a", size_t{1});
  ExpectPointersChecked(tamis_filter_erase_string, {}, f, "a", size_t{1});
  const tamis_engine* const engine = nullptr;
  for (const auto& [output, out] : {std::pair<uint32_t, void*>(TAMIS_BITS, words_),
                                    {TAMIS_BYTES, bytes_},
                                    {TAMIS_ROWS32, rows_},
                                    {TAMIS_ROWS64, words_}}) {
    SCOPED_TRACE(output);
    ExpectPointersChecked(tamis_filter_query, {1, 6}, f, engine, &keys_, output, out, uint64_t{8},
                          &n_);
  }
  ExpectPointersChecked(tamis_filter_query, {1, 4}, f, engine, &keys_, uint32_t{TAMIS_COUNT},
                        nullptr, uint64_t{0}, &n_);
  ExpectPointersChecked(tamis_filter_insert, {1, 3, 4}, f, engine, &keys_, &n_, words_,
                        uint64_t{8});
  ExpectPointersChecked(tamis_filter_insert_if_absent, {1, 4, 6}, f, engine, &keys_, words_,
                        words_ + 4, uint64_t{4}, &n_);
  ExpectPointersChecked(tamis_filter_erase, {1, 3, 4}, f, engine, &keys_, &n_, words_, uint64_t{8});
  ExpectPointersChecked(tamis_filter_merge, {}, f, other.get());
  ExpectPointersChecked(tamis_filter_intersect, {}, f, other.get());
  auto save = TAMIS_INIT(tamis_save_options);
  auto open = TAMIS_INIT(tamis_open_options);
  ExpectPointersChecked(tamis_filter_save, {2}, f, "/nowhere/x.tamis", &save);
  ExpectPointersChecked(tamis_filter_open, {1}, "/nowhere/x.tamis", &open, &made);
  ExpectPointersChecked(tamis_filter_serialize, {1, 4}, f, &save, words_, uint64_t{64}, &n_);
  ExpectPointersChecked(tamis_filter_open_memory, {2}, words_, uint64_t{64}, &open, &made);
  auto view = TAMIS_INIT(tamis_view_options);
  ExpectPointersChecked(tamis_filter_view, {2}, static_cast<void*>(words_), uint64_t{64}, &view,
                        &made);
  tamis_engine* threads = nullptr;
  const CEngine real = MakeEngine(1);
  ExpectPointersChecked(tamis_engine_create, {0}, nullptr, &threads);
  ExpectPointersChecked(tamis_engine_threads, {}, real.get(), &u32);
  auto plan = TAMIS_INIT(tamis_plan_options);
  plan.keys = 10;
  char* text = nullptr;
  ExpectPointersChecked(tamis_plan_json, {1}, &plan, real.get(), &text);
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(text, nullptr);
}

TEST_F(ErrorsTest, FreeingNothingIsAllowed) {
  tamis_filter_free(nullptr);
  tamis_engine_free(nullptr);
  tamis_text_free(nullptr);
}

TEST_F(ErrorsTest, DefaultsWithoutOptions) {
  const CFilter scalable = Made<tamis_filter>(tamis_filter_create_scalable, nullptr);
  EXPECT_EQ(SerializedC(scalable.get()),
            Serialize(*MakeScalableFilter(FilterKind::kSplitBlock, ScalableOptions())));
  const CEngine engine = Made<tamis_engine>(tamis_engine_create, nullptr);
  uint32_t threads = 0;
  ASSERT_EQ(tamis_engine_threads(engine.get(), &threads), TAMIS_OK);
  EXPECT_EQ(threads, Engine().threads());
}

TEST_F(ErrorsTest, OptionsMustBeInitialized) {
  tamis_filter* made = nullptr;
  tamis_filter_options options = OptionsFor(10);
  options.struct_bytes = 0;
  ExpectStatus(tamis_filter_create(1, &options, &made), TAMIS_INVALID_ARGUMENT, "TAMIS_INIT");
  options.struct_bytes = ~size_t{0};
  ExpectStatus(tamis_filter_create(1, &options, &made), TAMIS_INVALID_ARGUMENT, "TAMIS_INIT");
  options = OptionsFor(10);
  options.reserved = 1;
  ExpectStatus(tamis_filter_create(1, &options, &made), TAMIS_INVALID_ARGUMENT, "reserved");
  options = OptionsFor(10);
  options.no_huge_pages = 2;
  ExpectStatus(tamis_filter_create(1, &options, &made), TAMIS_INVALID_ARGUMENT, "0 or 1");
  EXPECT_EQ(made, nullptr);
}

TEST_F(ErrorsTest, OptionsOfALaterVersion) {
  struct Later {
    tamis_filter_options options;
    uint64_t more;
  } later{OptionsFor(10), 0};
  later.options.struct_bytes = sizeof(later);
  tamis_filter* made = nullptr;
  ASSERT_EQ(tamis_filter_create(1, &later.options, &made), TAMIS_OK) << tamis_last_error();
  tamis_filter_free(made);
  later.more = 1;
  ExpectStatus(tamis_filter_create(1, &later.options, &made), TAMIS_UNSUPPORTED, "does not know");
}

TEST_F(ErrorsTest, OptionsOutOfRange) {
  tamis_filter* made = nullptr;
  tamis_filter_options options = OptionsFor(0);
  ExpectStatus(tamis_filter_create(1, &options, &made), TAMIS_INVALID_ARGUMENT, "capacity");
  options = OptionsFor(10);
  options.fpr = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(tamis_filter_create(1, &options, &made), TAMIS_INVALID_ARGUMENT);
  options.fpr = -0.5;
  EXPECT_EQ(tamis_filter_create(1, &options, &made), TAMIS_INVALID_ARGUMENT);
  options = OptionsFor(~uint64_t{0});
  EXPECT_NE(tamis_filter_create(1, &options, &made), TAMIS_OK);
  options = OptionsFor(0);
  options.bytes = uint64_t{1} << 50;
  EXPECT_NE(tamis_filter_create(TAMIS_BLOOM, &options, &made), TAMIS_OK);
  options = OptionsFor(10);
  ExpectStatus(tamis_filter_create(0, &options, &made), TAMIS_UNSUPPORTED, "kind");
  ExpectStatus(tamis_filter_create(5, &options, &made), TAMIS_UNSUPPORTED, "kind");
  ExpectStatus(tamis_filter_create(TAMIS_SCALABLE, &options, &made), TAMIS_INVALID_ARGUMENT,
               "layers");
  options.hash.kind = 9;
  EXPECT_NE(tamis_filter_create(1, &options, &made), TAMIS_OK);
  options.hash = {TAMIS_HASH_XXH3, 0, 0, 1, 0};
  EXPECT_NE(tamis_filter_create(1, &options, &made), TAMIS_OK) << "XXH3 has no secret";
  options.hash = {TAMIS_HASH_SIPHASH13, 0, 0, 0, 0};
  ExpectStatus(tamis_filter_create(1, &options, &made), TAMIS_SECRET, "tamis_hash_random");
  options.hash = {};
  options.backend = "abacus";
  ExpectStatus(tamis_filter_create(1, &options, &made), TAMIS_UNKNOWN_BACKEND, "abacus");
  auto scalable = TAMIS_INIT(tamis_scalable_options);
  scalable.layers = TAMIS_COUNTING;
  ExpectStatus(tamis_filter_create_scalable(&scalable, &made), TAMIS_INVALID_ARGUMENT, "layers");
  scalable.layers = 0;
  scalable.hash.kind = TAMIS_HASH_SIPHASH24;
  ExpectStatus(tamis_filter_create_scalable(&scalable, &made), TAMIS_SECRET, "tamis_hash_random");
  scalable.hash = {};
  scalable.growth = 0.5;
  EXPECT_EQ(tamis_filter_create_scalable(&scalable, &made), TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(made, nullptr);
  auto engine_options = TAMIS_INIT(tamis_engine_options);
  engine_options.threads = 1025;
  tamis_engine* engine = nullptr;
  EXPECT_EQ(tamis_engine_create(&engine_options, &engine), TAMIS_INVALID_ARGUMENT);
  engine_options.threads = 1;
  engine_options.calibration_path = "/nowhere/calibration.json";
  EXPECT_EQ(tamis_engine_create(&engine_options, &engine), TAMIS_IO);
  EXPECT_EQ(engine, nullptr);
}

TEST_F(ErrorsTest, InvalidKeys) {
  const auto keys = [&](uint32_t layout, const void* data, uint64_t count) {
    tamis_keys made{};
    made.layout = layout;
    made.data = data;
    made.count = count;
    return made;
  };
  ExpectStatus(Count(keys(0, numbers_, 1)), TAMIS_INVALID_ARGUMENT, "keys.layout");
  ExpectStatus(Count(keys(21, numbers_, 1)), TAMIS_INVALID_ARGUMENT, "keys.layout");
  for (uint32_t layout = 1; layout <= 20; ++layout) {
    SCOPED_TRACE(layout);
    tamis_keys some = keys(layout, nullptr, 1);
    some.width = 4;
    some.lengths = numbers_;
    ExpectStatus(Count(some), TAMIS_INVALID_ARGUMENT, "keys.data is NULL");
    some = keys(layout, numbers_, ~uint64_t{0});
    some.width = 4;
    ExpectStatus(Count(some), TAMIS_INVALID_ARGUMENT, "2^48");
    some = keys(layout, numbers_, 1);
    some.offset = ~uint64_t{0};
    some.width = 4;
    ExpectStatus(Count(some), TAMIS_INVALID_ARGUMENT, "2^48");
    // The arrays may be NULL if there are no keys.
    some = keys(layout, nullptr, 0);
    some.width = 4;
    EXPECT_EQ(Count(some), TAMIS_OK) << tamis_last_error();
  }
  const auto* const odd = reinterpret_cast<const char*>(numbers_) + 1;
  for (const uint32_t layout : {3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 16, 17, 18, 19, 20}) {
    tamis_keys some = keys(layout, odd, 1);
    some.lengths = numbers_;
    ExpectStatus(Count(some), TAMIS_INVALID_ARGUMENT, "not at a multiple");
  }
  tamis_keys fixed = keys(TAMIS_KEYS_FIXED, numbers_, 1);
  ExpectStatus(Count(fixed), TAMIS_INVALID_ARGUMENT, "width");
  fixed.width = ~uint32_t{0};
  fixed.count = uint64_t{1} << 48;
  ExpectStatus(Count(fixed), TAMIS_INVALID_ARGUMENT, "more than any memory");
}

TEST_F(ErrorsTest, OffsetsThatLeadAstray) {
  const char text[] = "abcdef";
  const auto check = [&](auto zero, uint32_t layout) {
    using Offset = decltype(zero);
    const auto count = [&](std::vector<Offset> offsets, uint64_t num_bytes, const char* bytes) {
      tamis_keys keys{};
      keys.layout = layout;
      keys.count = offsets.size() - 1;
      keys.data = offsets.data();
      keys.bytes = bytes;
      keys.num_bytes = num_bytes;
      return Count(keys);
    };
    EXPECT_EQ(count({0, 2, 2, 6}, 6, text), TAMIS_OK);
    EXPECT_EQ(count({3, 3}, 6, nullptr), TAMIS_OK) << "an empty string needs no bytes";
    ExpectStatus(count({0, 4, 2, 6}, 6, text), TAMIS_INVALID_ARGUMENT, "offsets");
    ExpectStatus(count({-1, 2}, 6, text), TAMIS_INVALID_ARGUMENT, "offsets");
    ExpectStatus(count({0, 7}, 6, text), TAMIS_INVALID_ARGUMENT, "offsets");
    ExpectStatus(count({0, std::numeric_limits<Offset>::max()}, 6, text), TAMIS_INVALID_ARGUMENT,
                 "offsets");
    ExpectStatus(count({0, 6}, 6, nullptr), TAMIS_INVALID_ARGUMENT, "keys.bytes is NULL");
  };
  check(int32_t{0}, TAMIS_KEYS_STRINGS32);
  check(int64_t{0}, TAMIS_KEYS_STRINGS64);
}

TEST_F(ErrorsTest, PointersThatLeadAstray) {
  const char* const strings[] = {"a", nullptr, "c"};
  uint64_t lengths[] = {1, 0, 1};
  tamis_keys keys = tamis_keys_strings(strings, lengths, 3);
  EXPECT_EQ(Count(keys), TAMIS_OK);
  lengths[1] = 1;
  ExpectStatus(Count(keys), TAMIS_INVALID_ARGUMENT, "string 1 has 1 bytes at NULL");
  const uint8_t valid = 0b101;
  keys.validity = &valid;
  EXPECT_EQ(Count(keys), TAMIS_OK) << "null may be anything";
  lengths[2] = ~uint64_t{0};
  ExpectStatus(Count(keys), TAMIS_INVALID_ARGUMENT, "string 2");
  keys.lengths = nullptr;
  ExpectStatus(Count(keys), TAMIS_INVALID_ARGUMENT, "keys.lengths is NULL");
  keys.lengths = reinterpret_cast<const uint64_t*>(reinterpret_cast<const char*>(lengths) + 4);
  ExpectStatus(Count(keys), TAMIS_INVALID_ARGUMENT, "multiple of 8");
  // All keys are checked before any is inserted.
  lengths[2] = ~uint64_t{0};
  keys.lengths = lengths;
  EXPECT_EQ(tamis_filter_insert(filter_.get(), nullptr, &keys, nullptr, nullptr, 0),
            TAMIS_INVALID_ARGUMENT);
  ExpectStatus(-tamis_filter_insert_string(filter_.get(), "a", ~size_t{0}), TAMIS_INVALID_ARGUMENT,
               "any memory");
}

TEST_F(ErrorsTest, ViewsThatLeadAstray) {
  const char text[21] = "twenty letters, twen";
  const char* const buffers[] = {text, nullptr};
  const uint64_t lengths[] = {20, 20};
  struct {
    int32_t length, prefix, buffer, offset;
  } view{};
  const auto count = [&](int32_t length, int32_t buffer, int32_t offset, auto... change) {
    view = {length, 0, buffer, offset};
    tamis_keys keys{};
    keys.layout = TAMIS_KEYS_VIEWS;
    keys.count = 1;
    keys.data = &view;
    keys.bytes = buffers;
    keys.num_bytes = 2;
    keys.lengths = lengths;
    (change(keys), ...);
    return Count(keys);
  };
  const auto no_buffers = [](tamis_keys& keys) {
    keys.bytes = nullptr;
    keys.lengths = nullptr;
    keys.num_bytes = 0;
  };
  EXPECT_EQ(count(20, 0, 0), TAMIS_OK);
  EXPECT_EQ(count(13, 0, 7), TAMIS_OK);
  EXPECT_EQ(count(12, -1, -1, no_buffers), TAMIS_OK) << "short strings are in the view";
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  for (const auto& [length, buffer, offset] : {std::tuple{21, 0, 0},
                                               {13, 0, 8},
                                               {-1, 0, 0},
                                               {13, 2, 0},
                                               {13, -1, 0},
                                               {13, 0, -1},
                                               {13, 1, 0},
                                               {kMost, 0, kMost}}) {
    ExpectStatus(count(length, buffer, offset), TAMIS_INVALID_ARGUMENT, "view 0");
  }
  ExpectStatus(count(13, 0, 0, no_buffers), TAMIS_INVALID_ARGUMENT, "view 0");
  ExpectStatus(count(13, 0, 0, [](tamis_keys& keys) { keys.bytes = nullptr; }),
               TAMIS_INVALID_ARGUMENT, "keys.bytes is NULL");
  ExpectStatus(count(13, 0, 0, [](tamis_keys& keys) { keys.lengths = nullptr; }),
               TAMIS_INVALID_ARGUMENT, "keys.lengths is NULL");
  ExpectStatus(count(13, 0, 0, [](tamis_keys& keys) { keys.num_bytes = ~uint64_t{0}; }),
               TAMIS_INVALID_ARGUMENT, "any memory");
  const uint8_t null = 0;
  EXPECT_EQ(count(-1, 9, 9, [&](tamis_keys& keys) { keys.validity = &null; }), TAMIS_OK);
}

TEST_F(ErrorsTest, OutputsThatAreTooSmallOrAskew) {
  const tamis_filter* const f = filter_.get();
  const auto expect = [&](tamis_status status, const char* text) {
    ExpectStatus(status, TAMIS_INVALID_ARGUMENT, text);
    for (const uint64_t word : words_) EXPECT_EQ(word, 0u) << "written";
  };
  std::vector<uint64_t> many(65);
  const tamis_keys more = tamis_keys_u64(many.data(), many.size());
  expect(tamis_filter_contains_bitmap(f, nullptr, &more, words_, 1, nullptr),
         "bits has room for 1");
  expect(tamis_filter_contains_bytes(f, nullptr, &keys_, bytes_, 2, nullptr),
         "bytes has room for 2");
  expect(tamis_filter_select32(f, nullptr, &keys_, rows_, 2, nullptr), "indices has room for 2");
  expect(tamis_filter_select64(f, nullptr, &keys_, words_, 2, nullptr), "indices has room for 2");
  tamis_filter* const w = filter_.get();
  expect(tamis_filter_insert(w, nullptr, &keys_, nullptr, words_, 2), "rejected has room for 2");
  expect(tamis_filter_insert_if_absent(w, nullptr, &more, words_, nullptr, 1, nullptr), "fresh");
  expect(tamis_filter_erase(w, nullptr, &keys_, nullptr, words_, 2), "missing has room for 2");
  expect(tamis_hash_keys(&keys_, nullptr, words_, 2, nullptr), "hashes has room for 2");
  expect(tamis_filter_query(f, nullptr, &keys_, 0, words_, 8, nullptr), "output is 0");
  expect(tamis_filter_query(f, nullptr, &keys_, 6, words_, 8, nullptr), "output is 6");
  auto* const askew = reinterpret_cast<uint64_t*>(bytes_ + 1);
  expect(tamis_filter_contains_bitmap(f, nullptr, &keys_, askew, 1, nullptr), "multiple of 8");
  expect(tamis_filter_select64(f, nullptr, &keys_, askew, 3, nullptr), "multiple of 8");
  expect(tamis_filter_insert(w, nullptr, &keys_, nullptr, askew, 3), "multiple of 8");
  // For too many keys, only their number is checked.
  tamis_keys huge = keys_;
  huge.count = (uint64_t{1} << 32) + 1;
  expect(tamis_filter_select32(f, nullptr, &huge, rows_, huge.count, nullptr), "32 bits");
}

TEST_F(ErrorsTest, InvalidPlans) {
  auto options = TAMIS_INIT(tamis_plan_options);
  char* text = nullptr;
  ExpectStatus(tamis_plan_json(&options, nullptr, &text), TAMIS_INVALID_ARGUMENT, "keys");
  options.keys = 10;
  options.must = 1u << 20;
  ExpectStatus(tamis_plan_json(&options, nullptr, &text), TAMIS_INVALID_ARGUMENT,
               "must has unknown bits: 1048576");
  options.must = TAMIS_CAN_ERASE;
  options.fpr = 2;
  EXPECT_EQ(tamis_plan_json(&options, nullptr, &text), TAMIS_INVALID_ARGUMENT);
  options.fpr = 0;
  options.has_range = 1;
  options.range_low = 5;
  EXPECT_EQ(tamis_plan_json(&options, nullptr, &text), TAMIS_INVALID_ARGUMENT);
  options.has_range = 0;
  options.is_static = 2;
  ExpectStatus(tamis_plan_json(&options, nullptr, &text), TAMIS_INVALID_ARGUMENT, "is_static");
  options.is_static = 1;
  options.reserved = 1;
  ExpectStatus(tamis_plan_json(&options, nullptr, &text), TAMIS_INVALID_ARGUMENT, "reserved");
  EXPECT_EQ(text, nullptr);
}

TEST_F(ErrorsTest, UnknownNames) {
  EXPECT_EQ(tamis_kind_name(5), nullptr);
  EXPECT_STREQ(tamis_kind_name(TAMIS_SPLIT_BLOCK), "split-block");
  uint32_t kind = 99;
  ExpectStatus(tamis_kind_by_name("sieve", &kind), TAMIS_UNSUPPORTED, "sieve");
  EXPECT_EQ(tamis_kind_abilities(5, &kind), TAMIS_UNSUPPORTED);
  EXPECT_EQ(kind, 99u);
  tamis_hash hash{};
  EXPECT_EQ(tamis_hash_random(9, &hash), TAMIS_INVALID_ARGUMENT);
  EXPECT_STREQ(tamis_status_name(99), "unknown");
  EXPECT_STREQ(tamis_status_name(TAMIS_OK), "Ok");
  EXPECT_STREQ(tamis_status_name(TAMIS_UNAVAILABLE), "Unavailable");
  EXPECT_EQ(tamis_backend_name(1000), nullptr);
  EXPECT_EQ(tamis_backend_name(~uint32_t{0}), nullptr);
}

}  // namespace tamis::errors_test
