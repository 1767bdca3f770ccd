// For builds without CUDA. Their library has no filters on devices.
#include "bench/suite/gpu.h"
#include "bench/suite/gpu_peer.h"

namespace tamis::bench {

std::unique_ptr<GpuDevice> OpenGpu() { return nullptr; }
std::span<const GpuPeerKind> GpuPeerKinds() noexcept { return {}; }
void MeasureGpu(GpuDevice&, const GpuSchedule&, Progress&, const SaveGpu&, Results&) {}

}  // namespace tamis::bench
