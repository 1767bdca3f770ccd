// Binary fuse filters: probe, mirroring tamis/layout/fuse.h.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/fuse.cc"
#include <hwy/foreach_target.h>  // compiles the rest of this file once per target
//
#include <hwy/highway.h>

#include "simd/families.h"
#include "simd/hash-inl.h"
#include "simd/pipeline-inl.h"
#include "tamis/detail/compiler.h"
#include "tamis/detail/fuse_kernels.h"
#include "tamis/layout/fuse.h"

HWY_BEFORE_NAMESPACE();
namespace tamis::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

// The type that a slot is read as.
template <int kBits>
using Slot =
    std::conditional_t<kBits == 8, uint8_t, std::conditional_t<kBits == 32, uint32_t, uint16_t>>;

// Keys in the pipeline.
template <int kBits>
struct FuseRing {
  alignas(64) Ring offsets[3];  // offsets of the slots, in bytes
  // See CuckooRing::gap.
  alignas(64) uint64_t gap[144];
  alignas(64) Slot<kBits> mixed[kRing];  // the low bits of each hash times its multiplier
  alignas(64) Slot<kBits> slots[kRing];  // the xor of the three slots of each key
  // With 12 bits, bit 2 r is 1 if slot r begins in the middle of a byte.
  alignas(64) uint8_t odd[kBits == 12 ? kRing : 1];
};

// Returns the offset of each slot in bytes.
template <int kBits>
HWY_INLINE V64 OffsetLanes(V64 slot) {
  if constexpr (kBits == 8) return slot;
  if constexpr (kBits == 12) return hn::Add(slot, hn::ShiftRight<1>(slot));
  if constexpr (kBits == 16) return hn::ShiftLeft<1>(slot);
  if constexpr (kBits == 32) return hn::ShiftLeft<2>(slot);
}

// Writes the low bits of each lane.
template <typename T>
HWY_INLINE void StoreLow(V64 v, T* HWY_RESTRICT to) {
  const hn::Rebind<T, D64> narrow;
  hn::StoreU(hn::TruncateTo(narrow, v), narrow, to);
}

// Locates the slots of kStep keys at ring positions [at, at + kStep).
template <int kBits, Source kSource>
HWY_INLINE void LocateSlots(const fuse::Table& table, const uint64_t* HWY_RESTRICT values,
                            uint64_t seed_term, size_t at, FuseRing<kBits>& ring) {
  const D64 d;
  const hn::RebindToSigned<D64> d_signed;
  const D32 d32;
  const V64 length = hn::Set(d, table.length);
  const V64 mask = hn::Sub(length, hn::Set(d, 1));
  TAMIS_UNROLL
  for (size_t i = 0; i < kStep; i += hn::Lanes(d)) {
    const V64 hash = HashLanes<kSource>(d, hn::LoadU(d, values + i), hn::Set(d, seed_term));
    V64 multiplier = hn::Set(d, table.multipliers[0]);
    V64 begin = hn::Zero(d);
    if (table.shard_shift != 63) {
      const V64 shard =
          hn::ShiftRightSame(hn::ShiftRight<1>(hash), static_cast<int>(table.shard_shift));
      multiplier = hn::GatherIndex(d, table.multipliers, hn::BitCast(d_signed, shard));
      begin = hn::MulEven(hn::BitCast(d32, shard), hn::BitCast(d32, hn::Set(d, table.stride)));
    }
    const V64 mixed = hn::Mul(hash, multiplier);
    const V64 high = hn::ShiftRight<32>(mixed);
    const V64 x = hn::Xor(mixed, high);
    const V64 scaled =
        hn::MulEven(hn::BitCast(d32, high), hn::BitCast(d32, hn::Set(d, table.range)));
    const V64 first = hn::Add(begin, hn::ShiftRight<32>(scaled));
    const V64 second = hn::Xor(hn::Add(first, length), hn::And(x, mask));
    const V64 third =
        hn::Xor(hn::Add(hn::Add(first, length), length), hn::And(hn::ShiftRight<16>(x), mask));
    hn::Store(OffsetLanes<kBits>(first), d, ring.offsets[0] + at + i);
    hn::Store(OffsetLanes<kBits>(second), d, ring.offsets[1] + at + i);
    hn::Store(OffsetLanes<kBits>(third), d, ring.offsets[2] + at + i);
    StoreLow(mixed, ring.mixed + at + i);
    if constexpr (kBits == 12) {
      const V64 one = hn::Set(d, 1);
      StoreLow(hn::Or(hn::Or(hn::And(first, one), hn::ShiftLeft<2>(hn::And(second, one))),
                      hn::ShiftLeft<4>(hn::And(third, one))),
               ring.odd + at + i);
    }
  }
}

