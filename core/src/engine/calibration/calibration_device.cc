#include "core/src/engine/calibration/calibration_device.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "core/src/engine/calibration/calibration_fields.h"
#include "core/src/engine/calibration/measured_filter.h"
#include "core/src/engine/engine_access.h"
#include "core/src/filters/registry/kinds.h"
#include "tamis/backend.h"
#include "tamis/backends.h"
#include "tamis/engine/engine.h"
#include "tamis/error.h"
#include "tamis/filters/any_filter.h"

namespace tamis {
namespace detail {
namespace {

constexpr int kRepetitions = 5;
constexpr uint64_t kFewKeys = 64;
constexpr double kLeastSeconds = 1e-9;  // a coarse clock may measure 0

// Measures wall-clock time, because the thread that waits for a GPU may sleep.
template <typename Call>
double MedianSeconds(const Call& call) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  for (int i = 0; i < kRepetitions; ++i) {
    const Clock::time_point start = Clock::now();
    call();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + kRepetitions / 2, seconds.end());
  return std::max(seconds[kRepetitions / 2], kLeastSeconds);
}

}  // namespace

void MeasureDevice(const Backend& backend, const std::shared_ptr<Accelerator>& accelerator,
                   uint64_t keys, Calibration& calibration) {
  EngineOptions options;
  options.pin = CallRoute{&backend, 1, false, 0, 0};
  options.calibration.points = {{std::string(backend.name), 1, 1, 1, 1}};  // the only route
  const Engine engine = EngineAccess::Make(std::move(options), accelerator);
  // Filters stay empty if their kind allows that, because a GPU takes as long for empty filters as
  // for full ones.
  std::vector<uint64_t> many(keys);
  for (uint64_t i = 0; i < keys; ++i) many[i] = i * 0x9E3779B97F4A7C15;
  std::vector<uint64_t> bits(BitmapWords(keys));
  const auto ask = [&](const Filter& filter, uint64_t n) {
    engine.Contains(filter, Keys(many).Slice(0, n), Bitmap(bits));
  };

  std::erase_if(calibration.points,
                [&](const Calibration::Point& point) { return point.backend == backend.name; });
  const std::vector<Calibration::Point> host = calibration.points;
  uint64_t largest = 0;
  for (const Calibration::Point& of_host : host) {
    if (of_host.backend != Backends().front().name) continue;
    const Kind& kind = KindOf(of_host.kind);
    if (!kind.calibration.on_device) continue;
    // Building a larger filter of a static kind takes too much memory.
    if (kind.info.is_static && of_host.filter_bytes > kind.calibration.max_bytes) continue;
    const AnyFilter filter = MakeMeasured(kind, of_host.filter_bytes);
    ask(*filter, keys);  // copies the filter; the first call also makes the ring
    const double few = MedianSeconds([&] { ask(*filter, kFewKeys); });
    const double all = MedianSeconds([&] { ask(*filter, keys); });
    Calibration::Point point = of_host;
    point.backend = backend.name;
    point.filter_bytes = filter->bytes();
    point.contains_ns =
        std::max(1e9 * (all - few) / static_cast<double>(keys), 1e9 * kLeastSeconds / 1e3);
    calibration.points.push_back(point);
    // Two points of the host with close sizes can lead to two filters of the same size.
    if (!PointProblem(calibration.points).empty()) {
      calibration.points.pop_back();
      continue;
    }
    if (filter->bytes() < largest || kind.info.is_static) continue;
    largest = filter->bytes();
    calibration.device_start_us = 1e6 * few;
    // Each insertion outdates the copy on the device.
    const double copied = MedianSeconds([&] {
      RequireChangeable(*filter).Insert(std::span(many).first(1));
      ask(*filter, kFewKeys);
    });
    calibration.upload_gb_per_s =
        1e-9 * static_cast<double>(largest) / std::max(copied - few, kLeastSeconds);
  }
  const std::string_view description = backend.description;
  if (largest > 0) calibration.device = description.substr(0, description.find(';'));
}

}  // namespace detail

void Calibration::MeasureDevice() {
  for (const Backend& backend : Backends()) {
    if (backend.make_accelerator == nullptr) continue;
    Calibration measured = *this;
    std::erase_if(points,
                  [&](const Calibration::Point& point) { return point.backend == backend.name; });
    try {
      detail::MeasureDevice(backend, nullptr, detail::kDeviceKeys, measured);
      *this = std::move(measured);
    } catch (const Error&) {
    }
  }
}

}  // namespace tamis
