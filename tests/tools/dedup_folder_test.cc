// tamis dedup --output-dir: an interrupted run that goes on writes what one run writes.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/test_util.h"
#include "tests/tools/command_test.h"
#include "tests/tools/dedup_lines.h"
#include "tests/tools/packing.h"
#include "tools/input/unpacker.h"

namespace tamis::tools::dedup_folder_test {

using Strings = std::vector<std::string>;

constexpr size_t kFiles = 7;

// Returns documents of one line. Some paragraphs and many words repeat.
std::string RandomTexts(size_t n, uint64_t seed) {
  Random random(seed);
  std::string text;
  for (size_t i = 0; i < n; ++i) {
    Random words(random.Below(2 * n));
    for (uint64_t left = words.Below(30); left > 0; --left) {
      text += std::to_string(words.Below(500)) + " ";
    }
    text += "\n";
  }
  return text;
}

class DedupFolderTest : public CommandTest {
 protected:
  void SetUp() override {
    for (size_t i = 0; i < kFiles; ++i) {
      const std::string name = "part-" + std::to_string(i);
      Write(name, RandomTexts(i == 3 ? 0 : 2000, i));
      names_ += " " + name;
    }
  }

  // A killed process may leave a temporary file.
  void ExpectSameFolders(const std::string& a, const std::string& b) const {
    Ok("diff -r -x '.tamis-*.tmp' " + a + " " + b);
  }

