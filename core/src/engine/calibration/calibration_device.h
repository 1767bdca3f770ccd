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

// Replaces the figures of a GPU in a calibration that has the figures of the host: device,
// device_start_us, upload_gb_per_s, and the points of `backend`, at the kinds and sizes at which
// the best backend of the host was measured. The host does the insertions, so their figures are
// copied. If `backend` is not in Backends(), `accelerator` is its accelerator, otherwise nullptr.
// Throws Error(kDevice), Error(kOutOfMemory), std::bad_alloc.
void MeasureDevice(const Backend& backend, const std::shared_ptr<Accelerator>& accelerator,
                   uint64_t keys, Calibration& calibration);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_ENGINE_CALIBRATION_CALIBRATION_DEVICE_H_
