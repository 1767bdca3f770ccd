// Keys in columns of each type: their bytes, hashes and order.
#include "tamis/parquet/column_keys.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/error.h"
#include "tamis/hash.h"
#include "tamis/parquet/bloom_filter.h"
#include "tests/parquet/parquet_maker.h"

namespace tamis::parquet::column_keys_test {

using namespace std::string_literals;
using namespace std::string_view_literals;
using Kind = LogicalType::Kind;
using Texts = std::vector<std::string_view>;

Column ColumnOf(PhysicalType physical, LogicalType logical = {}, uint32_t width = 0) {
  return {.physical = physical, .width = width, .logical = logical};
}

LogicalType UnitOf(Kind kind, TimeUnit unit) { return {.kind = kind, .unit = unit}; }
LogicalType IntegerOf(int bits, bool is_signed) {
  return {.kind = Kind::kInteger, .bit_width = bits, .is_signed = is_signed};
}
LogicalType DecimalOf(int32_t precision, int32_t scale) {
  return {.kind = Kind::kDecimal, .scale = scale, .precision = precision};
}

// Expects that the keys are stored as these bytes, in the order of their type.
void ExpectStored(const ColumnKeys& keys, const std::vector<std::string>& stored) {
  ASSERT_EQ(keys.size(), stored.size());
  for (size_t i = 0; i < stored.size(); ++i) {
    EXPECT_EQ(keys.hashes()[i], HashBytes(stored[i], kFilterHash)) << "position " << i;
  }
}

void ExpectText(const Column& column, const Texts& texts, const std::vector<std::string>& stored,
                uint64_t misfits = 0) {
  SCOPED_TRACE(TypeText(column));
  const ColumnKeys keys(column, KeyList::Text(texts));
  ExpectStored(keys, stored);
  EXPECT_EQ(keys.misfits(), misfits);
}

const Column kInt32 = ColumnOf(PhysicalType::kInt32);
const Column kInt64 = ColumnOf(PhysicalType::kInt64);
const Column kFloat = ColumnOf(PhysicalType::kFloat);
const Column kDouble = ColumnOf(PhysicalType::kDouble);
const Column kString = ColumnOf(PhysicalType::kByteArray, {.kind = Kind::kString});

TEST(ColumnKeysTest, IntegersOfEveryWidth) {
  ExpectText(kInt32, {"7", "-1", "2147483647", "2147483648", "1.5", "", "x", "+7"},
             {Plain(int32_t{-1}), Plain(int32_t{7}), Plain(int32_t{2147483647})}, 4);
  // Whole numbers as written by programs that store them as floating-point numbers.
  ExpectText(kInt64,
             {" 42.0", "-4.20e1 ", "1e3", "5.", "1e-1", "1e", "e1", "1e99", "0e9", "-70e-1"},
             {Plain(int64_t{-42}), Plain(int64_t{-7}), Plain(int64_t{0}), Plain(int64_t{5}),
              Plain(int64_t{42}), Plain(int64_t{1000})},
             4);
  ExpectText(
      kInt64, {"9223372036854775807", "-9223372036854775808", "9223372036854775808"},
      {Plain(std::numeric_limits<int64_t>::min()), Plain(std::numeric_limits<int64_t>::max())}, 1);
  ExpectText(ColumnOf(PhysicalType::kInt32, IntegerOf(8, true)), {"-128", "127", "128", "-129"},
             {Plain(int32_t{-128}), Plain(int32_t{127})}, 2);
  ExpectText(ColumnOf(PhysicalType::kInt32, IntegerOf(16, false)), {"65535", "65536", "-1", "0"},
             {Plain(int32_t{0}), Plain(int32_t{65535})}, 2);
  ExpectText(ColumnOf(PhysicalType::kInt32, IntegerOf(32, false)), {"4294967295", "4294967296"},
             {Plain(uint32_t{4294967295})}, 1);
  ExpectText(ColumnOf(PhysicalType::kInt64, IntegerOf(64, false)), {"18446744073709551615", "-1"},
             {Plain(std::numeric_limits<uint64_t>::max())}, 1);
}

TEST(ColumnKeysTest, NumbersOfPrograms) {
  const std::vector<int64_t> integers = {-3, 5, int64_t{1} << 40};
  ExpectStored(ColumnKeys(kInt32, KeyList::Integers(integers)),
               {Plain(int32_t{-3}), Plain(int32_t{5})});
  ExpectStored(ColumnKeys(kDouble, KeyList::Integers(integers)),
               {Plain(-3.0), Plain(5.0), Plain(std::ldexp(1.0, 40))});
  const std::vector<uint64_t> large = {std::numeric_limits<uint64_t>::max(), 2};
  const ColumnKeys few(kInt64, KeyList::Unsigned(large));
  ExpectStored(few, {Plain(int64_t{2})});
  EXPECT_EQ(few.KeyAt(0), 1u);
  EXPECT_EQ(few.misfits(), 1u);
  EXPECT_EQ(few.first_misfits()[0], 0u);
  const std::vector<double> doubles = {2.0, 2.5, 1e300, -4.0, std::nan("")};
  const ColumnKeys whole(kInt64, KeyList::Doubles(doubles));
  ExpectStored(whole, {Plain(int64_t{-4}), Plain(int64_t{2})});
  EXPECT_EQ(whole.misfits(), 3u);
  EXPECT_EQ(ColumnKeys(kFloat, KeyList::Doubles(doubles)).misfits(), 1u);  // 1e300
  const std::vector<double> nearest = {3.4028235e38, 1e-60};
  ExpectStored(ColumnKeys(kFloat, KeyList::Doubles(nearest)),
               {Plain(0.0f), Plain(-0.0f), Plain(std::numeric_limits<float>::max())});
}

TEST(ColumnKeysTest, BothZerosAndNotANumber) {
  ExpectText(kDouble, {"1.5", "0", "-2", "-0.0", "inf", "+-7"},
             {Plain(-2.0), Plain(0.0), Plain(-0.0), Plain(1.5),
              Plain(std::numeric_limits<double>::infinity())},
             1);
  for (const Column& column : {kDouble, kFloat, kInt32, kInt64}) {
    ExpectText(column, {"500e+-2", "5e+-0", "+-5", "5e++0", "5e-+0", "5e+", "5e"}, {}, 7);
  }
  ExpectText(kFloat, {"0.1", "-0", "1e39"}, {Plain(0.0f), Plain(-0.0f), Plain(0.1f)}, 1);
  ExpectText(kFloat, {"1e-60"}, {Plain(0.0f), Plain(-0.0f)});
  ExpectText(kDouble, {"-1e-400", "1e400", " 2\t"}, {Plain(0.0), Plain(-0.0), Plain(2.0)}, 1);
  const std::string zeros(400, '0');
  for (const std::string& small :
       {std::string("1e-5000"), std::string("0e5000"), std::string("9.9E-99999999999999999999"),
        "0." + zeros + "1", "." + zeros + "1e+50", "1" + zeros + "e-800", "00" + zeros + ".1e-400",
        "1" + zeros + ".0e-9223372036854775808"}) {
    SCOPED_TRACE(small);
    ExpectText(kDouble, {small}, {Plain(0.0), Plain(-0.0)});
    ExpectText(kFloat, {"-" + small}, {Plain(0.0f), Plain(-0.0f)});
  }
  for (const std::string& large :
       {std::string("1e5000"), std::string("1.1e99999999999999999999"), "1" + zeros,
        "-" + zeros + "1" + zeros, "0." + zeros + "1e+9223372036854775807",
        "0.0" + zeros + "1e801"}) {
    SCOPED_TRACE(large);
    ExpectText(kDouble, {large}, {}, 1);
    ExpectText(kFloat, {large}, {}, 1);
  }
  const std::vector<double> doubles = {1, std::nan(""), 0, std::nan("")};
  const ColumnKeys keys(kDouble, KeyList::Doubles(doubles));
  EXPECT_EQ(std::vector<uint32_t>(keys.not_numbers().begin(), keys.not_numbers().end()),
            (std::vector<uint32_t>{1, 3}));
  EXPECT_EQ(keys.zero(), 0u);
  EXPECT_EQ(keys.KeyAt(0), 2u);
  EXPECT_EQ(keys.KeyAt(1), 2u);
  EXPECT_EQ(keys.KeyAt(2), 0u);
}

TEST(ColumnKeysTest, DatesAndTimes) {
  const Column date = ColumnOf(PhysicalType::kInt32, {.kind = Kind::kDate});
  ExpectText(date, {"1970-01-02", "1969-12-31", "2024-02-29", "2023-02-29", "2024-13-01", "12"},
             {Plain(int32_t{-1}), Plain(int32_t{1}), Plain(int32_t{12}), Plain(int32_t{19782})}, 2);
  ExpectText(date,
             {"-4713-11-24", "0000-03-01", "12345-01-01", "1970-01-03 00:00:00",
              "1970-01-04T00:00Z", "1970-01-05 00:01", "1234567890-01-01", "1900-02-29"},
             {Plain(int32_t{-2440588}), Plain(int32_t{-719468}), Plain(int32_t{2}),
              Plain(int32_t{3}), Plain(int32_t{3789391})},
             3);
  const Column millis = ColumnOf(PhysicalType::kInt64, UnitOf(Kind::kTimestamp, TimeUnit::kMillis));
  ExpectText(
      millis,
      {"1970-01-01 00:00:01.5", "1970-01-01T01:00+01:00", "1970-01-01T00:00:00.0001Z",
       "1969-12-31 23:59:59.999", "1970-01-01 24:00", "1970-01-01 24:01", "1970-01-01x",
       "1970-01-01 00:00 UTC", "1970-01-01 00:00 +"},
      {Plain(int64_t{-1}), Plain(int64_t{0}), Plain(int64_t{1500}), Plain(int64_t{86400000})}, 4);
  const Column nanos = ColumnOf(PhysicalType::kInt64, UnitOf(Kind::kTimestamp, TimeUnit::kNanos));
  ExpectText(nanos, {"2026-01-31", "9999-01-01", "1970-01-01 00:00:00.000000001"},
             {Plain(int64_t{1}), Plain(int64_t{1769817600'000'000'000})}, 1);
  ExpectText(ColumnOf(PhysicalType::kInt32, UnitOf(Kind::kTime, TimeUnit::kMillis)),
             {"12:30", "00:00:00.001", "23:59:60", "24:00", "01:00+02", "24:00:00.1"},
             {Plain(int32_t{1}), Plain(int32_t{45000000}), Plain(int32_t{82800000}),
              Plain(int32_t{86400000})},
             2);
  const std::vector<int64_t> micros = {1'000'000, 1, -2000};
  const KeyList list = KeyList::Timestamps(micros, TimeUnit::kMicros);
  const ColumnKeys in_millis(millis, list);
  ExpectStored(in_millis, {Plain(int64_t{-2}), Plain(int64_t{1000})});
  EXPECT_EQ(in_millis.misfits(), 1u);
  ExpectStored(ColumnKeys(nanos, list),
               {Plain(int64_t{-2'000'000}), Plain(int64_t{1000}), Plain(int64_t{1'000'000'000})});
  EXPECT_EQ(ColumnKeys(date, list).misfits(), 3u);
}

TEST(ColumnKeysTest, Decimals) {
  ExpectText(ColumnOf(PhysicalType::kInt32, DecimalOf(9, 2)),
             {"12.34", "-0.5", "1", "1.230", "1.234", "30000000", "."},
             {Plain(int32_t{-50}), Plain(int32_t{100}), Plain(int32_t{123}), Plain(int32_t{1234})},
             3);
  ExpectText(ColumnOf(PhysicalType::kFixedLenByteArray, DecimalOf(6, 1), 3),
             {"-0.1", "12.8", "0", "838860.7", "838860.8", "-838860.8", "-838860.9"},
             {"\x80\0\0"s, "\xFF\xFF\xFF"s, "\0\0\0"s, "\0\0\x80"s, "\x7F\xFF\xFF"s}, 2);
  const std::vector<int64_t> integers = {-1, 2};
  ExpectStored(ColumnKeys(ColumnOf(PhysicalType::kFixedLenByteArray, DecimalOf(6, 2), 2),
                          KeyList::Integers(integers)),
               {"\xFF\x9C"s, "\0\xC8"s});
}

TEST(ColumnKeysTest, BytesAndUuids) {
  ExpectText(kString, {"b", "", "a", "\xFF", "b"}, {"", "a", "b", "\xFF"});
  ExpectText(ColumnOf(PhysicalType::kFixedLenByteArray, {}, 2), {"ab", "abc", ""}, {"ab"}, 2);
  const Column uuid = ColumnOf(PhysicalType::kFixedLenByteArray, {.kind = Kind::kUuid}, 16);
  const std::string stored = "\x12\x3e\x45\x67\xe8\x9b\x12\xd3\xa4\x56\x42\x66\x14\x17\x40\x00"s;
  ExpectText(uuid,
             {"123e4567-e89b-12d3-a456-426614174000", "123E4567E89B12D3A456426614174000",
              "123e4567-e89b-12d3-a456-42661417400", "123e4567+e89b-12d3-a456-426614174000"},
             {stored}, 2);
  const Texts raw = {stored};
  ExpectStored(ColumnKeys(uuid, KeyList::Bytes(raw)), {stored});
}

TEST(ColumnKeysTest, TypesThatCannotBeAsked) {
  const Texts texts = {"1"};
  for (const Column& column :
       {ColumnOf(PhysicalType::kBoolean), ColumnOf(PhysicalType::kInt96),
        ColumnOf(PhysicalType::kByteArray, DecimalOf(5, 1)),
        ColumnOf(PhysicalType::kFixedLenByteArray, {.kind = Kind::kFloat16}, 2),
        ColumnOf(PhysicalType::kInt64, {.kind = Kind::kOther})}) {
    EXPECT_THROW(ColumnKeys(column, KeyList::Text(texts)), Error) << TypeText(column);
  }
}

TEST(ColumnKeysTest, TheFirstTenMisfitsAreNamed) {
  Texts texts(25, "none");
  texts[3] = "4";
  const ColumnKeys keys(kInt32, KeyList::Text(texts));
  EXPECT_EQ(keys.misfits(), 24u);
  ASSERT_EQ(keys.first_misfits().size(), 10u);
  EXPECT_EQ(keys.first_misfits()[2], 2u);
  EXPECT_EQ(keys.first_misfits()[3], 4u);
}

TEST(ColumnKeysTest, BoundsLeaveTheKeysWithinThem) {
  const auto within = [](const ColumnKeys& keys, std::optional<std::string> min,
                         std::optional<std::string> max) {
    Statistics statistics;
    if (min) statistics.min = *min;
    if (max) statistics.max = *max;
    return keys.Within(statistics);
  };
  using Range = std::pair<size_t, size_t>;
  const Texts texts = {"-5", "0", "5", "10"};
  const ColumnKeys integers(kInt32, KeyList::Text(texts));
  EXPECT_EQ(within(integers, Plain(int32_t{-4}), Plain(int32_t{5})), Range(1, 3));
  EXPECT_EQ(within(integers, Plain(int32_t{11}), std::nullopt), Range(4, 4));
  EXPECT_EQ(within(integers, std::nullopt, Plain(int32_t{-5})), Range(0, 1));
  EXPECT_EQ(within(integers, Plain(int32_t{5}), Plain(int32_t{4})), Range(0, 4)) << "no sense";
  EXPECT_EQ(within(integers, Plain(int64_t{5}), std::nullopt), Range(0, 4)) << "another width";
  const Texts halves = {"-0.5", "0", "0.5"};
  const ColumnKeys doubles(kDouble, KeyList::Text(halves));
  EXPECT_EQ(within(doubles, Plain(0.0), Plain(0.1)), Range(1, 3)) << "both zeros";
  EXPECT_EQ(within(doubles, Plain(-1.0), Plain(-0.0)), Range(0, 3));
  EXPECT_EQ(within(doubles, Plain(std::nan("")), Plain(-1.0)), Range(0, 4)) << "no bounds";
  const ColumnKeys large(ColumnOf(PhysicalType::kInt32, IntegerOf(32, false)),
                         KeyList::Text(texts));
  EXPECT_EQ(within(large, Plain(uint32_t{5}), Plain(uint32_t{4000000000})), Range(1, 3));
  const Texts words = {"apple", "pear", "\xC3\xA4"};
  const ColumnKeys strings(kString, KeyList::Text(words));
  EXPECT_EQ(within(strings, "b", "q"), Range(1, 2));
  EXPECT_EQ(within(strings, "app", "apq"), Range(0, 1)) << "a bound that was cut";
  EXPECT_EQ(within(strings, "q", std::nullopt), Range(2, 3)) << "bytes are unsigned";
  const Texts amounts = {"-1", "1"};
  const ColumnKeys decimals(ColumnOf(PhysicalType::kFixedLenByteArray, DecimalOf(4, 0), 2),
                            KeyList::Text(amounts));
  EXPECT_EQ(within(decimals, "\xFF\xFE"s, "\0\0"s), Range(0, 1)) << "of decimals signed";
  EXPECT_EQ(within(decimals, "\0\0"s, std::nullopt), Range(1, 2));
  EXPECT_EQ(within(decimals, "\0"s, std::nullopt), Range(0, 2)) << "cut, so no bound";
}

}  // namespace tamis::parquet::column_keys_test
