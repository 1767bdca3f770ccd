// Everything that compilers spell differently. The rest of the library is standard C++20.
//
// The supported compilers are g++, clang and clang-cl, which all accept the extensions of g++.
// clang-cl does not define __GNUC__. The forms for cl, the compiler of Visual Studio, have not been
// compiled yet.
//
// The arithmetic of every filter is written once, in headers that use only TAMIS_HD, HighProduct
// and fixed-width integers. These headers use neither containers nor exceptions nor builtins. Their
// tables are inside functions, because device code cannot index a constexpr array of a namespace.
#ifndef TAMIS_DETAIL_COMPILER_H_
#define TAMIS_DETAIL_COMPILER_H_

#include <cstdint>
#include <type_traits>

#include "tamis/cpp20.h"

#if defined(__GNUC__) || defined(__clang__)
#define TAMIS_GNU 1
#else
#define TAMIS_GNU 0
#include <intrin.h>
#endif

// Whether the file is compiled for ThreadSanitizer.
#define TAMIS_THREAD_SANITIZER 0
#if defined(__SANITIZE_THREAD__)
#undef TAMIS_THREAD_SANITIZER
#define TAMIS_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#undef TAMIS_THREAD_SANITIZER
#define TAMIS_THREAD_SANITIZER 1
#endif
#endif

// On the host, functions marked TAMIS_INLINE or TAMIS_HD are always inlined, even without
// optimization. Files of one program may be compiled for different processors. If each file kept a
// copy of an inline function, the linker could choose a copy that the machine cannot run. If the
// address of a function is taken, the file contains the function even so. Therefore its name
// depends on the kind of processor (abi_tag), and on ThreadSanitizer, which is off for kernels.
// Names in Microsoft's ABI, which clang-cl uses, have no such tags.
#if !TAMIS_GNU
#define TAMIS_INLINE __forceinline
#elif defined(__CUDACC__)
#define TAMIS_INLINE inline __attribute__((always_inline))
#elif TAMIS_THREAD_SANITIZER
#define TAMIS_INLINE inline __attribute__((always_inline, abi_tag("tsan")))
#elif defined(__AVX512VL__)
#define TAMIS_INLINE inline __attribute__((always_inline, abi_tag("avx512vl")))
#elif defined(__AVX512F__)
#define TAMIS_INLINE inline __attribute__((always_inline, abi_tag("avx512f")))
#elif defined(__AVX2__)
#define TAMIS_INLINE inline __attribute__((always_inline, abi_tag("avx2")))
#elif defined(__AVX__)
#define TAMIS_INLINE inline __attribute__((always_inline, abi_tag("avx")))
#elif defined(__ARM_FEATURE_SVE)
#define TAMIS_INLINE inline __attribute__((always_inline, abi_tag("sve")))
#elif defined(__ARM_NEON)
#define TAMIS_INLINE inline __attribute__((always_inline, abi_tag("neon")))
#else
#define TAMIS_INLINE inline __attribute__((always_inline))
#endif

// Marks functions that run on the host and, when compiled by nvcc, on a GPU.
#if defined(__CUDACC__)
#define TAMIS_HD __host__ __device__ __forceinline__
#else
#define TAMIS_HD TAMIS_INLINE
#endif

#if TAMIS_GNU
// For functions whose result depends only on their arguments, and on no memory.
#define TAMIS_CONST __attribute__((const))
// Inlines all calls in a function.
#define TAMIS_FLATTEN [[gnu::flatten]]
#define TAMIS_NOINLINE [[gnu::noinline]]
// Unrolls the following loop of at most eight iterations, at every level of optimization.
#define TAMIS_UNROLL _Pragma("GCC unroll 8")
#else
#define TAMIS_CONST
#define TAMIS_FLATTEN [[msvc::flatten]]
#define TAMIS_NOINLINE [[msvc::noinline]]
#define TAMIS_UNROLL
#endif

