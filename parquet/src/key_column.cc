#include "tamis/parquet/key_column.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_set>
#include <utility>

#include "parquet/src/stored_text.h"
#include "parquet/src/stored_value.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/keys.h"
#include "tamis/parquet/footer.h"
#include "tamis/parquet/source.h"
#include "tamis/table_hash.h"

namespace tamis::parquet {

// Collects the distinct stored values, and converts them to text.
class KeyColumnReader {
 public:
  explicit KeyColumnReader(const Column& column) : column_(column) {}

  void Take(const Keys& keys) {
    switch (keys.layout()) {
      case KeyLayout::kU64:
        return TakeNumbers(keys.data<uint64_t>(), keys);
      case KeyLayout::kFixedColumn:
        if (keys.width() == 4) return TakeNumbers(keys.data<uint32_t>(), keys);
        if (keys.width() == 8) return TakeNumbers(keys.data<uint64_t>(), keys);
        break;
      case KeyLayout::kStringViews:
        for (size_t i = 0; i < keys.size(); ++i) {
          if (keys.IsValid(i)) TakeBytes(keys.data<std::string_view>()[i]);
        }
        return;
      default:
        break;
    }
    throw Error(ErrorCode::kInvalidArgument,
                "ColumnValues::Read passed keys in a layout that is not allowed");
  }
  uint64_t present() const { return present_; }

  KeyColumn Finish(uint64_t values) {
    Compact();
    result_.texts_.reserve(numbers_.size() + result_.texts_.size());
    for (const uint64_t bits : numbers_) {
      result_.texts_.push_back(Keep(TextOfNumber(column_, bits)));
    }
    result_.values_ = values;
    result_.nulls_ = values - present_;
    return std::move(result_);
  }

 private:
  static constexpr size_t kBlock = size_t{1} << 20;

  template <typename Number>
  void TakeNumbers(const Number* numbers, const Keys& keys) {
    if (!NumberKindOf(column_)) {
      throw Error(ErrorCode::kInvalidArgument,
                  "ColumnValues::Read passed numbers for a column of bytes");
    }
    for (size_t i = 0; i < keys.size(); ++i) {
      if (!keys.IsValid(i)) continue;
      Number number = 0;
      std::memcpy(&number, numbers + i, sizeof(number));
      numbers_.push_back(number);
      ++present_;
    }
    if (numbers_.size() >= compact_at_) Compact();
  }

  void Compact() {
    std::sort(numbers_.begin(), numbers_.end());
    numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
    compact_at_ = std::max(kBlock, 2 * numbers_.size());
  }

  void TakeBytes(std::string_view bytes) {
    if (NumberKindOf(column_)) {
      throw Error(ErrorCode::kInvalidArgument,
                  "ColumnValues::Read passed bytes for a column of numbers");
    }
    ++present_;
    const std::string text = TextOfBytes(column_, bytes);
    if (seen_.contains(text)) return;
    result_.texts_.push_back(Keep(text));
    seen_.insert(result_.texts_.back());
  }

  std::string_view Keep(std::string_view text) {
    if (text.size() > left_) {
      left_ = std::max(kBlock, text.size());
      result_.blocks_.push_back(std::make_unique<char[]>(left_));
      at_ = result_.blocks_.back().get();
    }
    char* const begin = at_;
    std::copy(text.begin(), text.end(), begin);
    at_ += text.size();
    left_ -= text.size();
    return {begin, text.size()};
  }

  const Column& column_;
  KeyColumn result_;
  std::vector<uint64_t> numbers_;
  size_t compact_at_ = kBlock;
  std::unordered_set<std::string_view, TableHash> seen_;
  uint64_t present_ = 0;
  char* at_ = nullptr;  // free part of the last block
  size_t left_ = 0;
};

KeyColumn ReadKeyColumn(const std::filesystem::path& path, size_t column, const OpenValues& open) {
  const auto source = OpenSource(path);
  const Footer footer = Footer::Read(*source);
  const Schema& schema = footer.schema();
  if (column >= schema.columns().size()) {
    throw Error(ErrorCode::kInvalidArgument,
                detail::StrCat(source->name(), ": has no column ", column, ", counted from 0"));
  }
  const Column& about = schema.columns()[column];
  const std::string name = source->name() + ": column " + schema.PathOf(column);
  if (!HasText(about)) {
    throw Error(ErrorCode::kUnsupported, name + " is " + TypeText(about) + ", a type without keys");
  }
  const auto values = open(path);
  KeyColumnReader reader(about);
  uint64_t total = 0;
  for (size_t group = 0; group < footer.row_groups().size(); ++group) {
    const ColumnChunk chunk = footer.Chunk(group, column);
    if (chunk.other_file) throw Error(ErrorCode::kUnsupported, name + " is in another file");
    const uint64_t read =
        values->Read(group, column, [&reader](const Keys& keys) { reader.Take(keys); });
    total += read;
    // If a key was missing in the list, its hits would be missing in the result.
    if (read != chunk.values || reader.present() > total) {
      throw FormatError(ErrorCode::kCorrupt, "values", chunk.first_page,
                        detail::StrCat(name, ": ", read, " values were read from row group ", group,
                                       ", but the footer states ", chunk.values));
    }
  }
  return reader.Finish(total);
}

}  // namespace tamis::parquet
