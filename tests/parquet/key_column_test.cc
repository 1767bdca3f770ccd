// A column of a file as keys: the text of a value of each type is read as the same value.
#include "tamis/parquet/key_column.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "parquet/src/stored_text.h"
#include "parquet/src/stored_value.h"
#include "tamis/error.h"
#include "tamis/hash.h"
#include "tamis/parquet/bloom_filter.h"
#include "tamis/parquet/column_keys.h"
#include "tests/parquet/parquet_maker.h"
#include "tests/parquet/plain_file.h"

namespace tamis::parquet::key_column_test {

using namespace std::string_literals;
using Kind = LogicalType::Kind;

Column ColumnOf(PhysicalType physical, LogicalType logical = {}, uint32_t width = 0) {
  return {.name = "key", .physical = physical, .width = width, .logical = logical};
}

// Expects that the text is the value of these bytes in the same column.
void ExpectSame(const Column& column, const std::string& text, const std::string& stored) {
  const std::vector<std::string_view> texts = {text};
  const ColumnKeys keys(column, KeyList::Text(texts));
  ASSERT_EQ(keys.misfits(), 0u) << TypeText(column) << ": " << text;
  if (!keys.not_numbers().empty()) return;
  const bool found = std::ranges::count(keys.hashes(), HashBytes(stored, kFilterHash)) == 1;
  EXPECT_TRUE(found) << TypeText(column) << ": " << text;
}

std::vector<uint64_t> ManyBits(bool narrow) {
  std::vector<uint64_t> all = {0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
  std::mt19937_64 random(19);
  for (int i = 0; i < 2000; ++i) all.push_back(random() >> random() % 64);
  for (uint64_t near = 0; near < 3; ++near) {
    all.push_back((uint64_t{1} << 63) + near);
    all.push_back((uint64_t{1} << 63) - 1 - near);
    all.push_back(~near);
  }
  for (uint64_t& bits : all) bits &= narrow ? 0xFFFFFFFF : ~uint64_t{0};
  return all;
}

TEST(KeyColumnTest, NumbersAreReadAsTheSame) {
  std::vector<Column> columns;
  for (const PhysicalType physical : {PhysicalType::kInt32, PhysicalType::kInt64}) {
    const int bits = physical == PhysicalType::kInt32 ? 32 : 64;
    columns.push_back(ColumnOf(physical));
    columns.push_back(ColumnOf(physical, {.kind = Kind::kDate}));
    for (const bool is_signed : {false, true}) {
      columns.push_back(
          ColumnOf(physical, {.kind = Kind::kInteger, .bit_width = bits, .is_signed = is_signed}));
    }
    for (const int32_t scale : {0, 1, 4, 30}) {
      columns.push_back(ColumnOf(physical, {.kind = Kind::kDecimal, .scale = scale}));
    }
    for (const TimeUnit unit : {TimeUnit::kMillis, TimeUnit::kMicros, TimeUnit::kNanos}) {
      columns.push_back(ColumnOf(physical, {.kind = Kind::kTimestamp, .unit = unit}));
    }
  }
  columns.push_back(ColumnOf(PhysicalType::kFloat));
  columns.push_back(ColumnOf(PhysicalType::kDouble));
  for (const Column& column : columns) {
    const bool narrow =
        column.physical == PhysicalType::kInt32 || column.physical == PhysicalType::kFloat;
    // Years of more than nine digits, and the 400 years before and after them, are not dates.
    const bool wide_date = column.logical.kind == Kind::kDate && !narrow;
    for (const uint64_t bits : ManyBits(narrow)) {
      if (wide_date && std::abs(static_cast<double>(static_cast<int64_t>(bits))) > 3e11) continue;
      ExpectSame(column, TextOfNumber(column, bits),
                 narrow ? Plain(static_cast<uint32_t>(bits)) : Plain(bits));
    }
  }
}

TEST(KeyColumnTest, TimesOfADayAreReadAsTheSame) {
  for (const TimeUnit unit : {TimeUnit::kMicros, TimeUnit::kNanos}) {
    const Column column = ColumnOf(PhysicalType::kInt64, {.kind = Kind::kTime, .unit = unit});
    const uint64_t day = unit == TimeUnit::kMicros ? 86'400'000'000 : 86'400'000'000'000;
    for (uint64_t i = 0; i <= 1000; ++i) {
      ExpectSame(column, TextOfNumber(column, day / 1000 * i), Plain(day / 1000 * i));
    }
    const std::string none = TextOfNumber(column, day + 3'600'000'000'000);
    const std::vector<std::string_view> texts = {none};
    EXPECT_EQ(ColumnKeys(column, KeyList::Text(texts)).misfits(), 1u) << none;
  }
}

TEST(KeyColumnTest, BytesAreReadAsTheSame) {
  std::mt19937_64 random(4);
  for (uint32_t width = 1; width <= 32; ++width) {
    const Column decimal =
        ColumnOf(PhysicalType::kFixedLenByteArray, {.kind = Kind::kDecimal, .scale = 5}, width);
    const Column bytes = ColumnOf(PhysicalType::kFixedLenByteArray, {}, width);
    for (int i = 0; i < 40; ++i) {
      std::string value(width, i == 0 ? '\0' : i == 1 ? '\xFF' : '\x80');
      for (char& c : value) c = i < 3 ? c : static_cast<char>(random());
      if (i == 3) value = '\x80' + std::string(width - 1, '\0');
      ExpectSame(decimal, TextOfBytes(decimal, value), value);
      ExpectSame(bytes, TextOfBytes(bytes, value), value);
    }
  }
  const Column uuid = ColumnOf(PhysicalType::kFixedLenByteArray, {.kind = Kind::kUuid}, 16);
  const std::string sixteen = "\0\xFF"s + "23456789abcdef";
  EXPECT_EQ(TextOfBytes(uuid, sixteen), "00ff3233-3435-3637-3839-616263646566");
  ExpectSame(uuid, TextOfBytes(uuid, sixteen), sixteen);
  // Values of any length cannot be queried, but they can be keys of a list.
  const Column any = ColumnOf(PhysicalType::kByteArray, {.kind = Kind::kDecimal, .scale = 2});
  EXPECT_EQ(TextOfBytes(any, "\xFF"s), "-0.01");
  EXPECT_EQ(TextOfBytes(any, "\x04\xD2"s), "12.34");
  EXPECT_EQ(TextOfBytes(any, ""), "0.00");
}

TEST(KeyColumnTest, EachValueOnce) {
  const Folder folder;
  const PlainFile file = {
      .columns = {{"id", PhysicalType::kInt64}, {"name", PhysicalType::kByteArray}},
      .row_groups = {{{.integers = {7, -1, 7}, .nulls = 2}, {.strings = {"a", "", "b"}}},
                     {{.integers = {8, 7}}, {.strings = {"c", "a"}, .nulls = 1}}}};
  const auto path = folder.Write("keys.parquet", file.Bytes());
  const KeyColumn ids = ReadKeyColumn(path, 0, OpenPlainValues);
  std::vector<std::string_view> texts(ids.texts().begin(), ids.texts().end());
  std::sort(texts.begin(), texts.end());
  EXPECT_EQ(texts, (std::vector<std::string_view>{"-1", "7", "8"}));
  EXPECT_EQ(ids.values(), 7u);
  EXPECT_EQ(ids.nulls(), 2u);
  const KeyColumn names = ReadKeyColumn(path, 1, OpenPlainValues);
  EXPECT_EQ(std::vector<std::string_view>(names.texts().begin(), names.texts().end()),
            (std::vector<std::string_view>{"a", "", "b", "c"}));
}

// More values than fit into one block of memory, in many batches.
TEST(KeyColumnTest, ManyValues) {
  const Folder folder;
  PlainFile file = {.columns = {{"id", PhysicalType::kInt64}, {"name", PhysicalType::kByteArray}}};
  for (int64_t group = 0; group < 3; ++group) {
    PlainChunk ids, names;
    for (int64_t i = 0; i < 600'000; ++i) ids.integers.push_back((group * 200'000 + i) << 20);
    for (int i = 0; i < 3; ++i)
      names.strings.push_back(std::string(900'000, static_cast<char>('a' + i)));
    file.row_groups.push_back({ids, names});
  }
  const auto path = folder.Write("keys.parquet", file.Bytes());
  const KeyColumn ids = ReadKeyColumn(path, 0, OpenPlainValues);
  ASSERT_EQ(ids.texts().size(), 1'000'000u);
  for (size_t i = 0; i < ids.texts().size(); i += 999) {
    EXPECT_EQ(ids.texts()[i], std::to_string(uint64_t{i} << 20));
  }
  const KeyColumn names = ReadKeyColumn(path, 1, OpenPlainValues);
  ASSERT_EQ(names.texts().size(), 3u);
  EXPECT_EQ(names.texts()[1], std::string(900'000, 'b'));
}

// Yields fewer values than the footer states, or bytes in a column of numbers.
class WrongValues final : public ColumnValues {
 public:
  explicit WrongValues(bool bytes) : bytes_(bytes) {}
  uint64_t Read(size_t, size_t, const Take& take) override {
    const std::vector<int64_t> one = {1};
    const std::vector<std::string_view> text = {"x"};
    bytes_ ? take(text) : take(one);
    return 1;
  }

 private:
  bool bytes_;
};

TEST(KeyColumnTest, UnreadableFiles) {
  const auto code_of = [](const MadeFile& file, size_t column, bool bytes = false) {
    const Folder folder;
    const auto path = folder.Write("keys.parquet", file.bytes());
    try {
      ReadKeyColumn(path, column,
                    [bytes](const auto&) { return std::make_unique<WrongValues>(bytes); });
    } catch (const Error& error) {
      return error.code();
    }
    ADD_FAILURE() << "no error";
    return ErrorCode::kIo;
  };
  const MadeFile one = {.groups = {{{.values = 1}}}};
  EXPECT_EQ(code_of(one, 1), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(one, 0, true), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of({.groups = {{{.values = 2}}}}, 0), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of({.groups = {{{.values = 1, .file_path = "other"}}}}, 0),
            ErrorCode::kUnsupported);
  for (const int physical : {0, 3}) {  // BOOLEAN, INT96
    EXPECT_EQ(code_of({.columns = {{.physical = physical}}, .groups = {{{.values = 1}}}}, 0),
              ErrorCode::kUnsupported);
  }
}

}  // namespace tamis::parquet::key_column_test
