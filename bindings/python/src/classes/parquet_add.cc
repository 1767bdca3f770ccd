// Adds filters to files. Python decodes the values.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <tamis/error.h>
#include <tamis/parquet/add.h>
#include <tamis/parquet/footer.h>
#include <tamis/parquet/source.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings/python/src/classes/parquet_classes.h"
#include "bindings/python/src/keys/arrow_capsule.h"
#include "bindings/python/src/keys/arrow_column.h"

namespace tamis::python {
namespace {

namespace fs = std::filesystem;
using namespace parquet;  // the namespace of the library

// An Arrow array whose elements are physical values of a Parquet column.
class PhysicalArray {
 public:
  explicit PhysicalArray(nb::handle object)
      : taken_(TakeArray(nb::object(object.attr("__arrow_c_array__")))) {
    const ArrowArray& array = *taken_.array;
    const std::string format = taken_.schema->format;
    const ArrowColumn column(ArrowTypeOf(format.c_str(), Numbers::kBitsToo), array, array.offset,
                             array.length);
    const auto keys = format == "i"   ? column.FixedInPlace(KeyType::kInt32)
                      : format == "f" ? column.FixedInPlace(KeyType::kFloat)
                      : format == "g" ? column.FixedInPlace(KeyType::kDouble)
                                      : column.InPlace();
    const bool physical =
        std::string("ilfgzZ").find(format[0]) != std::string::npos || format.starts_with("w:");
    if (!keys || !physical) {
      throw nb::type_error(
          ("an Arrow array of format '" + format + "' cannot be the values of a Parquet column")
              .c_str());
    }
    keys_ = *keys;
  }

  const Keys& keys() const { return keys_; }

 private:
  TakenArray taken_;
  Keys keys_;
};

// Reads the values of a file by calling read(row_group, column) of a Python object. The call yields
// pairs (array, n): the array contains n of the values of the column chunk, as the footer counts
// values.
class PythonValues final : public ColumnValues {
 public:
  PythonValues(nb::object reader, WithoutGil& released)
      : reader_(std::move(reader)), released_(released) {}

  uint64_t Read(size_t row_group, size_t column, const Take& take) override {
    const WithoutGil::Pause held(released_);
    return CatchRaised([&] {
      const nb::object reader = reader_.get();
      const nb::object parts =
          Call(reader.attr("read"), nb::int_(row_group), nb::int_(column)).attr("__iter__")();
      uint64_t values = 0;
      for (;;) {
        const nb::object part = nb::steal(OrStay([&] { return PyIter_Next(parts.ptr()); }));
        if (!part.is_valid()) {
          if (PyErr_Occurred()) throw nb::python_error();
          return values;
        }
        const PhysicalArray array(part[0]);
        values += nb::cast<uint64_t>(part[1]);
        CheckSignals();
        const WithoutGil released;
        take(array.keys());
      }
    });
  }

 private:
  FreeObject reader_;
  WithoutGil& released_;
};

const char* OutcomeName(AddedFilter::Outcome outcome) {
  constexpr const char* kNames[] = {"added", "replaced", "kept", "left_out"};
  return kNames[static_cast<int>(outcome)];
}

// Adds filters to a file. open(footer) returns the Python object for PythonValues.
nb::tuple Add(const nb::bytes& from, const nb::bytes& to, const std::vector<std::string>& columns,
              double fpr, bool force, bool replace, nb::handle open, nb::handle progress) {
  const fs::path path = PathOf(from);
  std::vector<std::string> names;
  std::vector<uint64_t> rows;
  const AddResult result = RaiseAgain([&] {
    WithoutGil released;
    uint64_t done = 0;
    const AddOptions options = {.columns = columns,
                                .fpr = fpr,
                                .force = force,
                                .replace = replace,
                                .on_chunk = [&](const AddedFilter& chunk) {
                                  done += rows[chunk.row_group];
                                  const WithoutGil::Pause held(released);
                                  CatchRaised([&] {
                                    CheckSignals();
                                    if (!progress.is_none()) Call(progress, nb::int_(done));
                                  });
                                }};
    const auto open_values = [&](const fs::path& file) -> std::unique_ptr<ColumnValues> {
      const Footer footer = Footer::Read(*OpenSource(file));
      names.clear();
      rows.clear();
      done = 0;
      for (size_t i = 0; i < footer.schema().columns().size(); ++i) {
        names.push_back(footer.schema().PathOf(i));
      }
      for (const RowGroup& group : footer.row_groups()) rows.push_back(group.rows);
      const std::vector<std::byte> bytes = PhysicalFooter(footer);
      const WithoutGil::Pause held(released);
      return CatchRaised([&] {
        const nb::bytes physical(bytes.data(), bytes.size());
        return std::make_unique<PythonValues>(Call(open, physical), released);
      });
    };
    return AddFilters(path, PathOf(to), open_values, options);
  });
  nb::list chunks;
  for (const AddedFilter& chunk : result.chunks) {
    chunks.append(nb::make_tuple(
        chunk.row_group, nb::bytes(names[chunk.column].data(), names[chunk.column].size()),
        OutcomeName(chunk.outcome), chunk.reason, chunk.values, chunk.distinct, chunk.bytes,
        chunk.fpr, chunk.offset, chunk.bytes_in_file));
  }
  return nb::make_tuple(result.old_bytes, result.new_bytes, chunks);
}

}  // namespace

void DefineParquetAdd(nb::module_& m) {
  m.def("add", Add, nb::arg("from"), nb::arg("to"), nb::arg("columns"), nb::arg("fpr"),
        nb::arg("force"), nb::arg("replace"), nb::arg("open"), nb::arg("progress").none());
}

}  // namespace tamis::python
