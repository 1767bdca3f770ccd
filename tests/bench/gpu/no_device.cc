// For builds without CUDA, which cannot measure a GPU.
#include "bench/suite/gpu.h"
#include "bench/suite/gpu_peer.h"

namespace tamis::bench {

std::unique_ptr<GpuDevice> OpenGpu() { return nullptr; }
std::span<const GpuPeerKind> GpuPeerKinds() noexcept { return {}; }

}  // namespace tamis::bench
