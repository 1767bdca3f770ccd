#include "tamis/calibration.h"

#include <cstdlib>
#include <span>
#include <string_view>
#include <utility>

#include "core/src/engine/calibration/calibration_fields.h"
#include "core/src/filters/kind_traits.h"
#include "tamis/backend.h"
#include "tamis/error.h"
#include "tamis/units.h"

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

// The same for cuckoo filters of 16 bits, which stand for all of them; insertion until they are
// full.
constexpr TypicalCost kCuckooPortable[] = {
    {256 * kKiB, 6.4, 15.4, 15.4}, {kMiB, 6.7, 14.3, 15.1},     {4 * kMiB, 12.2, 17.4, 17},
    {16 * kMiB, 14.4, 20, 17.5},   {64 * kMiB, 42, 36.5, 20.5}, {256 * kMiB, 60, 55, 28},
};
constexpr TypicalCost kCuckooVector128[] = {
    {256 * kKiB, 3.95, 12.9, 13}, {kMiB, 4, 11.8, 12.8},       {4 * kMiB, 5, 14.9, 15},
    {16 * kMiB, 7.6, 18, 15.2},   {64 * kMiB, 10.8, 40, 16.2}, {256 * kMiB, 16.1, 53, 22.3},
};
constexpr TypicalCost kCuckooVector256[] = {
    {256 * kKiB, 2.2, 11.7, 11.6}, {kMiB, 2.3, 10.5, 11.6},    {4 * kMiB, 3.3, 13.9, 13.5},
    {16 * kMiB, 5.5, 16.6, 14.5},  {64 * kMiB, 9, 33.6, 15.4}, {256 * kMiB, 12.4, 52, 21.9},
};
constexpr TypicalCost kCuckooVector512[] = {
    {256 * kKiB, 1.43, 11.8, 11.1}, {kMiB, 1.5, 10.5, 10.6},    {4 * kMiB, 2.9, 14, 12.4},
    {16 * kMiB, 5.3, 16.8, 12.8},   {64 * kMiB, 9.3, 28, 14.3}, {256 * kMiB, 15, 50, 21.7},
};

// The same for classic filters of 7 hashes per key and for counting filters, up to 256 MiB, while
// other programs shared the memory.
constexpr TypicalCost kBloomPortable[] = {
    {256 * kKiB, 14.2, 11.7, 11.7}, {kMiB, 15.8, 12.1, 12.1},    {4 * kMiB, 23.4, 22.3, 22.3},
    {16 * kMiB, 46.4, 61.2, 61.2},  {64 * kMiB, 84.9, 113, 113}, {256 * kMiB, 100, 120, 120},
};
constexpr TypicalCost kBloomVector128[] = {
    {256 * kKiB, 17.2, 18.7, 18.7}, {kMiB, 18, 19.9, 19.9},        {4 * kMiB, 21.3, 24.3, 24.3},
    {16 * kMiB, 30.7, 33, 33},      {64 * kMiB, 59.2, 75.4, 75.4}, {256 * kMiB, 68.8, 94.4, 94.4},
};
constexpr TypicalCost kBloomVector256[] = {
    {256 * kKiB, 12.2, 13.2, 13.2}, {kMiB, 13, 14.5, 14.5},        {4 * kMiB, 14.3, 18.8, 18.8},
    {16 * kMiB, 23.3, 27.7, 27.7},  {64 * kMiB, 49.6, 64.7, 64.7}, {256 * kMiB, 62.3, 90.3, 90.3},
};
constexpr TypicalCost kBloomVector512[] = {
    {256 * kKiB, 7.43, 12.3, 12.3}, {kMiB, 8.49, 13.4, 13.4},      {4 * kMiB, 10.4, 20.3, 20.3},
    {16 * kMiB, 19.9, 27.9, 27.9},  {64 * kMiB, 46.3, 62.8, 62.8}, {256 * kMiB, 62.4, 91.3, 91.3},
};
constexpr TypicalCost kCountingPortable[] = {
    {256 * kKiB, 11.6, 14.8, 13.3}, {kMiB, 13.8, 17.1, 16.5},      {4 * kMiB, 17.8, 23.5, 21.5},
    {16 * kMiB, 29.4, 53.4, 25.9},  {64 * kMiB, 67.1, 89.2, 27.2}, {256 * kMiB, 73.2, 101, 32.3},
};
constexpr TypicalCost kCountingVector128[] = {
    {256 * kKiB, 6.74, 9.14, 9.96}, {kMiB, 6.74, 9.18, 10.3},    {4 * kMiB, 6.77, 9.17, 11.8},
    {16 * kMiB, 7.06, 9.81, 12.2},  {64 * kMiB, 11, 14.5, 12.1}, {256 * kMiB, 14, 18.7, 12.4},
};
constexpr TypicalCost kCountingVector256[] = {
    {256 * kKiB, 2.63, 2.93, 3.97}, {kMiB, 2.82, 3.24, 4.46},      {4 * kMiB, 2.86, 3.11, 5.76},
    {16 * kMiB, 3.93, 4.8, 6.26},   {64 * kMiB, 7.59, 9.17, 6.78}, {256 * kMiB, 7.98, 10.4, 7.25},
};
constexpr TypicalCost kCountingVector512[] = {
    {256 * kKiB, 1.93, 2.28, 3.41}, {kMiB, 1.94, 2.17, 3.77},      {4 * kMiB, 2.36, 2.66, 5.98},
    {16 * kMiB, 3.42, 3.98, 5.63},  {64 * kMiB, 7.52, 8.88, 6.06}, {256 * kMiB, 7.71, 9.01, 6.58},
};

