// A filter in front of a cache and a database. It keeps requests for keys that do not exist away
// from both.
#ifndef TAMIS_LIVE_GUARD_H_
#define TAMIS_LIVE_GUARD_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/key_types.h"
#include "tamis/key_types_text.h"
#include "tamis/keys.h"
#include "tamis/live/changeable.h"
#include "tamis/live/detail/failed_commits.h"
#include "tamis/live/detail/guard_counters.h"
#include "tamis/live/detail/guard_shard.h"
#include "tamis/live/guard_stats.h"
#include "tamis/live/live.h"
#include "tamis/table_hash.h"

namespace tamis {

// Options of a CacheGuard.
struct GuardOptions {
  // Maximum age of a filter. An older filter is not used: all keys pass, as without a filter.
  std::chrono::nanoseconds max_age = std::chrono::nanoseconds::max();
  // How long a database miss is cached. `max_negatives` is the largest number of keys with cached
  // misses. If one of these options is 0, misses are not cached. If a key is inserted into the
  // database without Insert, Get may not find the key until `negative_ttl` has passed.
  std::chrono::nanoseconds negative_ttl = std::chrono::seconds(30);
  size_t max_negatives = 1 << 16;  // see `negative_ttl`
  LiveClock clock = {};            // for both times; empty: std::chrono::steady_clock
};

// Base class for exceptions of `load` that concern one call and not the database, such as an
// interrupt by the user. Only that call throws the exception. Other calls that wait for this load
// try again, and the first of them loads the key.
struct LoadInterrupted {};

namespace detail {

struct WaitsQuietly {
  void operator()() const noexcept {}
};

}  // namespace detail

// Gets values by their keys.
// - If the filter answers "no", there is no value. Neither the cache nor the database is queried.
// - If the filter answers "maybe", the guard queries the cache, then the database, and fills the
//   cache. A database miss is cached for a short time, so that repeated queries of a false positive
//   reach the database only once in that time.
// - If no filter is usable, the guard treats every key as "maybe". A missing filter never counts as
//   an empty filter. A filter is missing until the first filter is published, for example while its
//   file does not exist, is damaged or is being loaded. A filter is not usable if it is older than
//   max_age, or if it has only keys of another type, such as numbers when strings are queried
//   (key_types()).
//
// If several calls need the same key from the database at the same time, one call loads it. The
// other calls share its value or its exception, unless that is a LoadInterrupted. The next call
// after an exception tries again.
//
// Key is a type that F::Contains accepts: an integer of 64 or 32 bits or a std::string. Value must
// be copyable. All functions are thread-safe if the functions of the cache and the database are.
template <typename Key, typename Value, typename F, typename Hash = TableHash>
class CacheGuard {
 public:
  // The value of a key, or nothing if the database lacks the key.
  using Found = std::optional<Value>;

  // The Live must outlive the guard. Throws Error(kInvalidArgument) for negative times.
  explicit CacheGuard(Live<F>& live, GuardOptions options = {})
      : live_(live), options_(std::move(options)) {
    if (options_.max_age.count() < 0 || options_.negative_ttl.count() < 0) {
      throw Error(ErrorCode::kInvalidArgument, "max_age and negative_ttl must not be negative");
    }
    for (size_t i = 0; i < kShards; ++i) {
      const bool one_more = i < options_.max_negatives % kShards;
      shards_[i].Configure(options_.max_negatives / kShards + one_more, options_.negative_ttl,
                           options_.clock);
    }
  }
  CacheGuard(const CacheGuard&) = delete;
  CacheGuard& operator=(const CacheGuard&) = delete;

