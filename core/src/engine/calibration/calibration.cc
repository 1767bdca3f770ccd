#include "tamis/engine/calibration.h"

#include <cstdlib>
#include <span>
#include <string_view>
#include <utility>

#include "core/src/engine/calibration/calibration_fields.h"
#include "core/src/filters/registry/kinds.h"
#include "core/src/os/folder.h"
#include "tamis/backend.h"
#include "tamis/backends.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/file/filter_kind_name.h"
#include "tamis/units.h"

namespace tamis {
namespace {

namespace fs = std::filesystem;

// The cost of keys that travel over the bus of a GPU, prepared by one or two threads. This cost is
// estimated. All other costs are measured. The host does the insertions.
constexpr double kDeviceContainsNs = 0.8;

}  // namespace

Calibration::Calibration() {
  for (const Backend& backend : Backends()) {
    const bool on_device = backend.make_accelerator != nullptr;
    for (const detail::Kind* kind : detail::Kinds()) {
      const detail::KindCalibration& rule = kind->calibration;
      if (rule.costs_as != kind->info.kind || (on_device && !rule.on_device)) continue;
      const std::string_view host = on_device ? Backends().front().name : backend.name;
      for (const auto& [bytes, cost] : detail::TypicalCostsOf(*kind, host)) {
        points.push_back({std::string(backend.name), bytes,
                          on_device ? kDeviceContainsNs : cost.contains_ns, cost.insert_ns,
                          cost.partitioned_insert_ns, kind->info.kind});
      }
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
    return std::string(figure.name) + " is " + NumberText(value) +
           "; allowed: " + (figure.may_be_zero ? "0 to " : "more than 0, up to ") +
           NumberText(figure.max);
  }
  return {};
}

}  // namespace

std::string MachineProblem(const Calibration& calibration) {
  return Problem<Calibration>(kMachineFigures, calibration);
}

std::string PointProblem(std::span<const Calibration::Point> points) {
  const Calibration::Point& point = points.back();
  const std::string bytes = StrCat("filter_bytes is ", point.filter_bytes);
  if (point.filter_bytes < 1 || point.filter_bytes > kMaxFilterBytes) {
    return StrCat(bytes, "; allowed: 1 to ", kMaxFilterBytes);
  }
  for (const Calibration::Point& other : points.first(points.size() - 1)) {
    if (other.backend == point.backend && other.kind == point.kind &&
        other.filter_bytes >= point.filter_bytes) {
      return StrCat(bytes, " after ", other.filter_bytes, " for ", point.backend, "; must ascend");
    }
  }
  const Kind* const kind = FindKind(point.kind);
  if (kind == nullptr || kind->info.has_layers) {
    return std::string("kind is ") + FilterKindName(point.kind) +
           "; allowed: kinds that are measured";
  }
  return Problem<Calibration::Point>(kCostFigures, point);
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
  const fs::path cache = os::CacheFolder();
  if (cache.empty()) {
    throw Error(ErrorCode::kIo,
                std::string("no directory for the calibration: ") + os::kNoCacheFolder);
  }
  return cache / "tamis" / "calibration.json";
}

}  // namespace tamis
