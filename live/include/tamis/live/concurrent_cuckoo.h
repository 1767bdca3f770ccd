// Cuckoo filters that many threads insert into, and erase from, while others query them.
#ifndef TAMIS_LIVE_CONCURRENT_CUCKOO_H_
#define TAMIS_LIVE_CONCURRENT_CUCKOO_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "tamis/filters/cuckoo_filter.h"
#include "tamis/live/concurrent_filter.h"

namespace tamis {

namespace detail {
template <int kBits>
class SharedCuckoo;
}  // namespace detail

// Wraps a CuckooFilter, and has the same contents and files. Threads that change the same chunk of
// the table wait for each other. A chunk has up to 256 KiB, so a filter of 100,000 keys is one
// chunk. There are at most 64 locks, so chunks of a large table share locks. Queries take no locks,
// with one rare exception. If a fingerprint may have been moved during a query, the query looks
// again. After 16 looks, the query locks the chunk.
//
// Forked processes must not use a filter of their parent: if another thread changes it at the time
// of the fork, a chunk may stay locked in the child.
template <int kBits>
class ConcurrentCuckooFilter final : public ConcurrentFilter {
 public:
  static constexpr FilterKind kKind = CuckooFilter<kBits>::kKind;  // the kind of the plain filter

  // Throws like the constructor of CuckooFilter, and std::bad_alloc.
  explicit ConcurrentCuckooFilter(const FilterOptions& options);
  // Takes over a filter, without a copy. Throws Error(kReadOnly) for a filter that is read_only(),
  // and std::bad_alloc, with the filter unchanged.
  explicit ConcurrentCuckooFilter(CuckooFilter<kBits>&& filter);
  // Moves the filter out, without a copy. Requires exclusive access. This object is then
  // moved-from.
  CuckooFilter<kBits> Release() &&;

  // Reads a file of CuckooFilter and verifies all of it. Throws FormatError or Error(kIo).
  static ConcurrentCuckooFilter Load(const std::filesystem::path& path,
                                     const LoadOptions& options = {});

  // Require exclusive access to both objects.
  ConcurrentCuckooFilter(ConcurrentCuckooFilter&& other) noexcept;
  ConcurrentCuckooFilter& operator=(ConcurrentCuckooFilter&& other) noexcept;
  ~ConcurrentCuckooFilter() override;

  // Returns the number of slots for fingerprints.
  uint64_t num_slots() const noexcept { return filter_.num_slots(); }
  uint64_t inserted_count() const noexcept override;
  KeyTypes key_types() const noexcept override;
  void set_key_types(KeyTypes types) noexcept override;
  // Like CuckooFilter::expected_fpr, for inserted_count() keys.
  double expected_fpr() const noexcept override;

  bool ContainsHash(uint64_t hash) const noexcept override;

  // InsertIfAbsent: if several threads insert the same key at the same time, exactly one of
  // these calls returns true.

  using ConcurrentFilter::Erase;
  using ConcurrentFilter::EraseHash;
  template <detail::NoKey T>
  bool Erase(T) = delete;
  ChangeTraits change_traits() const noexcept override {
    return {.inserts_if_absent = true, .erases = true};
  }

  // Filters of these kinds cannot be merged.
  template <typename F>
  void Merge(const F& other) = delete;

  // Number of repeated looks of all queries since construction.
  uint64_t repeated_looks() const noexcept;
  // Number of keys for which queries took a lock.
  uint64_t locked_looks() const noexcept;

  // Copies the filter as it is at one moment. Threads that change the filter wait for the copy.
  CuckooFilter<kBits> Snapshot(const MemoryOptions& memory = {}) const;

  // Removes all keys. Requires exclusive access: no query may run at the same time.
  void Clear();

 private:
  ConcurrentCuckooFilter(CuckooFilter<kBits>& filter,
                         std::unique_ptr<detail::SharedCuckoo<kBits>> table);

  const Filter& plain() const noexcept override { return filter_; }
  bool ChangeOne(Change change, KeyType type, uint64_t hash) noexcept override;
  size_t Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) override;
  AnyFilter MakeSnapshot(const MemoryOptions& memory) const override { return Snapshot(memory); }
  // Returns the probe for QueryBits.
  auto Probe() const noexcept;
  void Query(const Keys& keys, uint64_t* bits) const override;

  CuckooFilter<kBits> filter_;
  std::unique_ptr<detail::SharedCuckoo<kBits>> table_;  // uses filter_; nullptr after a move
};

extern template class ConcurrentCuckooFilter<8>;
extern template class ConcurrentCuckooFilter<12>;
extern template class ConcurrentCuckooFilter<16>;

}  // namespace tamis

#endif  // TAMIS_LIVE_CONCURRENT_CUCKOO_H_