// Keys that travel over the bus of a GPU, staged by a thread or two: an estimate, where the others
// are measured. Insertions are the host's.
constexpr double kDeviceContainsNs = 0.8;

struct TypicalCosts {
  std::span<const TypicalCost> split_block;
  std::span<const TypicalCost> cuckoo16;
  std::span<const TypicalCost> bloom;
  std::span<const TypicalCost> counting;
};

TypicalCosts CostsOf(std::string_view backend) {
  if (backend == "portable") return {kPortable, kCuckooPortable, kBloomPortable, kCountingPortable};
  if (backend.starts_with("AVX3") || backend.starts_with("AVX10")) {
    return {kVector512, kCuckooVector512, kBloomVector512, kCountingVector512};
  }
  if (backend == "AVX2" || backend == "SVE_256") {
    return {kVector256, kCuckooVector256, kBloomVector256, kCountingVector256};
  }
  return {kVector128, kCuckooVector128, kBloomVector128, kCountingVector128};
}

}  // namespace

Calibration::Calibration() {
  for (const Backend& backend : Backends()) {
    const bool on_device = backend.make_accelerator != nullptr;
    const TypicalCosts costs = CostsOf(on_device ? Backends().front().name : backend.name);
    for (const auto& [kind, of_kind] : {std::pair(FilterKind::kSplitBlock, costs.split_block),
                                        std::pair(FilterKind::kCuckoo16, costs.cuckoo16),
                                        std::pair(FilterKind::kBloom, costs.bloom),
                                        std::pair(FilterKind::kCounting, costs.counting)}) {
      if (on_device && !IsCuckoo(kind) && kind != FilterKind::kSplitBlock) continue;
      for (const TypicalCost& cost : of_kind) {
        points.push_back({std::string(backend.name), cost.filter_bytes,
                          on_device ? kDeviceContainsNs : cost.contains_ns, cost.insert_ns,
                          cost.partitioned_insert_ns, kind});
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

std::string PointProblem(std::span<const CostPoint> points) {
  const CostPoint& point = points.back();
  const std::string bytes = "filter_bytes is " + std::to_string(point.filter_bytes);
  if (point.filter_bytes < 1 || point.filter_bytes > kMaxFilterBytes) {
    return bytes + "; allowed: 1 to " + std::to_string(kMaxFilterBytes);
  }
  for (const CostPoint& other : points.first(points.size() - 1)) {
    if (other.backend == point.backend && other.kind == point.kind &&
        other.filter_bytes >= point.filter_bytes) {
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
