#include "tamis/calibration.h"

#include <cstdlib>
#include <span>
#include <string_view>

#include "core/src/calibration_fields.h"
#include "core/src/json.h"
#include "tamis/backend.h"
#include "tamis/error.h"

namespace tamis {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMiB = 1024 * kKiB;
constexpr uint64_t kGiB = 1024 * kMiB;

struct TypicalCost {
  uint64_t filter_bytes;
  double contains_ns;
  double insert_ns;
  double partitioned_insert_ns;
};

// Figures of a typical machine, by the width of a backend's vectors: what Measure(4 * kGiB) gave,
// for AVX3, AVX2 and SSE4, on one core of a virtual machine with an Intel Xeon (family 6, model
// 167; 2 MiB of second-level cache) and huge pages.
constexpr TypicalCost kPortable[] = {
    {256 * kKiB, 8.1, 6, 5.5}, {kMiB, 9.2, 6.6, 6.3},     {4 * kMiB, 13.5, 9.7, 8.9},
    {16 * kMiB, 16.9, 14, 11}, {64 * kMiB, 49, 39, 13.5}, {256 * kMiB, 56, 45, 15.7},
    {kGiB, 64, 49, 24},        {4 * kGiB, 85, 68, 36},
};
constexpr TypicalCost kVector128[] = {
    {256 * kKiB, 3.5, 2.9, 3.7}, {kMiB, 3.5, 2.9, 3.9},      {4 * kMiB, 3.5, 3, 5},
    {16 * kMiB, 4.5, 4, 5.4},    {64 * kMiB, 8.2, 8.2, 6.7}, {256 * kMiB, 9.9, 9.1, 8.7},
    {kGiB, 14.6, 12.1, 11.6},    {4 * kGiB, 18.5, 16, 13.1},
};
constexpr TypicalCost kVector256[] = {
    {256 * kKiB, 1.73, 1.37, 2.6}, {kMiB, 1.66, 1.37, 2.8},      {4 * kMiB, 1.93, 1.8, 4},
    {16 * kMiB, 3.1, 3.2, 4.1},    {64 * kMiB, 5.6, 6.1, 5.4},   {256 * kMiB, 7, 7.7, 7.6},
    {kGiB, 10.7, 11.3, 9.9},       {4 * kGiB, 14.1, 15.2, 11.4},
};
constexpr TypicalCost kVector512[] = {
    {256 * kKiB, 1.02, 1.06, 2.2}, {kMiB, 1.14, 1.16, 2.4},      {4 * kMiB, 1.6, 1.66, 3.9},
    {16 * kMiB, 2.95, 3.1, 4},     {64 * kMiB, 5.2, 5.7, 5.2},   {256 * kMiB, 7.5, 8.2, 7.2},
    {kGiB, 11.3, 11.8, 9.9},       {4 * kGiB, 14.3, 15.8, 11.4},
};

std::span<const TypicalCost> TypicalCosts(std::string_view backend) {
  if (backend == "portable") return kPortable;
  if (backend.starts_with("AVX3") || backend.starts_with("AVX10")) return kVector512;
  if (backend == "AVX2" || backend == "SVE_256") return kVector256;
  return kVector128;
}

}  // namespace

Calibration::Calibration() {
  for (const Backend& backend : Backends()) {
    for (const TypicalCost& cost : TypicalCosts(backend.name)) {
      points.push_back({std::string(backend.name), cost.filter_bytes, cost.contains_ns,
                        cost.insert_ns, cost.partitioned_insert_ns});
    }
  }
}

namespace detail {
namespace {

template <typename Owner>
std::string Problem(std::span<const Figure<Owner>> figures, const Owner& owner) {
  for (const Figure<Owner>& figure : figures) {
    const double value = owner.*figure.value;
    if (value <= figure.max && (value > 0 || (figure.may_be_zero && value == 0))) continue;
    return std::string(figure.name) + " is " + JsonNumber(value) +
           "; allowed: " + (figure.may_be_zero ? "0 to " : "more than 0, up to ") +
           JsonNumber(figure.max);
  }
  return {};
}

}  // namespace

std::string MachineProblem(const Calibration& calibration) {
  return Problem<Calibration>(kMachineFigures, calibration);
}

std::string PointProblem(std::span<const CostPoint> points) {
  const CostPoint& point = points.back();
  const std::string bytes = "filter_bytes is " + std::to_string(point.filter_bytes);
  if (point.filter_bytes < 1 || point.filter_bytes > kMaxFilterBytes) {
    return bytes + "; allowed: 1 to " + std::to_string(kMaxFilterBytes);
  }
  for (const CostPoint& other : points.first(points.size() - 1)) {
    if (other.backend == point.backend && other.filter_bytes >= point.filter_bytes) {
      return bytes + " after " + std::to_string(other.filter_bytes) + " for " + point.backend +
             "; must ascend";
    }
  }
  return Problem<CostPoint>(kCostFigures, point);
}

}  // namespace detail

void Calibration::Validate() const {
  const auto require = [](const std::string& problem) {
    if (!problem.empty()) throw Error(ErrorCode::kInvalidArgument, "calibration: " + problem);
  };
  require(detail::MachineProblem(*this));
  for (size_t i = 0; i < points.size(); ++i) {
    require(detail::PointProblem(std::span(points).first(i + 1)));
  }
}

fs::path Calibration::DefaultPath() {
  // A relative path is to be ignored: freedesktop.org, XDG Base Directory Specification.
  const auto directory = [](const char* variable) {
    const char* value = std::getenv(variable);
    const fs::path path = value == nullptr ? "" : value;
    return path.is_absolute() ? path : fs::path();
  };
  fs::path cache = directory("XDG_CACHE_HOME");
  if (cache.empty() && !directory("HOME").empty()) cache = directory("HOME") / ".cache";
  if (cache.empty()) {
    throw Error(ErrorCode::kIo,
                "no directory for the calibration: neither XDG_CACHE_HOME nor HOME is set to an "
                "absolute path");
  }
  return cache / "tamis" / "calibration.json";
}

}  // namespace tamis
