// tamis dedup --unit, compared with exact sets.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/tools/command_test.h"
#include "tests/tools/packing.h"
#include "text/words.h"
#include "tools/input/json_field.h"
#include "tools/input/unpacker.h"

namespace tamis::tools::dedup_text_test {

using Strings = std::vector<std::string>;

Strings Split(const std::string& text) {
  Strings paragraphs(1);
  for (const char c : text) c == '\n' ? paragraphs.emplace_back() : paragraphs.back() += c;
  return paragraphs;
}

std::string Trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  return begin == std::string::npos
             ? ""
             : text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

// Appends the sequences of `n` words of the paragraph, or all its words if it has fewer.
void AddNgrams(const std::string& paragraph, size_t n, Strings& ngrams) {
  Strings all;
  text::Words words(paragraph);
  for (std::string_view word = words.Next(); !word.empty(); word = words.Next()) {
    all.emplace_back(word);
  }
  const size_t length = std::min(n, all.size());
  for (size_t i = 0; length > 0 && i + length <= all.size(); ++i) {
    std::string ngram;
    for (size_t j = i; j < i + length; ++j) ngram += all[j] + "\n";
    ngrams.push_back(ngram);
  }
}

struct Options {
  std::string unit = "paragraph";
  bool whole_documents = false;
  size_t ngrams = 13;
  double threshold = 0.8;
};

// Writes texts like the command, with exact sets of strings instead of filters.
class Model {
 public:
  explicit Model(const Options& options) : options_(options) {}

  // Returns whether the unit with these keys is repeated.
  bool Judge(const Strings& keys) {
    const auto found = static_cast<double>(std::count_if(
        keys.begin(), keys.end(), [&](const auto& key) { return seen_.contains(key); }));
    const double needed = options_.threshold * static_cast<double>(keys.size()) - 1e-9;
    if (!keys.empty() && found >= std::max(1.0, std::ceil(needed))) return true;
    seen_.insert(keys.begin(), keys.end());
    return false;
  }

  // Returns the texts to write, with gaps for the texts that are left out.
  std::vector<std::optional<std::string>> Write(const Strings& texts) {
    std::vector<std::optional<std::string>> written;
    for (const std::string& text : texts) written.push_back(Write(text));
    return written;
  }

 private:
  void AddKeys(const std::string& paragraph, Strings& keys) const {
    if (options_.unit == "ngram") return AddNgrams(paragraph, options_.ngrams, keys);
    if (!Trimmed(paragraph).empty()) keys.push_back(Trimmed(paragraph));
  }

  std::optional<std::string> Write(const std::string& text) {
    Strings keys;
    if (options_.unit == "document") {
      return Judge({text}) ? std::nullopt : std::optional(text);
    }
    if (options_.whole_documents) {
      for (const std::string& paragraph : Split(text)) AddKeys(paragraph, keys);
      return Judge(keys) ? std::nullopt : std::optional(text);
    }
    std::string rest;
    bool first = true, some_left = false, some_repeated = false;
    for (const std::string& paragraph : Split(text)) {
      keys.clear();
      AddKeys(paragraph, keys);
      const bool repeated = Judge(keys);
      some_repeated = some_repeated || repeated;
      some_left = some_left || (!repeated && !keys.empty());
      if (repeated) continue;
      rest += (first ? "" : "\n") + paragraph;
      first = false;
    }
    return some_repeated && !some_left ? std::nullopt : std::optional(rest);
  }

  const Options options_;
  std::set<std::string> seen_;
};

class DedupTextTest : public CommandTest {
 protected:
  void SetUp() override {
    if (JsonLibrary().empty()) GTEST_SKIP() << "built without simdjson";
  }

  size_t Below(size_t n) { return random_() % n; }

