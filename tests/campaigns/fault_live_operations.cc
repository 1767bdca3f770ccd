// Live filters: publications, rebuilds while keys come and go, watched files, guards, and filters
// that many threads change. A failure leaves the old filter in place, and the next attempt
// succeeds.
#include <array>
#include <memory>
#include <type_traits>
#include <utility>

#include "tamis/filters/split_block_filter.h"
#include "tamis/live/concurrent_bloom.h"
#include "tamis/live/concurrent_cuckoo.h"
#include "tamis/live/guard.h"
#include "tamis/live/live.h"
#include "tamis/live/watch.h"
#include "tests/campaigns/fault_filters.h"
#include "tests/campaigns/fault_operations.h"

namespace tamis::campaigns {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kKeys = 5000;  // more than a block of recorded changes
constexpr uint64_t kRoom = 5 * kKeys;

using Numbers = std::vector<uint64_t>;

template <typename F>
F Make(std::initializer_list<const Numbers*> of) {
  if constexpr (std::is_same_v<F, AnyFilter>) {
    AnyFilter filter = MakeFilter(FilterKind::kSplitBlock, {.capacity = kRoom});
    for (const Numbers* keys : of) RequireChangeable(*filter).Insert(*keys);
    return filter;
  } else {
    F filter({.capacity = kRoom});
    for (const Numbers* keys : of) filter.Insert(*keys);
    return filter;
  }
}

template <typename F>
struct Subject {
  using Filter = F;

  explicit Subject(std::string its_name) : name(std::move(its_name)) {
    source.build = [this](RebuildContext& context) {
      F next = Make<F>({&old_keys, &new_keys, &gone_keys});
      context.Advance(1);
      if constexpr (ConcurrentlyChangeable<F>) {
        live->Insert(late_keys);
        late = true;
      }
      if constexpr (ConcurrentlyErasable<F>) live->Erase(gone_keys);
      context.Advance(1);
      return next;
    };
    if (ConcurrentlyErasable<F>) source.open_snapshot = [] {};
  }

  void Renew() {
    live.emplace();
    live->Publish(Make<F>({&old_keys, &gone_keys}));
    late = false;
  }
  void Clear() {
    job.reset();
    watch.reset();
    live.reset();
    prepared.reset();
  }

