// The run-time dispatcher: runs calls of many keys on threads, vector units or a GPU.
//
// See docs/contracts.md for the rules of all classes: outputs, threads, errors, lifetimes.
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

// A route: one way to carry out a call.
struct CallRoute {
  const Backend* backend = nullptr;  // the backend that runs the call
  unsigned threads = 1;              // number of threads
  // Whether keys are first ordered by their part of the filter. If so, writes stay in cache, and
  // queries of filters of more than 4 GiB need no walks through page tables. Insertions on
  // several threads that are not partitioned give each thread a copy of the filter, and then unite
  // the copies. Only classic Bloom filters have this route.
  bool partitioned = false;
  uint64_t slice_keys = 0;  // consecutive keys that a thread takes at a time
  double seconds = 0;       // predicted, without the time of a KeySource
  bool on_device = false;   // a query by a GPU, which keeps one thread of the host busy
  bool uploads = false;     // the filter has to be copied to the GPU first
};

// Options of an Engine.
struct EngineOptions {
  // The number of threads, the calling thread included, in [1, kMaxThreads] (engine_threads.h). 0:
  // the value of the environment variable TAMIS_THREADS. If that variable is not set or empty, the
  // number of processors that this process may use.
  unsigned threads = 0;
  // An element of Backends(), used for every call. nullptr: the backend that the environment
  // variable TAMIS_BACKEND names. If that variable is not set or empty, the calibration decides for
  // each call.
  const Backend* backend = nullptr;
  // The costs that determine the choice of routes. The default is the costs of a typical machine. A
  // backend without costs is not chosen; if no backend has costs, the default costs are used. A
  // kind of filter without costs uses the costs of a similar kind.
  Calibration calibration = {};
  // Carries out every call by this route, whatever the calibration predicts. The route may be a
  // route from a CallPlan. Its backend, if not nullptr, and its threads override the options above.
  // Its slice_keys and seconds are ignored.
  std::optional<CallRoute> pin = std::nullopt;
  // Whether the keys of queries may be in the memory of a GPU, with outputs in host memory. If
  // true, each call asks the driver where its keys are. Keys in device memory are queried by the
  // GPU, whatever the calibration predicts. If the driver reports an error, the call throws
  // Error(kDevice), because the host may be unable to read the keys.
  bool device_keys = false;
  // The maximum bytes of filters that are kept in the memory of a GPU. 0: half of that memory. The
  // least recently used filters make room for others. Queries of a larger filter run on the host,
  // and throw Error(kOutOfMemory) if the keys are in device memory.
  uint64_t device_filter_bytes = 0;
};

// Runs calls of many keys on several threads. One Engine is enough for a process.
//
// Calls return the results of the filter's own functions, for any number of threads. If the order
// of keys matters (cuckoo filters, InsertIfAbsent), the result is the result of one thread that
// takes the keys in order. The filter's own backend is not used. Calls throw the errors of the
// filter's own functions, and std::bad_alloc. If a call with a Filter throws std::bad_alloc on the
// host, it has written nothing.
//
// Threads: any number of threads may call an Engine at the same time, if no filter is changed by
// one call and used by another. The first call that needs the Engine's threads starts them. The
// threads sleep between calls. If several calls need threads at the same time, the call with the
// least work left gets them first, so a small call does not wait for a large one. If there are as
// many calling threads as processors, the Engine's threads help none of them. A call on one thread
// never waits for another call, but may have to share a processor.
//
// Memory: in a split-block or counting filter of more than 4 GiB, queries of many keys take up to
// 64 MiB for each thread, but at most 192 MiB plus 3 MiB for each thread in total. The queries also
// take one bit for each key. If this memory is not available, the keys are not ordered: see
// CallRoute::partitioned.
//
// fork: a child process may use an Engine of its parent, make others, and exit, even if a call was
// running at the time of the fork. In the child, Engines start new threads, and use no GPU. The
// Engines recognize a child by its process ID. So a child in its own PID namespace, which may have
// the process ID of its parent, must not use the parent's Engines.
//
// GPU: queries run on a GPU if that is predicted to be faster. The GPU keeps a copy of the filter
// for later calls until the filter changes or is destroyed, or until the memory is needed for other
// filters: see EngineOptions::device_filter_bytes. If the GPU fails before any output was written,
// the host answers, and stats() counts the failure. If the GPU fails later, if its backend is
// pinned, or if the keys are in its memory, the call throws Error(kDevice) or Error(kOutOfMemory).
class Engine {
 public:
  // The operation of a call.
  enum class Operation : uint8_t { kContains, kInsert };