  // Returns the value of a key, or nothing if it does not exist. `cache` has Found Get(const Key&)
  // and void Put(const Key&, const Value&). Their exceptions are counted, and the key then counts
  // as not cached. `load`, a Found(const Key&), queries the database and may throw anything.
  // The cache and `load` must not call the guard. `wait`, a void(), is called every 50 ms while
  // this call waits for the load of another call. An exception from `wait` ends this call, but not
  // the load.
  template <typename Cache, typename Load, typename Wait = detail::WaitsQuietly>
  Found Get(const Key& key, Cache& cache, const Load& load, const Wait& wait = {}) {
    Trust trust = Trust::kNone;
    {  // the snapshot keeps its filter in memory, so it ends before the database is queried
      const Snapshot<F> snapshot = live_.Read();
      trust = TrustIn(snapshot);
      if (trust == Trust::kKnown && !snapshot->Contains(key)) {
        counters_.Add(&GuardStats::blocked);
        return {};
      }
    }
    const auto get = [&](std::span<const Key> keys) {
      return std::vector<Found>{cache.Get(keys[0])};
    };
    const auto put = [&](std::span<const std::pair<Key, Value>> loaded) {
      cache.Put(loaded[0].first, loaded[0].second);
    };
    const auto load_keys = [&](std::span<const Key> keys) {
      return std::vector<Found>{load(keys[0])};
    };
    return std::move(Fetch(std::span(&key, 1), trust, get, put, load_keys, wait)[0]);
  }

  // Returns the values of many keys, in the order of `keys`. `cache` has std::vector<Found>
  // Get(std::span<const Key>) and void Put(std::span<const std::pair<Key, Value>>). `load` is a
  // std::vector<Found>(std::span<const Key>). Each is called at most once, with the keys that have
  // no answer yet. If the load of another call ended by LoadInterrupted, `load` and Put are called
  // again for the keys of that load. An exception from `load` ends the call without values. `wait`
  // is called as in Get.
  template <typename Cache, typename Load, typename Wait = detail::WaitsQuietly>
  std::vector<Found> GetMany(std::span<const Key> keys, Cache& cache, const Load& load,
                             const Wait& wait = {}) {
    Trust trust = Trust::kNone;
    std::vector<size_t> passed;
    std::vector<Key> left;
    std::vector<uint64_t> maybe(BitmapWords(keys.size()), ~uint64_t{0});
    {
      const Snapshot<F> snapshot = live_.Read();
      trust = TrustIn(snapshot);
      if (trust == Trust::kKnown) snapshot->Contains(Keys(keys), Bitmap(maybe));
    }
    for (size_t i = 0; i < keys.size(); ++i) {
      if (!Bitmap(maybe).Test(i)) continue;
      passed.push_back(i);
      left.push_back(keys[i]);
    }
    counters_.Add(&GuardStats::blocked, keys.size() - passed.size());
    std::vector<Found> found(keys.size());
    if (passed.empty()) return found;
    const auto get = [&](std::span<const Key> some) { return cache.Get(some); };
    const auto put = [&](std::span<const std::pair<Key, Value>> loaded) { cache.Put(loaded); };
    std::vector<Found> values = Fetch(left, trust, get, put, load, wait);
    for (size_t i = 0; i < passed.size(); ++i) found[passed[i]] = std::move(values[i]);
    return found;
  }

  // Inserts keys into the filter, then calls `commit`, and returns the result of `commit`. `commit`
  // must insert the keys into the database before it returns. A rebuild that is running also
  // inserts the keys into its filter. After this function has returned or thrown, no filter and no
  // cached miss hides these keys if the database has them.
  //
  // The caller must remove values of these keys from the cache. This includes values that a load
  // stores later, if the load began before the commit.
  //
  // Throws, without calling `commit`,
  // - Error(kInvalidArgument) if the filter is full,
  // - Error(kIncompatible) if the filter has only keys of another type.
  //
  // Also throws any exception of `commit`. The keys then stay in the filter until the next rebuild,
  // because the database may still have inserted them. If the commit of a key fails repeatedly, an
  // erasable filter keeps only one copy of the key. Therefore do not erase a key while another row
  // of the database has the same key. Check untrusted input before Insert: keys that the database
  // rejects fill the filter.
  template <typename Commit>
  auto Insert(std::span<const Key> keys, const Commit& commit) requires ConcurrentlyChangeable<F> {
    typename Live<F>::ChangeScope change(live_, /*may_erase=*/false);
    uint64_t generation = 0;         // 0: none
    std::vector<uint32_t> erasures;  // see EraseTally
    {
      const Snapshot<F> snapshot = live_.Read();
      generation = snapshot.generation();
      if (snapshot && !AdmitsKeys(snapshot))
        throw Error(ErrorCode::kIncompatible, OtherType(snapshot));
      if constexpr (ConcurrentlyErasable<F>) {
        if (snapshot) erasures = live_.erasures_.Of(Keys(keys), snapshot->hash());
      }
    }
    const size_t inserted = change.Insert(Keys(keys));
    // A query of the filter would not be enough: the filter may contain an equal fingerprint of
    // another key, which may be erased.
    if (generation != 0 && inserted != keys.size()) {
      throw Error(ErrorCode::kInvalidArgument, "the filter has no room for a key of this call");
    }
    const FenceAtEnd fence(*this, keys);  // even if commit() throws, because it may have committed
    const CopiesAtEnd copies{*this, keys, erasures, generation, change};
    return commit();
  }
  template <typename Commit>
  auto Insert(const Key& key, const Commit& commit) requires ConcurrentlyChangeable<F> {
    return Insert(std::span(&key, 1), commit);
  }

