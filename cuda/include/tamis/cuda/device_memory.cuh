// Accesses to device memory in the forms that are fastest on a GPU. In plain C++ they access host
// memory.
#ifndef TAMIS_CUDA_DEVICE_MEMORY_CUH_
#define TAMIS_CUDA_DEVICE_MEMORY_CUH_

#include <cstdint>

#include "tamis/detail/compiler.h"

#ifndef __CUDA_ARCH__
#include <atomic>
#include <cstring>
#endif

namespace tamis::cuda::detail {

#ifndef __CUDA_ARCH__
// If this is not nullptr, plain C++ calls it before every access to memory that other threads
// change. Tests use it to run other emulated lanes, or to count accesses.
using SharedAccessHook = void (*)();
inline constinit thread_local SharedAccessHook before_shared_access = nullptr;

inline void BeforeSharedAccess() {
  if (before_shared_access != nullptr) before_shared_access();
}
#endif

// Reads the eight words of a 32-byte block, which is aligned to its size and is one sector of
// memory. From compute capability 10.0 on, this is one load. CUDA 13 introduced the type for it.
TAMIS_HD void LoadBlock(const uint32_t* block, uint32_t (&words)[8]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000 && __CUDACC_VER_MAJOR__ >= 13
  const ulonglong4_32a all = *reinterpret_cast<const ulonglong4_32a*>(block);
  words[0] = static_cast<uint32_t>(all.x), words[1] = static_cast<uint32_t>(all.x >> 32);
  words[2] = static_cast<uint32_t>(all.y), words[3] = static_cast<uint32_t>(all.y >> 32);
  words[4] = static_cast<uint32_t>(all.z), words[5] = static_cast<uint32_t>(all.z >> 32);
  words[6] = static_cast<uint32_t>(all.w), words[7] = static_cast<uint32_t>(all.w >> 32);
#elif defined(__CUDA_ARCH__)
  const uint4 low = reinterpret_cast<const uint4*>(block)[0];
  const uint4 high = reinterpret_cast<const uint4*>(block)[1];
  words[0] = low.x, words[1] = low.y, words[2] = low.z, words[3] = low.w;
  words[4] = high.x, words[5] = high.y, words[6] = high.z, words[7] = high.w;
#else
  std::memcpy(words, block, sizeof(words));
#endif
}

// Reads memory that will not be read again, so that it does not displace other data from the
// caches.
template <typename T>
TAMIS_HD T LoadOnce(const T* from) {
#ifdef __CUDA_ARCH__
  return __ldcs(from);
#else
  return *from;
#endif
}

template <typename T>
TAMIS_HD void StoreOnce(T* to, T value) {
#ifdef __CUDA_ARCH__
  __stcs(to, value);
#else
  *to = value;
#endif
}

// Sets bits of the word, as a relaxed atomic operation. Returns nothing, so the hardware does not
// wait for memory.
TAMIS_HD void AtomicOr(uint32_t* word, uint32_t bits) {
#ifdef __CUDA_ARCH__
  atomicOr(word, bits);
#else
  BeforeSharedAccess();
  std::atomic_ref<uint32_t>(*word).fetch_or(bits, std::memory_order_relaxed);
#endif
}

TAMIS_HD void AtomicAdd(uint64_t* sum, uint64_t value) {
#ifdef __CUDA_ARCH__
  atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(value));
#else
  BeforeSharedAccess();
  std::atomic_ref<uint64_t>(*sum).fetch_add(value, std::memory_order_relaxed);
#endif
}

// Reads a word that other threads change: a relaxed atomic load. An ordinary load would be a data
// race.
TAMIS_HD uint32_t LoadShared(const uint32_t* word) {
#ifdef __CUDA_ARCH__
  uint32_t value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
#else
  BeforeSharedAccess();
  return std::atomic_ref<uint32_t>(*const_cast<uint32_t*>(word)).load(std::memory_order_relaxed);
#endif
}

TAMIS_HD uint64_t LoadShared(const uint64_t* word) {
#ifdef __CUDA_ARCH__
  uint64_t value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  return value;
#else
  BeforeSharedAccess();
  return std::atomic_ref<uint64_t>(*const_cast<uint64_t*>(word)).load(std::memory_order_relaxed);
#endif
}

// If the word is `expected`, replaces it by `desired` and returns true. Otherwise sets `expected`
// to the word and returns false. Relaxed.
TAMIS_HD bool AtomicReplace(uint32_t* word, uint32_t& expected, uint32_t desired) {
#ifdef __CUDA_ARCH__
  const uint32_t found = atomicCAS(word, expected, desired);
  const bool replaced = found == expected;
  expected = found;
  return replaced;
#else
  BeforeSharedAccess();
  return std::atomic_ref<uint32_t>(*word).compare_exchange_strong(expected, desired,
                                                                  std::memory_order_relaxed);
#endif
}

TAMIS_HD bool AtomicReplace(uint64_t* word, uint64_t& expected, uint64_t desired) {
#ifdef __CUDA_ARCH__
  const uint64_t found = atomicCAS(reinterpret_cast<unsigned long long*>(word),
                                   static_cast<unsigned long long>(expected),
                                   static_cast<unsigned long long>(desired));
  const bool replaced = found == expected;
  expected = found;
  return replaced;
#else
  BeforeSharedAccess();
  return std::atomic_ref<uint64_t>(*word).compare_exchange_strong(expected, desired,
                                                                  std::memory_order_relaxed);
#endif
}

// Returns the high half of the product. From a 64-bit product in plain C++, the compiler would
// compute both halves.
TAMIS_HD uint32_t MulHigh(uint32_t a, uint32_t b) {
#ifdef __CUDA_ARCH__
  return __umulhi(a, b);
#else
  return static_cast<uint32_t>(uint64_t{a} * b >> 32);
#endif
}

TAMIS_HD int PopCount(uint32_t x) {
#ifdef __CUDA_ARCH__
  return __popc(x);
#else
  return __builtin_popcount(x);
#endif
}

// Returns the index of the lowest bit that is set. x must not be 0.
TAMIS_HD int LowestBit(uint32_t x) {
#ifdef __CUDA_ARCH__
  return __ffs(static_cast<int>(x)) - 1;
#else
  return __builtin_ctz(x);
#endif
}

TAMIS_HD int LowestBit(uint64_t x) {
#ifdef __CUDA_ARCH__
  return __ffsll(static_cast<long long>(x)) - 1;
#else
  return __builtin_ctzll(x);
#endif
}

}  // namespace tamis::cuda::detail

#endif  // TAMIS_CUDA_DEVICE_MEMORY_CUH_
