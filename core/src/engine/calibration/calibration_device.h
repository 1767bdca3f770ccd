// The part of Calibration::Measure that measures a GPU.
#ifndef TAMIS_CORE_SRC_ENGINE_CALIBRATION_CALIBRATION_DEVICE_H_
#define TAMIS_CORE_SRC_ENGINE_CALIBRATION_CALIBRATION_DEVICE_H_

#include <cstdint>
#include <memory>

#include "core/src/engine/accelerator.h"
#include "tamis/engine/calibration.h"

namespace tamis::detail {

// The number of keys of a large batch: several chunks of the ring in which keys travel.
inline constexpr uint64_t kDeviceKeys = uint64_t{8} << 20;

// Measures a GPU, for a calibration that has the costs of the host. Sets device, device_start_us
// and upload_gb_per_s, and replaces the points of `backend`. Measures the kinds and sizes for which
// the calibration has the costs of the host's best backend. Copies the costs of insertions, because
// the host does them. If `backend` is not in Backends(), `accelerator` is its accelerator,
// otherwise nullptr. Throws Error(kDevice), Error(kOutOfMemory), std::bad_alloc.
void MeasureDevice(const Backend& backend, const std::shared_ptr<Accelerator>& accelerator,
                   uint64_t keys, Calibration& calibration);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_ENGINE_CALIBRATION_CALIBRATION_DEVICE_H_