// Reads the slots of kStep keys, one by one.
template <int kBits>
HWY_INLINE void ReadSlots(const unsigned char* slots, size_t at, FuseRing<kBits>& ring) {
  TAMIS_UNROLL
  for (size_t i = at; i < at + kStep; ++i) {
    uint32_t x = 0;
    TAMIS_UNROLL
    for (size_t r = 0; r < 3; ++r) {
      Slot<kBits> slot;
      hwy::CopyBytes<sizeof(slot)>(slots + ring.offsets[r][i], &slot);
      if constexpr (kBits == 12) {
        x ^= uint32_t{slot} >> (4 * ((ring.odd[i] >> (2 * r)) & 1));
      } else {
        x ^= slot;
      }
    }
    ring.slots[i] = static_cast<Slot<kBits>>(x);
  }
}

// Writes one bit for each of 64 keys: whether the xor of its slots is its fingerprint.
template <int kBits>
HWY_INLINE void CompareSlots(const FuseRing<kBits>& ring, size_t at, uint8_t* bits) {
  using T = Slot<kBits>;
  const hn::CappedTag<T, 64> d;
  const auto mask = hn::Set(d, static_cast<T>(~uint32_t{0} >> (32 - kBits)));
  for (size_t i = 0; i < 64; i += hn::Lanes(d)) {
    const auto x = hn::Xor(hn::Load(d, ring.mixed + at + i), hn::Load(d, ring.slots + at + i));
    uint8_t some[8];
    const auto equal = hn::Eq(hn::And(x, mask), mask);
    if (hn::Lanes(d) >= 8) {
      hn::StoreMaskBits(d, equal, bits + i / 8);
    } else {
      hn::StoreMaskBits(d, equal, some);
      const uint8_t before = i % 8 == 0 ? uint8_t{0} : bits[i / 8];
      bits[i / 8] = static_cast<uint8_t>(before | some[0] << (i % 8));
    }
  }
}

template <int kBits, Source kSource, Prefetch kPrefetch>
void FuseContainsAll(const fuse::Table& shared, const Batch& batch, uint64_t* bits) {
  const fuse::Table table = shared;  // writes to `bits` cannot change it
  const uint64_t seed_term = batch.hasher.seed_term;
  const size_t whole = batch.n / 64 * 64;
  auto* const bytes = reinterpret_cast<uint8_t*>(bits);
  FuseRing<kBits> ring;
  ForEachStep<kPrefetch>(
      batch.values, whole, reinterpret_cast<const char*>(table.slots), ring.offsets,
      [&](size_t i, size_t at) HWY_ATTR {
        LocateSlots<kBits, kSource>(table, batch.values + (i < whole ? i : 0), seed_term, at, ring);
      },
      [&](size_t i, size_t at) HWY_ATTR {
        ReadSlots<kBits>(table.slots, at, ring);
        // Compares the slots of keys 64 positions earlier. If a vector were loaded right after the
        // stores to it, the load would wait for them.
        if (i % 64 + kStep == 64 && i >= 64) {
          const size_t begin = i / 64 * 64 - 64;
          CompareSlots<kBits>(ring, begin % kRing, bytes + begin / 8);
        }
      });
  if (whole != 0) CompareSlots<kBits>(ring, (whole - 64) % kRing, bytes + (whole - 64) / 8);
  if (whole == batch.n) return;
  uint64_t last = 0;
  for (size_t i = whole; i < batch.n; ++i) {
    const uint64_t hash = batch.hasher(batch.values[i]);
    last |= uint64_t{fuse::Contains<kBits>(table, hash)} << (i - whole);
  }
  bits[whole / 64] = last;
}

// Smaller filters are read early enough without prefetching.
inline constexpr uint64_t kFuseNearBytes = uint64_t{4} << 20;

template <int kBits>
void FuseContains(const fuse::Table& table, const Batch& batch, uint64_t* bits) {
  const uint64_t bytes = (table.stride << (63 - table.shard_shift)) * kBits / 8;
  WithSource(batch.hasher.source, [&](auto source) HWY_ATTR {
    const auto all = bytes > kFuseNearBytes ? FuseContainsAll<kBits, source(), Prefetch::kL2>
                                            : FuseContainsAll<kBits, source(), Prefetch::kNone>;
    all(table, batch, bits);
  });
}

template <int kBits>
inline constexpr FuseKernels kFuse = {.contains = FuseContains<kBits>};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace tamis::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis::detail::simd {

TAMIS_DEFINE_FAMILY(FuseKernels, fuse8, kFuse<8>)
TAMIS_DEFINE_FAMILY(FuseKernels, fuse12, kFuse<12>)
TAMIS_DEFINE_FAMILY(FuseKernels, fuse16, kFuse<16>)
TAMIS_DEFINE_FAMILY(FuseKernels, fuse32, kFuse<32>)

}  // namespace tamis::detail::simd
#endif  // HWY_ONCE
