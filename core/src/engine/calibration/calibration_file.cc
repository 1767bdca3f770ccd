// Calibrations as JSON files.
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "core/src/engine/calibration/calibration_fields.h"
#include "core/src/engine/calibration/json.h"
#include "core/src/file/atomic_file.h"
#include "core/src/file/file_format.h"
#include "core/src/file/posix_file.h"
#include "tamis/calibration.h"
#include "tamis/error.h"

namespace tamis {
namespace {

namespace fs = std::filesystem;
using detail::JsonNumber;
using detail::JsonString;
using detail::JsonValue;

constexpr int kVersion = 3;  // 1 had no kinds of filters, 2 nothing of a GPU
constexpr const char* kVersionName = "tamis_calibration";
constexpr size_t kMaxFileBytes = size_t{1} << 20;

// O_NONBLOCK, which regular files ignore: opening a named pipe would wait for somebody to write.
std::string ReadWholeFile(const fs::path& path) {
  const detail::Descriptor file(
      detail::Retry([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
  if (file.get() < 0) detail::ThrowIoError(path, "open");
  struct stat status;
  if (fstat(file.get(), &status) != 0) detail::ThrowIoError(path, "read its status");
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorCode::kIo, path.string() + ": cannot read: not a regular file");
  }
  const auto expected = static_cast<size_t>(status.st_size);
  std::string text(std::min(expected, kMaxFileBytes) + 1, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t n =
        detail::Retry([&] { return read(file.get(), text.data() + size, text.size() - size); });
    if (n < 0) detail::ThrowIoError(path, "read");
    if (n == 0) break;
    size += static_cast<size_t>(n);
  }
  if (size > kMaxFileBytes) {
    detail::ThrowFormatError(path, ErrorCode::kCorrupt, "length", kMaxFileBytes,
                             "longer than " + std::to_string(kMaxFileBytes) + " bytes");
  }
  text.resize(size);
  return text;
}

class Reader {
 public:
  explicit Reader(const fs::path& path) : path_(path) {}

  Calibration Read() const {
    const JsonValue root = Parse(ReadWholeFile(path_));
    RequireKind(root, JsonValue::Kind::kObject, "the file");
    // Before all others: a file of another version has other fields.
    const JsonValue& version = Member(root, kVersionName, JsonValue::Kind::kNumber);
    if (version.number != kVersion) {
      Fail(version, kVersionName,
           "version " + JsonNumber(version.number) + "; this library reads version " +
               JsonNumber(kVersion),
           ErrorCode::kUnsupported);
    }
    Calibration calibration;
    calibration.points.clear();
    calibration.machine = Member(root, "machine", JsonValue::Kind::kString).string;
    calibration.device = Member(root, "device", JsonValue::Kind::kString).string;
    ReadFigures<Calibration>(root, detail::kMachineFigures, calibration);
    Require(root, "machine", detail::MachineProblem(calibration));
    const JsonValue& points = Member(root, "points", JsonValue::Kind::kArray);
    RequireCount(root, 4 + std::size(detail::kMachineFigures));
    for (const JsonValue& value : points.children) {
      calibration.points.push_back(ReadPoint(value));
      Require(value, "points", detail::PointProblem(calibration.points));
    }
    return calibration;
  }

 private:
  [[noreturn]] void Fail(const JsonValue& at, const std::string& check, const std::string& problem,
                         ErrorCode code = ErrorCode::kCorrupt) const {
    detail::ThrowFormatError(path_, code, check, at.offset, problem);
  }

  JsonValue Parse(const std::string& text) const {
    try {
      return detail::ParseJson(text);
    } catch (const detail::JsonError& error) {
      detail::ThrowFormatError(path_, ErrorCode::kCorrupt, "JSON", error.offset, error.what());
    }
  }

  void Require(const JsonValue& at, const std::string& check, const std::string& problem) const {
    if (!problem.empty()) Fail(at, check, problem);
  }

  void RequireKind(const JsonValue& value, JsonValue::Kind kind, const std::string& name) const {
    if (value.kind != kind) {
      Fail(value, name, std::string(JsonKindName(value.kind)) + "; must be " + JsonKindName(kind));
    }
  }

  const JsonValue& Member(const JsonValue& object, const std::string& name,
                          JsonValue::Kind kind) const {
    for (const JsonValue& member : object.children) {
      if (member.name != name) continue;
      RequireKind(member, kind, name);
      return member;
    }
    Fail(object, name, "is missing");
  }

  // Called when all members that there should be have been found: then others are too many.
  void RequireCount(const JsonValue& object, size_t count) const {
    if (object.children.size() != count) {
      Fail(object, "names",
           std::to_string(object.children.size()) + " in this object; must be " +
               std::to_string(count));
    }
  }

  template <typename Owner>
  void ReadFigures(const JsonValue& object, std::span<const detail::Figure<Owner>> figures,
                   Owner& owner) const {
    for (const auto& figure : figures) {
      owner.*figure.value = Member(object, figure.name, JsonValue::Kind::kNumber).number;
    }
  }

  CostPoint ReadPoint(const JsonValue& object) const {
    RequireKind(object, JsonValue::Kind::kObject, "points");
    CostPoint point;
    point.backend = Member(object, "backend", JsonValue::Kind::kString).string;
    const JsonValue& bytes = Member(object, "filter_bytes", JsonValue::Kind::kNumber);
    if (!(bytes.number >= 0 && bytes.number <= detail::kMaxFilterBytes) ||
        bytes.number != std::floor(bytes.number)) {
      Fail(bytes, "filter_bytes", "is " + JsonNumber(bytes.number) + "; must be a whole number");
    }
    point.filter_bytes = static_cast<uint64_t>(bytes.number);
    ReadFigures<CostPoint>(object, detail::kCostFigures, point);
    const JsonValue& kind = Member(object, "kind", JsonValue::Kind::kString);
    if (!ParseFilterKind(kind.string, point.kind)) {
      Fail(kind, "kind", "is \"" + kind.string + "\", which is no kind of filter known here");
    }
    RequireCount(object, 3 + std::size(detail::kCostFigures));
    return point;
  }

  const fs::path& path_;
};

template <typename Owner>
void AppendFigures(std::span<const detail::Figure<Owner>> figures, const Owner& owner,
                   const std::string& separator, std::string& text) {
  for (const auto& figure : figures) {
    text += separator + JsonString(figure.name) + ": " + JsonNumber(owner.*figure.value);
  }
}

std::string Encode(const Calibration& calibration) {
  std::string text = "{\n  " + JsonString(kVersionName) + ": " + std::to_string(kVersion) +
                     ",\n  \"machine\": " + JsonString(calibration.machine) +
                     ",\n  \"device\": " + JsonString(calibration.device);
  AppendFigures<Calibration>(detail::kMachineFigures, calibration, ",\n  ", text);
  text += ",\n  \"points\": [";
  const char* separator = "\n    ";
  for (const CostPoint& point : calibration.points) {
    text += separator + ("{\"backend\": " + JsonString(point.backend)) +
            ", \"kind\": " + JsonString(FilterKindName(point.kind)) +
            ", \"filter_bytes\": " + std::to_string(point.filter_bytes);
    AppendFigures<CostPoint>(detail::kCostFigures, point, ", ", text);
    text += "}";
    separator = ",\n    ";
  }
  return text + "\n  ]\n}\n";
}

}  // namespace

Calibration Calibration::Load(const fs::path& path) { return Reader(path).Read(); }

void Calibration::Save(const fs::path& path) const {
  Validate();
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  if (error) detail::ThrowIoError(path.parent_path(), "create the directory", error.value());
  const std::string text = Encode(*this);
  const std::span<const std::byte> parts[] = {std::as_bytes(std::span(text))};
  detail::WriteFileAtomically(path, parts);
}

}  // namespace tamis
