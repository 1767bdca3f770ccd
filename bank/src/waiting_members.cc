#include "bank/src/waiting_members.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tamis/layout/bank.h"

namespace tamis::detail {
namespace {

// Usual size of a chunk. A chunk for one larger member is larger, and a chunk for a whole group may
// be smaller. Memory of this size is mapped separately (storage.cc), so it returns to the system as
// soon as it is freed.
constexpr uint64_t kChunkBytes = uint64_t{4} << 20;

uint64_t BytesOf(uint64_t num_blocks) { return num_blocks * split_block::kBlockBytes; }

}  // namespace

uint64_t WaitingMembers::Member::bytes() const noexcept { return BytesOf(num_blocks); }

uint64_t WaitingMembers::CountOf(uint64_t num_blocks) const noexcept {
  const auto found = sizes_.find(num_blocks);
  return found == sizes_.end() ? 0 : found->second.count;
}

uint64_t WaitingMembers::LargestSize() const noexcept {
  return std::max_element(sizes_.begin(), sizes_.end(),
                          [](const auto& a, const auto& b) {
                            return a.first * a.second.count < b.first * b.second.count;
                          })
      ->first;
}

uint64_t* WaitingMembers::TakePlace(uint64_t num_blocks, OfSize& of_size) {
  if (of_size.free.empty()) {
    const uint64_t bytes = BytesOf(num_blocks);
    // A new chunk at most doubles the number of places. Otherwise, in a bank of many sizes, each
    // member would take a whole chunk.
    const uint64_t most =
        std::clamp<uint64_t>((kChunkBytes + bytes - 1) / bytes, 1, bank::kGroupMembers);
    const uint64_t places = std::clamp<uint64_t>(of_size.count, 1, most);
    uint64_t all = places;
    for (const Storage& chunk : of_size.chunks) all += chunk.size() / bytes;
    of_size.free.reserve(all);
    of_size.chunks.reserve(of_size.chunks.size() + 1);
    of_size.chunks.push_back(Storage::Allocate(places * bytes, memory_));
    auto* const first = reinterpret_cast<uint64_t*>(of_size.chunks.back().data());
    for (uint64_t i = places; i-- > 0;) of_size.free.push_back(first + i * bytes / 8);
  }
  uint64_t* const words = of_size.free.back();
  of_size.free.pop_back();
  return words;
}

void WaitingMembers::Add(MemberData data, uint64_t num_blocks, const uint64_t* words) {
  members_.reserve(members_.size() == members_.capacity() ? 2 * members_.size() + 1 : 0);
  const auto of_size = sizes_.try_emplace(num_blocks).first;
  try {
    uint64_t* const place = TakePlace(num_blocks, of_size->second);
    std::memcpy(place, words, BytesOf(num_blocks));
    members_.push_back({std::move(data), num_blocks, place});
  } catch (...) {
    if (of_size->second.count == 0) sizes_.erase(of_size);
    throw;
  }
  ++of_size->second.count;
  bytes_ += BytesOf(num_blocks);
}

void WaitingMembers::GiveUp(const Member& member) noexcept {
  const auto of_size = sizes_.find(member.num_blocks);
  of_size->second.free.push_back(member.words);
  if (--of_size->second.count == 0) sizes_.erase(of_size);
  bytes_ -= member.bytes();
}

void WaitingMembers::Erase(size_t i) noexcept {
  GiveUp(members_[i]);
  members_.erase(members_.begin() + static_cast<ptrdiff_t>(i));
}

void WaitingMembers::EraseFirst(uint64_t num_blocks, size_t count) noexcept {
  std::erase_if(members_, [&](const Member& member) {
    if (count == 0 || member.num_blocks != num_blocks) return false;
    --count;
    GiveUp(member);
    return true;
  });
}

}  // namespace tamis::detail
