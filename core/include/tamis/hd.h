// Marks functions that run on the host and, when compiled by nvcc, on a GPU.
//
// The arithmetic of every filter is written once, in headers that use only this macro and
// fixed-width integers: no containers, no exceptions, no builtins, and tables inside functions (a
// namespace-scope constexpr array cannot be indexed in device code).
//
// On the host they are inlined into whoever calls them, without optimization, too. Files of one
// program may be compiled for different processors, and of an inline function that each of them
// keeps a copy of, the linker takes any: one that the machine cannot run.
#ifndef TAMIS_HD_H_
#define TAMIS_HD_H_

#if defined(__CUDACC__)
#define TAMIS_HD __host__ __device__ __forceinline__
#elif defined(__GNUC__)
#define TAMIS_HD inline __attribute__((always_inline))
#else
#define TAMIS_HD inline
#endif

#endif  // TAMIS_HD_H_