  std::string name;
  // During a rebuild, `gone_keys` are erased and `late_keys` are inserted.
  Numbers old_keys = KeysOf(0, kKeys), new_keys = KeysOf(kKeys, kKeys);
  Numbers late_keys = KeysOf(2 * kKeys, kKeys), gone_keys = KeysOf(3 * kKeys, kKeys);
  RebuildSource<F> source;
  std::optional<Live<F>> live;
  std::optional<RebuildJob> job;
  std::optional<Watch<F>> watch;
  std::optional<F> prepared;
  bool late = false;
  size_t result = 0;
};

template <typename F>
using Pointer = std::shared_ptr<Subject<F>>;

template <typename F>
Operation On(const Pointer<F>& s, const std::string& what, std::function<void(Subject<F>&)> run,
             std::function<std::string(Subject<F>&, const Ending&)> check) {
  return {s->name + ": " + what, [s] { s->Renew(); }, [s, run] { run(*s); },
          [s, check](const Ending& ending) { return check(*s, ending); }, [s] { s->Clear(); }};
}

// The current filter has this generation and all required keys.
template <typename F>
std::string CheckServing(Subject<F>& s, uint64_t generation) {
  const Snapshot<F> snapshot = s.live->Read();
  if (snapshot.generation() != generation) {
    return "generation " + std::to_string(snapshot.generation()) + " serves, instead of " +
           std::to_string(generation);
  }
  if (!snapshot) return "";
  if (snapshot->Count(s.old_keys) != kKeys) return "keys of the old state are lost";
  if (generation > 1 && snapshot->Count(s.new_keys) != kKeys) return "keys of the new one are lost";
  if (s.late && snapshot->Count(s.late_keys) != kKeys) return "keys inserted meanwhile are lost";
  return s.live->status().rebuilding ? "a rebuild is still running" : "";
}

// A rebuild without a fault replaces this generation, and does not wait for anything that the
// failed operation left behind.
template <typename F>
std::string CheckRebuild(Subject<F>& s, uint64_t generation) {
  s.late = false;
  RebuildSource<F> whole;
  whole.build = [&s](RebuildContext&) { return Make<F>({&s.old_keys, &s.new_keys, &s.late_keys}); };
  s.live->Rebuild(whole);
  s.late = true;
  if (s.live->status().failure) return "a failure stands after a rebuild";
  return CheckServing(s, generation + 1);
}

template <typename F>
std::string CheckReplaced(Subject<F>& s, const Ending& ending) {
  const uint64_t generation = ending.threw ? 1 : 2;
  if (std::string problem = CheckServing(s, generation); !problem.empty()) return problem;
  return CheckRebuild(s, generation);
}

template <typename F>
std::string CheckRebuilt(Subject<F>& s, const Ending& ending) {
  const LiveStatus status = s.live->status();
  if (status.failures != (ending.threw ? 1 : 0)) return "a failure is not in the status, or is one";
  if (ending.threw && !status.failure) return "the status does not say what happened";
  if constexpr (ConcurrentlyErasable<F>) {
    const uint64_t left = s.live->Read()->inserted_count();
    if (!ending.threw && left != 3 * kKeys) return "keys that were erased meanwhile are in";
  }
  return CheckReplaced(s, ending);
}

template <typename F>
void AddReplacements(const Pointer<F>& subject, std::vector<Operation>& all) {
  Operation publish = On<F>(
      subject, "publish", [](Subject<F>& s) { s.live->Publish(std::move(*s.prepared)); },
      CheckReplaced<F>);
  publish.prepare = [subject] {
    subject->Renew();
    subject->prepared.emplace(Make<F>({&subject->old_keys, &subject->new_keys}));
  };
  all.push_back(publish);
  all.push_back(On<F>(
      subject, "rebuild", [](Subject<F>& s) { s.live->Rebuild(s.source); }, CheckRebuilt<F>));
  all.push_back(On<F>(
      subject, "rebuild by a thread",
      [](Subject<F>& s) {
        s.job.emplace(s.live->StartRebuild(s.source));
        s.job->Wait();
      },
      CheckReplaced<F>));
}

template <typename F>
void AddChanges(const Pointer<F>& subject, std::vector<Operation>& all) {
  all.push_back(On<F>(
      subject, "insert", [](Subject<F>& s) { s.result = s.live->Insert(s.late_keys); },
      [](Subject<F>& s, const Ending& ending) {
        s.late = !ending.threw;
        if (s.late && s.result != kKeys) return std::string("keys were not inserted");
        if (std::string problem = CheckServing(s, 1); !problem.empty()) return problem;
        return CheckRebuild(s, 1);
      }));
  if constexpr (ConcurrentlyErasable<F>) {
    all.push_back(On<F>(
        subject, "erase", [](Subject<F>& s) { s.result = s.live->Erase(s.gone_keys); },
        [](Subject<F>& s, const Ending& ending) {
          if (!ending.threw && s.result != kKeys) return std::string("keys were not erased");
          if (std::string problem = CheckServing(s, 1); !problem.empty()) return problem;
          return CheckRebuild(s, 1);
        }));
  }
}

// ---- Filters that many threads change, without Live ----

// `Plain` is the class of filter that F wraps.
template <typename F, typename Plain>
struct Shared {
  explicit Shared(std::string its_name) : name(std::move(its_name)) {}

