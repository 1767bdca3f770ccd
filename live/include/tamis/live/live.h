// A filter that is replaced while threads query and change it.
#ifndef TAMIS_LIVE_LIVE_H_
#define TAMIS_LIVE_LIVE_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/hash.h"
#include "tamis/hash_keys.h"
#include "tamis/keys.h"
#include "tamis/live/changeable.h"
#include "tamis/live/detail/change_log.h"
#include "tamis/live/detail/erase_tally.h"
#include "tamis/live/detail/generation.h"
#include "tamis/live/detail/live_state.h"
#include "tamis/live/detail/replay.h"
#include "tamis/live/detail/striped_pointer.h"
#include "tamis/live/live_status.h"
#include "tamis/live/rebuild.h"

namespace tamis {

// A reader's pointer to the filter that was current when the snapshot was taken. A snapshot does
// not see keys that are inserted into later filters. Take one snapshot per batch of work, then drop
// it: the thread that drops the last pointer to a filter frees the filter.
template <typename F>
class Snapshot {
 public:
  // A pointer to no filter.
  Snapshot() = default;
  explicit Snapshot(std::shared_ptr<const detail::Generation<F>> generation)
      : generation_(std::move(generation)) {}

  // True if there is a filter.
  explicit operator bool() const noexcept { return generation_ != nullptr; }
  // The filter; for Live<AnyFilter>, the filter in the AnyFilter. Must not be called without a
  // filter.
  const detail::Asked<F>& operator*() const noexcept {
    return detail::AskedOf(generation_->filter);
  }
  const detail::Asked<F>* operator->() const noexcept { return &**this; }

  // Number of the generation, counted from 1; 0 without a filter.
  uint64_t generation() const noexcept { return generation_ ? generation_->number : 0; }
  // Age of the filter, see Live::Publish; 0 without a filter.
  std::chrono::nanoseconds age() const {
    if (!generation_) return {};
    return detail::AgeOf(generation_->as_of, generation_->clock);
  }

 private:
  std::shared_ptr<const detail::Generation<F>> generation_;
};

template <typename Key, typename Value, typename F, typename Hash>
class CacheGuard;

// Options of a Live.
struct LiveOptions {
  LiveClock clock = {};  // empty: std::chrono::steady_clock
  // If F is ConcurrentlyChangeable: the hash of the first filter. Each further filter must have the
  // hash of the filter before it.
  HashSpec hash = {};
};

// Holds the current filter and replaces it. Any number of threads read it, at the cost of copying
// one pointer per batch. A new filter is built separately and replaces the old one in one step. The
// old filter is freed when its last reader drops it. All functions are thread-safe.
//
// F is any filter that can be moved, or AnyFilter. A replacement is one step for all threads: after
// any thread has read a generation, no thread reads an earlier one.
//
// If F is ConcurrentlyChangeable, keys can be inserted at any time. If F is ConcurrentlyErasable,
// they can also be erased. Rebuild records these changes. It loses no change if callers follow
// these rules:
// - To insert a key, first write it to the data that the source reads, and then call Insert.
// - To erase a key, first call Erase, and then remove the key from that data.
// - Or make both changes within one ChangeScope, in any order.
template <typename F>
class Live {
 public:
  class ChangeScope;

  // Throws Error(kInvalidArgument) for an invalid hash.
  explicit Live(LiveOptions options = {}) : options_(std::move(options)) {
    HashKeys({}, options_.hash, {});
  }
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;
  // Waits for a rebuild that is still running because a callback of the rebuild destroyed its
  // RebuildJob.
  ~Live() { state_.AwaitRebuild(); }

  // Returns the current filter, or an empty snapshot before the first filter. Copies a pointer
  // under a lock that few other readers use.
  Snapshot<F> Read() const { return Snapshot<F>(current_.Get()); }

  // Replaces the filter. `age` is the time that has passed since the filter was complete.
  // Snapshot::age() includes it. Returns the generation of the filter. Throws
  // Error(kInvalidArgument) for a negative age or a moved-from filter, Error(kBusy) while a rebuild
  // is running, and std::bad_alloc. After an exception, the old filter stays in place.
  //
  // Does not apply changes of the old filter to the new one. Rebuild applies the changes that are
  // made during the rebuild.
  uint64_t Publish(F filter, std::chrono::nanoseconds age = {});

