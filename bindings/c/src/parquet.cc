// Bloom filters in Parquet files.
#include "tamis/c/parquet.h"

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings/c/src/guard.h"
#include "bindings/c/src/json_text.h"
#include "bindings/c/src/options.h"
#include "bindings/c/src/parquet_keys.h"
#include "bindings/c/src/path.h"
#include "bindings/c/src/text.h"
#include "tamis/detail/str_cat.h"
#include "tamis/parquet/filter_report.h"
#include "tamis/parquet/pruner.h"
#include "tamis/parquet/source.h"

struct tamis_parquet_pruner {
  tamis_parquet_pruner(const tamis_keys* given, uint32_t meaning,
                       tamis::parquet::PrunerOptions options)
      : keys(given, meaning), pruner(keys.list(), std::move(options)) {}

  const tamis::c::ParquetKeys keys;
  const tamis::parquet::ParquetPruner pruner;
};

namespace tamis::c {
namespace {

using namespace parquet;  // the namespace of the library

void WriteGroup(const FilterReport& report, uint64_t group, JsonText& json) {
  json.Open('{');
  json.Member("row_group", group);
  json.Name("present");
  json.Bool(report.present);
  if (!report.problem.empty()) {
    json.Name("problem");
    json.String(report.problem);
  } else if (report.present) {
    json.Member("bytes", report.bytes);
    json.Member("fill", report.fill);
    json.Member("estimated_keys", report.keys);
    json.Member("rate", report.rate);
    json.Member("right_bytes", report.right_bytes);
  }
  json.Close('}');
}

void WriteColumn(const ColumnReport& column, uint64_t file_bytes, JsonText& json) {
  json.Open('{');
  json.Name("column");
  json.String(column.path);
  json.Name("type");
  json.String(TypeText(column.column));
  json.Member("row_groups_with_filter", uint64_t{column.present()});
  json.Member("filter_bytes", column.filter_bytes);
  json.Member("data_bytes", column.data_bytes);
  json.Member("share_of_file",
              static_cast<double>(column.filter_bytes) / static_cast<double>(file_bytes));
  json.Name("verdict");
  json.String(column.verdict);
  if (column.present() > 0) json.Member("rate", column.rate);
  json.Name("filters");
  json.Open('[');
  for (size_t i = 0; i < column.groups.size(); ++i) WriteGroup(column.groups[i], i, json);
  json.Close(']');
  json.Close('}');
}

std::string ReportJson(const char* path, const FileReport& file) {
  JsonText json;
  json.Open('{');
  json.Name("file");
  json.String(path);
  json.Member("bytes", file.file_bytes);
  json.Member("rows", file.rows);
  json.Member("row_groups", uint64_t{file.columns.empty() ? 0 : file.columns[0].groups.size()});
  json.Name("writer");
  json.String(file.writer);
  json.Name("columns");
  json.Open('[');
  for (const ColumnReport& column : file.columns) WriteColumn(column, file.file_bytes, json);
  json.Close(']');
  json.Close('}');
  return json.text();
}

PrunerOptions ReadPruner(const tamis_parquet_options& given) {
  RequireZero(given.reserved);
  if (given.detail > TAMIS_PARQUET_PAIRS) {
    Refuse(detail::StrCat("detail is ", given.detail, ", must be 0, 1 or 2"));
  }
  return {.column = &Required(given.column, "column"),
          .detail = static_cast<Detail>(given.detail),
          .bounds = !ReadFlag(given.no_bounds, "no_bounds"),
          .filters = !ReadFlag(given.no_filters, "no_filters"),
          .threads = given.threads,
          .backend = ReadBackend(given.backend)};
}

std::vector<std::filesystem::path> ReadPaths(const char* const* paths, uint64_t count) {
  std::vector<std::filesystem::path> read;
  if (count == 0) return read;
  RequireArray<const char*>(paths, "paths");
  for (uint64_t i = 0; i < count; ++i) read.push_back(PathFrom(&Required(paths[i], "a path")));
  return read;
}

// Converts the key indices of an answer to indices in the caller's keys, and calls `take` with it.
int32_t HandOver(const ParquetKeys& keys, FileAnswer& answer, uint64_t index,
                 tamis_parquet_take take, void* context) {
  std::vector<tamis_parquet_group> groups;
  groups.reserve(answer.groups.size());
  for (GroupAnswer& group : answer.groups) {
    for (uint32_t& key : group.keys) key = keys.IndexOf(key);
    groups.push_back({static_cast<uint32_t>(group.outcome), 0, group.rows, group.bytes, group.hits,
                      group.doubt.c_str(), group.keys.data(), group.keys.size()});
  }
  const tamis_parquet_file file = {index,
                                   answer.bytes,
                                   answer.doubt.c_str(),
                                   groups.data(),
                                   groups.size(),
                                   answer.kept() ? 1u : 0u,
                                   0};
  return take(&file, context);
}

std::string TypesJson(const ParquetPruner& pruner, const ParquetKeys& keys) {
  JsonText json;
  json.Open('[');
  for (const AskedType& type : pruner.types()) {
    json.Open('{');
    json.Name("type");
    json.String(TypeText(type.column));
    if (!type.problem.empty()) {
      json.Name("problem");
      json.String(type.problem);
    }
    if (type.keys != nullptr) {
      json.Member("misfits", type.keys->misfits());
      json.Name("first_misfits");
      json.Open('[');
      for (const uint32_t key : type.keys->first_misfits()) {
        json.Number(uint64_t{keys.IndexOf(key)});
      }
      json.Close(']');
    }
    json.Close('}');
  }
  json.Close(']');
  return json.text();
}

}  // namespace
}  // namespace tamis::c

