// The common base class of filters that many threads change while others query them.
#ifndef TAMIS_LIVE_CONCURRENT_FILTER_H_
#define TAMIS_LIVE_CONCURRENT_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "tamis/changeable.h"
#include "tamis/file/file.h"
#include "tamis/filters/any_filter.h"
#include "tamis/filters/changeable_filter.h"
#include "tamis/hash.h"
#include "tamis/key_types.h"
#include "tamis/memory.h"
#include "tamis/queryable.h"

namespace tamis {

// Any number of threads may call the const functions, Insert, InsertIfAbsent, Erase and Merge at
// the same time. The other functions require exclusive access.
//
// Every query that begins after an insertion has returned finds the key, on any thread. While a key
// is being inserted or erased, a query for it may return either answer. Erase a key only after its
// insertion has returned.
//
// After a move, changes of many keys throw Error(kReadOnly), and changes of one key return false.
class ConcurrentFilter : public Queryable, public Changeable {
 public:
  // Changes may run at the same time as queries and other changes: see ConcurrentlyChangeable.
  static constexpr bool kConcurrentChanges = true;

  // Returns the kind of the plain filter.
  FilterKind kind() const noexcept { return plain().kind(); }
  // See Filter::moved_from.
  bool moved_from() const noexcept { return plain().moved_from(); }
  // See Filter::capacity.
  uint64_t capacity() const noexcept { return plain().capacity(); }
  uint64_t bytes() const noexcept override { return plain().bytes(); }
  // See Filter::hash.
  const HashSpec& hash() const noexcept { return hash_; }
  // Number of keys inserted minus number erased. Duplicates count.
  virtual uint64_t inserted_count() const noexcept = 0;
  KeyTypes key_types() const noexcept override = 0;
  // See Filter::set_key_types.
  virtual void set_key_types(KeyTypes types) noexcept = 0;
  double expected_fpr() const noexcept override = 0;
  QueryTraits traits() const noexcept override;

  // Queries for one key. The derived classes inline these functions where they can.
  bool Contains(uint64_t key) const noexcept { return ContainsHash(hasher_(key)); }
  bool Contains(std::string_view key) const noexcept { return ContainsHash(HashBytes(key, hash_)); }
  virtual bool ContainsHash(uint64_t hash) const noexcept = 0;
  using Queryable::Contains;

  // Inserts one key. Returns false if the filter is full.
  bool Insert(uint64_t key) noexcept {
    return ChangeOne(Change::kInsert, KeyType::kInteger, hasher_(key));
  }
  bool Insert(std::string_view key) noexcept {
    return ChangeOne(Change::kInsert, KeyType::kBytes, HashBytes(key, hash_));
  }
  bool InsertHash(uint64_t hash) noexcept {
    return ChangeOne(Change::kInsert, KeyType::kUnknown, hash);
  }
  using Changeable::Insert;

  // Inserts one key if it is absent. Returns whether the key was absent and was inserted.
  bool InsertIfAbsent(uint64_t key) noexcept {
    return ChangeOne(Change::kInsertIfAbsent, KeyType::kInteger, hasher_(key));
  }
  bool InsertIfAbsent(std::string_view key) noexcept {
    return ChangeOne(Change::kInsertIfAbsent, KeyType::kBytes, HashBytes(key, hash_));
  }
  bool InsertHashIfAbsent(uint64_t hash) noexcept {
    return ChangeOne(Change::kInsertIfAbsent, KeyType::kUnknown, hash);
  }
  using Changeable::InsertIfAbsent;

  template <detail::NoKey T>
  bool Contains(T) const = delete;
  template <detail::NoKey T>
  bool Insert(T) = delete;
  template <detail::NoKey T>
  bool InsertIfAbsent(T) = delete;

  // Adds the keys of another filter of the same kind, geometry and hash. Throws
  // Error(kIncompatible) if kind, geometry or hash differ, or if the kind cannot be merged. May add
  // or miss keys that are inserted into `other` during the call.
  void Merge(const Filter& other);
  void Merge(const ConcurrentFilter& other);

  // Copies the filter. The copy has every key whose insertion had returned when the call began.
  // Throws Error(kOutOfMemory), std::bad_alloc, and, after a move, Error(kReadOnly). In
  // derived classes, Snapshot returns a filter of one class, such as CuckooFilter.
  AnyFilter Snapshot(const MemoryOptions& memory = {}) const { return MakeSnapshot(memory); }
  // Saves a Snapshot, which needs memory for a second filter during the call. Throws like Snapshot
  // and Filter::Save.
  void Save(const std::filesystem::path& path, const SaveOptions& options = {}) const;

 protected:
  explicit ConcurrentFilter(const HashSpec& hash) : hash_(hash), hasher_(hash) {}
  ConcurrentFilter(ConcurrentFilter&&) noexcept = default;
  ConcurrentFilter& operator=(ConcurrentFilter&&) noexcept = default;

  // Returns the shared filter. Its inserted_count() and key_types() are out of date.
  virtual const Filter& plain() const noexcept = 0;
  virtual bool ChangeOne(Change change, KeyType type, uint64_t hash) noexcept = 0;
  // Adds the keys of `other`, which can be merged. If `other` belongs to a ConcurrentFilter,
  // `shared` is that ConcurrentFilter, which has the current counts. Otherwise `shared` is nullptr.
  // The default throws Error(kIncompatible).
  virtual void MergeFrom(const Filter& other, const ConcurrentFilter* shared);
  virtual AnyFilter MakeSnapshot(const MemoryOptions& memory) const = 0;

  // Erase one key. Classes that can erase make these functions public.
  bool Erase(uint64_t key) noexcept { return EraseHash(hasher_(key)); }
  bool Erase(std::string_view key) noexcept { return EraseHash(HashBytes(key, hash_)); }
  bool EraseHash(uint64_t hash) noexcept {
    return ChangeOne(Change::kErase, KeyType::kUnknown, hash);
  }
  using Changeable::Erase;

  HashSpec hash_;
  detail::KeyHasher hasher_;  // hashes keys as hash_ says

 private:
  friend bool EraseHash(ConcurrentFilter& from, uint64_t hash);
};

// Erases one copy of the key with this hash, which must be computed with from.hash(). Returns
// whether a copy was found and erased. Throws Error(kUnsupported) if the filter cannot erase keys.
bool EraseHash(ConcurrentFilter& from, uint64_t hash);

// Takes over a filter, without a copy. Throws Error(kUnsupported) for a kind without a concurrent
// filter, Error(kReadOnly) for a filter that is read_only(), and std::bad_alloc.
std::unique_ptr<ConcurrentFilter> MakeConcurrent(AnyFilter filter);

// Throws Error(kUnsupported) for a kind without a concurrent filter.
void RequireConcurrentKind(FilterKind kind);

}  // namespace tamis

#endif  // TAMIS_LIVE_CONCURRENT_FILTER_H_
