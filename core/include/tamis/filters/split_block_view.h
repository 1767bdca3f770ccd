// A split-block Bloom filter in the caller's memory: a page of a Parquet file, a value in a
// database, shared memory, an array of another language, a part of a file format of your own.
#ifndef TAMIS_FILTERS_SPLIT_BLOCK_VIEW_H_
#define TAMIS_FILTERS_SPLIT_BLOCK_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tamis/backend.h"
#include "tamis/changeable.h"
#include "tamis/detail/batch.h"
#include "tamis/detail/compiler.h"
#include "tamis/detail/kernels.h"
#include "tamis/detail/split_block_inline.h"
#include "tamis/hash.h"
#include "tamis/keys.h"
#include "tamis/queryable.h"

namespace tamis {

namespace detail {
class Output;
}  // namespace detail

// Queries 32-byte blocks anywhere in memory that have the layout of a SplitBlockBloomFilter. A view
// is a few pointers, cheap to pass by value. The view allocates nothing, and the blocks must
// outlive the view. Any number of threads may query while no thread writes to the blocks.
class ConstSplitBlockView {
 public:
  // `blocks` is a whole number of 32-byte blocks, from 1 to split_block::kMaxBlocks. The blocks
  // begin at a multiple of 4 bytes. A multiple of 32 is faster, because then each block lies in one
  // cache line. `hash` is the hash of the keys in the blocks: {HashKind::kXxh64, 0} in Parquet
  // files. If `backend` is nullptr, the view uses DefaultBackend(). Throws Error(kInvalidArgument)
  // for any other size or alignment of `blocks` and for an invalid hash, and Error(kUnknownBackend)
  // if TAMIS_BACKEND names an unknown backend.
  explicit ConstSplitBlockView(std::span<const std::byte> blocks, const HashSpec& hash = {},
                               const Backend* backend = nullptr);

  // Returns the number of blocks.
  uint64_t num_blocks() const noexcept { return num_blocks_; }
  // Returns the size of the blocks.
  uint64_t bytes() const noexcept { return split_block::kBlockBytes * num_blocks_; }
  // Returns the hash of the keys.
  const HashSpec& hash() const noexcept { return hash_; }
  // Returns the backend of the view.
  const Backend& backend() const noexcept { return *backend_; }
  // Returns the memory of the blocks.
  std::span<const std::byte> blocks() const noexcept {
    return std::as_bytes(std::span(words_, split_block::kWords * num_blocks_));
  }

  // See the functions with the same names in SplitBlockBloomFilter.
  TAMIS_INLINE bool Contains(uint64_t key) const noexcept { return ContainsHash(hasher_(key)); }
  TAMIS_INLINE bool Contains(std::string_view key) const noexcept {
    return ContainsHash(HashBytes(key, hash_));
  }
  template <detail::NoKey T>
  bool Contains(T) const = delete;
  TAMIS_INLINE bool ContainsHash(uint64_t hash) const noexcept {
    return detail::SplitBlockContainsOne(backend_->kernels->split_block, words_, num_blocks_, hash);
  }
  size_t Contains(Keys keys, Bitmap out) const;
  size_t Contains(Keys keys, std::span<uint8_t> out) const;
  size_t Select(Keys keys, std::span<uint32_t> out) const;
  size_t Select(Keys keys, std::span<uint64_t> out) const;
  size_t Count(Keys keys) const noexcept;
  double estimated_count() const noexcept;
  double expected_fpr() const noexcept;

 private:
  friend class BlocksQueryable;
  friend class SplitBlockBloomFilter;
  friend class SplitBlockView;

  // Makes a view of words that have passed the checks.
  ConstSplitBlockView(uint32_t* words, uint64_t num_blocks, const HashSpec& hash,
                      const detail::KeyHasher& hasher, const Backend& backend) noexcept;

  void Probe(const detail::Batch& batch, uint64_t* bits) const noexcept;
  void Query(const Keys& keys, uint64_t* bits) const noexcept;
  size_t LookUp(const Keys& keys, const detail::Output& output) const;
  uint64_t PopCount() const noexcept;

  uint32_t* words_;  // written to by SplitBlockView alone
  uint64_t num_blocks_;
  HashSpec hash_;
  detail::KeyHasher hasher_;  // hashes keys as hash_ says
  const Backend* backend_;
};

// A view that can also insert keys, which needs exclusive access to the blocks.
class SplitBlockView : public ConstSplitBlockView {
 public:
  // See ConstSplitBlockView. Blocks without keys are zeros. If `inserted` is not nullptr, it is the
  // counter of the view: each insertion adds its number of keys, duplicates included.
  explicit SplitBlockView(std::span<std::byte> blocks, const HashSpec& hash = {},
                          uint64_t* inserted = nullptr, const Backend* backend = nullptr);

  // Insert one key.
  TAMIS_INLINE void Insert(uint64_t key) const noexcept { InsertHash(hasher_(key)); }
  TAMIS_INLINE void Insert(std::string_view key) const noexcept {
    InsertHash(HashBytes(key, hash_));
  }
  template <detail::NoKey T>
  void Insert(T) const = delete;
  TAMIS_INLINE void InsertHash(uint64_t hash) const noexcept {
    detail::SplitBlockInsertOne(backend_->kernels->split_block, words_, num_blocks_, hash);
    if (inserted_ != nullptr) ++*inserted_;
  }
  // Inserts all keys that are not null directly into the blocks. For large filters and many keys,
  // SplitBlockBloomFilter::Insert is faster, because it allocates memory to order the keys first.
  void Insert(Keys keys) const noexcept { InsertKeys(keys, {}); }

  // The blocks, for programs that compute the bits elsewhere.
  std::span<std::byte> mutable_blocks() const noexcept {
    return std::as_writable_bytes(std::span(words_, split_block::kWords * num_blocks_));
  }
  // Adds `keys` to the counter, if the view has one. Call this after adding keys through
  // mutable_blocks().
  void AddInserted(uint64_t keys) const noexcept {
    if (inserted_ != nullptr) *inserted_ += keys;
  }

 private:
  friend class BlocksQueryable;
  friend class SplitBlockBloomFilter;

  SplitBlockView(const ConstSplitBlockView& view, uint64_t* inserted) noexcept;

  // Returns the number of inserted keys.
  size_t InsertKeys(const Keys& keys, const ChangeOutputs& outputs) const noexcept;

  uint64_t* inserted_;
};

}  // namespace tamis

#endif  // TAMIS_FILTERS_SPLIT_BLOCK_VIEW_H_
