// Parquet files: reports on their Bloom filters, and pruning by a list of keys.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <tamis/file/folder.h>
#include <tamis/parquet/filter_report.h>
#include <tamis/parquet/pruner.h>
#include <tamis/parquet/source.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bindings/python/src/classes/gate.h"
#include "bindings/python/src/classes/parquet_classes.h"
#include "bindings/python/src/classes/raised.h"
#include "bindings/python/src/keys/parquet_keys.h"
#include "bindings/python/src/queries/answer.h"

namespace tamis::python {
namespace {

namespace fs = std::filesystem;
using namespace parquet;  // the namespace of the library

// Returns a str. Escapes invalid UTF-8, which file names and values may contain.
nb::object TextOf(const std::string& text) {
  nb::object made = nb::steal(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
  if (!made.is_valid()) throw nb::python_error();
  return made;
}
nb::object TextOrNone(const std::string& text) { return text.empty() ? nb::none() : TextOf(text); }

// Handles signals while a source is read. Takes the GIL at most every 20 ms. Used only on the
// thread that called from Python.
class CheckedSource final : public Source {
 public:
  CheckedSource(const Source& source, Attention& attention)
      : source_(source), attention_(attention) {}

  const std::string& name() const noexcept override { return source_.name(); }
  uint64_t size() const noexcept override { return source_.size(); }
  void Read(uint64_t offset, std::span<std::byte> out) const override {
    attention_.Pay();
    source_.Read(offset, out);
  }

 private:
  const Source& source_;
  Attention& attention_;
};

nb::tuple GroupOf(const FilterReport& report) {
  return nb::make_tuple(report.present, TextOrNone(report.problem), report.bytes, report.fill,
                        report.keys, report.rate, report.right_bytes);
}

// Returns the values from which tamis/parquet.py makes a FileInfo.
nb::tuple Report(const nb::bytes& path, double fpr) {
  const FileReport report = RaiseAgain([&] {
    WithoutGil released;
    Attention attention(released);
    const auto source = OpenSource(PathOf(path));
    return ReportFilters(CheckedSource(*source, attention), fpr);
  });
  nb::list columns;
  for (const ColumnReport& column : report.columns) {
    nb::list groups;
    for (const FilterReport& group : column.groups) groups.append(GroupOf(group));
    nb::list ignored;
    for (const std::string& reason : column.ignored) ignored.append(TextOf(reason));
    columns.append(nb::make_tuple(TextOf(column.path), TypeText(column.column), column.filter_bytes,
                                  column.data_bytes, column.rate, TextOf(column.verdict), ignored,
                                  groups));
  }
  return nb::make_tuple(report.file_bytes, report.rows, TextOf(report.writer), columns);
}

// ---- Pruning

class PyPruner {
 public:
  PyPruner(nb::handle keys, const std::string& format, const std::string& column, bool hits,
           bool pairs, bool bounds, bool filters, unsigned threads)
      : keys_(keys, format),
        pairs_(pairs),
        pruner_(keys_.list(), {.column = column,
                               .detail = pairs  ? Detail::kPairs
                                         : hits ? Detail::kCounts
                                                : Detail::kGroups,
                               .bounds = bounds,
                               .filters = filters,
                               .threads = threads}) {}

  nb::tuple Prune(const nb::list& paths, nb::handle progress) const;
  nb::tuple Predict(const nb::list& paths, size_t samples) const;
  nb::list Types() const;
  size_t size() const { return keys_.list().size(); }

 private:
  nb::object PairsOf(const std::vector<FileAnswer>& answers) const;

  const ParquetKeys keys_;
  const bool pairs_;
  const ParquetPruner pruner_;
};

std::vector<fs::path> PathsOf(const nb::list& paths) {
  std::vector<fs::path> files;
  for (const nb::handle path : paths) files.push_back(PathOf(nb::cast<nb::bytes>(path)));
  return files;
}

nb::tuple PyPruner::Prune(const nb::list& paths, nb::handle progress) const {
  const std::vector<fs::path> files = PathsOf(paths);
  std::vector<FileAnswer> answers;
  std::atomic<uint64_t> done = 0;
  RaiseAgain([&] {
    WithoutGil released;
    Attention attention(released, progress);
    const auto caller = std::this_thread::get_id();
    pruner_.Run(
        files, [&](FileAnswer&& answer) { answers.push_back(std::move(answer)); },
        [&](uint64_t bytes) {
          const uint64_t now = done += bytes;
          if (std::this_thread::get_id() == caller) attention.Pay(now);
        });
  });
  CheckSignals();
  if (!progress.is_none()) Call(progress, nb::int_(done.load()));
  nb::list made;
  for (const FileAnswer& answer : answers) {
    nb::list groups;
    for (const GroupAnswer& group : answer.groups) {
      groups.append(nb::make_tuple(static_cast<int>(group.outcome), group.rows, group.bytes,
                                   group.hits, TextOrNone(group.doubt)));
    }
    made.append(nb::make_tuple(answer.kept(), answer.bytes, TextOrNone(answer.doubt), groups));
  }
  return nb::make_tuple(made, PairsOf(answers));
}

// Returns the numbers of files, row groups and keys in three arrays.
nb::object PyPruner::PairsOf(const std::vector<FileAnswer>& answers) const {
  if (!pairs_) return nb::none();
  size_t size = 0;
  for (const FileAnswer& answer : answers) {
    for (const GroupAnswer& group : answer.groups) size += group.keys.size();
  }
  Answer columns[3];
  int64_t* out[3];
  for (int i = 0; i < 3; ++i) {
    columns[i].output = Answer::Output::kIndices;
    columns[i].size = size;
    columns[i].memory->Resize(size * sizeof(int64_t));
    out[i] = columns[i].memory->As<int64_t>();
  }
  for (size_t f = 0; f < answers.size(); ++f) {
    for (size_t g = 0; g < answers[f].groups.size(); ++g) {
      for (const uint32_t key : answers[f].groups[g].keys) {
        *out[0]++ = static_cast<int64_t>(f);
        *out[1]++ = static_cast<int64_t>(g);
        *out[2]++ = static_cast<int64_t>(keys_.IndexOf(key));
      }
    }
  }
  return nb::make_tuple(nb::cast(std::move(columns[0])), nb::cast(std::move(columns[1])),
                        nb::cast(std::move(columns[2])));
}

nb::tuple PyPruner::Predict(const nb::list& paths, size_t samples) const {
  const std::vector<fs::path> files = PathsOf(paths);
  const Prediction prediction = [&] {
    const WithoutGil released;
    return pruner_.Predict(files, samples);
  }();
  return nb::make_tuple(prediction.filters, prediction.keys, prediction.rate, prediction.false_hits,
                        prediction.ruled_out);
}

nb::list PyPruner::Types() const {
  const std::vector<AskedType> types = [&] {
    const WithoutGil released;
    return pruner_.types();
  }();
  const KeyList list = keys_.list();
  nb::list made;
  for (const AskedType& type : types) {
    nb::list first;
    if (type.keys != nullptr) {
      for (const uint32_t key : type.keys->first_misfits()) {
        first.append(nb::make_tuple(keys_.IndexOf(key), TextOf(list.TextOf(key))));
      }
    }
    made.append(nb::make_tuple(TypeText(type.column), TextOrNone(type.problem),
                               type.keys != nullptr ? type.keys->misfits() : 0, first));
  }
  return made;
}

}  // namespace

void DefineParquet(nb::module_& m) {
  m.def(
      "files_of",
      [](const nb::list& given) {
        nb::list files;
        for (const fs::path& path : FilesOf(PathsOf(given), {".parquet", ".parq"})) {
          files.append(nb::bytes(path.c_str(), path.native().size()));
        }
        return files;
      },
      nb::arg("given"));
  m.def("report", Report, nb::arg("path"), nb::arg("fpr"));
  nb::class_<PyPruner>(m, "Pruner")
      .def(nb::init<nb::handle, const std::string&, const std::string&, bool, bool, bool, bool,
                    unsigned>())
      .def("prune", &PyPruner::Prune, nb::arg("paths"), nb::arg("progress").none())
      .def("predict", &PyPruner::Predict)
      .def("types", &PyPruner::Types)
      .def("__len__", &PyPruner::size);
  DefineParquetAdd(m);
}

}  // namespace tamis::python
