// Calibrations: defaults, files, refusals, and a short measurement.
#include "tamis/engine/calibration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "tamis/backend.h"
#include "tamis/backends.h"
#include "tamis/engine/engine.h"
#include "tamis/filters/filter_kinds.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/core/file_test_util.h"
#include "tests/core/scoped_env.h"

namespace tamis::calibration_test {

using CalibrationTest = FileTest;

Calibration Example() {
  Calibration calibration;
  calibration.machine = "a \"quoted\" \\ name\n\x01 \xC3\xA9";
  calibration.thread_start_us = 12.345678901234567;
  calibration.thread_efficiency = 1.0 / 3;
  calibration.device = "a GPU";
  calibration.device_start_us = 0;
  calibration.upload_gb_per_s = 1.0 / 7;
  calibration.points = {{"AVX2", 1024, 0.1, 0.2, 0.3},
                        {"AVX2", uint64_t{1} << 53, 1e6, 1e-9, 2},
                        {"portable", 1, 4, 5, 6},
                        {"portable", 1, 7, 8, 9, FilterKind::kCuckoo16}};
  return calibration;
}

std::string ExampleText() {
  return R"({"tamis_calibration": 3, "machine": "m", "device": "d", "thread_start_us": 20, )"
         R"("thread_efficiency": 0.9, "device_start_us": 30, "upload_gb_per_s": 25, "points": [)"
         R"({"backend": "b", "kind": "cuckoo8", "filter_bytes": 64, "contains_ns": 1, "insert_ns": 2, )"
         R"("partitioned_insert_ns": 3}]})";
}

Bytes ToBytes(const std::string& text) { return {text.begin(), text.end()}; }

TEST_F(CalibrationTest, DefaultsCoverEveryBackendAndAreValid) {
  const Calibration calibration;
  EXPECT_NO_THROW(calibration.Validate());
  for (const Backend& backend : Backends()) {
    EXPECT_TRUE(
        std::any_of(calibration.points.begin(), calibration.points.end(),
                    [&](const Calibration::Point& point) { return point.backend == backend.name; }))
        << backend.name;
  }
}

TEST_F(CalibrationTest, RoundTripIsExact) {
  const std::filesystem::path path = folder_ / "new/deeper/calibration.json";
  const Calibration saved = Example();
  saved.Save(path);
  saved.Save(path);  // replaces the file
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path.parent_path()),
                          std::filesystem::directory_iterator()),
            1);
  const Calibration loaded = Calibration::Load(path);
  EXPECT_EQ(loaded.machine, saved.machine);
  EXPECT_EQ(loaded.thread_start_us, saved.thread_start_us);
  EXPECT_EQ(loaded.thread_efficiency, saved.thread_efficiency);
  EXPECT_EQ(loaded.device, saved.device);
  EXPECT_EQ(loaded.device_start_us, saved.device_start_us);
  EXPECT_EQ(loaded.upload_gb_per_s, saved.upload_gb_per_s);
  ASSERT_EQ(loaded.points.size(), saved.points.size());
  for (size_t i = 0; i < saved.points.size(); ++i) {
    EXPECT_EQ(loaded.points[i].backend, saved.points[i].backend);
    EXPECT_EQ(loaded.points[i].kind, saved.points[i].kind);
    EXPECT_EQ(loaded.points[i].filter_bytes, saved.points[i].filter_bytes);
    EXPECT_EQ(loaded.points[i].contains_ns, saved.points[i].contains_ns);
    EXPECT_EQ(loaded.points[i].insert_ns, saved.points[i].insert_ns);
    EXPECT_EQ(loaded.points[i].partitioned_insert_ns, saved.points[i].partitioned_insert_ns);
  }
}

TEST_F(CalibrationTest, TextOfTheFormatIsRead) {
  WriteBytes(folder_ / "c", ToBytes(ExampleText()));
  const Calibration calibration = Calibration::Load(folder_ / "c");
  EXPECT_EQ(calibration.machine, "m");
  ASSERT_EQ(calibration.points.size(), 1u);
  EXPECT_EQ(calibration.points[0].partitioned_insert_ns, 3);
}

