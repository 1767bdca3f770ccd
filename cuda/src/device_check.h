// Checks of a device before the first work on it.
#ifndef TAMIS_CUDA_SRC_DEVICE_CHECK_H_
#define TAMIS_CUDA_SRC_DEVICE_CHECK_H_

#include <optional>
#include <string>

#include "cuda/src/runtime.h"
#include "tamis/file/file.h"

namespace tamis::cuda {

// Returns "NAME, 80 GiB" for the first device. If it cannot be used, for example because the
// library has no code for it, returns nothing and sets `why` to the reason.
std::optional<std::string> DescribeFirstDevice(const Runtime& runtime, std::string* why);

// Throws Error(kDevice) if `device`, which must be the current one, cannot run the kernels. Without
// this check, the first launch would fail.
void RequireKernels(const Runtime& runtime, int device);

// Reserves the local memory of the current device that insertions into a filter of this kind need,
// for all threads that run at a time. Otherwise the first insertion would reserve it, and its
// launch could fail. Throws Error(kOutOfMemory) with the number of bytes.
void ReserveForInsertions(const Runtime& runtime, FilterKind kind, Stream stream);

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_SRC_DEVICE_CHECK_H_
