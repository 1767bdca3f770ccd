// tamis dedup --exact loses no line, whatever the false-positive rate of its filter.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/test_util.h"
#include "tests/tools/command_test.h"
#include "tests/tools/dedup_lines.h"

namespace tamis::tools::dedup_exact_test {

using DedupExactTest = CommandTest;

// The filters are so small that most lines, or all, are false positives.
TEST_F(DedupExactTest, WritesTheFirstOfEachLine_WhenTheFilterErrsOften) {
  for (const uint64_t different : {1000ULL, 50'000ULL, 10'000'000'000ULL}) {
    Write("lines", RandomLines(60'000, different, different));
    const std::string want = FirstOfEach(Read("lines"));
    for (const char* script : {
             "tamis dedup --exact lines",
             "tamis dedup --exact < lines",
             "tamis dedup --exact --bytes 64 lines",
             "tamis dedup --exact --bytes 16K --threads 3 lines",
             "tamis dedup --exact --kind bloom --bytes 4K --backend portable lines",
             "tamis dedup --exact --fpr 0.5 --capacity 10 lines",
             "tamis dedup --exact --fpr 0.5 --scalable lines lines",
             "tamis dedup --exact --kind cuckoo8 --fpr 0.03 lines",
             "gzip -c lines > lines.gz; tamis dedup --exact lines.gz lines",
         }) {
      const CommandResult result = Sh(script);
      EXPECT_EQ(result.status, 0) << script << "\n" << result.err;
      ASSERT_TRUE(result.out == want) << script << ", of " << different << " lines";
    }
  }
}

TEST_F(DedupExactTest, OtherKeys_AreComparedAlike) {
  std::string csv = "id,what\n";
  std::string want = csv;
  std::string doubled;
  std::vector<uint64_t> integers;
  std::vector<uint64_t> firsts;
  std::set<uint64_t> seen;
  Random random(5);
  for (int i = 0; i < 30'000; ++i) {
    const uint64_t id = random.Below(20'000);
    const std::string record = std::to_string(id) + ",\"" + std::to_string(i) + " \"\"a\nb\"\n";
    integers.push_back(id);
    csv += record;
    if (!seen.insert(id).second) continue;
    want += record;
    firsts.push_back(id);
  }
  Write("t.csv", csv);
  WriteU64("raw", integers);
  WriteU64("first", firsts);
  const std::string exact = "tamis dedup -q --exact --bytes 1K ";
  EXPECT_TRUE(Ok(exact + "--csv --column id t.csv").out == want);
  EXPECT_TRUE(Ok(exact + "--csv --column id --integers t.csv t.csv").out == want);
  Ok(exact + "--u64 raw > got; cmp got first");
  Write("few", "1\n01\nx\n\n2\n1\n");
  const CommandResult bad = Sh(exact + "--integers few");
  EXPECT_EQ(bad.out, "1\n2\n");
  EXPECT_TRUE(bad.ErrHas("few:3: not a decimal integer")) << bad.err;
  EXPECT_TRUE(bad.ErrHas("2 bad lines skipped, 1 of them empty")) << bad.err;
  Write("only_header", "id,what\n");
  EXPECT_EQ(Ok(exact + "--csv --column id only_header").out, "id,what\n");
  Write("other_header", "id,who\n1,a\n");
  const CommandResult headers = Sh(exact + "--csv --column id t.csv other_header");
  EXPECT_EQ(headers.status, 2);
  EXPECT_EQ(headers.out, "");
  EXPECT_TRUE(headers.ErrHas("their records cannot share one header")) << headers.err;
  Write("no_end", "a\nb\na");
  EXPECT_EQ(Ok(exact + "no_end").out, "a\nb\n");
  EXPECT_EQ(Ok(exact + "/dev/null").out, "");
}

TEST_F(DedupExactTest, Summary_SaysThatNoLineIsLost) {
  Write("lines", Numbers(1, 6000) + Numbers(5001, 1000));
  const CommandResult result = Ok("tamis dedup --exact --capacity 100k lines > out");
  EXPECT_TRUE(result.ErrHas("7,000 lines: 6,000 written, 1,000 left out, none of which was new; "))
      << result.err;
  const auto json = Ok("tamis dedup --exact --bytes 64 --json lines").Json();
  EXPECT_EQ(json["lines"], 7000);
  EXPECT_EQ(json["new"], 6000);
  EXPECT_EQ(json["left_out"], 1000);
  EXPECT_EQ(json["expected_lost"], 0);
}

TEST_F(DedupExactTest, InputThatCannotBeReadTwice_IsRefused) {
  Write("lines", "1\n2\n");
  struct Case {
    const char* script;
    const char* error;
  };
  const Case cases[] = {
      {"cat lines | tamis dedup --exact", "a pipe can be read only once: give files"},
      {"mkfifo pipe; tamis dedup --exact lines pipe", "a pipe can be read only once: give files"},
      {"tamis dedup --exact --filter f lines", "those of earlier runs: leave out --filter"},
      {"tamis dedup --exact --window 10 lines", "remembers all lines: leave out --window"},
      {"tamis dedup --exact --strict --integers f lines", "cannot read f"},
  };
  for (const Case& c : cases) {
    const CommandResult result = Sh(c.script);
    EXPECT_NE(result.status, 0) << c.script;
    EXPECT_EQ(result.out, "") << c.script;
    EXPECT_TRUE(result.ErrHas(c.error)) << c.script << "\n" << result.err;
  }
  EXPECT_FALSE(Exists("f"));
}

TEST_F(DedupExactTest, FilesThatChangeDuringTheRun_AreAnError) {
  TAMIS_SKIP_ON_WINDOWS("wine does not wait for named pipes");
  Write("lines", Numbers(1, 3'000'000));
  // Standard output is full, and nobody reads it, when the file changes, so the second pass is
  // running.
  const CommandResult later =
      Sh("mkfifo out; (exec_tamis dedup -q --exact lines > out) & pid=$!\n"
         "exec 3< out; dd bs=1 count=1 status=none <&3 > first; echo 1 >> lines\n"
         "cat <&3 > rest; wait $pid");
  EXPECT_EQ(later.status, 3);
  EXPECT_TRUE(later.ErrHas("lines has changed while it was read: some lines may be missing"))
      << later.err;
}

}  // namespace tamis::tools::dedup_exact_test
