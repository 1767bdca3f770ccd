// Help, exit statuses, and outputs that fail.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/tools/command_test.h"
#include "tools/options/exit_codes.h"

namespace tamis::tools::status_test {

class StatusTest : public CommandTest {
 protected:
  StatusTest() {
    Write("keys", Numbers(1, 20000));
    Ok("tamis build -q -o f.tamis keys");
  }
};

TEST_F(StatusTest, EveryCommandHasHelpWithExamples) {
  for (const char* command : {"", "build", "query", "dedup", "info", "verify", "merge", "plan",
                              "backends", "demo", "demo phones"}) {
    const CommandResult help = Ok("tamis " + std::string(command) + " --help");
    EXPECT_NE(help.out.find("[OPTIONS]"), std::string::npos) << help.out;
    EXPECT_NE(help.out.find("Examples:\n  "), std::string::npos) << help.out;
    EXPECT_EQ(help.err, "");
    for (const std::string& line : Lines(help.out)) EXPECT_LE(line.size(), 100U) << line;
  }
  EXPECT_EQ(Ok("tamis --version").out.rfind("tamis ", 0), 0U);
}

TEST_F(StatusTest, FailuresAreOneLineAndAStatus) {
  struct Case {
    const char* script;
    int status;
    const char* error;
  };
  const Case cases[] = {
      {"tamis", 2, "give a command"},
      {"tamis frobnicate", 2, "unknown command \"frobnicate\" (see `tamis --help`)"},
      {"tamis bulid -o x keys", 2, "unknown command \"bulid\"; did you mean build? (see"},
      {"tamis demo phnes", 2,
       "unknown command \"phnes\"; did you mean phones? (see `tamis demo --help`)"},
      {"tamis build keys", 2, "--output is required"},
      {"tamis build -o x --frobnicate keys", 2, "--frobnicate"},
      {"tamis build -o x --capacity 1e1x keys", 2, "--capacity: \"1e1x\""},
      {"tamis build -o x --fpr 2 keys", 2, "--fpr: \"2\""},
      {"tamis build -o x --bytes 0 keys", 2, "--bytes: \"0\""},
      {"tamis build -o x --bytes 20 keys", 2, "20 bytes"},
      {"tamis build -o x --bytes 900T keys", 2, "bytes"},
      {"tamis build -o x --seed 1.5 keys", 2, "--seed: \"1.5\""},
      {"tamis build -o x --hash md5 keys", 2, "md5"},
      {"tamis build -o x --threads 0 keys", 2, "--threads: \"0\""},
      {"tamis build -o x --backend abacus keys", 2, "abacus"},
      {"tamis build -o x --csv --tsv keys", 2, "excludes"},
      {"tamis build -o x --u64 --integers keys", 2, "excludes"},
      {"tamis build -o x --column 2 keys", 2, "--csv"},
      {"tamis build -o x --csv --column 0 keys", 2, "count from 1"},
      {"tamis build -o x --csv --column $(printf '%0400d' 0 | tr 0 7) keys", 2,
       "--column: \"7777777777777777777777777777777777777777...\" is not a column"},
      {"tamis build -o x --csv --column 18446744073709551616 keys", 2, "1 to 2^64 - 1"},
      {"tamis build -o x --no-quotes keys", 2, "--no-quotes and --quoted-lines need --csv"},
      {"tamis build -o x --csv --quoted-lines 0 keys", 2, "--quoted-lines: \"0\""},
      {"tamis build -o x --csv --column who keys", 2, "no column \"who\"; the columns are: \"1\""},
      {"tamis build -o missing/x keys", 3, "missing"},
      {"tamis build -o . keys", 3, "directory"},
      {"tamis build -o /dev/null keys", 3, "not a regular file"},
      {"tamis build -o x missing", 3, "cannot read missing: No such file"},
      {"tamis build -o x .", 3, "cannot read .: Is a directory"},
      {"tamis query f.tamis missing", 3, "cannot read missing"},
      {"tamis query missing keys", 3, "missing"},
      {"tamis query f.tamis --count --any keys", 2, "excludes"},
      {"tamis query f.tamis --map --no-map keys", 2, "excludes"},
      {"tamis query f.tamis --no-map --no-verify keys", 2, "excludes"},
      {"tamis query f.tamis --bitmap missing/b keys", 3, "cannot write missing/b"},
      {"tamis info missing", 3, "missing"},
      {"TAMIS_THREADS=x; export TAMIS_THREADS; tamis backends", 2, "TAMIS_THREADS"},
  };
  for (const Case& c : cases) {
    const CommandResult result = Sh(c.script);
    EXPECT_EQ(result.status, c.status) << c.script << "\n" << result.err;
    EXPECT_EQ(result.out, "") << c.script;
    EXPECT_TRUE(result.ErrHas(c.error)) << c.script << "\n" << result.err;
    const std::vector<std::string> lines = Lines(result.err);
    // The count of keys may be printed before the failure.
    ASSERT_TRUE(lines.size() == 1 || lines.size() == 2) << c.script << "\n" << result.err;
    EXPECT_EQ(lines.back().rfind("tamis: ", 0), 0U) << result.err;
    EXPECT_FALSE(Exists("x")) << c.script;
  }
}

TEST(ExitCodeTest, ASuccessfulSaveIsNotAFailure) {
  EXPECT_EQ(ExitCodeFor(ErrorCode::kNotDurable), 4);
  EXPECT_EQ(ExitCodeFor(ErrorCode::kBusy), 3);
}

TEST_F(StatusTest, AFullDeviceIsAnError) {
  if (Sh("test -c /dev/full").status != 0) GTEST_SKIP() << "no /dev/full";
  for (const char* command :
       {"query f.tamis keys", "query f.tamis --count keys", "dedup keys", "info f.tamis",
        "plan --n 5", "verify f.tamis", "--help", "backends"}) {
    const CommandResult result = Sh("tamis " + std::string(command) + " > /dev/full");
    EXPECT_EQ(result.status, 3) << command;
    EXPECT_TRUE(result.ErrHas("cannot write standard output: No space left")) << result.err;
  }
}

TEST_F(StatusTest, AReportThatFailsLeavesSavedFiles) {
  if (Sh("test -c /dev/full").status != 0) GTEST_SKIP() << "no /dev/full";
  Ok("tamis build -q --for-bank -n 20000 -o a.tamis keys; tamis bank build -q -o a.bank a.tamis");
  for (const char* command :
       {"build -o new keys", "merge -o new f.tamis f.tamis", "erase e.tamis -o new keys",
        "bank build -o new a.tamis", "bank remove new a"}) {
    const bool same = std::string_view(command).starts_with("bank build");
    Ok(std::string("cp ") + (same ? "keys" : "a.bank") + " new");
    Ok("tamis build -q -t counting -o e.tamis keys");
    const CommandResult result = Sh("tamis " + std::string(command) + " --json > /dev/full");
    EXPECT_EQ(result.status, 4) << command << "\n" << result.err;
    EXPECT_TRUE(result.ErrHas("cannot write standard output: No space left")) << result.err;
    EXPECT_EQ(Sh("cmp -s a.bank new").status, same ? 0 : 1) << command;
  }
  // The report fails as well, but the status names the first failure.
  EXPECT_EQ(Sh("tamis build -o folder/none --json keys > /dev/full").status, 3);
}

TEST_F(StatusTest, ClosedStandardOutputIsAnError) {
  const CommandResult result = Sh("tamis info f.tamis >&-");
  EXPECT_EQ(result.status, 3);
  EXPECT_TRUE(result.ErrHas("cannot write standard output")) << result.err;
}

TEST_F(StatusTest, FilesDoNotTakeThePlaceOfClosedStreams) {
  TAMIS_SKIP_ON_WINDOWS("wine cannot start without standard error");
  EXPECT_EQ(Sh("tamis build -o g.tamis keys <&- >&- 2>&-").status, 0);
  Ok("cmp f.tamis g.tamis");
  // If the bitmap had descriptor 1, it would contain the counts.
  EXPECT_EQ(Sh("tamis query f.tamis --bitmap bits --count keys >&-").status, 3);
  EXPECT_EQ(Read("bits").size(), 20000U / 8);
}

TEST_F(StatusTest, AReaderThatGoesEndsTheCommandQuietly) {
  TAMIS_SKIP_ON_WINDOWS("Windows has no SIGPIPE");
  // More bytes than a pipe holds.
  const std::string query = "tamis query f.tamis keys keys keys; echo $? >&2";
  const CommandResult killed = Sh("{ " + query + "; } | head -n 1");
  EXPECT_EQ(killed.out, "1\n");
  EXPECT_EQ(killed.err, "141\n");  // by SIGPIPE, as in any pipeline
  const CommandResult ignored = Sh("{ trap '' PIPE; " + query + "; } | head -n 1");
  EXPECT_EQ(ignored.out, "1\n");
  EXPECT_EQ(ignored.err, "3\n");
}

TEST_F(StatusTest, QuietSaysNothing) {
  EXPECT_EQ(Ok("tamis build --quiet -o x keys && tamis query -q x keys > out").err, "");
  EXPECT_EQ(Ok("tamis merge -q -o y x x").err, "");
}

}  // namespace tamis::tools::status_test
