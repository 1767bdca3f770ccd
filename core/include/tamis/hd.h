// Marks functions that run on the host and, when compiled by nvcc, on a GPU.
//
// The arithmetic of every filter is written once, in headers that use only this macro and
// fixed-width integers: no containers, no exceptions, no builtins, and tables inside functions (a
// namespace-scope constexpr array cannot be indexed in device code).
//
// On the host they are inlined into whoever calls them, without optimization, too, as is all that
// is marked TAMIS_INLINE. Files of one program may be compiled for different processors, and of an
// inline function that each of them keeps a copy of, the linker takes any: one that the machine
// cannot run. Functions whose address is taken are kept all the same, so each has a name of its own
// for each kind of processor.
#ifndef TAMIS_HD_H_
#define TAMIS_HD_H_

#if !defined(__GNUC__)
#define TAMIS_INLINE inline
#elif defined(__CUDACC__)
#define TAMIS_INLINE inline __attribute__((always_inline))
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

// Of functions whose result depends on their arguments alone, no memory included.
#if defined(__GNUC__)
#define TAMIS_CONST __attribute__((const))
#else
#define TAMIS_CONST
#endif

#if defined(__CUDACC__)
#define TAMIS_HD __host__ __device__ __forceinline__
#else
#define TAMIS_HD TAMIS_INLINE
#endif

#endif  // TAMIS_HD_H_
