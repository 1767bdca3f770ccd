// A filter that is replaced while threads ask it and change it.
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

// A reader's pointer to the filter of the moment at which it was taken. It does not see keys that
// are inserted into later filters. Take one for a batch of work, and drop it then: the filter is
// freed by the thread that drops the last pointer to it.
template <typename F>
class Snapshot {
 public:
  // A pointer to no filter.
  Snapshot() = default;
  explicit Snapshot(std::shared_ptr<const detail::Generation<F>> generation)
      : generation_(std::move(generation)) {}

  explicit operator bool() const noexcept { return generation_ != nullptr; }
  // The filter; of Live<AnyFilter> that in the AnyFilter. Not of none.
  const detail::Asked<F>& operator*() const noexcept {
    return detail::AskedOf(generation_->filter);
  }
  const detail::Asked<F>* operator->() const noexcept { return &**this; }

  // Which it is, counted from 1; 0 if there is none.
  uint64_t generation() const noexcept { return generation_ ? generation_->number : 0; }
  // See Live::Publish; 0 if there is none.
  std::chrono::nanoseconds age() const {
    if (!generation_) return {};
    return detail::AgeOf(generation_->as_of, generation_->clock);
  }

 private:
  std::shared_ptr<const detail::Generation<F>> generation_;
};

template <typename Key, typename Value, typename F, typename Hash>
class CacheGuard;

struct LiveOptions {
  LiveClock clock = {};  // empty: std::chrono::steady_clock
  // Of a ConcurrentlyChangeable filter: the hash of the first one. The following ones have that of
  // the one before.
  HashSpec hash = {};
};

// The filter of the moment. Any number of threads read it, at the cost of a pointer for each batch;
// a new one is made aside and put in place whole, and the old one is freed when its last reader has
// let go of it. All functions are thread-safe.
//
// F is any filter that can be moved, or AnyFilter. Replacing it is one step for all threads: once
// any of them has read a generation, none reads an earlier one.
//
// If F is ConcurrentlyChangeable, keys can be inserted meanwhile, and erased if it is
// ConcurrentlyErasable. None is lost by Rebuild, which records them, if
// - a key is in what the source reads before Insert is called, or both are done within one
//   ChangeScope, in any order;
// - Erase is called before the source loses the key, or both are done within one ChangeScope.
template <typename F>
class Live {
 public:
  class ChangeScope;

  // Throws Error(kInvalidArgument) for a hash that there is none of.
  explicit Live(LiveOptions options = {}) : options_(std::move(options)) {
    HashKeys({}, options_.hash, {});
  }
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;
  // Waits for the end of a rebuild that is still running: one whose RebuildJob was destroyed by a
  // callback of its own.
  ~Live() { state_.AwaitRebuild(); }

  // The filter of the moment, or none before the first. Locks for as long as it takes to copy a
  // pointer, which few other readers wait for.
  Snapshot<F> Read() const { return Snapshot<F>(current_.Get()); }

  // Puts a filter in place. `age` is how long ago its maker knew all keys, as age() counts on from
  // there. Returns its generation. Throws Error(kInvalidArgument) for a negative age and for a
  // filter that was moved from, Error(kBusy) while a rebuild is running, and std::bad_alloc, with
  // the old one left in place.
  //
  // Changes of the filter that it replaces are not carried over: for that there is Rebuild.
  uint64_t Publish(F filter, std::chrono::nanoseconds age = {});

