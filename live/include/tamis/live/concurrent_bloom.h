// Bloom filters that many threads insert into while others query them.
#ifndef TAMIS_LIVE_CONCURRENT_BLOOM_H_
#define TAMIS_LIVE_CONCURRENT_BLOOM_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "tamis/filters/bloom_filter.h"
#include "tamis/filters/filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/live/concurrent_filter.h"
#include "tamis/live/detail/striped_count.h"

namespace tamis {

// Wraps a filter of class F, SplitBlockBloomFilter or BloomFilter, and has the same bits, files and
// queries. Queries take no locks, and are as fast as queries of F. Insertions take no locks either,
// but are slower than insertions into F, because an atomic operation changes each word
// (docs/live.md).
//
// Forked processes may share the memory if options.memory.resource allocates a shared mapping. Each
// process then finds keys that another process inserted. inserted_count() and key_types() do not
// include insertions by other processes.
template <typename F>
class ConcurrentBloom final : public ConcurrentFilter {
 public:
  static constexpr FilterKind kKind = F::kKind;  // the kind of F

  // Throws like the constructor of F.
  explicit ConcurrentBloom(const FilterOptions& options);
  // Takes over a filter, without a copy. Throws Error(kReadOnly) for a filter that is read_only().
  explicit ConcurrentBloom(F&& filter);
  // Moves the filter out, without a copy. Requires exclusive access. This object is then
  // moved-from.
  F Release() &&;

  // Reads a file of F and verifies all of it. Throws FormatError or Error(kIo).
  static ConcurrentBloom Load(const std::filesystem::path& path, const LoadOptions& options = {});

  // Require exclusive access to both objects.
  ConcurrentBloom(ConcurrentBloom&& other) noexcept;
  ConcurrentBloom& operator=(ConcurrentBloom&& other) noexcept;
  ~ConcurrentBloom() override;

  // Returns the wrapped filter, for queries at the same time as insertions, such as by an Engine.
  // Its inserted_count() and key_types() do not include keys inserted through this class. Saving it
  // throws Error(kInvalidArgument), because its contents may change during the call: use Save or
  // Snapshot of this class instead.
  const F& filter() const noexcept { return filter_; }

  uint64_t inserted_count() const noexcept override { return inserted_.Get(); }
  KeyTypes key_types() const noexcept override {
    return KeyTypes::FromBits(key_types_.load(std::memory_order_relaxed));
  }
  void set_key_types(KeyTypes types) noexcept override {
    key_types_.store(types.bits(), std::memory_order_relaxed);
  }
  double estimated_count() const noexcept override { return filter_.estimated_count(); }
  double expected_fpr() const noexcept override { return filter_.expected_fpr(); }

  // Query one key.
  TAMIS_INLINE bool Contains(uint64_t key) const noexcept { return filter_.Contains(key); }
  TAMIS_INLINE bool Contains(std::string_view key) const noexcept { return filter_.Contains(key); }
  TAMIS_INLINE bool ContainsHash(uint64_t hash) const noexcept override {
    return filter_.ContainsHash(hash);
  }
  using ConcurrentFilter::Contains;

  // Insert one key. See ConcurrentFilter.
  TAMIS_INLINE bool Insert(uint64_t key) noexcept {
    return InsertOne(KeyType::kInteger, hasher_(key));
  }
  TAMIS_INLINE bool Insert(std::string_view key) noexcept {
    return InsertOne(KeyType::kBytes, HashBytes(key, hash_));
  }
  TAMIS_INLINE bool InsertHash(uint64_t hash) noexcept {
    return InsertOne(KeyType::kUnknown, hash);
  }
  using ConcurrentFilter::Insert;

  // Insert one key if it is absent. See ConcurrentFilter.
  TAMIS_INLINE bool InsertIfAbsent(uint64_t key) noexcept {
    return InsertOneIfAbsent(KeyType::kInteger, hasher_(key));
  }
  TAMIS_INLINE bool InsertIfAbsent(std::string_view key) noexcept {
    return InsertOneIfAbsent(KeyType::kBytes, HashBytes(key, hash_));
  }
  TAMIS_INLINE bool InsertHashIfAbsent(uint64_t hash) noexcept {
    return InsertOneIfAbsent(KeyType::kUnknown, hash);
  }
  using ConcurrentFilter::InsertIfAbsent;

  // Insert of many keys: if there are many keys for the size of the filter, the call first collects
  // their bits in temporary memory. For a filter of up to 512 MiB, this is at most 4 MiB; for a
  // larger filter, 1/128 of its size. Hashes take up to 128 MiB more. If memory runs out, the call
  // inserts the keys without temporary memory.
  //
  // InsertIfAbsent: if several threads insert the same key at the same time, at least one of these
  // calls returns true. inserted_count() counts the key once for each call that returned true.
  ChangeTraits change_traits() const noexcept override { return {.inserts_if_absent = true}; }

  // Returns a copy that threads no longer change.
  F Snapshot(const MemoryOptions& memory = {}) const;

  // Removes all keys. Requires exclusive access: no query may run at the same time.
  void Clear();

 private:
  const Filter& plain() const noexcept override { return filter_; }
  void Query(const Keys& keys, uint64_t* bits) const override {
    filter_.Contains(keys, Bitmap({bits, BitmapWords(keys.size())}));
  }
  const Filter* engine_filter() const noexcept override { return &filter_; }

  // Insert one key. They make a call only for a key that the filter lacks.
  TAMIS_INLINE bool InsertOne(KeyType type, uint64_t hash) noexcept {
    AddCounts(type, 1);
    return filter_.ContainsHash(hash) || SetCounted(hash);
  }
  TAMIS_INLINE bool InsertOneIfAbsent(KeyType type, uint64_t hash) noexcept {
    return !filter_.ContainsHash(hash) && SetAbsent(type, hash);
  }
  // Sets the bits of a key that has been counted. Returns false after a move.
  bool SetCounted(uint64_t hash) noexcept;
  // Sets the bits of a key, and counts the key if any bit was 0. Returns whether that was so.
  bool SetAbsent(KeyType type, uint64_t hash) noexcept;

  bool ChangeOne(Change change, KeyType type, uint64_t hash) noexcept override;
  size_t Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) override;
  uint64_t InsertAll(const Keys& keys, const ChangeOutputs& outputs);
  void MergeFrom(const Filter& other, const ConcurrentFilter* shared) override;
  AnyFilter MakeSnapshot(const MemoryOptions& memory) const override { return Snapshot(memory); }
  TAMIS_INLINE void AddCounts(KeyTypes types, uint64_t keys) noexcept {
    if (keys == 0) return;
    inserted_.Add(keys);
    if ((types.bits() & ~key_types_.load(std::memory_order_relaxed)) != 0) [[unlikely]] {
      key_types_.fetch_or(types.bits(), std::memory_order_relaxed);
    }
  }

  F filter_;
  detail::StripedCount inserted_;
  std::atomic<uint16_t> key_types_;  // KeyTypes::bits
};

// A SplitBlockBloomFilter that threads change and query at the same time.
using ConcurrentSplitBlockBloomFilter = ConcurrentBloom<SplitBlockBloomFilter>;
// A BloomFilter that threads change and query at the same time.
using ConcurrentBloomFilter = ConcurrentBloom<BloomFilter>;

extern template class ConcurrentBloom<SplitBlockBloomFilter>;
extern template class ConcurrentBloom<BloomFilter>;

}  // namespace tamis

#endif  // TAMIS_LIVE_CONCURRENT_BLOOM_H_
