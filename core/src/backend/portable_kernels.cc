// The portable backend: plain loops over the arithmetic in the public headers. All other backends
// are tested against it, and it serves machines that no other backend supports.
#include <bit>

#include "core/src/backend/portable.h"
#include "core/src/backend/providers.h"
#include "core/src/base/xxh64_steps.h"

namespace tamis::detail {
namespace {

void Hash(const Batch& batch, uint64_t* hashes) {
  for (size_t i = 0; i < batch.n; ++i) {
    hashes[i] = batch.hasher(batch.values[i]);
  }
}

void HashXxh64Rests(const Xxh64Rests& rests, Xxh64Lanes lanes, size_t n, uint64_t* hashes) {
  for (size_t i = 0; i < n; ++i) {
    const uint64_t length = rests.lengths[i];
    const size_t left = lanes == Xxh64Lanes::kAny ? length % 32 / 8 : static_cast<size_t>(lanes);
    uint64_t h = rests.states[i];
    for (size_t lane = 0; lane < left; ++lane) h = xxh64::Take8(h, rests.lanes[lane][i]);
    uint64_t last = rests.last[i];
    if ((length & 4) != 0) {
      h = xxh64::Take4(h, static_cast<uint32_t>(last));
      last >>= 32;
    }
    for (uint64_t byte = 0; byte < (length & 3); ++byte, last >>= 8) {
      h = xxh64::Take1(h, static_cast<uint8_t>(last));
    }
    hashes[i] = hash::Xxh64Avalanche(h);
  }
}

void SortByLength(const LengthClasses& classes, const uint8_t* lengths, size_t n,
                  SortedStrings& sorted) {
  uint8_t bits[kStringsAtOnce];
  for (size_t i = 0; i < n; ++i) bits[i] = classes.bits[lengths[i]];
  SortByClass(bits, n, sorted);
}

void EndAllXxh3(const uint8_t* lengths, size_t n, uint64_t* hashes) {
  for (size_t i = 0; i < n; ++i) hashes[i] = EndXxh3(lengths[i], hashes[i]);
}

void BitsToBytes(const uint64_t* bits, size_t n, uint8_t* bytes) {
  for (size_t i = 0; i < n; ++i) bytes[i] = (bits[i / 64] >> (i % 64)) & 1;
}

template <typename Index>
size_t BitsToIndices(const uint64_t* bits, size_t n, uint64_t first, Index* out) {
  size_t found = 0;
  for (size_t word = 0; 64 * word < n; ++word) {
    for (uint64_t rest = bits[word]; rest != 0; rest &= rest - 1) {
      out[found++] = static_cast<Index>(first + 64 * word + std::countr_zero(rest));
    }
  }
  return found;
}

uint64_t PopCount(const uint64_t* words, size_t n) {
  uint64_t sum = 0;
  for (size_t i = 0; i < n; ++i) sum += std::popcount(words[i]);
  return sum;
}

void Merge(uint64_t* into, const uint64_t* from, size_t n) {
  for (size_t i = 0; i < n; ++i) into[i] |= from[i];
}

void Intersect(uint64_t* into, const uint64_t* from, size_t n) {
  for (size_t i = 0; i < n; ++i) into[i] &= from[i];
}

}  // namespace

Kernels PortableKernels() {
  return {{.hash = Hash,
           .xxh64_rests = HashXxh64Rests,
           .sort_by_length = SortByLength,
           .end_xxh3 = EndAllXxh3,
           .bits_to_bytes = BitsToBytes,
           .bits_to_indices32 = BitsToIndices<uint32_t>,
           .bits_to_indices64 = BitsToIndices<uint64_t>,
           .popcount = PopCount,
           .merge = Merge,
           .intersect = Intersect},
#define TAMIS_FAMILY(Type, name) portable::name,
          TAMIS_KERNEL_FAMILIES(TAMIS_FAMILY)
#undef TAMIS_FAMILY
  };
}

}  // namespace tamis::detail
