// The run-time dispatcher: threads, backends, and the reasons for their choice.
#ifndef TAMIS_ENGINE_ENGINE_H_
#define TAMIS_ENGINE_ENGINE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tamis/backend.h"
#include "tamis/engine/calibration.h"
#include "tamis/filters/erasable_filter.h"
#include "tamis/filters/filter.h"
#include "tamis/keys.h"
#include "tamis/queryable.h"

namespace tamis {

namespace detail {
struct EngineAccess;
}  // namespace detail

// One way to carry out a call.
struct CallRoute {
  const Backend* backend = nullptr;
  unsigned threads = 1;
  // Keys are first ordered by the part of the filter they fall in, so that writes stay in cache,
  // and that lookups in filters of more than 4 GiB walk through no page tables. Several threads
  // always insert this way: each then writes to parts of its own.
  bool partitioned = false;
  uint64_t slice_keys = 0;  // consecutive keys that a thread takes at a time
  double seconds = 0;       // predicted; a KeySource's own time is not in it
  bool on_device = false;   // lookups by a GPU, which keeps one thread of the host busy
  bool uploads = false;     // the filter has to be copied to the GPU first
};

struct EngineOptions {
  // Threads, the calling one included, in [1, kMaxThreads] (engine_threads.h); 0: TAMIS_THREADS if
  // that environment variable is set and not empty, else one for each processor that this process
  // may run on.
  unsigned threads = 0;
  // An element of Backends(), for every call. nullptr: the one that TAMIS_BACKEND names, if that
  // environment variable is set and not empty, else the calibration decides for each call.
  const Backend* backend = nullptr;
  // The costs by which calls are planned; by default those of a typical machine. A backend without
  // figures is not chosen, unless no backend has any: then the default ones serve. A kind of filter
  // without figures is planned by those of a similar kind.
  Calibration calibration = {};
  // Carries out every call this way, whatever the calibration says: for example by a route out of a
  // CallPlan. Its backend, if not nullptr, and its threads replace those above; its slice_keys and
  // seconds are ignored.
  std::optional<CallRoute> pin = std::nullopt;
  // Keys of lookups may be in the memory of a GPU, with outputs in that of the host. Each call then
  // asks the driver where its keys are, and looks up those in device memory there, whatever the
  // calibration says. If the driver cannot say it, the call throws Error(kDevice): after a GPU has
  // failed the host may not read them.
  bool device_keys = false;
  // The most bytes of filters that are kept in the memory of a GPU; 0: half of that memory. Those
  // that were not used for the longest time give way, and a filter of more bytes is left to the
  // host: with keys that are in device memory, its lookups are Error(kOutOfMemory).
  uint64_t device_filter_bytes = 0;
};

// Runs bulk calls on several threads. The results are those of the filter's own functions, whatever
// the number of threads; the filter's own backend is not used. Calls throw what those functions
// throw, and may throw std::bad_alloc, before anything is written.
//
// Where the order of keys matters (cuckoo filters, InsertIfAbsent), the result is that of one
// thread which takes the keys in their order.
//
// Lookups of many keys in a split-block or counting filter of more than 4 GiB take up to 64 MiB for
// each thread, no more than 192 MiB and 3 MiB for each thread in all, and a bit for each key, where
// there is memory for that: see CallRoute::partitioned.
//
// One Engine is enough for a process: any number of threads may call it at the same time, as long
// as no filter is changed by one call and used by another. Its threads are started by the first
// call that needs them, and sleep between calls. When several calls on more than one thread are
// under way, its threads go first to those with the least left to do, and to none if there are as
// many of their callers as processors; so a small call need not wait for a large one. A call on one
// thread waits for no other, but may have to share a processor with their threads.
//
// fork: a child may use an Engine of its parent, make others, and exit, even if a call was under
// way at the fork. Engines start new threads in the child, and use no GPU there. They tell parent
// and child apart by process IDs, so a child in a PID namespace of its own, where it may have the
// ID of its parent, must leave its parent's engines alone.
//
// Where there is a GPU, lookups go there if that is predicted to be faster. It keeps a copy of the
// filter for later calls, until the filter changes or is destroyed (which gives the memory back),
// or until the memory is needed for others: see EngineOptions::device_filter_bytes. If it fails
// before any output was written, the host answers, and stats() counts it; if it fails later, or if
// its backend is pinned, the call throws Error: kDevice or kOutOfMemory.
class Engine {
 public:
  enum class Operation : uint8_t { kContains, kInsert };

