// Rows and limits of a GPU, for the same results as the rows and limits of the processor.
#ifndef TAMIS_BENCH_SUITE_GPU_H_
#define TAMIS_BENCH_SUITE_GPU_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "bench/suite/gpu_schedule.h"
#include "bench/suite/progress.h"
#include "bench/suite/results.h"
#include "tamis/cuda/status.h"

namespace tamis::cuda {
struct DeviceOptions;
}

namespace tamis::bench {

// The functions of a device that the measurements need in addition to tamis::cuda. Tests implement
// this class without a GPU. All functions throw tamis::Error, and have finished their work when
// they return. Functions that measure a time return seconds.
class GpuDevice {
 public:
  virtual ~GpuDevice() = default;

  virtual uint64_t memory_bytes() const = 0;
  virtual cuda::DeviceOptions options() const = 0;
  virtual void* Allocate(uint64_t bytes) = 0;
  virtual void Free(void* memory) noexcept = 0;
  virtual void* AllocatePinned(uint64_t bytes) = 0;
  virtual void FreePinned(void* memory) noexcept = 0;
  virtual void Copy(void* to, const void* from, uint64_t bytes) = 0;

  // Writes keys `first`, `first` + 1, ... of the sequence KeyAt to device memory.
  virtual void MakeKeys(uint64_t* keys, uint64_t n, uint64_t first) = 0;
  // Writes queries to device memory, in random order. An expected `hit_percent` of them are random
  // keys of the first `inserted` keys. The others are not among the first 2^48 keys.
  virtual void MakeQueries(uint64_t* keys, uint64_t n, uint64_t inserted, int hit_percent) = 0;

  // Returns the time of the work that `work` puts on a stream, by the clock of the device.
  virtual double Time(const std::function<void(cudaStream_t)>& work) = 0;
  // Returns the total time of `times` pieces of work in a row. The work that `before` puts on the
  // stream before each piece is not counted. Nothing waits between the pieces, so the device always
  // has its next piece.
  using Piece = std::function<void(uint64_t index, cudaStream_t stream)>;
  virtual double TimeEach(uint64_t times, const Piece& before, const Piece& work) = 0;
  // Returns the number of bytes that are not 0.
  virtual uint64_t CountBytes(const uint8_t* bytes, uint64_t n) = 0;
  // Returns the time of reading `n` random sectors of 32 bytes. Each thread has `per_thread`
  // concurrent reads, one of the values of kReadsPerThread.
  virtual double ReadSectors(const void* memory, uint64_t bytes, uint64_t n, int per_thread) = 0;
  // Returns the time of setting bits in all eight words of `n` random sectors.
  virtual double SetSectors(void* memory, uint64_t bytes, uint64_t n) = 0;

  static constexpr int kReadsPerThread[] = {1, 2, 4};
};

// Adds sizes, limits and rows to `results`. The backend of a row names the place of the keys:
// "CUDA:device", "CUDA:pinned" or "CUDA:host". Refuses a kind whose bits or answers differ from
// those of `portable`, and a peer that misses keys. Calls `save` after each size except the last,
// with the results so far and the names of the remaining sizes.
using SaveGpu = std::function<void(const Results& so_far, const std::string& left)>;
void MeasureGpu(GpuDevice& device, const GpuSchedule& schedule, Progress& progress,
                const SaveGpu& save, Results& results);

// Returns the GPU of this machine, or nullptr. Builds without CUDA return nullptr.
std::unique_ptr<GpuDevice> OpenGpu();

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_GPU_H_
