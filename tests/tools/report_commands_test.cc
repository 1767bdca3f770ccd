// tamis plan, backends and demo phones.
#include <gtest/gtest.h>
#include <tamis/backend.h>
#include <tamis/sizing.h>

#include <cmath>
#include <string>

#include "tests/tools/command_test.h"
#include "tools/phone_numbers.h"

namespace tamis::tools {
namespace {

class PlanTest : public CommandTest {};
class BackendsTest : public CommandTest {};
class DemoTest : public CommandTest {};

TEST_F(PlanTest, FiveBillionKeys) {
  const nlohmann::json json = Ok("tamis plan --n 5e9 --fpr 0.01 --json").Json();
  EXPECT_EQ(json["n"], 5'000'000'000);
  const nlohmann::json filter = json["filters"][0];
  EXPECT_EQ(filter["name"], "split-block");
  EXPECT_NEAR(filter["bytes"].get<double>() / 0x1p30, 6.13, 0.0613);
  EXPECT_NEAR(filter["bits_per_key"].get<double>(), 10.53, 0.01);
  EXPECT_LE(filter["fpr"].get<double>(), 0.01);
  EXPECT_GT(filter["fpr"].get<double>(), 0.00999);
  EXPECT_NEAR(json["minimum"]["bits_per_key"].get<double>(), std::log2(100), 1e-6);
  ASSERT_EQ(json["exact"].size(), 1U);
  EXPECT_EQ(json["exact"][0]["bytes"], 40'000'000'000);
  EXPECT_FALSE(json["exact_is_smaller"].get<bool>());

  const std::string text = Ok("tamis plan --n 5e9 --fpr 0.01").out;
  EXPECT_NE(text.find("6.13 GiB"), std::string::npos) << text;
  EXPECT_NE(text.find("10.53"), std::string::npos) << text;
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

TEST_F(PlanTest, SaysWhenSomethingExactIsSmaller) {
  const auto plan = [&](const std::string& options) {
    return Ok("tamis plan --json " + options).Json();
  };
  const nlohmann::json digits11 = plan("--n 5e9 --fpr 0.01 --digits 11");
  EXPECT_EQ(digits11["exact"][0]["name"], "bitmap of the range");
  EXPECT_EQ(digits11["exact"][0]["bytes"], 12'500'000'000);
  EXPECT_EQ(plan("--n 5e9 --range 0:99999999999")["exact"], digits11["exact"]);
  // 10^10 bits are 1.16 GiB, less than any filter for half of that range.
  const nlohmann::json digits10 = plan("--n 5e9 --fpr 0.01 --digits 10");
  EXPECT_EQ(digits10["exact"][0]["bytes"], 1'250'000'000);
  EXPECT_TRUE(digits10["exact_is_smaller"].get<bool>());
  EXPECT_FALSE(plan("--n 1e6 --fpr 0.01 --digits 11")["exact_is_smaller"].get<bool>());
  const std::string text = Ok("tamis plan --n 5e9 --fpr 0.01 --digits 10").out;
  EXPECT_NE(text.find("Smaller, and exact: bitmap of the range, 1.16 GiB"), std::string::npos)
      << text;
}

TEST_F(PlanTest, WhatIsImpossibleIsSaid) {
  const nlohmann::json json = Ok("tamis plan --n 1e13 --json").Json();
  EXPECT_FALSE(json["filters"][0].contains("bytes"));
  EXPECT_TRUE(json["filters"][0].contains("error"));
  EXPECT_NE(Ok("tamis plan --n 1e16").out.find("No filter can be that large"), std::string::npos);
  EXPECT_EQ(Sh("tamis plan --n 1001 --range 0:999").status, 2);
  EXPECT_EQ(Sh("tamis plan --n 10 --range 9:5").status, 2);
  EXPECT_EQ(Sh("tamis plan --n 10 --digits 20").status, 2);
  EXPECT_EQ(Sh("tamis plan --n 10 --fpr 0").status, 2);
  EXPECT_EQ(Sh("tamis plan --n 10 --fpr nan").status, 2);
  EXPECT_EQ(Sh("tamis plan").status, 2);
}

TEST_F(BackendsTest, ListsThoseOfTheLibrary) {
  const nlohmann::json json = Ok("tamis backends --json").Json();
  ASSERT_EQ(json["backends"].size(), Backends().size());
  for (size_t i = 0; i < Backends().size(); ++i) {
    EXPECT_EQ(json["backends"][i]["name"], Backends()[i].name);
    EXPECT_EQ(json["backends"][i]["default"], i == 0);
  }
  EXPECT_GE(json["threads"], 1);
  EXPECT_EQ(json["calibration"], nullptr);
  EXPECT_NE(Ok("tamis backends").out.find("portable"), std::string::npos);
}

TEST_F(BackendsTest, TheEnvironmentPins) {
  const nlohmann::json json =
      Ok("TAMIS_THREADS=3; TAMIS_BACKEND=Portable; export TAMIS_THREADS TAMIS_BACKEND\n"
         "tamis backends --json")
          .Json();
  EXPECT_EQ(json["threads"], 3);
  EXPECT_TRUE(json["backends"].back()["default"].get<bool>());
  const CommandResult unknown = Sh("TAMIS_BACKEND=abacus; export TAMIS_BACKEND; tamis backends");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_TRUE(unknown.ErrHas("portable")) << "what there is: " << unknown.err;
}

TEST_F(BackendsTest, SlowCalibrationIsSavedAndUsed) {
  const nlohmann::json json = Ok("tamis backends --calibrate --json").Json();
  EXPECT_GE(json["costs"].size(), Backends().size());
  EXPECT_TRUE(Exists("cache/tamis/calibration.json"));
  EXPECT_TRUE(Ok("tamis backends --json").Json()["calibration"].is_string());
  Ok("seq 100 > keys; tamis build -q -o f keys; tamis query f keys | cmp - keys");
  // A damaged one is reported and does no harm.
  const CommandResult damaged =
      Sh("echo '{' > cache/tamis/calibration.json; tamis query f keys | cmp - keys");
  EXPECT_EQ(damaged.status, 0);
  EXPECT_TRUE(damaged.ErrHas("calibration ignored")) << damaged.err;
}

TEST_F(DemoTest, FindsAllNumbersAndFewOthers) {
  const nlohmann::json json =
      Ok("tamis demo phones --numbers 1e6 --queries 10001 --json --threads 2").Json();
  EXPECT_EQ(json["numbers"], 1'000'000);
  EXPECT_EQ(json["false_negatives"], 0);
  EXPECT_EQ(json["queries_known"], 5000);
  EXPECT_EQ(json["members_checked"], 1'005'000);
  EXPECT_EQ(json["queries_found"].get<uint64_t>(),
            5000 + json["false_positives_in_queries"].get<uint64_t>());
  const double predicted = json["predicted_fpr"];
  EXPECT_NEAR(predicted, 0.01, 0.0001);
  // The measurement has a standard deviation of 0.3%.
  EXPECT_NEAR(json["measured_fpr"].get<double>(), predicted, 0.05 * predicted);
  EXPECT_EQ(json["bytes"].get<uint64_t>() / 32, SplitBlockBlocks(1'000'000, 0.01));
  EXPECT_GT(json["peak_memory_bytes"], json["bytes"]);
  EXPECT_EQ(json["threads"], 2);
}

TEST_F(DemoTest, SavesAFilterOfTheNumbers) {
  const CommandResult demo =
      Ok("tamis demo phones --numbers 50000 --queries 100 --backend portable --save f.tamis");
  for (const char* row :
       {"50,000 phone numbers", "build", "numbers/s", "bits per number", "saved", "queries",
        "false negatives", "measured FPR", "predicted FPR", "peak memory", "portable"}) {
    EXPECT_NE(demo.out.find(row), std::string::npos) << row << "\n" << demo.out;
  }
  EXPECT_EQ(Ok("tamis info f.tamis --json --header").Json()["inserted"], 50000);
  std::string members;
  std::string others;
  for (uint64_t i = 0; i < 50000; ++i) {
    members += std::to_string(PhoneNumbers::At(i)) + "\n";
    others += std::to_string(PhoneNumbers::At(50000 + i)) + "\n";
  }
  Write("members", members);
  Write("others", others);
  EXPECT_EQ(Ok("tamis query f.tamis --integers --count members").out, "50000/50000\n");
  const size_t wrong = Ok("tamis query f.tamis --integers others").NumLines();
  EXPECT_NEAR(static_cast<double>(wrong), 500, 150);
}

TEST_F(DemoTest, RefusesWhatMakesNoSense) {
  EXPECT_EQ(Sh("tamis demo phones --numbers 0").status, 2);
  EXPECT_EQ(Sh("tamis demo phones --numbers 9e10").status, 2);
  EXPECT_EQ(Sh("tamis demo phones --numbers 1000 --queries 1").status, 2);
  EXPECT_EQ(Sh("tamis demo phones --numbers 1000 --fpr 2").status, 2);
  EXPECT_EQ(Sh("tamis demo phones --numbers 1000 --save missing/f").status, 3);
  EXPECT_EQ(Sh("tamis demo").status, 2);
}

}  // namespace
}  // namespace tamis::tools
