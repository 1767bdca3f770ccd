#include "live/src/shared_bits.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <utility>

#include "core/src/bulk/partitioned_writer.h"
#include "core/src/bulk/regions.h"
#include "live/src/shared_words.h"
#include "tamis/detail/compiler.h"

namespace tamis::detail {
namespace {

namespace sb = split_block;

constexpr size_t kBlockQuads = sb::kBlockBytes / sizeof(uint64_t);

// Maximum size of the filter, in blocks per key of a call, for which bits are collected first. With
// fewer keys, the bits are set directly in the filter. Measured: bench/NOTES_LIVE.md.
constexpr uint64_t kMaxBlocksPerKey = 2;

// For a filter that fits the caches: collects the bits of a call in a private filter, using the
// kernels of filters that are not shared, and then sets them word by word.
class CopyWriter final : public BulkWriter {
 public:
  using InsertBatch = std::function<void(uint64_t* words, const Batch& batch)>;

  CopyWriter(uint64_t* words, uint64_t bytes, InsertBatch insert)
      : words_(words), copy_(Storage::Allocate(bytes, {})), insert_(std::move(insert)) {}

  uint64_t max_slice_keys() const noexcept override { return uint64_t{1} << 63; }
  bool in_order() const noexcept override { return false; }
  void Add(unsigned, const Batch& batch, uint64_t) noexcept override {
    insert_(WordsOf(copy_), batch);
  }
  size_t num_tasks() const noexcept override { return 1; }
  void Run(size_t) noexcept override {
    OrWords(words_, WordsOf(copy_), copy_.size() / sizeof(uint64_t));
  }
  uint64_t EndSlice(Outcomes&) noexcept override { return 0; }

