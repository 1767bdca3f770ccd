#include "cuda/src/device_check.h"

#include <cstdint>

#include "cuda/src/scoped.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis::cuda {
namespace {

// The errors of the runtime that mean that there is no code for a device: no code at all, PTX that
// is too new for the driver, and PTX that the driver may not compile.
constexpr int kInvalidDeviceFunction = 98;
constexpr int kNoKernelImage = 209;
constexpr int kInvalidPtx = 218;
constexpr int kUnsupportedPtxVersion = 222;
constexpr int kJitCompilationDisabled = 223;

bool SaysNoCode(Status status) {
  return status.code == kInvalidDeviceFunction || status.code == kNoKernelImage ||
         status.code == kInvalidPtx || status.code == kUnsupportedPtxVersion ||
         status.code == kJitCompilationDisabled;
}

std::string Gibibytes(uint64_t bytes) { return tamis::detail::StrCat(bytes >> 30, " GiB"); }

std::string NoCode(const Runtime& runtime, int device, Status status) {
  std::string name = tamis::detail::StrCat("device ", device);
  if (DeviceProperties found; runtime.Properties(device, &found).ok()) {
    name += tamis::detail::StrCat(" (", found.name, ", compute capability ", found.major, ".",
                                  found.minor, ")");
  }
  return tamis::detail::StrCat(name, " cannot run the code that this library was built with: ",
                               status.message(), " (error ", status.code, ")");
}

// Checks any one kernel, because all are built for the same devices.
Status Probe(const Runtime& runtime) noexcept {
  uint64_t bytes = 0;
  return runtime.LocalBytes(ContainsCall<SplitBlockRef>{}, &bytes);
}

template <int kBits>
using InsertionCall = ChangeCall<CuckooRef<kBits>, Change::kInsert>;

void ReserveFor(const Runtime& runtime, const KernelCall& call, Stream stream) {
  uint64_t bytes = 0;
  runtime.LocalBytes(call, &bytes).ThrowIfFailed("asking what a kernel needs");
  if (bytes == 0) return;
  runtime.Reserve(call, stream)
      .ThrowIfFailed(
          tamis::detail::StrCat(
              "reserving ", bytes,
              " bytes of local memory, which insertions into cuckoo filters take on this device")
              .c_str());
}

}  // namespace

std::optional<std::string> DescribeFirstDevice(const Runtime& runtime, std::string* why) {
  const OutsideCaptures outside(runtime);
  if (runtime.DeviceCount(why) == 0) return std::nullopt;
  const ScopedDevice current(runtime, 0);
  DeviceProperties device;
  Status status = current.status();
  if (status.ok()) status = runtime.Properties(0, &device);
  if (status.ok()) status = Probe(runtime);
  if (status.ok()) return device.name + ", " + Gibibytes(device.memory_bytes);
  *why = SaysNoCode(status) ? NoCode(runtime, 0, status)
                            : std::string("device 0 does not answer: ") + status.message();
  return std::nullopt;
}

void RequireKernels(const Runtime& runtime, int device) {
  const Status status = Probe(runtime);
  if (SaysNoCode(status)) {
    throw Error(ErrorCode::kDevice, "CUDA: " + NoCode(runtime, device, status));
  }
  status.ThrowIfFailed("asking what a kernel needs");
}

void ReserveForInsertions(const Runtime& runtime, FilterKind kind, Stream stream) {
  switch (kind) {
    case FilterKind::kCuckoo8:
      return ReserveFor(runtime, InsertionCall<8>{}, stream);
    case FilterKind::kCuckoo12:
      return ReserveFor(runtime, InsertionCall<12>{}, stream);
    case FilterKind::kCuckoo16:
      return ReserveFor(runtime, InsertionCall<16>{}, stream);
    default:
      return;
  }
}

}  // namespace tamis::cuda
