// The members of a filter bank that wait for a group. They are not transposed.
#ifndef TAMIS_BANK_SRC_WAITING_MEMBERS_H_
#define TAMIS_BANK_SRC_WAITING_MEMBERS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tamis/detail/storage.h"
#include "tamis/key_types.h"
#include "tamis/memory.h"

namespace tamis::detail {

// The data of a filter besides its bits.
struct MemberData {
  std::string name;
  uint64_t capacity = 0;
  uint64_t inserted = 0;
  KeyTypes key_types;
};

// Copies of filters. A chunk of memory holds several filters of one size. When no filter of a size
// is left, the chunks for this size are freed. If each filter was allocated separately by the C
// library, 64 MiB of filters took 190 MiB.
class WaitingMembers {
 public:
  struct Member {
    MemberData data;
    uint64_t num_blocks;
    uint64_t* words;

    uint64_t bytes() const noexcept;
  };

  explicit WaitingMembers(const MemoryOptions& memory) : memory_(memory) {}

  size_t size() const noexcept { return members_.size(); }
  bool empty() const noexcept { return members_.empty(); }
  const Member& operator[](size_t i) const noexcept { return members_[i]; }
  std::vector<Member>::const_iterator begin() const noexcept { return members_.begin(); }
  std::vector<Member>::const_iterator end() const noexcept { return members_.end(); }

  // Size of the bits of all members.
  uint64_t bytes() const noexcept { return bytes_; }
  // The number of waiting members with `num_blocks` blocks.
  uint64_t CountOf(uint64_t num_blocks) const noexcept;
  // Returns the number of blocks for which the members of this size together take the most memory.
  // At least one member must wait.
  uint64_t LargestSize() const noexcept;

  // Appends a copy of a filter. If it throws std::bad_alloc or Error(kOutOfMemory), nothing has
  // changed.
  void Add(MemberData data, uint64_t num_blocks, const uint64_t* words);
  void Erase(size_t i) noexcept;
  // Erases the first `count` members with `num_blocks` blocks.
  void EraseFirst(uint64_t num_blocks, size_t count) noexcept;

 private:
  struct OfSize {
    uint64_t count = 0;
    std::vector<Storage> chunks;
    std::vector<uint64_t*> free;  // has room for all places
  };
  // Returns a free place for the words of a member.
  uint64_t* TakePlace(uint64_t num_blocks, OfSize& of_size);
  void GiveUp(const Member& member) noexcept;

  MemoryOptions memory_;
  std::vector<Member> members_;
  std::map<uint64_t, OfSize> sizes_;  // for each number of blocks that waiting members have
  uint64_t bytes_ = 0;
};

}  // namespace tamis::detail

#endif  // TAMIS_BANK_SRC_WAITING_MEMBERS_H_
