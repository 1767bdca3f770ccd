// The figures of a calibration by name, and their checks.
#ifndef TAMIS_CORE_SRC_ENGINE_CALIBRATION_CALIBRATION_FIELDS_H_
#define TAMIS_CORE_SRC_ENGINE_CALIBRATION_CALIBRATION_FIELDS_H_

#include <cstdint>
#include <span>
#include <string>

#include "tamis/engine/calibration.h"

namespace tamis::detail {

inline constexpr uint64_t kMaxFilterBytes = uint64_t{1} << 53;  // doubles are exact up to here

template <typename Owner>
struct Figure {
  const char* name;
  double Owner::*value;
  double max;
  bool may_be_zero;
};

inline constexpr Figure<Calibration> kMachineFigures[] = {
    {"thread_start_us", &Calibration::thread_start_us, 1e6, true},
    {"thread_efficiency", &Calibration::thread_efficiency, 1, false},
    {"device_start_us", &Calibration::device_start_us, 1e6, true},
    {"upload_gb_per_s", &Calibration::upload_gb_per_s, 1e6, false},
};

inline constexpr Figure<Calibration::Point> kCostFigures[] = {
    {"contains_ns", &Calibration::Point::contains_ns, 1e6, false},
    {"insert_ns", &Calibration::Point::insert_ns, 1e6, false},
    {"partitioned_insert_ns", &Calibration::Point::partitioned_insert_ns, 1e6, false},
};

// Return a text about what is wrong with the costs of the machine, or with the last point. The
// points before it must be right. The text is empty if nothing is wrong.
std::string MachineProblem(const Calibration& calibration);
std::string PointProblem(std::span<const Calibration::Point> points);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_ENGINE_CALIBRATION_CALIBRATION_FIELDS_H_
