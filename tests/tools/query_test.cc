// tamis query: lines, counts and bitmaps.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/tools/command_test.h"

namespace tamis::tools::query_test {

class QueryTest : public CommandTest {
 protected:
  QueryTest() {
    Write("even", Numbers(0, 1000, 2));
    Write("all", Numbers(0, 2000));
    Ok("tamis build -q -o even.tamis --fpr 1e-6 even");
  }

  // Returns bit i of the file, least significant first.
  static bool Bit(const std::string& bytes, size_t i) { return (bytes[i / 8] >> (i % 8)) & 1; }
};

TEST_F(QueryTest, WritesMatchingLines) {
  EXPECT_EQ(Ok("tamis query even.tamis all").out, Read("even"));
  EXPECT_EQ(Ok("tamis query even.tamis < all").out, Read("even"));
  EXPECT_EQ(Ok("tamis query even.tamis - < all").out, Read("even"));
  EXPECT_EQ(Ok("tamis query even.tamis all all").out, Read("even") + Read("even"));
}

TEST_F(QueryTest, InvertIsTheComplement) {
  EXPECT_EQ(Ok("tamis query even.tamis --invert all").out, Numbers(1, 1000, 2));
  // The same with many false positives.
  Ok("tamis build -q -o half.tamis --fpr 0.5 even");
  Ok("tamis query half.tamis all > in; tamis query half.tamis -v all > out");
  std::vector<std::string> both = Lines(Read("in") + Read("out"));
  std::vector<std::string> all = Lines(Read("all"));
  EXPECT_GT(Lines(Read("in")).size(), 1200U);
  std::sort(both.begin(), both.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(both, all);
}

TEST_F(QueryTest, LinesComeOutAsTheyAre) {
  Write("crlf", "0\r\n1\r\n2\r\n4");  // the last line has no line end
  EXPECT_EQ(Ok("tamis query even.tamis crlf").out, "0\r\n2\r\n4\n");
}

TEST_F(QueryTest, Counts) {
  EXPECT_EQ(Ok("tamis query even.tamis --count all").out, "1000/2000\n");
  EXPECT_EQ(Ok("tamis query even.tamis --count --invert all even").out, "1000/3000\n");
  const nlohmann::json json = Ok("tamis query even.tamis --json all").Json();
  EXPECT_EQ(json["keys"], 2000);
  EXPECT_EQ(json["matching"], 1000);
  EXPECT_EQ(json["not_matching"], 1000);
  EXPECT_EQ(json["bad_lines"], 0);
}

TEST_F(QueryTest, AnyTellsByItsStatus) {
  EXPECT_EQ(Sh("tamis query even.tamis --any all").status, 0);
  EXPECT_EQ(Sh("tamis query even.tamis --any even --invert").status, 1);
  const CommandResult none = Sh("seq 3001 2 3101 | tamis query even.tamis --any");
  EXPECT_EQ(none.status, 1);
  EXPECT_EQ(none.out + none.err, "");
  EXPECT_EQ(Sh("tamis query even.tamis --any /dev/null").status, 1);
}

TEST_F(QueryTest, BitmapHasOneBitPerLine) {
  // 21 lines, two of them without a key.
  Write("lines", "0\n1\n2\n\n4\n5\n\n" + Numbers(7, 14));
  const CommandResult result = Sh("tamis query even.tamis --bitmap bits lines");
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out, "");
  const std::string bits = Read("bits");
  ASSERT_EQ(bits.size(), 3U);
  for (size_t i = 0; i < 24; ++i) {
    EXPECT_EQ(Bit(bits, i), i < 21 && i % 2 == 0 && i != 6) << i;
  }
  Sh("tamis query even.tamis --bitmap bits --invert lines");
  const std::string inverse = Read("bits");
  for (size_t i = 0; i < 24; ++i) {
    EXPECT_EQ(Bit(inverse, i), i < 21 && i % 2 == 1 && i != 3) << i;
  }
}

TEST_F(QueryTest, BitmapGoesOnAcrossBatchesAndFiles) {
  // Batches of 2^20 keys, and files whose lengths are not multiples of 8.
  Ok("seq 0 1100000 > many; tamis query even.tamis --bitmap bits all many even --count > count");
  const std::string bits = Read("bits");
  ASSERT_EQ(bits.size(), (2000U + 1100001 + 1000 + 7) / 8);
  size_t ones = 0;
  for (size_t i = 0; i < 8 * bits.size(); ++i) ones += Bit(bits, i);
  EXPECT_EQ(Read("count"), std::to_string(ones) + "/1103001\n");
  for (size_t i = 0; i < 2000; ++i) {
    ASSERT_EQ(Bit(bits, i), i % 2 == 0) << i;
    ASSERT_EQ(Bit(bits, 2000 + i), i % 2 == 0) << i;
  }
  for (size_t i = 0; i < 1000; ++i) ASSERT_TRUE(Bit(bits, 2000 + 1100001 + i)) << i;
  EXPECT_EQ(bits.back() & 0x80, 0) << "past the last record";
}

TEST_F(QueryTest, CsvRecordsComeOutWholeAfterOneHeader) {
  Write("a.csv", "n,text\n0,\"with, comma\"\n1,x\n2,\"two\nlines\"\n");
  Write("b.csv", "\"n\",text\r\n3,x\n\"4\",y\n");
  EXPECT_EQ(Ok("tamis query even.tamis --csv --column n a.csv b.csv").out,
            "n,text\n0,\"with, comma\"\n2,\"two\nlines\"\n\"4\",y\n");
  EXPECT_EQ(Ok("tamis query even.tamis --csv --column n --count a.csv b.csv").out, "3/5\n");
  Write("empty.csv", "n,text\n");
  EXPECT_EQ(Ok("tamis query even.tamis --csv --column n empty.csv").out, "n,text\n");
}

TEST_F(QueryTest, RecordsOfOtherColumnsDoNotGoUnderOneHeader) {
  Write("a.csv", "n,text\n0,a\n");
  Write("order.csv", "text,n\nx,4\n");
  Write("names.csv", "n,title\n4,x\n");
  Write("more.csv", "n,text,z\n4,x,z\n");
  const std::string query = "tamis query even.tamis --csv --column n ";
  struct Case {
    const char* file;
    const char* difference;
  };
  const Case cases[] = {
      {"order.csv", "order.csv: its column 1 is \"text\", but in a.csv it is \"n\""},
      {"names.csv", "names.csv: its column 2 is \"title\", but in a.csv it is \"text\""},
      {"more.csv", "more.csv: its column 3 is \"z\", but in a.csv it is missing"},
  };
  for (const Case& c : cases) {
    const CommandResult result = Sh(query + "a.csv " + c.file);
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.out, "n,text\n0,a\n");
    EXPECT_TRUE(result.ErrHas(c.difference)) << result.err;
    EXPECT_EQ(Ok(query + "--count a.csv " + c.file).out, "2/2\n") << "no records, no harm";
    EXPECT_EQ(Ok(query + c.file).out, Read(c.file));
  }
}

