// `tamis build` for static kinds, and other commands with their files.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/tools/command_test.h"

namespace tamis::tools::static_build_test {

class StaticBuildTest : public CommandTest {
 protected:
  StaticBuildTest() { Write("keys", Numbers(1, 10000)); }

  void ExpectRefused(const std::string& script, const std::string& text) const {
    const CommandResult result = Sh(script);
    EXPECT_EQ(result.status, 2) << script;
    EXPECT_TRUE(result.ErrHas(text)) << script << "\n" << result.err;
    EXPECT_FALSE(Exists("f")) << script;
  }
};

TEST_F(StaticBuildTest, FromFilesPipesAndAnyOrder_IsTheSameFile) {
  Ok("tamis build -q --kind fuse8 -o f keys");
  Ok("cat keys | tamis build -q --kind fuse8 -o g && cmp f g");
  Ok("sort -r keys | tamis build -q --kind fuse8 -o g keys - && cmp f g");
  Ok("tamis build -q --kind fuse8 --threads 1 --backend portable -o g keys && cmp f g");
  EXPECT_EQ(Ok("tamis query f keys --count").out, "10000/10000\n");
  Ok("tamis verify f");
}

TEST_F(StaticBuildTest, Info_SaysThatKeysCountOnce) {
  for (const std::string kind : {"fuse8", "fuse12", "fuse16", "fuse32"}) {
    Ok("cat keys keys | tamis build -q --kind " + kind + " -o f");
    const nlohmann::json info = Ok("tamis info f --json").Json();
    EXPECT_EQ(info["kind"], kind);
    EXPECT_EQ(info["inserted"], 10000);
    EXPECT_EQ(info["shards"], 1);
    EXPECT_NE(Ok("tamis info f").out.find("10,000 keys, each once"), std::string::npos);
  }
}

TEST_F(StaticBuildTest, OptionsThatGiveASize_AreRefused) {
  ExpectRefused("tamis build --kind fuse8 --capacity 10 -o f keys", "is sized by its keys");
  ExpectRefused("tamis build --kind fuse8 --bytes 1M -o f keys", "is sized by its keys");
  ExpectRefused("tamis build --kind fuse8 --fpr 0.1% -o f keys", "which is above 0.001");
  ExpectRefused("tamis build --kind fuse8 --for-bank -o f keys", "--for-bank is for split-block");
  ExpectRefused("tamis build --kind fuse8 --layers bloom -o f keys", "--layers needs");
  Ok("tamis build -q --kind fuse8 --fpr 0.4% -o f keys");
}

TEST_F(StaticBuildTest, WithoutKeys_NeedsAllowEmpty) {
  ExpectRefused("tamis build --kind fuse8 -o f < /dev/null", "");
  Ok("tamis build -q --kind fuse8 --allow-empty -o f < /dev/null");
  EXPECT_EQ(Ok("tamis query f keys --count").out, "0/10000\n");
}

TEST_F(StaticBuildTest, FilesCannotBeChanged) {
  Ok("tamis build -q --kind fuse8 -o f keys && cp f g");
  EXPECT_TRUE(Sh("tamis merge -o h f g").ErrHas("never changes"));
  EXPECT_NE(Sh("tamis erase f keys").status, 0);
  Ok("cmp f g");
}

TEST_F(StaticBuildTest, Interrupted_LeavesNothing) {
  TAMIS_SKIP_ON_WINDOWS("wine does not wait for named pipes");
  const CommandResult result =
      Sh("mkfifo pipe; exec_tamis build -q --kind fuse8 -o f < pipe & exec 3> pipe; cat keys >&3; "
         "sleep 0.2; kill -TERM $!; wait $!");
  EXPECT_EQ(result.status, 143) << result.err;
  EXPECT_FALSE(Exists("f"));
}

}  // namespace tamis::tools::static_build_test
