// The members of a filter bank that wait for a group, untransposed.
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

// What is kept of a filter besides its bits.
struct MemberData {
  std::string name;
  uint64_t capacity = 0;
  uint64_t inserted = 0;
  KeyTypes key_types;
};

// Copies of filters, in chunks of memory for several of one size, which go when none of that size
// is left: in memory of their own, 64 MiB of filters took 190 of the C library's.
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

  // Of all members.
  uint64_t bytes() const noexcept { return bytes_; }
  // The number of waiting members with `num_blocks` blocks.
  uint64_t CountOf(uint64_t num_blocks) const noexcept;
  // The number of blocks of which all members that have it take the most memory. There is one.
  uint64_t LargestSize() const noexcept;

  // Appends a copy. Throws std::bad_alloc and Error(kOutOfMemory), with nothing changed.
  void Add(MemberData data, uint64_t num_blocks, const uint64_t* words);
  void Erase(size_t i) noexcept;
  // The first `count` of so many blocks.
  void EraseFirst(uint64_t num_blocks, size_t count) noexcept;

 private:
  struct OfSize {
    uint64_t count = 0;
    std::vector<Storage> chunks;
    std::vector<uint64_t*> free;  // has room for all places
  };
  // A place for the words of a member.
  uint64_t* TakePlace(uint64_t num_blocks, OfSize& of_size);
  void GiveUp(const Member& member) noexcept;

  MemoryOptions memory_;
  std::vector<Member> members_;
  std::map<uint64_t, OfSize> sizes_;  // by blocks, none without members
  uint64_t bytes_ = 0;
};

}  // namespace tamis::detail

#endif  // TAMIS_BANK_SRC_WAITING_MEMBERS_H_
