// Threads: errors are per thread, filters and engines can be shared; plans.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tamis/backends.h"
#include "tamis/hash_keys.h"
#include "tamis/plan/plan.h"
#include "tests/c/c_test_util.h"
#include "tests/test_util.h"

namespace tamis::threads_test {

TEST(CThreadsTest, EachHasTheMessageOfItsOwnLastError) {
  EXPECT_EQ(tamis_filter_contains_u64(nullptr, 1), -TAMIS_INVALID_ARGUMENT);
  EXPECT_STREQ(tamis_last_error(), "filter is NULL");
  std::thread([] {
    EXPECT_STREQ(tamis_last_error(), "");
    tamis_filter* out = nullptr;
    EXPECT_EQ(tamis_filter_open("nowhere.tamis", nullptr, &out), TAMIS_IO);
    EXPECT_NE(std::string(tamis_last_error()).find("nowhere.tamis"), std::string::npos);
  }).join();
  EXPECT_STREQ(tamis_last_error(), "filter is NULL");
  // The message stays until another call fails.
  EXPECT_NE(tamis_kind_name(TAMIS_BLOOM), nullptr);
  const CFilter filter = MakeC(TAMIS_BLOOM, 10);
  EXPECT_STREQ(tamis_last_error(), "filter is NULL");
}

class CEngineTest : public testing::Test {
 protected:
  CEngineTest() {
    EXPECT_EQ(tamis_filter_insert(filter_.get(), engine_.get(), &keys_, nullptr, nullptr, 0),
              TAMIS_OK);
  }

  uint64_t Count() const {
    uint64_t hits = 0;
    EXPECT_EQ(tamis_filter_count(filter_.get(), engine_.get(), &keys_, &hits), TAMIS_OK);
    return hits;
  }

  const std::vector<uint64_t> numbers_ = RandomKeys(200'000, /*seed=*/1);
  const tamis_keys keys_ = tamis_keys_u64(numbers_.data(), numbers_.size());
  const CEngine engine_ = MakeEngine(3);
  const CFilter filter_ = MakeC(TAMIS_SPLIT_BLOCK, numbers_.size());
};

TEST_F(CEngineTest, ManyThreadsAskOneFilterByOneEngine) {
  uint32_t threads = 0;
  ASSERT_EQ(tamis_engine_threads(engine_.get(), &threads), TAMIS_OK);
  EXPECT_EQ(threads, 3u);
  std::vector<std::thread> askers;
  for (int i = 0; i < 4; ++i) {
    askers.emplace_back([&] {
      for (int round = 0; round < 20; ++round) EXPECT_EQ(Count(), numbers_.size());
    });
  }
  for (std::thread& asker : askers) asker.join();
}

TEST_F(CEngineTest, BackendsByName) {
  for (uint32_t i = 0; const char* const found = tamis_backend_name(i); ++i) {
    const std::string name = found;
    auto options = TAMIS_INIT(tamis_engine_options);
    options.backend = name.c_str();
    options.threads = 2;
    const CEngine pinned = Made<tamis_engine>(tamis_engine_create, &options);
    uint64_t hits = 0;
    ASSERT_EQ(tamis_filter_count(filter_.get(), pinned.get(), &keys_, &hits), TAMIS_OK);
    EXPECT_EQ(hits, numbers_.size()) << name;
    ASSERT_EQ(tamis_filter_set_backend(filter_.get(), name.c_str()), TAMIS_OK);
    ASSERT_EQ(tamis_filter_count(filter_.get(), nullptr, &keys_, &hits), TAMIS_OK);
    EXPECT_EQ(hits, numbers_.size()) << name;
  }
  EXPECT_EQ(tamis_filter_set_backend(filter_.get(), "abacus"), TAMIS_UNKNOWN_BACKEND);
  EXPECT_EQ(Backends().size(), [] {
    uint32_t n = 0;
    while (tamis_backend_name(n) != nullptr) ++n;
    return n;
  }());
}

TEST_F(CEngineTest, PlansEqualTheLibrarys) {
  auto options = TAMIS_INIT(tamis_plan_options);
  options.keys = 1'000'000;
  options.fpr = 0.001;
  options.must = TAMIS_CAN_ERASE;
  options.has_range = 1;
  options.range_high = 9'999'999;
  options.max_bytes = 1 << 30;
  options.batch_keys = 1000;
  options.key_bytes = 20;
  PlanNeeds needs;
  needs.must.erase = true;
  needs.range = KeyRange{0, 9'999'999};
  needs.max_bytes = 1 << 30;
  needs.batch_keys = 1000;
  needs.key_bytes = 20;
  char* text = nullptr;
  ASSERT_EQ(tamis_plan_json(&options, nullptr, &text), TAMIS_OK) << tamis_last_error();
  CText without(text);
  EXPECT_EQ(without.get(), PlanJson(PlanFilters(1'000'000, 0.001, needs)));
  ASSERT_EQ(tamis_plan_json(&options, engine_.get(), &text), TAMIS_OK);
  CText with(text);
  const EngineOptions engine{.threads = 3};
  EXPECT_EQ(with.get(), PlanJson(PlanFilters(1'000'000, 0.001, needs, &engine)));
  options.is_static = 1;
  needs.is_static = true;
  ASSERT_EQ(tamis_plan_json(&options, nullptr, &text), TAMIS_OK) << tamis_last_error();
  const CText of_static(text);
  EXPECT_EQ(of_static.get(), PlanJson(PlanFilters(1'000'000, 0.001, needs)));
  options.is_static = 0;
  // Every ability has a bit.
  for (size_t i = 0; i < std::size(kAbilities); ++i) {
    options.must = 1u << i;
    ASSERT_EQ(tamis_plan_json(&options, nullptr, &text), TAMIS_OK) << tamis_last_error();
    const CText plan(text);
    EXPECT_NE(std::string(text).find(std::string("\"needs\": [\n    \"") + kAbilities[i].name),
              std::string::npos);
  }
}

TEST(CHashTest, HashesOfKeysEqualTheLibrarys) {
  const std::vector<uint64_t> numbers = RandomKeys(100, /*seed=*/1);
  tamis_keys keys = tamis_keys_u64(numbers.data(), numbers.size());
  std::vector<uint8_t> validity(13, 0x55);
  keys.validity = validity.data();
  const tamis_hash hash = {TAMIS_HASH_SIPHASH24, 0, 0, 7, 8};
  std::vector<uint64_t> hashes(50), expected(50);
  uint64_t n = 0;
  ASSERT_EQ(tamis_hash_keys(&keys, &hash, hashes.data(), 50, &n), TAMIS_OK) << tamis_last_error();
  EXPECT_EQ(n, 50u);
  HashKeys(Keys(numbers).WithValidity(validity.data()), {HashKind::kSipHash24, 0, {7, 8}},
           expected);
  EXPECT_EQ(hashes, expected);
  ExpectStatus(tamis_hash_keys(&keys, &hash, hashes.data(), 49, &n), TAMIS_INVALID_ARGUMENT,
               "room for 49");
}

}  // namespace tamis::threads_test
