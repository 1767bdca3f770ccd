// The members of a group of a filter bank, and their data.
#ifndef TAMIS_BANK_SRC_GROUP_MEMBERS_H_
#define TAMIS_BANK_SRC_GROUP_MEMBERS_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bank/src/waiting_members.h"
#include "tamis/layout/bank.h"

namespace tamis::detail {

// One bit for each member of a group.
using MemberMask = std::array<uint64_t, bank::kRowWords>;

inline bool IsSet(const MemberMask& mask, size_t slot) noexcept {
  return ((mask[slot / 64] >> (slot % 64)) & 1) != 0;
}
size_t CountSet(const MemberMask& mask) noexcept;

// The data of the members of a group by their places. Allocates memory only for existing members,
// because a file may have a million groups with one member each.
class GroupMembers {
 public:
  // Reserves room for `more` members, so that their Put does not throw. Throws std::bad_alloc.
  void Reserve(size_t more) { data_.reserve(data_.size() + more); }

  // Returns the member at a place, which must be taken.
  const MemberData& operator[](size_t slot) const noexcept { return data_[Rank(slot)]; }

  // Adds a member at a free place. If it throws std::bad_alloc, nothing has changed.
  void Put(size_t slot, MemberData data) {
    data_.insert(data_.begin() + static_cast<ptrdiff_t>(Rank(slot)), std::move(data));
    places_[slot / 64] |= uint64_t{1} << (slot % 64);
  }

  // Removes and returns the member at a place, which must be taken.
  MemberData Take(size_t slot) noexcept {
    const auto member = data_.begin() + static_cast<ptrdiff_t>(Rank(slot));
    MemberData data = std::move(*member);
    data_.erase(member);
    places_[slot / 64] &= ~(uint64_t{1} << (slot % 64));
    return data;
  }

 private:
  // Number of members at lower places.
  size_t Rank(size_t slot) const noexcept {
    size_t rank = 0;
    for (size_t w = 0; w < slot / 64; ++w) rank += static_cast<size_t>(std::popcount(places_[w]));
    const uint64_t below = (uint64_t{1} << (slot % 64)) - 1;
    return rank + static_cast<size_t>(std::popcount(places_[slot / 64] & below));
  }

  MemberMask places_{};
  std::vector<MemberData> data_;
};

}  // namespace tamis::detail

#endif  // TAMIS_BANK_SRC_GROUP_MEMBERS_H_
