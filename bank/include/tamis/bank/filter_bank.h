// Many filters that are queried at once: which of ten thousand sets may contain this key?
#ifndef TAMIS_BANK_FILTER_BANK_H_
#define TAMIS_BANK_FILTER_BANK_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/backend.h"
#include "tamis/file/file.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/hash.h"
#include "tamis/key_types.h"
#include "tamis/keys.h"
#include "tamis/memory.h"

namespace tamis {

class Engine;

// The name of a member: a string of 1 to kMaxBytes bytes. A 64-bit number is converted to the
// string of its decimal digits.
class MemberName {
 public:
  static constexpr size_t kMaxBytes = 4096;  // maximum number of bytes of a name

  // Converts a string, or the number of a member, to its name.
  MemberName(std::string_view name) : text_(name) {}
  MemberName(const std::string& name) : text_(name) {}
  MemberName(const char* name) : text_(name) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) MemberName(T id)
      : text_(std::to_string(static_cast<uint64_t>(id))) {}

  // Returns the name as a string.
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

// Options of a FilterBank.
struct BankOptions {
  // The false-positive rate of filters that Add builds from keys, in [1e-12, 0.5]. 0: the rate is
  // computed from the next two fields, or is 1% if they are 0.
  double fpr = 0;
  // The expected number of members that answer "maybe" to a key that no member has, for a bank of
  // `members` members.
  double false_members = 0;
  uint64_t members = 0;  // see `false_members`
  // All filters of the bank have this hash.
  HashSpec hash = {};
  MemoryOptions memory = {};         // memory of the bank
  const Backend* backend = nullptr;  // nullptr: DefaultBackend()
  // Added filters wait in separate memory until 512 filters of equal size wait, or until all
  // waiting filters exceed this number of bytes. If filters are larger than 1/8 MiB, a larger value
  // makes building faster. Values above 512 times the bytes of the largest filter have no further
  // effect.
  uint64_t buffer_bytes = uint64_t{64} << 20;
};

// The current state of one member. Until the bank changes, `index` is the place of the member in
// the answers of queries.
struct BankMember {
  std::string name;         // see MemberName
  uint64_t index = 0;       // place of the member in the answers
  uint64_t num_blocks = 0;  // number of blocks of its filter
  uint64_t capacity = 0;    // see Filter::capacity()
  uint64_t inserted = 0;    // see Filter::inserted_count()
  KeyTypes key_types;       // see Filter::key_types()
};

// A group: members with filters of equal size, as stored in memory.
struct BankGroupInfo {
  uint64_t num_blocks = 0;  // number of blocks of each filter
  uint64_t members = 0;     // out of 512 places
  uint64_t removed = 0;     // removed members whose bits are still stored
  uint64_t bytes = 0;       // memory of the group
};

// A key, by its index in the batch, and a member that may have it.
struct BankHit {
  uint64_t key = 0;     // index of the key in the batch
  uint64_t member = 0;  // index of the member

  friend bool operator==(const BankHit&, const BankHit&) = default;
};

// A member, and the number of keys that it may have.
struct MemberCount {
  uint64_t member = 0;  // index of the member
  uint64_t keys = 0;    // number of keys that the member may have

  friend bool operator==(const MemberCount&, const MemberCount&) = default;
};

// Returns the members with the highest counts, as computed by CountPerMember: at most `most`
// members that may have `at_least` keys or more. Members with more keys come first. Members with
// equal counts are in the order of their indexes. If `at_least` is 0, the result can contain
// members without a key, and indexes without a member.
std::vector<MemberCount> BestMembers(std::span<const uint64_t> counts, uint64_t at_least,
                                     size_t most = SIZE_MAX);

// A group consists of up to 512 split-block filters with the same number of blocks. Row j of a
// group consists of bit j of each filter: 512 bits, one cache line. So a query of a key reads eight
// cache lines for all filters of a group. For every member, the answers are equal to the answers of
// the filter that was added, and Extract returns that filter bit for bit.
//
// A group takes the memory of 512 filters, even if it has fewer. So filters should have few
// different sizes, such as the sizes that BankBlocks (sizing.h) returns. groups() shows the unused
// places.
//
// The index of a member is 512 times the number of its group, plus its place in the group. Members
// that wait for a group come after all groups. Indexes are valid until the bank changes.
//
// Any number of threads may query the bank while no thread changes it. All functions that change
// members throw Error(kReadOnly) if the bank is read_only(). Unless documented otherwise, a
// function that throws leaves the bank unchanged. A moved-from bank can only be assigned to.
class FilterBank {
 public:
  // Throws Error(kInvalidArgument) for options out of range, and Error(kUnknownBackend) if
  // TAMIS_BACKEND is not the name of a backend.
  explicit FilterBank(const BankOptions& options = {});

  // Reads a file and verifies all of it. Throws FormatError, Error(kIo) and Error(kSecret).
  static FilterBank Load(const std::filesystem::path& path, const LoadOptions& options = {});
  // Maps a file, read-only and without a copy. The names of the members are verified. The rows are
  // verified only if `options.verify` is Verify::kFull. The file must not change while it is
  // mapped, but Save may replace it.
  static FilterBank Map(const std::filesystem::path& path, const MapOptions& options = {});
  // Calls Flush, and saves all members. Replaces the whole file, or leaves it unchanged. Throws
  // like Filter::Save, Error(kInvalidArgument) for version 1 of the format, and, for a mapped bank,
  // FormatError if its file is damaged.
  void Save(const std::filesystem::path& path, const SaveOptions& options = {});

