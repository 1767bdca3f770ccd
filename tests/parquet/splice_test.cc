// Adds entries of filters to footers. Existing bytes stay.
#include "parquet/src/splice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "parquet/src/thrift_walker.h"
#include "tamis/error.h"
#include "tests/parquet/random_thrift.h"

namespace tamis::parquet::splice_test {

using Bytes = std::vector<std::byte>;

constexpr uint8_t kI32 = 5, kI64 = 6;

Bytes FromHex(const std::string& hex) {
  Bytes bytes;
  std::string digits = hex;
  std::erase(digits, ' ');
  for (size_t i = 0; i < digits.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

// Adds an entry to the tree of a footer, for the expected result of the splice.
void Add(Tree& footer, const FilterEntry& entry) {
  std::vector<TreeField>& fields = MetaDataOf(footer, entry.row_group, entry.column).fields;
  std::erase_if(fields, [](const TreeField& field) { return field.id == 14 || field.id == 15; });
  const auto at = std::find_if(fields.begin(), fields.end(),
                               [](const TreeField& field) { return field.id > 15; });
  const TreeField both[] = {IntegerField(14, kI64, entry.offset),
                            IntegerField(15, kI32, entry.bytes)};
  fields.insert(at, both, both + 2);
}

std::vector<FilterEntry> RandomEntries(std::mt19937_64& random, size_t row_groups, size_t columns) {
  std::vector<FilterEntry> entries;
  for (size_t i = 0; i < row_groups; ++i) {
    for (size_t j = 0; j < columns; ++j) {
      if (random() % 3 == 0) continue;
      entries.push_back({i, j, static_cast<int64_t>(random() >> (1 + random() % 63)),
                         static_cast<int32_t>(random() >> (33 + random() % 31))});
    }
  }
  return entries;
}

TEST(SpliceTest, EveryByteButThoseAddedStaysInRandomFooters) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    std::mt19937_64 random(seed);
    const size_t row_groups = random() % 18, columns = random() % 5;
    Tree footer = RandomFooter(random, row_groups, columns);
    const Bytes before = WriteTree(footer);
    const std::vector<FilterEntry> entries = RandomEntries(random, row_groups, columns);
    for (const FilterEntry& entry : entries) Add(footer, entry);
    const Bytes expected = WriteTree(footer);
    const Bytes after = SpliceFooter(before, 4, entries);
    ASSERT_TRUE(after == expected) << "seed " << seed;
    ThriftWalker walker(after);
    walker.Skip(ThriftType::kStruct);
    ASSERT_EQ(walker.at(), after.size()) << "seed " << seed;
    ASSERT_TRUE(SpliceFooter(after, 4, entries) == after) << "seed " << seed;
    ASSERT_TRUE(SpliceFooter(before, 4, {}) == before) << "seed " << seed;
  }
}

// Returns a footer of one chunk whose ColumnMetaData has these fields.
Bytes FooterAround(const std::string& meta) {
  // Field 4, a list of one struct: field 1, a list of one struct: field 3, a struct.
  return FromHex("491c191c3c" + meta + "00000000");
}

TEST(SpliceTest, TheHeaderOfTheFieldBehindIsWrittenAgain) {
  // Behind the headers, field 14 is 06 for 3, and field 15 is 04 for 2.
  const FilterEntry entry = {0, 0, 3, 2};
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"nothing there", "", "e606 1504"},
      {"a field before", "1502", "1502 d606 1504"},
      {"a field behind by its difference", "d502 3502", "d502 1606 1504 1502"},
      {"a field behind by its number", "d502 052002", "d502 1606 1504 052002"},
      {"one that was too far off for a difference", "1502 052202", "1502 d606 1504 052202"},
      {"a boolean behind", "d502 41", "d502 1606 1504 21"},
      {"numbers that go down", "051a02 050202 3502", "051a02 050202 3502 a606 1504"},
      {"a filter", "e608 1508", "e606 1504"},
      {"a filter between others", "d502 1608 1508 1502", "d502 1606 1504 1502"},
      {"a filter without a length", "e608 2502", "e606 1504 1502"},
      {"a length without a filter", "f508 1502", "e606 1504 1502"},
      {"a filter behind a higher number", "052802 061c08 4502", "e606 1504 052802 052402"},
      {"a filter of another type", "e80100 2502", "e606 1504 1502"},
  };
  for (const auto& [name, before, after] : cases) {
    EXPECT_EQ(SpliceFooter(FooterAround(before), 0, {{entry}}), FooterAround(after)) << name;
  }
}

