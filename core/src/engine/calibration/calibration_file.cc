// Calibrations as JSON files.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/src/base/json.h"
#include "core/src/engine/calibration/calibration_fields.h"
#include "core/src/file/atomic_file.h"
#include "core/src/file/file_format.h"
#include "core/src/os/file.h"
#include "core/src/os/io_error.h"
#include "tamis/detail/str_cat.h"
#include "tamis/engine/calibration.h"
#include "tamis/error.h"
#include "tamis/file/filter_kind_name.h"
#include "tamis/units.h"

namespace tamis {
namespace {

namespace fs = std::filesystem;

using detail::Json;

constexpr int kVersion = 3;  // version 1 had no filter kinds, 2 had no GPU
constexpr const char* kVersionName = "tamis_calibration";
constexpr size_t kMaxFileBytes = size_t{1} << 20;
// Limits, so that a file cannot exhaust the stack or the memory, or make the search for repeated
// names slow.
constexpr size_t kMaxDepth = 16;
constexpr size_t kMaxValues = size_t{1} << 17;  // valid files of 1 MiB have fewer
constexpr size_t kMaxMembers = 64;

std::string ReadWholeFile(const fs::path& path) {
  const os::File file(path);
  std::string text(std::min<uint64_t>(file.RegularBytes(), kMaxFileBytes) + 1, '\0');
  const size_t size = file.Read(std::as_writable_bytes(std::span(text)), 0);
  if (size > kMaxFileBytes) {
    detail::ThrowFormatError(path, ErrorCode::kCorrupt, "length", kMaxFileBytes,
                             detail::StrCat("longer than ", kMaxFileBytes, " bytes"));
  }
  text.resize(size);
  return text;
}

// A value in a file, with the offset at which it begins.
struct Value {
  enum class Kind : uint8_t { kObject, kArray, kString, kNumber };

  Kind kind = Kind::kObject;
  uint64_t offset = 0;
  double number = 0;  // finite
  std::string string;
  std::vector<Value> children;  // the elements of an array, the members of an object
  std::string name;             // of a member of an object: its name, unique in the object
};

const char* KindName(Value::Kind kind) {
  constexpr const char* kNames[] = {"an object", "an array", "a string", "a number"};
  return kNames[static_cast<size_t>(kind)];
}

// Makes a Value from the events of the parser.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  Builder(const fs::path& path, std::string_view text) : path_(path), text_(text) {}

  Value Build() {
    // The parser would treat a byte of 0 as the end of the text.
    if (const size_t at = text_.find('\0'); at != text_.npos) Fail(at, "a byte of 0");
    Json::sax_parse(text_.begin(), text_.end(), this);
    return std::move(root_);
  }

  bool null() override { Fail(Token(), "null, which is not allowed"); }
  bool boolean(bool) override { Fail(Token(), "true or false, which is not allowed"); }
  bool binary(binary_t&) override { Fail(Token(), "binary"); }  // never in a text
  bool number_integer(int64_t number) override { return AddNumber(static_cast<double>(number)); }
  bool number_unsigned(uint64_t number) override { return AddNumber(static_cast<double>(number)); }
  bool number_float(double number, const std::string&) override { return AddNumber(number); }
  bool string(std::string& string) override {
    Add(Value::Kind::kString).string = std::move(string);
    return true;
  }
  bool start_object(size_t) override { return Open(Value::Kind::kObject); }
  bool end_object() override { return Close(); }
  bool start_array(size_t) override { return Open(Value::Kind::kArray); }
  bool end_array() override { return Close(); }

  bool key(std::string& name) override {
    const uint64_t offset = Token();
    const std::vector<Value>& members = open_.back()->children;
    for (const Value& member : members) {
      if (member.name == name) Fail(offset, "a second \"" + name + "\" in one object");
    }
    if (members.size() == kMaxMembers) {
      Fail(offset, detail::StrCat("more than ", kMaxMembers, " names in one object"));
    }
    name_ = std::move(name);
    return true;
  }

  bool parse_error(size_t read, const std::string&, const Json::exception& error) override {
    // The rest of the message contains a part of the text, of any length and with any bytes.
    const std::string_view problem = error.what();
    constexpr size_t kMost = 200;
    Fail(std::min(read - 1, text_.size()),
         std::string(problem.substr(0, std::min(problem.find("; last read"), kMost))));
  }

 private:
  [[noreturn]] void Fail(uint64_t offset, const std::string& problem) const {
    detail::ThrowFormatError(path_, ErrorCode::kCorrupt, "JSON", offset, problem);
  }

