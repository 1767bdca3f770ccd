// `tamis parquet info` and `prune`, as users run them.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tamis/parquet/bloom_filter.h"
#include "tests/parquet/parquet_maker.h"
#include "tests/tools/command_test.h"

namespace tamis::tools::parquet_command_test {

using parquet::MadeFile;
using parquet::Plain;

class ParquetCommandTest : public CommandTest {
 protected:
  ParquetCommandTest() {
    std::filesystem::create_directory(Path("lake"));
    std::filesystem::create_directory(Path("lake/sub"));
    Write("lake/a.parquet", FileOf({{1, 2}, {500, 600}}));
    Write("lake/sub/b.parquet", FileOf({{1000}}));
    Write("lake/notes.txt", "no Parquet file");
    std::filesystem::create_directory(Path("lake/.hidden"));
    Write("lake/.hidden/c.parquet", "nothing");
  }

  // Returns a file with one row group per list.
  static std::string FileOf(const std::vector<std::vector<int64_t>>& groups) {
    MadeFile file;
    for (const std::vector<int64_t>& keys : groups) {
      SplitBlockBloomFilter filter({.bytes = 256, .hash = parquet::kFilterHash});
      filter.Insert(keys);
      file.groups.push_back({{.min = Plain(keys.front()),
                              .max = Plain(keys.back()),
                              .filter = parquet::ToParquet(filter)}});
    }
    return file.bytes();
  }
};

TEST_F(ParquetCommandTest, PathsOfFilesThatMayHoldAKey) {
  Write("keys", "2\n550\n");
  const CommandResult result = Sh("tamis parquet prune --column key --keys keys lake");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, "lake/a.parquet\n");
  EXPECT_TRUE(result.ErrHas("false hits per row group: filters rule out about")) << result.err;
  EXPECT_TRUE(
      result.ErrHas("kept 1 of 2 files and 1 of 3 row groups; ruled out 1 row group by "
                    "bounds and 1 by filters"))
      << result.err;
  EXPECT_EQ(Ok("tamis parquet prune -q -0 --column key --keys keys lake | od -An -c").out,
            Ok("printf 'lake/a.parquet\\0' | od -An -c").out);
  EXPECT_EQ(Sh("echo 3000 | tamis parquet prune -q --column key --keys - lake").out, "");
}