  std::string RandomWord() {
    static const Strings words = {
        "a",    "the",          "Fox",          "\xC3\xA9t\xC3\xA9",
        "x\"y", "back\\slash",  "\xE4\xB8\xAD", "\xD9\x83\xD8\xAA\xD8\xA8",
        "n\\n", "\xE6\x96\x87", "\t",           "\xF0\x9F\x98\x80"};
    return Below(3) == 0 ? words[Below(words.size())] : std::to_string(Below(3000));
  }
  std::string RandomParagraph() {
    std::string paragraph;
    for (size_t n = Below(40); n > 0; --n) paragraph += RandomWord() + (Below(9) == 0 ? ", " : " ");
    return paragraph;
  }
  // Returns texts whose paragraphs are new, repeated, or repeated with a few other words.
  Strings RandomTexts(size_t n) {
    Strings texts, paragraphs;
    while (texts.size() < n) {
      std::string text;
      for (size_t i = Below(6); i > 0; --i) {
        const size_t kind = paragraphs.empty() ? 0 : Below(4);
        std::string paragraph = kind < 2 ? RandomParagraph() : paragraphs[Below(paragraphs.size())];
        if (kind == 3) {
          const size_t at = paragraph.find(' ', paragraph.empty() ? 0 : Below(paragraph.size()));
          if (at != std::string::npos) paragraph.insert(at, " " + RandomWord());
        }
        paragraphs.push_back(paragraph);
        text += (Below(8) == 0 ? "  " : "") + paragraph + "\n";
      }
      if (!text.empty() && Below(2) == 0) text.pop_back();
      texts.push_back(Below(20) == 0 && !texts.empty() ? texts[Below(texts.size())] : text);
    }
    return texts;
  }
  // Returns the record of a text, the same for the same arguments.
  static std::string Record(size_t i, const std::string& text) {
    const nlohmann::json record = {
        {"id", i}, {"doc", {{"text", text}, {"lang", "x\n\\n"}}}, {"z", {"a\nb", 1.5}}};
    return record.dump(-1, ' ', /*ensure_ascii=*/i % 2 == 0) + (i % 3 == 0 ? "\r\n" : "\n");
  }
  static std::string Records(const std::vector<std::optional<std::string>>& texts) {
    std::string records;
    for (size_t i = 0; i < texts.size(); ++i) records += texts[i] ? Record(i, *texts[i]) : "";
    return records;
  }
  static std::string Records(const Strings& texts) {
    return Records(std::vector<std::optional<std::string>>(texts.begin(), texts.end()));
  }