  // The route of a call, all other routes, and the reason for the choice.
  struct CallPlan {
    Operation operation = Operation::kContains;  // the operation
    uint64_t keys = 0;                           // number of keys of the call
    uint64_t filter_bytes = 0;                   // size of the filter
    CallRoute chosen;                            // the route of the call
    std::vector<CallRoute> alternatives;         // all other routes, fastest first
    std::string reason;                          // one sentence
  };

  // Counts the work of a GPU for this Engine.
  struct Stats {
    uint64_t device_calls = 0;         // queries that the GPU answered
    uint64_t uploads = 0;              // filters that were copied to the GPU
    uint64_t fallbacks = 0;            // queries in which the GPU failed and the host answered
    uint64_t failures = 0;             // all failures of the GPU
    std::string last_failure;          // the message of the last failure
    uint64_t device_filter_bytes = 0;  // total size of the copies of filters on the GPU
  };

  // Fills keys[0..keys.size()) with the keys `first`, `first` + 1, ... of a sequence. Several
  // threads call the source at the same time, once for each part of the sequence, in any order. The
  // source must not throw, and must not call this Engine.
  using KeySource = std::function<void(uint64_t first, std::span<uint64_t> keys)>;

  // Throws Error(kInvalidArgument) if the number of threads in the options or in TAMIS_THREADS is
  // out of range, or if Validate() of the calibration throws. Throws Error(kUnknownBackend) if
  // options.backend is nullptr and TAMIS_BACKEND names an unknown backend.
  explicit Engine(EngineOptions options = {});
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  // The maximum number of threads of a call, the calling thread included.
  unsigned threads() const noexcept;

  // See the functions of the same names of Queryable. If `queryable` is not a Filter:
  // - Calls of 2^18 keys or more run on all threads if its traits() allow that. All other calls run
  //   on the calling thread.
  // - If one part of a call fails, the other parts still run, and then the first error is thrown.
  // - Keys in the memory of a GPU cannot be queried: the call throws Error(kUnsupported).
  //
  // A Queryable must not use the Engine that queries it.
  size_t Contains(const Queryable& queryable, Keys keys, Bitmap out) const;
  size_t Contains(const Queryable& queryable, Keys keys, std::span<uint8_t> out) const;
  size_t Select(const Queryable& queryable, Keys keys, std::span<uint32_t> out) const;
  size_t Select(const Queryable& queryable, Keys keys, std::span<uint64_t> out) const;
  size_t Count(const Queryable& queryable, Keys keys) const;
  Answers Contains(const Queryable& queryable, Keys keys) const;
  std::vector<uint64_t> Select(const Queryable& queryable, Keys keys) const;
  // See the functions of the same names of ChangeableFilter and ErasableFilter.
  size_t Insert(ChangeableFilter& filter, Keys keys) const;
  size_t Insert(ChangeableFilter& filter, Keys keys, std::span<uint64_t> rejected) const;
  size_t InsertIfAbsent(ChangeableFilter& filter, Keys keys, Bitmap fresh) const;
  size_t InsertIfAbsent(ChangeableFilter& filter, Keys keys, Bitmap fresh, Bitmap rejected) const;
  size_t Erase(ErasableFilter& filter, Keys keys) const;
  size_t Erase(ErasableFilter& filter, Keys keys, std::span<uint64_t> missing) const;
  size_t EraseIfAllFound(ErasableFilter& filter, Keys keys) const;

  // Inserts the first n keys of a sequence that is made on the fly. Returns the number of inserted
  // keys, as ChangeableFilter::Insert does. Allocates about 128 MiB, plus 4 MiB for each thread,
  // for any n. For cuckoo filters, allocates up to 512 MiB, or an eighth of the filter's size if
  // that is more.
  uint64_t Insert(ChangeableFilter& filter, uint64_t n, const KeySource& source) const;

  // Returns zeros in a child process of fork.
  Stats stats() const;

  // Frees the copies of filters in the memory of a GPU, after queries that are running on the GPU
  // have ended. The next query makes a new copy.
  void DropDeviceFilters() const noexcept;

  // Returns the route that a call with this filter and n keys would take, and the other routes.
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