TEST_F(CalibrationTest, CorruptFilesAreRefused) {
  struct Change {
    std::string from, to;  // in ExampleText()
    std::string check;
    std::string
        at;  // the error's offset is its first position in the changed text; for JSON, its end
    ErrorCode code = ErrorCode::kCorrupt;
  };
  const std::string point = R"({"backend")";
  const Change changes[] = {
      {"}]}", "}]", "JSON", ""},
      {R"({"tamis)", R"([{"tamis)", "JSON", ""},
      {"calibration\": 3", "calibration\": 2", "tamis_calibration", "2,", ErrorCode::kUnsupported},
      {"calibration\": 3", "calibration\": \"3\"", "tamis_calibration", "\"3\""},
      {"tamis_calibration", "other", "tamis_calibration", "{"},
      {"\"machine\": \"m\"", "\"machine\": 5", "machine", "5"},
      {"\"machine\": \"m\", ", "", "machine", "{"},
      {"\"machine\": \"m\"", "\"machine\": \"m\", \"more\": 1", "names", "{"},
      {"\"thread_start_us\": 20", "\"thread_start_us\": -1", "machine", "{"},
      {"\"thread_start_us\": 20", "\"thread_start_us\": 1e7", "machine", "{"},
      {"\"thread_start_us\": 20", "\"thread_start_us\": {}", "thread_start_us", "{}"},
      {"\"thread_efficiency\": 0.9", "\"thread_efficiency\": 0", "machine", "{"},
      {"\"thread_efficiency\": 0.9", "\"thread_efficiency\": 1.1", "machine", "{"},
      {"\"contains_ns\": 1", "\"contains_ns\": 0", "points", point},
      {"\"insert_ns\": 2", "\"insert_ns\": -2", "points", point},
      {"\"insert_ns\": 2", "\"insert_ns\": 1000001", "points", point},
      {"\"insert_ns\": 2, ", "", "insert_ns", point},
      {"_insert_ns\": 3", "_insert_ns\": 3, \"more\": []", "names", point},
      {"\"filter_bytes\": 64", "\"filter_bytes\": 64.5", "filter_bytes", "64.5"},
      {"\"filter_bytes\": 64", "\"filter_bytes\": -64", "filter_bytes", "-64"},
      {"\"filter_bytes\": 64", "\"filter_bytes\": 1e17", "filter_bytes", "1e17"},
      {"\"filter_bytes\": 64", "\"filter_bytes\": 0", "points", point},
      {"\"backend\": \"b\"", "\"backend\": []", "backend", "[],"},
      {"\"cuckoo8\"", "8", "kind", "8,"},
      {"\"cuckoo8\"", "\"cuckoo9\"", "kind", "\"cuckoo9\""},
      {"}]}", "}, 7]}", "points", "7]"},
      {"[{\"b", "[[], {\"b", "points", "[], "},
  };
  for (const Change& change : changes) {
    std::string text = ExampleText();
    const size_t begin = text.find(change.from);
    ASSERT_NE(begin, std::string::npos) << change.from;
    text.replace(begin, change.from.size(), change.to);
    SCOPED_TRACE(text);
    WriteBytes(folder_ / "c", ToBytes(text));
    const uint64_t offset = change.check == "JSON" ? text.size() : text.find(change.at);
    ExpectFormatError([&] { Calibration::Load(folder_ / "c"); }, change.check, offset, change.code);
  }
}

// The error's offset is in or after the token at which the parser found the error.
TEST_F(CalibrationTest, TextsThatAreNotJsonAreRefused) {
  struct Wrong {
    std::string text;
    uint64_t offset;
    std::string problem;
  };
  std::string names = "{";
  for (int i = 0; i < 65; ++i) names += "\"" + std::to_string(i) + "\": 0, ";
  std::string values = "[";
  for (int i = 0; i < (1 << 17); ++i) values += "0,";
  const std::vector<Wrong> all = {
      {"", 0, "input"},  // its end, or that it is empty, depending on the version of the parser
      {"  ", 2, "end of input"},
      {"{\"a\": true}", 6, "true or false"},
      {"[null]", 1, "null"},
      {"nan", 1, "invalid literal"},
      {"[Infinity]", 1, "invalid literal"},
      {"[1,]", 3, "unexpected ']'"},
      {"[1 2]", 3, "expected ']'"},
      {"{\"a\": 1,}", 8, "expected string literal"},
      {"{\"a\" 1}", 5, "expected ':'"},
      {"{a: 1}", 1, "invalid literal"},
      {"{\"a\": 1, // b\n}", 9, "invalid literal"},
      {"{\"a\": 1, \"a\": 2}", 9, "a second \"a\""},
      {"{\"a\": [], \"b\": {\"\\\"\": 1, \"\\\"\": 2}}", 25, "a second \"\"\""},
      {"{\"b\": {\"a\": 1}, \"a\": {\"a\": 2}, \"a\": 3}", 31, "a second \"a\""},
      {"{} {}", 3, "expected end of input"},
      {ExampleText() + std::string(1, '\0'), ExampleText().size(), "a byte of 0"},
      {std::string("{\"\0\": 1}", 9), 2, "a byte of 0"},
      {"[01]", 2, "expected ']'"},
      {"[-]", 2, "invalid number"},
      {"[+1]", 1, "invalid literal"},
      {"[.5]", 1, "invalid literal"},
      {"[1e]", 3, "invalid number"},
      {"[0x10]", 2, "invalid literal"},
      {"[1e999]", 5, "number overflow"},
      {"[-1e999]", 6, "number overflow"},
      {"\"abc", 4, "missing closing quote"},
      {"\"a\nb\"", 2, "control character"},
      {"\"a\\x\"", 3, "backslash"},
      {"\"\\u12g4\"", 5, "4 hex digits"},
      {"\"\\ud83d\"", 7, "surrogate"},
      {"\"\xC3(\"", 2, "UTF-8"},
      {"\"\xED\xA0\x80\"", 2, "UTF-8"},
      {std::string(100'000, '['), 16, "more than 16 levels"},
      {names, 1 + 10 * 8 + 54 * 9, "more than 64 names"},
      {values, 1 + 2 * ((1 << 17) - 1), "too many values"},
      {"\"" + std::string(100'000, 'x'), 100'001, "missing closing quote"},
  };
  for (const Wrong& wrong : all) {
    WriteBytes(folder_ / "c", ToBytes(wrong.text));
    try {
      Calibration::Load(folder_ / "c");
      ADD_FAILURE() << "no error: " << wrong.text.substr(0, 1000);
    } catch (const FormatError& error) {
      const std::string what = error.what();
      EXPECT_EQ(error.check(), "JSON") << what;
      EXPECT_EQ(error.code(), ErrorCode::kCorrupt) << what;
      EXPECT_EQ(error.offset(), wrong.offset) << what;
      EXPECT_NE(what.find(wrong.problem), std::string::npos) << what;
      EXPECT_LT(what.size(), 1000u);
    }
  }
}

TEST_F(CalibrationTest, EveryFormOfNumbersAndStringsIsRead) {
  std::string text = "\xEF\xBB\xBF\r\n\t" + ExampleText();
  const auto replace = [&](const std::string& from, const std::string& to) {
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
  };
  replace("\"m\"", R"("\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\ud83d\ude00\u0000")");
  replace("\"thread_start_us\": 20", "\"thread_start\\u005fus\" :2.5e-3");
  replace("0.9", "9007199254740993E-16");
  replace("64", "9007199254740992");
  replace("\"insert_ns\": 2", "\"insert_ns\": 1e-320");
  WriteBytes(folder_ / "c", ToBytes(text));
  const Calibration calibration = Calibration::Load(folder_ / "c");
  EXPECT_EQ(calibration.machine,
            std::string("\"\\/\b\f\n\r\tA\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\0", 19));
  EXPECT_EQ(calibration.thread_start_us, 2.5e-3);
  EXPECT_EQ(calibration.thread_efficiency, 9007199254740993E-16);
  EXPECT_EQ(calibration.points[0].filter_bytes, uint64_t{1} << 53);
  EXPECT_EQ(calibration.points[0].insert_ns, 1e-320);
  // A field after all this is still found at its offset.
  replace("\"cuckoo8\"", "\"cuckoo9\"");
  WriteBytes(folder_ / "c", ToBytes(text));
  ExpectFormatError([&] { Calibration::Load(folder_ / "c"); }, "kind", text.find("\"cuckoo9\""));
}

TEST_F(CalibrationTest, NamesThatAreNotUtf8AreSavedWithReplacements) {
  Calibration calibration = Example();
  calibration.machine = "caf\xE9";
  calibration.points[0].backend = std::string("\0\xFF", 2);
  calibration.Save(folder_ / "c");
  const Calibration loaded = Calibration::Load(folder_ / "c");
  EXPECT_EQ(loaded.machine, "caf\xEF\xBF\xBD");
  EXPECT_EQ(loaded.points[0].backend, std::string("\0\xEF\xBF\xBD", 4));
}

TEST_F(CalibrationTest, PointsMustAscend) {
  Calibration calibration = Example();
  std::swap(calibration.points[0], calibration.points[1]);
  ExpectError([&] { calibration.Validate(); }, ErrorCode::kInvalidArgument,
              "filter_bytes is 1024 after 9007199254740992 for AVX2");
  std::string text = ExampleText();
  const std::string point =
      text.substr(text.find("{\"backend"), text.find("}]") + 1 - text.find("{\"backend"));
  const size_t second = text.find("]}");
  text.insert(second, "," + point);
  WriteBytes(folder_ / "c", ToBytes(text));
  ExpectFormatError([&] { Calibration::Load(folder_ / "c"); }, "points", second + 1);
}

TEST_F(CalibrationTest, EveryCutIsRefused) {
  const std::string text = ExampleText();
  for (size_t length = 0; length < text.size(); ++length) {
    WriteBytes(folder_ / "c", ToBytes(text.substr(0, length)));
    EXPECT_THROW(Calibration::Load(folder_ / "c"), FormatError) << text.substr(0, length);
  }
}

TEST_F(CalibrationTest, LongFilesAreRefused) {
  std::string text = ExampleText();
  text.resize(size_t{1} << 20, ' ');
  WriteBytes(folder_ / "c", ToBytes(text));
  EXPECT_NO_THROW(Calibration::Load(folder_ / "c"));
  WriteBytes(folder_ / "c", ToBytes(text + " "));
  ExpectFormatError([&] { Calibration::Load(folder_ / "c"); }, "length", uint64_t{1} << 20);
}

TEST_F(CalibrationTest, FilesThatCannotBeReadOrWritten) {
  ExpectError([&] { Calibration::Load(folder_ / "none"); }, ErrorCode::kIo, "cannot open");
  ExpectError([&] { Calibration::Load(folder_.path()); }, ErrorCode::kIo, "Is a directory");
  WriteBytes(folder_ / "file", {});
  ExpectError([&] { Calibration().Save(folder_ / "file/c"); }, ErrorCode::kIo, "file");
  ExpectError([&] { Calibration().Save(folder_.path()); }, ErrorCode::kIo, "cannot write");
  EXPECT_EQ(folder_.NumFiles(), 1u);
}

TEST_F(CalibrationTest, InvalidMeasurementsAreNotSaved) {
  for (const double value :
       {0.0, -1.0, 1e7, std::nan(""), std::numeric_limits<double>::infinity()}) {
    Calibration calibration = Example();
    calibration.points[2].insert_ns = value;
    ExpectError([&] { calibration.Save(folder_ / "c"); }, ErrorCode::kInvalidArgument,
                "insert_ns is ");
  }
  EXPECT_EQ(folder_.NumFiles(), 0u);
}

TEST_F(CalibrationTest, DefaultPathFollowsTheEnvironment) {
  if (!test_os::FollowsXdg()) {
    const ScopedEnv local("LOCALAPPDATA", "C:\\me\\Local");
    EXPECT_EQ(Calibration::DefaultPath(), "C:\\me\\Local/tamis/calibration.json");
    return;
  }
  ScopedEnv xdg("XDG_CACHE_HOME", "/x/cache");
  ScopedEnv home("HOME", "/users/me");
  EXPECT_EQ(Calibration::DefaultPath(), "/x/cache/tamis/calibration.json");
  for (const char* unusable : {static_cast<const char*>(nullptr), "", "relative"}) {
    xdg.Set(unusable);
    EXPECT_EQ(Calibration::DefaultPath(), "/users/me/.cache/tamis/calibration.json");
  }
  home.Set(nullptr);
  ExpectError([] { Calibration::DefaultPath(); }, ErrorCode::kIo, "XDG_CACHE_HOME");
}

TEST_F(CalibrationTest, MeasuresThisMachine) {
  const ScopedEnv backend("TAMIS_BACKEND", nullptr);
  const ScopedEnv threads("TAMIS_THREADS", "2");
  const Calibration measured = Calibration::Measure(uint64_t{1} << 20);
  EXPECT_NO_THROW(measured.Validate());
  EXPECT_NE(measured.machine, Calibration().machine);
  std::set<std::string> backends;
  for (const Calibration::Point& point : measured.points) backends.insert(point.backend);
  EXPECT_EQ(backends.size(), Backends().size());
  // There are split-block, cuckoo, classic, counting and fuse filters, of 256 KiB and 1 MiB.
  EXPECT_EQ(measured.points.size(), 5 * 2 * Backends().size());
  for (const Calibration::Point& point : measured.points) {
    if (!KindInfo(point.kind).is_static) continue;
    EXPECT_EQ(point.insert_ns, point.partitioned_insert_ns) << "both are the cost of building";
    EXPECT_TRUE(std::has_single_bit((point.filter_bytes >> 18) + 1)) << point.filter_bytes;
  }
  EXPECT_GT(measured.thread_start_us, 0);

  measured.Save(folder_ / "c");
  const Engine engine({.calibration = Calibration::Load(folder_ / "c")});
  const SplitBlockBloomFilter filter({.bytes = 1 << 16});
  EXPECT_NE(engine.PlanCall(filter, 1000).reason.find(measured.machine), std::string::npos);
}

TEST_F(CalibrationTest, MeasureRefusesSizesOutOfRange) {
  for (const uint64_t bytes : {uint64_t{0}, (uint64_t{256} << 10) - 1, ~uint64_t{0}}) {
    ExpectError([&] { Calibration::Measure(bytes); }, ErrorCode::kInvalidArgument,
                std::to_string(bytes));
  }
}

}  // namespace tamis::calibration_test
