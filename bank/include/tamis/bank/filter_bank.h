// Many filters that are asked at once: which of ten thousand sets may hold this key?
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

// The name of a member: a string of 1 to kMaxBytes bytes, or a number of 64 bits, which is the
// string of its decimal digits.
class MemberName {
 public:
  static constexpr size_t kMaxBytes = 4096;

  MemberName(std::string_view name) : text_(name) {}
  MemberName(const std::string& name) : text_(name) {}
  MemberName(const char* name) : text_(name) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) MemberName(T id)
      : text_(std::to_string(static_cast<uint64_t>(id))) {}

  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

struct BankOptions {
  // The false-positive rate of filters that Add builds from keys, in [1e-12, 0.5]. 0: the rate
  // follows from the next two fields, or is 1% if they are 0.
  double fpr = 0;
  // The expected number of members that say "maybe" to a key in none of them, for a bank of
  // `members` members.
  double false_members = 0;
  uint64_t members = 0;
  // All filters of the bank have this hash.
  HashSpec hash = {};
  MemoryOptions memory = {};
  const Backend* backend = nullptr;  // nullptr: DefaultBackend()
  // Filters that were added wait in memory of their own until there are 512 of equal size, or all
  // that wait have more bytes than this. Where filters are larger than an eighth of a MiB, more of
  // it makes building faster: up to 512 times the bytes of the largest.
  uint64_t buffer_bytes = uint64_t{64} << 20;
};

// One member, as it is. `index` is its place in the answers of lookups until the bank changes.
struct BankMember {
  std::string name;
  uint64_t index = 0;
  uint64_t num_blocks = 0;
  uint64_t capacity = 0;  // the next three as of the filter that was added
  uint64_t inserted = 0;
  KeyTypes key_types;
};

// Members of filters of equal size, as they lie in memory.
struct BankGroupInfo {
  uint64_t num_blocks = 0;  // of each filter
  uint64_t members = 0;     // of the 512 that there is room for
  uint64_t removed = 0;     // that were removed, whose bits are still there
  uint64_t bytes = 0;
};

// A key, by its index in the batch, and a member that may have it.
struct BankHit {
  uint64_t key = 0;
  uint64_t member = 0;

  friend bool operator==(const BankHit&, const BankHit&) = default;
};

// A member, and how many keys it may have.
struct MemberCount {
  uint64_t member = 0;
  uint64_t keys = 0;

  friend bool operator==(const MemberCount&, const MemberCount&) = default;
};

// Takes the counts of CountPerMember. Returns at most `most` members that may have `at_least` keys
// or more. Members with more keys come first, and equal members in the order of their indexes. With
// 0 as `at_least` the result can contain members without a key, and indexes without a member.
std::vector<MemberCount> BestMembers(std::span<const uint64_t> counts, uint64_t at_least,
                                     size_t most = SIZE_MAX);

// Up to 512 split-block filters of equally many blocks are a group: its row j has bit j of each, 64
// bytes, so that a key is looked up in all of them by reading eight cache lines. For every member
// the answers are those of the filter that it was made from, and Extract gives that back bit for
// bit.
//
// A group takes the memory of 512 filters, however many it has. So filters should be built to few
// different sizes: BankBlocks (sizing.h) is a ladder of them. groups() shows what is wasted.
//
// The index of a member is 512 times the number of its group and its place in it; members that wait
// for their group come after all groups. Indexes are those of lookups until the bank is changed.
//
// Lookups may run on any number of threads at a time, as long as nobody changes the bank. All
// functions that change it throw Error(kReadOnly) if it is read_only(), and what they throw leaves
// it as it was, but where they say otherwise. One that was moved from can only be assigned to.
class FilterBank {
 public:
  // Throws Error(kInvalidArgument) for options out of range, Error(kUnknownBackend) if
  // TAMIS_BACKEND names none.
  explicit FilterBank(const BankOptions& options = {});

  // Reads a file and verifies all of it. Throws FormatError or Error(kIo), Error(kSecret).
  static FilterBank Load(const std::filesystem::path& path, const LoadOptions& options = {});
  // Maps a file, read-only and without a copy. The names of the members are verified. The rows are
  // verified only if the options ask for it. As for SplitBlockBloomFilter::Map, the file must not
  // change while it is mapped, but Save may replace it.
  static FilterBank Map(const std::filesystem::path& path, const MapOptions& options = {});
  // Saves all members, after Flush: replaces the file whole or not at all. Throws as Filter::Save,
  // Error(kInvalidArgument) for version 1 of the format; of a mapped bank, FormatError if its file
  // is damaged.
  void Save(const std::filesystem::path& path, const SaveOptions& options = {});

