// The query interface of all classes that contain keys. It answers "maybe" or "no" for each key.
//
// See docs/contracts.md for the rules of all classes: answers, keys, nulls, outputs, threads,
// errors.
#ifndef TAMIS_QUERYABLE_H_
#define TAMIS_QUERYABLE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "tamis/answers.h"
#include "tamis/backend.h"
#include "tamis/key_types.h"
#include "tamis/keys.h"

namespace tamis {

class Filter;

namespace detail {
struct QueryableAccess;
}  // namespace detail

// How callers should query a Queryable. No field changes an answer.
struct QueryTraits {
  // The calls that may run at the same time.
  enum class ThreadSafety : uint8_t {
    kOneThread,          // one call at a time, queries included
    kConcurrentQueries,  // queries may run at the same time; a change needs exclusive access
    kConcurrentChanges,  // queries and changes may run at the same time
  };
  // Values of slice_keys.
  static constexpr size_t kSlice = 2048;
  // See slice_keys: all keys of a call.
  static constexpr size_t kAllKeys = std::numeric_limits<size_t>::max();

  // The calls that may run at the same time.
  ThreadSafety thread_safety = ThreadSafety::kConcurrentQueries;
  // Number of keys in one Query if the output is not a bitmap: a multiple of 64, or kAllKeys if
  // each Query is a round trip.
  size_t slice_keys = kSlice;
  bool waits = false;                // whether a Query may wait for a server
  const Backend* backend = nullptr;  // converts bits to outputs; nullptr: the host's best backend
};

// Answers "maybe" or "no" for keys. The answer is "maybe" for every key that was inserted, and for
// a small share of all other keys, the false-positive rate. See traits() for thread safety.
//
// Adds no data members to the classes that derive from it. Filters in memory hide the functions for
// one key with inlined functions.
class Queryable {
 public:
  virtual ~Queryable();

  // Query one key. Each call has the overhead of a call for many keys. `hash` is a hash with the
  // seed or secret of this object.
  bool Contains(uint64_t key) const;
  bool Contains(std::string_view key) const;
  bool ContainsHash(uint64_t hash) const;
  template <detail::NoKey T>
  bool Contains(T) const = delete;

  // Query many keys, and return the number of keys that may be in the object. Throw
  // Error(kInvalidArgument) before the first query if `out` is too small. Throw the errors of
  // Query. If there are no keys, Query is not called.
  //
  // Sets bit i if key i may be in the object. `out` needs BitmapWords(n) words or more for n keys.
  // Writes exactly BitmapWords(n) words. Bits past the last key are 0.
  size_t Contains(Keys keys, Bitmap out) const;
  // Writes one byte per key: 1 if the key may be in the object, otherwise 0. `out` needs n bytes or
  // more.
  size_t Contains(Keys keys, std::span<uint8_t> out) const;
  // Writes the indices of the keys that may be in the object, ascending. `out` needs n elements or
  // more, even if the result is smaller. Elements past the result are unspecified. With 32-bit
  // indices, n may be at most 2^32.
  size_t Select(Keys keys, std::span<uint32_t> out) const;
  size_t Select(Keys keys, std::span<uint64_t> out) const;
  // Query only the keys at the indices in `selection`, such as the rows that an earlier predicate
  // kept. Write the indices whose keys may be in the object, in the order of `selection`, and
  // return their number. `out` needs selection.size() elements or more, and may be the memory of
  // `selection`. Indices may repeat and may be in any order. Throw Error(kInvalidArgument) before
  // the first query if an index is not below keys.size(). An UnansweredError has the positions in
  // `selection`.
  size_t SelectFrom(Keys keys, std::span<const uint32_t> selection, std::span<uint32_t> out) const;
  size_t SelectFrom(Keys keys, std::span<const uint64_t> selection, std::span<uint64_t> out) const;
  // Returns the number of keys for which the answer is "maybe".
  size_t Count(Keys keys) const;
  // Return the same outputs in newly allocated memory. Also throw std::bad_alloc.
  Answers Contains(Keys keys) const;
  std::vector<uint64_t> Select(Keys keys) const;

  // Returns the properties of queries.
  virtual QueryTraits traits() const noexcept;
  // The types that keys in this object may have. A key of another type is not in the object.
  virtual KeyTypes key_types() const = 0;
  // Bytes of memory of the filter itself.
  virtual uint64_t bytes() const = 0;
  // Estimated number of distinct keys inserted. NaN: unknown.
  virtual double estimated_count() const;
  // False-positive rate with the keys inserted so far. NaN: unknown.
  virtual double expected_fpr() const;

 protected:
  Queryable() = default;
  Queryable(const Queryable&) = default;
  Queryable(Queryable&&) noexcept = default;
  Queryable& operator=(const Queryable&) = default;
  Queryable& operator=(Queryable&&) noexcept = default;

  // Writes BitmapWords(keys.size()) words: bit i is 1 if key i may be in the object. Bits of nulls
  // and bits past the last key are 0. The words may contain anything before the call. `keys` may be
  // any part of a call, and has at least one key.
  //
  // Throws Error(kInvalidArgument), before it writes, for keys of a type that this class does not
  // accept. Throws UnansweredError after it has written all bits; the bits of keys without an
  // answer are 1. After any other exception the outputs of the call are unspecified.
  virtual void Query(const Keys& keys, uint64_t* bits) const = 0;

  // Returns the filter that an Engine may query instead of this object, to use its kernels, its
  // regions, or its copy on a GPU. nullptr: none.
  virtual const Filter* engine_filter() const noexcept;

 private:
  friend struct detail::QueryableAccess;
};

}  // namespace tamis

#endif  // TAMIS_QUERYABLE_H_
