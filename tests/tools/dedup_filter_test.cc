// tamis dedup --filter: what is in the saved filter, and when it is saved.
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "tests/tools/command_test.h"

namespace tamis::tools::dedup_filter_test {

class DedupFilterTest : public CommandTest {
 protected:
  DedupFilterTest() {
    Write("first", Numbers(1, 50'000));
    Write("second", Numbers(40'001, 50'000));
  }
};

TEST_F(DedupFilterTest, TwoHalvesAreOneRun) {
  for (const char* options : {"", "--capacity 100k", "--kind split-block", "--scalable -n 70k",
                              "--capacity 200k --kind cuckoo16 --fpr 1e-5"}) {
    const std::string dedup = "tamis dedup " + std::string(options) + " ";
    Ok("rm -f f whole");
    EXPECT_TRUE(Ok(dedup + "--filter f first").out == Numbers(1, 50'000)) << options;
    EXPECT_TRUE(Ok(dedup + "--filter f second").out == Numbers(50'001, 40'000)) << options;
    EXPECT_EQ(Ok(dedup + "--filter f first second").out, "") << options;
    Ok(dedup + "--filter whole first second");
    EXPECT_TRUE(Read("f") == Read("whole")) << options;
    Ok("tamis query f --count first second | grep -qx 100000/100000");
  }
}

TEST_F(DedupFilterTest, GoesOnWithOneThatWasBuilt) {
  Ok("tamis build -q -o f --capacity 100k --fpr 1e-6 first");
  EXPECT_TRUE(Ok("tamis dedup --filter f second --kind counting").out == Numbers(50'001, 40'000));
  Ok("tamis info f | grep -q split-block");
  // The secret is fixed, because with a random one a key is sometimes a false positive.
  Ok("printf '%032d\\n' 7 > secret\n"
     "tamis build -q -o keyed --hash siphash13 --secret secret --capacity 100k --fpr 1e-6 first");
  EXPECT_EQ(Sh("tamis dedup --filter keyed second").status, 2);
  EXPECT_TRUE(Ok("tamis dedup --filter keyed --secret secret second").out ==
              Numbers(50'001, 40'000));
}

TEST_F(DedupFilterTest, WarnsOnceItIsTooFull) {
  Ok("tamis dedup -q --filter f --capacity 66k --fpr 0.001 first > out");
  const CommandResult result = Sh("tamis dedup --filter f second > out");
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(result.ErrHas("keys are in a filter for 66,000; its false-positive rate has become"))
      << result.err;
}

TEST_F(DedupFilterTest, KeysOfAnotherFormAreRefused) {
  Ok("tamis build -q -o f --integers --capacity 100k --fpr 1e-6 first && cp f before");
  const CommandResult result = Sh("tamis dedup --filter f second");
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(result.ErrHas("f: its keys are integers, and not text: give --integers"))
      << result.err;
  Ok("cmp f before");
  EXPECT_EQ(Ok("tamis dedup --filter f --integers second").NumLines(), 40'000u);
  Ok("tamis dedup -q --filter t first > out");
  EXPECT_TRUE(Sh("tamis dedup --filter t --integers second").ErrHas("leave out --integers"));
  EXPECT_EQ(Sh("tamis dedup -q --filter t --integers --any-type second").status, 0);
}

TEST_F(DedupFilterTest, FilesThatAreNotFiltersAreRefused) {
  Ok("tamis dedup -q --filter f first > out; cp f damaged; cp f short; truncate -s 1000 short\n"
     "printf x | dd of=damaged bs=1 seek=5000 conv=notrunc status=none; cp first text");
  for (const char* file : {"damaged", "short", "text"}) {
    const std::string before = Read(file);
    const CommandResult result = Sh("tamis dedup --filter " + std::string(file) + " second");
    EXPECT_EQ(result.status, 3) << file << "\n" << result.err;
    EXPECT_EQ(result.out, "") << file;
    EXPECT_EQ(Read(file), before);
  }
}

TEST_F(DedupFilterTest, IsNotSavedIfTheOutputFails) {
  Ok("tamis dedup -q --filter f first > out && cp f before");
  if (Sh("test -c /dev/full").status == 0) {
    const CommandResult full = Sh("tamis dedup --filter f second > /dev/full");
    EXPECT_EQ(full.status, 3);
    EXPECT_TRUE(full.ErrHas("cannot write standard output: No space left")) << full.err;
    // The same holds for the counts.
    EXPECT_EQ(Sh("tamis dedup --json --filter f second > /dev/full").status, 3);
  }
  const CommandResult closed = Sh("tamis dedup --filter f second >&-");
  EXPECT_EQ(closed.status, 3);
  EXPECT_TRUE(closed.ErrHas("cannot write standard output")) << closed.err;
  TAMIS_SKIP_ON_WINDOWS("Windows has no SIGPIPE");
  // Nobody reads the output: the command ends by SIGPIPE, or with an error if SIGPIPE is ignored.
  EXPECT_EQ(Sh("{ tamis dedup --filter f second; echo $? >&2; } | true").err, "141\n");
  EXPECT_EQ(Sh("{ trap '' PIPE; tamis dedup --filter f second; echo $? >&2; } | true").err, "3\n");
  Ok("cmp f before");
}

TEST_F(DedupFilterTest, IsNotSavedIfTheInputFails) {
  Ok("tamis dedup -q --filter f first > out && cp f before; gzip -c second > s.gz\n"
     "head -c 20000 s.gz > cut.gz");
  EXPECT_EQ(Sh("tamis dedup --filter f cut.gz").status, 3);
  EXPECT_EQ(Sh("tamis dedup --filter f second missing").status, 3);
  const CommandResult strict = Sh("echo x | tamis dedup --filter n --integers --max-bad 0");
  EXPECT_EQ(strict.status, 2);
  EXPECT_TRUE(strict.ErrHas("; the filter was not saved")) << strict.err;
  Ok("cmp f before");
}

TEST_F(DedupFilterTest, ASecondOneIsRefused) {
  TAMIS_SKIP_ON_WINDOWS("wine does not wait for named pipes");
  Ok("tamis dedup -q --filter f first > out; mkfifo pipe");
  const CommandResult result =
      Sh("exec_tamis dedup -q --filter f pipe > slow & exec 3> pipe; echo new >&3\n"
         "until grep -q new slow; do sleep 0.01; done\n"
         "tamis dedup --filter f second; echo $?; exec 3>&-; wait");
  EXPECT_EQ(result.out, "3\n");
  EXPECT_TRUE(result.ErrHas("f")) << result.err;
  Ok("echo new | tamis query f --count | grep -qx 1/1");
}

// The filter contains exactly the lines that were written.
TEST_F(DedupFilterTest, ASignalEndsTheInputAndSaves) {
  TAMIS_SKIP_ON_WINDOWS("wine does not wait for named pipes");
  Ok("mkfifo pipe; tamis dedup -q --filter before first > out");
  for (const bool goes_on : {false, true}) {
    for (const int number : {SIGTERM, SIGHUP, SIGINT}) {
      SCOPED_TRACE(number);
      Ok(goes_on ? "cp before f" : "rm -f f");
      const std::string want = goes_on ? Numbers(50'001, 40'000) : Numbers(40'001, 50'000);
      Write("want", want);
      // A shell starts background commands with SIGINT ignored.
      const CommandResult result =
          Sh("env --default-signal=INT " TAMIS_COMMAND_PREFIX " '" TAMIS_COMMAND
             "' dedup --filter f pipe > written 2> said & pid=$!\n"
             "exec 3> pipe; cat second >&3; printf 'no end' >&3\n"
             "until cmp -s written want; do sleep 0.01; done\n"
             "kill -" +
             std::to_string(number) + " $pid; wait $pid");
      EXPECT_EQ(result.status, 128 + number) << Read("said");
      EXPECT_NE(Read("said").find(" lines: "), std::string::npos) << Read("said");
      EXPECT_EQ(Read("said").find("interrupted"), std::string::npos) << Read("said");
      EXPECT_TRUE(Read("written") == want);
      EXPECT_EQ(Ok("tamis query f --invert written").out, "");
      EXPECT_EQ(Ok("echo 'no end' | tamis query f --count").out, "0/1\n");
    }
  }
}

// The command ends while it waits for a pipe to be opened, and while nobody reads its output.
TEST_F(DedupFilterTest, ASignalEndsAWaitingCommand) {
  TAMIS_SKIP_ON_WINDOWS("wine does not wait for named pipes");
  Ok("mkfifo pipe out; tamis dedup -q --filter f first > out0; cp f before");
  EXPECT_EQ(Sh("exec_tamis dedup -q --filter f pipe & pid=$!; sleep 0.3; kill -TERM $pid\n"
               "wait $pid")
                .status,
            128 + SIGTERM);
  Ok("tamis query f --invert first | cmp - /dev/null");
  Ok("cp before f");
  // The command has written something, and waits to write the rest. If a second signal arrives
  // before the first is handled, the system merges both. So the script sends signals until the
  // command ends.
  const CommandResult stuck =
      Sh("exec_tamis dedup -q --filter f second > out 2> said & pid=$!; exec 3< out\n"
         "dd bs=1 count=1 <&3 > byte 2> dd_said\n"
         "while grep -qs '^State:.[^ZX]' /proc/$pid/status; do\n"
         "  kill -TERM $pid; sleep 0.1\n"
         "done; wait $pid");
  EXPECT_EQ(stuck.status, 128 + SIGTERM);
  EXPECT_EQ(Read("said"), "tamis: interrupted; f is unchanged\n");
  Ok("cmp f before");
}

}  // namespace tamis::tools::dedup_filter_test