  FilterBank(FilterBank&&) noexcept;
  FilterBank& operator=(FilterBank&&) noexcept;
  ~FilterBank();

  const HashSpec& hash() const noexcept;
  double fpr() const noexcept;  // of filters built from keys
  const Backend& backend() const noexcept;
  void set_backend(const Backend& backend) noexcept;
  bool read_only() const noexcept;
  uint64_t num_members() const noexcept;
  // The words of a row of answers; a bit past the members is 0.
  size_t row_words() const noexcept;
  uint64_t bytes() const noexcept;  // of groups and of filters that wait

  // All members by their indexes, ascending.
  std::vector<BankMember> members() const;
  // Of groups, in their order.
  std::vector<BankGroupInfo> groups() const;
  // The member of that name, if there is one.
  std::optional<BankMember> Find(const MemberName& name) const;
  // The name of the member of that index. Throws Error(kInvalidArgument) if there is none.
  const std::string& NameOf(uint64_t index) const;

  // The size of a filter that was added.
  struct Added {
    uint64_t num_blocks = 0;
    // True if no other member has this number of blocks, and BankBlocks never returns it. A group
    // of 512 members is then made for this filter alone, until more filters of its size follow.
    bool foreign_size = false;
  };

  // Adds a member: a copy of the filter. Throws Error(kInvalidArgument) for a name that is taken or
  // out of range, Error(kIncompatible) if the filter has another hash, and the errors of Clone. If
  // the copy succeeds and the memory for a group of members is missing, Error(kOutOfMemory) is
  // thrown and the filter has been added.
  Added Add(const MemberName& name, const SplitBlockBloomFilter& filter);
  // Adds the filter of these keys, of as many blocks as the bank's fpr calls for, rounded up to the
  // ladder of BankBlocks; a key that is repeated counts as often. Throws as above.
  Added Add(const MemberName& name, Keys keys);

  // Puts all members that wait into groups, which saves memory if there are many. Throws
  // Error(kOutOfMemory), with some of them still waiting.
  void Flush();

  // The member is no answer from then on; its bits are there until another takes its place, or
  // Compact. Returns false if there is none of that name.
  bool Remove(const MemberName& name);

  // The filter of a member, bit for bit. Throws Error(kInvalidArgument) if there is none of that
  // name, Error(kOutOfMemory), and of a mapped bank FormatError if the group is damaged.
  SplitBlockBloomFilter Extract(const MemberName& name, const MemoryOptions& memory = {}) const;

  // Adds all members of `other`. Throws Error(kInvalidArgument) if a name is in both,
  // Error(kIncompatible) for another hash, and for lack of memory, with some members added.
  void Merge(const FilterBank& other);

  // Flushes, fills groups from those of the same size that have the fewest members, and drops the
  // bits of what was removed. Throws Error(kOutOfMemory), with all members still there.
  void Compact();

  // Which members may have a key: row_words() words, bit i for the member of index i. Returns how
  // many there are. Throws Error(kInvalidArgument) if `out` is too small.
  size_t Contains(uint64_t key, Bitmap out) const;
  size_t Contains(std::string_view key, Bitmap out) const;
  template <detail::NoKey T>
  size_t Contains(T, Bitmap) const = delete;
  size_t ContainsHash(uint64_t hash, Bitmap out) const;

  // The same for many keys: row_words() words for each, one after the other. A key that is null is
  // in no member. Returns how many bits are set.
  size_t Contains(Keys keys, Bitmap out) const;
  // All pairs of a key and a member that may have it, by key, then by member.
  std::vector<BankHit> Select(Keys keys) const;
  // For each member, the number of keys that it may have: 64 row_words() elements, one for each
  // index.
  std::vector<uint64_t> CountPerMember(Keys keys) const;

  // The same on the threads of an engine: with few keys each takes a part of the groups. The
  // kernels are those of the bank's own backend.
  size_t Contains(const Engine& engine, Keys keys, Bitmap out) const;
  std::vector<BankHit> Select(const Engine& engine, Keys keys) const;
  std::vector<uint64_t> CountPerMember(const Engine& engine, Keys keys) const;

  // How many members are expected to say "maybe" to a key that is in none of them: the sum of their
  // rates, each by the bits that are set in it (sizing.h). O(bytes()).
  double expected_false_members() const;

 private:
  class Impl;
  explicit FilterBank(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tamis

#endif  // TAMIS_BANK_FILTER_BANK_H_
