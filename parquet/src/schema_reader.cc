#include "parquet/src/schema_reader.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parquet/src/fields.h"

namespace tamis::parquet {
namespace {

using Kind = LogicalType::Kind;

constexpr size_t kMaxLevels = 100;  // limit for the depth of nested groups
// Limit for the bytes of the paths of all columns: a long group name is part of the path of each
// column below the group.
constexpr size_t kMaxPaths = size_t{1} << 28;

struct Element {
  std::optional<int64_t> type;
  int64_t type_length = 0;
  std::string name;
  std::optional<int64_t> children;
  std::optional<int64_t> converted;
  int64_t scale = 0;
  int64_t precision = 0;
  std::optional<LogicalType> logical;
};

// Returns the field number of the union's member, or 0 if the union is empty. Skips the value.
int16_t UnionMember(ThriftWalker& walker) {
  ThriftStruct fields(walker);
  int16_t member = 0;
  while (const auto field = fields.Next()) member = field->id;
  return member;
}

void ReadDecimal(ThriftWalker& walker, LogicalType& type) {
  ThriftStruct fields(walker);
  while (const auto field = fields.Next()) {
    if (field->type != ThriftType::kI32) continue;
    const int64_t value = walker.Integer(field->type);
    if (field->id == 1) type.scale = static_cast<int32_t>(value);
    if (field->id == 2) type.precision = static_cast<int32_t>(value);
  }
}

// Returns false for a unit that this library does not know.
bool ReadTime(ThriftWalker& walker, LogicalType& type) {
  ThriftStruct fields(walker);
  bool known = false;
  while (const auto field = fields.Next()) {
    if (field->id != 2 || field->type != ThriftType::kStruct) continue;
    const int16_t unit = UnionMember(walker);
    known = unit >= 1 && unit <= 3;
    if (known) type.unit = static_cast<TimeUnit>(unit - 1);
  }
  return known;
}

bool ReadInteger(ThriftWalker& walker, LogicalType& type) {
  ThriftStruct fields(walker);
  while (const auto field = fields.Next()) {
    if (field->id == 1 && field->type == ThriftType::kByte) {
      type.bit_width = static_cast<int>(walker.Integer(field->type));
    } else if (field->id == 2) {
      type.is_signed = field->type != ThriftType::kFalse;
    }
  }
  return type.bit_width == 8 || type.bit_width == 16 || type.bit_width == 32 ||
         type.bit_width == 64;
}

// Reads the union member at the walker.
LogicalType ReadMember(ThriftWalker& walker, int16_t member) {
  namespace id = fields::logical_type;
  LogicalType type = {.kind = Kind::kOther};
  switch (member) {
    case id::kString:
      type.kind = Kind::kString;
      break;
    case id::kEnum:
      type.kind = Kind::kEnum;
      break;
    case id::kDecimal:
      type.kind = Kind::kDecimal;
      ReadDecimal(walker, type);
      break;
    case id::kDate:
      type.kind = Kind::kDate;
      break;
    case id::kTime:
      if (ReadTime(walker, type)) type.kind = Kind::kTime;
      break;
    case id::kTimestamp:
      if (ReadTime(walker, type)) type.kind = Kind::kTimestamp;
      break;
    case id::kInteger:
      if (ReadInteger(walker, type)) type.kind = Kind::kInteger;
      break;
    case id::kUnknown:
      type.kind = Kind::kNull;
      break;
    case id::kJson:
      type.kind = Kind::kJson;
      break;
    case id::kBson:
      type.kind = Kind::kBson;
      break;
    case id::kUuid:
      type.kind = Kind::kUuid;
      break;
    case id::kFloat16:
      type.kind = Kind::kFloat16;
      break;
    default:
      break;
  }
  return type;
}

LogicalType ReadLogicalType(ThriftWalker& walker) {
  ThriftStruct fields(walker);
  LogicalType type = {.kind = Kind::kOther};
  while (const auto field = fields.Next()) {
    if (field->type == ThriftType::kStruct) type = ReadMember(walker, field->id);
  }
  return type;
}

// Maps the number of a ConvertedType.
LogicalType OfConverted(int64_t converted, const Element& element) {
  constexpr TimeUnit kUnits[] = {TimeUnit::kMillis, TimeUnit::kMicros};
  LogicalType type = {.kind = Kind::kOther};
  switch (converted) {
    case 0:
      type.kind = Kind::kString;
      break;
    case 4:
      type.kind = Kind::kEnum;
      break;
    case 5:
      type.kind = Kind::kDecimal;
      type.scale = static_cast<int32_t>(element.scale);
      type.precision = static_cast<int32_t>(element.precision);
      break;
    case 6:
      type.kind = Kind::kDate;
      break;
    case 7:
    case 8:
      type.kind = Kind::kTime;
      type.unit = kUnits[converted - 7];
      break;
    case 9:
    case 10:
      type.kind = Kind::kTimestamp;
      type.unit = kUnits[converted - 9];
      break;
    case 11:
    case 12:
    case 13:
    case 14:
    case 15:
    case 16:
    case 17:
    case 18:
      type.kind = Kind::kInteger;
      type.bit_width = 8 << ((converted - 11) % 4);
      type.is_signed = converted >= 15;
      break;
    case 19:
      type.kind = Kind::kJson;
      break;
    case 20:
      type.kind = Kind::kBson;
      break;
    case 21:
      type.kind = Kind::kInterval;
      break;
    default:
      break;
  }
  return type;
}

Element ReadElement(ThriftWalker& walker) {
  namespace id = fields::schema_element;
  Element element;
  ThriftStruct fields(walker);
  while (const auto field = fields.Next()) {
    if (field->type == ThriftType::kI32) {
      const int64_t value = walker.Integer(field->type);
      if (field->id == id::kType) element.type = value;
      if (field->id == id::kTypeLength) element.type_length = value;
      if (field->id == id::kNumChildren) element.children = value;
      if (field->id == id::kConvertedType) element.converted = value;
      if (field->id == id::kScale) element.scale = value;
      if (field->id == id::kPrecision) element.precision = value;
    } else if (field->id == id::kName && field->type == ThriftType::kBinary) {
      element.name = walker.Binary();
    } else if (field->id == id::kLogicalType && field->type == ThriftType::kStruct) {
      element.logical = ReadLogicalType(walker);
    }
  }
  return element;
}

Column ColumnOf(const ThriftWalker& walker, Element element, size_t parent, size_t at) {
  if (!element.type || *element.type < 0 || *element.type > 7) {
    walker.Fail(at, "a column of a missing or unknown type");
  }
  Column column = {.name = std::move(element.name),
                   .parent = parent,
                   .physical = static_cast<PhysicalType>(*element.type)};
  if (column.physical == PhysicalType::kFixedLenByteArray) {
    if (element.type_length < 0) walker.Fail(at, "a column of values of a negative length");
    column.width = static_cast<uint32_t>(element.type_length);
  }
  if (element.logical) {
    column.logical = *element.logical;
  } else if (element.converted) {
    column.logical = OfConverted(*element.converted, element);
  }
  return column;
}

}  // namespace

Schema ReadSchema(ThriftWalker& walker) {
  const size_t begin = walker.at();
  const ThriftList list = walker.List();
  if (list.element != ThriftType::kStruct || list.size == 0) {
    walker.Fail(begin, "a schema without a root");
  }
  std::vector<Group> groups;
  std::vector<Column> columns;
  struct Open {  // a group whose columns have not all been read
    size_t group;
    int64_t left;
    size_t path;  // length of its path
  };
  size_t paths = 0;
  std::vector<Open> open;
  for (uint32_t i = 0; i < list.size; ++i) {
    const size_t at = walker.at();
    Element element = ReadElement(walker);
    while (!open.empty() && open.back().left == 0) open.pop_back();
    if (i > 0) {
      if (open.empty()) walker.Fail(at, "a column that is in no group");
      --open.back().left;
    }
    const size_t parent = i == 0 ? 0 : open.back().group;
    const size_t path = i == 0 ? 0 : open.back().path + element.name.size() + 1;
    // Some writers store 0 children for a column, others for the root of an empty file.
    if (i == 0 || element.children.value_or(0) > 0 || !element.type) {
      const int64_t children = element.children.value_or(0);
      if (children < 0 || (children == 0 && i > 0)) walker.Fail(at, "a group without columns");
      if (open.size() == kMaxLevels) walker.Fail(at, "groups nested too deep");
      open.push_back({groups.size(), children, path});
      groups.push_back({std::move(element.name), parent});
    } else {
      paths += path;
      if (paths > kMaxPaths) walker.Fail(at, "paths of columns that are too long");
      columns.push_back(ColumnOf(walker, std::move(element), parent, at));
    }
  }
  for (const Open& group : open) {
    if (group.left != 0) walker.Fail(begin, "a group that lacks columns");
  }
  return {std::move(groups), std::move(columns)};
}

}  // namespace tamis::parquet
