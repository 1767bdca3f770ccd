// A hash for peers.
#ifndef TAMIS_BENCH_SUITE_MURMUR3_H_
#define TAMIS_BENCH_SUITE_MURMUR3_H_

#include <cstdint>

#include "tamis/detail/compiler.h"

namespace tamis::bench {

// The 64-bit finalizer of MurmurHash3 (Appleby). Inlined, because peers are compiled for this
// processor and other files are not.
TAMIS_INLINE uint64_t Murmur3Finalizer(uint64_t key) {
  key = (key ^ (key >> 33)) * 0xFF51AFD7ED558CCD;
  key = (key ^ (key >> 33)) * 0xC4CEB9FE1A85EC53;
  return key ^ (key >> 33);
}

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_MURMUR3_H_
