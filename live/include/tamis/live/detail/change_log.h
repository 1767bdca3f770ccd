// The changes of a live filter: when threads may make them, and the changes that a rebuild missed.
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
  std::bitset<kKeys> erased;  // bit i: whether key i was erased; 0: it was inserted
};

using ChangeRecord = std::vector<std::unique_ptr<RecordedChanges>>;

// Coordinates changes with rebuilds. It has three parts, under one lock:
// - Scopes. A scope (Live::ChangeScope) spans a change of the filter and the same change of the
//   database. A rebuild must see both or neither. Each scope has the epoch in which it was opened.
//   A rebuild starts two epochs: when it begins to record, and when its snapshot is open.
// - The gate. Every change of the filter passes it. While the gate is closed, no change is under
//   way.
// - The record: hashes of the keys changed since a rebuild began.
//
// All functions are thread-safe, but only one rebuild at a time may call the functions for
// rebuilds.
class ChangeLog {
 public:
  ChangeLog() = default;
  ChangeLog(const ChangeLog&) = delete;
  ChangeLog& operator=(const ChangeLog&) = delete;

  // Returns the epoch of the scope, which CloseScope requires.
  uint64_t OpenScope();
  void CloseScope(uint64_t epoch) noexcept;

  // A change is under way while this object exists. The constructor waits while the gate is closed.
  // The thread must not have another Passage, and must not close the gate.
  class Passage {
   public:
    explicit Passage(ChangeLog& log);
    Passage(const Passage&) = delete;
    Passage& operator=(const Passage&) = delete;
    ~Passage();

    // Returns whether changes were recorded when this object was made. If they were not, a rebuild
    // that begins later waits until CloseScope ends the scope of this change. Then it reads keys.
    bool recording() const noexcept { return recording_; }

   private:
    ChangeLog& log_;
    bool recording_;
  };

  // Records inserted keys, in any order.
  void RecordInserts(const Keys& keys, const HashSpec& hash_of);

  // Calls insert(), and then records the key. insert() must insert one key and return the number of
  // keys inserted. Both happen under the lock, so that erasable keys are changed in the order of
  // the record. A key that found no room is recorded too, because the new filter may have room for
  // it.
  template <typename Insert>
  size_t InsertInOrder(uint64_t hash, KeyType type, const Insert& insert) {
    const std::lock_guard lock(mutex_);
    const size_t inserted = insert();
    Append(hash, false);
    if (recording_) key_types_.Add(type);
    return inserted;
  }

  // Like InsertInOrder, with erase(), which must erase one key. Does not record the erasure if it
  // found no key, or if its scope was opened before the rebuild opened its snapshot.
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

  // --- Functions for rebuilds.

  // Starts to record changes. If more than `max_keys` wait for Take, the record is lost: see
  // RequireWhole.
  void Start(uint64_t max_keys);
  // Waits until all scopes that were opened before Start have ended, or until a stop is requested.
  void AwaitEarlierScopes(const std::stop_token& stop);
  // Must be called when the snapshot is open. From then on, erasures are recorded too, if their
  // scopes were opened after this call.
  void SnapshotIsOpen();
  // Throws Error(kOutOfMemory) if changes were lost because the record was full or memory ran out.
  void RequireWhole() const;
  // Returns the changes recorded since Start or since the last call.
  ChangeRecord Take();
  // Types of the keys recorded since Start.
  KeyTypes key_types() const;
  // Closes the gate and waits until no change is under way.
  void CloseGate();
  void OpenGate() noexcept;
  // Stops recording and drops the record.
  void Stop() noexcept;

  uint64_t recorded() const;
  uint64_t skipped_erases() const;  // since the last Start

 private:
  enum class Loss : uint8_t { kNone, kFull, kNoMemory };

  // The caller must hold mutex_.
  void Append(uint64_t hash, bool erased) noexcept;
  void Lose(Loss loss) noexcept;

  mutable std::mutex mutex_;
  ForkableCondition changed_;

  uint64_t epoch_ = 1;
  std::map<uint64_t, uint64_t> open_scopes_;  // for each epoch, the number of its scopes still open

  bool closed_ = false;
  uint64_t passages_ = 0;

  bool recording_ = false;
  Loss loss_ = Loss::kNone;
  uint64_t max_keys_ = 0;
  uint64_t start_epoch_ = 0;
  uint64_t snapshot_epoch_ = 0;  // 0: no snapshot
  uint64_t recorded_ = 0;
  uint64_t skipped_erases_ = 0;
  KeyTypes key_types_;
  ChangeRecord record_;
};

}  // namespace tamis::detail

#endif  // TAMIS_LIVE_DETAIL_CHANGE_LOG_H_
