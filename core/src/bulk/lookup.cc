#include "core/src/bulk/lookup.h"

#include "core/src/bulk/batches.h"
#include "core/src/bulk/valid_keys.h"

namespace tamis::detail {
namespace {

// The sum of write(bits, n, begin), which is handed the bits of consecutive batches of n keys.
template <typename Write>
size_t SumOfBatches(const Kernels& kernels, const HashSpec& hash, const Probe& probe,
                    const Keys& keys, const Write& write) {
  uint64_t bits[kBatchKeys / 64];
  size_t found = 0;
  ForEachBatchAndNulls(kernels, keys, hash, kBatchKeys, [&](const Batch& batch, size_t begin) {
    probe(batch, bits);
    ClearNulls(keys, begin, batch.n, bits);
    found += write(bits, batch.n, begin);
  });
  return found;
}

template <typename Index>
size_t Indices(const Kernels& kernels, const HashSpec& hash, const Probe& probe, const Keys& keys,
               uint64_t first, Index* out) {
  return SumOfBatches(kernels, hash, probe, keys,
                      [&](const uint64_t* bits, size_t n, size_t begin) {
                        const size_t found = BitsToIndices(kernels, bits, n, first + begin, out);
                        out += found;
                        return found;
                      });
}

}  // namespace

size_t LookUpBits(const Kernels& kernels, const HashSpec& hash, Probe probe, const Keys& keys,
                  uint64_t* bits) noexcept {
  ForEachBatchAndNulls(kernels, keys, hash, kUnlimited,
                       [&](const Batch& batch, size_t begin) { probe(batch, bits + begin / 64); });
  ClearNulls(keys, 0, keys.size(), bits);
  return kernels.popcount(bits, BitmapWords(keys.size()));
}

size_t LookUpBytes(const Kernels& kernels, const HashSpec& hash, Probe probe, const Keys& keys,
                   uint8_t* bytes) noexcept {
  return SumOfBatches(kernels, hash, probe, keys,
                      [&](const uint64_t* bits, size_t n, size_t begin) {
                        kernels.bits_to_bytes(bits, n, bytes + begin);
                        return kernels.popcount(bits, BitmapWords(n));
                      });
}

size_t LookUpIndices(const Kernels& kernels, const HashSpec& hash, Probe probe, const Keys& keys,
                     uint64_t first, uint32_t* out) noexcept {
  return Indices(kernels, hash, probe, keys, first, out);
}

size_t LookUpIndices(const Kernels& kernels, const HashSpec& hash, Probe probe, const Keys& keys,
                     uint64_t first, uint64_t* out) noexcept {
  return Indices(kernels, hash, probe, keys, first, out);
}

size_t LookUpCount(const Kernels& kernels, const HashSpec& hash, Probe probe,
                   const Keys& keys) noexcept {
  return SumOfBatches(kernels, hash, probe, keys, [&](const uint64_t* bits, size_t n, size_t) {
    return kernels.popcount(bits, BitmapWords(n));
  });
}

void LookUpByRegion(const Kernels& kernels, const HashSpec& hash, Probe probe, RegionLists& lists,
                    const Keys& keys, uint64_t* bits) noexcept {
  lists.Clear();
  ForEachBatchAndNulls(kernels, keys, hash, kUnlimited,
                       [&](const Batch& batch, size_t) { lists.Add(kernels, batch); });
  for (size_t region = 0; region < lists.num_regions(); ++region) lists.ForRegion(region, probe);
  lists.ForEachWord([&](uint64_t begin, uint64_t word, size_t) { bits[begin / 64] = word; });
  ClearNulls(keys, 0, keys.size(), bits);
}

}  // namespace tamis::detail
