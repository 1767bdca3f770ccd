// The forms of the list of keys of `tamis parquet prune`.
#include <gtest/gtest.h>

#include <string>

#include "tests/tools/command_test.h"

namespace tamis::tools::key_list_command_test {

class KeyListCommandTest : public CommandTest {
 protected:
  // Returns the pairs of row groups and keys for the list described by `list`.
  CommandResult Prune(const std::string& list) const {
    return Sh("tamis parquet prune -q --column id --pairs --keys " + list + " " +
              TAMIS_PARQUET_DIR + "/pyarrow.parquet");
  }
};

TEST_F(KeyListCommandTest, FieldsOfJson_AreKeysLikeLines) {
  Write("lines", Numbers(0, 2000));
  std::string records;
  for (int i = 0; i < 2000; ++i) {
    const std::string key = std::to_string(i);
    records += "{\"user\":{\"id\":" + (i % 2 == 0 ? key : "\"" + key + "\"") + "}}\n";
  }
  Write("a.jsonl", records);
  const CommandResult lines = Prune("lines");
  EXPECT_EQ(lines.status, 0) << lines.err;
  EXPECT_GE(lines.NumLines(), 2U);
  const CommandResult json = Prune("a.jsonl --jsonl --key-field /user/id");
  if (json.err.find("built without simdjson") != std::string::npos) {
    EXPECT_EQ(json.status, 3);
    return;
  }
  EXPECT_EQ(json.out, lines.out) << json.err;
}

TEST_F(KeyListCommandTest, OptionsThatContradictEachOther_AreRefused) {
  Write("a.jsonl", "{\"id\":1}\n");
  for (const char* options :
       {"--jsonl", "--key-field id", "--jsonl --key-field id --csv", "--jsonl --key-field id --u64",
        "--jsonl --key-field id --parquet", "--hex --u64", "--hex --parquet"}) {
    EXPECT_EQ(Prune("a.jsonl " + std::string(options)).status, 2) << options;
  }
}

}  // namespace tamis::tools::key_list_command_test
