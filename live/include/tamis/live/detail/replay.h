// Replays changes that were made during a rebuild into its filter.
#ifndef TAMIS_LIVE_DETAIL_REPLAY_H_
#define TAMIS_LIVE_DETAIL_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/hash.h"
#include "tamis/hash_keys.h"
#include "tamis/key_types.h"
#include "tamis/keys.h"
#include "tamis/live/changeable.h"
#include "tamis/live/detail/change_log.h"

namespace tamis::detail {

// Calls visit(key, hash) for each key that is not null. `key` is a batch of this one key.
template <typename Visit>
void ForEachKey(const Keys& keys, const HashSpec& hash_of, const Visit& visit) {
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!keys.IsValid(i)) continue;
    const Keys key = keys.Slice(i, 1);
    uint64_t hash = 0;
    HashKeys(key, hash_of, std::span(&hash, 1));
    visit(key, hash);
  }
}

// Changes are recorded while this object exists.
class Recording {
 public:
  Recording(ChangeLog& log, uint64_t max_keys) : log_(log) { log_.Start(max_keys); }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() { log_.Stop(); }

 private:
  ChangeLog& log_;
};

// No change is under way while this object exists.
class ClosedGate {
 public:
  explicit ClosedGate(ChangeLog& log) : log_(log) { log_.CloseGate(); }
  ClosedGate(const ClosedGate&) = delete;
  ClosedGate& operator=(const ClosedGate&) = delete;
  ~ClosedGate() { log_.OpenGate(); }

 private:
  ChangeLog& log_;
};

template <typename F>
void Replay(const RecordedChanges& changes, F& filter) {
  for (size_t i = 0; i < changes.size;) {
    if (changes.erased[i]) {
      if constexpr (ConcurrentlyErasable<F>) filter.EraseHash(changes.hashes[i]);
      ++i;
      continue;
    }
    const size_t begin = i;
    while (i < changes.size && !changes.erased[i]) ++i;
    const size_t inserted = filter.Insert(Hashes{{changes.hashes.data() + begin, i - begin}});
    if (inserted != i - begin) {
      throw Error(
          ErrorCode::kInvalidArgument,
          StrCat(i - begin - inserted, " of ", i - begin,
                 " keys that were inserted during the rebuild found no room in the new filter"));
    }
  }
}

// Replays the recorded changes. Returns their number. Adds the recorded key types to the filter,
// because hashes do not contain them.
template <typename F>
size_t ReplayRecorded(ChangeLog& log, F& filter) {
  const ChangeRecord record = log.Take();
  log.RequireWhole();
  if (record.empty()) return 0;
  KeyTypes types;
  if constexpr (requires { filter.set_key_types(types); }) types = filter.key_types();
  size_t changes = 0;
  for (const auto& some : record) {
    Replay(*some, filter);
    changes += some->size;
  }
  if constexpr (requires { filter.set_key_types(types); }) {
    types.Add(log.key_types());
    filter.set_key_types(types);
  }
  return changes;
}

// Replays changes until few are left, while other threads make more. Stops after a fixed number of
// rounds, because changes may arrive faster than they are replayed.
template <typename F>
void ReplayUntilFew(ChangeLog& log, F& filter) {
  constexpr int kMaxRounds = 16;
  for (int round = 0; round < kMaxRounds; ++round) {
    if (ReplayRecorded(log, filter) <= RecordedChanges::kKeys) break;
  }
}

}  // namespace tamis::detail

#endif  // TAMIS_LIVE_DETAIL_REPLAY_H_