  // Forgets that the key was missing. Call this after the key was inserted into the database and
  // the filter without Insert.
  void Forget(const Key& key) noexcept { ShardOf(key).Fence(key); }

  GuardStats stats() {
    GuardStats stats;
    counters_.AddTo(stats);
    for (Shard& shard : shards_) stats.negatives += shard.negatives();
    const Snapshot<F> snapshot = live_.Read();
    stats.failure = WhyUnknown(snapshot);
    stats.known = !stats.failure;
    stats.generation = snapshot.generation();
    stats.age = snapshot.age();
    return stats;
  }

 private:
  using Shard = detail::GuardShard<Key, Value, Hash>;

  // A flight, and the index in the batch of the key that waits for this flight.
  struct Passenger {
    size_t index;
    typename Shard::FlightPointer flight;
  };

  struct FenceAtEnd {
    FenceAtEnd(CacheGuard& its_guard, std::span<const Key> its_keys)
        : guard(its_guard), keys(its_keys) {}
    FenceAtEnd(const FenceAtEnd&) = delete;
    FenceAtEnd& operator=(const FenceAtEnd&) = delete;
    ~FenceAtEnd() {
      for (const Key& key : keys) guard.Forget(key);
    }

    CacheGuard& guard;
    std::span<const Key> keys;
  };

  struct CopiesAtEnd {
    ~CopiesAtEnd() {
      if constexpr (ConcurrentlyErasable<F>) {
        guard.NoteCopies(keys, erasures, generation, change,
                         std::uncaught_exceptions() > exceptions);
      }
    }

    CacheGuard& guard;
    std::span<const Key> keys;
    std::span<const uint32_t> erasures;
    uint64_t generation;
    typename Live<F>::ChangeScope& change;
    int exceptions = std::uncaught_exceptions();
  };

  static constexpr size_t kShards = 16;

  // Whether the filter is queried, and if not, the reason.
  enum class Trust : uint8_t { kNone, kTooOld, kOtherType, kKnown };

  Trust TrustIn(const Snapshot<F>& snapshot) const {
    if (!snapshot) return Trust::kNone;
    if (snapshot.age() > options_.max_age) return Trust::kTooOld;
    return AdmitsKeys(snapshot) ? Trust::kKnown : Trust::kOtherType;
  }

  std::optional<Failure> WhyUnknown(const Snapshot<F>& snapshot) const {
    switch (TrustIn(snapshot)) {
      case Trust::kNone:
        return Failure{"no filter has been published", {}};
      case Trust::kTooOld:
        return Failure{"the filter is older than max_age", {}};
      case Trust::kOtherType:
        return Failure{OtherType(snapshot), ErrorCode::kIncompatible};
      case Trust::kKnown:
        break;
    }
    return {};
  }

  // Returns true if the filter has no function key_types().
  static bool AdmitsKeys(const Snapshot<F>& snapshot) {
    if constexpr (requires { snapshot->key_types(); }) return snapshot->key_types().Admit(Form());
    return true;
  }
  static KeyType Form() { return Keys(std::span<const Key>()).key_type(); }
  static std::string OtherType(const Snapshot<F>& snapshot) {
    if constexpr (requires { snapshot->key_types(); }) {
      return "the keys of the filter are " + KeyTypesText(snapshot->key_types()) +
             ", but the keys of the guard are " + KeyTypesText(Form()) +
             ": the filter would answer \"no\" to all; publish a filter whose keys are " +
             KeyTypesText(Form());
    }
    return {};
  }