TEST_F(QueryTest, RawIntegersComeOutRaw) {
  WriteU64("u64", std::vector<uint64_t>{7, 8, 9, 10});
  WriteU64("known", std::vector<uint64_t>{8, 10});
  Ok("tamis build -q -o f --u64 --fpr 1e-6 known");
  Ok("tamis query f --u64 u64 > out && cmp out known");
  EXPECT_EQ(Ok("printf '7\\n8\\n10\\n' | tamis query f --integers").out, "8\n10\n");
}

TEST_F(QueryTest, CountsComeWithTheHintThatChanceExplainsThem) {
  Write("in", Numbers(1, 1000));
  Write("out", Numbers(5001, 1000));
  Ok("tamis build -q -o f.tamis in");
  for (const std::string how : {"--count", "--json", ""}) {
    EXPECT_TRUE(Sh("tamis query f.tamis out " + how).ErrHas("If you expected more")) << how;
    EXPECT_FALSE(Sh("tamis query -q f.tamis out " + how).ErrHas("If you expected")) << how;
    EXPECT_FALSE(Sh("tamis query f.tamis in " + how).ErrHas("If you expected")) << how;
  }
}

TEST_F(QueryTest, MappedAndLoadedFiltersAnswerAlike) {
  const std::string count = Ok("tamis query even.tamis --map all").out;
  EXPECT_EQ(Ok("tamis query even.tamis --no-map all").out, count);
  EXPECT_EQ(Ok("tamis query even.tamis --backend portable --threads 3 all").out, count);
}

// A filter that takes longer to verify than to query is verified only on request.
TEST_F(QueryTest, SlowLargeFiltersAreVerifiedForLargeInputs) {
  Ok("tamis build -q -o large.tamis --bytes 257M even");
  Ok("printf x | dd of=large.tamis bs=1 seek=200000000 conv=notrunc 2> log");
  Ok("seq 3000000 > many");  // larger than 257 MiB / 16
  EXPECT_EQ(Sh("tamis query large.tamis --count all").status, 0);
  EXPECT_EQ(Sh("cat many | tamis query large.tamis --count").status, 0) << "its length is unknown";
  EXPECT_EQ(Sh("tamis query large.tamis --count < many").status, 3);
  EXPECT_EQ(Sh("tamis query large.tamis --count --verify all").status, 3);
  EXPECT_EQ(Sh("tamis query large.tamis --count --no-verify many").status, 0);
  const CommandResult result = Sh("tamis query large.tamis --count many");
  EXPECT_EQ(result.status, 3);
  EXPECT_TRUE(result.ErrHas("large.tamis: page checksum")) << result.err;
}

TEST_F(QueryTest, AnswersWhileTheInputIsOpen) {
  TAMIS_SKIP_ON_WINDOWS("wine does not wait for named pipes");
  const CommandResult result =
      Sh("mkfifo pipe\n"
         "exec_tamis query even.tamis < pipe > out & child=$!\n"
         "exec 3> pipe; echo 2 >&3\n"
         "tries=0\n"
         "until test -s out || test $tries = 100; do sleep 0.1; tries=$((tries + 1)); done\n"
         "cat out; exec 3>&-; wait $child");
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out, "2\n");
}

}  // namespace tamis::tools::query_test
