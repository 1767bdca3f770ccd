#include "tamis/parquet/schema.h"

#include <algorithm>
#include <optional>

#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis::parquet {
namespace {

constexpr size_t kNamed = 20;  // columns listed in a message

std::string LogicalText(const LogicalType& type) {
  using Kind = LogicalType::Kind;
  constexpr const char* kUnits[] = {"ms", "us", "ns"};
  const std::string unit = kUnits[static_cast<int>(type.unit)];
  switch (type.kind) {
    case Kind::kNone:
      return "";
    case Kind::kString:
      return "string";
    case Kind::kEnum:
      return "enum";
    case Kind::kJson:
      return "JSON";
    case Kind::kBson:
      return "BSON";
    case Kind::kDecimal:
      return detail::StrCat("decimal(", type.precision, ", ", type.scale, ")");
    case Kind::kDate:
      return "date";
    case Kind::kTime:
      return "time in " + unit;
    case Kind::kTimestamp:
      return "timestamp in " + unit;
    case Kind::kInteger:
      return detail::StrCat(type.is_signed ? "int" : "uint", type.bit_width);
    case Kind::kUuid:
      return "UUID";
    case Kind::kFloat16:
      return "float16";
    case Kind::kInterval:
      return "interval";
    case Kind::kNull:
      return "null";
    case Kind::kOther:
      break;
  }
  return "of an unknown kind";
}

}  // namespace

std::string_view PhysicalTypeName(PhysicalType type) noexcept {
  constexpr std::string_view kNames[] = {"BOOLEAN", "INT32",  "INT64",      "INT96",
                                         "FLOAT",   "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"};
  return kNames[static_cast<size_t>(type)];
}

std::string TypeText(const Column& column) {
  std::string text(PhysicalTypeName(column.physical));
  if (column.physical == PhysicalType::kFixedLenByteArray) {
    text += detail::StrCat("(", column.width, ")");
  }
  const std::string logical = LogicalText(column.logical);
  return logical.empty() ? text : text + " (" + logical + ")";
}

std::string Schema::PathOf(size_t column) const {
  std::string path = columns_[column].name;
  for (size_t group = columns_[column].parent; group != 0; group = groups_[group].parent) {
    path = groups_[group].name + "." + path;
  }
  return path;
}

// Compares names from the end of the path, and does not build paths, because names can be long.
bool Schema::IsPath(std::string_view name, size_t parent, std::string_view path) const {
  while (path.ends_with(name)) {
    path.remove_suffix(name.size());
    if (parent == 0) return path.empty();
    if (!path.ends_with('.')) return false;
    path.remove_suffix(1);
    name = groups_[parent].name;
    parent = groups_[parent].parent;
  }
  return false;
}

size_t Schema::Find(std::string_view path) const {
  std::optional<size_t> found;
  std::optional<size_t> below;
  bool one = true;
  bool one_below = true;
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (IsPath(columns_[i].name, columns_[i].parent, path)) {
      one = !found;
      found = i;
      continue;
    }
    for (size_t group = columns_[i].parent; group != 0; group = groups_[group].parent) {
      if (!IsPath(groups_[group].name, groups_[group].parent, path)) continue;
      one_below = !below;
      below = i;
      break;
    }
  }
  if (found && one) return *found;
  if (!found && below && one_below) return *below;
  std::string names;
  for (size_t i = 0; i < std::min(columns_.size(), kNamed); ++i) {
    names += (i == 0 ? "" : ", ") + PathOf(i);
  }
  if (columns_.size() > kNamed) names += ", ...";
  const std::string what =
      found || below ? "more than one column is called " : "there is no column called ";
  throw Error(ErrorCode::kInvalidArgument,
              what + "'" + std::string(path) + "'; the columns are " + names);
}

}  // namespace tamis::parquet
