// Which columns a group of a filter bank has, and what is known of them.
#ifndef TAMIS_BANK_SRC_GROUP_COLUMNS_H_
#define TAMIS_BANK_SRC_GROUP_COLUMNS_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bank/src/waiting_columns.h"
#include "tamis/layout/bank.h"

namespace tamis::detail {

// One bit for each column of a group.
using ColumnMask = std::array<uint64_t, bank::kRowWords>;

inline bool IsSet(const ColumnMask& mask, size_t slot) noexcept {
  return ((mask[slot / 64] >> (slot % 64)) & 1) != 0;
}
size_t CountSet(const ColumnMask& mask) noexcept;

// The data of the columns of a group by their places, in memory for those that there are: a file
// may say that a million groups have one each.
class GroupColumns {
 public:
  // Room for so many more, so that Put of them does not throw. Throws std::bad_alloc.
  void Reserve(size_t more) { data_.reserve(data_.size() + more); }

  // The column at a place; there is one.
  const ColumnData& operator[](size_t slot) const noexcept { return data_[Rank(slot)]; }

  // At a place that is free. Throws std::bad_alloc, with nothing changed.
  void Put(size_t slot, ColumnData data) {
    data_.insert(data_.begin() + static_cast<ptrdiff_t>(Rank(slot)), std::move(data));
    places_[slot / 64] |= uint64_t{1} << (slot % 64);
  }

  // Takes out the column at a place; there is one.
  ColumnData Take(size_t slot) noexcept {
    const auto column = data_.begin() + static_cast<ptrdiff_t>(Rank(slot));
    ColumnData data = std::move(*column);
    data_.erase(column);
    places_[slot / 64] &= ~(uint64_t{1} << (slot % 64));
    return data;
  }

 private:
  // How many columns have lower places.
  size_t Rank(size_t slot) const noexcept {
    size_t rank = 0;
    for (size_t w = 0; w < slot / 64; ++w) rank += static_cast<size_t>(std::popcount(places_[w]));
    const uint64_t below = (uint64_t{1} << (slot % 64)) - 1;
    return rank + static_cast<size_t>(std::popcount(places_[slot / 64] & below));
  }

  ColumnMask places_{};
  std::vector<ColumnData> data_;
};

}  // namespace tamis::detail

#endif  // TAMIS_BANK_SRC_GROUP_COLUMNS_H_
