// Cuckoo filters that many threads insert into, and erase from, while others ask.
#ifndef TAMIS_LIVE_CONCURRENT_CUCKOO_H_
#define TAMIS_LIVE_CONCURRENT_CUCKOO_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "tamis/cuckoo_filter.h"

namespace tamis {

namespace detail {
template <int kBits>
class SharedCuckoo;
}  // namespace detail

// A CuckooFilter with its contents and files, for which any number of threads may call any of the
// functions that are const, and Insert and Erase, at the same time. What needs exclusive access
// says so. Writers take turns in each chunk of the table, which is up to 256 KiB large: a filter of
// 100,000 keys is one, and there are 64 turns to be had at most. Lookups take no locks: they look
// again in the rare case that a fingerprint may have been moved past them, and after 16 times take
// the writers' lock.
//
// A key that is in during the whole of a lookup is found, whatever is moved meanwhile. Of keys that
// are being inserted or erased a lookup may say either. Only what one thread has inserted, and any
// other has come to know of, may be erased by that other.
//
// An Engine and forked processes cannot use one: a child of fork that gets it while another thread
// changes it may find a chunk locked for ever.
template <int kBits>
class ConcurrentCuckooFilter final : public Queryable, public Changeable {
 public:
  static constexpr FilterKind kKind = CuckooFilter<kBits>::kKind;
  // Changes are safe beside lookups and other changes: see Live.
  static constexpr bool kConcurrentChanges = true;

  // Throws as the constructor of CuckooFilter, and std::bad_alloc.
  explicit ConcurrentCuckooFilter(const FilterOptions& options);
  // Takes over a filter, without a copy. Throws Error(kReadOnly) for one that is read_only(), and
  // std::bad_alloc; then the filter is as it was.
  explicit ConcurrentCuckooFilter(CuckooFilter<kBits>&& filter);
  // Takes it back out, without a copy; needs exclusive access. This is then as moved from.
  CuckooFilter<kBits> Release() &&;

  // Reads a file as CuckooFilter writes it, and verifies all of it. Throws FormatError or
  // Error(kIo).
  static ConcurrentCuckooFilter Load(const std::filesystem::path& path,
                                     const LoadOptions& options = {});

  // Need exclusive access to both.
  ConcurrentCuckooFilter(ConcurrentCuckooFilter&& other) noexcept;
  ConcurrentCuckooFilter& operator=(ConcurrentCuckooFilter&& other) noexcept;
  ~ConcurrentCuckooFilter();

  // See Filter::moved_from.
  bool moved_from() const noexcept { return filter_.moved_from(); }
  uint64_t capacity() const noexcept { return filter_.capacity(); }
  uint64_t bytes() const noexcept override { return filter_.bytes(); }
  uint64_t num_slots() const noexcept { return filter_.num_slots(); }
  const HashSpec& hash() const noexcept { return filter_.hash(); }
  // Keys that are in, copies included.
  uint64_t inserted_count() const noexcept;
  KeyForms key_forms() const noexcept override;
  // As Filter::set_key_forms.
  void set_key_forms(KeyForms forms) noexcept;
  // As CuckooFilter::expected_fpr, at inserted_count().
  double expected_fpr() const noexcept override;
  QueryTraits traits() const noexcept override {
    return {.thread_safety = ThreadSafety::kConcurrentChanges, .backend = &filter_.backend()};
  }

  // As the functions of CuckooFilter of these names.
  bool Contains(uint64_t key) const noexcept { return ContainsHash(hasher_(key)); }
  bool Contains(std::string_view key) const noexcept {
    return ContainsHash(HashBytes(key, hash()));
  }
  bool ContainsHash(uint64_t hash) const noexcept;
  using Queryable::Contains;

  // Of threads that insert the same key by InsertIfAbsent at the same time exactly one is told that
  // it is new. Bulk changes of a filter that was moved from throw Error(kReadOnly), and those of
  // one key return false.
  bool Insert(uint64_t key) noexcept {
    return ChangeOne(Change::kInsert, KeyForm::kInteger, hasher_(key));
  }
  bool Insert(std::string_view key) noexcept {
    return ChangeOne(Change::kInsert, KeyForm::kBytes, HashBytes(key, hash()));
  }
  bool InsertHash(uint64_t hash) noexcept {
    return ChangeOne(Change::kInsert, KeyForm::kUnknown, hash);
  }
  using Changeable::Insert;

  bool InsertIfAbsent(uint64_t key) noexcept {
    return ChangeOne(Change::kInsertIfAbsent, KeyForm::kInteger, hasher_(key));
  }
  bool InsertIfAbsent(std::string_view key) noexcept {
    return ChangeOne(Change::kInsertIfAbsent, KeyForm::kBytes, HashBytes(key, hash()));
  }
  bool InsertHashIfAbsent(uint64_t hash) noexcept {
    return ChangeOne(Change::kInsertIfAbsent, KeyForm::kUnknown, hash);
  }
  using Changeable::InsertIfAbsent;

  bool Erase(uint64_t key) noexcept { return EraseHash(hasher_(key)); }
  bool Erase(std::string_view key) noexcept { return EraseHash(HashBytes(key, hash())); }
  bool EraseHash(uint64_t hash) noexcept {
    return ChangeOne(Change::kErase, KeyForm::kUnknown, hash);
  }
  using Changeable::Erase;
  ChangeTraits change_traits() const noexcept override {
    return {.inserts_if_absent = true, .erases = true};
  }

  template <detail::NoKey T>
  bool Contains(T) const = delete;
  template <detail::NoKey T>
  bool Insert(T) = delete;
  template <detail::NoKey T>
  bool InsertIfAbsent(T) = delete;
  template <detail::NoKey T>
  bool Erase(T) = delete;

  // How many keys lookups have looked for again since the filter was made, and how many of them
  // under a lock.
  uint64_t repeated_looks() const noexcept;
  uint64_t locked_looks() const noexcept;

  // A copy of the filter at one time, with every key whose insertion had returned when it began.
  // Writers wait meanwhile. Throws Error(kOutOfMemory) or std::bad_alloc, and Error(kReadOnly) if
  // this was moved from.
  CuckooFilter<kBits> Snapshot(const MemoryOptions& memory = {}) const;
  // Saves a Snapshot, which takes the memory of a second filter meanwhile. Throws as it and as
  // Filter::Save.
  void Save(const std::filesystem::path& path, const SaveOptions& options = {}) const;

  // Empties the filter. Needs exclusive access, also from lookups.
  void Clear();

 private:
  ConcurrentCuckooFilter(CuckooFilter<kBits>& filter,
                         std::unique_ptr<detail::SharedCuckoo<kBits>> table);

  bool ChangeOne(Change change, KeyForm form, uint64_t hash) noexcept;
  size_t Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) override;
  // What QueryBits takes.
  auto Probe() const noexcept;
  void Query(const Keys& keys, uint64_t* bits) const override;

  CuckooFilter<kBits> filter_;
  detail::KeyHasher hasher_;
  std::unique_ptr<detail::SharedCuckoo<kBits>> table_;  // of the filter; nullptr after a move
};

extern template class ConcurrentCuckooFilter<8>;
extern template class ConcurrentCuckooFilter<12>;
extern template class ConcurrentCuckooFilter<16>;

}  // namespace tamis

#endif  // TAMIS_LIVE_CONCURRENT_CUCKOO_H_
