// What all filters have in common: sizes, lookups of keys in every layout, and files.
#ifndef TAMIS_FILTERS_FILTER_H_
#define TAMIS_FILTERS_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string_view>

#include "tamis/backend.h"
#include "tamis/file/file.h"
#include "tamis/hash.h"
#include "tamis/key_types.h"
#include "tamis/keys.h"
#include "tamis/memory.h"
#include "tamis/queryable.h"

namespace tamis {

class ChangeableFilter;

namespace detail {
class FilterBase;
}  // namespace detail

// How a filter is made. Give capacity and fpr, or bytes.
struct FilterOptions {
  uint64_t capacity = 0;  // keys to be inserted; at least 1 unless bytes is given
  // False-positive rate at capacity, in [kMinFpr, kMaxFpr]. 0: kDefaultFpr for Bloom filters, the
  // rate of a full table for cuckoo filters, and the rate of its kind for a static filter.
  double fpr = 0;
  uint64_t bytes = 0;  // if not 0, the size: rounded down to whole blocks, at least one
  HashSpec hash = {};
  MemoryOptions memory = {};
  const Backend* backend = nullptr;  // nullptr: DefaultBackend()
};

// An approximate-membership filter: its answer is "maybe" for every key that was inserted, and "no"
// for all others but a few, whose share is the false-positive rate.
//
// Bulk functions run on the calling thread with the filter's backend, which decides the speed and
// never a bit. Engine adds threads. Any number of threads may query a filter that does not change.
// A change needs exclusive access. Filters that take keys after they were made are
// ChangeableFilters.
//
// A filter that was moved from is an empty one of 64 bytes that is read_only(); a scalable one has
// no layers, and cannot be saved.
class Filter : public Queryable {
 public:
  ~Filter() override;

  virtual FilterKind kind() const noexcept = 0;

  // Keys that the filter was sized for.
  uint64_t capacity() const noexcept;
  // Keys inserted so far, duplicates included, less those erased; the sum of both after a merge. Of
  // those given to InsertIfAbsent only the new ones, as no others were inserted.
  uint64_t inserted_count() const noexcept;
  // Bytes of the filter itself.
  uint64_t bytes() const noexcept override = 0;
  // Bits of memory per key of the capacity.
  double bits_per_key() const noexcept;
  // The number of distinct keys inserted, estimated from the contents. O(bytes()).
  double estimated_count() const noexcept override = 0;
  // The false-positive rate at the present fill, from estimated_count(). O(bytes()).
  double expected_fpr() const noexcept override = 0;

  const HashSpec& hash() const noexcept;
  // The types of all keys inserted since the filter was empty; saved with it. Keys of other types
  // are not refused: the answer to them is "no". key_types().Admit(type) tells beforehand.
  KeyTypes key_types() const noexcept override;
  // For programs that insert ready hashes, or through a view, and know what the keys were.
  void set_key_types(KeyTypes types) noexcept;
  // True for a filter that is mapped from a file: it can be queried, not changed.
  bool read_only() const noexcept;
  // This filter as one that takes keys. nullptr for a kind that never changes.
  virtual ChangeableFilter* changeable() noexcept;
  // True until another filter is assigned to it.
  bool moved_from() const noexcept;
  // The contents, as they are in a file.
  std::span<const std::byte> payload() const noexcept;

  const Backend& backend() const noexcept;
  virtual void set_backend(const Backend& backend) noexcept = 0;

  // One key. The functions of the classes do the same, without a virtual call. Integers are keys by
  // their value widened to 64 bits (see Keys), and a hash is one made with hash().
  bool Contains(uint64_t key) const noexcept;
  bool Contains(std::string_view key) const noexcept;
  bool ContainsHash(uint64_t hash) const noexcept;
  template <detail::NoKey T>
  bool Contains(T) const = delete;

  // Many keys: see Queryable.
  using Queryable::Contains;

  bool Contains(std::initializer_list<std::string_view> keys) const = delete;

  // Writes the filter to `path`, atomically: to a temporary file in the same directory that is
  // synchronized and then renamed, so that `path` always names the old file or the whole new one.
  // SaveOptions says what the new one keeps of the old. Throws Error(kIo), leaving no temporary
  // file behind, Error(kBusy) as FileLock says, and FormatError for a filter that is mapped from a
  // damaged file. With Error(kNotDurable) the file HAS been saved.
  virtual void Save(const std::filesystem::path& path, const SaveOptions& options = {}) const = 0;

  // The header that Save writes, without the checksum.
  virtual FileHeader Header() const noexcept = 0;

 private:
  friend class detail::FilterBase;  // from which the classes of filters derive

  Filter() = default;
  Filter(Filter&&) noexcept = default;
  Filter& operator=(Filter&&) noexcept = default;
};

}  // namespace tamis

#endif  // TAMIS_FILTERS_FILTER_H_
