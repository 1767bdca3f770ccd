// tamis dedup: the lines that it writes. dedup_filter_test.cc tests the files that it keeps.
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/engine/windowed_filter.h"
#include "tests/test_util.h"
#include "tests/tools/command_test.h"
#include "tests/tools/dedup_lines.h"

namespace tamis::tools::dedup_test {

using DedupTest = CommandTest;

TEST_F(DedupTest, WritesTheFirstOfEachLine) {
  // More than one batch and one block of the input.
  const std::string text = RandomLines(400'000, 100'000, 1);
  Write("lines", text);
  const std::string want = FirstOfEach(text);
  for (const char* script : {
           "tamis dedup lines",
           "tamis dedup < lines",
           "cat lines | tamis dedup",
           "cat lines | tamis dedup - --capacity 100000",
           "tamis dedup --scalable lines",
           "tamis dedup --scalable --capacity 66k --threads 1 lines",
           "tamis dedup --threads 3 --kind split-block lines",
           "tamis dedup --kind cuckoo16 --capacity 200k --fpr 1e-5 lines",
           "tamis dedup --scalable --kind split-block lines",
           "tamis dedup --bytes 1M lines",
           "tamis dedup --window 400k lines",
           "tamis dedup --window 400k --kind split-block lines",
           "gzip -c lines | tamis dedup",
           "tamis dedup lines lines lines",
           "tamis dedup --backend portable lines",
       }) {
    ASSERT_TRUE(Ok(script).out == want) << script;
  }
}

TEST_F(DedupTest, BytesAreNotChanged) {
  struct Case {
    const char* input;
    const char* output;
  };
  const Case cases[] = {
      {"", ""},
      {"\\n", "\\n"},
      {"a", "a"},
      {"a\\na", "a\\n"},
      {"a\\nb", "a\\nb"},
      {"\\n\\na\\n\\n", "\\na\\n"},
      {"a\\r\\na\\nb\\nb\\r\\n", "a\\r\\nb\\n"},
      {" a\\na\\na \\n", " a\\na\\na \\n"},
      {"\\377\\r\\r\\n\\377\\r\\n", "\\377\\r\\r\\n\\377\\r\\n"},
  };
  for (const Case& c : cases) {
    const std::string result =
        Ok("printf '" + std::string(c.input) + "' | tamis dedup -q | od -An -c").out;
    EXPECT_EQ(result, Ok("printf '" + std::string(c.output) + "' | od -An -c").out) << c.input;
  }
}

TEST_F(DedupTest, ALineWithoutItsEndGetsItWhereAnotherFollows) {
  Write("a", "1\n2");
  Write("b", "2\n3");
  Write("c", "3");
  EXPECT_EQ(Ok("tamis dedup a b c").out, "1\n2\n3");
  EXPECT_EQ(Ok("tamis dedup a c").out, "1\n2\n3");
  EXPECT_EQ(Ok("tamis dedup a a").out, "1\n2");
}

TEST_F(DedupTest, OtherTypesOfKeys) {
  Write("t.csv", "id,what\n1,a\n01,b\n2,\"c\nc\"\n1,d\n");
  EXPECT_EQ(Ok("tamis dedup --csv --column id t.csv").out, "id,what\n1,a\n01,b\n2,\"c\nc\"\n");
  EXPECT_EQ(Ok("tamis dedup --csv --column id --integers t.csv t.csv").out,
            "id,what\n1,a\n2,\"c\nc\"\n");
  Write("only_header", "id,what\n");
  EXPECT_EQ(Ok("tamis dedup --csv --column id only_header").out, "id,what\n");
  const std::vector<uint64_t> raw = {5, 6, 5, 5, 7};
  WriteU64("raw", raw);
  EXPECT_EQ(Ok("tamis dedup --u64 raw | od -An -tu8 -w8").out.size(),
            Ok("head -c 24 raw | od -An -tu8 -w8").out.size());
  const CommandResult bad = Sh("printf '1\\nx\\n\\n1\\n2\\n' | tamis dedup --integers");
  EXPECT_EQ(bad.out, "1\n2\n");
  EXPECT_EQ(bad.status, 0);
  EXPECT_TRUE(bad.ErrHas("(standard input):2: not a decimal integer")) << bad.err;
  EXPECT_TRUE(bad.ErrHas("2 bad lines skipped, 1 of them empty")) << bad.err;
}

TEST_F(DedupTest, EmptyLinesAreLeftOutIfAsked) {
  const CommandResult result = Sh("printf 'a\\n\\n\\nb\\n' | tamis dedup --empty skip");
  EXPECT_EQ(result.out, "a\nb\n");
  EXPECT_TRUE(result.ErrHas("2 empty lines skipped")) << result.err;
}

TEST_F(DedupTest, InputThatIsNotTextIsRefused) {
  for (const char* bytes : {"PAR1\\0\\0", "\\377\\376a\\0", "a\\nb\\0c\\n"}) {
    const CommandResult result =
        Sh("printf '" + std::string(bytes) + "' > in; tamis dedup --filter f in");
    EXPECT_EQ(result.status, 2) << bytes;
    EXPECT_EQ(result.out, "") << bytes;
    EXPECT_FALSE(Exists("f"));
  }
  EXPECT_EQ(Ok("printf 'a\\0\\na\\0\\n' | tamis dedup --as-is").out, std::string("a\0\n", 3));
}

// The lines read from an open pipe must be answered before more lines come.
TEST_F(DedupTest, AnswersBeforeItWaits) {
  TAMIS_SKIP_ON_WINDOWS("wine does not wait for named pipes");
  const CommandResult result =
      Sh("mkfifo in out; exec_tamis dedup -q < in > out & exec 3> in 4< out\n"
         "for i in 1 2 3; do\n"
         "  echo $i >&3; echo 1 >&3; read line <&4; echo \"got $line\"\n"
         "done\n"
         "exec 3>&-; wait");
  EXPECT_EQ(result.out, "got 1\ngot 2\ngot 3\n");
  EXPECT_EQ(result.status, 0) << result.err;
}

TEST_F(DedupTest, AWindowForgets) {
  const std::string text = Numbers(1, 20'000) + Numbers(1, 20'000);
  Write("twice", text);
  // All but a few false positives.
  EXPECT_GT(Ok("tamis dedup --window 1000 twice").NumLines(), 39'980u);
  EXPECT_TRUE(Ok("tamis dedup --window 20000 twice").out == Numbers(1, 20'000));
  // Each line returns after 999 others.
  std::string rounds;
  for (int i = 0; i < 30; ++i) rounds += Numbers(7, 1000);
  Write("rounds", rounds);
  EXPECT_TRUE(Ok("tamis dedup --window 1000 rounds").out == Numbers(7, 1000));
}

TEST_F(DedupTest, AWindowByTime_Forgets) {
  TAMIS_SKIP_ON_WINDOWS("wine does not wait for named pipes");
  Ok("mkfifo in out");
  for (const char* kind : {"bloom", "split-block"}) {
    // The script waits for the first line, because a busy machine may start the command late. Then
    // it sleeps for more than a third longer than the window.
    const CommandResult slow =
        Sh(std::string("exec_tamis dedup -q --window 1s --capacity 1000 --kind ") + kind +
           " < in > out & exec 3> in 4< out\n"
           "printf 'a\\na\\n' >&3; read line <&4; echo $line; sleep 1.6\n"
           "printf 'a\\nb\\n' >&3; exec 3>&-; cat <&4; wait");
    EXPECT_EQ(slow.out, "a\na\nb\n") << slow.err;
  }
}

TEST_F(DedupTest, AWindowByTime_IsMadeForItsCapacity) {
  Write("lines", "a\nb\na\n");
  EXPECT_EQ(Ok("tamis dedup --window 1h --capacity 1000 lines").out, "a\nb\n");
  Write("many", Numbers(1, 2000));
  const CommandResult over = Sh("tamis dedup -p 0.01 --window 1h --capacity 100 many");
  EXPECT_EQ(over.status, 3);
  EXPECT_TRUE(over.ErrHas("warning: more lines came within 1h than the window was made for"));
  EXPECT_TRUE(over.ErrHas("most of the lines left out may be new")) << over.err;
}

// All lines of the window come in the time of one filter of its ring.
TEST_F(DedupTest, AWindowByTime_KeepsItsRateInABurst) {
  constexpr uint64_t kLines = 100'000;
  Write("lines", Numbers(1, kLines));
  for (const char* kind : {"bloom", "split-block"}) {
    const std::string window = std::string("tamis dedup --window 1h --kind ") + kind;
    const CommandResult rare = Ok(window + " --json --capacity 100k lines");
    EXPECT_GE(rare.Json()["new"], kLines - 2) << kind;
    EXPECT_EQ(rare.err, "");
    const CommandResult often = Ok(window + " --json -p 0.01 --capacity 100k lines");
    EXPECT_GE(often.Json()["new"], kLines - kLines / 100) << kind;
    EXPECT_LT(often.Json()["fpr"], 0.01) << kind;
    EXPECT_EQ(often.err, "");
  }
}

TEST_F(DedupTest, AWindow_IsSavedAndContinued) {
  Write("one", "a\nb\n");
  Write("two", "b\nc\n");
  const std::string by_time = "tamis dedup -q --window 1h --capacity 1000 --filter time ";
  EXPECT_EQ(Ok(by_time + "one").out, "a\nb\n");
  EXPECT_EQ(Ok(by_time + "two").out, "c\n");
  EXPECT_EQ(Ok("tamis dedup -q --window 60m --filter time two").out, "");  // the size is known
  const std::string by_lines = "tamis dedup -q --window 2 --filter last ";
  EXPECT_EQ(Ok(by_lines + "one").out, "a\nb\n");
  EXPECT_EQ(Ok(by_lines + "two").out, "c\n");
  Write("more", Numbers(1, 100));
  EXPECT_EQ(Ok(by_lines + "more").out, Numbers(1, 100));
  EXPECT_EQ(Ok(by_lines + "one").out, "a\nb\n");

  Ok("tamis dedup -q --filter plain one");
  const auto fails = [&](const std::string& options, const std::string& text, int status = 2) {
    const CommandResult result = Sh("tamis dedup " + options + " one");
    EXPECT_EQ(result.status, status) << options;
    EXPECT_TRUE(result.ErrHas(text)) << options << "\n" << result.err;
  };
  fails("--window 2h --filter time", "time is a window of another size: give --window 1h");
  fails("--window 5 --filter time", "give --window 1h");
  fails("--window 5 --filter last", "give --window 2");
  fails("--filter time", "time is a window: give --window 1h");
  fails("--filter last", "last is a window: give --window 2");
  fails("--window 1h --filter plain", "leave out --window");
  fails("--integers --window 1h --filter time", "time: its keys are text, and not integers");
  fails("--integers --window 2 --filter last", "leave out --integers and --u64, or --any-type");
  EXPECT_EQ(Ok("seq 2 | tamis dedup -q --integers --any-type --window 1h --filter time").out,
            "1\n2\n");
  fails("--window 1h --filter missing/f --capacity 5", "missing", 3);
  EXPECT_TRUE(Sh("tamis query time one").ErrHas("belongs to a window"));
  EXPECT_TRUE(Sh("tamis dedup time").ErrHas("a filter saved by tamis"));
  std::string bytes = Read("time");
  bytes[300] = static_cast<char>(bytes[300] ^ 1);
  Write("time", bytes);
  fails("--window 1h --filter time", "time: ", 3);
  EXPECT_EQ(Read("time"), bytes);
}

// A clock that was wrong when the window was saved.
TEST_F(DedupTest, AWindowOfTheFuture_IsRefused) {
  using std::chrono::system_clock;
  WindowedFilter<SplitBlockBloomFilter> window({.window = 100, .span = std::chrono::hours(1)});
  window.Advance(system_clock::now().time_since_epoch() + std::chrono::minutes(30));
  window.Save(Path("soon"));
  window.Advance(system_clock::now().time_since_epoch() + std::chrono::hours(24));
  window.Save(Path("tomorrow"));
  Write("lines", "a\n");
  EXPECT_EQ(Ok("tamis dedup -q --window 1h --filter soon lines").out, "a\n");
  const CommandResult refused = Sh("tamis dedup --window 1h --filter tomorrow lines");
  EXPECT_EQ(refused.status, 2);
  EXPECT_TRUE(refused.ErrHas("s after the clock of this machine: set the clock")) << refused.err;
}

TEST_F(DedupTest, ReportsWhatItDid) {
  Write("lines", Numbers(1, 5000) + Numbers(4001, 2000));
  EXPECT_EQ(Ok("tamis dedup --capacity 100k lines").err,
            "tamis: 7,000 lines: 6,000 written, 1,000 left out, of which fewer than 0.01 are "
            "expected to have been new; 790 KiB\n");
  EXPECT_EQ(Ok("tamis dedup -q lines").err, "");
  const CommandResult report = Ok("tamis dedup --json --capacity 100k lines");
  const auto json = report.Json();
  EXPECT_EQ(json["lines"], 7000);
  EXPECT_EQ(json["new"], 6000);
  EXPECT_EQ(json["left_out"], 1000);
  EXPECT_LT(json["expected_lost"], 0.01);
  EXPECT_GT(json["bytes"], 350'000);
}

// Far beyond the capacity, nearly all new lines are lost.
TEST_F(DedupTest, LosesAsManyLinesAsExpected_FarBeyondTheCapacity) {
  constexpr uint64_t kDifferent = 150'000;
  Write("once", Numbers(1'000'000, kDifferent));
  std::string lines;
  for (uint64_t i = 0; i < kDifferent; ++i) {
    lines += Numbers(1'000'000 + i, 1) + Numbers(1'000'000 + i / 2, 1);
  }
  Write("twice", lines);
  for (const std::string kind : {"--kind bloom", "--kind split-block"}) {
    for (const std::string options :
         {"-p 0.01 --window 1h --capacity 300", "-p 0.01 --window 1h --capacity 2000",
          "-p 0.01 --window 1h --capacity 20000", "-p 1e-6 --window 1h --capacity 20000",
          "--bytes 20000", "--bytes 60000"}) {
      SCOPED_TRACE(kind + " " + options);
      for (const char* file : {"once", "twice"}) {
        const auto json = Sh("tamis dedup --json " + kind + " " + options + " " + file).Json();
        const double lost = kDifferent - json["new"].get<double>();
        const double expected = json["expected_lost"];
        EXPECT_GT(expected, 0.8 * lost) << file;
        // A filter that finds nearly all lines cannot tell repeated lines from lost ones.
        if (file == std::string("once") || json["fpr"] < 0.999) {
          EXPECT_LT(expected, 1.2 * lost) << file;
        }
      }
    }
  }
}

// At these rates many lines are lost, so the relative deviation by chance is small.
TEST_F(DedupTest, LosesAsManyLinesAsExpected) {
  constexpr uint64_t kDifferent = 400'000;
  Write("lines", Numbers(1, kDifferent) + Numbers(1, kDifferent));
  for (const char* options : {"-p 0.1 --capacity 400k", "-p 0.01 --capacity 300k",
                              "-p 0.05 --capacity 350k --kind split-block", "-p 0.1 --scalable",
                              "-p 0.02 --window 400k"}) {
    // The input comes in small pieces, because the mean rate of a piece counts for the whole piece.
    const auto json =
        Sh("dd if=lines bs=65536 status=none | tamis dedup --json " + std::string(options)).Json();
    const double lost = static_cast<double>(kDifferent) - json["new"].get<double>();
    const double expected = json["expected_lost"];
    EXPECT_GT(lost, 300) << options;
    EXPECT_NEAR(lost / expected, 1, 0.2) << options;
  }
}

TEST_F(DedupTest, WarnsOfAFilterThatIsTooFull) {
  Write("lines", Numbers(1, 200'000));
  const std::string warning =
      "keys are in a filter for 70,000; its false-positive rate has become ";
  const CommandResult result = Sh("head -n 100000 lines | tamis dedup -q -p 0.01 --capacity 70k");
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(result.ErrHas(warning)) << result.err;
  EXPECT_EQ(Lines(result.err).size(), 1u);
  const CommandResult far_too_full = Sh("tamis dedup -q -p 0.01 --capacity 70k lines");
  EXPECT_EQ(far_too_full.status, 3);
  EXPECT_TRUE(far_too_full.ErrHas(warning)) << far_too_full.err;
  EXPECT_TRUE(far_too_full.ErrHas("most of the lines left out may be new")) << far_too_full.err;
}

TEST_F(DedupTest, AgainstAnOverfullFilter_WarnsAndFails) {
  Write("known", Numbers(1, 100'000));
  Write("lines", Numbers(1'000'001, 3000));
  Ok("tamis build -q -o good --capacity 100k known");
  Ok("tamis build -q -o full --capacity 1000 --overfull known 2> warning");
  const CommandResult good = Ok("tamis dedup -q --against good lines");
  EXPECT_GT(good.NumLines(), 2900u);
  EXPECT_EQ(good.err, "");
  for (const char* options : {"", "--json", "--output-dir out", "--unit paragraph",
                              "--unit ngram --any-type --ngrams 3"}) {
    const CommandResult full = Sh(std::string("tamis dedup -q --against full lines ") + options);
    EXPECT_EQ(full.status, 3) << options;
    EXPECT_TRUE(
        full.ErrHas("warning: full is too full: it was made for 1,000 keys, and its "
                    "false-positive rate is 100.0%"))
        << options << full.err;
    EXPECT_TRUE(full.ErrHas("may be new: make full again with a larger --capacity")) << options;
  }
}

// The filter did not exist when the command began, so nobody had locked it.
TEST_F(DedupTest, AFilterThatAppearedDuringTheRunIsNotReplaced) {
  TAMIS_SKIP_ON_WINDOWS("wine does not wait for named pipes");
  Write("lines", Numbers(1, 10));
  const CommandResult result = Sh(
      "mkfifo in; (exec 3> in; echo 1 >&3; tamis dedup -q --filter f lines > first; exec 3>&-) &\n"
      "tamis dedup -q --filter f in; echo status $?; wait; tamis dedup -q --filter f lines");
  EXPECT_EQ(result.out, "1\nstatus 3\n");
  EXPECT_NE(result.err.find("f: it has been made in the meantime"), std::string::npos)
      << result.err;
}

TEST_F(DedupTest, CountsAloneLeaveTheFilter) {
  Write("lines", Numbers(1, 10));
  Ok("tamis dedup --json --filter f lines");
  EXPECT_FALSE(Exists("f"));
}

TEST_F(DedupTest, WarnsOfAKindThatIsAbsurd) {
  Write("lines", Numbers(1, 10));
  const CommandResult result = Sh("tamis dedup --kind cuckoo16 lines");
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.err.find("warning: at 0.0001% a cuckoo16 filter takes"), std::string::npos);
  EXPECT_EQ(Ok("tamis dedup -q lines").err, "");
}

TEST_F(DedupTest, OptionsThatDoNotGoTogether) {
  Write("lines", Numbers(1, 3000));
  Write("secret", std::string(32, '5'));
  struct Case {
    const char* arguments;
    int status;
    const char* error;
  };
  const Case cases[] = {
      {"--window 5m lines", 2, "--window 5m needs --capacity: the number of different lines"},
      {"--window 5m --capacity 7 --bytes 1M lines", 2, "--window determines the size: leave out"},
      {"--window 5m --capacity 1e19 lines", 2, "is too large for a window"},
      {"--window 0s lines", 2, "--window: \"0s\""},
      {"--window 36501d lines", 2, "a time from 1s to 36500d"},
      {"--window 5y lines", 2, "--window: \"5y\""},
      {"--window 5m --capacity 7 --kind cuckoo8 lines", 2, "--window needs --kind bloom"},
      {"--window 5 --scalable lines", 2, "--window determines the size: leave out"},
      {"--window 5 --capacity 7 lines", 2, "--window N determines the size: leave out"},
      {"--window 5 --secret secret lines", 2, "leave out --secret"},
      {"--filter '' lines", 2, "--filter: \"\" is empty"},
      {"--filter - lines", 2, "a filter cannot be written to standard output"},
      {"--window 5 --kind cuckoo8 lines", 2, "--window needs --kind bloom or split-block"},
      {"--window 0 lines", 2, "--window: \"0\""},
      {"--window 5 --fpr 1e-12 lines", 2, "is out of range [4e-12, 0.5]"},
      {"--scalable --kind counting lines", 2, "counting"},
      {"--kind scalable lines", 2, "scalable"},
      {"--fpr 2 lines", 2, "--fpr: \"2\""},
      {"--capacity 1e lines", 2, "--capacity: \"1e\""},
      {"--kind cuckoo8 --fpr 0.03 --bytes 1000 lines", 2, "the filter is full with "},
      {"--scalable --bytes 300k --capacity 100k lines", 2, "300"},
      {"missing", 3, "cannot read missing"},
      {"--filter missing/f lines", 3, "missing"},
      {"--filter . lines", 3, "directory"},
      {"--filter lines lines", 2, "the output lines is also an input"},
      {"--filter f --secret secret lines", 2, "--secret needs an existing filter"},
  };
  for (const Case& c : cases) {
    const CommandResult result = Sh("tamis dedup " + std::string(c.arguments) + " > out");
    EXPECT_EQ(result.status, c.status) << c.arguments << "\n" << result.err;
    EXPECT_TRUE(result.ErrHas(c.error)) << c.arguments << "\n" << result.err;
    EXPECT_FALSE(Exists("f")) << c.arguments;
  }
  EXPECT_EQ(Sh("tamis dedup lines >> lines").status, 2);
  EXPECT_EQ(Read("lines"), Numbers(1, 3000));
}

}  // namespace tamis::tools::dedup_test
