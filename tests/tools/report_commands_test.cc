// tamis backends and demo phones.
#include <gtest/gtest.h>
#include <tamis/backends.h>
#include <tamis/filters/sizing.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/command_test.h"
#include "tools/commands/phone_numbers.h"

namespace tamis::tools::report_commands_test {

class BackendsTest : public CommandTest {};
class DemoTest : public CommandTest {};

TEST_F(BackendsTest, ListsTheBackendsOfTheLibrary) {
  TAMIS_SKIP_ON_WINDOWS("other compilers have other backends");
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

TEST_F(BackendsTest, CalibrationIsSavedAndUsed) {
  TAMIS_SKIP_ON_WINDOWS("wine sets the folder of the calibration");
  const nlohmann::json json = Ok("tamis backends --calibrate --largest 1M --json").Json();
  EXPECT_GE(json["costs"].size(), Backends().size());
  for (const nlohmann::json& point : json["costs"]) EXPECT_LE(point["filter_bytes"], 1 << 20);
  EXPECT_EQ(Sh("tamis backends --calibrate --largest 1K").status, 2);
  EXPECT_EQ(Sh("tamis backends --largest 1M").status, 2);
  EXPECT_TRUE(Exists("cache/tamis/calibration.json"));
  EXPECT_TRUE(Ok("tamis backends --json").Json()["calibration"].is_string());
  Ok("seq 100 > keys; tamis build -q -o f keys; tamis query f keys | cmp - keys");
  // A damaged calibration is reported and does no harm.
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

TEST_F(DemoTest, RefusesInvalidOptions) {
  EXPECT_EQ(Sh("tamis demo phones --numbers 0").status, 2);
  EXPECT_EQ(Sh("tamis demo phones --numbers 9e10").status, 2);
  EXPECT_EQ(Sh("tamis demo phones --numbers 1000 --queries 1").status, 2);
  EXPECT_EQ(Sh("tamis demo phones --numbers 1000 --fpr 2").status, 2);
  EXPECT_EQ(Sh("tamis demo phones --numbers 1000 --save missing/f").status, 3);
  EXPECT_EQ(Sh("tamis demo").status, 2);
}

}  // namespace tamis::tools::report_commands_test
