// How a lookup in a cuckoo table that others change is sure that a key is not in.
//
// A key's fingerprint is in one of two buckets, and a writer that makes room moves it from one to
// the other: it copies it first, and then overwrites where it was. A lookup that reads the one
// bucket before the copy and the other after it has gone sees neither. So between the two the
// writer logs both buckets. A lookup reads how many moves were logged, then the buckets, and if the
// fingerprint is in neither, what was logged meanwhile: if that does not name them, the key was not
// in the table at some time during the lookup, or was being inserted or erased; else it asks again.
// To compare one of the two buckets is enough, as a fingerprint is only ever moved between them.
// One that was found needs no second look. The same goes for an erasure of one of several copies:
// the one that stays may be newer than the lookup's first read.
//
// Why that is enough. Let a lookup miss a fingerprint that was copied to y and then taken out of x,
// by the writer's steps C (store of the word of y), L (the n-th entry of the log, then the count
// n + 1) and E (store of the word of x), each store a release and in this order; let it have read y
// before C and x after E.
// - If its first read of the count, an acquire, had seen n + 1 or more, then it would have seen C
// in
//   y. So the entries it reads begin at n or before.
// - It read x, an acquire, after E, so its second read of the count is more than n: they end after
// n.
// - The n-th entry was stored before that count. If it read a later one in its place, an acquire,
//   then its third read of the count sees at least n + kEntries, and it does not rely on any.
// Buckets are words of one atomic store each. One thread at a time changes what shares a log, under
// its lock, and counts only grow, in 64 bits.
#ifndef TAMIS_LIVE_SRC_MOVE_LOG_H_
#define TAMIS_LIVE_SRC_MOVE_LOG_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "tamis/layout/cuckoo.h"

namespace tamis::detail {

// The last moves within some chunks.
class MoveLog {
 public:
  // What stands for a bucket: that of another may be the same, which costs a second look.
  using Id = uint16_t;
  static Id IdOf(uint32_t chunk, uint32_t bucket) noexcept {
    return static_cast<Id>(bucket + chunk * 0x9E3779B1u);
  }
  // Aligned, or clang calls libatomic for it.
  struct alignas(2 * sizeof(Id)) Entry {
    Id a, b;
  };

  // A writer makes some 30 in the time of a bulk lookup's slice in cache, a few hundred at most.
  static constexpr uint64_t kEntries = 1024;

  // Needs the lock of the chunks.
  void Add(Entry entry) noexcept {
    const uint64_t at = count_.load(std::memory_order_relaxed);
    entries_[at % kEntries].store(entry, std::memory_order_release);
    count_.store(at + 1, std::memory_order_release);
  }

  uint64_t Count() const noexcept { return count_.load(std::memory_order_acquire); }
  Entry At(uint64_t at) const noexcept {
    return entries_[at % kEntries].load(std::memory_order_acquire);
  }

 private:
  std::atomic<uint64_t> count_ = 0;
  // Elsewhere: lookups read the counts of many logs, which stay in one page for that.
  std::unique_ptr<std::atomic<Entry>[]> entries_ = std::make_unique<std::atomic<Entry>[]>(kEntries);
};

// Calls visit(entry) for the moves since the count `since`. Returns whether those were all.
template <typename Log, typename Visit>
bool ForEachMove(const Log& log, uint64_t since, const Visit& visit) noexcept {
  const uint64_t until = log.Count();
  if (until == since) return true;
  if (until - since >= Log::kEntries) return false;
  for (uint64_t at = since; at < until; ++at) visit(log.At(at));
  return log.Count() - since < Log::kEntries;
}

// Access to buckets (see CuckooChunk) that others read.
template <int kBits>
struct SharedBuckets {
  using Word = cuckoo::Word<kBits>;
  static constexpr bool kShared = true;

  static Word Load(const Word& bucket) noexcept {
    // atomic_ref takes no const before C++26.
    return std::atomic_ref<Word>(const_cast<Word&>(bucket)).load(std::memory_order_acquire);
  }
  static void Store(Word& bucket, Word word) noexcept {
    std::atomic_ref<Word>(bucket).store(word, std::memory_order_release);
  }
  void Copied(uint32_t a, uint32_t b) noexcept {
    log->Add({MoveLog::IdOf(chunk, a), MoveLog::IdOf(chunk, b)});
  }

  MoveLog* log;
  uint32_t chunk;
};

enum class Found { kNo, kYes, kUnsure };

// One look at the two buckets of a fingerprint, the first of which has this id. `Log` is as
// MoveLog, `Buckets` has Load, as above.
template <int kBits, typename Buckets, typename Log>
Found LookAt(const Log& log, MoveLog::Id id, const cuckoo::Word<kBits>& first,
             const cuckoo::Word<kBits>& second, uint32_t fingerprint) noexcept {
  const uint64_t before = log.Count();
  const cuckoo::Word<kBits> a = Buckets::Load(first);
  const cuckoo::Word<kBits> b = Buckets::Load(second);
  const bool found = cuckoo::PairContains<kBits>(a, b, fingerprint);
  // First, as it is nearly always so, and what was found is not to be known before.
  if (log.Count() == before) return found ? Found::kYes : Found::kNo;
  if (found) return Found::kYes;
  bool moved = false;
  const bool all =
      ForEachMove(log, before, [&](MoveLog::Entry move) { moved |= move.a == id || move.b == id; });
  return all && !moved ? Found::kNo : Found::kUnsure;
}

}  // namespace tamis::detail

#endif  // TAMIS_LIVE_SRC_MOVE_LOG_H_
