// The filter of Cuckoo-GPU as in its own benchmark: fingerprints of 16 bits, 16 per bucket, filled
// to 0.95.
#include <cuda_runtime.h>

#include <bit>
#include <cuckoogpu/CuckooFilter.cuh>
#include <new>
#include <stdexcept>

#include "bench/suite/gpu_peer.h"

namespace tamis::bench {
namespace {

using Config = cuckoogpu::Config<uint64_t, 16, 500, 128, 16, cuckoogpu::XorAltBucketPolicy>;
using Cuckoo = cuckoogpu::Filter<Config>;

class CuckooGpuPeer final : public GpuPeer {
 public:
  // The kernels receive the address of the filter, so it must be valid on the device.
  explicit CuckooGpuPeer(uint64_t bytes) {
    void* memory = nullptr;
    if (cudaMallocManaged(&memory, sizeof(Cuckoo)) != cudaSuccess) {
      (void)cudaGetLastError();
      throw std::runtime_error("no managed memory for Cuckoo-GPU");
    }
    // The number of buckets is a power of two: the largest that fits.
    filter_ = new (memory) Cuckoo(std::bit_floor(bytes) / sizeof(uint16_t));
  }
  CuckooGpuPeer(const CuckooGpuPeer&) = delete;
  CuckooGpuPeer& operator=(const CuckooGpuPeer&) = delete;
  ~CuckooGpuPeer() override {
    filter_->~Cuckoo();
    cudaFree(filter_);
  }

  uint64_t bytes() const override { return filter_->sizeInBytes(); }
  uint64_t num_keys() const override {
    return static_cast<uint64_t>(0.95 * static_cast<double>(filter_->capacity()));
  }
  // Cuckoo-GPU clears on the default stream, which does not wait for others.
  void Clear(cudaStream_t stream) override {
    cudaStreamSynchronize(stream);
    filter_->clear();
    cudaStreamSynchronize(nullptr);
  }
  uint64_t Insert(const uint64_t* keys, uint64_t n, cudaStream_t stream) override {
    const uint64_t before = filter_->h_numOccupied;
    return filter_->insertMany(keys, n, nullptr, stream) - before;
  }
  void Contains(const uint64_t* keys, uint64_t n, uint8_t* out,
                cudaStream_t stream) const override {
    filter_->containsMany(keys, n, reinterpret_cast<bool*>(out), stream);
  }
  void Erase(const uint64_t* keys, uint64_t n, cudaStream_t stream) override {
    filter_->deleteMany(keys, n, nullptr, stream);
  }

 private:
  Cuckoo* filter_ = nullptr;
};

}  // namespace

extern const GpuPeerKind kCuckooGpuPeer = {"cuckoo_gpu16", TAMIS_CUCKOO_GPU_VERSION, true,
                                           uint64_t{1} << 30,
                                           [](uint64_t bytes) -> std::unique_ptr<GpuPeer> {
                                             return std::make_unique<CuckooGpuPeer>(bytes);
                                           }};

}  // namespace tamis::bench
