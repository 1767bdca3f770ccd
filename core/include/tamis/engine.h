// The run-time dispatcher: threads, backends, and the reasons for their choice.
#ifndef TAMIS_ENGINE_H_
#define TAMIS_ENGINE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tamis/backend.h"
#include "tamis/calibration.h"
#include "tamis/erasable_filter.h"
#include "tamis/filter.h"
#include "tamis/keys.h"

namespace tamis {

namespace detail {
struct EngineAccess;
}  // namespace detail

// The threads that one Engine can have.
inline constexpr unsigned kMaxThreads = 1024;

enum class Operation : uint8_t { kContains, kInsert };

// One way to carry out a call.
struct PlanStep {
  const Backend* backend = nullptr;
  unsigned threads = 1;
  // Inserts: keys are first ordered by the part of the filter they fall in, so that writes stay in
  // cache. Several threads insert in no other way, since each then writes parts of its own.
  bool partitioned = false;
  uint64_t slice_keys = 0;  // consecutive keys that a thread claims at a time
  double seconds = 0;       // predicted; without making the keys where a KeySource does
  bool on_device = false;   // lookups by a GPU; of the host one thread then attends to it
  bool uploads = false;     // the filter has to be copied there first
};

// What an Engine has handed to a GPU so far.
struct EngineStats {
  uint64_t device_calls = 0;  // lookups that a GPU answered
  uint64_t uploads = 0;       // copies of filters that were made for them
  uint64_t fallbacks = 0;     // lookups that it failed in, and that the host answered
  uint64_t failures = 0;      // all that it failed in
  std::string last_failure;   // what the last of these said
};

struct EngineOptions {
  // Threads, the calling one included, in [1, kMaxThreads]; 0: TAMIS_THREADS if that environment
  // variable is set and not empty, else as many as there are processors that this one may run on.
  unsigned threads = 0;
  // An element of Backends(), which every call then uses. nullptr: the one that TAMIS_BACKEND
  // names, if that environment variable is set and not empty, else for each call the one that the
  // calibration favours.
  const Backend* backend = nullptr;
  // What the choice goes by. The default is a set of figures of a typical machine; a backend for
  // which there are none is not chosen, unless there are none for any: then the default ones serve.
  // A kind of filter for which there are none is planned by a similar kind's.
  Calibration calibration = {};
  // Carries out every call this way, for example the chosen or an alternative way of a Plan,
  // whatever the calibration says. Its backend, if it is not nullptr, and threads take the place of
  // those above; slice_keys and seconds are not used.
  std::optional<PlanStep> pin = std::nullopt;
  // Keys of lookups may be in the memory of a GPU, with outputs in that of the host: each call then
  // asks the driver where they are, and those in device memory are looked up there, whatever the
  // calibration says.
  bool device_keys = false;
};

// What an Engine would do for a call, what else it could do, and why.
struct Plan {
  Operation operation = Operation::kContains;
  uint64_t keys = 0;
  uint64_t filter_bytes = 0;
  PlanStep chosen;
  std::vector<PlanStep> alternatives;  // all others, fastest first
  std::string reason;                  // one sentence
};

// Runs bulk calls on several threads. The results are those of the filter's own functions, whatever
// the number of threads; the backend of the filter plays no part. They throw what those throw, and
// may throw std::bad_alloc, before anything is written.
//
// Where the order of keys matters (cuckoo filters), the result is as from one thread in that order.
//
// One Engine is enough for a process: any number of threads may call it at a time, as long as no
// filter is changed by one call and used by another. Its threads are started by the first call that
// needs them and sleep between calls. Where there are several calls, those that have the least left
// to do get the threads first, and none work where callers are as many as processors; so a small
// call need not wait for a large one.
//
// fork: a child may go on with an Engine that it got from its parent, make others, and exit, also
// if a call was under way when it was made. It starts threads of its own, and uses no GPU.
// Processes are told apart by their numbers, so a child that is to have that of its parent, in a
// PID namespace of its own, must leave its engines alone.
//
// Where there is a GPU, lookups go there if that is predicted to be faster. It keeps a copy of the
// filter for the calls that follow, until the filter changes or the memory is needed. If it fails
// before any output was written, the host answers, and stats() counts it; if it fails later, or if
// the backend is pinned, the call throws Error: kDevice or kOutOfMemory.
class Engine {
 public:
  // Fills keys[0..keys.size()) with keys `first`, `first` + 1, ... of a sequence. Called by several
  // threads at a time, once for each part of the sequence, in no particular order. Must not throw,
  // and must not call this Engine.
  using KeySource = std::function<void(uint64_t first, std::span<uint64_t> keys)>;

  // Throws Error(kInvalidArgument) for a number of threads out of range, also in TAMIS_THREADS, and
  // for a calibration that Validate() refuses; Error(kUnknownBackend) if TAMIS_BACKEND is asked and
  // names none.
  explicit Engine(EngineOptions options = {});
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  // The most threads that a call may use, the calling one included.
  unsigned threads() const noexcept;

  // As the functions of Filter and ErasableFilter of these names.
  size_t Contains(const Filter& filter, Keys keys, Bitmap out) const;
  size_t Contains(const Filter& filter, Keys keys, std::span<uint8_t> out) const;
  size_t Select(const Filter& filter, Keys keys, std::span<uint32_t> out) const;
  size_t Select(const Filter& filter, Keys keys, std::span<uint64_t> out) const;
  size_t Count(const Filter& filter, Keys keys) const;
  size_t Insert(Filter& filter, Keys keys) const;
  size_t Insert(Filter& filter, Keys keys, std::span<uint64_t> rejected) const;
  size_t Erase(ErasableFilter& filter, Keys keys) const;
  size_t Erase(ErasableFilter& filter, Keys keys, std::span<uint64_t> missing) const;

  // Inserts the first n keys of a sequence that is made on the fly, in memory that does not grow
  // with n: about 128 MiB, and 4 MiB for each thread; for cuckoo filters up to 512 MiB or an eighth
  // of the filter. Returns how many were inserted, as Filter::Insert.
  uint64_t Insert(Filter& filter, uint64_t n, const KeySource& source) const;

  // All zeros in a child of fork.
  EngineStats stats() const;

  // What a call with this filter and n keys would do, and what else could be done.
  Plan PlanFor(const Filter& filter, uint64_t n, Operation operation = Operation::kContains) const;

 private:
  friend struct detail::EngineAccess;

  class Impl;
  explicit Engine(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tamis

#endif  // TAMIS_ENGINE_H_
