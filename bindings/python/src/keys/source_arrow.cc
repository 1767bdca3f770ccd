// Keys of objects with __arrow_c_array__ or __arrow_c_stream__: pyarrow, Polars, DuckDB, pandas.
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/python/src/classes/gate.h"
#include "bindings/python/src/keys/arrow_abi.h"
#include "bindings/python/src/keys/arrow_capsule.h"
#include "bindings/python/src/keys/arrow_column.h"
#include "bindings/python/src/keys/key_source.h"
#include "tamis/detail/str_cat.h"

namespace tamis::python {
namespace {

// The schema of the column with the keys: the only column, if the schema describes a table.
class KeyColumn {
 public:
  KeyColumn(Released<ArrowSchema> schema, Numbers numbers)
      : schema_(std::move(schema)), numbers_(numbers) {
    const ArrowSchema* column = &*schema_;
    if (column->format != nullptr && std::strcmp(column->format, "+s") == 0) {
      if (column->n_children != 1) {
        throw nb::type_error(
            tamis::detail::StrCat("a table has its keys in one column, and this has ",
                                  column->n_children, ": select one of them")
                .c_str());
      }
      in_table_ = true;
      column = column->children != nullptr ? column->children[0] : nullptr;
      if (column == nullptr)
        throw nb::value_error("the Arrow array is damaged: the type of its column is missing");
    }
    if (column->format == nullptr) {
      throw nb::value_error("the Arrow array is damaged: its format is missing");
    }
    format_ = column->format;
    if (column->dictionary == nullptr) return;
    if (column->dictionary->format == nullptr || column->dictionary->dictionary != nullptr) {
      throw nb::value_error("the Arrow array is damaged: a dictionary of a wrong type");
    }
    indices_ = std::exchange(format_, column->dictionary->format);
  }

  // Reads the types. Throws nb::type_error for types that cannot be keys. Call only for columns
  // with elements, because an empty column may have any type.
  void RequireKeys() {
    if (type_) return;
    const ArrowType values = ArrowTypeOf(format_.c_str(), numbers_);
    if (!indices_) {
      type_ = values;
      return;
    }
    const ArrowType indices = ArrowTypeOf(indices_->c_str());
    if (indices.layout != ArrowType::Layout::kInteger) {
      throw nb::value_error("the Arrow array is damaged: a dictionary of a wrong type");
    }
    type_ = indices;
    dictionary_ = values;
  }
  // Call these two after RequireKeys().
  const ArrowType& type() const { return *type_; }
  // The type of the values in the dictionary. std::nullopt if the column has no dictionary.
  const std::optional<ArrowType>& dictionary() const { return dictionary_; }
  // The format of the values.
  const std::string& format() const { return format_; }
  std::optional<TimeUnit> time() const { return ArrowTimeUnitOf(format_); }

  // The array of the column, and the range of its elements that belongs to a chunk.
  struct Part {
    const ArrowArray* array;
    int64_t offset;
    int64_t length;
  };
  Part In(const ArrowArray& array) const {
    if (!in_table_) return {&array, array.offset, array.length};
    const ArrowArray* const column =
        array.n_children == 1 && array.children != nullptr ? array.children[0] : nullptr;
    // With this limit, no sum below overflows.
    constexpr int64_t kMost = int64_t{1} << 60;
    if (column == nullptr || array.offset < 0 || array.length < 0 || array.offset > kMost ||
        column->offset < 0 || column->offset > kMost || column->length < array.offset ||
        column->length - array.offset < array.length) {
      throw nb::value_error("the Arrow array is damaged: a column is shorter than its table");
    }
    if (array.null_count != 0 && array.n_buffers > 0 && array.buffers[0] != nullptr) {
      throw nb::value_error("a struct array with nulls has no keys: pass its field");
    }
    return {column, column->offset + array.offset, array.length};
  }

 private:
  Released<ArrowSchema> schema_;
  Numbers numbers_;
  bool in_table_ = false;
  std::optional<ArrowType> type_;
  std::optional<ArrowType> dictionary_;
  std::string format_;
  std::optional<std::string> indices_;  // format of the indices into a dictionary
};

class ArrowSource final : public KeySource {
 public:
  ArrowSource(Released<ArrowSchema> schema, Released<ArrowArray> array, Numbers numbers)
      : column_(std::move(schema), numbers), size_(array->length) {
    SetChunk(std::move(array));
  }
  ArrowSource(Released<ArrowSchema> schema, Released<ArrowArrayStream> stream, Numbers numbers)
      : column_(std::move(schema), numbers), stream_(std::move(stream)) {}

  std::optional<uint64_t> size() const override { return size_; }
  std::string format() const override { return column_.format(); }
  std::optional<TimeUnit> time() const { return column_.time(); }

  bool Next(Keys& keys) override {
    do {
      if (NextOfChunk(keys)) return true;
    } while (NextChunk());
    return false;
  }

 private:
  void SetChunk(Released<ArrowArray> array) {
    values_.reset();
    dictionary_.reset();
    chunk_ = std::move(array);
    const auto [part, offset, length] = column_.In(*chunk_);
    if (length == 0) return;
    column_.RequireKeys();
    values_.emplace(column_.type(), *part, offset, length);
    at_ = 0;
    const auto in_place = column_.dictionary() ? std::nullopt : values_->InPlace();
    direct_ = in_place.has_value();
    if (direct_) slices_ = Slices(*in_place);
    if (column_.dictionary()) {
      const ArrowArray* const words = part->dictionary;
      if (words == nullptr)
        throw nb::value_error("the Arrow array is damaged: its dictionary is missing");
      dictionary_.emplace(*column_.dictionary(), *words, words->offset, words->length);
    }
  }

