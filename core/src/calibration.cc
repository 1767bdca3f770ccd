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

struct TypicalCost {
  uint64_t filter_bytes;
  double contains_ns;
  double insert_ns;
  double partitioned_insert_ns;
};

// Figures of a typical machine, by the width of a backend's vectors.
// TO BE REPLACED by measured ones.
constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMiB = 1024 * kKiB;
constexpr TypicalCost kPortable[] = {{256 * kKiB, 4.0, 3.0, 5.0}, {256 * kMiB, 20.0, 15.0, 6.0}};
constexpr TypicalCost kVector128[] = {{256 * kKiB, 2.5, 2.5, 4.0}, {256 * kMiB, 13.0, 12.0, 5.0}};
constexpr TypicalCost kVector256[] = {{256 * kKiB, 1.6, 1.6, 3.0}, {256 * kMiB, 12.0, 11.0, 4.0}};
constexpr TypicalCost kVector512[] = {{256 * kKiB, 1.4, 1.5, 3.0}, {256 * kMiB, 11.0, 11.0, 4.0}};

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
    return std::string(figure.name) + " is " + JsonNumber(value) + "; allowed: " +
           (figure.may_be_zero ? "0 to " : "more than 0, up to ") + JsonNumber(figure.max);
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
