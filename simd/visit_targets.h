// Lists every target for which Highway compiles a file, in every version of Highway from 1.0.3 on.
#ifndef TAMIS_SIMD_VISIT_TARGETS_H_
#define TAMIS_SIMD_VISIT_TARGETS_H_

#include <hwy/targets.h>

// TAMIS_VISIT_TARGETS(V, ...) expands to V(target, namespace, ...) for each target of HWY_TARGETS,
// best first. The macro omits HWY_SCALAR and HWY_EMU128. Machines with only these targets use the
// portable backend.
#if defined(HWY_AVX3_SPR) && (HWY_TARGETS & HWY_AVX3_SPR)
#define TAMIS_VISIT_AVX3_SPR(V, ...) V(HWY_AVX3_SPR, N_AVX3_SPR, __VA_ARGS__)
#else
#define TAMIS_VISIT_AVX3_SPR(V, ...)
#endif
#if defined(HWY_AVX3_ZEN4) && (HWY_TARGETS & HWY_AVX3_ZEN4)
#define TAMIS_VISIT_AVX3_ZEN4(V, ...) V(HWY_AVX3_ZEN4, N_AVX3_ZEN4, __VA_ARGS__)
#else
#define TAMIS_VISIT_AVX3_ZEN4(V, ...)
#endif
#if defined(HWY_AVX3_DL) && (HWY_TARGETS & HWY_AVX3_DL)
#define TAMIS_VISIT_AVX3_DL(V, ...) V(HWY_AVX3_DL, N_AVX3_DL, __VA_ARGS__)
#else
#define TAMIS_VISIT_AVX3_DL(V, ...)
#endif
#if defined(HWY_AVX3) && (HWY_TARGETS & HWY_AVX3)
#define TAMIS_VISIT_AVX3(V, ...) V(HWY_AVX3, N_AVX3, __VA_ARGS__)
#else
#define TAMIS_VISIT_AVX3(V, ...)
#endif
#if defined(HWY_AVX2) && (HWY_TARGETS & HWY_AVX2)
#define TAMIS_VISIT_AVX2(V, ...) V(HWY_AVX2, N_AVX2, __VA_ARGS__)
#else
#define TAMIS_VISIT_AVX2(V, ...)
#endif
#if defined(HWY_SSE4) && (HWY_TARGETS & HWY_SSE4)
#define TAMIS_VISIT_SSE4(V, ...) V(HWY_SSE4, N_SSE4, __VA_ARGS__)
#else
#define TAMIS_VISIT_SSE4(V, ...)
#endif
#if defined(HWY_SSSE3) && (HWY_TARGETS & HWY_SSSE3)
#define TAMIS_VISIT_SSSE3(V, ...) V(HWY_SSSE3, N_SSSE3, __VA_ARGS__)
#else
#define TAMIS_VISIT_SSSE3(V, ...)
#endif
#if defined(HWY_SSE2) && (HWY_TARGETS & HWY_SSE2)
#define TAMIS_VISIT_SSE2(V, ...) V(HWY_SSE2, N_SSE2, __VA_ARGS__)
#else
#define TAMIS_VISIT_SSE2(V, ...)
#endif
#if defined(HWY_SVE2_128) && (HWY_TARGETS & HWY_SVE2_128)
#define TAMIS_VISIT_SVE2_128(V, ...) V(HWY_SVE2_128, N_SVE2_128, __VA_ARGS__)
#else
#define TAMIS_VISIT_SVE2_128(V, ...)
#endif
#if defined(HWY_SVE_256) && (HWY_TARGETS & HWY_SVE_256)
#define TAMIS_VISIT_SVE_256(V, ...) V(HWY_SVE_256, N_SVE_256, __VA_ARGS__)
#else
#define TAMIS_VISIT_SVE_256(V, ...)
#endif
#if defined(HWY_SVE2) && (HWY_TARGETS & HWY_SVE2)
#define TAMIS_VISIT_SVE2(V, ...) V(HWY_SVE2, N_SVE2, __VA_ARGS__)
#else
#define TAMIS_VISIT_SVE2(V, ...)
#endif
#if defined(HWY_SVE) && (HWY_TARGETS & HWY_SVE)
#define TAMIS_VISIT_SVE(V, ...) V(HWY_SVE, N_SVE, __VA_ARGS__)
#else
#define TAMIS_VISIT_SVE(V, ...)
#endif
#if defined(HWY_NEON_BF16) && (HWY_TARGETS & HWY_NEON_BF16)
#define TAMIS_VISIT_NEON_BF16(V, ...) V(HWY_NEON_BF16, N_NEON_BF16, __VA_ARGS__)
#else
#define TAMIS_VISIT_NEON_BF16(V, ...)
#endif
#if defined(HWY_NEON) && (HWY_TARGETS & HWY_NEON)
#define TAMIS_VISIT_NEON(V, ...) V(HWY_NEON, N_NEON, __VA_ARGS__)
#else
#define TAMIS_VISIT_NEON(V, ...)
#endif
#if defined(HWY_NEON_WITHOUT_AES) && (HWY_TARGETS & HWY_NEON_WITHOUT_AES)
#define TAMIS_VISIT_NEON_WITHOUT_AES(V, ...) \
  V(HWY_NEON_WITHOUT_AES, N_NEON_WITHOUT_AES, __VA_ARGS__)
#else
#define TAMIS_VISIT_NEON_WITHOUT_AES(V, ...)
#endif

#define TAMIS_VISIT_TARGETS(V, ...)     \
  TAMIS_VISIT_AVX3_SPR(V, __VA_ARGS__)  \
  TAMIS_VISIT_AVX3_ZEN4(V, __VA_ARGS__) \
  TAMIS_VISIT_AVX3_DL(V, __VA_ARGS__)   \
  TAMIS_VISIT_AVX3(V, __VA_ARGS__)      \
  TAMIS_VISIT_AVX2(V, __VA_ARGS__)      \
  TAMIS_VISIT_SSE4(V, __VA_ARGS__)      \
  TAMIS_VISIT_SSSE3(V, __VA_ARGS__)     \
  TAMIS_VISIT_SSE2(V, __VA_ARGS__)      \
  TAMIS_VISIT_SVE2_128(V, __VA_ARGS__)  \
  TAMIS_VISIT_SVE_256(V, __VA_ARGS__)   \
  TAMIS_VISIT_SVE2(V, __VA_ARGS__)      \
  TAMIS_VISIT_SVE(V, __VA_ARGS__)       \
  TAMIS_VISIT_NEON_BF16(V, __VA_ARGS__) \
  TAMIS_VISIT_NEON(V, __VA_ARGS__)      \
  TAMIS_VISIT_NEON_WITHOUT_AES(V, __VA_ARGS__)

#endif  // TAMIS_SIMD_VISIT_TARGETS_H_
