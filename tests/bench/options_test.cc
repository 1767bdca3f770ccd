// The command line of tamis-bench.
#include "bench/suite/options.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace tamis::bench::options_test {

CommandLine Parse(std::vector<std::string> arguments) {
  static std::vector<std::string> kept;  // the parser keeps pointers
  kept = std::move(arguments);
  kept.insert(kept.begin(), "tamis-bench");
  std::vector<char*> argv;
  for (std::string& argument : kept) argv.push_back(argument.data());
  return ParseCommandLine(static_cast<int>(argv.size()), argv.data());
}

std::string Error(const std::vector<std::string>& arguments) {
  try {
    Parse(arguments);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(OptionsTest, ModesHaveTheirTimes) {
  EXPECT_EQ(Parse({}).suite.mode, Mode::kDefault);
  EXPECT_LE(Parse({}).suite.budget_seconds, 15 * 60);
  EXPECT_EQ(Parse({"--quick"}).suite.mode, Mode::kQuick);
  EXPECT_LE(Parse({"--quick"}).suite.budget_seconds, 3 * 60);
  EXPECT_EQ(Parse({"--full"}).suite.budget_seconds, 0);
}

TEST(OptionsTest, PresetsHaveTheirModesAndKeys) {
  for (const Mode mode : kModes) {
    const SuiteOptions suite = Parse({"--preset", std::string(ModeName(mode))}).suite;
    EXPECT_EQ(suite.mode, mode);
    EXPECT_EQ(suite.keys.size(), ComparesSpeeds(mode) ? 4u : 0u);
  }
  const std::vector<uint64_t> keys = {100'000, 2'000'000};
  EXPECT_EQ(Parse({"--preset=peers", "--keys", "100000,2000000,100000"}).suite.keys, keys);
  EXPECT_EQ(Parse({"--keys=100000,2000000"}).suite.keys, keys);
  EXPECT_TRUE(Parse({"--preset=kinds", "--sizes=L2"}).suite.keys.empty());
}

TEST(OptionsTest, ReadsAllOptions) {
  const CommandLine line = Parse(
      {"--out", "a.json", "--sizes=L1,memory", "--max-bytes", "64M", "--pin=1", "--notes",
       "on its charger", "--benchmark_repetitions=4", "--benchmark_filter=select",
       "--benchmark_out=raw.csv", "--benchmark_out_format=csv", "--benchmark_context=rack=7,a=b"});
  EXPECT_EQ(line.out, "a.json");
  EXPECT_EQ(line.notes, "on its charger");
  EXPECT_EQ(line.suite.sizes, (std::vector<std::string>{"L1", "memory"}));
  EXPECT_EQ(line.suite.max_bytes, uint64_t{64} << 20);
  EXPECT_EQ(line.processor, 1);
  EXPECT_EQ(line.suite.repetitions, 4u);
  EXPECT_EQ(line.suite.filter, "select");
  EXPECT_EQ(line.benchmark_out, "raw.csv");
  EXPECT_EQ(line.benchmark_out_format, "csv");
  ASSERT_EQ(line.context.size(), 2u);
  EXPECT_EQ(line.context[0].second, "7");
}

TEST(OptionsTest, LeavesOtherFlagsToGoogleBenchmark) {
  const CommandLine line = Parse({"--benchmark_min_time=0.5", "--quick"});
  EXPECT_EQ(line.suite.sample_seconds, 0);
  ASSERT_EQ(line.rest.size(), 2u);
  EXPECT_STREQ(line.rest[1], "--benchmark_min_time=0.5");
  EXPECT_GT(Parse({"--quick"}).suite.sample_seconds, 0);
}

TEST(OptionsTest, ErrorsNameTheProblem) {
  EXPECT_EQ(Error({"--fast"}), "unknown option \"--fast\"");
  EXPECT_EQ(Error({"--out"}), "--out needs a value");
  EXPECT_EQ(Error({"--sizes", "L1,L9"}),
            "--sizes is \"L1,L9\"; allowed: L1, L2, LLC, memory, 1MiB, 64MiB, GPU and GPU_16MiB or "
            "another size, "
            "with commas between them");
  EXPECT_NE(Error({"--sizes", "GPU_16"}), "");
  EXPECT_EQ(Error({"--preset", "fast"}),
            "--preset is \"fast\"; allowed: quick, default, full, peers, kinds and live");
  EXPECT_EQ(Error({"--keys=20000", "--sizes=L1"}), "--keys and --sizes exclude each other");
  for (const char* keys : {"", "9999", "1e6", "100000,", "4000000001"}) {
    EXPECT_NE(Error({"--keys", keys}).find("allowed: whole numbers from 10000"), std::string::npos)
        << keys;
  }
  for (const char* size : {"", "0", "-1", "10", "64X", "99999999999G", "1.5M"}) {
    EXPECT_NE(Error({"--max-bytes", size}).find("allowed: 4096 bytes or more"), std::string::npos)
        << size;
  }
  EXPECT_NE(Error({"--benchmark_repetitions=0"}).find("whole numbers from 1"), std::string::npos);
  EXPECT_NE(Error({"--benchmark_format=xml"}).find("console, json or csv"), std::string::npos);
  EXPECT_NE(Error({"--benchmark_context=x"}).find("NAME=VALUE"), std::string::npos);
}

}  // namespace tamis::bench::options_test
