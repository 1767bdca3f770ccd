// Scalable filters in the command.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/command_test.h"

namespace tamis::tools::scalable_test {

class ScalableTest : public CommandTest {
 protected:
  ScalableTest() { Write("all", Numbers(1, 20'000)); }
};

// From a pipe, whose keys cannot be counted in advance.
TEST_F(ScalableTest, IsBuiltOfAnyNumberOfKeys) {
  for (const std::string layers : {"split-block", "bloom", "cuckoo8", "cuckoo12", "cuckoo16"}) {
    SCOPED_TRACE(layers);
    Ok("cat all | tamis build -q -t scalable --layers " + layers + " -n 1000 -p 0.3 -o f.tamis");
    EXPECT_EQ(Ok("tamis query f.tamis --count all").out, "20000/20000\n");
    Ok("tamis verify -q f.tamis");
    const auto json = Ok("tamis info --json f.tamis").Json();
    EXPECT_EQ(json["kind"], "scalable");
    EXPECT_EQ(json["layer_kind"], layers);
    EXPECT_EQ(json["layers"], 5);
    ASSERT_EQ(json["layer_list"].size(), 5U);
    EXPECT_EQ(json["layer_list"][4]["capacity"], 16'000);
    EXPECT_EQ(json["layer_list"][4]["inserted"], 5'000);
    EXPECT_EQ(json["capacity"], 31'000);
    EXPECT_EQ(json["inserted"], 20'000);
    EXPECT_EQ(json["initial_capacity"], 1'000);
    EXPECT_EQ(json["fpr_bound"], 0.3);
    EXPECT_LT(json["expected_fpr"].get<double>(), 0.3);
    uint64_t bytes = 0;
    for (const auto& layer : json["layer_list"]) bytes += layer["bytes"].get<uint64_t>();
    EXPECT_EQ(json["bytes"], bytes);
  }
}

TEST_F(ScalableTest, InfoTellsOfLayers) {
  Ok("tamis build -q -t scalable -n 8000 -o f.tamis all");
  const std::string text = Ok("tamis info f.tamis").out;
  for (const char* row :
       {"scalable, format version 2", "layer kind            split-block", "8,000 of 8,000 keys",
        "12,000 of 16,000 keys", "24,000 keys below 1.000%", "distinct keys"}) {
    EXPECT_NE(text.find(row), std::string::npos) << row << "\n" << text;
  }
  EXPECT_FALSE(Ok("tamis info --header --json f.tamis").Json().contains("expected_fpr"));
}

TEST_F(ScalableTest, ErasesWithLayersThatDo) {
  Ok("tamis build -q -t scalable --layers cuckoo16 -n 1000 -o f.tamis all");
  Write("some", Numbers(1, 5'000));
  const auto json = Ok("tamis erase -q --json f.tamis some").Json();
  EXPECT_GT(json["erased"].get<int>(), 4'900);
  EXPECT_EQ(json["inserted"].get<int>() + json["erased"].get<int>(), 20'000);
  EXPECT_EQ(Ok("tamis verify f.tamis").out.rfind("f.tamis: ok (scalable", 0), 0U);
  Write("rest", Numbers(5'001, 15'000));
  EXPECT_EQ(Ok("tamis query f.tamis --count rest").out, "15000/15000\n");
}

TEST_F(ScalableTest, UndefinedOperationsAreRefused) {
  Ok("tamis build -q -t scalable -o f.tamis all");
  const auto refused = [&](const std::string& script, const std::string& text) {
    const CommandResult result = Sh(script);
    EXPECT_EQ(result.status, 2) << script;
    EXPECT_TRUE(result.ErrHas(text)) << result.err;
  };
  refused("tamis merge -o g.tamis f.tamis f.tamis", "scalable filters have layers");
  refused("tamis erase f.tamis all", "cannot be erased from a scalable filter");
  refused("tamis build -o g.tamis --layers bloom all", "--layers needs --kind scalable");
  refused("tamis build -o g.tamis -t scalable --layers counting all",
          "\"counting\" is not one of ");
  refused("tamis build -o g.tamis -t scalable -n 1000 --bytes 4K all", "would exceed --bytes");
  EXPECT_FALSE(Exists("g.tamis"));
}

// Many copies, as in logs. Memory depends on the number of different keys, and copies that are left
// out are counted.
TEST_F(ScalableTest, CopiesDoNotMakeItGrow) {
  for (const std::string layers : {"split-block", "bloom", "cuckoo16"}) {
    SCOPED_TRACE(layers);
    const std::string build = " | tamis build -q --json -t scalable --layers " + layers + " -o ";
    const auto one = Ok("echo same" + build + "one.tamis").Json();
    const auto many = Ok("yes same | head -n 100000" + build + "many.tamis").Json();
    EXPECT_EQ(many["bytes"], one["bytes"]);
    EXPECT_EQ(many["copies_left_out"], layers == "cuckoo16" ? 99'996 : 0);
    EXPECT_EQ(Ok("echo same | tamis query many.tamis --count").out, "1/1\n");
    const auto log = Ok("cat all all all all all all" + build + "log.tamis").Json();
    EXPECT_EQ(log["capacity"], 65'536);
    EXPECT_EQ(Ok("tamis query log.tamis --count all").out, "20000/20000\n");
  }
  const CommandResult result =
      Sh("yes same | head -n 9 | tamis build -t scalable --layers cuckoo8 -p 0.4 -o f.tamis");
  EXPECT_TRUE(
      result.ErrHas("5 keys were left out, because the filter already contained them or keys that "
                    "it cannot distinguish from them"))
      << result.err;
}

}  // namespace tamis::tools::scalable_test
