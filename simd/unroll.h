// Unrolls the following loop of at most eight iterations, at every level of optimization.
#ifndef TAMIS_SIMD_UNROLL_H_
#define TAMIS_SIMD_UNROLL_H_

#if defined(__GNUC__)
#define TAMIS_UNROLL _Pragma("GCC unroll 8")
#else
#define TAMIS_UNROLL
#endif

#endif  // TAMIS_SIMD_UNROLL_H_
