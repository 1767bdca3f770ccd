// Keys in hexadecimal.
#include "tools/input/hex_key.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "tests/tools/command_test.h"
#include "tools/input/json_field.h"

namespace tamis::tools::hex_key_test {

std::string Hex(const std::string& bytes, bool upper) {
  std::string text;
  for (const char c : bytes) {
    for (const int shift : {4, 0}) {
      text += (upper ? "0123456789ABCDEF" : "0123456789abcdef")[c >> shift & 15];
    }
  }
  return text;
}

TEST(AppendHexKeyTest, BytesSurviveTheWayThroughText) {
  std::mt19937_64 random(47);
  std::string expected, bytes;
  for (int i = 0; i < 2000; ++i) {
    std::string key;
    for (size_t n = random() % 70; n > 0; --n) key += static_cast<char>(random());
    expected += key;
    EXPECT_EQ(AppendHexKey(Hex(key, random() % 2 == 0), bytes), nullptr);
    EXPECT_EQ(bytes, expected);
  }
}

TEST(AppendHexKeyTest, OtherTextAppendsNothing) {
  std::string bytes = "x";
  for (int c = 0; c < 256; ++c) {
    const std::string text = {'0', static_cast<char>(c)};
    const bool is_digit = std::string("0123456789abcdefABCDEF").find(text[1]) != std::string::npos;
    EXPECT_EQ(AppendHexKey(text, bytes) == nullptr, is_digit) << c;
    bytes = "x";
  }
  for (const char* wrong : {"0", "abc", "0x12", "12 ", " 12", "1 2", "-1", "gg", "12\n"}) {
    EXPECT_NE(AppendHexKey(wrong, bytes), nullptr) << wrong;
    EXPECT_EQ(bytes, "x") << wrong;
  }
  EXPECT_STREQ(AppendHexKey("abc", bytes), "an odd number of hexadecimal digits");
  EXPECT_STREQ(AppendHexKey(" ab", bytes), "not hexadecimal (--trim removes the blanks around it)");
}

class HexKeyTest : public CommandTest {};

TEST_F(HexKeyTest, KeysAreTheBytes) {
  std::mt19937_64 random(47);
  std::string lines, lower, upper, counted;
  for (int i = 0; i < 5000; ++i) {
    std::string key = std::to_string(i);
    // Bytes that can be in a line.
    for (int n = 0; n < 16; ++n) key += static_cast<char>(' ' + random() % 200);
    lines += key + "\n";
    lower += Hex(key, false) + "\n";
    upper += Hex(key, true) + "\r\n";
    counted += Hex(key, false) + ":" + std::to_string(random() % 1000) + "\n";
  }
  Write("lines", lines);
  Write("lower", lower);
  Write("upper", upper);
  Write("counted", counted);
  Ok("tamis build -q -o f lines");
  Ok("tamis build -q -o g --hex lower && cmp f g");
  Ok("tamis build -q -o g --hex upper && cmp f g");
  Ok("cat counted | tamis build -q -o g -n 5000 --hex --separator : --column 1 && cmp f g");
  EXPECT_EQ(Ok("tamis query f --hex --separator : counted").out, counted);
  EXPECT_EQ(Ok("tamis dedup --hex lower upper").out, lower);
}

TEST_F(HexKeyTest, BadDigitsAreBadLines) {
  Write("keys", "00ff\n0g\n123\n 12\n\n");
  const CommandResult result = Sh("tamis build -o f --max-bad 3 --json --hex keys");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(result.ErrHas("keys:2: not hexadecimal: \"0g\"")) << result.err;
  EXPECT_TRUE(result.ErrHas("keys:3: an odd number of hexadecimal digits: \"123\"")) << result.err;
  EXPECT_TRUE(result.ErrHas("keys:4: not hexadecimal (--trim removes the blanks around it)"));
  EXPECT_TRUE(result.ErrHas("4 bad lines skipped, 1 of them empty")) << result.err;
  EXPECT_EQ(result.Json()["inserted"], 1);
  EXPECT_EQ(Sh("tamis build -o g --hex keys").status, 2);
  EXPECT_EQ(Sh("tamis build -o g --hex --strict keys").status, 2);
  EXPECT_EQ(Sh("tamis build -o g --hex --integers keys").status, 2);
  EXPECT_EQ(Sh("tamis build -o g --hex --u64 keys").status, 2);
  EXPECT_FALSE(Exists("g"));
  EXPECT_EQ(Sh("tamis build -o g --max-bad 2 --hex --trim --json keys").Json()["inserted"], 2);
}

TEST_F(HexKeyTest, FieldsOfJsonAndBanks) {
  Write("keys", "00FF0A\n");
  Ok("tamis build -q -o f --for-bank -n 10 --fpr 1e-9 --hex keys && tamis bank build -q -o b f");
  EXPECT_EQ(Ok("tamis bank query b --hex keys").out, "00FF0A\tf\n") << "the key as it is written";
  if (JsonLibrary().empty()) GTEST_SKIP() << "built without simdjson";
  std::string records;
  for (int i = 0; i < 3; ++i) records += "{\"md5\":\"\\u0030\\u0030ff\\u0030a\"}\n";
  Write("a.jsonl", records);
  EXPECT_EQ(Ok("tamis query f --hex --jsonl --field md5 a.jsonl").out, records);
}

}  // namespace tamis::tools::hex_key_test
