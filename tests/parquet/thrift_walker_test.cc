// Thrift's compact protocol, and bytes that violate it.
#include "parquet/src/thrift_walker.h"

#include <gtest/gtest.h>

#include <string>

#include "parquet/src/thrift_places.h"
#include "tamis/error.h"
#include "tests/parquet/parquet_maker.h"

namespace tamis::parquet::thrift_walker_test {

using namespace std::string_literals;

// Walks over a struct, and expects an error at that offset.
void ExpectFailure(const std::string& bytes, uint64_t offset, const std::string& what) {
  ThriftWalker walker(BytesOf(bytes), 1000);
  try {
    walker.Skip(ThriftType::kStruct);
    ADD_FAILURE() << "no error: " << what;
  } catch (const FormatError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
    EXPECT_EQ(error.offset(), 1000 + offset) << error.what();
    EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
  }
}

TEST(ThriftWalkerTest, ReadsAllFields) {
  const std::string bytes = ThriftWriter()
                                .I32(1, -5)
                                .I64(3, int64_t{1} << 62)
                                .Byte(4, -3)
                                .Bool(5, true)
                                .Binary(40, "abc")
                                .Struct(41, ThriftWriter().Bool(2, false))
                                .Strings(42, {"x", "yz"})
                                .bytes();
  ThriftWalker walker(BytesOf(bytes));
  ThriftStruct fields(walker);
  auto field = fields.Next();
  EXPECT_EQ(field->id, 1);
  EXPECT_EQ(walker.Integer(field->type), -5);
  field = fields.Next();
  EXPECT_EQ(field->id, 3);
  EXPECT_EQ(walker.Integer(field->type), int64_t{1} << 62);
  field = fields.Next();
  EXPECT_EQ(walker.Integer(field->type), -3);
  field = fields.Next();
  EXPECT_EQ(field->type, ThriftType::kTrue);
  field = fields.Next();
  EXPECT_EQ(field->id, 40);
  EXPECT_EQ(walker.Binary(), "abc");
  field = fields.Next();  // a struct, which is skipped
  EXPECT_EQ(field->id, 41);
  field = fields.Next();
  EXPECT_EQ(field->id, 42);
  const ThriftList list = walker.List();
  EXPECT_EQ(list.size, 2u);
  EXPECT_EQ(list.element, ThriftType::kBinary);
  EXPECT_EQ(walker.Binary(), "x");
  EXPECT_EQ(walker.Binary(), "yz");
  EXPECT_FALSE(fields.Next());
  EXPECT_EQ(fields.stop_at(), bytes.size() - 1);
  EXPECT_EQ(fields.last_id(), 42);
  EXPECT_EQ(walker.at(), bytes.size());
}

TEST(ThriftWalkerTest, SaysWhereFieldsAre) {
  const std::string bytes =
      "xx" + ThriftWriter().I32(1, 64).Binary(30, "ab").Bool(31, true).bytes();
  const PlacedStruct places = PlacesOf(BytesOf(bytes), 2);
  ASSERT_EQ(places.fields.size(), 3u);
  EXPECT_EQ(places.fields[0].field.header_at, 2u);
  EXPECT_EQ(places.fields[0].field.value_at, 3u);
  EXPECT_EQ(places.fields[0].end, 5u);  // 64 takes two bytes
  const PlacedField* const text = places.Find(30);
  ASSERT_NE(text, nullptr);
  EXPECT_EQ(text->field.header_at, 5u);  // two bytes, because 30 is too far from 1
  EXPECT_EQ(text->field.value_at, 7u);
  EXPECT_EQ(text->end, 10u);
  EXPECT_EQ(places.fields[2].field.value_at, places.fields[2].end);  // a boolean takes 0 bytes
  EXPECT_EQ(places.Find(2), nullptr);
  EXPECT_EQ(places.stop_at, bytes.size() - 1);
  EXPECT_EQ(places.last_id, 31);
}

TEST(ThriftWalkerTest, EveryKindOfValueIsSkipped) {
  const std::string map = "\x1B\x02\x58\x02\x01"s + "a\x04\x01"s + "b";
  const std::string others = "\x17"s + std::string(8, 'd') + "\x1D" + std::string(16, 'u') +
                             "\x1A\x21\x01\x02"s + "\x1B\x00"s + "\x14\x03"s;
  const std::string bytes = map + others + '\0';
  ThriftWalker walker(BytesOf(bytes));
  walker.Skip(ThriftType::kStruct);
  EXPECT_EQ(walker.at(), bytes.size());
}

TEST(ThriftWalkerTest, InvalidBytesAreRefused) {
  ExpectFailure("", 0, "cut off");
  ExpectFailure("\x15", 1, "cut off");
  ExpectFailure("\x15\x80", 2, "cut off");
  ExpectFailure("\x15\xFF\xFF\xFF\xFF\x1F"s, 1, "more than 32 bits");
  ExpectFailure("\x16\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02"s, 1, "more than 64 bits");
  ExpectFailure("\x18\x05"s + "ab", 2, "5 bytes is cut off");
  ExpectFailure("\x18\xFF\xFF\xFF\xFF\x0F"s, 6, "4294967295 bytes is cut off");
  ExpectFailure("\x19\xFC\xFF\xFF\xFF\xFF\x0F"s, 1, "4294967295 elements");
  ExpectFailure("\x19\x20\x00\x00"s, 1, "a list of type 0");
  ExpectFailure("\x19\x1E\x00"s, 1, "a list of type 14");
  ExpectFailure("\x1B\x01\x00\x01\x01"s, 2, "a map of types");
  ExpectFailure("\x1E\x00"s, 0, "type 14");
  ExpectFailure("\x10"s, 0, "without a type");
  ExpectFailure("\x15\x00\x05\x02\x00\x00"s, 2, "field 1 appears again");
  ExpectFailure("\x05\xFE\xFF\x03\x00\x15\x00\x00"s, 5, "number 32768");
  ExpectFailure(std::string(100, '\x1C'), ThriftWalker::kMaxDepth, "too deep");
  ExpectFailure("\x19" + std::string(100, '\x19'), ThriftWalker::kMaxDepth, "too deep");
}

// A number may repeat with other fields between, if the fields are in order.
TEST(ThriftWalkerTest, FieldsMayComeInAnyOrder) {
  const std::string bytes = "\x35\x02\x05\x02\x04\x05\x0A\x06\x00"s;
  ThriftWalker walker(BytesOf(bytes));
  ThriftStruct fields(walker);
  EXPECT_EQ(fields.Next()->id, 3);
  EXPECT_EQ(fields.Next()->id, 1);
  EXPECT_EQ(fields.Next()->id, 5);
  EXPECT_FALSE(fields.Next());
}

}  // namespace tamis::parquet::thrift_walker_test
