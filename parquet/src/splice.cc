#include "parquet/src/splice.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "parquet/src/fields.h"
#include "parquet/src/thrift_places.h"
#include "parquet/src/thrift_walker.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis::parquet {
namespace {

constexpr int16_t kOffset = fields::column_meta_data::kBloomFilterOffset;
constexpr int16_t kLength = fields::column_meta_data::kBloomFilterLength;
constexpr int kMaxFieldDelta = 15;  // largest difference of field numbers in a one-byte header

auto Position(const FilterEntry& entry) { return std::pair(entry.row_group, entry.column); }

std::string Name(const FilterEntry& entry) {
  return detail::StrCat("column chunk ", entry.column, " of row group ", entry.row_group);
}

class Splicer {
 public:
  Splicer(std::span<const std::byte> footer, uint64_t base, std::span<const FilterEntry> entries)
      : walker_(footer, base), base_(base), entries_(entries) {}

  std::vector<std::byte> Splice() {
    InFileMetaData();
    if (walker_.at() != walker_.bytes().size()) {
      walker_.Fail(walker_.at(), "bytes behind the structure of the footer");
    }
    CopyTo(walker_.at());
    if (!entries_.empty()) {
      throw Error(ErrorCode::kInvalidArgument,
                  "there is no " + Name(entries_.front()) + " to add a filter to");
    }
    return std::move(out_);
  }

 private:
  // ---- Descending to the chunks. Each function is called with the walker at a value, and moves it
  // behind the value.

  void InFileMetaData() {
    ThriftStruct fields(walker_);
    while (const std::optional<ThriftField> field = fields.Next()) {
      if (field->id != fields::file_meta_data::kRowGroups) continue;
      const size_t row_groups = ListOfStructs(*field);
      for (size_t i = 0; i < row_groups; ++i) InRowGroup(i);
    }
  }

  void InRowGroup(size_t row_group) {
    if (entries_.empty() || entries_.front().row_group != row_group) {
      return walker_.Skip(ThriftType::kStruct);
    }
    ThriftStruct fields(walker_);
    while (const std::optional<ThriftField> field = fields.Next()) {
      if (field->id != fields::row_group::kColumns) continue;
      const size_t columns = ListOfStructs(*field);
      for (size_t i = 0; i < columns; ++i) InColumnChunk({row_group, i});
    }
  }

  void InColumnChunk(std::pair<size_t, size_t> position) {
    const size_t begin = walker_.at();
    walker_.Skip(ThriftType::kStruct);
    if (entries_.empty() || Position(entries_.front()) != position) return;
    const PlacedStruct chunk = PlacesOf(walker_.bytes(), begin, base_);
    const PlacedField* const meta = chunk.Find(fields::column_chunk::kMetaData);
    if (meta == nullptr || meta->field.type != ThriftType::kStruct) {
      walker_.Fail(begin, "no metadata of the " + Name(entries_.front()));
    }
    Add(entries_.front(), PlacesOf(walker_.bytes(), meta->field.value_at, base_));
    entries_ = entries_.subspan(1);
  }

  size_t ListOfStructs(const ThriftField& field) {
    if (field.type != ThriftType::kList) walker_.Fail(field.header_at, "a field must be a list");
    const ThriftList list = walker_.List();
    if (list.size > 0 && list.element != ThriftType::kStruct) {
      walker_.Fail(field.header_at, "a list must contain structs");
    }
    return list.size;
  }

  // ---- Adding the entry to the description of the chunk

  void Add(const FilterEntry& entry, const PlacedStruct& meta) {
    bool added = false;
    int16_t last_read = 0;
    int16_t last_written = 0;
    const auto add_at = [&](size_t at) {
      CopyTo(at);
      PutHeader(last_written, kOffset, ThriftType::kI64);
      PutVarint(ZigZag(entry.offset));
      PutHeader(kOffset, kLength, ThriftType::kI32);
      PutVarint(ZigZag(entry.bytes));
      last_written = kLength;
      added = true;
    };
    for (const auto& [field, end] : meta.fields) {
      if (!added && field.id > kLength) add_at(field.header_at);
      if (field.id == kOffset || field.id == kLength) {
        CopyTo(field.header_at);
        copied_ = end;
      } else {
        const bool relative = field.value_at == field.header_at + 1;
        if (relative && last_written != last_read) {
          CopyTo(field.header_at);
          PutHeader(last_written, field.id, field.type);
          copied_ = field.value_at;
        }
        last_written = field.id;
      }
      last_read = field.id;
    }
    if (!added) add_at(meta.stop_at);
  }

  // ---- Output

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
    if (delta > 0 && delta <= kMaxFieldDelta) return Put(delta << 4 | static_cast<int>(type));
    Put(static_cast<uint64_t>(type));
    PutVarint(ZigZag(id));
  }

  static uint64_t ZigZag(int64_t value) {
    return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
  }

  ThriftWalker walker_;
  uint64_t base_;
  std::span<const FilterEntry> entries_;  // still to be added
  std::vector<std::byte> out_;
  size_t copied_ = 0;  // the bytes of the footer before this offset have been copied
};

}  // namespace

std::vector<std::byte> SpliceFooter(std::span<const std::byte> footer, uint64_t base,
                                    std::span<const FilterEntry> entries) {
  const auto not_before = [](const FilterEntry& a, const FilterEntry& b) {
    return Position(a) >= Position(b);
  };
  if (std::adjacent_find(entries.begin(), entries.end(), not_before) != entries.end()) {
    throw Error(ErrorCode::kInvalidArgument,
                "the filters are not in the order of row groups and columns");
  }
  return Splicer(footer, base, entries).Splice();
}

}  // namespace tamis::parquet
