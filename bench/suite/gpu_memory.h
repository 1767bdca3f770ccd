// Owners of memory of a GpuDevice.
#ifndef TAMIS_BENCH_SUITE_GPU_MEMORY_H_
#define TAMIS_BENCH_SUITE_GPU_MEMORY_H_

#include <cstdint>
#include <span>

#include "bench/suite/gpu.h"
#include "tamis/keys.h"

namespace tamis::bench {

template <typename T>
class DeviceArray {
 public:
  DeviceArray(GpuDevice& device, uint64_t n)
      : device_(device), n_(n), data_(static_cast<T*>(device.Allocate(n * sizeof(T)))) {}
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { device_.Free(data_); }
  T* data() const { return data_; }
  std::span<T> span() const { return {data_, n_}; }
  Keys keys(uint64_t n) const { return std::span<const T>(data_, n); }

 private:
  GpuDevice& device_;
  uint64_t n_;
  T* data_;
};

class PinnedKeys {
 public:
  PinnedKeys(GpuDevice& device, uint64_t n)
      : device_(device), n_(n), data_(static_cast<uint64_t*>(device.AllocatePinned(8 * n))) {}
  PinnedKeys(const PinnedKeys&) = delete;
  PinnedKeys& operator=(const PinnedKeys&) = delete;
  ~PinnedKeys() { device_.FreePinned(data_); }
  uint64_t* data() const { return data_; }
  std::span<const uint64_t> span() const { return {data_, n_}; }

 private:
  GpuDevice& device_;
  uint64_t n_;
  uint64_t* data_;
};

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_GPU_MEMORY_H_
