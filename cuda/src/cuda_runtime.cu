// The CUDA runtime behind the seam, and the kernel template that runs every call.
#include <cuda_runtime.h>

#include <string>
#include <type_traits>
#include <variant>

#include "cuda/src/kernel_bodies.h"
#include "cuda/src/launch.h"
#include "cuda/src/runtime.h"
#include "tamis/cuda/warp.cuh"
#include "tamis/detail/str_cat.h"

namespace tamis::cuda {
namespace {

// The lanes of the hardware. Like the bodies of kernels, the functions compile for host and device,
// but they do useful work only on the device.
struct WarpLane : ThisWarp {
  TAMIS_HD uint64_t Warp() const {
#ifdef __CUDA_ARCH__
    return kBlockWarps * blockIdx.x + threadIdx.x / kWarpLanes;
#else
    return 0;
#endif
  }
  TAMIS_HD uint64_t NumWarps() const {
#ifdef __CUDA_ARCH__
    return kBlockWarps * gridDim.x;
#else
    return 1;
#endif
  }
  TAMIS_HD void BlockAdd(uint64_t* sum, uint32_t value) const {
#ifdef __CUDA_ARCH__
    __shared__ uint32_t sums[kBlockWarps];
    const uint32_t of_warp = __reduce_add_sync(0xFFFFFFFF, value);
    if (Index() == 0) sums[threadIdx.x / kWarpLanes] = of_warp;
    __syncthreads();
    if (threadIdx.x >= kWarpLanes) return;
    const uint32_t of_block =
        __reduce_add_sync(0xFFFFFFFF, Index() < kBlockWarps ? sums[Index()] : 0);
    if (Index() == 0 && of_block != 0) detail::AtomicAdd(sum, of_block);
#else
    detail::AtomicAdd(sum, value);
#endif
  }
};

// The number of blocks that a multiprocessor must be able to hold, for kernels for which the
// compiler would choose fewer. 0: the compiler chooses. Insertions and the uncommon lookups in fuse
// filters get the number that fills a multiprocessor: 2048 or 1536 threads with 32 or 40 registers
// each. Kernels that hash strings fill half of a multiprocessor, because they would spill with
// fewer registers.
constexpr int kFull =
#if defined(__CUDA_ARCH__) && \
    (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ / 100 == 9 || __CUDA_ARCH__ / 10 == 100)
    8;
#else
    6;
#endif
template <typename Call>
constexpr int kLeastBlocks = 0;
template <typename Ref>
constexpr int kLeastBlocks<InsertCall<Ref>> = kFull;
template <typename Ref>
constexpr int kLeastBlocks<MaskedInsertCall<Ref>> = kFull;
template <typename Ref, typename Column>
constexpr int kLeastBlocks<ChangeCall<Ref, Change::kInsert, Column>> = kFull;
template <int kBits, typename Column>
constexpr int kLeastBlocks<ContainsCall<FuseRef<kBits>, Column>> = kFull;
template <typename Offset>
constexpr int kLeastBlocks<HashColumnCall<Offset>> = 4;

template <typename Call>
__global__ void __launch_bounds__(kBlockThreads) Kernel(const Call call) {
  RunLane(WarpLane(), call);
}

template <typename Call>
__global__ void __launch_bounds__(kBlockThreads, kLeastBlocks<Call>)
    BoundedKernel(const Call call) {
  RunLane(WarpLane(), call);
}

template <typename Call>
const void* KernelOf() {
  if constexpr (kLeastBlocks<Call> == 0) {
    return reinterpret_cast<const void*>(&Kernel<Call>);
  } else {
    return reinterpret_cast<const void*>(&BoundedKernel<Call>);
  }
}

// CUDA also keeps the error of the last call. This function clears that error, because other code
// would take it for an error of its own.
Status Checked(cudaError_t error) noexcept {
  if (error != cudaSuccess) (void)cudaGetLastError();
  return {static_cast<int>(error)};
}

// Some virtual GPUs have no memory pools.
bool HasPools() noexcept {
  int device = 0;
  int supported = 0;
  return cudaGetDevice(&device) == cudaSuccess &&
         cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device) ==
             cudaSuccess &&
         supported != 0;
}

// Sets `blocks` to the number of resident blocks of the current device.
Status ResidentBlocksHere(uint64_t* blocks) noexcept {
  int device = 0;
  cudaError_t error = cudaGetDevice(&device);
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&value, which, device);
    return static_cast<uint32_t>(value);
  };
  const Processors processors = {attribute(cudaDevAttrMultiProcessorCount),
                                 attribute(cudaDevAttrMaxThreadsPerMultiProcessor),
                                 attribute(cudaDevAttrMaxBlocksPerMultiprocessor),
                                 attribute(cudaDevAttrMaxRegistersPerMultiprocessor)};
  if (error == cudaSuccess) *blocks = ResidentBlocks(processors, kMaxRegisters);
  return Checked(error);
}

