// Copies to pinned memory that a device will read.
#ifndef TAMIS_CUDA_SRC_STAGING_H_
#define TAMIS_CUDA_SRC_STAGING_H_

#include <cstddef>

namespace tamis::cuda {

// Does the same as std::memcpy(to, from, n). On x86-64 it bypasses the caches: lines that are
// written completely are not read first, and the contents of the caches stay. When it returns,
// devices and other threads see all bytes. Thread-safe.
void StageCopy(void* to, const void* from, size_t n) noexcept;

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_SRC_STAGING_H_