  Shard& ShardOf(const Key& key) noexcept {
    // Fibonacci hashing, because a Hash of the caller may not use the high bits.
    return shards_[(uint64_t{Hash()(key)} * 0x9E3779B97F4A7C15) >> 60];
  }

  // Counts copies of keys after `commit` has ended. `erasures` are the counters before the
  // insertion.
  void NoteCopies(std::span<const Key> keys, std::span<const uint32_t> erasures,
                  uint64_t generation, typename Live<F>::ChangeScope& change,
                  bool failed) noexcept requires ConcurrentlyErasable<F> {
    if (generation == 0 || (!failed && failed_commits_.empty())) return;
    try {
      const Snapshot<F> snapshot = live_.Read();
      if (snapshot.generation() != generation) return;
      // The database may already lack a key that is still to be erased from the filter.
      const bool may_be_erased = live_.may_erase_ != 0;
      const std::vector<uint32_t> now = live_.erasures_.Of(Keys(keys), snapshot->hash());
      if (!failed) return failed_commits_.Succeeded(keys, erasures, now, generation);
      const std::vector<Key> surplus = failed_commits_.Failed(keys, erasures, now, generation);
      if (surplus.empty() || may_be_erased) return;
      change.TakeBack(Keys(surplus), generation);
      // Another thread that erased a copy of a key at the same time may have erased the last one.
      if (live_.erasures_.Of(Keys(keys), snapshot->hash()) != now) change.Insert(Keys(surplus));
    } catch (...) {  // without memory, the copies stay until the next rebuild
    }
  }

  // Returns the values of keys that have passed the filter.
  template <typename CacheGet, typename CachePut, typename Load, typename Wait>
  std::vector<Found> Fetch(std::span<const Key> keys, Trust trust, const CacheGet& cache_get,
                           const CachePut& cache_put, const Load& load, const Wait& wait) {
    counters_.Add(&GuardStats::passed, keys.size());
    const bool known = trust == Trust::kKnown;
    if (!known) counters_.Add(&GuardStats::unknown, keys.size());
    if (trust == Trust::kOtherType) counters_.Add(&GuardStats::other_type, keys.size());
    std::vector<Found> values = Cached(keys, cache_get);
    std::vector<size_t> left;
    for (size_t i = 0; i < keys.size(); ++i) {
      if (!values[i]) left.push_back(i);
    }
    while (!left.empty()) left = LoadOrShare(keys, left, known, cache_put, load, wait, values);
    return values;
  }

  // Sets the values of the keys at the indices `left`, from loads of this call and of other calls.
  // Returns the indices of keys whose loads by other calls were interrupted.
  template <typename CachePut, typename Load, typename Wait>
  std::vector<size_t> LoadOrShare(std::span<const Key> keys, std::span<const size_t> left,
                                  bool known, const CachePut& cache_put, const Load& load,
                                  const Wait& wait, std::span<Found> values) {
    std::vector<Passenger> mine, others;
    mine.reserve(left.size());
    others.reserve(left.size());
    try {
      for (const size_t i : left) {
        auto boarding = ShardOf(keys[i]).Board(keys[i]);
        if (boarding.flight == nullptr) {
          counters_.Add(&GuardStats::negative_hits);
        } else {
          (boarding.first ? mine : others).push_back({i, std::move(boarding.flight)});
        }
      }
      if (!mine.empty()) LoadMine(keys, known, mine, cache_put, load, values);
    } catch (...) {
      counters_.Add(&GuardStats::load_failures, mine.size());
      const bool interrupted = IsInterrupted(std::current_exception());
      for (const Passenger& passenger : mine) {
        if (interrupted) passenger.flight->interrupted = true;
        Land(keys[passenger.index], passenger.flight, /*lacking=*/false);
        try {
          passenger.flight->landing.set_exception(std::current_exception());
        } catch (const std::future_error&) {  // the flight has already landed
        }
      }
      throw;
    }
    // Waits only after the flights of this call have landed. Otherwise two batches could wait for
    // each other.
    std::vector<size_t> interrupted;
    for (const Passenger& passenger : others) {
      Await(passenger.flight->result, wait);
      if (passenger.flight->interrupted) {
        interrupted.push_back(passenger.index);
        continue;
      }
      counters_.Add(&GuardStats::coalesced);
      values[passenger.index] = passenger.flight->result.get();
    }
    return interrupted;
  }

