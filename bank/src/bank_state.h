// The state of a filter bank, which its changes, queries and files use.
#ifndef TAMIS_BANK_SRC_BANK_STATE_H_
#define TAMIS_BANK_SRC_BANK_STATE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bank/src/group_members.h"
#include "bank/src/waiting_members.h"
#include "core/src/bulk/change_loop.h"
#include "tamis/bank/filter_bank.h"
#include "tamis/detail/bank_kernels.h"
#include "tamis/detail/kernels.h"
#include "tamis/detail/storage.h"
#include "tamis/layout/bank.h"

namespace tamis {
namespace detail {

inline constexpr size_t kWordBits = 64;  // bits of a word of a row

struct BankGroup {
  // Makes a group of zeros. Throws Error(kOutOfMemory).
  BankGroup(uint64_t num_blocks, const MemoryOptions& memory);
  // Makes a group that was read from a file.
  BankGroup(uint64_t num_blocks, Storage storage);

  uint64_t* rows() const noexcept { return reinterpret_cast<uint64_t*>(storage.data()); }
  BankRows view() const noexcept { return {rows(), num_blocks, live.data()}; }

  uint64_t num_blocks;
  Storage storage;
  MemberMask live{};    // current members
  MemberMask filled{};  // current members, and removed members whose bits are still there
  GroupMembers members;
};

// A group in a file.
struct BankFileGroup {
  uint64_t num_blocks = 0;
  uint64_t first_page = 0;  // the blocks are pages of the payload
  MemberMask live{};
  MemberMask filled{};
  GroupMembers members;
};

// A filter that will be added to a group with the same number of blocks.
struct Incoming {
  const uint64_t* words;
  MemberData data;
};

}  // namespace detail

class FilterBank::Impl {
 public:
  explicit Impl(const BankOptions& options);

  const detail::Kernels& kernels() const noexcept { return *backend->kernels; }
  size_t num_groups() const noexcept { return groups.size(); }
  size_t row_words() const noexcept {
    return bank::kRowWords * groups.size() + BitmapWords(waiting.size());
  }

  // ---- Changes ----
  void RequireWritable() const;
  // Throws Error(kInvalidArgument) for a name that is taken or out of range.
  void RequireNewName(const std::string& name) const;
  void RequireHash(const HashSpec& other) const;
  // Adds a member of num_blocks blocks. Its name must be new.
  Added AddCopy(detail::MemberData data, uint64_t num_blocks, const uint64_t* words);
  Added AddCopy(const std::string& name, const SplitBlockBloomFilter& filter);
  void Flush();
  void FlushSize(uint64_t num_blocks);
  bool Remove(const std::string& name);
  SplitBlockBloomFilter Extract(const std::string& name, const MemoryOptions& memory) const;
  void MergeGroup(const detail::BankGroup& group);
  void Compact();

  // ---- Queries, on the threads of `workers` ----
  size_t Contains(const Keys& keys, uint64_t* out, detail::Workers& workers) const;
  size_t ContainsHash(uint64_t hash, uint64_t* out) const noexcept;
  std::vector<BankHit> Select(const Keys& keys, detail::Workers& workers) const;
  std::vector<uint64_t> CountPerMember(const Keys& keys, detail::Workers& workers) const;
  double expected_false_members() const;

  // The place of a member: in a group, or among the waiting members.
  struct Place {
    size_t group;
    size_t slot;
  };
  static constexpr size_t kWaiting = SIZE_MAX;
  uint64_t IndexOf(const Place& place) const noexcept {
    return place.group == kWaiting ? bank::kGroupMembers * groups.size() + place.slot
                                   : bank::kGroupMembers * place.group + place.slot;
  }
  BankMember MemberAt(const Place& place) const;

  HashSpec hash;
  double fpr;
  MemoryOptions memory;
  const Backend* backend;
  uint64_t buffer_bytes;
  bool read_only = false;
  std::vector<detail::BankGroup> groups;
  detail::WaitingMembers waiting;
  // An ordered map, because filling a hash table with names that were chosen to collide takes
  // hours.
  std::map<std::string, Place> names;
  bool has_secret = false;  // whether its file contains the secret

  // The file of a mapped bank: its bytes, and the checksums of its pages.
  struct Mapped {
    detail::Storage whole;
    std::filesystem::path path;
    std::vector<uint64_t> pages;  // empty if they have been verified
  };
  std::optional<Mapped> mapped;
  // Must be called before the bits of a group of a mapped bank are used. Throws FormatError if the
  // group is damaged in the file.
  void RequireIntact(const detail::BankGroup& group) const;
  // Adds a group that was read from a file, with its members.
  void AdoptGroup(detail::BankGroup group, detail::BankFileGroup from);

 private:
  // Returns a group of zeros. Throws Error(kOutOfMemory). Also throws it if this group and all
  // other groups together exceed the memory.
  detail::BankGroup NewGroup(uint64_t num_blocks) const;
  // Adds filters to free places of a group with the same number of blocks. The group must have
  // enough free places and reserved room for the data of the filters, and `names` must contain
  // their names.
  void Put(size_t group, std::span<detail::Incoming> incoming) noexcept;
  // Updates the places of waiting members in `names`, from index `first` on.
  void RenumberWaiting(size_t first);
  // Returns the filters of up to 64 members of a group: those in word `word` that are set in
  // `members`.
  std::vector<SplitBlockBloomFilter> ExtractSome(const detail::BankGroup& group, size_t word,
                                                 uint64_t members,
                                                 const MemoryOptions& memory_options) const;
  SplitBlockBloomFilter EmptyFilter(const detail::MemberData& data, uint64_t num_blocks,
                                    const MemoryOptions& memory_options) const;
  void MoveMembers(size_t from, size_t to);

  // Queries `keys` in the groups [first, end) and, if `waits` is true, in the waiting members.
  // Writes the words of these members into the rows at `rows`, which have row_words() words each.
  void LookUp(const Keys& keys, std::span<const detail::BankRows> views, size_t first, size_t end,
              bool waits, uint64_t* rows) const noexcept;
  void AskWaiting(const detail::Batch& batch, uint64_t* rows) const noexcept;
  std::vector<detail::BankRows> Views() const;
};

}  // namespace tamis

#endif  // TAMIS_BANK_SRC_BANK_STATE_H_
