// Keys of joins that are not one column of 32-bit or 64-bit integers or strings.
#ifndef TAMIS_JOIN_JOIN_KEYS_H_
#define TAMIS_JOIN_JOIN_KEYS_H_

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <vector>

#include "tamis/hash.h"
#include "tamis/keys.h"

namespace tamis {

// Returns integers of 8 or 16 bits as integers of 32 bits with the same values, which are Keys.
template <std::integral T>
auto WidenKeys(std::span<const T> keys) {
  static_assert(sizeof(T) < sizeof(uint32_t) && !detail::NoKey<T>,
                "tamis: only integers of 8 or 16 bits are widened");
  using Wide = std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>;
  return std::vector<Wide>(keys.begin(), keys.end());
}

// The hashes of keys of several columns. See HashColumns.
class ColumnHashes {
 public:
  // Returns the hashes as keys, which are valid as long as this object.
  Keys keys() const noexcept;
  // One hash for each row. The hash of a null is unspecified.
  const std::vector<uint64_t>& hashes() const noexcept { return hashes_; }

 private:
  friend ColumnHashes HashColumns(std::span<const Keys> columns, const HashSpec& hash);

  std::vector<uint64_t> hashes_;
  std::vector<uint64_t> valid_;  // a bit for each row; empty: all are valid
};

// Hash rows of one or more columns, for a JoinFilter of JoinKeyType::kHashes. A row is null if
// one of its columns is null. With h = HashKeys of each column, the hash of a row is h0 for one
// column, and HashU64(h0) + h1 for two. Each further column does the same step with the sum. The
// order of columns matters.
//
// Throw Error(kInvalidArgument) without columns, for columns of different lengths, and for an
// unknown hash.
ColumnHashes HashColumns(std::span<const Keys> columns, const HashSpec& hash = {});
inline ColumnHashes HashColumns(std::initializer_list<Keys> columns, const HashSpec& hash = {}) {
  return HashColumns(std::span(columns.begin(), columns.size()), hash);
}

}  // namespace tamis

#endif  // TAMIS_JOIN_JOIN_KEYS_H_