TEST(SpliceTest, ImpossibleSplicesAreErrors) {
  const Bytes footer = FooterAround("1502");
  const auto code = [](const Bytes& bytes, const std::vector<FilterEntry>& entries) {
    try {
      SpliceFooter(bytes, 100, entries);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::kIo;  // no error
  };
  EXPECT_EQ(code(footer, {{1, 0, 4, 47}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(footer, {{0, 1, 4, 47}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(footer, {{0, 0, 4, 47}, {0, 0, 4, 47}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(footer, {{0, 1, 4, 47}, {0, 0, 4, 47}}), ErrorCode::kInvalidArgument);
  // A chunk whose metadata is encrypted or in another file.
  EXPECT_EQ(code(FromHex("491c191c 3504 00 00 00"), {{0, 0, 4, 47}}), ErrorCode::kCorrupt);
  // Types that differ from Parquet's.
  EXPECT_EQ(code(FromHex("4502 00"), {{0, 0, 4, 47}}), ErrorCode::kCorrupt);
  EXPECT_EQ(code(FromHex("4915 02 00"), {{0, 0, 4, 47}}), ErrorCode::kCorrupt);
  EXPECT_EQ(code(FromHex("491c 1502 00 00"), {{0, 0, 4, 47}}), ErrorCode::kCorrupt);
  EXPECT_EQ(code(FromHex("491c191c 3504 00 00 00"), {{0, 0, 4, 47}}), ErrorCode::kCorrupt);
  // Bytes behind the end, such as a signature.
  Bytes longer = footer;
  longer.push_back(std::byte{0});
  EXPECT_EQ(code(longer, {{0, 0, 4, 47}}), ErrorCode::kCorrupt);
  try {
    SpliceFooter(longer, 100, {});
    FAIL();
  } catch (const FormatError& error) {
    EXPECT_EQ(error.offset(), 100 + footer.size());
  }
}

TEST(SpliceTest, AFooterThatIsCutOffIsAnErrorWhereverItIs) {
  std::mt19937_64 random(5);
  Tree tree = RandomFooter(random, 2, 2);
  const Bytes footer = WriteTree(tree);
  for (size_t size = 0; size < footer.size(); ++size) {
    const std::span<const std::byte> start(footer.data(), size);
    EXPECT_THROW(SpliceFooter(start, 0, {{{0, 1, 4, 47}}}), FormatError) << size;
  }
}

// A damaged footer is refused, or the result is a valid footer.
TEST(SpliceTest, MutationsOfFootersAreErrorsOrStayFooters) {
  std::mt19937_64 random(6);
  size_t spliced = 0;
  for (int round = 0; round < 50; ++round) {
    Tree tree = RandomFooter(random, 2, 2);
    Bytes footer = WriteTree(tree);
    for (int i = 0; i < 100; ++i) {
      Bytes damaged = footer;
      for (uint64_t n = 1 + random() % 3; n > 0; --n) {
        damaged[random() % damaged.size()] = static_cast<std::byte>(random() & 0xFF);
      }
      try {
        const Bytes after = SpliceFooter(damaged, 0, {{{1, 0, 1 << 30, 47}}});
        ThriftWalker walker(after);
        walker.Skip(ThriftType::kStruct);
        EXPECT_EQ(walker.at(), after.size());
        ++spliced;
      } catch (const Error&) {
      }
    }
  }
  EXPECT_GT(spliced, 250u);
}

}  // namespace tamis::parquet::splice_test
