// The part of Calibration::Measure that is for a GPU.
#ifndef TAMIS_CORE_SRC_ENGINE_CALIBRATION_CALIBRATION_DEVICE_H_
#define TAMIS_CORE_SRC_ENGINE_CALIBRATION_CALIBRATION_DEVICE_H_

#include <cstdint>
#include <memory>

#include "core/src/engine/accelerator.h"
#include "tamis/engine/calibration.h"

namespace tamis::detail {

// Keys of a large batch: several chunks of the ring in which they travel.
inline constexpr uint64_t kDeviceKeys = uint64_t{8} << 20;

// Replaces the figures of a GPU in a calibration that has those of the host: device,
// device_start_us, upload_gb_per_s, and the points of `backend`, at the kinds and sizes that the
// best backend of the host was measured at. Insertion is the host's, whose figures are copied.
// `accelerator` is that of a backend besides those of Backends(), else nullptr. Throws
// Error(kDevice), Error(kOutOfMemory), std::bad_alloc.
void MeasureDevice(const Backend& backend, const std::shared_ptr<Accelerator>& accelerator,
                   uint64_t keys, Calibration& calibration);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_ENGINE_CALIBRATION_CALIBRATION_DEVICE_H_
