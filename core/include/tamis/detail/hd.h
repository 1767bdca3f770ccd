// Marks functions that run on the host and, when compiled by nvcc, on a GPU.
//
// The arithmetic of every filter is written once, in headers that use only this macro and
// fixed-width integers. These headers use neither containers nor exceptions nor builtins. Their
// tables are inside functions, because device code cannot index a constexpr array of a namespace.
//
// On the host, these functions and all functions marked TAMIS_INLINE are always inlined, even
// without optimization. Files of one program may be compiled for different processors. If each file
// kept a copy of an inline function, the linker could choose a copy that the machine cannot run. If
// the address of a function is taken, the file contains the function even so. Therefore its name
// depends on the kind of processor (abi_tag), and on ThreadSanitizer, which is off for kernels.
#ifndef TAMIS_DETAIL_HD_H_
#define TAMIS_DETAIL_HD_H_

#include "tamis/cpp20.h"

#if !defined(__GNUC__)
#define TAMIS_INLINE inline
#elif defined(__CUDACC__)
#define TAMIS_INLINE inline __attribute__((always_inline))
#elif defined(__SANITIZE_THREAD__)
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

// For functions whose result depends only on their arguments, and on no memory.
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

#endif  // TAMIS_DETAIL_HD_H_