  // The route of a call, the other routes, and the reason for the choice.
  struct CallPlan {
    Operation operation = Operation::kContains;
    uint64_t keys = 0;
    uint64_t filter_bytes = 0;
    CallRoute chosen;
    std::vector<CallRoute> alternatives;  // all other routes, fastest first
    std::string reason;                   // one sentence
  };

  // What a GPU has done for the engine so far.
  struct Stats {
    uint64_t device_calls = 0;         // lookups that it answered
    uint64_t uploads = 0;              // filters that were copied to it
    uint64_t fallbacks = 0;            // lookups in which it failed, and which the host answered
    uint64_t failures = 0;             // all of its failures
    std::string last_failure;          // the message of the last one
    uint64_t device_filter_bytes = 0;  // of the copies of filters that it keeps there now
  };

  // Fills keys[0..keys.size()) with keys `first`, `first` + 1, ... of a sequence. Called by several
  // threads at a time, once for each part of the sequence, in no particular order. Must not throw,
  // and must not call this Engine.
  using KeySource = std::function<void(uint64_t first, std::span<uint64_t> keys)>;

  // Throws Error(kInvalidArgument) for a number of threads out of range (TAMIS_THREADS included)
  // and for a calibration that Validate() refuses; Error(kUnknownBackend) if TAMIS_BACKEND decides
  // and names none.
  explicit Engine(EngineOptions options = {});
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  // The most threads that a call may use, the calling one included.
  unsigned threads() const noexcept;

  // The functions of the same names in Queryable. If a Queryable is not a Filter, calls of 2^18
  // keys or more run on all threads, unless its traits() forbid that. Smaller calls run on the
  // calling thread. Keys in the memory of a GPU can be looked up only in a Filter:
  // Error(kUnsupported). If one part of a call fails, the others still run, and the first error is
  // thrown. A Queryable must not use the engine that queries it.
  size_t Contains(const Queryable& queryable, Keys keys, Bitmap out) const;
  size_t Contains(const Queryable& queryable, Keys keys, std::span<uint8_t> out) const;
  size_t Select(const Queryable& queryable, Keys keys, std::span<uint32_t> out) const;
  size_t Select(const Queryable& queryable, Keys keys, std::span<uint64_t> out) const;
  size_t Count(const Queryable& queryable, Keys keys) const;
  Answers Contains(const Queryable& queryable, Keys keys) const;
  std::vector<uint64_t> Select(const Queryable& queryable, Keys keys) const;
  // As the functions of the same names in ChangeableFilter and ErasableFilter.
  size_t Insert(ChangeableFilter& filter, Keys keys) const;
  size_t Insert(ChangeableFilter& filter, Keys keys, std::span<uint64_t> rejected) const;
  size_t InsertIfAbsent(ChangeableFilter& filter, Keys keys, Bitmap fresh) const;
  size_t InsertIfAbsent(ChangeableFilter& filter, Keys keys, Bitmap fresh, Bitmap rejected) const;
  size_t Erase(ErasableFilter& filter, Keys keys) const;
  size_t Erase(ErasableFilter& filter, Keys keys, std::span<uint64_t> missing) const;
  size_t EraseIfAllFound(ErasableFilter& filter, Keys keys) const;

  // Inserts the first n keys of a sequence that is made on the fly. The memory that this takes does
  // not grow with n: about 128 MiB, and 4 MiB for each thread; for cuckoo filters up to 512 MiB or
  // an eighth of the filter. Returns how many were inserted, as ChangeableFilter::Insert.
  uint64_t Insert(ChangeableFilter& filter, uint64_t n, const KeySource& source) const;

  // All zeros in a child of fork.
  Stats stats() const;

  // Gives back the memory of a GPU that copies of filters take, after the lookups that are under
  // way there. The next lookup makes new ones.
  void DropDeviceFilters() const noexcept;

  // How a call with this filter and n keys would be carried out, and how else it could be.
  CallPlan PlanCall(const Filter& filter, uint64_t n,
                    Operation operation = Operation::kContains) const;

 private:
  friend struct detail::EngineAccess;

  class Impl;
  explicit Engine(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tamis

#endif  // TAMIS_ENGINE_ENGINE_H_
