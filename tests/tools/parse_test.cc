// Numbers as people write and read them.
#include "tools/options/parse.h"

#include <gtest/gtest.h>
#include <tamis/error.h>

#include <string>

#include "tools/output/format.h"
#include "tools/output/progress.h"

namespace tamis::tools::parse_test {

constexpr uint64_t kMax = ~uint64_t{0};

template <typename F>
void ExpectRefused(const F& parse, const std::string& text) {
  try {
    parse("--option", text);
    ADD_FAILURE() << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(std::string(error.what()).rfind("--option: ", 0), 0U) << error.what();
  }
}

TEST(ParseTest, Counts) {
  const auto parse = [](const char* text) { return ParseCount("--n", text); };
  EXPECT_EQ(parse("0"), 0U);
  EXPECT_EQ(parse("007"), 7U);
  EXPECT_EQ(parse("18446744073709551615"), kMax);
  EXPECT_EQ(parse("1_000"), 1000U);
  EXPECT_EQ(parse("5e9"), 5'000'000'000U);
  EXPECT_EQ(parse("1.25E+2"), 125U);
  EXPECT_EQ(parse("1200e-2"), 12U);
  EXPECT_EQ(parse("2.50k"), 2500U);
  EXPECT_EQ(parse("18.446744073709551615e18"), kMax);
  EXPECT_EQ(parse("3T"), 3'000'000'000'000U);
  EXPECT_EQ(parse("0e30"), 0U);
  for (const char* bad : {"",      " ",     "x",
                          "-1",    "+1",    "1.5",
                          "1e-1",  "1e",    "1e+",
                          "1e++1", ".5",    "5.",
                          "1_",    "_1",    "1__2",
                          "1 2",   "1,000", "18446744073709551616",
                          "1e20",  "1e31",  "1e99999999999",
                          "k",     "1kk",   "1Q",
                          "0x10",  "1.2.3", "inf",
                          "nan",   "10e+-1"}) {
    ExpectRefused(ParseCount, bad);
  }
  ExpectRefused(ParsePositiveCount, "0");
}

TEST(ParseTest, Bytes) {
  const auto parse = [](const char* text) { return ParseBytes("--bytes", text); };
  EXPECT_EQ(parse("100"), 100U);
  EXPECT_EQ(parse("1K"), 1024U);
  EXPECT_EQ(parse("1KiB"), 1024U);
  EXPECT_EQ(parse("1kB"), 1000U);
  EXPECT_EQ(parse("1KB"), 1000U);
  EXPECT_EQ(parse("3M"), 3U << 20);
  EXPECT_EQ(parse("3MB"), 3'000'000U);
  EXPECT_EQ(parse("1.5GB"), 1'500'000'000U);
  EXPECT_EQ(parse("2T"), uint64_t{2} << 40);
  for (const char* bad : {"", "0", "B", "1B", "1k", "M", "1.5", "-1", "1 M", "99999999999G"}) {
    ExpectRefused(ParseBytes, bad);
  }
}

TEST(ParseTest, Rates) {
  EXPECT_EQ(ParseFpr("--fpr", "0.01"), 0.01);
  EXPECT_EQ(ParseFpr("--fpr", "1%"), 0.01);
  EXPECT_EQ(ParseFpr("--fpr", "1e-9"), 1e-9);
  EXPECT_EQ(ParseFpr("--fpr", "50%"), 0.5);
  for (const char* bad :
       {"", "0", "0.51", "1", "-0.1", "1e-13", "nan", "inf", "0.1x", "%", "1%%"}) {
    ExpectRefused(ParseFpr, bad);
  }
}

TEST(ParseTest, SeedsRangesAndThreads) {
  EXPECT_EQ(ParseSeed("--seed", "42"), 42U);
  EXPECT_EQ(ParseSeed("--seed", "0xff"), 255U);
  EXPECT_NE(ParseSeed("--seed", "random"), ParseSeed("--seed", "random"));
  for (const char* bad : {"", "0x", "-1", "1e3", "0x1_0", "Random"}) ExpectRefused(ParseSeed, bad);

  const KeyRange range = ParseRange("--range", "10:1e3");
  EXPECT_EQ(range.low, 10U);
  EXPECT_EQ(range.high, 1000U);
  EXPECT_EQ(range.size(), 991);
  EXPECT_EQ(ParseRange("--range", "0:18446744073709551615").size(), 0x1p64);
  for (const char* bad : {"", "5", ":", "5:", ":5", "6:5", "1:2:3"}) ExpectRefused(ParseRange, bad);

  EXPECT_EQ(ParseDigits("--digits", "11").high, 99'999'999'999U);
  EXPECT_EQ(ParseDigits("--digits", "19").high, 9'999'999'999'999'999'999U);
  for (const char* bad : {"", "0", "20", "x", "1e1"}) ExpectRefused(ParseDigits, bad);

  EXPECT_EQ(ParseThreads("--threads", "1024"), 1024U);
  for (const char* bad : {"", "0", "1025", "-1", "2x"}) ExpectRefused(ParseThreads, bad);
}

TEST(ParseTest, Times) {
  using std::chrono::system_clock;
  EXPECT_EQ(ParseTime("--t", "1970-01-01T00:00:00Z"), system_clock::from_time_t(0));
  EXPECT_EQ(ParseTime("--t", "1970-01-02T00:00:01Z"), system_clock::from_time_t(86'401));
  EXPECT_EQ(ParseTime("--t", "2024-02-29T23:59:59Z"), system_clock::from_time_t(1'709'251'199));
  const auto before = system_clock::now();
  const auto day = ParseTime("--t", "24h"), same = ParseTime("--t", "1d");
  EXPECT_GE(day, before + std::chrono::hours(24));
  EXPECT_LE(same, system_clock::now() + std::chrono::hours(24));
  EXPECT_GE(ParseTime("--t", "90s"), before + std::chrono::seconds(90));
  EXPECT_GE(ParseTime("--t", "30m"), before + std::chrono::minutes(30));
  for (const char* const wrong :
       {"", "h", "7", "-1h", "1y", "1.5h", "1e30d", "99999999999d", "2023-02-29T00:00:00Z",
        "2024-13-01T00:00:00Z", "2024-01-01T24:00:00Z", "2024-01-01T00:60:00Z",
        "2024-01-01T00:00:00", "2024-01-01 00:00:00Z", "9999-01-01T00:00:00Z",
        "2024-01-01T00:00:00+1", "0425-12-31T23:59:59Z", "1969-12-31T23:59:59Z"}) {
    EXPECT_THROW(ParseTime("--t", wrong), Error) << wrong;
  }
}

TEST(FormatTest, Numbers) {
  EXPECT_EQ(WithCommas(0), "0");
  EXPECT_EQ(WithCommas(999), "999");
  EXPECT_EQ(WithCommas(1000), "1,000");
  EXPECT_EQ(WithCommas(kMax), "18,446,744,073,709,551,615");
}

TEST(FormatTest, QuotedTextIsShortAndPrintable) {
  EXPECT_EQ(Counted(1, "key"), "1 key");
  EXPECT_EQ(Counted(1000, "key"), "1,000 keys");
  EXPECT_EQ(Quoted("a b"), "\"a b\"");
  EXPECT_EQ(Quoted(std::string_view("\x1B[2J\0", 5)), "\"\\x1B[2J\\x00\"");
  EXPECT_EQ(Quoted("a\xC2\xA0\xE2\x80\x8B\xE3\x80\x80"),
            "\"a\\xC2\\xA0\\xE2\\x80\\x8B\\xE3\\x80\\x80\"");
  EXPECT_EQ(Quoted("\xC2\xADx\xE2\x80\xAE\xEF\xBB\xBF"),
            "\"\\xC2\\xADx\\xE2\\x80\\xAE\\xEF\\xBB\\xBF\"");
  EXPECT_EQ(Quoted("caf\xC3\xA9 \xE2\x80\x94 \xE2\x82\xAC \xC2"),
            "\"caf\xC3\xA9 \xE2\x80\x94 \xE2\x82\xAC \xC2\"");
  EXPECT_EQ(Quoted(std::string(41, 'x')), "\"" + std::string(40, 'x') + "...\"");
}

TEST(ProgressTest, ShowsRateAndTimeLeft) {
  const Progress bytes("reading", Progress::Unit::kBytes, 400 << 20, /*quiet=*/true);
  EXPECT_EQ(bytes.Line(100 << 20, 2),
            "reading  [######..................]  25%  50.0 MiB/s  6.00 s left");
  EXPECT_EQ(bytes.Line(400 << 20, 8), "reading  [########################] 100%  50.0 MiB/s");
  EXPECT_EQ(bytes.Line(401 << 20, 8), "reading  [########################] 100%  50.1 MiB/s");
  const Progress keys("building", Progress::Unit::kKeys, 0, /*quiet=*/true);
  EXPECT_EQ(keys.Line(5'000'000, 2), "building  5.00 M keys  2.50 M keys/s");
  EXPECT_EQ(keys.Line(0, 0), "building  0 keys  0 keys/s");
}

}  // namespace tamis::tools::parse_test
