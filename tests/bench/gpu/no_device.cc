// For builds without CUDA, which have no GPU of this machine to measure.
#include "bench/suite/gpu.h"
#include "bench/suite/gpu_peer.h"

namespace tamis::bench {

std::unique_ptr<GpuDevice> OpenGpu() { return nullptr; }
std::span<const GpuPeerKind> GpuPeerKinds() noexcept { return {}; }

}  // namespace tamis::bench
