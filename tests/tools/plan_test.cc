// tamis plan.
#include <gtest/gtest.h>
#include <tamis/plan/plan.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/tools/command_test.h"
#include "tools/output/format.h"

namespace tamis::tools::plan_test {

class PlanTest : public CommandTest {
 protected:
  nlohmann::json Plan(const std::string& options) const {
    return Ok("tamis plan --json " + options).Json();
  }

  // Writes a calibration by "made up", which has points for two kinds.
  void WriteCalibration() const {
    Ok("mkdir -p cache/tamis");
    Write(
        "cache/tamis/calibration.json",
        R"({"tamis_calibration": 3, "machine": "made up", "device": "default", "device_start_us": 40, )"
        R"("upload_gb_per_s": 12, "thread_start_us": 20, )"
        R"("thread_efficiency": 0.9, "points": [)"
        R"({"backend": "portable", "kind": "split-block", "filter_bytes": 4194304, )"
        R"("contains_ns": 2.5, "insert_ns": 2, "partitioned_insert_ns": 3},)"
        R"({"backend": "portable", "kind": "bloom", "filter_bytes": 1024, )"
        R"("contains_ns": 12, "insert_ns": 2, "partitioned_insert_ns": 3}]})");
  }
};

nlohmann::json Named(const nlohmann::json& candidates, const std::string& name) {
  for (const nlohmann::json& candidate : candidates) {
    if (candidate["name"] == name) return candidate;
  }
  return nullptr;
}

TEST_F(PlanTest, FiveBillionKeys) {
  EXPECT_EQ(Ok("tamis plan --n 5e9 --fpr 0.01 --memory 16G").out,
            R"(5,000,000,000 keys, at most 1.000% false positives

  filter                bytes      bits/key  true FPR   lines  erases grows merges parallel
  split-block           6.13 GiB      10.53  1.000%       1.0       -     -    yes      yes
  scalable split-block  9.07 GiB      15.59  0.1500%      1.0       -   yes      -        -
  cuckoo12              7.67 GiB      13.18  0.2369%      2.0     yes     -      -      yes
  cuckoo16              9.72 GiB      16.69  0.01170%     2.0     yes     -      -      yes
  scalable cuckoo16     9.72 GiB      16.69  0.01170%     2.0     yes   yes      -        -
  bloom                 5.58 GiB       9.59  1.000%       4.5       -     -    yes      yes
  cuckoo8               14.5 GiB      24.97  1.000%       2.0     yes     -      -      yes
  counting              26.6 GiB      45.72  1.000%       1.0  lacks memory
  (least possible)      3.87 GiB       6.64  1.000%            n log2(1/p) bits
  hash table            74.5 GiB     128.00  exact        1.1  lacks memory
  sorted array          37.3 GiB      64.00  exact       29.2  lacks memory

  Use a split-block filter: 6.13 GiB, 1% false positives, one cache line per lookup. A bloom filter
  would be 9% smaller and cost 4.5 cache lines per lookup. If the keys are integers in a range of at
  most 52.6 billion values, a bitmap of that range is exact and not larger. If the set never
  changes, a fuse8 filter takes 5.44 GiB.

  lines: cache lines that a lookup touches, if half of the keys are in the filter. The times of
  lookups are unknown: `tamis backends --calibrate` measures this machine.
  memory: 16.0 GiB at most (--memory).
)");
}

TEST_F(PlanTest, OfASetThatNeverChanges) {
  const nlohmann::json json = Plan("--n 1e8 --fpr 0.4% --static --memory 16G");
  EXPECT_EQ(json["static"], true);
  EXPECT_EQ(json["choice"], "fuse8");
  EXPECT_EQ(Plan("--n 1e8 --fpr 0.4% --memory 16G")["static"], false);
}

TEST_F(PlanTest, JsonEqualsTheLibrarysPlan) {
  const nlohmann::json json = Plan("--n 5e9 --fpr 0.01 --memory 16G");
  EXPECT_EQ(json["n"], 5'000'000'000);
  EXPECT_EQ(json["max_bytes"], uint64_t{16} << 30);
  EXPECT_EQ(json["choice"], "split-block");
  EXPECT_EQ(json["calibration"], nullptr);
  const FilterPlan plan = PlanFilters(5'000'000'000, 0.01, {.max_bytes = uint64_t{16} << 30});
  EXPECT_EQ(json["advice"], plan.advice);
  ASSERT_EQ(json["filters"].size(), plan.filters.size());
  ASSERT_EQ(json["exact"].size(), plan.exact.size());
  for (size_t i = 0; i < plan.filters.size(); ++i) {
    const nlohmann::json filter = json["filters"][i];
    EXPECT_EQ(filter["name"], plan.filters[i].name);
    EXPECT_EQ(filter["bytes"].get<double>(), plan.filters[i].bytes);
    EXPECT_EQ(filter["bits_per_key"], plan.filters[i].bits_per_key);
    EXPECT_EQ(filter["fpr"], plan.filters[i].fpr);
    EXPECT_EQ(filter["probe"], nullptr);
    EXPECT_EQ(filter["lacks"].size(), plan.filters[i].lacks.size());
    EXPECT_EQ(filter["suitable"], plan.filters[i].suitable());
  }
  EXPECT_EQ(Named(json["filters"], "split-block")["can"],
            nlohmann::json({"merge", "intersect", "parallel-build", "parquet"}));
  EXPECT_NEAR(json["least"]["bits_per_key"].get<double>(), std::log2(100), 1e-6);
  EXPECT_EQ(Named(json["exact"], "sorted array")["bytes"], 40'000'000'000);
}

TEST_F(PlanTest, NamesTheRequirementsOfParquetsBits) {
  EXPECT_NE(Ok("tamis plan --n 1e6 --parquet --memory 1G").out.find("XXH64 and seed 0"),
            std::string::npos);
  EXPECT_EQ(Ok("tamis plan --n 1e6 --memory 1G").out.find("XXH64"), std::string::npos);
}

TEST_F(PlanTest, NumbersCanBeWrittenInManyWays) {
  const std::string plan = Ok("tamis plan --n 5e9 --fpr 0.01").out;
  for (const char* n : {"5000000000", "5_000_000_000", "5G", "5000M", "0.5e10", "5.0E+9"}) {
    EXPECT_EQ(Ok("tamis plan --fpr 1% --n " + std::string(n)).out, plan) << n;
  }
  for (const char* bad : {"5x", "-5", "0", "1.5", "5e", "5_", "_5", "5__0", "1e20", "''", "' 5'"}) {
    EXPECT_EQ(Sh("tamis plan --n " + std::string(bad)).status, 2) << bad;
  }
}

TEST_F(PlanTest, SaysWhenSomethingExactIsBetter) {
  const nlohmann::json digits11 = Plan("--n 5e9 --digits 11 --memory 64G");
  EXPECT_EQ(Named(digits11["exact"], "bitmap")["bytes"], 12'500'000'000);
  EXPECT_EQ(digits11["choice"], "split-block");
  EXPECT_EQ(Plan("--n 5e9 --range 0:99999999999 --memory 64G"), digits11);
  // 10^10 bits are 1.16 GiB. Any filter for half of that range is larger.
  const nlohmann::json digits10 = Plan("--n 5e9 --digits 10 --memory 16G");
  EXPECT_EQ(Named(digits10["exact"], "bitmap")["bytes"], 1'250'000'000);
  EXPECT_EQ(digits10["choice"], "bitmap");
  EXPECT_EQ(digits10["range"], nlohmann::json({0, 9'999'999'999}));
}

TEST_F(PlanTest, ExactTablesHaveTheBytesOfTheKeys) {
  EXPECT_NE(Plan("--n 1e8 --fpr 1e-9 --memory 16G")["choice"], "hash table");
  const nlohmann::json urls = Plan("--n 1e6 --key-bytes 60");
  EXPECT_EQ(urls["key_bytes"], 60);
  EXPECT_EQ(Named(urls["exact"], "hash table")["bytes"], 76'000'000);
  EXPECT_EQ(Sh("tamis plan --n 10 --key-bytes 0").status, 2);
  EXPECT_EQ(Sh("tamis plan --n 10 --key-bytes 9 --digits 3").status, 2);
}

TEST_F(PlanTest, NeedsAreReported) {
  for (const AbilityInfo& info : kAbilities) {
    const nlohmann::json json = Plan("--n 1e6 --memory 16G --" + std::string(info.name));
    EXPECT_EQ(json["needs"], nlohmann::json::array({info.name}));
    for (const char* list : {"filters", "exact"}) {
      for (const nlohmann::json& candidate : json[list]) {
        const auto can = candidate["can"].get<std::vector<std::string>>();
        EXPECT_EQ(candidate["suitable"], std::find(can.begin(), can.end(), info.name) != can.end())
            << info.name << " " << candidate;
      }
    }
  }
  EXPECT_EQ(Plan("--n 1e8 --erase --merge --memory 16G")["choice"], "counting");
  EXPECT_EQ(Plan("--n 1e8 --erase --parquet --memory 16G")["choice"], nullptr);
}

TEST_F(PlanTest, TimesComeFromTheCalibration) {
  TAMIS_SKIP_ON_WINDOWS("wine sets the folder of the calibration");
  WriteCalibration();
  const std::string one_thread = "TAMIS_THREADS=1; export TAMIS_THREADS; ";
  const nlohmann::json json = Ok(one_thread + "tamis plan --json --n 1e6 --memory 16G").Json();
  EXPECT_EQ(json["calibration"], "made up");
  EXPECT_EQ(
      Named(json["filters"], "split-block")["probe"],
      nlohmann::json({{"ns", 2.5}, {"at_least", false}, {"backend", "portable"}, {"threads", 1}}));
  EXPECT_DOUBLE_EQ(Named(json["filters"], "bloom")["probe"]["ns"].get<double>(), 12);
  EXPECT_TRUE(Named(json["filters"], "bloom")["probe"]["at_least"].get<bool>());
  EXPECT_EQ(Named(json["filters"], "counting")["probe"], nullptr);
  const std::string text = Ok(one_thread + "tamis plan --n 1e6 --memory 16G").out;
  for (const char* part : {"ns/key", "2.50", ">12.00", "made up", "not measured"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST_F(PlanTest, LinesFitTheScreen) {
  if (!IsForWindows()) WriteCalibration();  // with it, the table has one more column
  for (const char* options :
       {"--n 5e9", "--n 1e13", "--n 1 --digits 19", "--n 1e18 --fpr 1e-12",
        "--n 1e9 --erase --grow --merge --intersect --parallel-build --parquet --exact",
        "--n 1e9 --memory 1K --range 0:18446744073709551615"}) {
    const std::string text = Ok("tamis plan " + std::string(options)).out;
    for (const std::string& line : Lines(text)) {
      EXPECT_LE(line.size(), 100U) << options << "\n" << line;
    }
  }
}

TEST_F(PlanTest, ImpossiblePlansAreReported) {
  const nlohmann::json json = Plan("--n 1e14");
  const nlohmann::json filter = Named(json["filters"], "split-block");
  EXPECT_FALSE(filter.contains("bytes"));
  EXPECT_TRUE(filter.contains("error"));
  EXPECT_NE(Ok("tamis plan --n 1e16").out.find("Nothing that meets the needs"), std::string::npos);
  for (const char* bad :
       {"--n 1001 --range 0:999", "--n 10 --range 9:5", "--n 10 --digits 20", "--n 10 --fpr 0",
        "--n 10 --fpr nan", "--n 10 --memory 0", "--n 10 --batch 0", "--n 10 --sing",
        "--n 10 --digits 3 --range 0:9", ""}) {
    const CommandResult result = Sh("tamis plan " + std::string(bad));
    EXPECT_EQ(result.status, 2) << bad;
    EXPECT_FALSE(result.err.empty()) << bad;
  }
}

TEST(WrappedTest, BreaksAtSpaces) {
  EXPECT_EQ(Wrapped("", 2, 10), "\n");
  EXPECT_EQ(Wrapped("one two", 2, 7), "one two\n");
  EXPECT_EQ(Wrapped("one two", 2, 6), "one\n  two\n");
  EXPECT_EQ(Wrapped("  one two three", 2, 9), "  one two\n  three\n");
  EXPECT_EQ(Wrapped("incomprehensible one", 2, 5), "incomprehensible\n  one\n");
  EXPECT_EQ(Wrapped("  incomprehensible", 2, 5), "  incomprehensible\n");
}

}  // namespace tamis::tools::plan_test
