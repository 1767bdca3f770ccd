#include "cuda/src/staging.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace tamis::cuda {

#ifdef __SSE2__

// Uses SSE2 without Highway. Every x86-64 processor has SSE2, and wider vectors are not faster
// (NOTES_GPU.md), so no choice at run time is needed. Highway before 1.0.4 cannot use SSE2 without
// such a choice.
void StageCopy(void* to, const void* from, size_t n) noexcept {
  constexpr size_t kLine = 64;
  constexpr size_t kAhead = 1024;
  auto* const out = static_cast<uint8_t*>(to);
  const auto* const in = static_cast<const uint8_t*>(from);
  size_t i = std::min<size_t>(n, -reinterpret_cast<uintptr_t>(out) % kLine);
  if (i != 0) std::memcpy(out, in, i);
  for (; n - i >= kLine; i += kLine) {
    // The line is read only once, so it should not displace others from the caches.
    __builtin_prefetch(in + std::min(i + kAhead, n - 1), /*rw=*/0, /*locality=*/0);
    for (size_t j = 0; j < kLine; j += sizeof(__m128i)) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(out + i + j),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i + j)));
    }
  }
  _mm_sfence();  // otherwise the device could start before these stores
  if (i != n) std::memcpy(out + i, in + i, n - i);
}

#else

void StageCopy(void* to, const void* from, size_t n) noexcept {
  if (n != 0) std::memcpy(to, from, n);
}

#endif

}  // namespace tamis::cuda
