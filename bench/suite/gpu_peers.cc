#include "bench/suite/gpu_peer.h"

namespace tamis::bench {

// Each peer is defined in a separate CUDA source, because each is compiled with the headers of its
// library.
#if TAMIS_HAVE_CUCO
extern const GpuPeerKind kCucoPeer;
#endif
#if TAMIS_HAVE_CUCKOO_GPU
extern const GpuPeerKind kCuckooGpuPeer;
#endif

std::span<const GpuPeerKind> GpuPeerKinds() noexcept {
#if TAMIS_HAVE_CUCO && TAMIS_HAVE_CUCKOO_GPU
  static const GpuPeerKind kinds[] = {kCucoPeer, kCuckooGpuPeer};
  return kinds;
#elif TAMIS_HAVE_CUCO
  return {&kCucoPeer, 1};
#elif TAMIS_HAVE_CUCKOO_GPU
  return {&kCuckooGpuPeer, 1};
#else
  return {};
#endif
}

}  // namespace tamis::bench
