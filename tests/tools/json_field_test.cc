// Fields of JSON texts, compared with another reader.
#include "tools/input/json_field.h"

#include <gtest/gtest.h>
#include <tamis/error.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/os/test_os.h"

namespace tamis::tools::json_field_test {

// Memory whose last bytes are the padding after a text. A read behind the padding crashes.
class Guarded {
 public:
  explicit Guarded(size_t most) {
    const size_t page = test_os::PageBytes();
    bytes_ = (most + kJsonPadding + page - 1) / page * page;
    memory_ = test_os::MapBeforeGuard(bytes_);
    std::fill_n(memory_, bytes_, uint8_t{'"'});
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { test_os::UnmapBeforeGuard(memory_, bytes_); }

  std::string_view Place(std::string_view text) const {
    char* const to = reinterpret_cast<char*>(memory_) + bytes_ - kJsonPadding - text.size();
    std::copy(text.begin(), text.end(), to);
    return {to, text.size()};
  }

 private:
  size_t bytes_;
  uint8_t* memory_;
};

struct Found {
  std::string error;
  std::string text;
  bool is_string = false;

  friend bool operator==(const Found&, const Found&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Found& found) {
    return out << "{" << found.error << ", " << found.text << ", " << found.is_string << "}";
  }
};

Found String(std::string text) { return {"", std::move(text), true}; }
Found Number(std::string text) { return {"", std::move(text), false}; }
const Found kMissing = {"the field is missing", "", false};
const Found kOtherType = {"the field is not a string or a number", "", false};
const Found kNotJson = {"not valid JSON", "", false};

class JsonFieldTest : public testing::Test {
 protected:
  void SetUp() override {
    if (JsonLibrary().empty()) GTEST_SKIP() << "built without simdjson";
  }

  Found Find(JsonField& field, std::string_view json) const {
    const JsonValue value = field.Find(guarded_.Place(json));
    return {value.error == nullptr ? "" : value.error, std::string(value.text), value.is_string};
  }
  Found Find(const std::string& field, std::string_view json) const {
    return Find(*MakeJsonField(field), json);
  }

  // Returns a random string, often with characters that JSON or a JSON Pointer escapes.
  std::string RandomString() {
    static const std::vector<std::string> pieces = {"a",
                                                    "b",
                                                    "text",
                                                    " ",
                                                    "\"",
                                                    "\\",
                                                    "/",
                                                    "~",
                                                    "~1",
                                                    "\n",
                                                    "\t",
                                                    "\x01",
                                                    "\x7F",
                                                    "{",
                                                    "}",
                                                    "[",
                                                    ",",
                                                    ":",
                                                    "0",
                                                    "\xC3\xA9",
                                                    "\xE4\xB8\xAD",
                                                    "\xD9\x85",
                                                    "\xF0\x9F\x98\x80",
                                                    std::string(1, '\0'),
                                                    std::string(70, 'x')};
    std::string text;
    for (size_t n = Below(6); n > 0; --n) text += pieces[Below(pieces.size())];
    return text;
  }
  nlohmann::json RandomValue(int levels) {
    switch (Below(levels > 0 ? 9 : 7)) {
      case 0:
        return nullptr;
      case 1:
        return Below(2) == 0;
      case 2:
        return random_() >> Below(64);
      case 3:
        return -static_cast<int64_t>(random_() >> (1 + Below(62)));
      case 4:
        return std::ldexp(static_cast<double>(Below(1000)), static_cast<int>(Below(12)) - 6);
      case 7:
        return RandomObject(levels - 1);
      case 8: {
        nlohmann::json array = nlohmann::json::array();
        for (size_t n = Below(4); n > 0; --n) array.push_back(RandomValue(levels - 1));
        return array;
      }
      default:
        return RandomString();
    }
  }
  nlohmann::json RandomObject(int levels) {
    nlohmann::json object = nlohmann::json::object();
    for (size_t n = Below(5); n > 0; --n) object[RandomString()] = RandomValue(levels);
    return object;
  }
  // With or without escapes of characters beyond ASCII, and with or without blanks.
  std::string Text(const nlohmann::json& json) {
    std::string text = json.dump(Below(2) == 0 ? -1 : 1, '\t', Below(2) == 0);
    for (char& c : text) c = c == '\n' ? ' ' : c;
    return text;
  }
  size_t Below(size_t n) { return random_() % n; }

  std::mt19937_64 random_{47};