using namespace tamis;
using namespace tamis::c;

tamis_status tamis_parquet_info_json(const char* path, double fpr, char** out) {
  return Guard([&] {
    char*& text = Required(out, "out");
    const auto source = parquet::OpenSource(PathFrom(&Required(path, "path")));
    const double rate = fpr == 0 ? 0.01 : fpr;
    text = NewText(ReportJson(path, parquet::ReportFilters(*source, rate)));
  });
}

tamis_status tamis_parquet_pruner_create(const tamis_keys* keys,
                                         const tamis_parquet_options* options,
                                         tamis_parquet_pruner** out) {
  return Guard([&] {
    tamis_parquet_pruner*& handle = Required(out, "out");
    const tamis_parquet_options given = ReadOptions(Required(options, "options"), "options");
    handle = new tamis_parquet_pruner(keys, given.meaning, ReadPruner(given));
  });
}

void tamis_parquet_pruner_free(tamis_parquet_pruner* pruner) { delete pruner; }

tamis_status tamis_parquet_pruner_run(const tamis_parquet_pruner* pruner, const char* const* paths,
                                      uint64_t count, tamis_parquet_take take, void* context) {
  return Guard([&] {
    const tamis_parquet_pruner& handle = Required(pruner, "pruner");
    if (take == nullptr) Refuse("take is NULL");
    const std::vector<std::filesystem::path> files = ReadPaths(paths, count);
    uint64_t index = 0;
    handle.pruner.Run(files, [&](parquet::FileAnswer&& answer) {
      if (HandOver(handle.keys, answer, index++, take, context) != 0) {
        Refuse("take stopped the run: it did not return 0", ErrorCode::kCancelled);
      }
    });
  });
}

tamis_status tamis_parquet_pruner_types_json(const tamis_parquet_pruner* pruner, char** out) {
  return Guard([&] {
    char*& text = Required(out, "out");
    const tamis_parquet_pruner& handle = Required(pruner, "pruner");
    text = NewText(TypesJson(handle.pruner, handle.keys));
  });
}
