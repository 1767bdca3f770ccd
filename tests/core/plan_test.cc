// PlanFilters: sizes, rates and abilities are those of the filters, times are those of the planner,
// and the advice follows from them.
#include "tamis/plan/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <type_traits>

#include "tamis/engine/engine_threads.h"
#include "tamis/file/filter_kind_name.h"
#include "tamis/filters/bloom_filter.h"
#include "tamis/filters/counting_filter.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tamis/filters/scalable_filter.h"
#include "tamis/filters/set_operations.h"
#include "tamis/filters/sizing.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/physical_memory.h"
#include "tests/core/file_test_util.h"
#include "tests/core/scoped_env.h"

namespace tamis::plan_test {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

class PlanFiltersTest : public testing::Test {
 protected:
  ScopedEnv backend_{"TAMIS_BACKEND", nullptr};
  ScopedEnv threads_{"TAMIS_THREADS", nullptr};
};

FilterPlan PlanOf(uint64_t keys, double fpr, PlanNeeds needs = {}) {
  if (needs.max_bytes == 0) needs.max_bytes = kNoLimit;
  return PlanFilters(keys, fpr, needs);
}

const PlanCandidate& Named(const FilterPlan& plan, const std::string& name) {
  for (const auto* candidates : {&plan.filters, &plan.exact}) {
    for (const PlanCandidate& candidate : *candidates) {
      if (candidate.name == name) return candidate;
    }
  }
  throw Error(ErrorCode::kInvalidArgument, "no candidate " + name);
}

bool Says(const FilterPlan& plan, const std::string& text) {
  return plan.advice.find(text) != std::string::npos;
}

TEST_F(PlanFiltersTest, EveryKindIsThereOnce) {
  // Static filters are planned only for sets that never change.
  const FilterPlan plan = PlanOf(1'000'000, 0.01, {.is_static = true});
  std::map<FilterKind, int> times;
  for (const PlanCandidate& filter : plan.filters) {
    ASSERT_TRUE(filter.kind);
    ++times[*filter.kind];
    EXPECT_EQ(filter.layers.has_value(), filter.kind == FilterKind::kScalable);
  }
  for (const FilterKindInfo& info : FilterKinds()) {
    const FilterKind kind = info.kind;
    if (kind != FilterKind::kScalable) {
      EXPECT_EQ(times[kind], 1) << FilterKindName(kind);
    }
  }
  EXPECT_EQ(times[FilterKind::kScalable], 2) << "layers that can erase, and layers that cannot";
  for (const PlanCandidate& exact : plan.exact) {
    EXPECT_FALSE(exact.kind);
    EXPECT_TRUE(exact.can.exact);
    EXPECT_EQ(exact.fpr, 0);
  }
}

TEST_F(PlanFiltersTest, RatesAreKeptAndSizesGrowWithKeysAndPrecision) {
  std::map<std::string, double> of_fewer_keys;
  for (double keys = 1; keys < 1e11; keys = std::ceil(1.9 * keys)) {
    std::map<std::string, double> of_higher_rate;
    for (const double fpr : {0.5, 0.1, 0.01, 0.0012, 1e-4, 1e-7}) {
      const FilterPlan plan = PlanOf(static_cast<uint64_t>(keys), fpr);
      for (const PlanCandidate& filter : plan.filters) {
        if (!filter.possible()) continue;
        SCOPED_TRACE(filter.name + ", keys " + std::to_string(keys) + ", fpr " +
                     std::to_string(fpr));
        EXPECT_GT(filter.fpr, 0);
        EXPECT_LE(filter.fpr, fpr * (1 + 1e-12));
        EXPECT_GE(filter.bytes, plan.least_bytes);
        EXPECT_DOUBLE_EQ(filter.bits_per_key, 8 * filter.bytes / keys);
        // The layers of a scalable filter change with the rate.
        EXPECT_GE(filter.bytes, of_higher_rate[filter.layers ? "" : filter.name]);
        of_higher_rate[filter.name] = filter.bytes;
        const std::string same = filter.name + std::to_string(fpr);
        EXPECT_GE(filter.bytes, of_fewer_keys[same]);
        of_fewer_keys[same] = filter.bytes;
      }
    }
  }
}

// Compares a candidate with a filter of class F.
template <typename F>
void ExpectTrue(const PlanCandidate& candidate, const F& filter) {
  SCOPED_TRACE(candidate.name);
  EXPECT_EQ(candidate.bytes, static_cast<double>(filter.bytes()));
  EXPECT_EQ(candidate.can.merge, static_cast<bool>(CanMerge(filter, filter)));
  EXPECT_EQ(candidate.can.erase, (std::is_base_of_v<ErasableFilter, F>));
  EXPECT_EQ(candidate.can.intersect, (requires(F & f) { f.Intersect(f); }));
  const Engine engine({.threads = 4});
  EXPECT_EQ(candidate.can.parallel_build,
            engine.PlanCall(filter, 1'000'000'000, Engine::Operation::kInsert).chosen.threads > 1);
}

TEST_F(PlanFiltersTest, SizesAndAbilitiesEqualTheFilters) {
  constexpr uint64_t kKeys = 20'000'000;  // several regions each, for threads
  for (const double fpr : {0.03, 0.004}) {
    const FilterPlan plan = PlanOf(kKeys, fpr);
    const FilterOptions options{.capacity = kKeys, .fpr = fpr};
    ExpectTrue(Named(plan, "split-block"), SplitBlockBloomFilter(options));
    ExpectTrue(Named(plan, "cuckoo8"), CuckooFilter<8>(options));
    ExpectTrue(Named(plan, "cuckoo12"), CuckooFilter<12>(options));
    ExpectTrue(Named(plan, "cuckoo16"), CuckooFilter<16>(options));
    ExpectTrue(Named(plan, "bloom"), BloomFilter(options));
    ExpectTrue(Named(plan, "counting"), CountingBloomFilter(options));
    const ScalableOptions scalable{.initial_capacity = kKeys, .fpr = fpr};
    ExpectTrue(Named(plan, "scalable split-block"),
               ScalableFilter<SplitBlockBloomFilter>(scalable));
    if (fpr > 0.01) {
      ExpectTrue(Named(plan, "scalable cuckoo12"), ScalableFilter<CuckooFilter<12>>(scalable));
    } else {
      ExpectTrue(Named(plan, "scalable cuckoo16"), ScalableFilter<CuckooFilter<16>>(scalable));
    }
  }
}

TEST_F(PlanFiltersTest, RatesEqualFullFilters) {
  const FilterPlan plan = PlanOf(200'000, 0.02);
  std::vector<uint64_t> keys(200'000);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = i * 0x9E3779B97F4A7C15;
  const auto expect_rate = [&](const char* name, auto filter) {
    filter.Insert(keys);
    EXPECT_NEAR(filter.expected_fpr(), Named(plan, name).fpr, 0.03 * Named(plan, name).fpr) << name;
  };
  const FilterOptions options{.capacity = keys.size(), .fpr = 0.02};
  expect_rate("split-block", SplitBlockBloomFilter(options));
  expect_rate("cuckoo16", CuckooFilter<16>(options));
  expect_rate("bloom", BloomFilter(options));
  expect_rate("counting", CountingBloomFilter(options));
  expect_rate("scalable split-block", ScalableFilter<SplitBlockBloomFilter>(
                                          {.initial_capacity = keys.size(), .fpr = 0.02}));
}

PlanNeeds RandomNeeds(std::mt19937_64& random, uint64_t keys) {
  PlanNeeds needs;
  for (const AbilityInfo& info : kAbilities) needs.must.*info.ability = random() % 5 == 0;
  needs.max_bytes = uint64_t{1} << (random() % 44 + 1);
  if (random() % 2 == 0) {
    needs.range = KeyRange{5, 5 + keys - 1 + (random() >> (random() % 32 + 20))};
  }
  return needs;
}

std::vector<std::string> Unmet(const PlanCandidate& candidate, const PlanNeeds& needs) {
  std::vector<std::string> unmet;
  for (const AbilityInfo& info : kAbilities) {
    if (needs.must.*info.ability && !(candidate.can.*info.ability)) unmet.emplace_back(info.name);
  }
  if (candidate.bytes > static_cast<double>(needs.max_bytes)) unmet.emplace_back("memory");
  return unmet;
}

TEST_F(PlanFiltersTest, TheChoiceMeetsAllNeedsWheneverThatIsPossible) {
  std::mt19937_64 random(5);
  int with_choice = 0, exact = 0;
  for (int i = 0; i < 3000; ++i) {
    const uint64_t keys = 1 + (random() >> (random() % 36 + 28));
    const double fpr = std::pow(10, -static_cast<double>(random() % 700) / 100 - 0.31);
    const PlanNeeds needs = RandomNeeds(random, keys);
    const FilterPlan plan = PlanFilters(keys, fpr, needs);
    bool any = false;
    for (const auto* candidates : {&plan.filters, &plan.exact}) {
      size_t last = 0;  // better ones first
      for (const PlanCandidate& candidate : *candidates) {
        if (candidate.possible()) {
          EXPECT_EQ(candidate.lacks, Unmet(candidate, needs));
        }
        const size_t place = candidate.possible() ? candidate.lacks.size() : 1000;
        EXPECT_GE(place, last);
        last = place;
        any |= candidate.suitable();
      }
    }
    ASSERT_EQ(plan.choice.has_value(), any);
    EXPECT_FALSE(plan.advice.empty());
    EXPECT_EQ(plan.advice.find("  "), std::string::npos) << plan.advice;
    EXPECT_EQ(plan.advice.back(), '.');
    if (!any) continue;
    ++with_choice;
    exact += !plan.choice->kind;
    EXPECT_TRUE(Unmet(*plan.choice, needs).empty());
    EXPECT_LE(plan.choice->fpr, fpr * (1 + 1e-12));
    EXPECT_TRUE(Says(plan, plan.choice->name)) << plan.advice;
  }
  EXPECT_GT(with_choice, 1000);
  EXPECT_GT(exact, 100);
  EXPECT_LT(exact, with_choice - 100);
}

// Returns figures of the portable backend for some kinds.
Calibration Figures() {
  Calibration calibration;
  calibration.machine = "made up";
  calibration.points = {
      {"portable", kMiB, 2, 1, 1},
      {"portable", 64 * kMiB, 8, 1, 1},
      {"portable", kMiB, 5, 1, 1, FilterKind::kCuckoo16},
      {"portable", kMiB / 4, 7, 1, 1, FilterKind::kBloom},
      {"portable", 16 * kMiB, 70, 1, 1, FilterKind::kBloom},
  };
  return calibration;
}

TEST_F(PlanFiltersTest, TimesEqualTheEngines) {
  const EngineOptions options{.threads = 3, .calibration = Figures()};
  const Engine engine(options);
  for (const double fpr : {0.2, 0.01, 1e-4}) {
    for (const uint64_t batch : {uint64_t{1}, uint64_t{5000}, uint64_t{3'000'000}}) {
      constexpr uint64_t kKeys = 1'500'000;
      const FilterPlan plan = PlanFilters(kKeys, fpr, {.batch_keys = batch}, &options);
      EXPECT_EQ(plan.calibration, "made up");
      const FilterOptions made{.capacity = kKeys, .fpr = fpr};
      const auto expect_same = [&](const char* name, const Filter& filter) {
        const std::optional<ProbeCost>& probe = Named(plan, name).probe;
        ASSERT_TRUE(probe) << name;
        const CallRoute chosen = engine.PlanCall(filter, batch).chosen;
        EXPECT_DOUBLE_EQ(probe->ns, 1e9 * chosen.seconds / static_cast<double>(batch)) << name;
        EXPECT_EQ(probe->threads, chosen.threads);
        EXPECT_EQ(probe->backend->name, "portable");
      };
      expect_same("split-block", SplitBlockBloomFilter(made));
      expect_same("cuckoo12", CuckooFilter<12>(made));  // by the figures of another width
      expect_same("cuckoo16", CuckooFilter<16>(made));
      expect_same("bloom", BloomFilter(made));
      EXPECT_FALSE(Named(plan, "counting").probe) << "a guess";
      EXPECT_FALSE(Named(plan, "sorted array").probe);
    }
  }
}

TEST_F(PlanFiltersTest, SizesBeyondTheMeasurementsAreMarked) {
  const EngineOptions options{.threads = 1, .calibration = Figures()};
  const FilterPlan small = PlanFilters(100'000, 0.01, {}, &options);
  const FilterPlan large = PlanFilters(1'000'000'000, 0.01, {}, &options);
  for (const char* name : {"split-block", "cuckoo12", "bloom"}) {
    EXPECT_FALSE(Named(small, name).probe->at_least) << name;
    EXPECT_TRUE(Named(large, name).probe->at_least) << name;
  }
}

TEST_F(PlanFiltersTest, TimesAreMissingWithoutMeasurements) {
  for (const PlanCandidate& filter : PlanOf(1000, 0.01).filters) EXPECT_FALSE(filter.probe);
  EngineOptions options;
  options.calibration.points = {{"of another machine", kMiB, 1, 1, 1}};
  for (const PlanCandidate& filter : PlanFilters(1000, 0.01, {}, &options).filters) {
    EXPECT_FALSE(filter.probe) << filter.name;
  }
}

TEST_F(PlanFiltersTest, TimesDecideWhereTheyAreKnown) {
  // Split-block filters read fewer cache lines, but by these figures cuckoo filters are faster.
  Calibration calibration = Figures();
  calibration.points = {};
  for (const FilterKindInfo& info : FilterKinds()) {
    const FilterKind kind = info.kind;
    if (!info.is_plain()) continue;
    const double ns = kind == FilterKind::kCuckoo16 ? 1 : 100;
    if (kind == FilterKind::kCuckoo8 || kind == FilterKind::kCuckoo12) continue;
    calibration.points.push_back({"portable", kMiB, ns, 1, 1, kind});
  }
  const EngineOptions options{.threads = 1, .calibration = calibration};
  EXPECT_EQ(PlanFilters(1'000'000, 0.01).choice->name, "split-block");
  EXPECT_EQ(PlanFilters(1'000'000, 0.01, {}, &options).choice->name, "cuckoo12");
}

// Tests which hash and keys Parquet's bits need. A bitmap does not have these bits, so the advice
// does not mention it.
TEST_F(PlanFiltersTest, ParquetsBitsAndTheirRequirements) {
  for (const std::optional<KeyRange> range : {std::optional<KeyRange>(), {{0, 9'999'999'999}}}) {
    const FilterPlan plan = PlanOf(
        5'000'000'000, 0.01, {.must = {.parquet = true}, .range = range, .max_bytes = 16 * kGiB});
    EXPECT_EQ(plan.advice,
              "Use a split-block filter: 6.13 GiB, 1% false positives, one cache line per lookup. "
              "For Parquet, hash with XXH64 and seed 0, and pass INT32 keys as 4 bytes "
              "(FixedColumn).");
  }
  const FilterPlan any = PlanOf(5'000'000'000, 0.01);
  EXPECT_FALSE(Says(any, "Parquet")) << any.advice;
  EXPECT_NE(Named(any, "split-block").note.find("Parquet's bits with XXH64, seed 0"),
            std::string::npos);
}

TEST_F(PlanFiltersTest, FiveBillionPhoneNumbers) {
  const FilterPlan plan = PlanOf(5'000'000'000, 0.01, {.max_bytes = 16 * kGiB});
  EXPECT_EQ(plan.choice->name, "split-block");
  EXPECT_NEAR(plan.choice->bytes / 0x1p30, 6.13, 0.01);
  EXPECT_EQ(plan.advice,
            "Use a split-block filter: 6.13 GiB, 1% false positives, one cache line per lookup. A "
            "bloom filter would be 9% smaller and cost 4.5 cache lines per lookup. If the keys are "
            "integers in a range of at most 52.6 billion values, a bitmap of that range is exact "
            "and not larger. If the set never changes, a fuse8 filter takes 5.44 GiB.");
  EXPECT_NEAR(plan.least_bytes, 5e9 * std::log2(100) / 8, 1);

  // Numbers of 10 digits: one bit for each possible number.
  const FilterPlan digits10 =
      PlanOf(5'000'000'000, 0.01, {.range = KeyRange{0, 9'999'999'999}, .max_bytes = 16 * kGiB});
  EXPECT_EQ(digits10.choice->name, "bitmap");
  EXPECT_EQ(digits10.choice->bytes, 1.25e9);
  EXPECT_EQ(
      digits10.advice,
      "Use a bitmap: exact, 1.16 GiB, one cache line per lookup (one bit for each value of the "
      "range; not part of tamis). The smallest filter, bloom, takes 5.58 GiB.");
  // n (1 + l) + u / 2^l bits with l = 1.
  EXPECT_EQ(Named(digits10, "Elias-Fano list").bytes, (5e9 * 2 + 1e10 / 2) / 8);

  const FilterPlan digits11 =
      PlanOf(5'000'000'000, 0.01, {.range = KeyRange{0, 99'999'999'999}, .max_bytes = 16 * kGiB});
  EXPECT_EQ(digits11.choice->name, "split-block");
  EXPECT_EQ(Named(digits11, "bitmap").bytes, 1.25e10);
  EXPECT_TRUE(Says(digits11, "With 9.50 billion keys or more, a bitmap of this range is smaller."))
      << digits11.advice;
}

TEST_F(PlanFiltersTest, FewKeysNeedNoFilter) {
  EXPECT_EQ(PlanOf(8, 0.01).choice->name, "sorted array");  // one cache line
  EXPECT_EQ(PlanOf(1000, 0.01).choice->name, "hash table");
  EXPECT_EQ(PlanOf(16'384, 0.01).choice->name, "hash table");  // 256 KiB
  EXPECT_EQ(PlanOf(40'000, 0.01).choice->name, "split-block");
  EXPECT_EQ(PlanOf(16'384, 0.01, {.max_bytes = 200'000}).choice->name, "sorted array");
  EXPECT_EQ(PlanOf(1000, 0.01, {.range = KeyRange{0, 65'535}}).choice->name, "bitmap");
  EXPECT_EQ(PlanOf(1000, 0.01, {.must = {.parquet = true}}).choice->name, "split-block");
}

// Low rates make filters large and slow. Even so, a table of many keys is larger.
TEST_F(PlanFiltersTest, AFilterIsTakenWhereTheExactTableIsFarLarger) {
  const FilterPlan plan = PlanOf(100'000'000, 1e-9);
  ASSERT_TRUE(plan.choice->kind) << plan.advice;
  EXPECT_LT(plan.choice->bytes, Named(plan, "hash table").bytes);
  EXPECT_FALSE(Says(plan, "no advantage")) << plan.advice;
  EXPECT_TRUE(Says(plan, "A sorted array would be exact and take")) << plan.advice;
  EXPECT_TRUE(Says(PlanOf(1000, 1e-3), "that is no advantage for so few keys"));
}

TEST_F(PlanFiltersTest, ExactTablesHaveTheBytesOfTheKeys) {
  const auto bytes_of = [](const char* name, const PlanNeeds& needs) {
    return Named(PlanOf(1000, 0.01, needs), name).bytes;
  };
  EXPECT_EQ(bytes_of("hash table", {}), 16'000);
  EXPECT_EQ(bytes_of("hash table", {.key_bytes = 5}), 10'000);
  EXPECT_EQ(bytes_of("sorted array", {.key_bytes = 5}), 5'000);
  // A row of keys, and references of 8 bytes to them.
  EXPECT_EQ(bytes_of("hash table", {.key_bytes = 60}), 76'000);
  EXPECT_EQ(bytes_of("sorted array", {.key_bytes = 60}), 68'000);
  // The range determines the size.
  EXPECT_EQ(bytes_of("hash table", {.range = KeyRange{0, 1 << 20}, .key_bytes = 60}), 8'000);
  const FilterPlan integers = PlanOf(1'000'000, 0.01);
  const FilterPlan urls = PlanOf(1'000'000, 0.01, {.key_bytes = 60});
  EXPECT_EQ(Named(urls, "split-block").bytes, Named(integers, "split-block").bytes);
  for (const char* name : {"hash table", "sorted array"}) {
    EXPECT_GT(Named(urls, name).cache_lines, Named(integers, name).cache_lines) << name;
  }
  EXPECT_GT(PlanOf(1000, 0.01, {.key_bytes = kNoLimit}).exact[0].bytes, 0x1p64);
}

TEST_F(PlanFiltersTest, ExactStructuresForExactAnswers) {
  const Abilities exact = {.exact = true};
  EXPECT_EQ(PlanOf(1'000'000, 0.01, {.must = exact}).choice->name, "hash table");
  EXPECT_EQ(PlanOf(1'000'000, 0.01, {.must = exact, .max_bytes = 9'000'000}).choice->name,
            "sorted array");
  const KeyRange wide{0, (uint64_t{1} << 40) - 1};
  EXPECT_EQ(
      PlanOf(1'000'000, 0.01, {.must = exact, .range = wide, .max_bytes = 4'000'000}).choice->name,
      "Elias-Fano list");
  // Keys of 32 bits take half the space.
  const KeyRange narrow{0, (uint64_t{1} << 32) - 1};
  EXPECT_EQ(Named(PlanOf(1000, 0.01, {.range = narrow}), "sorted array").bytes, 4000);
  EXPECT_EQ(Named(PlanOf(1000, 0.01), "sorted array").bytes, 8000);
  EXPECT_TRUE(Says(PlanOf(1'000'000, 0.01, {.must = exact}), "No filter meets the needs."));
  // All integers of 64 bits.
  const FilterPlan all = PlanOf(1'000'000, 0.01, {.range = KeyRange{0, kNoLimit}});
  EXPECT_EQ(Named(all, "bitmap").bytes, 0x1p61);
}

TEST_F(PlanFiltersTest, NeedsDecide) {
  const auto choice = [](Abilities must, uint64_t max_bytes = 0) {
    return PlanOf(10'000'000, 0.01, {.must = must, .max_bytes = max_bytes}).choice->name;
  };
  EXPECT_EQ(choice({.erase = true}), "cuckoo12");
  EXPECT_EQ(choice({.erase = true, .merge = true}), "counting");
  EXPECT_EQ(choice({.grow = true}), "scalable split-block");
  EXPECT_EQ(choice({.erase = true, .grow = true}), "scalable cuckoo16");
  EXPECT_EQ(choice({.merge = true, .intersect = true, .parquet = true}), "split-block");
  EXPECT_EQ(choice({}, 12 * kMiB), "bloom");  // the only one that fits
  const FilterPlan tight = PlanOf(10'000'000, 0.01, {.max_bytes = 12 * kMiB});
  EXPECT_TRUE(Says(tight,
                   "A split-block filter would cost one cache line per lookup, but its 12.6 "
                   "MiB exceed the available 12.0 MiB."))
      << tight.advice;
}

// Requirements that make filters large: an exact structure may be the choice.
TEST_F(PlanFiltersTest, ExactIsChosenIfItIsNotLarger) {
  const Abilities must = {.erase = true, .merge = true};
  const FilterPlan plan = PlanOf(200'000'000, 1e-4, {.must = must});
  EXPECT_EQ(plan.choice->name, "hash table") << plan.advice;
  EXPECT_LT(plan.choice->bytes, Named(plan, "counting").bytes);
  EXPECT_TRUE(Says(plan,
                   "The smallest filter, counting, takes 3.03 GiB. To merge filters, make each of "
                   "them for all 200 million keys, at this size. Without merging, a cuckoo16 "
                   "filter takes 466 MiB, but a union must be built from the keys."))
      << plan.advice;
  const FilterPlan loose = PlanOf(200'000'000, 0.01, {.must = must});
  EXPECT_EQ(loose.choice->name, "counting");
  EXPECT_TRUE(
      Says(loose, "To merge filters, make each of them for all 200 million keys, at this size."))
      << loose.advice;
  EXPECT_FALSE(Says(PlanOf(200'000'000, 0.01), "merge"));
}

TEST_F(PlanFiltersTest, StaticFiltersAreForSetsThatNeverChange) {
  const auto is_static = [](const PlanCandidate& filter) {
    return KindInfo(*filter.kind).is_static;
  };
  EXPECT_TRUE(std::ranges::none_of(PlanOf(100'000'000, 0.004).filters, is_static));
  const FilterPlan plan = PlanOf(100'000'000, 0.004, {.is_static = true});
  EXPECT_EQ(plan.choice->name, "fuse8");
  EXPECT_NEAR(plan.choice->bytes / 0x1p20, 112, 1.5);
  EXPECT_FALSE(Says(plan, "If the set never changes"));
  EXPECT_EQ(PlanOf(100'000'000, 0.001, {.is_static = true}).choice->name, "fuse12");
  EXPECT_EQ(PlanOf(100'000'000, 1e-9, {.is_static = true}).choice->name, "fuse32");
  // A requirement that no static filter meets is more important than size.
  EXPECT_FALSE(
      is_static(*PlanOf(100'000'000, 0.004, {.must = {.merge = true}, .is_static = true}).choice));
  EXPECT_NE(Named(PlanOf(1000, 1e-4, {.is_static = true}), "fuse8").error.find("is above"),
            std::string::npos);
}

TEST_F(PlanFiltersTest, AbsurdSizesAreReportedWithABetterKind) {
  EXPECT_EQ(SizingAdvice(FilterKind::kCuckoo8, 1'000'000, 0.001),
            "at 0.1% a cuckoo8 filter takes 250.9 bits per key; a cuckoo16 filter can do the same "
            "and takes 16.7");
  for (const FilterKindInfo& info : FilterKinds()) {
    if (!info.is_plain()) continue;
    EXPECT_EQ(SizingAdvice(info.kind, 1'000'000, 0.03), "") << info.name;
  }
  for (const double fpr : {0.5, 0.1, 0.01, 1e-4, 1e-6, 1e-9}) {
    // The default is fast, and only one kind both erases and merges. The advice is against neither.
    EXPECT_EQ(SizingAdvice(FilterKind::kSplitBlock, 1'000'000, fpr), "");
    EXPECT_EQ(SizingAdvice(FilterKind::kCounting, 1'000'000, fpr), "");
  }
  ExpectError([] { SizingAdvice(FilterKind::kScalable, 10, 0.01); }, ErrorCode::kInvalidArgument,
              "");
}

TEST_F(PlanFiltersTest, ImpossiblePlansHaveAReason) {
  const FilterPlan huge = PlanOf(100'000'000'000'000, 0.01, {.max_bytes = kGiB});
  EXPECT_FALSE(huge.choice);
  EXPECT_NE(Named(huge, "split-block").error.find("at most 1099511627776 blocks"),
            std::string::npos);
  EXPECT_EQ(Named(huge, "split-block").bytes, 0);
  EXPECT_TRUE(Says(huge,
                   "Nothing that meets the needs fits in the available 1.00 GiB: the smallest, a "
                   "bloom filter, takes 109 TiB."))
      << huge.advice;

  const FilterPlan tight =
      PlanOf(5'000'000'000, 0.01, {.must = {.merge = true}, .max_bytes = 4 * kGiB});
  EXPECT_TRUE(Says(tight, "A split-block filter of 4.00 GiB would have 6.06% false positives."))
      << tight.advice;
  EXPECT_NEAR(SplitBlockFpr(5e9, 4 * kGiB / 32), 0.0606, 0.00005);

  const FilterPlan both = PlanOf(1'000'000, 0.01, {.must = {.erase = true, .parquet = true}});
  EXPECT_FALSE(both.choice);
  EXPECT_EQ(
      both.advice,
      "Nothing meets all needs. The closest is a split-block filter of 1.26 MiB, which lacks: "
      "erase.");

  // The rate of the first layer is out of range.
  EXPECT_FALSE(Named(PlanOf(1000, kMinFpr), "scalable split-block").possible());
  EXPECT_TRUE(Named(PlanOf(1000, kMinFpr), "split-block").possible());
}

TEST_F(PlanFiltersTest, TheMemoryOfTheMachineIsTheDefaultLimit) {
  const FilterPlan plan = PlanFilters(1000, 0.01);
  EXPECT_EQ(plan.needs.max_bytes, PhysicalMemory());
}

TEST_F(PlanFiltersTest, BadInputIsRefused) {
  const auto expect = [](uint64_t keys, double fpr, const PlanNeeds& needs, const char* text) {
    ExpectError([&] { PlanFilters(keys, fpr, needs); }, ErrorCode::kInvalidArgument, text);
  };
  expect(0, 0.01, {}, "0 keys");
  for (const double fpr : {0.0, -1.0, 0.51, 1e-13, std::nan("")}) {
    expect(10, fpr, {}, "out of range");
  }
  expect(10, 0.01, {.batch_keys = 0}, "lookups of 0 keys");
  expect(10, 0.01, {.key_bytes = 0}, "keys of 0 bytes");
  expect(10, 0.01, {.range = KeyRange{9, 5}}, "from 9 to 5");
  expect(1001, 0.01, {.range = KeyRange{0, 999}}, "1001 distinct keys do not fit a range of 1000");
  EXPECT_NO_THROW(PlanFilters(1000, 0.01, {.range = KeyRange{0, 999}}));
  EXPECT_NO_THROW(PlanFilters(kNoLimit, 0.01, {.range = KeyRange{0, kNoLimit}}));
  EngineOptions engine;
  engine.threads = kMaxThreads + 1;
  ExpectError([&] { PlanFilters(10, 0.01, {}, &engine); }, ErrorCode::kInvalidArgument, "1025");
  ExpectError([] { FilterBytes(FilterKind::kScalable, 1, 0.01); }, ErrorCode::kInvalidArgument,
              "scalable");
  for (const double keys : {-1.0, -1e300, 0x1p64, 1e300, std::nan("")}) {
    for (const FilterKind kind : {FilterKind::kBloom, FilterKind::kSplitBlock}) {
      ExpectError([&] { FilterFpr(kind, keys, 64); }, ErrorCode::kInvalidArgument,
                  "keys are out of range [0, 2^64)");
    }
  }
  ExpectError([] { FilterFpr(FilterKind::kScalable, 1, 64); }, ErrorCode::kInvalidArgument,
              "scalable");
}

}  // namespace tamis::plan_test