 private:
  const Guarded guarded_{size_t{1} << 20};
};

// Returns the result that JsonField must have for a value.
Found Expected(const nlohmann::json& value) {
  if (value.is_string()) return String(value.get<std::string>());
  return value.is_number() ? Number(value.dump()) : kOtherType;
}

TEST_F(JsonFieldTest, RandomRecords_HaveTheFieldsThatAnotherReaderFinds) {
  for (int i = 0; i < 3000; ++i) {
    const nlohmann::json record = RandomObject(3);
    const std::string text = Text(record);
    const nlohmann::json flat = record.flatten();
    for (const auto& [pointer, value] : flat.items()) {
      if (pointer.empty()) continue;  // the record is an empty object
      EXPECT_EQ(Find(pointer, text), Expected(value)) << pointer << " in " << text;
    }
    for (const auto& [name, value] : record.items()) {
      if (name.empty() || name[0] == '/') continue;
      EXPECT_EQ(Find(name, text), Expected(value)) << name << " in " << text;
    }
    EXPECT_EQ(Find("absent", text), kMissing) << text;
    EXPECT_EQ(Find("/a/absent/0", text), kMissing) << text;
  }
}

TEST_F(JsonFieldTest, EveryTruncation_IsNotValid) {
  for (int i = 0; i < 300; ++i) {
    const std::string text = Text(RandomObject(3));
    const auto field = MakeJsonField("a");
    for (size_t bytes = 0; bytes < text.size(); ++bytes) {
      EXPECT_EQ(Find(*field, text.substr(0, bytes)), kNotJson) << text.substr(0, bytes);
    }
  }
}

TEST_F(JsonFieldTest, ChangedBytes_AreValidIfAnotherReaderAcceptsThem) {
  const std::string bytes = "\"\\{}[]:,.-+eEu019x \t\n\x1F\x80\xC3\xE4\xF0\xFF";
  size_t valid = 0;
  for (int i = 0; i < 30000; ++i) {
    std::string text = Text(RandomObject(2));
    const size_t at = Below(text.size());
    const char byte = bytes[Below(bytes.size())];
    if (Below(3) == 0) {
      text.erase(at, 1);
    } else if (Below(2) == 0) {
      text.insert(at, 1, byte);
    } else {
      text[at] = byte;
    }
    if (text.empty() || text[0] != '{') continue;
    bool is_valid = false;
    try {
      is_valid = nlohmann::json::parse(text).is_object();
    } catch (const nlohmann::json::parse_error&) {
    } catch (const nlohmann::json::out_of_range&) {
      continue;  // the other reader stops at a number that double cannot represent
    }
    EXPECT_EQ(Find("a", text) == kNotJson, !is_valid) << text;
    valid += is_valid ? 1 : 0;
  }
  EXPECT_GT(valid, 3000U);
}

TEST_F(JsonFieldTest, Strings_AreUnescaped) {
  EXPECT_EQ(Find("a", R"({"a":"\"\\\/\b\f\n\r\t"})"), String("\"\\/\b\f\n\r\t"));
  EXPECT_EQ(Find("a", R"({"a":"\u0041\u00e9\u4E2D\ud83d\ude00"})"),
            String("A\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80"));
  EXPECT_EQ(Find("a", R"({"a":"x\u0000y"})"), String(std::string("x\0y", 3)));
  EXPECT_EQ(Find("a", R"({"\u0061":"name"})"), String("name"));
  EXPECT_EQ(Find("a", R"({"a":""})"), String(""));
}

// The line is bad even if the defect is in another field.
TEST_F(JsonFieldTest, StringsThatAreNotUnicode_AreNotValid) {
  for (const char* wrong :
       {R"("\ud83d")", R"("\ude00")", R"("\ud83d\u0041")", R"("\x41")", R"("\u12")", R"("\u12G4")",
        "\"\xFF\"", "\"\xC3\"", "\"\xC0\xAF\"", "\"\xED\xA0\x80\"", "\"\xF4\x90\x80\x80\"",
        "\"\xE4\xB8\"", "\"\x01\"", "\"\t\"", "\xC3\xA9"}) {
    EXPECT_EQ(Find("a", "{\"a\":" + std::string(wrong) + "}"), kNotJson) << wrong;
    EXPECT_EQ(Find("a", "{\"a\":\"x\",\"b\":" + std::string(wrong) + "}"), kNotJson) << wrong;
  }
}