  std::string name;
  Numbers old_keys = KeysOf(0, kKeys), new_keys = KeysOf(kKeys, kKeys);
  std::optional<Plain> plain;
  std::optional<F> filter, made;
  size_t result = 0;
};

template <typename F, typename Plain>
void AddShared(const std::string& name, const fs::path& folder, bool files,
               std::vector<Operation>& all) {
  using Alone = Shared<F, Plain>;
  const auto s = std::make_shared<Alone>(name + ", alone");
  const auto path = folder / "shared.tamis";
  const auto prepare = [s, path] {
    s->plain.emplace(Make<Plain>({&s->old_keys}));
    s->filter.emplace(Make<F>({&s->old_keys}));
    if (!path.has_parent_path()) return;
    s->plain->Save(path);
  };
  const auto clear = [s] {
    s->plain.reset();
    s->filter.reset();
    s->made.reset();
  };
  const auto add = [&](const char* what, std::function<void(Alone&)> run,
                       std::function<std::string(Alone&, const Ending&)> check) {
    all.push_back({s->name + ": " + what, prepare, [s, run] { run(*s); },
                   [s, check](const Ending& ending) {
                     if (!HasAll(*s->filter, s->old_keys)) return std::string("keys are lost");
                     return check(*s, ending);
                   },
                   clear});
  };
  const auto check_made = [](Alone& a, const Ending& ending) {
    const bool right = ending.threw || HasAll(*a.made, a.old_keys);
    return std::string(right ? "" : "what it made lacks keys");
  };
  if (files) {
    add(
        "save",
        [path](Alone& a) {
          a.filter->Insert(a.new_keys);
          a.filter->Save(path);
        },
        [path](Alone& a, const Ending& ending) {
          const Plain now = Plain::Load(path);
          const bool right =
              HasAll(now, a.old_keys) && (!ending.saved() || HasAll(now, a.new_keys));
          return std::string(right ? "" : "neither the old nor the new file");
        });
    add(
        "load", [path](Alone& a) { a.made.emplace(F::Load(path)); }, check_made);
    return;
  }
  add(
      "take over", [](Alone& a) { a.made.emplace(std::move(*a.plain)); },
      [check_made](Alone& a, const Ending& ending) {
        const bool lost = ending.threw && (a.plain->moved_from() || !HasAll(*a.plain, a.old_keys));
        return lost ? std::string("the filter is lost") : check_made(a, ending);
      });
  add(
      "snapshot", [](Alone& a) { a.plain.emplace(a.filter->Snapshot()); },
      [](Alone& a, const Ending&) {
        return std::string(HasAll(*a.plain, a.old_keys) ? "" : "the copy lacks keys");
      });
  add(
      "insert", [](Alone& a) { a.result = a.filter->Insert(a.new_keys); },
      [](Alone& a, const Ending& ending) {
        if (!ending.threw && (a.result != kKeys || !HasAll(*a.filter, a.new_keys))) {
          return std::string("keys are missing");
        }
        if (!ending.threw && a.filter->inserted_count() != 2 * kKeys) {
          return std::string("the count is wrong");
        }
        a.filter->Insert(a.new_keys);
        return std::string(HasAll(*a.filter, a.new_keys) ? "" : "keys are missing afterwards");
      });
  if constexpr (requires(F & f, const Plain& other) { f.Merge(other); }) {
    add(
        "merge",
        [](Alone& a) {
          a.plain->Insert(a.new_keys);
          a.filter->Merge(*a.plain);
        },
        [](Alone& a, const Ending& ending) {
          const bool right = ending.threw || HasAll(*a.filter, a.new_keys);
          return std::string(right ? "" : "keys are missing");
        });
  }
}

// ---- Watched files ----

// Throws if the watch refused the file.
template <typename F>
void RequirePublished(Subject<F>& s, uint64_t generation) {
  if (s.live->Read().generation() >= generation) return;
  const std::optional<Failure> failure = s.watch->status().failure;
  if (!failure) throw Error(ErrorCode::kInvalidArgument, "nothing was published, nor refused");
  throw Error(failure->code.value_or(ErrorCode::kIo), failure->text);
}

template <typename F>
void AddWatches(const std::string& name, const fs::path& folder, bool mapped,
                std::vector<Operation>& all) {
  const auto subject = std::make_shared<Subject<F>>(name);
  const auto path = folder / "watched.tamis";
  const auto save = [path](std::initializer_list<const Numbers*> keys) {
    if constexpr (std::is_same_v<F, AnyFilter>) {
      Make<F>(keys)->Save(path);
    } else {
      Make<F>(keys).Save(path);
    }
  };
  WatchOptions<F> options;
  options.interval = std::chrono::hours(1);
  if constexpr (std::is_same_v<F, AnyFilter>) {
    if (mapped) options.load = [](const fs::path& from) { return Map(from); };
  }
  const auto begin = [path, options](Subject<F>& s) { s.watch.emplace(*s.live, path, options); };
  // The file is published at the next check, and only once.
  const auto check = [](Subject<F>& s, const Ending& ending, uint64_t before) {
    if (!s.watch) return std::string(ending.threw ? "" : "there is no watch");
    const uint64_t now = s.live->Read().generation();
    const WatchStatus status = s.watch->status();
    if (now != before + !ending.threw) return "generation " + std::to_string(now) + " serves";
    const bool refused = status.file == WatchedFile::kRefused;
    if (refused != ending.threw || s.live->status().failures != status.failures) {
      return std::string("the status does not say what happened");
    }
    s.watch->CheckNow();
    if (s.watch->CheckNow()) return std::string("a file is published again and again");
    if (s.watch->status().file != WatchedFile::kServing || s.watch->status().failure) {
      return std::string("the file does not serve afterwards");
    }
    return CheckServing(s, before + 1);
  };
  Operation first = On<F>(
      subject, "watch",
      [begin](Subject<F>& s) {
        begin(s);
        RequirePublished(s, 1);
      },
      [check](Subject<F>& s, const Ending& ending) { return check(s, ending, 0); });
  first.prepare = [subject, save] {
    subject->late = false;
    subject->live.emplace();
    save({&subject->old_keys});
  };
  all.push_back(first);
  Operation next = On<F>(
      subject, "another file",
      [](Subject<F>& s) {
        if (!s.watch->CheckNow()) RequirePublished(s, 2);
      },
      [check](Subject<F>& s, const Ending& ending) { return check(s, ending, 1); });
  const auto watched = [subject, save, begin] {
    subject->late = false;
    subject->live.emplace();
    save({&subject->old_keys});
    begin(*subject);
  };
  next.prepare = [subject, save, watched] {
    watched();
    save({&subject->old_keys, &subject->new_keys});
  };
  all.push_back(next);
  Operation same = On<F>(
      subject, "the same file", [](Subject<F>& s) { s.result = s.watch->CheckNow(); },
      [](Subject<F>& s, const Ending&) {
        if (s.result != 0) return std::string("a file that serves is published again");
        if (s.watch->CheckNow()) return std::string("it is published again afterwards");
        if (s.watch->status().file != WatchedFile::kServing || s.watch->status().failure) {
          return std::string("it does not serve afterwards");
        }
        return CheckServing(s, 1);
      });
  same.prepare = watched;
  all.push_back(same);
}

// ---- Guards ----

using GuardedFilter = ConcurrentSplitBlockBloomFilter;
using Guard = CacheGuard<uint64_t, std::string, GuardedFilter>;
using Found = std::optional<std::string>;

// The database has the keys [0, kStored), the filter [0, kKnown), and operations insert kFresh.
constexpr uint64_t kStored = 50, kKnown = 60, kFresh = 55;

std::string ValueOf(uint64_t key) { return std::to_string(key) + " and more than fits into it"; }

struct Guarded {
  // The cache of the guard.
  Found Get(uint64_t key) const { return cached[key] ? Found(ValueOf(key)) : Found(); }
  void Put(uint64_t key, const std::string&) { cached[key] = true; }
  std::vector<Found> Get(std::span<const uint64_t> keys) const {
    std::vector<Found> found;
    for (const uint64_t key : keys) found.push_back(Get(key));
    return found;
  }
  void Put(std::span<const std::pair<uint64_t, std::string>> loaded) {
    for (const auto& pair : loaded) cached[pair.first] = true;
  }
  Found Load(uint64_t key) const { return stored[key] ? Found(ValueOf(key)) : Found(); }
  std::vector<Found> LoadMany(std::span<const uint64_t> keys) const {
    std::vector<Found> found;
    for (const uint64_t key : keys) found.push_back(Load(key));
    return found;
  }

