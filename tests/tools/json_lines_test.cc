// JSON lines as input of the command.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "tests/tools/command_test.h"
#include "tests/tools/packing.h"
#include "tools/input/json_field.h"
#include "tools/input/unpacker.h"

namespace tamis::tools::json_lines_test {

class JsonLinesTest : public CommandTest {
 protected:
  void SetUp() override {
    if (JsonLibrary().empty()) GTEST_SKIP() << "built without simdjson";
  }

  // Returns `n` records with different texts without line ends. Appends the texts to `lines`.
  static std::string Records(uint64_t n, std::string& lines) {
    std::mt19937_64 random(47);
    std::string records;
    for (uint64_t i = 0; i < n; ++i) {
      static const std::vector<std::string> pieces = {
          "word", " ", "\"", "\\", "/", "\xC3\xA9", "\xE4\xB8\xAD", "\xF0\x9F\x98\x80"};
      std::string text = std::to_string(i);
      for (uint64_t piece = random() % 20; piece > 0; --piece) {
        text += pieces[random() % pieces.size()];
      }
      const nlohmann::json meta = {{"url", "http://" + std::to_string(i)}, {"id", i}};
      const nlohmann::json record = {{"meta", meta}, {"text", text}, {"n", {1, "x", nullptr}}};
      records += record.dump(-1, ' ', /*ensure_ascii=*/random() % 2 == 0) + "\n";
      lines += text + "\n";
    }
    return records;
  }
};

TEST_F(JsonLinesTest, KeysAreThoseOfTheSameStringsInLines) {
  std::string lines, urls;
  Write("a.jsonl", Records(20000, lines));
  Write("lines", lines);
  for (int i = 0; i < 20000; ++i) urls += "http://" + std::to_string(i) + "\n";
  Write("urls", urls);
  Ok("tamis build -q -o f lines && tamis build -q -o g --jsonl --field text a.jsonl && cmp f g");
  Ok("tamis build -q -o f urls && tamis build -q -o g --jsonl --field /meta/url a.jsonl && cmp f "
     "g");
  Ok("seq 0 19999 | tamis build -q -o f --integers -n 20000 && "
     "tamis build -q -o g --integers --jsonl --field /meta/id -n 20000 < a.jsonl && cmp f g");
  Ok("seq 0 19999 | tamis build -q -o f -n 20000 && "
     "cat a.jsonl | tamis build -q -o g --jsonl --field /meta/id -n 20000 && cmp f g");
}

TEST_F(JsonLinesTest, RecordsAreWrittenAsTheyWereRead) {
  std::string lines;
  Write("a.jsonl", Records(1000, lines));
  Ok("tamis build -q -o f --fpr 1e-9 --jsonl --field text a.jsonl");
  EXPECT_EQ(Ok("tamis query f --jsonl --field text a.jsonl").out, Read("a.jsonl"));
  EXPECT_EQ(Ok("tamis query f --invert --jsonl --field text a.jsonl").out, "");
  const std::string odd =
      " { \"text\" :\t\"x\" } \r\n{\"text\":\"y\",\"text\":\"z\"}\n{\"id\":1.50,\"text\":\"x\"}\n"
      "{\"text\":\"\\u0078\"}\n{\"text\":\"z\"}\n{\"text\":\"last\"}";
  Write("odd.jsonl", odd);
  EXPECT_EQ(Ok("tamis dedup --jsonl --field text odd.jsonl").out,
            " { \"text\" :\t\"x\" } \r\n{\"text\":\"y\",\"text\":\"z\"}\n{\"text\":\"last\"}");
  EXPECT_EQ(Ok("tamis dedup --exact --jsonl --field text odd.jsonl odd.jsonl").out,
            Ok("tamis dedup --jsonl --field text odd.jsonl").out);
  EXPECT_EQ(Ok("tamis query f --invert --jsonl --field text odd.jsonl").out, odd + "\n");
}

TEST_F(JsonLinesTest, PackedFilesAreRead) {
  if (GzipLibrary().empty() || ZstdLibrary().empty()) GTEST_SKIP() << "built without an unpacker";
  std::string lines;
  const std::string records = Records(5000, lines);
  Write("a.jsonl", records);
  Write("a.jsonl.gz", Gzip(records));
  Write("a.jsonl.zst", Zstd(records));
  Ok("tamis build -q -o f --jsonl --field text a.jsonl");
  for (const char* input : {"a.jsonl.gz", "a.jsonl.zst", "- < a.jsonl.gz"}) {
    Ok(std::string("tamis build -q -o g --jsonl --field text ") + input + " && cmp f g");
  }
  EXPECT_EQ(Ok("cat a.jsonl.zst | tamis query f --jsonl --field text").out, records);
}

// Many windows of the file, with lines that end everywhere in them.
TEST_F(JsonLinesTest, LongLinesAreRead) {
  std::string records;
  for (size_t i = 0; i < 60; ++i) {
    records += "{\"text\":\"" + std::string(300000 + 1717 * i, 'x') + "\\n" + std::to_string(i) +
               "\",\"id\":" + std::to_string(i) + "}\n";
  }
  records += "{\"id\":\"" + std::string(15 << 20, 'y') + "\"}\n";
  Write("a.jsonl", records);
  Ok("tamis build -q -o f --jsonl --field id a.jsonl");
  EXPECT_EQ(Ok("seq 0 59 | tamis query f --count").out, "60/60\n");
  EXPECT_EQ(Ok("tamis query f --jsonl --field id a.jsonl").out, records);
  EXPECT_EQ(Sh("cat a.jsonl | tamis dedup --max-bad 1 --json --jsonl --field text").Json()["new"],
            60);
  Write("huge.jsonl", "{\"id\":\"" + std::string(17 << 20, 'y') + "\"}\n");
  const CommandResult huge = Sh("tamis build -o f --jsonl --field id huge.jsonl");
  EXPECT_EQ(huge.status, 2);
  EXPECT_TRUE(huge.ErrHas("huge.jsonl:1: a record of more than 16 MiB")) << huge.err;
}

TEST_F(JsonLinesTest, BadLinesAreCountedAndReported) {
  std::string good;
  for (int i = 0; i < 600; ++i) good += "{\"id\":" + std::to_string(i) + "}\n";
  Write("a.jsonl", good + "{\"id\":\n{\"ID\":1}\n{\"id\":null}\n\n{\"id\":[1]}\n{\"id\":\"a\"}\n");
  const CommandResult result = Sh("tamis build -o f --json --jsonl --field id a.jsonl");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(result.ErrHas("a.jsonl:601: not valid JSON: \"{\"id\":\"")) << result.err;
  EXPECT_TRUE(result.ErrHas("a.jsonl:602: the field is missing")) << result.err;
  EXPECT_TRUE(result.ErrHas("a.jsonl:603: the field is not a string or a number")) << result.err;
  EXPECT_TRUE(result.ErrHas("a.jsonl:604: an empty key")) << result.err;
  EXPECT_TRUE(result.ErrHas("5 bad lines skipped, 1 of them empty")) << result.err;
  EXPECT_EQ(result.Json()["bad_lines"], 5);
  EXPECT_EQ(result.Json()["inserted"], 601);
  const CommandResult integers = Sh("tamis build -o g --integers --jsonl --field id a.jsonl");
  EXPECT_TRUE(integers.ErrHas("a.jsonl:606: not a decimal integer: \"a\"")) << integers.err;
  EXPECT_EQ(Sh("tamis build -o g --max-bad 4 --jsonl --field id a.jsonl").status, 0);
  EXPECT_EQ(Sh("tamis build -o h --max-bad 3 --jsonl --field id a.jsonl").status, 2);
  EXPECT_EQ(Sh("tamis build -o h --strict --jsonl --field id a.jsonl").status, 2);
  EXPECT_EQ(Sh("tamis build -o h --jsonl --field absent a.jsonl").status, 2);
  EXPECT_FALSE(Exists("h"));
  EXPECT_EQ(
      Sh("tail -n 7 a.jsonl | tamis query f --max-bad 4 --jsonl --field id --bitmap bits").status,
      0);
  EXPECT_EQ(Read("bits"), std::string(1, 0b1000001));
}

TEST_F(JsonLinesTest, EmptyStringsAreEmptyKeys) {
  Write("a.jsonl", "{\"a\":\"\"}\n\n{\"a\":\"x\"}\r\n\r\n");
  const CommandResult skip = Sh("tamis build -o f --json --jsonl --field a a.jsonl");
  EXPECT_EQ(skip.status, 0) << skip.err;
  EXPECT_EQ(skip.Json()["inserted"], 1);
  EXPECT_EQ(skip.Json()["empty_lines"], 3);
  const CommandResult keep = Sh("tamis build -o f --empty keep --json --jsonl --field a a.jsonl");
  EXPECT_EQ(keep.Json()["inserted"], 2);
  EXPECT_EQ(keep.Json()["empty_lines"], 2) << "an empty line has no field";
  EXPECT_EQ(Ok("echo | tamis query f --empty keep --count").out, "1/1\n");
}

TEST_F(JsonLinesTest, AByteOrderMarkIsNotAPartOfTheFirstLine) {
  Write("a.jsonl", "\xEF\xBB\xBF{\"a\":\"x\"}\r\n{\"a\":\"x\"}\r\n{\"a\":\" y \"}");
  EXPECT_EQ(Ok("tamis dedup --jsonl --field a a.jsonl").out, "{\"a\":\"x\"}\r\n{\"a\":\" y \"}");
  Ok("tamis build -q -o f --trim --jsonl --field a a.jsonl");
  EXPECT_EQ(Ok("printf 'x\\ny\\n' | tamis query f").out, "x\ny\n");
}

TEST_F(JsonLinesTest, NumbersFollowTheRuleOfColumns) {
  Write("a.jsonl", "{\"a\":7}\n{\"a\":\"007\"}\n{\"a\":-1}\n{\"a\":18446744073709551615}\n");
  Write("a.csv", "7\n007\n-1\n18446744073709551615\n");
  Ok("tamis build -q -o f --jsonl --field a a.jsonl && tamis build -q -o g --csv a.csv && cmp f g");
  Ok("tamis build -q -o f --integers --jsonl --field a a.jsonl && "
     "tamis build -q -o g --integers --csv a.csv && cmp f g");
  Write("b.jsonl", "{\"a\":1.0}\n{\"a\":1e3}\n{\"a\":18446744073709551616}\n");
  const CommandResult result = Sh("tamis query f --integers --jsonl --field a b.jsonl");
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(result.ErrHas("b.jsonl:1: not a decimal integer (it has a decimal point)"));
  EXPECT_TRUE(result.ErrHas("b.jsonl:2: not a decimal integer (it has an exponent)"));
  EXPECT_TRUE(result.ErrHas("b.jsonl:3: an integer of more than 64 bits"));
}

TEST_F(JsonLinesTest, OneJsonDocumentIsNamedInTheError) {
  for (const char* text :
       {"[\n  {\"a\": 1},\n  {\"a\": 2}\n]\n", "[{\"a\":1},{\"a\":2}]\n", "{\n  \"a\": 1\n}\n"}) {
    Write("a.json", text);
    const CommandResult result = Sh("tamis build -o f --jsonl --field a a.json");
    EXPECT_EQ(result.status, 2);
    EXPECT_TRUE(result.ErrHas("a.json seems to be one JSON value: `jq -c '.[]'`")) << result.err;
  }
  Write("a.jsonl", "[\"x\"]\n[\"y\"]\n");
  Ok("tamis build -q -o f --jsonl --field /0 a.jsonl");
  EXPECT_EQ(Ok("printf 'x\\ny\\n' | tamis query f --count").out, "2/2\n");
}

TEST_F(JsonLinesTest, OptionsThatContradictEachOtherAreRefused) {
  Write("a.jsonl", "{\"a\":1}\n");
  for (const char* options :
       {"--jsonl", "--field a", "--jsonl --field ''", "--jsonl --field a --csv",
        "--jsonl --field a --tsv", "--jsonl --field a --separator ';'", "--jsonl --field a --u64",
        "--jsonl --field a --column 1", "--jsonl --field a --header", "--jsonl --field /~2"}) {
    const CommandResult result = Sh("tamis build -o f " + std::string(options) + " a.jsonl");
    EXPECT_EQ(result.status, 2) << options;
    EXPECT_TRUE(result.ErrHas("--jsonl") || result.ErrHas("--field") || result.ErrHas("--column"))
        << options << result.err;
    EXPECT_FALSE(Exists("f"));
  }
}

TEST_F(JsonLinesTest, EveryCommandThatReadsLinesReadsThem) {
  std::string lines;
  Write("a.jsonl", Records(2000, lines));
  Write("lines", lines);
  const std::string jsonl = " --jsonl --field text a.jsonl";
  Ok("tamis build -q -o f --kind cuckoo16 lines && cp f all && tamis erase -q f" + jsonl);
  EXPECT_EQ(Ok("tamis info f --json").Json()["inserted"], 0);
  EXPECT_EQ(Ok("tamis query all --any" + jsonl).status, 0);
  Ok("tamis build -q -o m --for-bank -n 2000 lines && tamis bank build -q -o b m");
  EXPECT_EQ(Ok("tamis bank query b --count" + jsonl).out, "2000/2000\n");
}

TEST_F(JsonLinesTest, TheVersionNamesTheLibrary) {
  EXPECT_NE(Ok("tamis --version").out.find("reads JSON lines: with " + JsonLibrary() + "\n"),
            std::string::npos);
}

class NoJsonLinesTest : public CommandTest {
 protected:
  void SetUp() override {
    if (!JsonLibrary().empty()) GTEST_SKIP() << "built with simdjson";
  }
};

TEST_F(NoJsonLinesTest, TheErrorNamesTheLibrary) {
  const CommandResult result = Sh("echo '{}' | tamis build -o f --jsonl --field a");
  EXPECT_EQ(result.status, 3);
  EXPECT_TRUE(result.ErrHas("built without simdjson")) << result.err;
}

}  // namespace tamis::tools::json_lines_test