TEST_F(ParquetCommandTest, RowsPairsAndJson) {
  Write("keys.csv", "id,x\n9,2\n9,1000\n9,1\n9,77\n");
  const std::string command =
      "tamis parquet prune -q --column key --keys keys.csv --csv --key-column x ";
  EXPECT_EQ(Ok(command + "--row-groups lake").out,
            "lake/a.parquet,0,1000,2\nlake/sub/b.parquet,0,1000,1\n");
  EXPECT_EQ(Ok(command + "--pairs lake").out,
            "lake/a.parquet,0,1\nlake/a.parquet,0,2\nlake/sub/b.parquet,0,1000\n");
  const nlohmann::json json = Ok(command + "--json --pairs lake").Json();
  EXPECT_EQ(json["keys"], 4);
  EXPECT_EQ(json["files"][0]["row_groups"][0]["keys"], (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(json["files"][0]["row_groups"][1]["by"], "bounds");
  EXPECT_EQ(json["summary"]["hits"], 3);
  EXPECT_EQ(json["summary"]["kept_row_groups"], 2);
}

TEST_F(ParquetCommandTest, RawIntegers) {
  WriteU64("keys", std::vector<uint64_t>{1000});
  EXPECT_EQ(Ok("tamis parquet prune -q --column key --u64 --keys keys lake").out,
            "lake/sub/b.parquet\n");
}

TEST_F(ParquetCommandTest, MismatchesAreNamedAndDoubtfulFilesAreKept) {
  Write("keys", "none\n77\n");
  Write("lake/damaged.parquet", "PAR1PAR1");
  const CommandResult result =
      Sh("tamis parquet prune --column key --row-groups --keys keys lake missing.parquet");
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out, "lake/damaged.parquet,,,\nmissing.parquet,,,\n");
  EXPECT_TRUE(result.ErrHas("1 key of 2 cannot be read as INT64")) << result.err;
  EXPECT_TRUE(result.ErrHas("queried there: \"none\"")) << result.err;
  EXPECT_TRUE(
      result.ErrHas("kept in doubt: 2 files and 0 row groups, the first: "
                    "lake/damaged.parquet: "))
      << result.err;
  const CommandResult other =
      Sh("tamis parquet prune -q --column other --keys keys lake/a.parquet");
  EXPECT_EQ(other.out, "lake/a.parquet\n");
}

TEST_F(ParquetCommandTest, ManyKeysCannotRuleOutRowGroups) {
  MadeFile file;
  std::vector<int64_t> keys(100);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<int64_t>(i);
  SplitBlockBloomFilter filter({.bytes = 128, .hash = parquet::kFilterHash});
  filter.Insert(keys);
  file.groups = {{{.filter = parquet::ToParquet(filter)}}};
  Write("one.parquet", file.bytes());
  const CommandResult result =
      Sh("seq 1000 9999 | tamis parquet prune --column key --keys - one.parquet");
  EXPECT_TRUE(result.ErrHas("filters at this rate cannot rule out whole row groups")) << result.err;
  EXPECT_EQ(result.out, "one.parquet\n");
}

TEST_F(ParquetCommandTest, InfoShowsTheValueOfFilters) {
  const std::string folder = TAMIS_PARQUET_DIR;
  for (const char* name : {"pyarrow", "duckdb"}) {
    const std::string file = folder + "/" + name + ".parquet";
    const CommandResult text = Ok("tamis parquet info " + file);
    EXPECT_NE(text.out.find("row group 0: 144 bytes"), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("Yes: they let 0.899% of absent keys pass"), std::string::npos);
    const nlohmann::json json = Ok("tamis parquet info --json " + file).Json();
    EXPECT_EQ(json["columns"][0]["column"], "id");
    const auto& filter = json["columns"][0]["filters"][0];
    EXPECT_EQ(filter["bytes"], 144);
    EXPECT_NEAR(filter["estimated_keys"].get<double>(), 100, 10);
    EXPECT_NEAR(filter["fill"].get<double>(), 0.53, 0.01);
  }
  const CommandResult made = Ok("tamis parquet info lake/a.parquet");
  EXPECT_NE(made.out.find("as large as the column's own data"), std::string::npos) << made.out;
  Write("bad.parquet", "PAR1 and so on");
  EXPECT_EQ(Sh("tamis parquet info bad.parquet").status, 3);
}

// A file behind a link, or with a name in capitals, may also contain a key.
TEST_F(ParquetCommandTest, FoldersWithLinks) {
  std::filesystem::create_directory(Path("elsewhere"));
  Write("elsewhere/c.PARQUET", FileOf({{1, 2}}));
  std::filesystem::create_directory_symlink(Path("elsewhere"), Path("lake/linked"));
  std::filesystem::create_directory_symlink(Path("lake"), Path("lake/sub/up"));
  std::filesystem::create_symlink(Path("nowhere"), Path("lake/d.parquet"));
  std::filesystem::create_symlink(Path("nowhere"), Path("lake/other"));
  const CommandResult result = Sh("echo 2 | tamis parquet prune --column key --keys - lake");
  EXPECT_EQ(result.out, "lake/a.parquet\nlake/d.parquet\nlake/linked/c.PARQUET\n");
  EXPECT_TRUE(result.ErrHas("kept 3 of 4 files")) << result.err;
}

TEST_F(ParquetCommandTest, SaysWhenBoundsAloneDecide) {
  const CommandResult result = Ok("echo 5000 | tamis parquet prune --column key --keys - lake");
  EXPECT_TRUE(result.ErrHas("the sampled files have no filters")) << result.err;
}

TEST_F(ParquetCommandTest, KeysOfAParquetFile) {
  const std::string prune = "tamis parquet prune --column key --keys ";
  const CommandResult bare = Sh(prune + "lake/a.parquet lake");
  EXPECT_EQ(bare.status, 2);
  EXPECT_TRUE(bare.ErrHas("is a Parquet file: give --parquet")) << bare.err;
  const std::string two = std::string(TAMIS_PARQUET_DIR) + "/pyarrow.parquet";
  const CommandResult which = Sh(prune + two + " --parquet lake");
  EXPECT_EQ(which.status, 2);
  EXPECT_TRUE(which.ErrHas("has 2 columns: give the column of the keys")) << which.err;
  EXPECT_TRUE(
      Sh(prune + two + " --parquet --key-column 3 lake").ErrHas("the columns are id, word"));
  EXPECT_EQ(Sh(prune + two + " --parquet --csv lake").status, 2);
  EXPECT_EQ(Sh(prune + "- --parquet lake < " + two).status, 2);
  for (const char* column : {"id", "1"}) {
    const CommandResult result = Sh("tamis parquet prune --column id --keys " + two +
                                    " --parquet --key-column " + column + " --row-groups " + two);
    if (result.status == 0) {  // built with Arrow
      EXPECT_TRUE(result.ErrHas("100 different keys in 1,000 values of id")) << result.err;
      EXPECT_EQ(result.out, two + ",0,1000,100\n");
    } else {
      EXPECT_TRUE(result.ErrHas("pip install pyarrow")) << result.err;
      EXPECT_EQ(result.status, 3);
    }
  }
}

TEST_F(ParquetCommandTest, WrongUse) {
  EXPECT_EQ(Sh("tamis parquet").status, 2);
  EXPECT_EQ(Sh("tamis parquet prune --column key lake").status, 2);
  EXPECT_EQ(Sh("echo 1 | tamis parquet prune --column key --keys - lake/sub/..").status, 0);
  std::filesystem::create_directory(Path("empty"));
  EXPECT_EQ(Sh("echo 1 | tamis parquet prune --column key --keys - empty").status, 2);
  const CommandResult result =
      Sh("echo 1 | tamis parquet prune --column key --keys - --key-column 2 lake");
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(result.ErrHas("--key-column and --header need")) << result.err;
  EXPECT_EQ(Sh("true | tamis parquet prune --column key --keys - lake").status, 2);
}

}  // namespace tamis::tools::parquet_command_test
