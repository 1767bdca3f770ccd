// What is asked of a device before anything is put on it.
#ifndef TAMIS_CUDA_SRC_DEVICE_CHECK_H_
#define TAMIS_CUDA_SRC_DEVICE_CHECK_H_

#include <optional>
#include <string>

#include "cuda/src/runtime.h"
#include "tamis/file/file.h"

namespace tamis::cuda {

// "NAME, 80 GiB" of the first device, or nothing: then `why` says why it is of no use, which may be
// that no code of this library is for it.
std::optional<std::string> DescribeFirstDevice(const Runtime& runtime, std::string* why);

// Throws Error(kDevice) if the current device, which is this one, cannot run the kernels. Else the
// first launch would fail.
void RequireKernels(const Runtime& runtime, int device);

// Sets aside on the current device the memory of that device which insertions into a filter of this
// kind take for all threads that run at a time, before the first of them does, and would fail with
// a launch. Throws Error(kOutOfMemory) that says how much it is.
void ReserveForInsertions(const Runtime& runtime, FilterKind kind, Stream stream);

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_SRC_DEVICE_CHECK_H_
