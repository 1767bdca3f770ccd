// Lets a query make sure that a key is absent from a cuckoo table that other threads change.
//
// The fingerprint of a key is in one of two buckets. To make room, a writer moves a fingerprint
// from one of its buckets to the other. The writer first copies the fingerprint, and then
// overwrites the old copy. If a query reads the new bucket before the copy, and the old bucket
// after the overwrite, it finds the fingerprint in neither bucket. Therefore the writer logs both
// buckets between the two steps.
//
// A query takes these steps:
// 1. It reads the number of logged moves, and then both buckets. If it finds the fingerprint, it
//    ends.
// 2. It reads the moves that were logged since. If no move names the first bucket, the key was
//    absent at some time during the query, or was being inserted or erased. The query ends.
// 3. Otherwise, the query begins again.
//
// It is enough to compare moves with one of the two buckets, because each move of the fingerprint
// names both. A writer also logs the erasure of one of several copies of a fingerprint. If the
// query read the bucket of the remaining copy before that copy was written, it looks again.
//
// Proof. Assume that a query finds a fingerprint in neither bucket, although a writer copied the
// fingerprint to y and then removed it from x. The steps of the writer are C (store of the word of
// y), L (store of the n-th entry of the log, then of the count n + 1) and E (store of the word of
// x). Each store is a release, and they happen in this order. Each read of the query is an acquire.
// The query read y before C and x after E.
// - If the first read of the count had returned n + 1 or more, the query would have seen C in y. So
//   the entries that the query reads begin at n or before.
// - The query read x after E, so its second read of the count returns more than n. So the query
//   reads the n-th entry.
// - The n-th entry was stored before that count. If the query read a later entry in its place, then
//   its third read of the count returns at least n + kEntries, and the query relies on no entry.
//
// Each bucket is a word, and all stores to it are atomic. Only one thread at a time changes the
// chunks of a log, and it holds the lock of the log. Counts have 64 bits and only grow.
#ifndef TAMIS_LIVE_SRC_MOVE_LOG_H_
#define TAMIS_LIVE_SRC_MOVE_LOG_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "tamis/layout/cuckoo.h"

namespace tamis::detail {

// The most recent moves within some chunks.
class MoveLog {
 public:
  // Identifies a bucket. If two buckets have the same id, a query may look again without need.
  using Id = uint16_t;
  static Id IdOf(uint32_t chunk, uint32_t bucket) noexcept {
    return static_cast<Id>(bucket + chunk * 0x9E3779B1u);
  }
  // Aligned, because clang otherwise calls libatomic.
  struct alignas(2 * sizeof(Id)) Entry {
    Id a, b;
  };

  // A writer logs about 30 moves, at most a few hundred, while a bulk query handles a slice in
  // cache.
  static constexpr uint64_t kEntries = 1024;

  // The caller must hold the lock of the chunks.
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
  // The entries are allocated separately, so that the counts of many logs, which queries read, are
  // in one page.
  std::unique_ptr<std::atomic<Entry>[]> entries_ = std::make_unique<std::atomic<Entry>[]>(kEntries);
};

// Calls visit(entry) for the moves since the count `since`. Returns whether it visited all of them.
template <typename Log, typename Visit>
bool ForEachMove(const Log& log, uint64_t since, const Visit& visit) noexcept {
  const uint64_t until = log.Count();
  if (until == since) return true;
  if (until - since >= Log::kEntries) return false;
  for (uint64_t at = since; at < until; ++at) visit(log.At(at));
  return log.Count() - since < Log::kEntries;
}

// Access to buckets (see CuckooChunk) that other threads read.
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

// Looks once at the two buckets of a fingerprint. `id` is the id of the first bucket. `Log` has the
// functions of MoveLog, and `Buckets` has Load as in SharedBuckets.
template <int kBits, typename Buckets, typename Log>
Found LookAt(const Log& log, MoveLog::Id id, const cuckoo::Word<kBits>& first,
             const cuckoo::Word<kBits>& second, uint32_t fingerprint) noexcept {
  const uint64_t before = log.Count();
  const cuckoo::Word<kBits> a = Buckets::Load(first);
  const cuckoo::Word<kBits> b = Buckets::Load(second);
  const bool found = cuckoo::PairContains<kBits>(a, b, fingerprint);
  // This case comes first, because it is the most frequent one and does not depend on `found`.
  if (log.Count() == before) return found ? Found::kYes : Found::kNo;
  if (found) return Found::kYes;
  bool moved = false;
  const bool all =
      ForEachMove(log, before, [&](MoveLog::Entry move) { moved |= move.a == id || move.b == id; });
  return all && !moved ? Found::kNo : Found::kUnsure;
}

}  // namespace tamis::detail

#endif  // TAMIS_LIVE_SRC_MOVE_LOG_H_
