// Sets the bits of one or many keys in the words of a Bloom filter that other threads use at the
// same time.
#ifndef TAMIS_LIVE_SRC_SHARED_BITS_H_
#define TAMIS_LIVE_SRC_SHARED_BITS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/src/bulk/change_loop.h"
#include "core/src/bulk/outcomes.h"
#include "core/src/bulk/valid_keys.h"
#include "tamis/filters/bloom_filter.h"
#include "tamis/filters/split_block_filter.h"

namespace tamis::detail {

inline uint64_t* WordsOf(const Storage& storage) noexcept {
  return reinterpret_cast<uint64_t*>(storage.data());
}

// The words of a filter, which begin at a multiple of 16 bytes, and the geometry of its kind.
struct SharedBlocks {
  SharedBlocks(const SplitBlockBloomFilter& filter, const Kernels& its_kernels,
               const Storage& storage)
      : SharedBlocks(its_kernels, WordsOf(storage), filter.num_blocks()) {}
  SharedBlocks(const Kernels& its_kernels, uint64_t* its_words, uint64_t blocks)
      : kernels(its_kernels), words(its_words), num_blocks(blocks) {}

  const Kernels& kernels;
  uint64_t* words;
  uint64_t num_blocks;
};

struct SharedArray {
  SharedArray(const BloomFilter& filter, const Kernels& its_kernels, const Storage& storage)
      : kernels(its_kernels),
        words(WordsOf(storage)),
        num_bits(filter.num_bits()),
        num_hashes(filter.num_hashes()) {}

  const Kernels& kernels;
  uint64_t* words;
  uint64_t num_bits;
  uint32_t num_hashes;
};

// Sets the bits of a hash.
void SetShared(const SharedBlocks& filter, uint64_t hash) noexcept;
void SetShared(const SharedArray& filter, uint64_t hash) noexcept;

// Sets the bits of a hash. Returns whether any of them was 0 before.
bool InsertShared(const SharedBlocks& filter, uint64_t hash) noexcept;
bool InsertShared(const SharedArray& filter, uint64_t hash) noexcept;

// Sets the bits of `n` <= 64 hashes in their order. Bit i of the result is set if any bit of hash i
// was 0 before.
uint64_t InsertShared(const SharedBlocks& filter, const uint64_t* hashes, size_t n) noexcept;
uint64_t InsertShared(const SharedArray& filter, const uint64_t* hashes, size_t n) noexcept;

// Calls visit(hashes, n, begin) for the hashes of a batch, up to 64 at a time.
template <typename Visit>
void ForEach64(const Kernels& kernels, const Batch& batch, const Visit& visit) {
  alignas(64) uint64_t hashes[kBatchKeys];
  ForEachSlice(batch, [&](const Batch& slice, size_t begin) {
    kernels.hash(slice, hashes);
    for (size_t i = 0; i < slice.n; i += 64) {
      visit(hashes + i, std::min<size_t>(64, slice.n - i), begin + i);
    }
  });
}

// Inserts the keys that are absent. Returns their number. The bitmaps of `outputs` must be 0.
template <typename SharedFilter>
uint64_t InsertAbsentShared(const SharedFilter& filter, const Keys& keys, const HashSpec& hash,
                            const ChangeOutputs& outputs) {
  const auto insert = [&](const Batch& slice, uint64_t* missing) {
    ForEach64(filter.kernels, slice, [&](const uint64_t* hashes, size_t n, size_t begin) {
      missing[begin / 64] = InsertShared(filter, hashes, n);
    });
  };
  return ForValidKeys(keys, hash, outputs,
                      [&](uint64_t n, const BatchSource& source, Outcomes of_valid) {
                        uint64_t sum = 0;
                        source(filter.kernels, 0, n, [&](const Batch& batch, uint64_t index) {
                          sum += InsertAbsent(filter.kernels, batch, index, of_valid, insert);
                        });
                        return sum;
                      });
}

// Returns a writer that collects the bits of `n` keys before it sets them, so that one write of a
// word serves several keys. Returns nullptr if this would not be faster. Throws Error(kOutOfMemory)
// or std::bad_alloc.
std::unique_ptr<BulkWriter> MakeSharedWriter(const SharedBlocks& filter, uint64_t n);
std::unique_ptr<BulkWriter> MakeSharedWriter(const SharedArray& filter, uint64_t n);

}  // namespace tamis::detail

#endif  // TAMIS_LIVE_SRC_SHARED_BITS_H_
