// A regular file on standard input is read like a file with a name.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/tools/command_test.h"

namespace tamis::tools::standard_input_test {

class StandardInputTest : public CommandTest {
 protected:
  StandardInputTest() { Write("keys", Numbers(1, 10000)); }
};

TEST_F(StandardInputTest, ItsKeysAreCounted) {
  Ok("tamis build -q -o f keys && tamis build -q -o g < keys && cmp f g");
  Ok("tamis build -q -o g - < keys && cmp f g");
  const CommandResult result = Sh("tamis build -o g < keys");
  EXPECT_TRUE(result.ErrHas("no --capacity given: counted 10,000 keys first")) << result.err;
  WriteU64("u64", std::vector<uint64_t>{1, 2, 3});
  Ok("tamis build -q -o f --u64 u64 && tamis build -q -o g --u64 < u64 && cmp f g");
}

TEST_F(StandardInputTest, FromWhereItStands) {
  Write("more", "first\nsecond\n" + Read("keys"));
  Ok("tamis build -q -o f keys");
  Ok("{ read a; read b; tamis build -q -o g; } < more && cmp f g");
  // The command reads the file to its end, so the next command reads nothing.
  EXPECT_EQ(Ok("{ tamis build -q -o g; cat; } < keys").out, "");
  WriteU64("u64", std::vector<uint64_t>{1, 2, 3});
  EXPECT_EQ(Ok("{ dd bs=8 count=1 of=first 2> log; tamis build -q -o g --u64; } < u64\n"
               "tamis info g --json")
                .Json()["capacity"],
            2);
  EXPECT_EQ(Sh("{ cat > copy; tamis build -o g; } < keys").status, 2) << "nothing is left";
}

TEST_F(StandardInputTest, AmongOtherInputs) {
  Write("others", Numbers(20000, 500));
  EXPECT_EQ(Ok("tamis build -q -o f others - < keys && tamis info f --json").Json()["capacity"],
            10500);
  EXPECT_EQ(Ok("tamis build -q -o f - - < keys && tamis info f --json").Json()["capacity"], 10000);
  WriteU64("u64", std::vector<uint64_t>{1, 2, 3});
  EXPECT_EQ(Ok("tamis build -q -o f --u64 - - < u64 && tamis info f --json").Json()["capacity"], 3);
}

TEST_F(StandardInputTest, APipeIsNotCounted) {
  const CommandResult result = Sh("cat keys | tamis build -o f");
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(result.ErrHas("give --capacity (or --bytes): the keys of a pipe cannot be counted"))
      << result.err;
  EXPECT_FALSE(Exists("f"));
}

}  // namespace tamis::tools::standard_input_test
