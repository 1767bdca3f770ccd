// The common base class of all filters: sizes, queries of keys in every layout, and files.
//
// See docs/contracts.md for the rules of all classes: answers, keys, threads, errors, moves.
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

// The options of a filter. Give `capacity` and `fpr`, or `bytes`.
//
// Constructors of filters throw Error(kInvalidArgument) for options out of range,
// Error(kOutOfMemory) for more memory than the process can have, and Error(kUnknownBackend) if
// `backend` is nullptr and TAMIS_BACKEND names an unknown backend.
struct FilterOptions {
  uint64_t capacity = 0;  // number of keys to be inserted; at least 1 unless `bytes` is given
  // False-positive rate at capacity, in [kMinFpr, kMaxFpr]. 0 means kDefaultFpr for Bloom filters,
  // the rate of a full table for cuckoo filters, and the rate of the kind for static filters.
  double fpr = 0;
  uint64_t bytes = 0;         // 0: by `capacity`; otherwise a block or more, rounded down to blocks
  HashSpec hash = {};         // the hash of the filter
  MemoryOptions memory = {};  // memory of the filter
  const Backend* backend = nullptr;  // nullptr: DefaultBackend()
};

// An approximate-membership filter. Filters that take keys after construction are
// ChangeableFilters.
//
// Functions for many keys run on the calling thread with the filter's backend. Engine adds threads.
class Filter : public Queryable {
 public:
  ~Filter() override;

  // Returns the kind of the filter.
  virtual FilterKind kind() const noexcept = 0;

  // Number of keys that the filter was sized for.
  uint64_t capacity() const noexcept;
  // Number of keys inserted minus number of keys erased. Duplicates count. InsertIfAbsent adds only
  // the keys that it inserted. After a merge, the sum of both filters.
  uint64_t inserted_count() const noexcept;
  // Size of the filter itself, in bytes.
  uint64_t bytes() const noexcept override = 0;
  // Bits of memory per key at capacity().
  double bits_per_key() const noexcept;
  // Number of distinct keys, estimated from the contents. O(bytes()) or faster.
  double estimated_count() const noexcept override = 0;
  // False-positive rate with the keys inserted so far, from estimated_count(), in the same time.
  double expected_fpr() const noexcept override = 0;

  // Returns the hash of the filter.
  const HashSpec& hash() const noexcept;
  // The types of all keys inserted since the filter was empty. Files contain these types. Keys of
  // other types may be queried, but are not in the filter. For such a type, key_types().Admit(type)
  // is false.
  KeyTypes key_types() const noexcept override;
  // Sets the types. Programs call this if they insert ready hashes or insert through a view.
  void set_key_types(KeyTypes types) noexcept;
  // True if the filter cannot be changed, because it is mapped from a file or was moved from.
  bool read_only() const noexcept;
  // Returns this filter as a ChangeableFilter, or nullptr if its kind never changes.
  virtual ChangeableFilter* changeable() noexcept;
  // True from a move until another filter is assigned. bytes() of a moved-from filter is 64, or 0
  // if the filter is scalable.
  bool moved_from() const noexcept;
  // The contents as they are in a file. Empty for a scalable filter, because each layer has its own
  // payload.
  std::span<const std::byte> payload() const noexcept;

  // Return and set the backend of calls without an Engine.
  const Backend& backend() const noexcept;
  virtual void set_backend(const Backend& backend) noexcept = 0;

  // Query one key. The inlined functions of the classes do the same without a virtual call. `hash`
  // is a hash made with hash().
  bool Contains(uint64_t key) const noexcept;
  bool Contains(std::string_view key) const noexcept;
  bool ContainsHash(uint64_t hash) const noexcept;
  template <detail::NoKey T>
  bool Contains(T) const = delete;

  // Queries of many keys: see Queryable.
  using Queryable::Contains;

  bool Contains(std::initializer_list<std::string_view> keys) const = delete;

  // Writes the filter to `path` atomically. Save writes a temporary file in the same directory,
  // synchronizes it, and renames it. So `path` always names either the old file or the whole new
  // file. SaveOptions lists the properties of the old file that the new file keeps. Throws
  // - Error(kIo), and leaves no temporary file behind,
  // - Error(kBusy) if the file was replaced, or must be new and exists: see SaveOptions,
  // - Error(kNotDurable) if the file HAS been saved, but may not survive a power cut,
  // - Error(kInvalidArgument) for a filter that was moved from, or for options that do not fit it,
  // - FormatError for a filter that is mapped from a damaged file.
  virtual void Save(const std::filesystem::path& path, const SaveOptions& options = {}) const = 0;

  // Returns the header that Save writes, but without the checksum.
  virtual FileHeader Header() const noexcept = 0;

 private:
  friend class detail::FilterBase;  // the base of all classes of filters

  Filter() = default;
  Filter(Filter&&) noexcept = default;
  Filter& operator=(Filter&&) noexcept = default;
};

}  // namespace tamis

#endif  // TAMIS_FILTERS_FILTER_H_
