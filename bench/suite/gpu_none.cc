// For builds without CUDA, whose library has no filters on devices.
#include "bench/suite/gpu.h"

namespace tamis::bench {

std::unique_ptr<GpuDevice> OpenGpu() { return nullptr; }
GpuSchedule GpuScheduleFor(Mode, uint64_t) { return {}; }
std::vector<std::string> GpuCaseNames(const GpuSchedule&) { return {}; }
void MeasureGpu(GpuDevice&, const GpuSchedule&, Progress&, Results&) {}

}  // namespace tamis::bench