  std::mt19937_64 random_{47};
  const std::string dedup_ = "tamis dedup --fpr 1e-9 -n 200k --jsonl --field /doc/text ";
};

TEST_F(DedupTextTest, RandomTexts_AreWrittenAsByExactSets) {
  const Strings texts = RandomTexts(3000);
  Write("a.jsonl", Records(texts));
  struct Case {
    const char* command;
    Options options;
  };
  const Case cases[] = {
      {"--unit document", {"document", true}},
      {"--unit paragraph", {"paragraph", false}},
      {"--unit paragraph --remove document", {"paragraph", true}},
      {"--unit paragraph --remove document --threshold 30%", {"paragraph", true, 13, 0.3}},
      {"--unit ngram", {"ngram", false}},
      {"--unit ngram --ngrams 1 --threshold 1", {"ngram", false, 1, 1}},
      {"--unit ngram --ngrams 3 --threshold 0.5", {"ngram", false, 3, 0.5}},
      {"--unit ngram --remove document --ngrams 5", {"ngram", true, 5}},
  };
  for (const Case& c : cases) {
    const std::vector<std::optional<std::string>> expected = Model(c.options).Write(texts);
    const auto written = std::count_if(expected.begin(), expected.end(),
                                       [](const auto& text) { return text.has_value(); });
    EXPECT_GT(written, 100) << c.command;
    EXPECT_LT(written, 3000) << c.command;
    EXPECT_TRUE(Ok(dedup_ + c.command + " a.jsonl").out == Records(expected)) << c.command;
    const nlohmann::json json = Ok(dedup_ + c.command + " --json a.jsonl").Json();
    EXPECT_EQ(json["documents"], 3000);
    EXPECT_EQ(json["written"], written);
  }
}

TEST_F(DedupTextTest, AnyNumberOfThreads_GivesTheSameOutputAndFilter) {
  Strings texts;
  for (int i = 0; i < 8; ++i) {
    const Strings more = RandomTexts(2000);
    texts.insert(texts.end(), more.begin(), more.end());
  }
  Write("a.jsonl", Records(texts));
  for (const char* unit : {"--unit document", "--unit paragraph", "--unit ngram",
                           "--unit ngram --remove document", "--unit ngram --remove annotate"}) {
    Ok("rm -f f1 f7");
    for (const char* threads : {"1", "2", "7"}) {
      const std::string file = std::string("f") + threads;
      Ok("rm -f " + file + "; tamis dedup --jsonl --field /doc/text " + unit + " --threads " +
         threads + " --filter " + file + " a.jsonl > out" + threads);
    }
    Ok("cmp out1 out2 && cmp out1 out7 && cmp f1 f2 && cmp f1 f7");
  }
}

TEST_F(DedupTextTest, TwoRunsWithAFilter_AreOneRun) {
  const Strings texts = RandomTexts(4000);
  const std::string all = Records(texts);
  const size_t half = all.find('\n', all.size() / 2) + 1;
  Write("a", all.substr(0, half));
  Write("b", all.substr(half));
  for (const char* unit : {"--unit document", "--unit paragraph", "--unit ngram"}) {
    Ok("rm -f f whole");
    Ok(dedup_ + unit + " --filter whole a b > expected");
    Ok(dedup_ + unit + " --filter f a > out && " + dedup_ + unit + " --filter f b >> out");
    Ok("cmp out expected && cmp f whole");
  }
}

TEST_F(DedupTextTest, Annotate_NamesTheRepeatedParts) {
  const Strings texts = RandomTexts(500);
  Write("a.jsonl", Records(texts));
  const std::string command = dedup_ + "--unit ngram --ngrams 4 ";
  const Strings lines = Lines(Ok(command + "--remove annotate a.jsonl").out);
  ASSERT_EQ(lines.size(), texts.size());
  const std::vector<std::optional<std::string>> kept = Model({"ngram", false, 4, 0.8}).Write(texts);
  for (size_t i = 0; i < texts.size(); ++i) {
    nlohmann::json record = nlohmann::json::parse(lines[i]);
    std::string rest = texts[i];
    if (record.contains("tamis_repeated")) {
      nlohmann::json parts = record["tamis_repeated"];
      std::reverse(parts.begin(), parts.end());
      for (const nlohmann::json& part : parts) {
        const size_t begin = part[0], end = part[1];
        EXPECT_GE(part[2], 0.8);
        // With the line feed after it, or the one before it at the end of the text.
        if (end < rest.size()) {
          rest.erase(begin, end + 1 - begin);
        } else {
          rest.erase(begin > 0 ? begin - 1 : 0);
        }
      }
      record.erase("tamis_repeated");
    } else {
      EXPECT_EQ(kept[i], texts[i]);
    }
    EXPECT_EQ(record, nlohmann::json::parse(Record(i, texts[i])));
    if (kept[i]) {
      EXPECT_EQ(rest, *kept[i]) << lines[i];
    }
  }
}

TEST_F(DedupTextTest, Against_ComparesWithThatFilterOnly) {
  const Strings test = RandomTexts(300);
  Strings train = RandomTexts(300);
  train.insert(train.begin() + 100, test.begin(), test.end());
  train.insert(train.end(), train.begin(), train.begin() + 50);
  Write("test.jsonl", Records(test));
  Write("train.jsonl", Records(train));
  Ok(dedup_ + "--unit paragraph --filter f test.jsonl > clean && cp f before");
  std::set<std::string> known;
  for (const std::string& text : test) {
    for (const std::string& paragraph : Split(text)) known.insert(Trimmed(paragraph));
  }
  std::string expected;
  for (size_t i = 0; i < train.size(); ++i) {
    std::string rest;
    bool first = true, left = false, repeated = false;
    for (const std::string& paragraph : Split(train[i])) {
      const bool is_known = !Trimmed(paragraph).empty() && known.contains(Trimmed(paragraph));
      repeated = repeated || is_known;
      left = left || (!is_known && !Trimmed(paragraph).empty());
      if (is_known) continue;
      rest += (first ? "" : "\n") + paragraph;
      first = false;
    }
    if (left || !repeated) expected += Record(i, rest);
  }
  const std::string against = "tamis dedup --jsonl --field /doc/text --unit paragraph --against f ";
  EXPECT_TRUE(Ok(against + "train.jsonl").out == expected);
  EXPECT_TRUE(Ok(against + "--threads 3 train.jsonl").out == expected);
  Ok("cmp f before");
  Ok("seq 10 > lines && seq 5 | tamis build -q -o g --fpr 1e-9 -n 10");
  EXPECT_EQ(Ok("tamis dedup --against g lines lines").out, "6\n7\n8\n9\n10\n6\n7\n8\n9\n10\n");
}

TEST_F(DedupTextTest, LinesAndPackedFiles) {
  Write("lines", "one two three\nfour\n\nfour\none  two, three!\n");
  EXPECT_EQ(Ok("tamis dedup --unit paragraph lines").out,
            "one two three\nfour\n\none  two, three!\n");
  EXPECT_EQ(Ok("tamis dedup --unit ngram < lines").out, "one two three\nfour\n\n");
  if (GzipLibrary().empty() || ZstdLibrary().empty()) return;
  const std::string records = Records(RandomTexts(500));
  Write("a.jsonl", records);
  Write("a.jsonl.gz", Gzip(records));
  Write("a.jsonl.zst", Zstd(records));
  const std::string expected = Ok(dedup_ + "--unit ngram a.jsonl").out;
  for (const char* input : {"a.jsonl.gz", "a.jsonl.zst", "- < a.jsonl.zst"}) {
    EXPECT_TRUE(Ok(dedup_ + "--unit ngram " + input).out == expected) << input;
  }
}

TEST_F(DedupTextTest, WithoutTexts_TheRateIsZero) {
  const auto rate = [&](const std::string& unit) {
    return Ok("tamis dedup --json /dev/null --unit " + unit).Json()["fpr"].get<double>();
  };
  EXPECT_EQ(rate("paragraph"), 0);
  EXPECT_LT(rate("ngram"), 1e-12);  // the filter has the marks of n-grams only
}

// Seven of ten words were there before, and eight make a line repeated. So one false positive among
// the three new words loses a line.
TEST_F(DedupTextTest, LinesJustBelowTheThreshold_AreExpectedToBeLost) {
  std::string lines;
  for (int i = 0; i < 30'000; ++i) {
    lines += "a b c d e f g";
    for (const char* word : {" x", " y", " z"}) lines += word + std::to_string(i);
    lines += '\n';
  }
  Write("lines", lines);
  const auto json = Ok("tamis dedup --json --unit ngram --ngrams 1 -p 0.02 -n 100k lines").Json();
  const double lost = json["repeated"], expected = json["expected_lost"];
  EXPECT_GT(lost, 100);
  EXPECT_LE(lost, expected);
  EXPECT_LE(expected, 10 * lost);  // the bound is of Chernoff, and of large batches
}

TEST_F(DedupTextTest, LineFeedsAreFoundHoweverTheyAreWritten) {
  Write("a.jsonl",
        "{\"t\":\"a\\\\n\\u000ab\\\\\\nc\\u000Ad\"}\n{\"t\":\"c\\nb\\\\\\u000ae\\nd\"}\n");
  EXPECT_EQ(Ok("tamis dedup --unit paragraph --jsonl --field t a.jsonl").out,
            "{\"t\":\"a\\\\n\\u000ab\\\\\\nc\\u000Ad\"}\n{\"t\":\"e\"}\n");
}

TEST_F(DedupTextTest, WrongOptionsAreRefusedBeforeWorkStarts) {
  Write("a.jsonl", Records(Strings{"a"}));
  Ok("echo a | tamis build -q -o text -n 10");
  struct Case {
    const char* options;
    const char* error;
  };
  const Case cases[] = {
      {"--unit word", "--unit"},
      {"--remove document", "need --unit"},
      {"--ngrams 3", "need --unit"},
      {"--unit paragraph --ngrams 3", "--ngrams needs --unit ngram"},
      {"--unit ngram --ngrams 0", "--ngrams"},
      {"--unit ngram --ngrams 1001", "at most 1,000 words"},
      {"--unit ngram --threshold 0", "--threshold"},
      {"--unit ngram --threshold 1.1", "--threshold"},
      {"--unit paragraph --threshold 0.5", "--threshold needs"},
      {"--unit document --remove paragraph", "--unit document compares no paragraphs"},
      {"--unit paragraph --csv", "--unit compares texts"},
      {"--unit paragraph --integers", "--unit compares texts"},
      {"--unit paragraph --trim", "--unit compares texts"},
      {"--unit paragraph --remove annotate", "--remove annotate needs --jsonl"},
      {"--unit paragraph --exact", "--unit excludes --exact"},
      {"--unit paragraph --window 10", "--unit excludes --exact and --window"},
      {"--unit ngram --against text", "and not n-grams"},
      {"--unit paragraph --against text --filter f", "--against makes and changes no filter"},
      {"--against text --fpr 1%", "--against makes and changes no filter"},
      {"--against text -n 10", "--against makes and changes no filter"},
      {"--against text --kind split-block", "--against makes and changes no filter"},
  };
  for (const Case& c : cases) {
    const CommandResult result = Sh("tamis dedup " + std::string(c.options) + " a.jsonl");
    EXPECT_EQ(result.status, 2) << c.options;
    EXPECT_EQ(result.out, "") << c.options;
    EXPECT_TRUE(result.ErrHas(c.error)) << c.options << result.err;
  }
  EXPECT_EQ(Sh("tamis dedup --unit ngram --against absent a.jsonl").status, 3);
  Ok("tamis dedup -q --unit ngram --filter f --jsonl --field /doc/text a.jsonl > out");
  EXPECT_TRUE(Sh("tamis dedup --filter f a.jsonl").ErrHas("its keys are integers"));
}

TEST_F(DedupTextTest, FiltersOfNgrams_RecordTheirWords) {
  Write("lines", "one two three four five\n");
  const std::string dedup = "tamis dedup -q --unit ngram ";
  for (const std::string kind : {"", "--kind bloom", "--kind cuckoo16", "--scalable", "-n 70k"}) {
    Ok("rm -f f; " + dedup + "--ngrams 3 --filter f " + kind + " lines");
    Ok("cp f before");
    for (const char* use : {"--against f", "--filter f", "--any-type --against f"}) {
      EXPECT_EQ(Ok(dedup + "--ngrams 3 " + use + " lines").out, "") << kind << use;
      for (const char* other : {"", "--ngrams 1 ", "--ngrams 2 ", "--ngrams 1000 "}) {
        const CommandResult result = Sh(dedup + other + use + " lines");
        EXPECT_EQ(result.status, 2) << kind << use;
        EXPECT_TRUE(result.ErrHas("f: its n-grams have 3 words, and not")) << result.err;
        EXPECT_TRUE(result.ErrHas("give --ngrams 3")) << result.err;
      }
      Ok("cmp f before");
    }
  }
  // A merged filter has the n-grams of all numbers.
  Ok("rm -f f; for n in 2 3 5; do " + dedup + "-n 70k --ngrams $n --filter f$n lines; done");
  Ok("tamis merge -q -o all f2 f3 f5");
  for (const char* words : {"2", "3", "5"}) {
    EXPECT_EQ(Ok(dedup + "--against all --ngrams " + words + " lines").out, "");
  }
  const CommandResult other = Sh(dedup + "--against all --ngrams 4 lines");
  EXPECT_EQ(other.status, 2);
  EXPECT_TRUE(other.ErrHas("all: its n-grams have 2, 3 or 5 words, and not 4: give --ngrams 2, 3"))
      << other.err;
}

TEST_F(DedupTextTest, FiltersWithoutARecordOfWords_AreUsed) {
  Write("lines", "one two three four five\n");
  Ok("seq 9 | tamis build -q -n 99 -o f --integers && tamis build -q --allow-empty -n 99 -o empty "
     "/dev/null");
  const std::string dedup = "tamis dedup -q --unit ngram --ngrams 3 ";
  for (const char* use : {"--against f", "--filter f"}) {
    const CommandResult result = Sh(dedup + use + " lines");
    EXPECT_EQ(result.out, Read("lines"));
    EXPECT_TRUE(result.ErrHas("note: f does not record the words of its n-grams; --ngrams 3 is"))
        << result.err;
  }
  EXPECT_EQ(Sh(dedup + "--filter empty lines").err, "");
  for (const char* filter : {"f", "empty"}) {  // now both record it
    const CommandResult result = Sh(dedup + "--against " + filter + " lines");
    EXPECT_EQ(result.out + result.err, "");
    EXPECT_EQ(Sh("tamis dedup --unit ngram --against " + std::string(filter) + " lines").status, 2);
  }
}

TEST_F(DedupTextTest, Signals_SaveTheFilterOfAllThatWasWritten) {
  TAMIS_SKIP_ON_WINDOWS("wine does not wait for named pipes");
  const Strings texts = RandomTexts(200);
  Write("a.jsonl", Records(texts));
  Write("want", Records(Model({"ngram", false}).Write(texts)));
  // The command writes the records that it has before it waits for more.
  const CommandResult result =
      Sh("mkfifo pipe; exec_tamis dedup -q -n 200k --fpr 1e-9 --unit ngram --filter f --jsonl "
         "--field /doc/text < pipe > out & exec 3> pipe; cat a.jsonl >&3\n"
         "until cmp -s out want; do sleep 0.01; done; kill -TERM $!; wait $!");
  EXPECT_EQ(result.status, 143) << result.err;
  const nlohmann::json again =
      Ok("tamis dedup --unit ngram --against f --json --jsonl --field /doc/text out").Json();
  EXPECT_EQ(again["units"], again["repeated"]);
}

}  // namespace tamis::tools::dedup_text_test
