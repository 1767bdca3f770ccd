// The one question that filters answer: which of these keys may be in?
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

// How to drive a Queryable. No field changes an answer.
struct QueryTraits {
  enum class ThreadSafety : uint8_t {
    kOneThread,          // one call at a time, queries included
    kConcurrentQueries,  // queries run beside queries; a change needs exclusive access
    kConcurrentChanges,  // queries and changes run beside each other
  };
  // For slice_keys.
  static constexpr size_t kSlice = 2048;
  static constexpr size_t kAllKeys = std::numeric_limits<size_t>::max();

  ThreadSafety thread_safety = ThreadSafety::kConcurrentQueries;
  // Keys of one Query where the output is not a bitmap: a multiple of 64, or kAllKeys where each
  // Query is a round trip.
  size_t slice_keys = kSlice;
  bool waits = false;                // a Query may wait for a server
  const Backend* backend = nullptr;  // converts the outputs; nullptr: the best one of the host
};

// Answers "maybe" or "no" for keys. The answer is "maybe" for every key that was inserted, and for
// a few others. The share of these is the false-positive rate. See traits() for thread safety.
//
// Has no data members. Classes in memory hide the functions for one key with inlined ones.
class Queryable {
 public:
  virtual ~Queryable();

  // One key, at the cost of a call for many. Integers are keys by their value widened to 64 bits
  // (see Keys). A hash is one that the Queryable itself would make.
  bool Contains(uint64_t key) const;
  bool Contains(std::string_view key) const;
  bool ContainsHash(uint64_t hash) const;
  template <detail::NoKey T>
  bool Contains(T) const = delete;

  // Many keys. Return the number of keys that may be in. With no keys, return 0 without a query.
  // Throw Error(kInvalidArgument) before the first query if `out` is too small, and what Query
  // throws.
  //
  // Sets one bit per key: "maybe" is 1. `out` needs BitmapWords(n) words or more. Exactly
  // BitmapWords(n) are written.
  size_t Contains(Keys keys, Bitmap out) const;
  // Writes one byte per key, 0 or 1. `out` needs n bytes or more.
  size_t Contains(Keys keys, std::span<uint8_t> out) const;
  // Writes the indices of the keys that may be in, ascending. `out` needs n elements or more,
  // however few are in. Elements past the result are unspecified. For 32-bit indices n is at most
  // 2^32.
  size_t Select(Keys keys, std::span<uint32_t> out) const;
  size_t Select(Keys keys, std::span<uint64_t> out) const;
  size_t Count(Keys keys) const;
  // The same outputs in memory of their own. Throw std::bad_alloc, too.
  Answers Contains(Keys keys) const;
  std::vector<uint64_t> Select(Keys keys) const;

  virtual QueryTraits traits() const noexcept;
  // The types that keys in it may have. Keys of other types are answered with "no".
  virtual KeyTypes key_types() const = 0;
  // Bytes of memory of the filter itself.
  virtual uint64_t bytes() const = 0;
  // The number of distinct keys inserted, estimated from the contents. NaN: unknown.
  virtual double estimated_count() const;
  // The false-positive rate at the present fill. NaN: unknown.
  virtual double expected_fpr() const;

 protected:
  Queryable() = default;
  Queryable(const Queryable&) = default;
  Queryable(Queryable&&) noexcept = default;
  Queryable& operator=(const Queryable&) = default;
  Queryable& operator=(Queryable&&) noexcept = default;

  // Writes BitmapWords(keys.size()) words, whatever they held: bit i is 1 if key i may be in. Bits
  // of nulls and bits past the last key are 0. `keys` may be any part of a call, and has at least
  // one key.
  //
  // Throws Error(kInvalidArgument), before it writes, for keys of a type that it does not take.
  // Throws UnansweredError after it has written all bits. The bits of keys without an answer are 1.
  // After any other exception the outputs of the call are unspecified.
  virtual void Query(const Keys& keys, uint64_t* bits) const = 0;

  // The filter that an Engine may query instead, because it has kernels, regions, or a copy on a
  // GPU. nullptr: none.
  virtual const Filter* engine_filter() const noexcept;

 private:
  friend struct detail::QueryableAccess;
};

}  // namespace tamis

#endif  // TAMIS_QUERYABLE_H_