  FilterBank(FilterBank&&) noexcept;
  FilterBank& operator=(FilterBank&&) noexcept;
  ~FilterBank();

  // Returns the hash of all filters.
  const HashSpec& hash() const noexcept;
  double fpr() const noexcept;  // rate of filters that Add builds from keys
  // Return and set the backend of queries.
  const Backend& backend() const noexcept;
  void set_backend(const Backend& backend) noexcept;
  // Returns true if the bank cannot be changed, because it is mapped from a file or was moved from.
  bool read_only() const noexcept;
  // Returns the number of members.
  uint64_t num_members() const noexcept;
  // Number of words in a row of answers. Bits past the members are 0.
  size_t row_words() const noexcept;
  uint64_t bytes() const noexcept;  // memory of groups and waiting filters

  // Returns all members in the order of their indexes.
  std::vector<BankMember> members() const;
  // Returns all groups in order.
  std::vector<BankGroupInfo> groups() const;
  // Returns the member with this name, or nothing.
  std::optional<BankMember> Find(const MemberName& name) const;
  // Returns the name of the member with this index. Throws Error(kInvalidArgument) for an unused
  // index.
  const std::string& NameOf(uint64_t index) const;

  // The size of a filter that was added.
  struct Added {
    uint64_t num_blocks = 0;  // its number of blocks
    // True if no other member has this number of blocks, and BankBlocks never returns it. Until
    // more filters of this size are added, this filter alone occupies a group of 512 places.
    bool foreign_size = false;
  };

  // Adds a copy of the filter as a member. Throws Error(kInvalidArgument) if a member has this name
  // or the name is too long or empty, Error(kIncompatible) if the filter has another hash, and the
  // errors of Clone. If the filter is copied, but the memory for a group cannot be allocated,
  // throws Error(kOutOfMemory) although the filter has been added.
  Added Add(const MemberName& name, const SplitBlockBloomFilter& filter);
  // Builds a filter from the keys and adds it. Its number of blocks is computed from fpr() of the
  // bank and the number of keys, duplicates included, and rounded up by BankBlocks. Throws like the
  // other Add.
  Added Add(const MemberName& name, Keys keys);

  // Moves all waiting members into groups. If many members wait, this saves memory. If it throws
  // Error(kOutOfMemory), some members still wait.
  void Flush();

  // Removes a member from all answers. The bits of the member stay until another member gets the
  // same place, or until Compact. Returns false if the name is unknown.
  bool Remove(const MemberName& name);

  // Returns the filter of a member, bit for bit. Throws Error(kInvalidArgument) for an unknown
  // name, Error(kOutOfMemory), and, for a mapped bank, FormatError if the group is damaged.
  SplitBlockBloomFilter Extract(const MemberName& name, const MemoryOptions& memory = {}) const;

  // Adds all members of `other`. Throws Error(kInvalidArgument) if a name is in both banks, and
  // Error(kIncompatible) if the hashes differ. If memory runs out, throws although some members
  // have been added.
  void Merge(const FilterBank& other);

  // Calls Flush, moves the members of the emptiest groups into other groups of the same size, and
  // drops the bits of removed members. If it throws Error(kOutOfMemory), the bank still has all
  // members.
  void Compact();

  // Finds the members that may have a key. Sets bit i in row_words() words for the member with
  // index i. Returns the number of these members. Throws Error(kInvalidArgument) if `out` is too
  // small.
  size_t Contains(uint64_t key, Bitmap out) const;
  size_t Contains(std::string_view key, Bitmap out) const;
  template <detail::NoKey T>
  size_t Contains(T, Bitmap) const = delete;
  size_t ContainsHash(uint64_t hash, Bitmap out) const;

  // Finds the members for many keys. Writes row_words() words for each key, one row after the
  // other. For a null, all bits are 0. Returns the number of bits set.
  size_t Contains(Keys keys, Bitmap out) const;
  // Returns all pairs of a key and a member that may have it, ordered by key, then by member.
  std::vector<BankHit> Select(Keys keys) const;
  // Returns, for each member, the number of keys that it may have: 64 * row_words() elements, in
  // the order of indexes.
  std::vector<uint64_t> CountPerMember(Keys keys) const;

  // Run the functions above on the threads of an engine, with the kernels of the bank's own
  // backend. If there are few keys, each thread queries some of the groups.
  size_t Contains(const Engine& engine, Keys keys, Bitmap out) const;
  std::vector<BankHit> Select(const Engine& engine, Keys keys) const;
  std::vector<uint64_t> CountPerMember(const Engine& engine, Keys keys) const;

  // Returns the expected number of members that answer "maybe" to a key that no member has: the sum
  // of their false-positive rates, computed from the bits that are set (sizing.h). O(bytes()).
  double expected_false_members() const;

 private:
  class Impl;
  explicit FilterBank(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tamis

#endif  // TAMIS_BANK_FILTER_BANK_H_