  // Reads the next chunk. Returns false after the last chunk.
  bool NextChunk() {
    if (stream_->release == nullptr) return false;
    Released<ArrowArray> array;
    int status;
    {
      // The producer of the chunks may need the GIL, on any thread.
      const WithoutGil released;
      status = stream_->get_next(stream_.get(), array.get());
    }
    if (status != 0) {
      const char* const why =
          stream_->get_last_error != nullptr ? stream_->get_last_error(stream_.get()) : nullptr;
      const std::string message =
          std::string("the Arrow stream failed: ") + (why != nullptr ? why : std::strerror(status));
      // A Python generator behind a pyarrow reader may have been interrupted. The stream interface
      // transfers only the text of its traceback.
      const bool interrupted = message.find("\nKeyboardInterrupt") != std::string::npos;
      PyErr_SetString(interrupted        ? PyExc_KeyboardInterrupt
                      : status == ENOMEM ? PyExc_MemoryError
                      : status == EINVAL ? PyExc_ValueError
                                         : PyExc_OSError,
                      message.c_str());
      throw nb::python_error();
    }
    if (array->release == nullptr) {
      stream_.Reset();
      return false;
    }
    SetChunk(std::move(array));
    return true;
  }

  bool NextOfChunk(Keys& keys) {
    if (!values_) return false;
    if (direct_) return slices_.Next(keys);
    if (at_ == values_->size()) return false;
    // Does not copy strings: `strings_` refers to the memory of the chunk.
    const size_t n = std::min(kConvertedKeys, values_->size() - at_);
    const bool integers = (dictionary_ ? *dictionary_ : *values_).is_integer();
    validity_.Clear();
    integers_.assign(integers ? n : 0, 0);
    strings_.assign(integers ? 0 : n, {});
    for (size_t i = 0; i < n; ++i, ++at_) {
      const std::optional<Place> place = PlaceOf(at_);
      validity_.Add(place.has_value());
      if (!place) continue;
      if (integers) {
        integers_[i] = place->column->IntegerAt(place->index);
      } else {
        strings_[i] = place->column->BytesAt(place->index);
      }
    }
    keys = (integers ? Keys(integers_) : Keys(strings_)).WithValidity(validity_.bits());
    return true;
  }

  struct Place {
    const ArrowColumn* column;
    size_t index;
  };
  // Returns where the value of element `i` is: in the chunk or its dictionary. Returns std::nullopt
  // for null.
  std::optional<Place> PlaceOf(size_t i) const {
    if (!values_->ValidAt(i)) return std::nullopt;
    if (!dictionary_) return Place{&*values_, i};
    const uint64_t word = values_->IntegerAt(i);  // a negative index becomes too large
    if (word >= dictionary_->size()) {
      throw nb::value_error(tamis::detail::StrCat("the Arrow array is damaged: index ", i,
                                                  " is not in its dictionary")
                                .c_str());
    }
    if (!dictionary_->ValidAt(word)) return std::nullopt;
    return Place{&*dictionary_, word};
  }

  KeyColumn column_;
  std::optional<uint64_t> size_;
  Released<ArrowArrayStream> stream_;
  Released<ArrowArray> chunk_;
  std::optional<ArrowColumn> values_;
  std::optional<ArrowColumn> dictionary_;
  bool direct_ = false;
  Slices slices_;
  size_t at_ = 0;
  std::vector<uint64_t> integers_;
  std::vector<std::string_view> strings_;
  Validity validity_;
};

std::unique_ptr<KeySource> Made(std::unique_ptr<ArrowSource> source, Numbers numbers) {
  const std::optional<TimeUnit> time = source->time();
  if (!time || numbers == Numbers::kBitsToo) return source;
  return TimesFrom(std::move(source), *time);
}

}  // namespace

std::unique_ptr<KeySource> SourceOfArrow(nb::handle object, Numbers numbers) {
  if (const nb::object method = AttributeIf(object, "__arrow_c_array__"); method.is_valid()) {
    auto [schema, array] = TakeArray(method);
    return Made(std::make_unique<ArrowSource>(std::move(schema), std::move(array), numbers),
                numbers);
  }
  const nb::object method = AttributeIf(object, "__arrow_c_stream__");
  if (!method.is_valid()) return nullptr;
  const nb::object capsule = Call(method);
  auto stream = TakeFrom<ArrowArrayStream>(capsule, "arrow_array_stream");
  Released<ArrowSchema> schema;
  int status;
  {
    const WithoutGil released;
    status = stream->get_schema(stream.get(), schema.get());
  }
  if (status != 0 || schema->release == nullptr) {
    const char* const why =
        stream->get_last_error != nullptr ? stream->get_last_error(stream.get()) : nullptr;
    throw nb::value_error((std::string("the Arrow stream cannot return its schema: ") +
                           (why != nullptr ? why : "unknown reason"))
                              .c_str());
  }
  return Made(std::make_unique<ArrowSource>(std::move(schema), std::move(stream), numbers),
              numbers);
}

}  // namespace tamis::python
