// The last steps of XXH64 for many strings at once: see tamis/detail/xxh64_rests.h. A step that
// only some strings need runs for all strings, and the result is used only for those strings.

#if defined(TAMIS_SIMD_XXH64_RESTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAMIS_SIMD_XXH64_RESTS_INL_H_
#undef TAMIS_SIMD_XXH64_RESTS_INL_H_
#else
#define TAMIS_SIMD_XXH64_RESTS_INL_H_
#endif

#include <hwy/highway.h>

#include "simd/hash-inl.h"
#include "tamis/detail/compiler.h"
#include "tamis/detail/xxh64_rests.h"
#include "tamis/hash.h"

HWY_BEFORE_NAMESPACE();
namespace tamis::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

// kLanes is the number of lanes that all strings have left, or, if kAny, the most that any string
// has left.
template <size_t kLanes, bool kAny>
void HashRests(const Xxh64Rests& rests, size_t n, uint64_t* hashes) {
  const D64 d;
  const V64 prime1 = hn::Set(d, hash::kXxh64Prime1);
  const V64 prime2 = hn::Set(d, hash::kXxh64Prime2);
  const V64 prime5 = hn::Set(d, hash::kXxh64Prime5);
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    const V64 length = hn::LoadU(d, rests.lengths + i);
    V64 h = hn::LoadU(d, rests.states + i);
    TAMIS_UNROLL
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const V64 round = hn::Mul(hn::LoadU(d, rests.lanes[lane] + i), prime2);
      V64 taken = hn::Xor(h, hn::Mul(hn::RotateRight<64 - 31>(round), prime1));
      taken =
          hn::Add(hn::Mul(hn::RotateRight<64 - 27>(taken), prime1), hn::Set(d, hash::kXxh64Prime4));
      if (kAny) {
        const V64 left = hn::And(length, hn::Set(d, 31));
        h = hn::IfThenElse(hn::Gt(left, hn::Set(d, 8 * lane + 7)), taken, h);
      } else {
        h = taken;
      }
    }
    V64 last = hn::LoadU(d, rests.last + i);
    const auto four = hn::TestBit(length, hn::Set(d, 4));
    const V64 low = hn::And(last, hn::Set(d, 0xFFFFFFFF));
    V64 taken = hn::RotateRight<64 - 23>(hn::Xor(h, hn::Mul(low, prime1)));
    taken = hn::Add(hn::Mul(taken, prime2), hn::Set(d, hash::kXxh64Prime3));
    h = hn::IfThenElse(four, taken, h);
    last = hn::IfThenElse(four, hn::ShiftRight<32>(last), last);
    const V64 bytes = hn::And(length, hn::Set(d, 3));
    TAMIS_UNROLL
    for (uint64_t byte = 0; byte < 3; ++byte) {
      const V64 value = hn::And(last, hn::Set(d, 0xFF));
      taken = hn::RotateRight<64 - 11>(hn::Xor(h, hn::Mul(value, prime5)));
      h = hn::IfThenElse(hn::Gt(bytes, hn::Set(d, byte)), hn::Mul(taken, prime1), h);
      last = hn::ShiftRight<8>(last);
    }
    h = HashStage<Source::kXxh64, 3>(d, h, h);
    h = HashStage<Source::kXxh64, 4>(d, h, h);
    hn::StoreU(HashStage<Source::kXxh64, 5>(d, h, h), d, hashes + i);
  }
}

// Writes hashes up to the next multiple of the number of lanes in a vector.
inline void HashXxh64Rests(const Xxh64Rests& rests, Xxh64Lanes lanes, size_t n, uint64_t* hashes) {
  switch (lanes) {
    case Xxh64Lanes::kNone:
      return HashRests<0, false>(rests, n, hashes);
    case Xxh64Lanes::kOne:
      return HashRests<1, false>(rests, n, hashes);
    case Xxh64Lanes::kTwo:
      return HashRests<2, false>(rests, n, hashes);
    case Xxh64Lanes::kThree:
      return HashRests<3, false>(rests, n, hashes);
    case Xxh64Lanes::kAny:
      return HashRests<3, true>(rests, n, hashes);
  }
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace tamis::detail
HWY_AFTER_NAMESPACE();

#endif  // include guard
