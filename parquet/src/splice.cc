#include "parquet/src/splice.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "parquet/src/thrift_walker.h"
#include "tamis/error.h"

namespace tamis::parquet {
namespace {

// Fields of parquet.thrift on the way to a filter's place.
constexpr int16_t kRowGroups = 4;      // of FileMetaData
constexpr int16_t kColumns = 1;        // of RowGroup
constexpr int16_t kMetaData = 3;       // of ColumnChunk
constexpr int16_t kFilterOffset = 14;  // of ColumnMetaData
constexpr int16_t kFilterLength = 15;  // of ColumnMetaData

constexpr int kMaxDelta = 15;  // of two field numbers, in a header of one byte

auto Position(const FilterPlace& place) { return std::pair(place.row_group, place.column); }

std::string Name(const FilterPlace& place) {
  return "column chunk " + std::to_string(place.column) + " of row group " +
         std::to_string(place.row_group);
}

class Splicer {
 public:
  Splicer(std::span<const std::byte> footer, uint64_t base, std::span<const FilterPlace> places)
      : walker_(footer, base), places_(places) {}

  std::vector<std::byte> Splice() {
    InFileMetaData();
    if (walker_.at() != walker_.bytes().size()) {
      walker_.Fail(walker_.at(), "bytes behind the structure of the footer");
    }
    CopyTo(walker_.at());
    if (!places_.empty()) {
      throw Error(ErrorCode::kInvalidArgument,
                  "there is no " + Name(places_.front()) + " to add a filter to");
    }
    return std::move(out_);
  }

 private:
  // ---- The way down. Each is called with the walker at the value, and leaves it behind it.

  void InFileMetaData() {
    ThriftStruct fields(walker_);
    while (const std::optional<ThriftField> field = fields.Next()) {
      if (field->id != kRowGroups) continue;
      const size_t row_groups = ListOfStructs(*field);
      for (size_t i = 0; i < row_groups; ++i) InRowGroup(i);
    }
  }

  void InRowGroup(size_t row_group) {
    if (places_.empty() || places_.front().row_group != row_group) {
      return walker_.Skip(ThriftType::kStruct);
    }
    ThriftStruct fields(walker_);
    while (const std::optional<ThriftField> field = fields.Next()) {
      if (field->id != kColumns) continue;
      const size_t columns = ListOfStructs(*field);
      for (size_t i = 0; i < columns; ++i) InColumnChunk({row_group, i});
    }
  }

  void InColumnChunk(std::pair<size_t, size_t> position) {
    if (places_.empty() || Position(places_.front()) != position) {
      return walker_.Skip(ThriftType::kStruct);
    }
    const FilterPlace place = places_.front();
    places_ = places_.subspan(1);
    const size_t begin = walker_.at();
    bool added = false;
    ThriftStruct fields(walker_);
    while (const std::optional<ThriftField> field = fields.Next()) {
      if (field->id != kMetaData) continue;
      if (field->type != ThriftType::kStruct) walker_.Fail(field->header_at, "no struct of fields");
      InColumnMetaData(place);
      added = true;
    }
    if (!added) walker_.Fail(begin, "no metadata of the " + Name(place));
  }

  size_t ListOfStructs(const ThriftField& field) {
    if (field.type != ThriftType::kList) walker_.Fail(field.header_at, "no list where one belongs");
    const ThriftList list = walker_.List();
    if (list.size > 0 && list.element != ThriftType::kStruct) {
      walker_.Fail(field.header_at, "no list of structs where one belongs");
    }
    return list.size;
  }

  // ---- The place itself

  void InColumnMetaData(const FilterPlace& place) {
    bool added = false;
    int16_t last_read = 0;
    int16_t last_written = 0;
    const auto add = [&](size_t at) {
      CopyTo(at);
      PutHeader(last_written, kFilterOffset, ThriftType::kI64);
      PutVarint(ZigZag(place.offset));
      PutHeader(kFilterOffset, kFilterLength, ThriftType::kI32);
      PutVarint(ZigZag(place.bytes));
      last_written = kFilterLength;
      added = true;
    };
    ThriftStruct fields(walker_);
    while (const std::optional<ThriftField> field = fields.Next()) {
      if (!added && field->id > kFilterLength) add(field->header_at);
      if (field->id == kFilterOffset || field->id == kFilterLength) {
        CopyTo(field->header_at);
        walker_.SkipValue(*field);
        copied_ = walker_.at();
      } else {
        const bool relative = field->value_at == field->header_at + 1;
        if (relative && last_written != last_read) {
          CopyTo(field->header_at);
          PutHeader(last_written, field->id, field->type);
          copied_ = field->value_at;
        }
        last_written = field->id;
      }
      last_read = field->id;
    }
    if (!added) add(fields.stop_at());
  }

  // ---- What is written

  void CopyTo(size_t at) {
    const std::span<const std::byte> bytes = walker_.bytes().subspan(copied_, at - copied_);
    out_.insert(out_.end(), bytes.begin(), bytes.end());
    copied_ = at;
  }

  void Put(uint64_t byte) { out_.push_back(static_cast<std::byte>(byte)); }

  void PutVarint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) Put((value & 0x7F) | 0x80);
    Put(value);
  }

  void PutHeader(int16_t last_id, int16_t id, ThriftType type) {
    const int delta = id - last_id;
    if (delta > 0 && delta <= kMaxDelta) return Put(delta << 4 | static_cast<int>(type));
    Put(static_cast<uint64_t>(type));
    PutVarint(ZigZag(id));
  }

  static uint64_t ZigZag(int64_t value) {
    return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
  }

  ThriftWalker walker_;
  std::span<const FilterPlace> places_;  // those still to be added
  std::vector<std::byte> out_;
  size_t copied_ = 0;  // up to where the footer has been dealt with
};

}  // namespace

std::vector<std::byte> SpliceFooter(std::span<const std::byte> footer, uint64_t base,
                                    std::span<const FilterPlace> places) {
  const auto not_before = [](const FilterPlace& a, const FilterPlace& b) {
    return Position(a) >= Position(b);
  };
  if (std::adjacent_find(places.begin(), places.end(), not_before) != places.end()) {
    throw Error(ErrorCode::kInvalidArgument, "filters in no order of row groups and columns");
  }
  return Splicer(footer, base, places).Splice();
}

}  // namespace tamis::parquet
