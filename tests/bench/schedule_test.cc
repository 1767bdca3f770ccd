// The axes, the size classes, and the points that a run measures.
#include "bench/suite/schedule.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "tamis/backends.h"

namespace tamis::bench::schedule_test {

constexpr uint64_t kKiB = uint64_t{1} << 10;
constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr Caches kCaches{48 * kKiB, 2 * kMiB, 32 * kMiB};

std::vector<const Backend*> AllBackends() {
  std::vector<const Backend*> backends;
  for (const Backend& backend : Backends()) backends.push_back(&backend);
  return backends;
}

std::vector<std::string> Names(Mode mode, const std::string& filter = "",
                               const std::vector<SizeClass>& sizes = SizeClasses(kCaches, {})) {
  const auto backends = AllBackends();
  Subjects subjects = TamisSubjects();
  if (mode == Mode::kLive) {
    for (auto& subject : LiveSubjects()) subjects.push_back(std::move(subject));
  }
  std::vector<std::string> names;
  for (const SizeClass& size : sizes) {
    for (const Contender& contender : ContendersFor(size, subjects, {mode, backends, 4, filter})) {
      for (const auto* cases : {&contender.builds, &contender.others}) {
        for (const Case& c : *cases) {
          names.push_back(CaseName(contender.subject->kind(), c, size, contender.huge_pages));
        }
      }
    }
  }
  return names;
}

TEST(SizeClassesTest, FollowTheCaches) {
  const auto sizes = SizeClasses(kCaches, {.physical_memory = uint64_t{64} << 30});
  ASSERT_EQ(sizes.size(), 4u);
  EXPECT_EQ(sizes[0].name, "L1");
  EXPECT_EQ(sizes[0].bytes, 24 * kKiB);
  EXPECT_EQ(sizes[1].bytes, 1 * kMiB);
  EXPECT_EQ(sizes[2].name, "LLC");
  EXPECT_EQ(sizes[2].bytes, 16 * kMiB);
  EXPECT_EQ(sizes[3].name, "memory");
  EXPECT_EQ(sizes[3].bytes, 256 * kMiB);
}

TEST(SizeClassesTest, WithoutAThirdLevelThereIsOneLess) {
  const auto sizes = SizeClasses({32 * kKiB, kMiB, kMiB}, {});
  ASSERT_EQ(sizes.size(), 3u);
  EXPECT_EQ(sizes[1].name, "LLC");
  EXPECT_EQ(sizes[1].bytes, kMiB / 2);
}

TEST(SizeClassesTest, StayWithinAThirdOfMemory) {
  for (const uint64_t memory : {256 * kMiB, 2048 * kMiB, uint64_t{24} << 30}) {
    for (const SizeClass& size :
         SizeClasses({kCaches.l1, kCaches.l2, 512 * kMiB}, {.physical_memory = memory})) {
      EXPECT_LE(2 * size.bytes, memory / 3) << size.name;
      EXPECT_GT(size.bytes, 0u);
    }
  }
}

TEST(SizeClassesTest, KeepToLimits) {
  const auto sizes = SizeClasses(kCaches, {.llc_bytes = 4 * kMiB, .memory_bytes = 9 * kMiB});
  EXPECT_EQ(sizes[2].bytes, 4 * kMiB);
  EXPECT_EQ(sizes[3].bytes, 9 * kMiB);
}

TEST(SizeClassesTest, FixedOnesAreTheSameOnEveryMachine) {
  const auto sizes = FixedSizes({.physical_memory = uint64_t{64} << 30});
  ASSERT_EQ(sizes.size(), 2u);
  EXPECT_EQ(sizes[0].name, "1MiB");
  EXPECT_EQ(sizes[0].bytes, kMiB);
  EXPECT_EQ(sizes[1].name, "64MiB");
  EXPECT_EQ(sizes[1].bytes, 64 * kMiB);
  // Sizes that do not fit are left out; they never become smaller.
  EXPECT_EQ(FixedSizes({.memory_bytes = 2 * kMiB}).size(), 1u);
  EXPECT_EQ(FixedSizes({.physical_memory = 256 * kMiB}).size(), 1u);
  EXPECT_TRUE(FixedSizes({.memory_bytes = kMiB - 1}).empty());
  for (const SizeClass& size : sizes) EXPECT_TRUE(IsFixedSize(size.name));
  EXPECT_FALSE(IsFixedSize("memory"));
}

TEST(ScheduleTest, FixedSizesHaveTheSamePointsInEveryRun) {
  const auto sizes = FixedSizes({});
  const auto quick = Names(Mode::kQuick, "", sizes);
  EXPECT_EQ(quick, Names(Mode::kDefault, "", sizes));
  EXPECT_EQ(quick, Names(Mode::kFull, "", sizes));
  EXPECT_LT(quick.size(), 15u);
  for (const char* part : {"^split_block/contains/.*/size:1MiB/", "^split_block/build/.*64MiB/",
                           "^split_block/one_key/.*/size:64MiB/"}) {
    EXPECT_EQ(Names(Mode::kQuick, part, sizes).size(), 1u) << part;
  }
}

TEST(SizeClassesTest, OfKeysHaveTheirNamesAndFit) {
  const std::vector<uint64_t> keys = {100'000, 100'000'000};
  const auto sizes = SizesOfKeys(keys, {});
  ASSERT_EQ(sizes.size(), 2u);
  EXPECT_EQ(sizes[0].name, "100000_keys");
  EXPECT_EQ(sizes[0].bytes, 150'000u);
  EXPECT_EQ(sizes[0].num_keys, 100'000u);
  EXPECT_EQ(SizesOfKeys(keys, {.memory_bytes = 150'000}).size(), 1u);
  EXPECT_EQ(SizesOfKeys(keys, {.physical_memory = 256 * kMiB}).size(), 1u);
}

TEST(ScheduleTest, NamesAreUniqueAndNameEveryAxis) {
  for (const Mode mode : kModes) {
    const auto names = Names(mode);
    EXPECT_EQ(std::set(names.begin(), names.end()).size(), names.size());
    for (const std::string& name : names) {
      for (const char* axis : {"/backend:", "/threads:", "/size:", "/keys:", "/huge_pages:"}) {
        EXPECT_NE(name.find(axis), std::string::npos) << name;
      }
    }
  }
}

TEST(ScheduleTest, QuickIsPartOfDefaultAndDefaultOfFull) {
  const auto quick = Names(Mode::kQuick), standard = Names(Mode::kDefault),
             full = Names(Mode::kFull);
  EXPECT_LT(quick.size(), standard.size());
  EXPECT_LT(standard.size(), full.size());
  const std::set all(full.begin(), full.end());
  for (const std::string& name : standard) EXPECT_TRUE(all.contains(name)) << name;
  const std::set most(standard.begin(), standard.end());
  for (const std::string& name : quick) EXPECT_TRUE(most.contains(name)) << name;
}

TEST(ScheduleTest, QuickVariesEachAxis) {
  const auto names = Names(Mode::kQuick);
  const auto has = [&](const std::string& part) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return name.find(part) != std::string::npos;
    });
  };
  for (const Backend& backend : Backends()) {
    EXPECT_TRUE(has("/backend:" + std::string(backend.name) + "/"));
  }
  for (const char* part :
       {"/contains/",  "/select/",        "/one_key/",   "/insert/",       "/build/",
        "/threads:1/", "/threads:2/",     "/threads:4/", "/size:L1/",      "/size:L2/",
        "/size:LLC/",  "/size:memory/",   "/hits:0/",    "/hits:50/",      "/hits:100/",
        "/keys:u64/",  "/keys:string16/", "/keys:url/",  "/huge_pages:on", "/huge_pages:off"}) {
    EXPECT_TRUE(has(part)) << part;
  }
}

TEST(ScheduleTest, PeersUseTheDefaultBackendInBulkOnTwoThreadsAndByOneKey) {
  const std::vector<uint64_t> keys = {100'000};
  const std::string backend = "/backend:" + std::string(Backends().front().name);
  const std::string rest = "/size:100000_keys";
  EXPECT_EQ(
      Names(Mode::kPeers, "^split_block", SizesOfKeys(keys, {})),
      (std::vector<std::string>{
          "split_block/build_one_key" + backend + "/threads:1" + rest + "/keys:u64/huge_pages:on",
          "split_block/build" + backend + "/threads:2" + rest + "/keys:u64/huge_pages:on",
          "split_block/build" + backend + "/threads:1" + rest + "/keys:u64/huge_pages:on",
          "split_block/contains" + backend + "/threads:1" + rest +
              "/hits:50/keys:u64/huge_pages:on",
          "split_block/contains" + backend + "/threads:2" + rest +
              "/hits:50/keys:u64/huge_pages:on",
          "split_block/one_key" + backend + "/threads:1" + rest + "/hits:50/keys:u64/huge_pages:on",
      }));
  // Other libraries have these kinds.
  EXPECT_EQ(
      Names(Mode::kPeers, "/(one_key|build)/.*/threads:1/", SizesOfKeys(keys, {})),
      (std::vector<std::string>{
          "split_block/build" + backend + "/threads:1" + rest + "/keys:u64/huge_pages:on",
          "split_block/one_key" + backend + "/threads:1" + rest + "/hits:50/keys:u64/huge_pages:on",
          "bloom/build" + backend + "/threads:1" + rest + "/keys:u64/huge_pages:on",
          "bloom/one_key" + backend + "/threads:1" + rest + "/hits:50/keys:u64/huge_pages:on",
          "fuse8/build" + backend + "/threads:1" + rest + "/keys:u64/huge_pages:on",
          "fuse8/one_key" + backend + "/threads:1" + rest + "/hits:50/keys:u64/huge_pages:on",
      }));
  const auto kinds = Names(Mode::kKinds, "one_key/.*/hits:100", SizesOfKeys(keys, {}));
  EXPECT_EQ(kinds.size(), TamisSubjects().size());
}

TEST(ScheduleTest, StaticKinds_AreBuiltFromAllKeysAndNeverChanged) {
  for (const Mode mode : kModes) {
    EXPECT_TRUE(Names(mode, "^fuse.*/(insert|erase|build_.*|contains_beside_writer)/").empty());
  }
  EXPECT_EQ(Names(Mode::kDefault, "^fuse8/(build|contains|one_key|select)/.*/size:L1/").size(),
            Names(Mode::kDefault, "^fuse8/.*/size:L1/").size());
  const auto sizes = SizesOfKeys(std::vector<uint64_t>{100'000}, {});
  EXPECT_EQ(Names(Mode::kKinds, "^fuse(8|12|16|32)/build/.*/threads:1/", sizes).size(), 4u);
  EXPECT_EQ(Names(Mode::kKinds, "^fuse(8|12|16|32)/build/.*/threads:2/", sizes).size(), 4u);
}

TEST(ScheduleTest, StaticKinds_WhenTheKeysAreTooManyToBuildFrom_AreLeftOut) {
  const std::vector<uint64_t> keys = {100'000'000, 200'000'000};
  const auto sizes = SizesOfKeys(keys, {});
  EXPECT_EQ(Names(Mode::kKinds, "^fuse32/build/.*/threads:1/size:100000000_keys", sizes).size(),
            1u);
  EXPECT_EQ(Names(Mode::kKinds, "^fuse.*/size:200000000_keys", sizes).size(), 0u);
}

TEST(ScheduleTest, StringsByLengthAndSmallCallsAreAskedInL2) {
  for (const Mode mode : {Mode::kQuick, Mode::kDefault}) {
    const auto count = [&](const std::string& filter) { return Names(mode, filter).size(); };
    for (const char* form : {"column16", "column40", "column80", "column200"}) {
      EXPECT_EQ(count("^split_block/contains/.*/size:L2/.*/keys:" + std::string(form)), 1u) << form;
    }
    for (const char* call : {"1", "64", "4096"}) {
      for (const char* operation : {"contains", "engine_contains"}) {
        EXPECT_EQ(count("/" + std::string(operation) + "/.*/size:L2/.*/call:" + call + "/"), 1u);
      }
    }
    EXPECT_EQ(count("/size:(L1|LLC|memory)/.*(/call:|/keys:column)"), 0u);
    EXPECT_GT(count("/build_if_absent/.*/size:L2/"), 0u);
    EXPECT_GT(count("^scalable_split_block/build/"), 0u);
    EXPECT_GT(count("^scalable_split_block/contains/"), 0u);
  }
  // The same holds for filters with given numbers of keys.
  const std::vector<uint64_t> keys = {100'000, 10'000'000};
  const auto sizes = SizesOfKeys(keys, {});
  EXPECT_EQ(Names(Mode::kDefault, "/size:100000_keys/.*/call:1/", sizes).size(), 2u);
  EXPECT_EQ(Names(Mode::kDefault, "/size:10000000_keys/.*/call:1/", sizes).size(), 0u);
}

TEST(ScheduleTest, ConcurrentKindsStandBesideThePlainOnes) {
  const std::vector<uint64_t> keys = {100'000};
  const auto count = [&](const std::string& filter) {
    return Names(Mode::kLive, filter, SizesOfKeys(keys, {})).size();
  };
  EXPECT_EQ(count("^concurrent_.*/contains/.*/threads:1/"), LiveSubjects().size());
  EXPECT_EQ(count("/contains/.*/threads:1/"), 2 * LiveSubjects().size());
  EXPECT_EQ(count("/contains_beside_writer/.*/threads:2/"), LiveSubjects().size());
  EXPECT_EQ(count("counting"), 0);
}

TEST(ScheduleTest, TheFilterChoosesByName) {
  const auto names = Names(Mode::kQuick, "/select/.*/size:L2/");
  EXPECT_FALSE(names.empty());
  for (const std::string& name : names) EXPECT_NE(name.find("/select/"), std::string::npos);
  for (const std::string& name : Names(Mode::kQuick, "-/contains/")) {
    EXPECT_EQ(name.find("/contains/"), std::string::npos);
  }
  EXPECT_TRUE(Names(Mode::kQuick, "no such name").empty());
  EXPECT_THROW(Names(Mode::kQuick, "("), std::invalid_argument);
}

TEST(ScheduleTest, ThreadCountsAreThePowersOfTwoAndAll) {
  EXPECT_EQ(ThreadCounts(1), (std::vector<unsigned>{1}));
  EXPECT_EQ(ThreadCounts(2), (std::vector<unsigned>{1, 2}));
  EXPECT_EQ(ThreadCounts(6), (std::vector<unsigned>{1, 2, 4, 6}));
}

}  // namespace tamis::bench::schedule_test