  // Builds a new filter from `source` on the calling thread, and publishes it. Returns the
  // generation of the filter. The age of the filter counts from the start of the rebuild.
  //
  // Keys inserted during the rebuild go into the old filter, and are recorded. Before the new
  // filter is published, the recorded keys are inserted into it. While the last of them are
  // inserted, calls of Insert wait. Keys erased during the rebuild are erased from the old filter.
  // They are erased from the new filter only if
  // - the source opens a snapshot, and
  // - the ChangeScope of the erasure was opened after the snapshot. (Live::Erase opens its own
  //   scope.)
  //
  // Under these conditions, the source certainly had the key. Erasing a key that the new filter
  // never had would remove the fingerprint of another key. If a key is not erased from the new
  // filter, it stays there until the next rebuild. It takes up room, and the filter answers "maybe"
  // for it.
  //
  // If F is ConcurrentlyChangeable, the new filter must have the hash of the old one, or
  // LiveOptions::hash if it is the first.
  //
  // Must not be called within a ChangeScope of the same thread, because it would wait for that
  // scope. Throws
  // - Error(kBusy) if a rebuild is already running;
  // - Error(kInvalidArgument) for options out of range, for a moved-from filter, or if the new
  //   filter has no room for the recorded keys;
  // - Error(kIncompatible) for another hash;
  // - Error(kOutOfMemory) for more changes than RebuildOptions::max_recorded or memory allow;
  // - Error(kCancelled) if `stop` is requested;
  // - any exception of the source.
  //
  // After an exception the old filter keeps serving, and no change is lost. status() reports every
  // failure except kBusy.
  uint64_t Rebuild(const RebuildSource<F>& source, const RebuildOptions& options = {},
                   const std::stop_token& stop = {}) {
    return Run(source, options, stop, detail::RebuildTurn(state_));
  }

  // Runs Rebuild on a new thread. Throws Error(kBusy); RebuildJob::Wait throws all other errors.
  RebuildJob StartRebuild(RebuildSource<F> source, RebuildOptions options = {}) {
    auto run = [this, source = std::move(source), options = std::move(options),
                turn = detail::RebuildTurn(state_)](const std::stop_token& stop) mutable {
      return Run(source, options, stop, std::move(turn));
    };
    return RebuildJob(std::packaged_task<uint64_t(std::stop_token)>(std::move(run)));
  }

  // Opens a scope for two changes that belong together: a change of the filter, and a change of the
  // data that rebuilds read, such as a database. If the scope is open from before the first change
  // until the second change is committed, a rebuild sees both changes or neither. A rebuild waits
  // for scopes that are open when it begins, so keep them short.
  [[nodiscard]] ChangeScope BeginChange() requires ConcurrentlyChangeable<F> {
    return ChangeScope(*this);
  }

  // Insert keys into the current filter, or erase them. Return the number of keys inserted or
  // erased; 0 before the first filter. Nulls are ignored.
  size_t Insert(const Keys& keys) requires ConcurrentlyChangeable<F> {
    return BeginChange().Insert(keys);
  }
  // Keys that were never inserted must not be erased: see ErasableFilter.
  size_t Erase(const Keys& keys) requires ConcurrentlyErasable<F> {
    return BeginChange().Erase(keys);
  }

  LiveStatus status() const {
    LiveStatus status = state_.status();
    const Snapshot<F> snapshot = Read();
    status.generation = snapshot.generation();
    status.age = snapshot.age();
    status.recorded = log_.recorded();
    status.skipped_erases = log_.skipped_erases();
    return status;
  }

  // Reports in status() that an attempt to build a filter failed, for code that does not use
  // Rebuild.
  void NoteFailure(const std::exception_ptr& exception) noexcept { state_.NoteFailure(exception); }

 private:
  template <typename Key, typename Value, typename G, typename Hash>
  friend class CacheGuard;
  using Generation = detail::Generation<F>;

  uint64_t Run(const RebuildSource<F>& source, const RebuildOptions& options,
               const std::stop_token& stop, detail::RebuildTurn turn);
  uint64_t BuildAndPublish(const RebuildSource<F>& source, const RebuildOptions& options,
                           const std::stop_token& stop);
  // Only one thread at a time may call this: a publisher or the rebuild. Sets `old` to the filter
  // that was replaced.
  uint64_t PutInPlace(F filter, std::chrono::steady_clock::time_point as_of,
                      std::shared_ptr<Generation>& old);

  HashSpec HashOfChanges(const Generation* present) const {
    return present != nullptr ? HashSpec(present->filter.hash()) : options_.hash;
  }

  const LiveOptions options_;
  detail::LiveState state_;
  detail::ChangeLog log_;
  detail::EraseTally erasures_;
  std::atomic<uint64_t> may_erase_ = 0;  // number of open scopes, except those of guards
  detail::StripedPointer<Generation> current_;
};

// See Live::BeginChange. Must not outlive the Live.
template <typename F>
class [[nodiscard]] Live<F>::ChangeScope {
 public:
  ChangeScope(const ChangeScope&) = delete;
  ChangeScope& operator=(const ChangeScope&) = delete;
  ~ChangeScope() {
    if (may_erase_) --live_.may_erase_;
    live_.log_.CloseScope(epoch_);
  }

  // See the functions of Live.
  size_t Insert(const Keys& keys);
  size_t Erase(const Keys& keys) requires ConcurrentlyErasable<F> {
    const detail::ChangeLog::Passage passage(live_.log_);
    const auto present = live_.current_.Get();
    if (!present) return 0;
    live_.erasures_.Add(keys, present->filter.hash());
    if (!passage.recording()) return present->filter.Erase(keys);
    size_t erased = 0;
    detail::ForEachKey(keys, present->filter.hash(), [&](const Keys& key, uint64_t hash) {
      erased += live_.log_.EraseInOrder(hash, epoch_, [&] { return present->filter.Erase(key); });
    });
    return erased;
  }