template <typename Call>
Status LaunchKernel(const Call& call, Stream stream) noexcept {
  const Work work = WorkOf(call);
  uint64_t resident = kMaxBlocks;
  if (work.resident) {
    const Status status = ResidentBlocksHere(&resident);
    if (!status.ok()) return status;
  }
  const uint64_t blocks = GridFor(work, resident).blocks;
  if (blocks == 0) return kSuccess;
  // After <<<>>>, only cudaGetLastError would return the error, and it could return and clear an
  // earlier error of other code. cudaLaunchKernel returns the error itself.
  void* pointers[] = {const_cast<void*>(static_cast<const void*>(&call))};
  const dim3 grid(static_cast<uint32_t>(blocks));
  return Checked(
      cudaLaunchKernel(KernelOf<Call>(), grid, dim3(kBlockThreads), pointers, 0, stream));
}

class RealRuntime final : public Runtime {
 public:
  int DeviceCount(std::string* why) const override {
    int driver = 0;
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count > 0) return count;
    (void)cudaGetLastError();
    if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
    if (driver == 0) {
      *why = "no NVIDIA driver is installed";
    } else if (error == cudaErrorInsufficientDriver) {
      *why = "the NVIDIA driver is too old: it is for CUDA " + Version(driver) +
             ", and this library for " + Version(CUDART_VERSION);
    } else if (error == cudaSuccess || error == cudaErrorNoDevice) {
      *why = "the NVIDIA driver finds no GPU";
    } else {
      *why = std::string("the NVIDIA driver does not work: ") + cudaGetErrorString(error);
    }
    return 0;
  }

  Status Properties(int device, DeviceProperties* properties) const override {
    cudaDeviceProp found;
    const Status status = Checked(cudaGetDeviceProperties(&found, device));
    if (!status.ok()) return status;
    *properties = {found.name,           found.major,
                   found.minor,          found.multiProcessorCount,
                   found.totalGlobalMem, static_cast<uint64_t>(found.l2CacheSize)};
    return kSuccess;
  }

  Status CurrentDevice(int* device) const noexcept override {
    return Checked(cudaGetDevice(device));
  }
  Status SetDevice(int device) const noexcept override { return Checked(cudaSetDevice(device)); }
  Status FreeMemory(uint64_t* bytes) const noexcept override {
    size_t free = 0;
    size_t total = 0;
    const Status status = Checked(cudaMemGetInfo(&free, &total));
    if (status.ok()) *bytes = free;
    return status;
  }

  Status Allocate(void** memory, uint64_t bytes, Stream stream) const noexcept override {
    return Checked(HasPools() ? cudaMallocAsync(memory, bytes, stream) : cudaMalloc(memory, bytes));
  }
  Status Free(void* memory, Stream stream) const noexcept override {
    return Checked(HasPools() ? cudaFreeAsync(memory, stream) : cudaFree(memory));
  }
  // For memory of a pool, cudaFree does not wait.
  Status FreeIdle(void* memory) const noexcept override { return Checked(cudaFree(memory)); }
  Status AllocatePinned(void** memory, uint64_t bytes) const noexcept override {
    return Checked(cudaHostAlloc(memory, bytes, cudaHostAllocPortable));
  }
  Status FreePinned(void* memory) const noexcept override { return Checked(cudaFreeHost(memory)); }

  Status Locate(const void* memory, Location* location) const noexcept override {
    cudaPointerAttributes attributes{};
    const Status status = Checked(cudaPointerGetAttributes(&attributes, memory));
    if (!status.ok()) return status;
    location->place = attributes.type == cudaMemoryTypeHost           ? Place::kPinned
                      : attributes.type == cudaMemoryTypeUnregistered ? Place::kPageable
                                                                      : Place::kDevice;
    // Managed memory has no fixed device, because it moves to where it is used.
    location->device = attributes.type == cudaMemoryTypeDevice ? attributes.device : -1;
    return kSuccess;
  }

  Status UsesPageable(int device, bool* uses) const noexcept override {
    int value = 0;
    const Status status =
        Checked(cudaDeviceGetAttribute(&value, cudaDevAttrPageableMemoryAccess, device));
    if (status.ok()) *uses = value != 0;
    return status;
  }

  Status Copy(void* to, const void* from, uint64_t bytes, Stream stream) const noexcept override {
    return Checked(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
  }
  Status Zero(void* memory, uint64_t bytes, Stream stream) const noexcept override {
    return Checked(cudaMemsetAsync(memory, 0, bytes, stream));
  }

  Status Launch(const KernelCall& call, Stream stream) const noexcept override {
    return std::visit(
        [stream](const auto& asked) {
          return WithKernelOf(
              asked, [stream](const auto& arguments) { return LaunchKernel(arguments, stream); });
        },
        call);
  }

  Status LocalBytes(const KernelCall& call, uint64_t* bytes) const noexcept override {
    int device = 0;
    int processors = 0;
    int threads = 0;
    cudaFuncAttributes attributes{};
    const void* const kernel = std::visit(
        [](const auto& asked) {
          return WithKernelOf(asked, []<typename Call>(const Call&) { return KernelOf<Call>(); });
        },
        call);
    Status status = Checked(cudaFuncGetAttributes(&attributes, kernel));
    if (status.ok()) status = Checked(cudaGetDevice(&device));
    if (status.ok()) {
      status = Checked(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    }
    if (status.ok()) {
      status =
          Checked(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device));
    }
    if (status.ok()) {
      *bytes = attributes.localSizeBytes * static_cast<uint64_t>(processors) *
               static_cast<uint64_t>(threads);
    }
    return status;
  }
  Status Reserve(const KernelCall& call, Stream stream) const noexcept override {
    const auto launch = [&]<typename Call>(const Call& arguments) {
      void* pointers[] = {const_cast<void*>(static_cast<const void*>(&arguments))};
      return Checked(
          cudaLaunchKernel(KernelOf<Call>(), dim3(1), dim3(kBlockThreads), pointers, 0, stream));
    };
    return std::visit([&](const auto& asked) { return WithKernelOf(asked, launch); }, call);
  }

  Status CreateStream(Stream* stream) const noexcept override {
    return Checked(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
  }
  Status DestroyStream(Stream stream) const noexcept override {
    return Checked(cudaStreamDestroy(stream));
  }
  Status Wait(Stream stream) const noexcept override {
    return Checked(cudaStreamSynchronize(stream));
  }
  Status IsCapturing(Stream stream, bool* capturing) const noexcept override {
    cudaStreamCaptureStatus found = cudaStreamCaptureStatusNone;
    const Status status = Checked(cudaStreamIsCapturing(stream, &found));
    if (status.ok()) *capturing = found != cudaStreamCaptureStatusNone;
    return status;
  }
  Status ExchangeCaptureMode(CaptureMode* mode) const noexcept override {
    auto exchanged = *mode == CaptureMode::kGlobal        ? cudaStreamCaptureModeGlobal
                     : *mode == CaptureMode::kThreadLocal ? cudaStreamCaptureModeThreadLocal
                                                          : cudaStreamCaptureModeRelaxed;
    const Status status = Checked(cudaThreadExchangeStreamCaptureMode(&exchanged));
    if (!status.ok()) return status;
    *mode = exchanged == cudaStreamCaptureModeGlobal        ? CaptureMode::kGlobal
            : exchanged == cudaStreamCaptureModeThreadLocal ? CaptureMode::kThreadLocal
                                                            : CaptureMode::kRelaxed;
    return status;
  }
  Status CreateEvent(Event* event) const noexcept override {
    return Checked(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
  }
  Status DestroyEvent(Event event) const noexcept override {
    return Checked(cudaEventDestroy(event));
  }
  Status Record(Event event, Stream stream) const noexcept override {
    return Checked(cudaEventRecord(event, stream));
  }
  Status StreamWait(Stream stream, Event event) const noexcept override {
    return Checked(cudaStreamWaitEvent(stream, event, 0));
  }
  Status Wait(Event event) const noexcept override { return Checked(cudaEventSynchronize(event)); }

 private:
  static std::string Version(int number) {
    return tamis::detail::StrCat(number / 1000, ".", number % 1000 / 10);
  }
};

}  // namespace

const Runtime& CudaRuntime() {
  static const RealRuntime runtime;
  return runtime;
}

const char* CudaErrorText(int code) noexcept {
  return cudaGetErrorString(static_cast<cudaError_t>(code));
}

}  // namespace tamis::cuda
