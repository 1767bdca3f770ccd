// tamis info, verify and merge.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/command_test.h"

namespace tamis::tools::file_commands_test {

class FileCommandsTest : public CommandTest {
 protected:
  FileCommandsTest() {
    Write("keys", Numbers(1, 10000));
    Ok("tamis build -q -o f.tamis keys");
  }

  // A copy of f.tamis with one bit flipped.
  void WriteDamaged(const std::string& name, size_t offset) {
    std::string bytes = Read("f.tamis");
    bytes[offset] = static_cast<char>(bytes[offset] ^ 0x10);
    Write(name, bytes);
  }
};

TEST_F(FileCommandsTest, InfoDescribesBuiltFilters) {
  const nlohmann::json json = Ok("tamis info f.tamis --json").Json();
  EXPECT_EQ(json["kind"], "split-block");
  EXPECT_EQ(json["version"], 2);
  EXPECT_EQ(json["key_types"], "text");
  EXPECT_EQ(json["capacity"], 10000);
  EXPECT_EQ(json["inserted"], 10000);
  EXPECT_EQ(json["bytes"].get<uint64_t>(), 32 * json["blocks"].get<uint64_t>());
  EXPECT_GT(Read("f.tamis").size(), 192 + json["bytes"].get<uint64_t>());
  EXPECT_NEAR(json["bits_per_key"].get<double>(), 10.53, 0.02);
  EXPECT_NEAR(json["estimated_count"].get<double>(), 10000, 100);
  EXPECT_NEAR(json["expected_fpr"].get<double>(), 0.01, 0.0005);

  const std::string text = Ok("tamis info f.tamis").out;
  for (const char* row : {"kind", "blocks", "bytes", "hash", "xxh3", "seed 0", "keys", "text",
                          "capacity", "10,000", "inserted", "estimated count", "expected FPR"}) {
    EXPECT_NE(text.find(row), std::string::npos) << row << "\n" << text;
  }
}

TEST_F(FileCommandsTest, InfoOfSeveralFilesIsAnArray) {
  const nlohmann::json json = Ok("tamis info --json --header f.tamis f.tamis").Json();
  ASSERT_EQ(json.size(), 2U);
  EXPECT_EQ(json[0], json[1]);
  EXPECT_FALSE(json[0].contains("expected_fpr"));
}

TEST_F(FileCommandsTest, VerifyFindsDamageWhereverItIs) {
  EXPECT_EQ(Ok("tamis verify f.tamis").out.rfind("f.tamis: ok", 0), 0U);
  EXPECT_EQ(Ok("tamis verify --quiet f.tamis").out, "");
  const size_t size = Read("f.tamis").size();
  for (const size_t offset :
       {size_t{0}, size_t{9}, size_t{40}, size_t{191}, size_t{192}, size - 1}) {
    WriteDamaged("bad.tamis", offset);
    const CommandResult result = Sh("tamis verify bad.tamis");
    EXPECT_EQ(result.status, 3) << offset;
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(result.ErrHas("tamis: bad.tamis: ")) << result.err;
    EXPECT_TRUE(result.ErrHas(" at offset ")) << result.err;
  }
}

TEST_F(FileCommandsTest, VerifyGoesOnAfterAFailure) {
  WriteDamaged("bad.tamis", 1000);
  Write("short.tamis", Read("f.tamis").substr(0, 500));
  const CommandResult result = Sh("tamis verify --json bad.tamis missing short.tamis f.tamis");
  EXPECT_EQ(result.status, 3);
  const nlohmann::json json = result.Json();
  ASSERT_EQ(json.size(), 4U);
  EXPECT_EQ(json[0]["check"], "page checksum");
  EXPECT_FALSE(json[1]["ok"].get<bool>());
  EXPECT_FALSE(json[2]["ok"].get<bool>());
  EXPECT_TRUE(json[3]["ok"].get<bool>());
}

TEST_F(FileCommandsTest, DamagedFiltersAreNotUsed) {
  WriteDamaged("bad.tamis", 1000);
  WriteDamaged("bad_header.tamis", 40);
  for (const char* options : {"", "--verify ", "--map ", "--no-map "}) {
    const CommandResult result = Sh("tamis query bad.tamis " + std::string(options) + "keys");
    EXPECT_EQ(result.status, 3) << options;
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(result.ErrHas("tamis: bad.tamis: page checksum")) << result.err;
  }
  EXPECT_EQ(Sh("tamis query bad.tamis --no-verify keys").status, 0) << "as asked for";
  EXPECT_EQ(Sh("tamis query bad_header.tamis keys").status, 3);
  EXPECT_EQ(Sh("tamis query keys keys").status, 3) << "not a filter";
  EXPECT_EQ(Sh("tamis info bad_header.tamis").status, 3);
  Write("m", "precious");
  EXPECT_EQ(Sh("tamis merge -o m f.tamis bad.tamis").status, 3);
  EXPECT_EQ(Sh("tamis merge -o m bad.tamis f.tamis").status, 3);
  EXPECT_EQ(Read("m"), "precious");
}

TEST_F(FileCommandsTest, MergeIsTheFilterOfAllKeys) {
  Write("a", Numbers(1, 3000));
  Write("b", Numbers(3001, 3000));
  Write("c", Numbers(6001, 4000));
  Ok("for i in a b c; do tamis build -q --capacity 10000 -o $i.tamis $i; done");
  const CommandResult merge = Ok("tamis merge -o m.tamis a.tamis b.tamis c.tamis --json");
  EXPECT_EQ(merge.Json()["inserted"], 10000);
  EXPECT_EQ(merge.Json()["merged"], 3);
  Ok("cmp m.tamis f.tamis");
  Ok("tamis merge -q -o a.tamis a.tamis b.tamis && tamis query a.tamis a b > out && cat a b | cmp "
     "- out");
}

TEST_F(FileCommandsTest, MergeSaysWhyItRefuses) {
  Ok("tamis build -q -o small.tamis --capacity 5000 --bytes 1000 --overfull keys 2> warning; rm "
     "warning");
  Ok("tamis build -q -o seed.tamis --seed 7 keys");
  Ok("tamis build -q -o hash.tamis --hash xxh64 keys");
  const CommandResult size = Sh("tamis merge -o m f.tamis small.tamis");
  EXPECT_EQ(size.status, 2);
  EXPECT_TRUE(size.ErrHas("small.tamis with f.tamis: sizes differ: 992 and ")) << size.err;
  const CommandResult seed = Sh("tamis merge -o m f.tamis seed.tamis");
  EXPECT_EQ(seed.status, 2);
  EXPECT_TRUE(seed.ErrHas("xxh3 with seed 7 and xxh3 with seed 0")) << seed.err;
  EXPECT_EQ(Sh("tamis merge -o m f.tamis hash.tamis").status, 2);
  EXPECT_EQ(Sh("tamis merge -o m f.tamis").status, 2);
  EXPECT_FALSE(Exists("m"));
}

TEST_F(FileCommandsTest, MergeWarnsOfTooManyKeys) {
  Write("more", Numbers(10001, 10000));
  Ok("tamis build -q -o more.tamis more");
  const CommandResult result = Sh("tamis merge -o m f.tamis more.tamis");
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(result.ErrHas("warning: the result holds more keys than its capacity of 10,000"))
      << result.err;
}

}  // namespace tamis::tools::file_commands_test