  Found Ask(uint64_t key) {
    return guard->Get(key, *this, [this](uint64_t of) { return Load(of); });
  }
  // All answers must equal those of the database.
  std::string Check() {
    for (const uint64_t key : asked) {
      if (Ask(key) != Load(key)) return "the answer for key " + std::to_string(key) + " is wrong";
    }
    return "";
  }
  void Renew() {
    cached = {};
    stored = {};
    for (uint64_t key = 0; key < kStored; ++key) stored[key] = true;
    live.emplace();
    GuardedFilter filter({.capacity = 1000});
    for (uint64_t key = 0; key < kKnown; ++key) filter.Insert(key);
    live->Publish(std::move(filter));
    guard.emplace(*live);
  }

  const Numbers asked = {1, 2, 3, kFresh, kKnown - 1, kKnown + 1, 80};
  std::array<bool, 100> cached{}, stored{};
  std::optional<Live<GuardedFilter>> live;
  std::optional<Guard> guard;
  Found value;
  std::vector<Found> values;
};

void AddGuards(std::vector<Operation>& all) {
  const auto s = std::make_shared<Guarded>();
  const auto clear = [s] {
    s->guard.reset();
    s->live.reset();
    s->value.reset();
    s->values = std::vector<Found>();
  };
  for (const uint64_t key : {uint64_t{1}, kKnown - 1, kKnown + 1}) {
    all.push_back({"guard: get " + std::to_string(key), [s] { s->Renew(); },
                   [s, key] { s->value = s->Ask(key); },
                   [s, key](const Ending& ending) {
                     if (!ending.threw && s->value != s->Load(key)) return std::string("wrong");
                     return s->Check();
                   },
                   clear});
  }
  all.push_back({"guard: get many", [s] { s->Renew(); },
                 [s] {
                   s->values = s->guard->GetMany(s->asked, *s, [s](std::span<const uint64_t> keys) {
                     return s->LoadMany(keys);
                   });
                 },
                 [s](const Ending& ending) {
                   if (!ending.threw && s->values != s->LoadMany(s->asked)) {
                     return std::string("wrong");
                   }
                   return s->Check();
                 },
                 clear});
  all.push_back({"guard: insert",
                 [s] {
                   s->Renew();
                   s->Ask(kFresh);  // so that its absence may be cached
                 },
                 [s] { s->guard->Insert(kFresh, [s] { s->stored[kFresh] = true; }); },
                 [s](const Ending& ending) {
                   if (ending.threw == s->stored[kFresh]) return std::string("half done");
                   // After an exception, the key may still be cached as missing.
                   return s->Check();
                 },
                 clear});
}

}  // namespace

