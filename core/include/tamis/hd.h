// Marks functions that run on the host and, when compiled by nvcc, on a GPU.
//
// The arithmetic of every filter is written once, in headers that use only this macro and
// fixed-width integers: no containers, no exceptions, no builtins, and tables inside functions (a
// namespace-scope constexpr array cannot be indexed in device code).
#ifndef TAMIS_HD_H_
#define TAMIS_HD_H_

#if defined(__CUDACC__)
#define TAMIS_HD __host__ __device__ __forceinline__
#else
#define TAMIS_HD inline
#endif

#endif  // TAMIS_HD_H_
