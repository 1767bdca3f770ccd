// The filters that a calibration measures.
#ifndef TAMIS_CORE_SRC_ENGINE_CALIBRATION_MEASURED_FILTER_H_
#define TAMIS_CORE_SRC_ENGINE_CALIBRATION_MEASURED_FILTER_H_

#include <cstdint>

#include "core/src/filters/registry/kinds.h"
#include "tamis/filters/any_filter.h"

namespace tamis::detail {

// Returns the number of keys from which a static filter of about `filter_bytes` bytes is built. The
// filter is a little smaller if it is a fuse8 filter of a size that Calibration::Measure asks for.
uint64_t MeasuredKeys(const Kind& kind, uint64_t filter_bytes);
// Returns an empty filter of at most `filter_bytes` bytes. For a static kind, returns a filter of
// the integers below MeasuredKeys.
AnyFilter MakeMeasured(const Kind& kind, uint64_t filter_bytes);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_ENGINE_CALIBRATION_MEASURED_FILTER_H_
