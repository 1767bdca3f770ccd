// Bloom filters that many threads insert into while others ask.
#ifndef TAMIS_LIVE_CONCURRENT_BLOOM_H_
#define TAMIS_LIVE_CONCURRENT_BLOOM_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "tamis/bloom_filter.h"
#include "tamis/filter.h"
#include "tamis/live/detail/striped_count.h"
#include "tamis/split_block_filter.h"

namespace tamis {

// A filter of class F, SplitBlockBloomFilter or BloomFilter, with its bits, its files and its
// lookups, for which any number of threads may call any of the functions that are const, and Insert
// and Merge, at the same time. What needs exclusive access says so. Lookups take no locks and cost
// what those of F cost; insertions take none either, and cost more, as every word is changed by an
// atomic operation (docs/live.md).
//
// A key whose insertion has returned is found by every lookup that begins afterwards, on whatever
// thread. Of keys that are being inserted a lookup may say either.
//
// Memory may also be shared by processes that fork from one: where options.memory.resource hands
// out a shared mapping, what one of them inserts the others find; inserted_count() and key_forms()
// are then those of each process.
template <typename F>
class ConcurrentBloom final : public Queryable, public Changeable {
 public:
  static constexpr FilterKind kKind = F::kKind;
  // Changes are safe beside lookups and other changes: see Live.
  static constexpr bool kConcurrentChanges = true;

  // Throws as the constructor of F.
  explicit ConcurrentBloom(const FilterOptions& options);
  // Takes over a filter, without a copy. Throws Error(kReadOnly) for one that is read_only().
  explicit ConcurrentBloom(F&& filter);
  // Takes it back out, without a copy; needs exclusive access. This is then as moved from.
  F Release() &&;

  // Reads a file as F writes it, and verifies all of it. Throws FormatError or Error(kIo).
  static ConcurrentBloom Load(const std::filesystem::path& path, const LoadOptions& options = {});

  // Need exclusive access to both.
  ConcurrentBloom(ConcurrentBloom&& other) noexcept;
  ConcurrentBloom& operator=(ConcurrentBloom&& other) noexcept;
  ~ConcurrentBloom();

  // The filter as others may ask it, an Engine for one, beside insertions here. It does not know
  // how many keys of what forms were inserted since; the functions below do. It must not be saved,
  // and throws Error(kInvalidArgument): what is written would change meanwhile. Save and Snapshot
  // below are for that.
  const F& filter() const noexcept { return filter_; }

  uint64_t capacity() const noexcept { return filter_.capacity(); }
  uint64_t bytes() const noexcept override { return filter_.bytes(); }
  const HashSpec& hash() const noexcept { return filter_.hash(); }
  uint64_t inserted_count() const noexcept { return inserted_.Get(); }
  KeyForms key_forms() const noexcept override {
    return KeyForms::FromBits(forms_.load(std::memory_order_relaxed));
  }
  // As Filter::set_key_forms.
  void set_key_forms(KeyForms forms) noexcept {
    forms_.store(forms.bits(), std::memory_order_relaxed);
  }
  double estimated_count() const noexcept override { return filter_.estimated_count(); }
  double expected_fpr() const noexcept override { return filter_.expected_fpr(); }
  QueryTraits traits() const noexcept override {
    return {.thread_safety = ThreadSafety::kConcurrentChanges, .backend = &filter_.backend()};
  }

  // As the functions of F of these names.
  TAMIS_INLINE bool Contains(uint64_t key) const noexcept { return filter_.Contains(key); }
  TAMIS_INLINE bool Contains(std::string_view key) const noexcept { return filter_.Contains(key); }
  TAMIS_INLINE bool ContainsHash(uint64_t hash) const noexcept {
    return filter_.ContainsHash(hash);
  }
  using Queryable::Contains;

  // See Filter::moved_from.
  bool moved_from() const noexcept { return filter_.moved_from(); }

  // One key. Returns true, or false if the filter was moved from.
  bool Insert(uint64_t key) noexcept { return Insert(KeyForm::kInteger, hasher_(key)); }
  bool Insert(std::string_view key) noexcept {
    return Insert(KeyForm::kBytes, HashBytes(key, hash()));
  }
  bool InsertHash(uint64_t hash) noexcept { return Insert(KeyForm::kUnknown, hash); }
  // Many keys: all but nulls are inserted. If they are many for the size of the filter, their bits
  // are first collected in memory of the call's own: at most 4 MiB for a filter of up to 512 MiB, a
  // 128th part of a larger one, and up to 128 MiB for hashes. If there is no memory, it does
  // without. Changes throw Error(kReadOnly) if the filter was moved from.
  using Changeable::Insert;

  // As the functions of F of these names. Of threads that insert the same key at the same time at
  // least one is told that it is new; inserted_count() counts a key for each that is told so.
  bool InsertIfAbsent(uint64_t key) noexcept {
    return InsertIfAbsent(KeyForm::kInteger, hasher_(key));
  }
  bool InsertIfAbsent(std::string_view key) noexcept {
    return InsertIfAbsent(KeyForm::kBytes, HashBytes(key, hash()));
  }
  bool InsertHashIfAbsent(uint64_t hash) noexcept {
    return InsertIfAbsent(KeyForm::kUnknown, hash);
  }
  using Changeable::InsertIfAbsent;
  ChangeTraits change_traits() const noexcept override { return {.inserts_if_absent = true}; }

  template <detail::NoKey T>
  bool Contains(T) const = delete;
  template <detail::NoKey T>
  bool Insert(T) = delete;
  template <detail::NoKey T>
  bool InsertIfAbsent(T) = delete;

  // Adds the keys of another filter. Throws Error(kIncompatible) as F::Merge. What is inserted into
  // the other one meanwhile may be added or not.
  void Merge(const F& other);
  void Merge(const ConcurrentBloom& other);

  // A copy with at least every key whose insertion had returned when it began. Throws
  // Error(kOutOfMemory), and Error(kReadOnly) if this was moved from.
  F Snapshot(const MemoryOptions& memory = {}) const;
  // Saves a Snapshot, which takes the memory of a second filter meanwhile. Throws as it and as
  // Filter::Save.
  void Save(const std::filesystem::path& path, const SaveOptions& options = {}) const;

  // Empties the filter. Needs exclusive access, also from lookups.
  void Clear();

 private:
  void Query(const Keys& keys, uint64_t* bits) const override {
    filter_.Contains(keys, Bitmap({bits, BitmapWords(keys.size())}));
  }
  const Filter* engine_filter() const noexcept override { return &filter_; }

  bool Insert(KeyForm form, uint64_t hash) noexcept;
  bool InsertIfAbsent(KeyForm form, uint64_t hash) noexcept;
  size_t Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) override;
  uint64_t InsertAll(const Keys& keys, const ChangeOutputs& outputs);
  uint64_t InsertAbsent(const Keys& keys, const ChangeOutputs& outputs);
  void MergeWords(const F& other);
  void AddCounts(KeyForms forms, uint64_t keys) noexcept;
  uint64_t* words() noexcept;

  F filter_;
  detail::KeyHasher hasher_;
  detail::StripedCount inserted_;
  std::atomic<uint16_t> forms_;  // KeyForms::bits
};

using ConcurrentSplitBlockBloomFilter = ConcurrentBloom<SplitBlockBloomFilter>;
using ConcurrentBloomFilter = ConcurrentBloom<BloomFilter>;

extern template class ConcurrentBloom<SplitBlockBloomFilter>;
extern template class ConcurrentBloom<BloomFilter>;

}  // namespace tamis

#endif  // TAMIS_LIVE_CONCURRENT_BLOOM_H_
