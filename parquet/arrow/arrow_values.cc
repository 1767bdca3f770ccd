#include "tamis/parquet/arrow_values.h"

#include <arrow/util/config.h>
#include <parquet/column_reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>
#include <parquet/schema.h>
#include <parquet/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/error.h"

namespace tamis::parquet {
namespace {

namespace arrow_parquet = ::parquet;

constexpr int64_t kBatch = 1 << 14;

template <typename Value>
FixedColumn Fixed(std::span<const Value> values, KeyType form) {
  return {values.data(), sizeof(Value), values.size(), form};
}

// `string_of` converts a value to a string.
template <typename Value, typename StringOf>
void TakeStrings(std::span<const Value> values, const StringOf& string_of,
                 const ColumnValues::Take& take) {
  std::vector<std::string_view> strings;
  strings.reserve(values.size());
  for (const Value& value : values) strings.push_back(string_of(value));
  take(strings);
}

std::string_view StringAt(const uint8_t* bytes, size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

class ArrowValues final : public ColumnValues {
 public:
  explicit ArrowValues(const std::filesystem::path& path) {
    Try([&] {
      const std::u8string name = path.u8string();  // Arrow takes UTF-8 on Windows too
      name_.assign(name.begin(), name.end());
      arrow_parquet::ReaderProperties properties = arrow_parquet::default_reader_properties();
      properties.enable_buffered_stream();  // streams pages instead of whole chunks
      properties.set_page_checksum_verification(true);
      file_ = arrow_parquet::ParquetFileReader::OpenFile(name_, false, properties);
    });
  }

  uint64_t Read(size_t row_group, size_t column, const Take& take) override {
    std::shared_ptr<arrow_parquet::ColumnReader> reader;
    Try([&] {
      reader = file_->RowGroup(static_cast<int>(row_group))->Column(static_cast<int>(column));
    });
    const auto as_is = [&](auto values) { take(values); };
    switch (reader->type()) {
      case arrow_parquet::Type::INT32:
        return ReadAll<arrow_parquet::Int32Type>(
            *reader, [&](auto values) { take(Fixed(values, KeyType::kInt32)); });
      case arrow_parquet::Type::INT64:
        return ReadAll<arrow_parquet::Int64Type>(*reader, as_is);
      case arrow_parquet::Type::FLOAT:
        return ReadAll<arrow_parquet::FloatType>(
            *reader, [&](auto values) { take(Fixed(values, KeyType::kFloat)); });
      case arrow_parquet::Type::DOUBLE:
        return ReadAll<arrow_parquet::DoubleType>(
            *reader, [&](auto values) { take(Fixed(values, KeyType::kDouble)); });
      case arrow_parquet::Type::BYTE_ARRAY:
        return ReadAll<arrow_parquet::ByteArrayType>(*reader, [&](auto values) {
          TakeStrings(
              values, [](const auto& value) { return StringAt(value.ptr, value.len); }, take);
        });
      case arrow_parquet::Type::FIXED_LEN_BYTE_ARRAY: {
        const size_t width = static_cast<size_t>(reader->descr()->type_length());
        return ReadAll<arrow_parquet::FLBAType>(*reader, [&](auto values) {
          TakeStrings(
              values, [&](const auto& value) { return StringAt(value.ptr, width); }, take);
        });
      }
      default:
        throw Error(ErrorCode::kInvalidArgument, name_ + ": filters have no values of type " +
                                                     arrow_parquet::TypeToString(reader->type()));
    }
  }

 private:
  // Converts the exceptions of Arrow.
  template <typename Act>
  void Try(const Act& act) const {
    try {
      act();
    } catch (const arrow_parquet::ParquetException& error) {
      throw Error(ErrorCode::kCorrupt, name_ + ": Arrow cannot read it: " + error.what());
    }
  }

  template <typename Type, typename TakeValues>
  uint64_t ReadAll(arrow_parquet::ColumnReader& column, const TakeValues& take) const {
    using Value = typename Type::c_type;
    auto& reader = static_cast<arrow_parquet::TypedColumnReader<Type>&>(column);
    // Levels distinguish nulls and list elements. Without buffers for levels, Arrow treats every
    // value as present.
    std::vector<int16_t> definitions(kBatch), repetitions(kBatch);
    std::vector<Value> values(kBatch);
    uint64_t read = 0;
    for (;;) {
      int64_t levels = 0;
      int64_t present = 0;
      Try([&] {
        if (!reader.HasNext()) return;
        levels = reader.ReadBatch(kBatch, definitions.data(), repetitions.data(), values.data(),
                                  &present);
      });
      if (levels <= 0) return read;
      read += static_cast<uint64_t>(levels);
      if (present > 0) take(std::span<const Value>(values.data(), static_cast<size_t>(present)));
    }
  }

  std::string name_;
  std::unique_ptr<arrow_parquet::ParquetFileReader> file_;
};

}  // namespace

std::unique_ptr<ColumnValues> OpenArrowValues(const std::filesystem::path& path) {
  return std::make_unique<ArrowValues>(path);
}

std::string ArrowVersion() { return ARROW_VERSION_STRING; }

}  // namespace tamis::parquet