  // Makes a new filter of `source` on the calling thread, and publishes it. Returns its generation.
  // Its age counts from the beginning of the rebuild.
  //
  // What is inserted meanwhile goes into the old filter, and is recorded and inserted into the new
  // one before that is published; Insert waits for the last of this. What is erased meanwhile goes
  // from the old one. From the new one it goes only if the source opens a snapshot, and only if its
  // ChangeScope was opened after that (an Erase without one is one): only then the source is known
  // to have had the key, and to erase a key that a filter never had takes out another one. Else it
  // stays in the new filter, which answers "maybe" for it until the next rebuild, and needs room
  // for it.
  //
  // The new filter must have the hash of the old one, or LiveOptions::hash if there is none, if F
  // is ConcurrentlyChangeable.
  //
  // Throws Error(kBusy) if a rebuild is running already, Error(kInvalidArgument) for options out of
  // range, a filter that was moved from or keys that find no room in the new one,
  // Error(kIncompatible) for another hash, Error(kOutOfMemory) for more changes than may be
  // recorded, Error(kCancelled) if `stop` is requested, and whatever the source does. Then the old
  // filter goes on serving, nothing is lost, and status() says so. Must not be called within a
  // ChangeScope of the same thread, which it would wait for.
  uint64_t Rebuild(const RebuildSource<F>& source, const RebuildOptions& options = {},
                   const std::stop_token& stop = {}) {
    return Run(source, options, stop, detail::RebuildTurn(state_));
  }

  // The same on a thread of its own. Error(kBusy) is thrown here, the rest by RebuildJob::Wait.
  RebuildJob StartRebuild(RebuildSource<F> source, RebuildOptions options = {}) {
    auto run = [this, source = std::move(source), options = std::move(options),
                turn = detail::RebuildTurn(state_)](const std::stop_token& stop) mutable {
      return Run(source, options, stop, std::move(turn));
    };
    return RebuildJob(std::packaged_task<uint64_t(std::stop_token)>(std::move(run)));
  }

  // A change of the filter and of what rebuilds read, such as a database: a rebuild sees both or
  // neither, if one is held from before the first to after the second, the commit. A rebuild waits
  // for those that are open when it begins, so they should be short.
  [[nodiscard]] ChangeScope BeginChange() requires ConcurrentlyChangeable<F> {
    return ChangeScope(*this);
  }

  // Insert keys into the filter of the moment, or erase them. Return for how many that did it; 0 if
  // there is no filter yet. Nulls are no keys.
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

  // For those who make filters in ways of their own: makes status() say that one came to nothing.
  void NoteFailure(const std::exception_ptr& exception) noexcept { state_.NoteFailure(exception); }

 private:
  template <typename Key, typename Value, typename G, typename Hash>
  friend class CacheGuard;
  using Generation = detail::Generation<F>;

  uint64_t Run(const RebuildSource<F>& source, const RebuildOptions& options,
               const std::stop_token& stop, detail::RebuildTurn turn);
  uint64_t BuildAndPublish(const RebuildSource<F>& source, const RebuildOptions& options,
                           const std::stop_token& stop);
  // By one thread at a time: who publishes, or the rebuild. `old` becomes the one that is replaced.
  uint64_t PutInPlace(F filter, std::chrono::steady_clock::time_point as_of,
                      std::shared_ptr<Generation>& old);

  HashSpec HashOfChanges(const Generation* present) const {
    return present != nullptr ? HashSpec(present->filter.hash()) : options_.hash;
  }

  const LiveOptions options_;
  detail::LiveState state_;
  detail::ChangeLog log_;
  detail::EraseTally erasures_;
  std::atomic<uint64_t> may_erase_ = 0;  // scopes that are open, without those of guards
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

  // As those of Live.
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

  // Erases keys that this scope inserted when `generation` was the filter of the moment. Does
  // nothing if it is not any more, or if a rebuild is running, whose filter may have them too.
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
  } else {  // in whatever order: what is inserted stays
    inserted = insert(keys);
    live_.log_.RecordInserts(keys, hash_of);
  }
  return inserted;
}

template <typename F>
uint64_t Live<F>::Publish(F filter, std::chrono::nanoseconds age) {
  std::shared_ptr<Generation> old;  // goes after the locks
  const auto publishing = state_.LockForPublication();
  if (age.count() < 0) {
    throw Error(ErrorCode::kInvalidArgument, detail::StrCat("the age of a filter is ", age.count(),
                                                            " ns, and cannot be negative"));
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
  const detail::RebuildTurn running(std::move(turn));  // until all that it does has ended
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
  std::shared_ptr<Generation> old;  // goes when changes are recorded no more, nor wait
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
                  "the rebuilt filter has another hash than the changes that were recorded for it");
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
