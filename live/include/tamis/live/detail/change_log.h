// The changes of a live filter: who may make them when, and what a rebuild has missed.
#ifndef TAMIS_LIVE_DETAIL_CHANGE_LOG_H_
#define TAMIS_LIVE_DETAIL_CHANGE_LOG_H_

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

#include "tamis/hash.h"
#include "tamis/key_types.h"
#include "tamis/keys.h"
#include "tamis/live/detail/fork.h"

namespace tamis::detail {

// Consecutive changes, in their order.
struct RecordedChanges {
  static constexpr size_t kKeys = 4096;

  size_t size = 0;
  std::array<uint64_t, kKeys> hashes;
  std::bitset<kKeys> erased;  // else inserted
};

using ChangeRecord = std::vector<std::unique_ptr<RecordedChanges>>;

// Three things, under one lock:
// - Scopes: a change of the filter and of the database behind it, which a rebuild has to see both
//   of or neither. They are told apart by the epoch that they were opened in; a rebuild begins two,
//   one as it begins to record and one when its snapshot is open.
// - The gate: a change of the filter alone passes it, and while it is closed none is under way.
// - The record: what was changed since a rebuild began, as hashes.
// All functions are thread-safe; those for rebuilds are called by one at a time.
class ChangeLog {
 public:
  ChangeLog() = default;
  ChangeLog(const ChangeLog&) = delete;
  ChangeLog& operator=(const ChangeLog&) = delete;

  // Returns the epoch, for CloseScope.
  uint64_t OpenScope();
  void CloseScope(uint64_t epoch) noexcept;

  // A change under way, for as long as this is there; waits while the gate is closed. The thread
  // must not have another, and must not close the gate.
  class Passage {
   public:
    explicit Passage(ChangeLog& log);
    Passage(const Passage&) = delete;
    Passage& operator=(const Passage&) = delete;
    ~Passage();

    // Whether changes are recorded. If not, and a rebuild begins while the passage is there, it
    // waits for the scope that the change is in before it reads anything.
    bool recording() const noexcept { return recording_; }

   private:
    ChangeLog& log_;
    bool recording_;
  };

  // Records keys that are inserted, in whatever order.
  void RecordInserts(const Keys& keys, const HashSpec& hash_of);

  // Calls insert(), which inserts one key and returns how many were, and records it: one by one, so
  // that keys which can be erased are changed in the order in which they are recorded. A key that
  // found no room is recorded, too: there may be some in the new filter.
  template <typename Insert>
  size_t InsertInOrder(uint64_t hash, KeyType type, const Insert& insert) {
    const std::lock_guard lock(mutex_);
    const size_t inserted = insert();
    Append(hash, false);
    if (recording_) key_types_.Add(type);
    return inserted;
  }

  // The same with erase(), which erases one. A key that was not found, or whose scope was opened
  // before the rebuild's snapshot was there, is not recorded.
  template <typename Erase>
  size_t EraseInOrder(uint64_t hash, uint64_t scope, const Erase& erase) {
    const std::lock_guard lock(mutex_);
    const size_t erased = erase();
    if (erased == 0) return 0;
    if (snapshot_epoch_ != 0 && scope >= snapshot_epoch_) {
      Append(hash, true);
    } else if (recording_) {
      ++skipped_erases_;
    }
    return erased;
  }

  // --- For rebuilds.

  // Records changes from here on, up to so many keys.
  void Start(uint64_t max_keys);
  // Returns when no scope is open that was opened before Start, or when a stop is requested.
  void AwaitEarlierScopes(const std::stop_token& stop);
  // The erasures of scopes that are opened from here on are recorded.
  void SnapshotIsOpen();
  // Throws Error(kOutOfMemory) if there are changes that found no room in the record.
  void RequireWhole() const;
  // What has been recorded since Start, or since this was last called.
  ChangeRecord Take();
  // What the keys were that have been recorded since Start.
  KeyTypes key_types() const;
  // Returns when no change is under way.
  void CloseGate();
  void OpenGate() noexcept;
  // Records no more, and forgets what was recorded.
  void Stop() noexcept;

  uint64_t recorded() const;
  uint64_t skipped_erases() const;  // since the last Start

 private:
  enum class Loss : uint8_t { kNone, kFull, kNoMemory };

  // With the lock held.
  void Append(uint64_t hash, bool erased) noexcept;
  void Lose(Loss loss) noexcept;

  mutable std::mutex mutex_;
  ForkableCondition changed_;

  uint64_t epoch_ = 1;
  std::map<uint64_t, uint64_t> open_scopes_;  // how many of each epoch

  bool closed_ = false;
  uint64_t passages_ = 0;

  bool recording_ = false;
  Loss loss_ = Loss::kNone;
  uint64_t max_keys_ = 0;
  uint64_t start_epoch_ = 0;
  uint64_t snapshot_epoch_ = 0;  // 0: there is no snapshot
  uint64_t recorded_ = 0;
  uint64_t skipped_erases_ = 0;
  KeyTypes key_types_;
  ChangeRecord record_;
};

}  // namespace tamis::detail

#endif  // TAMIS_LIVE_DETAIL_CHANGE_LOG_H_