 private:
  uint64_t* const words_;
  const Storage copy_;
  const InsertBatch insert_;
};

uint64_t* BlockOf(const SharedBlocks& filter, uint64_t hash) {
  return filter.words + kBlockQuads * sb::BlockIndex(hash, filter.num_blocks);
}

// Returns the bits of a hash in words w and w + 1.
uint64_t PairBits(uint64_t hash, int w) noexcept {
  return uint64_t{sb::WordBit(hash, w)} | uint64_t{sb::WordBit(hash, w + 1)} << 32;
}

// Sets the bits of a hash in its block. Computes them in registers: an atomic operation would wait
// for a store of the bits, but not for computations.
bool SetBits(uint64_t* block, uint64_t hash) noexcept {
  bool missing = false;
  TAMIS_UNROLL
  for (int w = 0; w < sb::kWords; w += 2) {
    missing |= OrWord(block[w / 2], PairBits(hash, w));
  }
  return missing;
}

template <typename Visit>
void ForEachPosition(const SharedArray& filter, uint64_t hash, const Visit& visit) {
  bloom::Walk walk = bloom::Start(hash, filter.num_bits);
  for (uint32_t i = 1;; ++i) {
    visit(filter.words + walk.position / bloom::kWordBits,
          uint64_t{1} << (walk.position % bloom::kWordBits));
    if (i == filter.num_hashes) return;
    walk = bloom::Next(walk, i, filter.num_bits);
  }
}

}  // namespace

// Sets each word without a test. Tests cost more than they save, because few words have the bits of
// a key that is not there.
void SetShared(const SharedBlocks& filter, uint64_t hash) noexcept {
  uint64_t* const block = BlockOf(filter, hash);
  TAMIS_UNROLL
  for (int w = 0; w < sb::kWords; w += 2) {
    std::atomic_ref<uint64_t>(block[w / 2]).fetch_or(PairBits(hash, w), std::memory_order_relaxed);
  }
}

void SetShared(const SharedArray& filter, uint64_t hash) noexcept { InsertShared(filter, hash); }

bool InsertShared(const SharedBlocks& filter, uint64_t hash) noexcept {
  return SetBits(BlockOf(filter, hash), hash);
}

uint64_t InsertShared(const SharedBlocks& filter, const uint64_t* hashes, size_t n) noexcept {
  for (size_t i = 0; i < n; ++i) PrefetchWrite(BlockOf(filter, hashes[i]));
  uint64_t missing = 0;
  for (size_t i = 0; i < n; ++i) {
    missing |= uint64_t{SetBits(BlockOf(filter, hashes[i]), hashes[i])} << i;
  }
  return missing;
}

bool InsertShared(const SharedArray& filter, uint64_t hash) noexcept {
  bool missing = false;
  ForEachPosition(filter, hash,
                  [&](uint64_t* word, uint64_t bit) { missing |= OrWord(*word, bit); });
  return missing;
}

uint64_t InsertShared(const SharedArray& filter, const uint64_t* hashes, size_t n) noexcept {
  // Computes positions first, and prefetches up to 32 KiB of cache lines. An atomic operation waits
  // for its cache line, and no later operation begins during that time.
  constexpr size_t kPositions = 512;
  uint64_t positions[kPositions];
  const size_t keys_at_once = std::max<size_t>(1, kPositions / filter.num_hashes);
  uint64_t missing = 0;
  for (size_t begin = 0, end = 0; begin < n; begin = end) {
    end = std::min(n, begin + keys_at_once);
    size_t at = 0;
    for (size_t i = begin; i < end; ++i) {
      bloom::Walk walk = bloom::Start(hashes[i], filter.num_bits);
      for (uint32_t j = 1;; ++j) {
        PrefetchWrite(filter.words + walk.position / bloom::kWordBits);
        positions[at++] = walk.position;
        if (j == filter.num_hashes) break;
        walk = bloom::Next(walk, j, filter.num_bits);
      }
    }
    at = 0;
    for (size_t i = begin; i < end; ++i) {
      bool any = false;
      for (uint32_t j = 0; j < filter.num_hashes; ++j, ++at) {
        any |= OrWord(filter.words[positions[at] / bloom::kWordBits],
                      uint64_t{1} << (positions[at] % bloom::kWordBits));
      }
      missing |= uint64_t{any} << i;
    }
  }
  return missing;
}

std::unique_ptr<BulkWriter> MakeSharedWriter(const SharedBlocks& filter, uint64_t n) {
  if (n < filter.num_blocks / kMaxBlocksPerKey) return nullptr;
  const uint64_t bytes = filter.num_blocks * sb::kBlockBytes;
  if (NumRegions(bytes) == 1) {
    return std::make_unique<CopyWriter>(
        filter.words, bytes, [filter](uint64_t* words, const Batch& batch) {
          filter.kernels.split_block.insert(reinterpret_cast<uint32_t*>(words), filter.num_blocks,
                                            batch);
        });
  }
  // A copy of one region. The kernel treats it as the whole filter, because all hashes are of that
  // region.
  const auto copy = std::make_shared<const Storage>(
      Storage::Allocate(RegionBlocks(bytes, filter.num_blocks) * sb::kBlockBytes, {}));
  const auto insert = [filter, copy](const Batch& hashes, uint64_t first, uint64_t blocks) {
    const uintptr_t begin = reinterpret_cast<uintptr_t>(copy->data()) - first * sb::kBlockBytes;
    filter.kernels.split_block.insert(reinterpret_cast<uint32_t*>(begin), filter.num_blocks,
                                      hashes);
    OrWords(filter.words + first * kBlockQuads, WordsOf(*copy), blocks * kBlockQuads);
    // Clears the copy only at the end: a store between two atomic operations would delay the second
    // one.
    std::memset(copy->data(), 0, blocks * sb::kBlockBytes);
  };
  HashWriter::Target target = HashTarget(bytes, filter.num_blocks, filter.kernels, insert);
  target.rarely = true;
  return std::make_unique<HashWriter>(std::move(target), n, 1);
}

std::unique_ptr<BulkWriter> MakeSharedWriter(const SharedArray& filter, uint64_t n) {
  const uint64_t bytes = filter.num_bits / 8;
  constexpr uint64_t kLineBytes = 64;
  if (NumRegions(bytes) != 1 || n * filter.num_hashes < bytes / kLineBytes) return nullptr;
  return std::make_unique<CopyWriter>(
      filter.words, bytes, [filter](uint64_t* words, const Batch& batch) {
        filter.kernels.bloom.insert(words, filter.num_bits, filter.num_hashes, batch);
      });
}

}  // namespace tamis::detail