// In Microsoft's ABI the standard attribute has no effect.
#if defined(_MSC_VER)
#define TAMIS_NO_UNIQUE_ADDRESS [[msvc::no_unique_address]]
#else
#define TAMIS_NO_UNIQUE_ADDRESS [[no_unique_address]]
#endif

namespace tamis::detail {

// Prefetches a cache line into all caches, to read it. `p` may be an invalid address. Always
// inlined, because g++ drops calls of functions that only prefetch.
TAMIS_INLINE void PrefetchRead(const void* p) {
#if TAMIS_GNU
  __builtin_prefetch(p);
#elif defined(_M_X64)
  _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0);
#else
  __prefetch(p);
#endif
}

// Prefetches a cache line into the second level of caches, to read it.
TAMIS_INLINE void PrefetchReadToL2(const void* p) {
#if TAMIS_GNU
  __builtin_prefetch(p, 0, 2);
#elif defined(_M_X64)
  _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T1);
#else
  __prefetch(p);
#endif
}

// Prefetches a cache line into all caches, to change it.
TAMIS_INLINE void PrefetchWrite(const void* p) {
#if TAMIS_GNU
  __builtin_prefetch(p, 1);
#else
  PrefetchRead(p);
#endif
}

// Lets the compiler rely on `condition`, which must be true.
TAMIS_INLINE void Assume(bool condition) {
#if TAMIS_GNU
  if (!condition) __builtin_unreachable();
#else
  __assume(condition);
#endif
}

// Returns the bytes of `value` in reverse order.
TAMIS_INLINE uint32_t ByteSwap(uint32_t value) {
#if TAMIS_GNU
  return __builtin_bswap32(value);
#else
  return _byteswap_ulong(value);
#endif
}
TAMIS_INLINE uint64_t ByteSwap(uint64_t value) {
#if TAMIS_GNU
  return __builtin_bswap64(value);
#else
  return _byteswap_uint64(value);
#endif
}

// Loads a word in which other threads may set bits (live/src/shared_words.h). ThreadSanitizer would
// report a plain load as a data race.
TAMIS_HD constexpr uint64_t LoadShared(const uint64_t* word) {
#if TAMIS_THREAD_SANITIZER
  if (!std::is_constant_evaluated()) return __atomic_load_n(word, __ATOMIC_RELAXED);
#endif
  return *word;
}

// Returns the high half of a product.
TAMIS_HD constexpr uint64_t HighProduct(uint64_t a, uint64_t b) {
#if TAMIS_GNU
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>((static_cast<Wide>(a) * b) >> 64);
#else
  if (!std::is_constant_evaluated()) return __umulh(a, b);
  const uint64_t a_low = a & 0xFFFFFFFF, a_high = a >> 32;
  const uint64_t b_low = b & 0xFFFFFFFF, b_high = b >> 32;
  const uint64_t cross = a_high * b_low + (a_low * b_low >> 32);
  return a_high * b_high + (cross >> 32) + ((a_low * b_high + (cross & 0xFFFFFFFF)) >> 32);
#endif
}

// Returns the high half of a signed product.
TAMIS_INLINE int64_t SignedHighProduct(int64_t a, int64_t b) {
#if TAMIS_GNU
  __extension__ using Wide = __int128;
  return static_cast<int64_t>((static_cast<Wide>(a) * b) >> 64);
#else
  return __mulh(a, b);
#endif
}

// Set `*result` to the low 64 bits of the sum or product. Return whether it needs more bits.
TAMIS_INLINE bool AddOverflows(int64_t a, int64_t b, int64_t* result) {
#if TAMIS_GNU
  return __builtin_add_overflow(a, b, result);
#else
  *result = static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  return ((a ^ *result) & (b ^ *result)) < 0;
#endif
}
TAMIS_INLINE bool MultiplyOverflows(int64_t a, int64_t b, int64_t* result) {
#if TAMIS_GNU
  return __builtin_mul_overflow(a, b, result);
#else
  *result = static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  return SignedHighProduct(a, b) != *result >> 63;
#endif
}

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_COMPILER_H_
