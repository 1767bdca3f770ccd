// Files that commands write: never an input, no output before it can succeed, no control
// characters.
#include <gtest/gtest.h>
#include <tamis/error.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tests/system_faults.h"
#include "tests/tools/command_test.h"
#include "tools/output/console.h"

namespace tamis::tools::outputs_test {

class OutputsTest : public CommandTest {
 protected:
  OutputsTest() {
    Write("keys", Numbers(1, 1000));
    Ok("tamis build -q -o f.tamis keys");
  }
};

// A command that writes to its own input would fill the disk. The limit on the file size prevents
// this.
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
  // Devices and pipes may be input and output.
  Ok("tamis query f.tamis /dev/null > /dev/null");
  TAMIS_SKIP_ON_WINDOWS("wine does not wait for named pipes");
  EXPECT_EQ(Ok("cat keys > pipe & tamis query f.tamis pipe | cat").out, Read("keys"));
}

// Shards are changed together or not at all.
TEST_F(OutputsTest, MustNotBeShardsOfInputsOrOfOtherFilters) {
  TAMIS_SKIP_ON_WINDOWS("wine does not show links, and does not wait for named pipes");
  Write("many", Numbers(1, 200'000));
  Ok("for kind in split-block cuckoo16; do"
     "  tamis build -q --kind $kind -o $kind.tamis.0000 --shard 64K many;"
     "  cat $kind.tamis.???? > $kind.whole; done; ln -s cuckoo16.tamis.0000 link; mkfifo pipe");
  const auto expect = [&](const std::string& script, const std::string& error) {
    const CommandResult result = Sh("ulimit -f 4000; exec 3<>pipe; tamis " + script);
    EXPECT_EQ(result.status, 2) << script << "\n" << result.err;
    EXPECT_TRUE(result.ErrHas(error)) << script << "\n" << result.err;
    Ok("for kind in split-block cuckoo16; do cat $kind.tamis.???? | cmp - $kind.whole; done");
  };
  // Nobody writes to the pipe, so these jobs must end before they begin.
  for (const char* const script : {
           "merge -o split-block.tamis.0002 split-block.tamis.0000 split-block.tamis.0000",
           "merge -o split-block.tamis.0000 split-block.tamis.0000 split-block.tamis.0000",
           "build -n 10 -o split-block.tamis.0004 pipe",
           "erase cuckoo16.tamis.0000 pipe",
           "erase link pipe",
           "erase cuckoo16.tamis.0000 -o split-block.tamis.0001 pipe",
           "dedup --filter split-block.tamis.0000 pipe",
           "dedup --window 1000 --filter split-block.tamis.0000 pipe",
           "import --from guava:utf8 -o split-block.tamis.0001 pipe",
       }) {
    expect(script, ": one file under this name would damage the ");
  }
  for (const char* const script : {
           "query split-block.tamis.0000 --bitmap split-block.tamis.0003 many",
           "query split-block.tamis.0000 many >> split-block.tamis.0001",
           "info link >> cuckoo16.tamis.0001",
       }) {
    expect(script, " is also an input");
  }
  Ok("tamis erase -q link -o rest many && tamis verify rest");
  // Whole filters may have such names.
  Ok("for i in 0 1; do tamis build -q -o part.000$i many; done");
  Ok("tamis merge -q -o part.0001 part.0000 part.0001; tamis dedup --filter part.0000 many");
}

// Otherwise a report would be written into the saved file, or into the file that it replaced.
TEST_F(OutputsTest, ReportsDoNotGoIntoSavedFiles) {
  Ok("tamis build -q -t cuckoo8 -o c.tamis keys; cp c.tamis erased; cp f.tamis g.tamis; ln -s "
     "g.tamis link");
  const std::string before = Read("g.tamis"), erased = Read("erased");
  for (const char* script : {
           "tamis build --json -o g.tamis keys >> g.tamis",
           "tamis build --json -o link keys >> g.tamis",
           "tamis merge --json -o g.tamis f.tamis f.tamis >> g.tamis",
           "tamis erase --json c.tamis -o erased keys >> erased",
           "tamis query f.tamis --count --bitmap g.tamis keys >> g.tamis",
       }) {
    const CommandResult result = Sh(script);
    EXPECT_EQ(result.status, 2) << script << "\n" << result.err;
    EXPECT_TRUE(result.ErrHas(" is also standard output")) << script << "\n" << result.err;
    EXPECT_EQ(Read("g.tamis"), before) << script;
    EXPECT_EQ(Read("erased"), erased) << script;
  }
  EXPECT_EQ(Sh("tamis build --json -o new keys > new").status, 2);
  EXPECT_EQ(Read("new"), "");
  Ok("tamis build --json -o g.tamis keys > report");
}

// The bitmap is larger than the buffer, and the stream ends in the middle of a key.
TEST_F(OutputsTest, AnIncompleteBitmapIsRemoved) {
  const std::string query =
      "head -c 100000003 /dev/zero | tamis query f.tamis --u64 --any-type --strict --bitmap ";
  const CommandResult fails = Sh(query + "bits");
  EXPECT_EQ(fails.status, 2);
  EXPECT_TRUE(fails.ErrHas("offset 100000000: fewer than 8 bytes are left")) << fails.err;
  EXPECT_FALSE(Exists("bits"));
  Write("bits", "of before");
  EXPECT_EQ(Sh(query + "bits").status, 2);
  EXPECT_EQ(Read("bits").size(), 0u);
  EXPECT_EQ(Sh(query + "/dev/null").status, 2);
  Ok("test -c /dev/null");
}

TEST_F(OutputsTest, Output_ReplacedByAnotherFile_DoesNotRemoveIt) {
  {
    Output out(Path("new"));
    out.Write("part");
    out.Flush();
    Write("other", "other");
    Ok("mv other new");
  }
  EXPECT_EQ(Read("new"), "other");
  { Output removed(Path("removed")); }
  EXPECT_FALSE(Exists("removed"));
}

TEST_F(OutputsTest, AWriteOfZeroBytesIsAnError) {
  SystemFaults faults;
  int calls = 0;
  faults.write = [&]() -> std::optional<ssize_t> {
    if (++calls < 100) return 0;
    errno = EDOM;  // ends an endless loop
    return -1;
  };
  Output out(Path("out"));
  out.Write("text");
  try {
    out.Flush();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kIo);
  }
  EXPECT_EQ(calls, 1);
}

TEST_F(OutputsTest, ABitmapIsLeftAloneByAQueryThatCannotBegin) {
  Write("broken.csv", "n,x\n1,\"2\n");
  Write("short.tamis", Read("f.tamis").substr(0, 500));
  for (const char* arguments : {
           "f.tamis missing",
           "f.tamis keys missing",
           "f.tamis - missing < keys",
           "f.tamis .",
           "missing keys",
           "short.tamis keys",
           "f.tamis --csv --column who broken.csv",
           "f.tamis --csv broken.csv",
           "f.tamis --strict --integers broken.csv",
       }) {
    Write("bits", "precious");
    EXPECT_GE(Sh("tamis query --bitmap bits " + std::string(arguments)).status, 2) << arguments;
    EXPECT_EQ(Read("bits"), "precious") << arguments;
  }
  Ok("tamis query f.tamis --bitmap bits /dev/null");
  EXPECT_EQ(Read("bits"), "");
  Write("bits", std::string(1000, 'x'));
  Ok("tamis query f.tamis --bitmap bits keys");
  EXPECT_EQ(Read("bits"), std::string(125, '\xFF')) << "nothing of the old file is left";
}

TEST_F(OutputsTest, NamesThatAreNotUtf8) {
  TAMIS_SKIP_ON_WINDOWS("names are UTF-16 on Windows");
  const std::string name = "name=$(printf 'n\\377'); ";
  const CommandResult build = Sh(name + "tamis build -o $name --json keys && cmp f.tamis $name");
  EXPECT_EQ(build.status, 0) << build.err;
  EXPECT_EQ(build.Json()["file"], "n\xEF\xBF\xBD") << "a byte that JSON cannot hold";
  for (const char* script :
       {"tamis info --json $name", "tamis verify --json $name", "tamis query $name --json keys",
        "tamis merge -o m --json $name $name", "tamis verify --json missing$name || true"}) {
    const CommandResult result = Sh(name + script);
    EXPECT_EQ(result.status, 0) << script << "\n" << result.err;
    EXPECT_TRUE(result.Json().is_object()) << script;
  }
}

TEST_F(OutputsTest, ControlCharactersOfNamesAreShown) {
  TAMIS_SKIP_ON_WINDOWS("names have no control characters on Windows");
  // Sequences that clear a terminal, in two ways, and a line end, which would begin a new message.
  Ok("mv f.tamis \"$(printf 'a\\033[2J\\302\\2332J\\nb')\"; touch \"$(printf 'k\\033c')\"");
  const CommandResult result =
      Sh("for command in info verify 'query --count' 'build -o x'; do"
         " tamis $command a*b k*; tamis $command no*pe \"$(printf '\\033')\";"
         "done; tamis \"$(printf '\\007')\"; tamis info \"$(printf -- '--\\033')\"");
  const std::string all = result.out + result.err;
  for (const char byte : {'\x1B', '\x9B', '\x07'}) {
    EXPECT_EQ(all.find(byte), std::string::npos) << all;
  }
  EXPECT_NE(result.out.find("a\\x1B[2J\\xC2\\x9B2J\\x0Ab\n"), std::string::npos) << result.out;
  EXPECT_TRUE(result.ErrHas("k\\x1Bc")) << result.err;
  for (const std::string& line : Lines(result.err)) EXPECT_EQ(line.rfind("tamis: ", 0), 0U) << line;
}

}  // namespace tamis::tools::outputs_test