TEST_F(JsonFieldTest, Numbers_AreTheirCharacters) {
  for (const char* number :
       {"0", "-0", "42", "-42", "1.0", "1.50", "1e3", "1E+3", "-1.5e-300", "1e400",
        "18446744073709551616", "123456789012345678901234567890123456789012345678901234567890"}) {
    EXPECT_EQ(Find("a", "{\"a\":" + std::string(number) + " }"), Number(number));
    EXPECT_EQ(Find("/b/1", "{\"b\":[7," + std::string(number) + "],\"c\":0}"), Number(number));
  }
  for (const char* wrong : {"01", "-01", "1.", ".5", "1e", "1e+", "+1", "-", "0x1", "1a", "1 2",
                            "NaN", "Infinity", "-Infinity"}) {
    EXPECT_EQ(Find("a", "{\"a\":" + std::string(wrong) + "}"), kNotJson) << wrong;
    EXPECT_EQ(Find("a", "{\"b\":" + std::string(wrong) + ",\"a\":1}"), kNotJson) << wrong;
  }
}

TEST_F(JsonFieldTest, TheLastFieldOfAName_Counts) {
  EXPECT_EQ(Find("a", R"({"a":1,"b":2,"a":3})"), Number("3"));
  EXPECT_EQ(Find("a", R"({"a":1,"\u0061":null})"), kOtherType);
  EXPECT_EQ(Find("/a/b", R"({"a":{"b":1},"a":{"c":2}})"), kMissing);
  EXPECT_EQ(Find("/a/b", R"({"a":{"b":1,"b":2}})"), Number("2"));
  EXPECT_EQ(Find("/a/b", R"({"a":{"b":1},"a":5})"), kMissing);
}

TEST_F(JsonFieldTest, Pointers_FollowRfc6901) {
  // The document of section 5 of the RFC, with values that tell the fields apart.
  const std::string json =
      R"({"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8})";
  EXPECT_EQ(Find("/foo/0", json), String("bar"));
  EXPECT_EQ(Find("/foo/1", json), String("baz"));
  EXPECT_EQ(Find("/", json), Number("0"));
  EXPECT_EQ(Find("/a~1b", json), Number("1"));
  EXPECT_EQ(Find("/c%d", json), Number("2"));
  EXPECT_EQ(Find("/e^f", json), Number("3"));
  EXPECT_EQ(Find("/g|h", json), Number("4"));
  EXPECT_EQ(Find("/i\\j", json), Number("5"));
  EXPECT_EQ(Find("/k\"l", json), Number("6"));
  EXPECT_EQ(Find("/ ", json), Number("7"));
  EXPECT_EQ(Find("/m~0n", json), Number("8"));
  EXPECT_EQ(Find("m~n", json), Number("8")) << "a name, not a pointer";
  EXPECT_EQ(Find("a/b", json), Number("1")) << "a name, not a pointer";
  EXPECT_EQ(Find("/foo", json), kOtherType);
  for (const char* absent : {"/foo/2", "/foo/00", "/foo/-", "/foo/", "/foo/0/0", "/a/b", "/FOO"}) {
    EXPECT_EQ(Find(absent, json), kMissing) << absent;
  }
  for (const char* wrong : {"/~", "/~2", "/a~", "/a/~x/b"}) {
    EXPECT_THROW(MakeJsonField(wrong), Error) << wrong;
  }
}

TEST_F(JsonFieldTest, TextsThatAreNotOneObject) {
  for (const char* text : {"1", "\"a\"", "null", "[]", "[\"a\"]", "{}", " {} "}) {
    EXPECT_EQ(Find("a", text), kMissing) << text;
  }
  EXPECT_EQ(Find("/1/a", R"([0,{"a":"x"}])"), String("x"));
  for (const char* text : {"{\"a\":1}}", "{\"a\":1}{\"a\":2}", "{\"a\":1} x", "{\"a\":1},", "[",
                           "}", "{\"a\":1]", "[1}", "{a:1}", "{'a':1}", "{\"a\":1,}", "{\"a\" 1}",
                           "{\"a\":[1 2]}", "\xEF\xBB\xBF", "", " "}) {
    EXPECT_EQ(Find("a", text), kNotJson) << text;
  }
}

TEST_F(JsonFieldTest, Levels_HaveALimit) {
  const auto nested = [](size_t levels, bool closed) {
    const std::string end = closed ? std::string(levels, ']') + ",\"a\":1}" : "";
    return "{\"b\":" + std::string(levels, '[') + end;
  };
  EXPECT_EQ(Find("a", nested(999, true)), Number("1"));
  for (const size_t levels : {1000, 1001, 1024, 1100, 5000, 100000}) {
    EXPECT_EQ(Find("a", nested(levels, true)).error, "JSON of more than 1,000 levels") << levels;
    EXPECT_NE(Find("a", nested(levels, false)).error, "") << levels;
  }
}

TEST(MakeJsonFieldTest, WithoutTheLibrary_IsUnsupported) {
  if (!JsonLibrary().empty()) GTEST_SKIP() << "built with simdjson";
  try {
    MakeJsonField("a");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  }
}

}  // namespace tamis::tools::json_field_test
