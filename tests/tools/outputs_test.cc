// What commands write to: never an input, nothing before it can be done, no control characters.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/command_test.h"

namespace tamis::tools {
namespace {

class OutputsTest : public CommandTest {
 protected:
  OutputsTest() {
    Write("keys", Numbers(1, 1000));
    Ok("tamis build -q -o f.tamis keys");
  }
};

// Were it read on while it grows, the file would fill the disk; these limits end that soon.
TEST_F(OutputsTest, MustNotBeInputs) {
  const std::string filter = Read("f.tamis");
  Ok("ln -s keys link; ln keys hard; mkfifo pipe");
  for (const char* script : {
           "tamis query f.tamis keys >> keys",
           "tamis query f.tamis link >> hard",
           "tamis query f.tamis < keys >> keys",
           "tamis query f.tamis - < link >> keys",
           "tamis query f.tamis --count keys >> keys",
           "tamis query f.tamis --json keys >> f.tamis",
           "tamis query f.tamis --bitmap f.tamis keys",
           "tamis query f.tamis --bitmap link keys",
           "tamis query f.tamis --bitmap hard --count < keys",
           "tamis build -o hard keys",
           "tamis build -o keys --capacity 1000 < keys",
           "tamis build -o g.tamis --json keys >> keys",
           "tamis info f.tamis >> f.tamis",
           "tamis verify f.tamis >> f.tamis",
       }) {
    const CommandResult result = Sh("ulimit -f 1000; " + std::string(script));
    EXPECT_EQ(result.status, 2) << script << "\n" << result.err;
    EXPECT_TRUE(result.ErrHas(" is also an input")) << script << "\n" << result.err;
    ASSERT_EQ(Read("keys"), Numbers(1, 1000)) << script;
    ASSERT_EQ(Read("f.tamis"), filter) << script;
  }
  EXPECT_FALSE(Exists("g.tamis"));
  // Devices and pipes may be both.
  Ok("tamis query f.tamis /dev/null > /dev/null");
  EXPECT_EQ(Ok("cat keys > pipe & tamis query f.tamis pipe | cat").out, Read("keys"));
}

}  // namespace
}  // namespace tamis::tools