  // Moves past the next token, and returns its offset. The parser has read the token, but does not
  // report its offset.
  uint64_t Token() {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (at_ == 0 && text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
    const size_t begin = text_.find_first_not_of(" \t\r\n,:", at_);
    at_ = begin + 1;
    if (text_[begin] == '"') {
      while (text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
      ++at_;
    } else if (std::string_view("{}[]").find(text_[begin]) == std::string_view::npos) {
      at_ = std::min(text_.find_first_of(" \t\r\n,]}", at_), text_.size());
    }
    return begin;
  }

  Value& Add(Value::Kind kind) {
    const uint64_t offset = Token();
    if (++num_values_ > kMaxValues) Fail(offset, "too many values");
    Value& value = open_.empty() ? root_ : open_.back()->children.emplace_back();
    value.kind = kind;
    value.offset = offset;
    value.name = std::exchange(name_, {});
    return value;
  }

  bool AddNumber(double number) {
    Add(Value::Kind::kNumber).number = number;
    return true;
  }

  bool Open(Value::Kind kind) {
    Value& value = Add(kind);
    if (open_.size() == kMaxDepth) {
      Fail(value.offset, detail::StrCat("nested more than ", kMaxDepth, " levels deep"));
    }
    open_.push_back(&value);
    return true;
  }

  bool Close() {
    Token();
    open_.pop_back();
    return true;
  }

  const fs::path& path_;
  std::string_view text_;
  size_t at_ = 0;  // the end of the last token that was added
  size_t num_values_ = 0;
  std::string name_;  // the name of the value to come
  Value root_;
  std::vector<Value*> open_;  // objects and arrays that have not ended, the innermost last
};

class Reader {
 public:
  explicit Reader(const fs::path& path) : path_(path) {}

  Calibration Read() const {
    const std::string text = ReadWholeFile(path_);
    const Value root = Builder(path_, text).Build();
    RequireKind(root, Value::Kind::kObject, "the file");
    // Checks the version before all other fields, because a file of another version has different
    // fields.
    const Value& version = Member(root, kVersionName, Value::Kind::kNumber);
    if (version.number != kVersion) {
      Fail(version, kVersionName,
           detail::StrCat("version ", NumberText(version.number), "; this library reads version ",
                          kVersion),
           ErrorCode::kUnsupported);
    }
    Calibration calibration;
    calibration.points.clear();
    calibration.machine = Member(root, "machine", Value::Kind::kString).string;
    calibration.device = Member(root, "device", Value::Kind::kString).string;
    ReadFigures<Calibration>(root, detail::kMachineFigures, calibration);
    Require(root, "machine", detail::MachineProblem(calibration));
    const Value& points = Member(root, "points", Value::Kind::kArray);
    RequireCount(root, 4 + std::size(detail::kMachineFigures));
    for (const Value& value : points.children) {
      calibration.points.push_back(ReadPoint(value));
      Require(value, "points", detail::PointProblem(calibration.points));
    }
    return calibration;
  }

 private:
  [[noreturn]] void Fail(const Value& at, const std::string& check, const std::string& problem,
                         ErrorCode code = ErrorCode::kCorrupt) const {
    detail::ThrowFormatError(path_, code, check, at.offset, problem);
  }

  void Require(const Value& at, const std::string& check, const std::string& problem) const {
    if (!problem.empty()) Fail(at, check, problem);
  }

  void RequireKind(const Value& value, Value::Kind kind, const std::string& name) const {
    if (value.kind != kind) {
      Fail(value, name, std::string(KindName(value.kind)) + "; must be " + KindName(kind));
    }
  }

  const Value& Member(const Value& object, const std::string& name, Value::Kind kind) const {
    for (const Value& member : object.children) {
      if (member.name != name) continue;
      RequireKind(member, kind, name);
      return member;
    }
    Fail(object, name, "is missing");
  }

  // Must be called when all required members have been found. Then any other member is an error.
  void RequireCount(const Value& object, size_t count) const {
    if (object.children.size() != count) {
      Fail(object, "names",
           detail::StrCat(object.children.size(), " in this object; must be ", count));
    }
  }

  template <typename Owner>
  void ReadFigures(const Value& object, std::span<const detail::Figure<Owner>> figures,
                   Owner& owner) const {
    for (const auto& figure : figures) {
      owner.*figure.value = Member(object, figure.name, Value::Kind::kNumber).number;
    }
  }

  Calibration::Point ReadPoint(const Value& object) const {
    RequireKind(object, Value::Kind::kObject, "points");
    Calibration::Point point;
    point.backend = Member(object, "backend", Value::Kind::kString).string;
    const Value& bytes = Member(object, "filter_bytes", Value::Kind::kNumber);
    if (!(bytes.number >= 0 && bytes.number <= detail::kMaxFilterBytes) ||
        bytes.number != std::floor(bytes.number)) {
      Fail(bytes, "filter_bytes", "is " + NumberText(bytes.number) + "; must be a whole number");
    }
    point.filter_bytes = static_cast<uint64_t>(bytes.number);
    ReadFigures<Calibration::Point>(object, detail::kCostFigures, point);
    const Value& kind = Member(object, "kind", Value::Kind::kString);
    if (!ParseFilterKind(kind.string, point.kind)) {
      Fail(kind, "kind", "is \"" + kind.string + "\", which is not a known filter kind");
    }
    RequireCount(object, 3 + std::size(detail::kCostFigures));
    return point;
  }

  const fs::path& path_;
};

template <typename Owner>
void AddFigures(std::span<const detail::Figure<Owner>> figures, const Owner& owner, Json& json) {
  for (const auto& figure : figures) json[figure.name] = owner.*figure.value;
}

std::string Encode(const Calibration& calibration) {
  Json json = {
      {kVersionName, kVersion}, {"machine", calibration.machine}, {"device", calibration.device}};
  AddFigures<Calibration>(detail::kMachineFigures, calibration, json);
  Json& points = json["points"] = Json::array();
  for (const Calibration::Point& point : calibration.points) {
    Json& added = points.emplace_back(Json{{"backend", point.backend},
                                           {"kind", FilterKindName(point.kind)},
                                           {"filter_bytes", point.filter_bytes}});
    AddFigures<Calibration::Point>(detail::kCostFigures, point, added);
  }
  return detail::JsonText(json) + "\n";
}

}  // namespace

Calibration Calibration::Load(const fs::path& path) { return Reader(path).Read(); }

void Calibration::Save(const fs::path& path) const {
  Validate();
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  if (error) os::ThrowIoError(path.parent_path(), "create the directory", error.value());
  const std::string text = Encode(*this);
  const std::span<const std::byte> parts[] = {std::as_bytes(std::span(text))};
  detail::WriteFileAtomically(path, parts);
}

}  // namespace tamis