std::vector<Operation> LiveFileOperations(const fs::path& folder) {
  std::vector<Operation> all;
  AddWatches<SplitBlockBloomFilter>("live split_block", folder, false, all);
  AddWatches<ConcurrentCuckooFilter<12>>("live concurrent cuckoo12", folder, false, all);
  AddWatches<AnyFilter>("live", folder, false, all);
  AddWatches<AnyFilter>("live, mapped", folder, true, all);
  AddShared<ConcurrentBloomFilter, BloomFilter>("concurrent bloom", folder, true, all);
  AddShared<ConcurrentCuckooFilter<12>, CuckooFilter<12>>("concurrent cuckoo12", folder, true, all);
  return all;
}

std::vector<Operation> LiveMemoryOperations() {
  std::vector<Operation> all;
  const auto add = [&]<typename F>(const char* name, F*) {
    const auto subject = std::make_shared<Subject<F>>(name);
    AddReplacements<F>(subject, all);
    if constexpr (ConcurrentlyChangeable<F>) AddChanges<F>(subject, all);
  };
  add("live split_block", static_cast<SplitBlockBloomFilter*>(nullptr));
  add("live", static_cast<AnyFilter*>(nullptr));
  add("live concurrent split_block", static_cast<ConcurrentSplitBlockBloomFilter*>(nullptr));
  add("live concurrent cuckoo12", static_cast<ConcurrentCuckooFilter<12>*>(nullptr));
  AddShared<ConcurrentSplitBlockBloomFilter, SplitBlockBloomFilter>("concurrent split_block", {},
                                                                    false, all);
  AddShared<ConcurrentBloomFilter, BloomFilter>("concurrent bloom", {}, false, all);
  AddShared<ConcurrentCuckooFilter<12>, CuckooFilter<12>>("concurrent cuckoo12", {}, false, all);
  AddGuards(all);
  return all;
}

}  // namespace tamis::campaigns