  static bool IsInterrupted(const std::exception_ptr& exception) {
    try {
      std::rethrow_exception(exception);
    } catch (const LoadInterrupted&) {
      return true;
    } catch (...) {
      return false;
    }
  }

  template <typename Wait>
  static void Await(const std::shared_future<Found>& result, const Wait& wait) {
    if constexpr (std::is_same_v<Wait, detail::WaitsQuietly>) {
      result.wait();
    } else {
      constexpr auto kPause = std::chrono::milliseconds(50);
      while (result.wait_for(kPause) != std::future_status::ready) wait();
    }
  }

  template <typename CacheGet>
  std::vector<Found> Cached(std::span<const Key> keys, const CacheGet& get) {
    try {
      std::vector<Found> values = get(keys);
      if (values.size() != keys.size()) {  // the keys of the values are unknown
        counters_.Add(&GuardStats::cache_failures);
        return std::vector<Found>(keys.size());
      }
      for (const Found& value : values) counters_.Add(&GuardStats::cache_hits, value.has_value());
      return values;
    } catch (...) {
      counters_.Add(&GuardStats::cache_failures);
      return std::vector<Found>(keys.size());
    }
  }

  // Loads the keys of `mine`, and lands their flights. If LoadMine throws, the caller must land the
  // flights.
  template <typename CachePut, typename Load>
  void LoadMine(std::span<const Key> keys, bool known, std::span<const Passenger> mine,
                const CachePut& cache_put, const Load& load, std::span<Found> values) {
    std::vector<Key> asked;
    for (const Passenger& passenger : mine) asked.push_back(keys[passenger.index]);
    counters_.Add(&GuardStats::loads, asked.size());
    std::vector<Found> loaded = load(std::span<const Key>(asked));
    if (loaded.size() != asked.size()) {
      throw Error(ErrorCode::kInvalidArgument,
                  detail::StrCat("`load` was called for ", asked.size(), " keys, and returned ",
                                 loaded.size(), " values"));
    }
    // Fills the cache before the flights land. A call that then finds no flight finds the value in
    // the cache.
    Fill(asked, loaded, cache_put);
    for (size_t i = 0; i < mine.size(); ++i) {
      const bool lacking = !loaded[i].has_value();
      if (lacking && known) counters_.Add(&GuardStats::false_positives);
      values[mine[i].index] = loaded[i];
    }
    for (size_t i = 0; i < mine.size(); ++i) {
      Land(asked[i], mine[i].flight, !loaded[i].has_value());
      mine[i].flight->landing.set_value(std::move(loaded[i]));
    }
  }

  template <typename CachePut>
  void Fill(std::span<const Key> asked, std::span<const Found> loaded, const CachePut& put) {
    try {
      std::vector<std::pair<Key, Value>> found;
      for (size_t i = 0; i < asked.size(); ++i) {
        if (loaded[i]) found.emplace_back(asked[i], *loaded[i]);
      }
      if (!found.empty()) put(std::span<const std::pair<Key, Value>>(found));
    } catch (...) {
      counters_.Add(&GuardStats::cache_failures);
    }
  }

  void Land(const Key& key, const typename Shard::FlightPointer& flight, bool lacking) noexcept {
    ShardOf(key).Land(key, flight, lacking);
  }

  Live<F>& live_;
  const GuardOptions options_;
  detail::GuardCounters counters_;
  std::array<Shard, kShards> shards_;
  detail::FailedCommits<Key, Hash> failed_commits_;
};

}  // namespace tamis

#endif  // TAMIS_LIVE_GUARD_H_
