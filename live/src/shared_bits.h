// Sets the bits of one or many keys in the words of a Bloom filter that other threads use at the
// same time.
#ifndef TAMIS_LIVE_SRC_SHARED_BITS_H_
#define TAMIS_LIVE_SRC_SHARED_BITS_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/src/bulk/change_loop.h"
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
      : kernels(its_kernels), words(WordsOf(storage)), num_blocks(filter.num_blocks()) {}

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

// Sets the bits of a hash. Returns whether any of them was 0 before.
bool InsertShared(const SharedBlocks& filter, uint64_t hash) noexcept;
bool InsertShared(const SharedArray& filter, uint64_t hash) noexcept;

// Sets the bits of `n` <= 64 hashes in their order. Bit i of the result is set if any bit of hash i
// was 0 before.
uint64_t InsertShared(const SharedBlocks& filter, const uint64_t* hashes, size_t n) noexcept;
uint64_t InsertShared(const SharedArray& filter, const uint64_t* hashes, size_t n) noexcept;

// Returns a writer that collects the bits of `n` keys before it sets them, so that one write of a
// word serves several keys. Returns nullptr if this would not be faster. Throws Error(kOutOfMemory)
// or std::bad_alloc.
std::unique_ptr<BulkWriter> MakeSharedWriter(const SharedBlocks& filter, uint64_t n);
std::unique_ptr<BulkWriter> MakeSharedWriter(const SharedArray& filter, uint64_t n);

}  // namespace tamis::detail

#endif  // TAMIS_LIVE_SRC_SHARED_BITS_H_