  std::string names_;
  const Strings kinds_ = {"", "--kind bloom --fpr 1e-4", "--unit paragraph",
                          "--unit ngram --ngrams 4 --threshold 0.5",
                          "--unit ngram --ngrams 2 --remove document"};
};

TEST_F(DedupFolderTest, Outputs_AreThePartsOfOneOutput) {
  for (const std::string& kind : kinds_) {
    const std::string dedup = "tamis dedup " + kind;
    Ok("rm -rf out");
    Ok(dedup + names_ + " > whole 2> summary");
    Ok(dedup + " --threads 2 --output-dir out " + names_ + " 2> summary-of-folder");
    EXPECT_EQ(Read("summary"), Read("summary-of-folder"));
    Ok("cat out/part-* | cmp - whole");
    Ok("cp -r out again && " + dedup + " --output-dir again" + names_);
    ExpectSameFolders("out", "again");
    Ok("rm -r again");
  }
}

TEST_F(DedupFolderTest, EveryCheckpointAndMoreInputs_GiveTheSameFolder) {
  for (const std::string& kind : kinds_) {
    const std::string dedup = "tamis dedup -n 50k " + kind + " --output-dir ";
    const nlohmann::json expected =
        Ok("rm -rf once in-steps; " + dedup + "once --json" + names_).Json();
    std::string names;
    nlohmann::json json;
    for (size_t i = 0; i < kFiles; i += 2) {
      names.clear();
      for (size_t j = 0; j <= i; ++j) names += " part-" + std::to_string(j);
      json = Ok(dedup + "in-steps --json --checkpoint " + std::to_string(i + 1) + names).Json();
    }
    EXPECT_EQ(json, expected);
    ExpectSameFolders("once", "in-steps");
  }
}

TEST_F(DedupFolderTest, RunsThatAreKilled_AreOneRunInTheEnd) {
  TAMIS_SKIP_ON_WINDOWS("its process cannot be killed from here");
  Random random(5);
  std::string names;
  for (size_t i = 0; i < 40; ++i) {
    const std::string name = "long-" + std::to_string(i);
    Write(name, RandomTexts(4000, 100 + i));
    names += " " + name;
  }
  const std::string dedup = "dedup -q --unit ngram --ngrams 3 --output-dir ";
  Ok("tamis " + dedup + "once --checkpoint 3" + names);
  size_t killed = 0;
  for (size_t run = 0; run < 60; ++run) {
    const std::string command =
        dedup + "killed --checkpoint " + std::to_string(1 + run % 3) + names;
    const std::string wait = "0.0" + std::to_string(10 + random.Below(60));
    const CommandResult result =
        Sh("exec_tamis " + command + " & pid=$!; sleep " + wait + "; kill -KILL $pid; wait $pid");
    if (result.status == 0) break;
    killed += result.status == 137 ? 1 : 0;
  }
  EXPECT_GT(killed, 0u);
  Ok("tamis " + dedup + "killed --checkpoint 3" + names);
  ExpectSameFolders("once", "killed");
}

TEST_F(DedupFolderTest, ASignal_EndsTheRunBetweenOutputs) {
  TAMIS_SKIP_ON_WINDOWS("signals between processes");
  Write("large", RandomTexts(400'000, 9));
  const std::string dedup = "dedup --unit ngram --ngrams 3 --checkpoint 2 --output-dir ";
  const CommandResult stopped =
      Sh("exec_tamis " + dedup +
         "out part-0 part-1 part-2 large & pid=$!\n"
         "while [ ! -e out/part-2 ]; do sleep 0.01; done; kill -TERM $pid; wait $pid");
  EXPECT_EQ(stopped.status, 143) << stopped.err;
  EXPECT_TRUE(
      stopped.ErrHas("2 of 4 inputs are written and in the checkpoint; the same command "
                     "goes on from there"))
      << stopped.err;
  EXPECT_FALSE(Exists("out/tamis-dedup.part"));
  EXPECT_FALSE(Exists("out/large"));
  const CommandResult rest = Sh("tamis " + dedup + "out part-0 part-1 part-2 large");
  EXPECT_EQ(rest.status, 0);
  EXPECT_TRUE(rest.ErrHas("2 of 4 inputs were written by earlier runs")) << rest.err;
  Ok("tamis " + dedup + "once part-0 part-1 part-2 large");
  ExpectSameFolders("out", "once");
}

TEST_F(DedupFolderTest, HeadersPackedInputsAndAgainst) {
  Write("a.csv", "id,name\n1,x\n2,y\n");
  Write("b.csv", "id,name\n2,z\n3,x");
  Ok("tamis dedup --csv --column id --output-dir out a.csv b.csv");
  EXPECT_EQ(Read("out/a.csv"), "id,name\n1,x\n2,y\n");
  EXPECT_EQ(Read("out/b.csv"), "id,name\n3,x");
  Ok("printf '1\\n2\\n' | tamis build -q -o f --fpr 1e-9 -n 10; seq 4 > c; seq 2 5 > d\n"
     "tamis dedup --against f --output-dir only c d; cat only/c only/d > both");
  EXPECT_EQ(Read("both"), "3\n4\n3\n4\n5\n");
  EXPECT_FALSE(Exists("only/tamis-dedup-2.tamis"));
  if (GzipLibrary().empty()) return;
  Write("packed.gz", Gzip("1\n9\n"));
  Ok("tamis dedup --output-dir unpacked packed.gz");
  EXPECT_EQ(Read("unpacked/packed"), "1\n9\n");
}

TEST_F(DedupFolderTest, FilesThatTheRunReads_AreKept) {
  Ok("printf '1\\n' | tamis build -q -o f --fpr 1e-9 -n 10; seq 3 > c; mkdir out; cp f out/c\n"
     "cp f out/tamis-dedup-7.tamis; cp f out/tamis-dedup.json; cp f out/tamis-dedup.part\n"
     "cp f out/tamis-dedup.files");
  const std::string dedup = "tamis dedup --output-dir out --against ";
  for (const std::string name :
       {"c", "tamis-dedup-7.tamis", "tamis-dedup.json", "tamis-dedup.part", "tamis-dedup.files"}) {
    const CommandResult refused = Sh(dedup + "out/" + name + " c");
    EXPECT_EQ(refused.status, 2) << name;
    EXPECT_TRUE(refused.ErrHas("the output out/" + name + " is also an input")) << refused.err;
    Ok("cmp f out/" + name);
  }
  // Files of a checkpoint of other names are not removed.
  Ok("rm out/tamis-dedup.json; mv out/tamis-dedup-7.tamis out/tamis-dedup-mine.tamis");
  Ok(dedup + "out/tamis-dedup-mine.tamis c");
  Ok("cmp f out/tamis-dedup-mine.tamis");
  EXPECT_EQ(Read("out/c"), "2\n3\n");
  // The name of a packed file that is read as it is keeps its ending.
  Write("d.gz", "1\n2\n");
  Ok("tamis dedup --as-is --output-dir as-is d.gz");
  EXPECT_EQ(Read("as-is/d.gz"), "1\n2\n");
}

TEST_F(DedupFolderTest, FilesThatAKilledRunLeft_AreRemoved) {
  const std::string dedup = "tamis dedup --output-dir out part-0 part-1";
  Ok(dedup + " && cp -r out once");
  // One run is killed after it replaced tamis-dedup.json, and another one while it writes.
  Ok("cp out/tamis-dedup-2.tamis out/tamis-dedup-1.tamis; echo half > out/tamis-dedup.part");
  Ok(dedup);
  ExpectSameFolders("out", "once");
  // A run is killed before its first checkpoint, and another one before it replaces
  // tamis-dedup.json.
  for (const char* kill :
       {"rm out/tamis-dedup.json; mv out/tamis-dedup-2.tamis out/tamis-dedup-1.tamis",
        "cat once/tamis-dedup.files >> out/tamis-dedup.files",
        "printf '{\"input\":' >> out/tamis-dedup.files"}) {
    Ok(kill);
    Ok(dedup);
    ExpectSameFolders("out", "once");
  }
}

TEST_F(DedupFolderTest, Checkpoints_WriteEachInputOnce) {
  const auto bytes = [&](const char* name) { return Read(std::string("out/") + name).size(); };
  const std::string dedup = "tamis dedup --checkpoint 1 --output-dir out ";
  Ok("seq 100 199 | xargs touch && " + dedup + "100");
  const size_t json = bytes("tamis-dedup.json"), line = bytes("tamis-dedup.files");
  Ok("ln out/tamis-dedup.files same && " + dedup + "$(seq 100 199)");
  EXPECT_LT(bytes("tamis-dedup.json"), json + 20);
  EXPECT_EQ(bytes("tamis-dedup.files"), 100 * line);
  Ok("cmp same out/tamis-dedup.files");  // the file was not replaced
}

TEST_F(DedupFolderTest, OtherOptionsAndInputsAreRefused) {
  const std::string dedup = "tamis dedup --unit ngram --ngrams 3 --output-dir out ";
  Ok(dedup + "part-0 part-1 && cp -r out before");
  struct Case {
    std::string command, message;
  };
  const Case cases[] = {
      {"tamis dedup --unit ngram --output-dir out part-0 part-1",
       "the checkpoint was made with --ngrams 3, and not 13: remove out/tamis-dedup.json"},
      {dedup + "--threshold 0.5 part-0 part-1", "made with --threshold 0.8, and not 0.5"},
      {dedup + "part-0", "the checkpoint has 2 inputs, and only 1 are given"},
      {dedup + "part-1 part-0", "the names of the first inputs must stay the same, and part-1"},
      {dedup + "part-0 part-1 -", "--output-dir needs files, and - is not a file"},
      {dedup + "part-0 part-1 missing", "cannot read missing"},
      {dedup + "part-0 part-1 ./part-0", "part-0 and ./part-0 would have the same output"},
      {"tamis dedup --output-dir . part-0", "the output ./part-0 is also an input, part-0"},
      {dedup + "--filter f part-0", "--output-dir has a filter of its own: leave out --filter"},
      {"tamis dedup --checkpoint 3 part-0", "--checkpoint needs --output-dir"},
      {"cp part-0 tamis-dedup.json; tamis dedup --output-dir other tamis-dedup.json",
       "names that begin with tamis-dedup are those of the checkpoint"},
      {"tamis dedup --output-dir part-0 part-1", "cannot write to the folder part-0"},
  };
  for (const Case& c : cases) {
    const CommandResult result = Sh(c.command);
    EXPECT_NE(result.status, 0) << c.command;
    EXPECT_TRUE(result.ErrHas(c.message)) << c.command << "\n" << result.err;
    ExpectSameFolders("out", "before");
  }
  Ok("echo more >> part-1");
  EXPECT_TRUE(Sh(dedup + "part-0 part-1").ErrHas("the sizes of the first inputs must stay"));
  SetUp();
  Ok("echo more >> out/part-0");
  EXPECT_TRUE(Sh(dedup + "part-0 part-1").ErrHas("out/part-0 is missing or was changed"));
  Ok("cp before/part-0 out && rm out/part-1");
  EXPECT_TRUE(Sh(dedup + "part-0 part-1").ErrHas("out/part-1 is missing or was changed"));
  for (const std::string text : {"", "{", "[]", "{\"format\":1}", "{\"format\":2}", "null", "7"}) {
    Ok("rm -r out; cp -r before out");
    Write("out/tamis-dedup.json", text);
    const CommandResult result = Sh(dedup + "part-0 part-1");
    EXPECT_NE(result.status, 0) << text;
    EXPECT_TRUE(result.ErrHas("out/tamis-dedup.json")) << result.err;
  }
}

TEST_F(DedupFolderTest, DamagedCheckpoints_AreRefused) {
  const std::string dedup = "tamis dedup --output-dir out part-0 part-1 part-2";
  Ok("tamis dedup --output-dir out part-0 part-1 && cp -r out before");
  nlohmann::json json = nlohmann::json::parse(Read("out/tamis-dedup.json"));
  for (const char* name : {"format", "options", "done", "filter", "counts"}) {
    for (const nlohmann::json& value :
         {nlohmann::json(), nlohmann::json("x"), nlohmann::json(""), nlohmann::json(-1),
          nlohmann::json{1, 2}, nlohmann::json{{"a", 1}}}) {
      nlohmann::json changed = json;
      changed[name] = value;
      Write("out/tamis-dedup.json", changed.dump());
      const CommandResult result = Sh(dedup);
      EXPECT_TRUE(result.status == 2 || result.status == 3) << changed << result.err;
      EXPECT_FALSE(Exists("out/part-2"));
    }
  }
  const std::string files = Read("before/tamis-dedup.files");
  const std::string line = files.substr(0, files.find('\n') + 1);
  for (const std::string& changed :
       {std::string(), line, line + line, files.substr(0, files.size() - 1), "[]\n" + line,
        "{}\n" + line, "x" + files, "\n" + files}) {
    Ok("cp before/* out");
    Write("out/tamis-dedup.files", changed);
    const CommandResult result = Sh(dedup);
    EXPECT_TRUE(result.status == 2 || result.status == 3) << changed << result.err;
    EXPECT_TRUE(result.ErrHas("tamis-dedup.json to begin again")) << changed << result.err;
    EXPECT_FALSE(Exists("out/part-2"));
  }
  Ok("rm out/tamis-dedup.files");
  EXPECT_TRUE(Sh(dedup).ErrHas("out/tamis-dedup.files: too short"));
  Ok("cp before/* out; printf x | dd of=out/tamis-dedup-2.tamis bs=1 seek=5000 conv=notrunc "
     "status=none");
  EXPECT_EQ(Sh(dedup).status, 3);
}

TEST_F(DedupFolderTest, TooSmallFilters_AreFoundBeforeTheRun) {
  const std::string small = "--unit ngram --bytes 20K --ngrams 2" + names_;
  const CommandResult refused = Sh("tamis dedup " + small);
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.out, "");
  EXPECT_TRUE(refused.ErrHas("keys, and the inputs seem to have up to")) << refused.err;
  EXPECT_TRUE(refused.ErrHas("give a larger --capacity, or --overfull")) << refused.err;
  EXPECT_NE(Sh("tamis dedup --overfull " + small).out, "");
  Write("lines", Numbers(1, 300'000));
  const CommandResult warned = Sh("tamis dedup -n 70k lines");
  EXPECT_TRUE(
      warned.ErrHas("warning: the filter is for 70,000 keys, and the inputs seem to have up "
                    "to 300,000 new ones"))
      << warned.err;
  // All keys of the sample are in the filter.
  Ok("tamis build -q -o f --fpr 1e-6 -n 300k lines");
  EXPECT_FALSE(Sh("tamis dedup --filter f lines").ErrHas("the inputs seem"));
  Write("repeated", Numbers(1, 1000) + Numbers(1, 1000));
  std::string inputs;
  for (int i = 0; i < 200; ++i) inputs += " repeated";
  EXPECT_FALSE(Sh("tamis dedup -n 70k" + inputs).ErrHas("warning"));
}

TEST_F(DedupFolderTest, AMisleadingSample_StopsNoRunThatBegan) {
  // The sample of a large file is its beginning, which has more documents than the rest.
  std::string text = Numbers(1, 200'000);
  for (int i = 0; i < 5000; ++i) text += std::to_string(i) + std::string(8000, 'x') + "\n";
  Write("large", text);
  const std::string dedup = "tamis dedup --unit document --output-dir ";
  Ok(dedup + "counted part-0 large");  // the documents are counted, and no sample is taken
  Ok(dedup + "out -n 210k part-0");
  EXPECT_TRUE(Sh(dedup + "out -n 210k part-0 large").ErrHas("the inputs seem to have up to"));
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(Read("out/tamis-dedup.json"));
  json["planned"] = 2;  // as if a run with both inputs was interrupted
  Write("out/tamis-dedup.json", json.dump());
  Ok(dedup + "out -n 210k part-0 large");
  Ok("cmp counted/large out/large");
}

TEST_F(DedupFolderTest, Plan_CountsNgramsOfASample) {
  Write("texts", "a b c d\nA b c d e\n\nb c d\n");
  const auto keys = [&](const std::string& options) {
    return Sh("tamis plan --json --ngrams-of " + options).Json()["n"].get<uint64_t>();
  };
  EXPECT_EQ(keys("texts --ngrams 3"), 4u);  // a b c, b c d (3 times), A b c, c d e
  EXPECT_EQ(keys("texts texts --ngrams 3"), 4u);
  EXPECT_EQ(keys("texts"), 3u);
  EXPECT_TRUE(Sh("tamis plan --ngrams-of texts --ngrams 3")
                  .ErrHas("about 6 n-grams, of which up to 4 differ"));
  // The sample is a part of a large file.
  const std::string large = RandomTexts(1'200'000, 3);
  Write("large", large);
  double pairs = 0;
  size_t words = 0;
  for (const char c : large) {
    words += c == ' ' ? 1 : 0;
    if (c != '\n') continue;
    pairs += words > 1 ? static_cast<double>(words - 1) : static_cast<double>(words);
    words = 0;
  }
  const std::string said = Sh("tamis plan --ngrams-of large --ngrams 2").err;
  std::string digits;
  for (const char c : said.substr(0, said.find(" n-grams"))) {
    if (c >= '0' && c <= '9') digits += c;
  }
  EXPECT_NEAR(std::stod(digits), pairs, 0.02 * pairs) << said;
  EXPECT_GT(large.size(), size_t{50} << 20);
  EXPECT_TRUE(Sh("tamis plan").ErrHas("--n is required, or --ngrams-of"));
  EXPECT_EQ(Sh("tamis plan -n 5 --ngrams-of texts").status, 2);
  EXPECT_TRUE(Sh("tamis plan --ngrams-of part-3").ErrHas("has no n-gram"));
  EXPECT_TRUE(Sh("tamis plan --ngrams-of missing").ErrHas("cannot read missing"));
  EXPECT_TRUE(Sh("cat texts | tamis plan --ngrams-of -").ErrHas("give files"));
}

}  // namespace tamis::tools::dedup_folder_test
