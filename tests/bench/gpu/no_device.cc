// For builds without CUDA, which have no GPU of this machine to measure.
#include "bench/suite/gpu.h"

namespace tamis::bench {

std::unique_ptr<GpuDevice> OpenGpu() { return nullptr; }

}  // namespace tamis::bench
