// Copies to pinned memory, from which a device reads next.
#ifndef TAMIS_CUDA_SRC_STAGING_H_
#define TAMIS_CUDA_SRC_STAGING_H_

#include <cstddef>

namespace tamis::cuda {

// As std::memcpy(to, from, n), on x86-64 past the caches: a line that is written whole is not read
// first, and what the processor has in its caches stays there. All is written when it returns, for
// devices and other threads, too. Thread safe.
void StageCopy(void* to, const void* from, size_t n) noexcept;

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_SRC_STAGING_H_
