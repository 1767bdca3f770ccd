// Rows and limits of a GPU, in the same results as those of the processor.
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

// What the measurements need of a device beside tamis::cuda; a test has one without a GPU.
// Functions throw tamis::Error, and have finished when they return; those that time return seconds.
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

  // Makes keys first, first + 1, ... of the sequence KeyAt in device memory.
  virtual void MakeKeys(uint64_t* keys, uint64_t n, uint64_t first) = 0;
  // In device memory; hit_percent of them, in expectation and in random order, are random ones of
  // the first `inserted` keys, the others are none of the first 2^48.
  virtual void MakeQueries(uint64_t* keys, uint64_t n, uint64_t inserted, int hit_percent) = 0;

  // Of the work that is put on a stream, by the clock of the device.
  virtual double Time(const std::function<void(cudaStream_t)>& work) = 0;
  // Of `times` pieces of work in a row, without what is put on the stream before each of them.
  // Nothing waits in between, so that the device has the next piece when it is done with one.
  using Piece = std::function<void(uint64_t index, cudaStream_t stream)>;
  virtual double TimeEach(uint64_t times, const Piece& before, const Piece& work) = 0;
  // How many of them are not 0.
  virtual uint64_t CountBytes(const uint8_t* bytes, uint64_t n) = 0;
  // Of reading n random sectors of 32 bytes; each thread has so many reads under way at a time, one
  // of kReadsPerThread.
  virtual double ReadSectors(const void* memory, uint64_t bytes, uint64_t n, int per_thread) = 0;
  // Of setting bits in all eight words of n random sectors.
  virtual double SetSectors(void* memory, uint64_t bytes, uint64_t n) = 0;

  static constexpr int kReadsPerThread[] = {1, 2, 4};
};

// Adds sizes, limits and rows to the results; backends of rows are named after the place of the
// keys: "CUDA:device", "CUDA:pinned", "CUDA:host". A kind that does not give the bits and answers
// of `portable` is refused, and a peer that misses keys. `save` is called after each size but the
// last, with the results so far and the names of what is left.
using SaveGpu = std::function<void(const Results& so_far, const std::string& left)>;
void MeasureGpu(GpuDevice& device, const GpuSchedule& schedule, Progress& progress,
                const SaveGpu& save, Results& results);

// The GPU of this machine, or nullptr. Only in builds that have CUDA.
std::unique_ptr<GpuDevice> OpenGpu();

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_GPU_H_
