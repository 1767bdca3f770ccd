// Changes of filter banks: adding, transposing, removing and extracting filters.
#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "bank/src/bank_state.h"
#include "bank/src/bit_matrix.h"
#include "core/src/base/hash_check.h"
#include "core/src/filters/base/filter_access.h"
#include "core/src/filters/base/sizing_checks.h"
#include "tamis/backends.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/filters/sizing.h"
#include "tamis/hash_kinds.h"

namespace tamis {

using detail::BankGroup;
using detail::CountSet;
using detail::Incoming;
using detail::IsSet;
using detail::MemberData;
using detail::MemberMask;
using detail::WaitingMembers;

namespace {

using detail::kWordBits;
constexpr uint64_t kBlockWords = split_block::kBlockBits / kWordBits;

[[noreturn]] void RefuseChange(const std::string& problem) {
  throw Error(ErrorCode::kInvalidArgument, problem);
}

double FprOf(const BankOptions& options) {
  if ((options.false_members != 0) != (options.members != 0)) {
    RefuseChange(
        "the false members and the number of members must be given together, or neither of them");
  }
  if (options.members != 0) {
    if (options.fpr != 0)
      RefuseChange("set either the fpr of a bank or its false members, not both");
    if (!(options.false_members > 0))
      RefuseChange("the false members of a bank must be more than 0");
    const double fpr =
        std::min(kMaxFpr, options.false_members / static_cast<double>(options.members));
    detail::CheckFpr(fpr);
    return fpr;
  }
  FilterOptions of_filter;
  of_filter.fpr = options.fpr;
  return detail::FprOrDefault(of_filter);
}

std::string HashText(const HashSpec& hash) {
  const std::string name = HashKindName(hash.kind);
  if (IsKeyed(hash.kind)) return name + " with its own secret";
  return detail::StrCat(name, " with seed ", hash.seed);
}

size_t FreePlaces(const BankGroup& group) { return bank::kGroupMembers - CountSet(group.live); }

const uint64_t* WordsOf(const SplitBlockBloomFilter& filter) {
  return reinterpret_cast<const uint64_t*>(filter.payload().data());
}

}  // namespace

size_t detail::CountSet(const MemberMask& mask) noexcept {
  return std::accumulate(mask.begin(), mask.end(), size_t{0}, [](size_t sum, uint64_t word) {
    return sum + static_cast<size_t>(std::popcount(word));
  });
}

BankGroup::BankGroup(uint64_t blocks, const MemoryOptions& memory)
    : BankGroup(blocks, Storage::Allocate(blocks * bank::kBlockBytes, memory)) {}

BankGroup::BankGroup(uint64_t blocks, Storage rows_of_it)
    : num_blocks(blocks), storage(std::move(rows_of_it)) {}

FilterBank::Impl::Impl(const BankOptions& options)
    : hash(detail::CheckedHash(options.hash)),
      fpr(FprOf(options)),
      memory(options.memory),
      backend(options.backend != nullptr ? options.backend : &DefaultBackend()),
      buffer_bytes(options.buffer_bytes),
      waiting(options.memory) {}

void FilterBank::Impl::RequireWritable() const {
  if (!read_only) return;
  throw Error(ErrorCode::kReadOnly,
              "the bank is mapped from a file and cannot be changed: Load reads it into memory");
}

void FilterBank::Impl::RequireNewName(const std::string& name) const {
  if (name.empty() || name.size() > MemberName::kMaxBytes) {
    RefuseChange(detail::StrCat("a name of ", name.size(), " bytes is out of range [1, ",
                                MemberName::kMaxBytes, "]"));
  }
  if (names.contains(name)) RefuseChange("the bank has a member \"" + name + "\" already");
}

void FilterBank::Impl::RequireHash(const HashSpec& other) const {
  if (other == hash) return;
  throw Error(ErrorCode::kIncompatible,
              std::string("all members of a bank have the same hash: the bank has ") +
                  HashText(hash) + ", and the added filter has " + HashText(other));
}

BankMember FilterBank::Impl::MemberAt(const Place& place) const {
  const auto describe = [&](const MemberData& data, uint64_t num_blocks) {
    return BankMember{data.name,     IndexOf(place), num_blocks,
                      data.capacity, data.inserted,  data.key_types};
  };
  if (place.group == kWaiting) {
    return describe(waiting[place.slot].data, waiting[place.slot].num_blocks);
  }
  return describe(groups[place.group].members[place.slot], groups[place.group].num_blocks);
}

FilterBank::Added FilterBank::Impl::AddCopy(MemberData data, uint64_t num_blocks,
                                            const uint64_t* words) {
  Added added{num_blocks, false};
  const bool is_first = waiting.CountOf(num_blocks) == 0 &&
                        std::none_of(groups.begin(), groups.end(), [&](const BankGroup& group) {
                          return group.num_blocks == num_blocks;
                        });
  added.foreign_size = is_first && BankBlocks(num_blocks) != num_blocks;

  const auto named = names.emplace(data.name, Place{kWaiting, waiting.size()}).first;
  try {
    waiting.Add(std::move(data), num_blocks, words);
  } catch (...) {
    names.erase(named);
    throw;
  }
  if (waiting.CountOf(num_blocks) == bank::kGroupMembers) FlushSize(num_blocks);
  while (waiting.bytes() > buffer_bytes) FlushSize(waiting.LargestSize());
  return added;
}

FilterBank::Added FilterBank::Impl::AddCopy(const std::string& name,
                                            const SplitBlockBloomFilter& filter) {
  return AddCopy({name, filter.capacity(), filter.inserted_count(), filter.key_types()},
                 filter.num_blocks(), WordsOf(filter));
}

void FilterBank::Impl::Put(size_t g, std::span<Incoming> incoming) noexcept {
  BankGroup& group = groups[g];
  const uint64_t* filters[bank::kGroupMembers] = {};
  MemberMask mask{};
  size_t slot = 0;
  for (Incoming& filter : incoming) {
    while (IsSet(group.live, slot)) ++slot;
    filters[slot] = filter.words;
    mask[slot / kWordBits] |= uint64_t{1} << (slot % kWordBits);
    names.find(filter.data.name)->second = {g, slot};
    group.members.Put(slot, std::move(filter.data));
    ++slot;
  }
  kernels().bank.transpose(filters, mask.data(), group.num_blocks, group.rows());
  for (size_t w = 0; w < mask.size(); ++w) {
    group.live[w] |= mask[w];
    group.filled[w] |= mask[w];
  }
}

// Checks the total size of all groups first, because every single allocation may succeed although
// the system lacks the memory when it is written.
BankGroup FilterBank::Impl::NewGroup(uint64_t num_blocks) const {
  uint64_t bytes = num_blocks * bank::kBlockBytes;
  for (const BankGroup& group : groups) bytes += group.storage.size();
  detail::Storage::RequireFits(bytes);
  return BankGroup(num_blocks, memory);
}

// Moves the first waiting members of this size into free places of groups, then into new groups.
void FilterBank::Impl::FlushSize(uint64_t num_blocks) {
  for (size_t g = 0; waiting.CountOf(num_blocks) != 0; ++g) {
    if (g == groups.size()) groups.push_back(NewGroup(num_blocks));
    if (groups[g].num_blocks != num_blocks) continue;
    const size_t count = std::min<size_t>(waiting.CountOf(num_blocks), FreePlaces(groups[g]));
    if (count == 0) continue;  // without members, a pass over all rows would be useless
    std::vector<Incoming> incoming;
    incoming.reserve(count);
    groups[g].members.Reserve(count);
    for (const WaitingMembers::Member& member : waiting) {
      if (incoming.size() == count) break;
      if (member.num_blocks == num_blocks) incoming.push_back({member.words, member.data});
    }
    Put(g, incoming);
    waiting.EraseFirst(num_blocks, count);
    RenumberWaiting(0);
  }
}

void FilterBank::Impl::RenumberWaiting(size_t first) {
  for (size_t i = first; i < waiting.size(); ++i) names.find(waiting[i].data.name)->second.slot = i;
}

void FilterBank::Impl::Flush() {
  while (!waiting.empty()) FlushSize(waiting[0].num_blocks);
}

bool FilterBank::Impl::Remove(const std::string& name) {
  const auto found = names.find(name);
  if (found == names.end()) return false;
  const Place place = found->second;
  names.erase(found);
  if (place.group != kWaiting) {
    BankGroup& group = groups[place.group];
    group.live[place.slot / kWordBits] &= ~(uint64_t{1} << (place.slot % kWordBits));
    group.members.Take(place.slot);
    return true;
  }
  waiting.Erase(place.slot);
  RenumberWaiting(place.slot);
  return true;
}

SplitBlockBloomFilter FilterBank::Impl::EmptyFilter(const MemberData& data, uint64_t num_blocks,
                                                    const MemoryOptions& memory_options) const {
  FileHeader header;
  header.kind = SplitBlockBloomFilter::kKind;
  header.hash = hash;
  header.geometry = {num_blocks, 0, 0};
  header.capacity = data.capacity;
  header.inserted = data.inserted;
  header.key_types = data.key_types;
  const uint64_t bytes = num_blocks * split_block::kBlockBytes;
  header.payload_bytes = bytes;
  return detail::FilterAccess::Make<SplitBlockBloomFilter>(
      header, detail::Storage::Allocate(bytes, memory_options), backend);
}

std::vector<SplitBlockBloomFilter> FilterBank::Impl::ExtractSome(
    const BankGroup& group, size_t word, uint64_t members,
    const MemoryOptions& memory_options) const {
  std::vector<SplitBlockBloomFilter> filters;
  uint64_t* to[kWordBits] = {};
  for (uint64_t rest = members; rest != 0; rest &= rest - 1) {
    const auto c = static_cast<size_t>(std::countr_zero(rest));
    filters.push_back(
        EmptyFilter(group.members[kWordBits * word + c], group.num_blocks, memory_options));
    to[c] = reinterpret_cast<uint64_t*>(detail::FilterAccess::StorageOf(filters.back()).data());
  }
  for (uint64_t i = 0; i < kBlockWords * group.num_blocks; ++i) {
    const uint64_t* const rows = group.rows() + kWordBits * i * bank::kRowWords + word;
    uint64_t square[kWordBits];
    for (size_t r = 0; r < kWordBits; ++r) square[r] = rows[r * bank::kRowWords];
    detail::TransposeBits(square);
    for (uint64_t rest = members; rest != 0; rest &= rest - 1) {
      const auto c = static_cast<size_t>(std::countr_zero(rest));
      to[c][i] = square[c];
    }
  }
  return filters;
}

SplitBlockBloomFilter FilterBank::Impl::Extract(const std::string& name,
                                                const MemoryOptions& memory_options) const {
  const auto found = names.find(name);
  if (found == names.end()) RefuseChange("the bank has no member \"" + name + "\"");
  const Place place = found->second;
  if (place.group == kWaiting) {
    const WaitingMembers::Member& member = waiting[place.slot];
    SplitBlockBloomFilter filter = EmptyFilter(member.data, member.num_blocks, memory_options);
    std::memcpy(detail::FilterAccess::StorageOf(filter).data(), member.words, member.bytes());
    return filter;
  }
  RequireIntact(groups[place.group]);
  std::vector<SplitBlockBloomFilter> filters =
      ExtractSome(groups[place.group], place.slot / kWordBits,
                  uint64_t{1} << (place.slot % kWordBits), memory_options);
  return std::move(filters.front());
}

void FilterBank::Impl::MergeGroup(const BankGroup& from) {
  if (FreePlaces(from) == 0) {  // a full group is copied as a whole
    BankGroup copy = NewGroup(from.num_blocks);
    std::memcpy(copy.rows(), from.rows(), from.storage.size());
    copy.live = from.live;
    copy.filled = from.filled;
    copy.members = from.members;
    groups.push_back(std::move(copy));
    try {
      for (size_t slot = 0; slot < bank::kGroupMembers; ++slot) {
        names.emplace(from.members[slot].name, Place{groups.size() - 1, slot});
      }
    } catch (...) {
      for (size_t slot = 0; slot < bank::kGroupMembers; ++slot) {
        names.erase(from.members[slot].name);
      }
      groups.pop_back();
      throw;
    }
    return;
  }
  for (size_t word = 0; word < from.live.size(); ++word) {
    const std::vector<SplitBlockBloomFilter> filters =
        ExtractSome(from, word, from.live[word], memory);
    uint64_t rest = from.live[word];
    for (const SplitBlockBloomFilter& filter : filters) {
      const auto c = static_cast<size_t>(std::countr_zero(rest));
      AddCopy(from.members[kWordBits * word + c].name, filter);
      rest &= rest - 1;
    }
  }
}

// Moves members from one group to another, until `to` is full or memory runs out.
void FilterBank::Impl::MoveMembers(size_t from, size_t to) {
  size_t room = FreePlaces(groups[to]);
  for (size_t word = 0; word < bank::kRowWords && room != 0; ++word) {
    BankGroup& group = groups[from];
    uint64_t members = group.live[word];
    while (static_cast<size_t>(std::popcount(members)) > room) members &= members - 1;
    const std::vector<SplitBlockBloomFilter> filters = ExtractSome(group, word, members, memory);
    std::vector<Incoming> incoming;
    incoming.reserve(filters.size());
    groups[to].members.Reserve(filters.size());
    uint64_t rest = members;
    for (const SplitBlockBloomFilter& filter : filters) {
      const size_t slot = kWordBits * word + static_cast<size_t>(std::countr_zero(rest));
      incoming.push_back({WordsOf(filter), group.members.Take(slot)});
      rest &= rest - 1;
    }
    group.live[word] &= ~members;
    Put(to, incoming);
    room -= filters.size();
  }
}

void FilterBank::Impl::Compact() {
  Flush();
  std::vector<size_t> order(groups.size());  // groups by size, then by members, most first
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (groups[a].num_blocks != groups[b].num_blocks) {
      return groups[a].num_blocks < groups[b].num_blocks;
    }
    return FreePlaces(groups[a]) < FreePlaces(groups[b]);
  });
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && groups[order[end]].num_blocks == groups[order[begin]].num_blocks) {
      ++end;
    }
    for (size_t to = begin, from = end - 1; to < from;) {
      if (FreePlaces(groups[order[to]]) == 0) {
        ++to;
      } else if (FreePlaces(groups[order[from]]) == bank::kGroupMembers) {
        --from;
      } else {
        MoveMembers(order[from], order[to]);
      }
    }
  }
  std::erase_if(groups,
                [](const BankGroup& group) { return FreePlaces(group) == bank::kGroupMembers; });
  for (size_t g = 0; g < groups.size(); ++g) {
    BankGroup& group = groups[g];
    for (size_t slot = 0; slot < bank::kGroupMembers; ++slot) {
      if (IsSet(group.live, slot)) names.find(group.members[slot].name)->second = {g, slot};
    }
    if (group.filled == group.live) continue;
    uint64_t* const rows = group.rows();
    for (uint64_t i = 0; i < group.num_blocks * bank::kBlockRows * bank::kRowWords; ++i) {
      rows[i] &= group.live[i % bank::kRowWords];
    }
    group.filled = group.live;
  }
}

}  // namespace tamis