 private:
  friend class Live;
  template <typename Key, typename Value, typename G, typename Hash>
  friend class CacheGuard;

  // Erases keys that this scope inserted while `generation` was current. Does nothing if another
  // generation is current, or if a rebuild is running, because the filter of the rebuild may have
  // the keys too.
  void TakeBack(const Keys& keys, uint64_t generation) requires ConcurrentlyErasable<F> {
    const detail::ChangeLog::Passage passage(live_.log_);
    const auto present = live_.current_.Get();
    if (!present || present->number != generation || passage.recording()) return;
    present->filter.Erase(keys);
  }

  explicit ChangeScope(Live& live, bool may_erase = true)
      : live_(live), may_erase_(may_erase), epoch_(live.log_.OpenScope()) {
    if (may_erase_) ++live_.may_erase_;
  }

  Live& live_;
  const bool may_erase_;
  const uint64_t epoch_;
};

template <typename F>
size_t Live<F>::ChangeScope::Insert(const Keys& keys) {
  const detail::ChangeLog::Passage passage(live_.log_);
  const auto present = live_.current_.Get();
  const auto insert = [&](const Keys& some) -> size_t {
    return present ? present->filter.Insert(some) : 0;
  };
  if (!passage.recording()) return insert(keys);
  const HashSpec hash_of = live_.HashOfChanges(present.get());
  size_t inserted = 0;
  if constexpr (ConcurrentlyErasable<F>) {
    detail::ForEachKey(keys, hash_of, [&](const Keys& key, uint64_t hash) {
      inserted += live_.log_.InsertInOrder(hash, keys.key_type(), [&] { return insert(key); });
    });
  } else {  // in any order, because inserted keys stay
    inserted = insert(keys);
    live_.log_.RecordInserts(keys, hash_of);
  }
  return inserted;
}

template <typename F>
uint64_t Live<F>::Publish(F filter, std::chrono::nanoseconds age) {
  std::shared_ptr<Generation> old;  // freed after the locks are released
  const auto publishing = state_.LockForPublication();
  if (age.count() < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                detail::StrCat("the age of a filter is ", age.count(), " ns; allowed: at least 0"));
  }
  detail::RequireServable(filter);
  const auto as_of = detail::TimeOf(options_.clock) - age;
  const detail::ClosedGate no_changes(log_);
  const uint64_t number = PutInPlace(std::move(filter), as_of, old);
  state_.NoteSuccess();
  return number;
}

template <typename F>
uint64_t Live<F>::PutInPlace(F filter, std::chrono::steady_clock::time_point as_of,
                             std::shared_ptr<Generation>& old) {
  const uint64_t number = Read().generation() + 1;
  old = current_.Exchange(
      std::make_shared<Generation>(std::move(filter), number, as_of, options_.clock));
  return number;
}

template <typename F>
uint64_t Live<F>::Run(const RebuildSource<F>& source, const RebuildOptions& options,
                      const std::stop_token& stop, detail::RebuildTurn turn) {
  const detail::RebuildTurn running(std::move(turn));  // ends after the rebuild's cleanup
  try {
    const uint64_t number = BuildAndPublish(source, options, stop);
    state_.NoteSuccess();
    return number;
  } catch (...) {
    state_.NoteFailure(std::current_exception());
    throw;
  }
}

template <typename F>
uint64_t Live<F>::BuildAndPublish(const RebuildSource<F>& source, const RebuildOptions& options,
                                  const std::stop_token& stop) {
  if (!source.build) {
    throw Error(ErrorCode::kInvalidArgument, "the source of the rebuild has no function `build`");
  }
  if (options.max_recorded == 0) {
    throw Error(ErrorCode::kInvalidArgument, "max_recorded is 0; allowed: at least 1");
  }
  std::shared_ptr<Generation> old;  // freed when recording has ended and the gate is open
  const detail::Recording recording(log_, options.max_recorded);
  RebuildContext context(state_, options, stop, [this] { log_.RequireWhole(); });
  log_.AwaitEarlierScopes(stop);
  context.RequireWanted();
  const auto as_of = detail::TimeOf(options_.clock);
  if (source.open_snapshot) {
    source.open_snapshot();
    log_.SnapshotIsOpen();
  }
  F next = source.build(context);
  detail::RequireServable(next);
  if constexpr (ConcurrentlyChangeable<F>) {
    if (HashSpec(next.hash()) != HashOfChanges(current_.Get().get())) {
      throw Error(ErrorCode::kIncompatible,
                  "the hash of the rebuilt filter differs from the hash of the recorded changes");
    }
    detail::ReplayUntilFew(log_, next);
  }
  context.RequireWanted();
  const detail::ClosedGate no_changes(log_);
  if constexpr (ConcurrentlyChangeable<F>) detail::ReplayRecorded(log_, next);
  return PutInPlace(std::move(next), as_of, old);
}

}  // namespace tamis

#endif  // TAMIS_LIVE_LIVE_H_
