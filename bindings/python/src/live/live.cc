// Live filters: rebuilds, changes, and watching the file of a filter.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <tamis/file/filter_kind_name.h>
#include <tamis/live/watch.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "bindings/python/src/classes/options.h"
#include "bindings/python/src/classes/py_filter.h"
#include "bindings/python/src/classes/raised.h"
#include "bindings/python/src/live/concurrent_slots.h"
#include "bindings/python/src/live/live_classes.h"
#include "bindings/python/src/live/py_live.h"
#include "bindings/python/src/queries/batches.h"

namespace tamis::python {
namespace {

double InSeconds(std::chrono::nanoseconds time) { return static_cast<double>(time.count()) / 1e9; }

Result<"str | None"> TextOf(const std::optional<Failure>& failure) {
  if (!failure) return nb::none();
  return nb::str(failure->text.c_str());
}

uint64_t Publish(PyLive& self, AnyFilterArg filter, Seconds age) {
  const auto known_for = SecondsOf(age, "age");
  AnyConcurrent next = ConcurrentOf(filter);
  const WithoutGil released;
  return self.live.Publish(std::move(next), known_for);
}

void Make(PyLive* self, AnyFilterArg filter, const std::string& hash, Unsigned seed,
          const std::optional<nb::bytes>& secret) {
  LiveOptions options;
  if (!filter.is_none()) {
    options.hash = ConcurrentOf(filter).hash();
  } else {
    options.hash = SpecOf(hash, seed.value, secret);
  }
  new (self) PyLive(std::move(options));
  if (filter.is_none()) return;
  try {
    Publish(*self, filter, Seconds{});
  } catch (...) {
    self->~PyLive();
    throw;
  }
}

Result<"tamis.live.ConcurrentFilter | None"> FilterOfTheMoment(const PyLive& self) {
  const Snapshot<AnyConcurrent> snapshot = self.live.Read();
  if (!snapshot) return nb::none();
  return WrapConcurrent(*snapshot);
}

// Returns the number of valid keys that a full cuckoo filter has not inserted and does not find.
uint64_t LostOf(const LiveFilter& live, const Keys& keys, size_t inserted) {
  const size_t valid = keys.CountValid();
  if (inserted >= valid) return 0;
  const Snapshot<AnyConcurrent> snapshot = live.Read();
  if (!snapshot) return 0;
  return valid - std::max(inserted, std::min(valid, (*snapshot)->Count(keys)));
}

struct NoLock {};
NoLock Unlocked() { return {}; }

// Inserts the keys of x. `change` is the Live itself or one of its change scopes.
template <typename Change>
uint64_t InsertInto(LiveFilter& live, Change& change, nb::handle x) {
  const auto source = MakeKeySource(x);
  uint64_t inserted = 0, lost = 0;
  const uint64_t keys =
      ForBatches(*source, nb::none(), NoPreparation, Unlocked, [&](const Keys& batch, uint64_t) {
        const size_t n = change.Insert(batch);
        inserted += n;
        lost += LostOf(live, batch, n);
      });
  if (lost > 0) ThrowFull(lost, keys);
  return inserted;
}

template <typename Change>
uint64_t EraseFrom(LiveFilter& live, Change& change, nb::handle x) {
  {
    const Snapshot<AnyConcurrent> snapshot = live.Read();
    if (snapshot && !snapshot->erases()) {
      throw nb::type_error((std::string("keys cannot be erased from a ") +
                            FilterKindName((*snapshot)->kind()) + " filter")
                               .c_str());
    }
  }
  const auto source = MakeKeySource(x);
  uint64_t erased = 0;
  ForBatches(*source, nb::none(), NoPreparation, Unlocked,
             [&](const Keys& batch, uint64_t) { erased += change.Erase(batch); });
  return erased;
}

// A ChangeScope as a context manager.
class PyChange {
 public:
  explicit PyChange(nb::object live) : live_(std::move(live)) {}
  PyChange(const PyChange&) = delete;
  PyChange& operator=(const PyChange&) = delete;
  ~PyChange() { Close(); }

  void Open() {
    if (open_ != nullptr) throw std::runtime_error("this change is open already");
    PyLive& live = of();
    const WithoutGil released;
    mark_ = std::make_unique<ScopeMark>(live.scopes);
    open_.reset(new LiveFilter::ChangeScope(live.live.BeginChange()));
  }
  void Close() noexcept {
    open_ = nullptr;
    mark_ = nullptr;
  }
  uint64_t Insert(KeysArg x) { return InsertInto(of().live, open(), x); }
  uint64_t Erase(KeysArg x) { return EraseFrom(of().live, open(), x); }

 private:
  PyLive& of() const { return *nb::inst_ptr<PyLive>(live_); }
  LiveFilter::ChangeScope& open() const {
    if (open_ == nullptr) {
      throw std::runtime_error(
          "this change is not open: use it in `with live.change() as change:`");
    }
    return *open_;
  }

  nb::object live_;
  std::unique_ptr<ScopeMark> mark_;
  std::unique_ptr<LiveFilter::ChangeScope> open_;
};

// The argument of the Python function `build`. Its functions throw after `build` has returned.
struct PyContext {
  RebuildContext* context = nullptr;

  RebuildContext& get() const {
    if (context == nullptr) throw std::runtime_error("this rebuild is over");
    return *context;
  }
};

uint64_t Rebuild(PyLive& self, Arg<"_Build"> build,
                 Arg<"collections.abc.Callable[[], object]"> open_snapshot, Unsigned max_recorded,
                 Arg<"collections.abc.Callable[[int, int], object]"> on_progress,
                 const std::optional<std::stop_source>& stop) {
  if (self.scopes.HasOfCaller()) {
    throw std::runtime_error("a rebuild within a change would wait forever for the change's end");
  }
  RebuildOptions options{.max_recorded = max_recorded.value};
  if (!on_progress.is_none()) {  // context.advance calls on_progress, with the GIL
    options.on_progress = [&](const RebuildProgress& progress) {
      Call(on_progress, nb::int_(progress.done), nb::int_(progress.total));
    };
  }
  return RaiseAgain([&] {
    WithoutGil released;
    RebuildSource<AnyConcurrent> source;
    source.build = [&](RebuildContext& context) {
      const WithoutGil::Pause with_gil(released);
      return CatchRaised([&] {
        const nb::object handed = nb::cast(PyContext{&context});
        struct End {
          ~End() { context->context = nullptr; }
          PyContext* context;
        } const end{nb::inst_ptr<PyContext>(handed)};
        return ConcurrentOf(Call(build, handed));
      });
    };
    if (!open_snapshot.is_none()) {
      source.open_snapshot = [&] {
        const WithoutGil::Pause with_gil(released);
        CatchRaised([&] { Call(open_snapshot); });
      };
    }
    return self.live.Rebuild(source, options, stop ? stop->get_token() : std::stop_token());
  });
}

const char* NameOf(WatchedFile file) {
  switch (file) {
    case WatchedFile::kMissing:
      return "missing";
    case WatchedFile::kServing:
      return "serving";
    case WatchedFile::kRefused:
      break;
  }
  return "refused";
}

class PyWatch {
 public:
  PyWatch(nb::object live, const std::filesystem::path& path, Seconds interval,
          const std::optional<nb::bytes>& secret)
      : live_(std::move(live)) {
    WatchOptions<AnyConcurrent> options{.interval = SecondsOf(interval, "interval")};
    if (secret) options.load_options.secret = SecretOf(*secret);
    auto& live_filter = nb::inst_ptr<PyLive>(live_)->live;
    const WithoutGil released;
    watch_ = std::make_shared<Watch<AnyConcurrent>>(live_filter, path, std::move(options));
  }
  PyWatch(const PyWatch&) = delete;
  PyWatch& operator=(const PyWatch&) = delete;
  ~PyWatch() { Close(); }

  void Close() noexcept {
    std::shared_ptr<Watch<AnyConcurrent>> last = std::move(watch_);
    if (last == nullptr) return;
    const WithoutGil released;
    last = nullptr;
  }
  bool CheckNow() const {
    const auto watch = open();
    const WithoutGil released;
    return watch->CheckNow();
  }
  WatchStatus status() const { return open()->status(); }

 private:
  std::shared_ptr<Watch<AnyConcurrent>> open() const {
    if (watch_ == nullptr) throw nb::value_error("this watch is closed");
    return watch_;
  }

  nb::object live_;  // outlives the watch
  std::shared_ptr<Watch<AnyConcurrent>> watch_;
};

void DefineStatus(nb::module_& m) {
  nb::class_<LiveStatus>(m, "LiveStatus", "A snapshot of the status of a Live.")
      .def_ro("generation", &LiveStatus::generation,
              "The generation of the filter; 0 without a filter.")
      .def_prop_ro(
          "age", [](const LiveStatus& s) { return InSeconds(s.age); },
          "The age of the filter: seconds since it contained all keys.")
      .def_ro("rebuilding", &LiveStatus::rebuilding)
      .def_prop_ro(
          "progress", [](const LiveStatus& s) -> Result<"tuple[int, int]"> {
            return nb::make_tuple(s.progress.done, s.progress.total);
          },
          "(done, total) in keys, of the current or the last rebuild. total 0: unknown.")
      .def_ro("recorded", &LiveStatus::recorded,
              "Number of keys whose changes the rebuild still has to replay.")
      .def_ro("skipped_erases", &LiveStatus::skipped_erases,
              "Number of keys whose erasures the current or the last rebuild does not replay.")
      .def_ro("failures", &LiveStatus::failures, "Number of failed attempts to get a new filter.")
      .def_prop_ro(
          "failure", [](const LiveStatus& s) { return TextOf(s.failure); },
          "Why the last attempt failed, or None.");
  nb::class_<WatchStatus>(m, "WatchStatus", "A snapshot of the status of a Watch.")
      .def_prop_ro(
          "file", [](const WatchStatus& s) { return NameOf(s.file); },
          "'missing', 'serving' or 'refused'.")
      .def_ro("checks", &WatchStatus::checks, "Number of checks of the file.")
      .def_ro("published", &WatchStatus::published, "Number of generations read from the file.")
      .def_ro("failures", &WatchStatus::failures, "Number of times that the file was refused.")
      .def_prop_ro(
          "failure", [](const WatchStatus& s) { return TextOf(s.failure); },
          "Why the file is refused, or None.");
}

constexpr char kLiveDoc[] =
    "The current filter, for any number of threads. A rebuild makes a new filter while the old\n"
    "filter serves, and then replaces the old filter at once. Keys inserted in the meantime\n"
    "are in both filters.\n\n"
    "filter: the first filter. A plain filter is copied to a concurrent one.\n"
    "hash, seed, secret: the hash of the first filter, if `filter` is None.\n\n"
    ">>> live = tamis.live.Live(tamis.live.ConcurrentSplitBlockBloomFilter(1000))\n"
    ">>> live.insert(['ada', 'bob'])\n"
    "2\n"
    ">>> live.filter.contains(['bob', 'eve'])\n"
    "[True, False]\n";
constexpr char kRebuildDoc[] =
    "Makes a new filter and replaces the current one. Returns the generation of the new filter.\n\n"
    "build: build(context) reads the keys and returns the filter. It may call\n"
    "    context.set_total(n) and context.advance(n), which also ends a cancelled rebuild.\n"
    "open_snapshot: opens the source that build reads, after the recording of changes has\n"
    "    begun. Keys erased during the rebuild are erased from the new filter only if this is\n"
    "    given.\n"
    "max_recorded: largest number of keys that may change during the rebuild. If more change,\n"
    "    the rebuild fails.\n"
    "on_progress: on_progress(done, total), called for each context.advance.\n"
    "stop: cancels the rebuild, see RebuildJob.\n\n"
    "Insert keys by insert() of this object, so that they also get into the new filter during\n"
    "a rebuild. Functions of the filter itself change only the old filter. Insert a key into\n"
    "the source first, or insert it into both within one change(). If the rebuild fails, the\n"
    "old filter continues to serve.\n"
    "Raises the exceptions of build, BusyError if a rebuild is running, CancelledError,\n"
    "IncompatibleError for a filter with another hash, and OutOfMemoryError for more changes\n"
    "than max_recorded.\n\n"
    ">>> live = tamis.live.Live(tamis.live.ConcurrentSplitBlockBloomFilter(1000))\n"
    ">>> def build(context):\n"
    "...     f = tamis.live.ConcurrentSplitBlockBloomFilter(2000)\n"
    "...     for part in (range(1000), range(1000, 2000)):\n"
    "...         context.advance(f.insert(part))\n"
    "...     return f\n"
    ">>> live.rebuild(build), live.filter.count(range(2000))\n"
    "(2, 2000)\n";

void DefineLiveFilter(nb::module_& m) {
  const auto none = nb::none();
  nb::class_<std::stop_source>(m, "StopSource", "Requests a rebuild to stop.")
      .def(nb::init<>())
      .def("request_stop", [](std::stop_source& stop) { stop.request_stop(); });
  nb::class_<PyContext>(m, "RebuildContext", "The argument of the build function of a rebuild.")
      .def(
          "set_total", [](const PyContext& c, Unsigned n) { c.get().SetTotal(n.value); },
          nb::arg("keys"), "Sets the total number of keys, if it is known.")
      .def(
          "advance", [](const PyContext& c, Unsigned n) { c.get().Advance(n.value); },
          nb::arg("keys"),
          "Reports that `keys` more keys are done. Raises CancelledError if the rebuild was\n"
          "cancelled, and OutOfMemoryError if more than max_recorded keys have changed.")
      .def_prop_ro(
          "cancelled", [](const PyContext& c) { return c.get().stop().stop_requested(); },
          "Whether the rebuild was cancelled.");
  nb::class_<PyChange>(m, "Change", "See Live.change.")
      .def("__enter__",
           [](nb::handle self) {
             nb::cast<PyChange&>(self).Open();
             return SelfResult(nb::borrow(self));
           })
      .def("__exit__", [](PyChange& self, const nb::args&) { self.Close(); })
      .def("insert", &PyChange::Insert, nb::arg("x"), "Inserts keys: see Live.insert.")
      .def("erase", &PyChange::Erase, nb::arg("x"), "Erases keys: see Live.erase.");
  nb::class_<PyLive>(m, "Live", nb::is_weak_referenceable(), kLiveDoc)
      .def("__init__", Make, nb::arg("filter").none() = none, nb::kw_only(),
           nb::arg("hash") = "xxh3", nb::arg("seed") = Unsigned{}, nb::arg("secret").none() = none)
      .def_prop_ro(
          "filter", FilterOfTheMoment,
          "The current filter, or None. Read it once per batch of work: if another filter\n"
          "replaces it, the returned object still refers to the old filter.")
      .def_prop_ro(
          "generation", [](const PyLive& self) { return self.live.Read().generation(); },
          "The generation of the current filter, counted from 1; 0 without a filter.")
      .def("publish", Publish, nb::arg("filter"), nb::arg("age") = 0.0,
           "Replaces the current filter. A plain filter is copied. Returns the generation. age:\n"
           "seconds since the filter contained all keys. The new filter does not get the changes\n"
           "that were made to the previous one.")
      .def("rebuild", Rebuild, nb::arg("build"), nb::kw_only(),
           nb::arg("open_snapshot").none() = none,
           nb::arg("max_recorded") = Unsigned{uint64_t{1} << 24},
           nb::arg("on_progress").none() = none, nb::arg("stop").none() = none, kRebuildDoc)
      .def(
          "insert", [](PyLive& self, KeysArg x) { return InsertInto(self.live, self.live, x); },
          nb::arg("x"),
          "Inserts many keys into the current filter, and into the filter of a running rebuild.\n"
          "Returns the number of inserted keys, or 0 without a filter.")
      .def(
          "erase", [](PyLive& self, KeysArg x) { return EraseFrom(self.live, self.live, x); },
          nb::arg("x"),
          "Erases keys, all of which must have been inserted. Returns the number found. Unlike\n"
          "ConcurrentFilter.erase, it does not look up all keys first, because another filter\n"
          "may replace the current one in the meantime. To check before, use\n"
          "live.filter.count(x) == len(x).")
      .def(
          "change", [](nb::handle self) -> Result<"tamis.live.Change"> {
            return nb::cast(new PyChange(nb::borrow(self)), nb::rv_policy::take_ownership);
          },
          "Returns a context manager for a change of both the filter and the source of\n"
          "rebuilds. A rebuild sees both changes or neither.\n\n"
          ">>> live = tamis.live.Live(tamis.live.ConcurrentSplitBlockBloomFilter(1000))\n"
          ">>> database = set()\n"
          ">>> with live.change() as change:\n"
          "...     n = change.insert([7])\n"
          "...     database.add(7)\n")
      .def(
          "status", [](const PyLive& self) { return self.live.status(); },
          "Returns generation, age, progress and the last failure.");
}

}  // namespace

std::chrono::nanoseconds SecondsOf(Seconds given, const char* name) {
  const double seconds = given.value;
  if (!(seconds >= 0)) {
    throw nb::value_error((std::string(name) + " is in seconds, and must be 0 or more").c_str());
  }
  constexpr double kMost = 9e9;  // 285 years
  if (seconds >= kMost) return std::chrono::nanoseconds::max();
  return std::chrono::nanoseconds(static_cast<int64_t>(seconds * 1e9));
}

void DefineLive(nb::module_& m) {
  DefineStatus(m);
  DefineLiveFilter(m);
  m.def(
      "_checked_timeout",
      [](Seconds timeout) {
        constexpr double kMost = 1e8;  // three years, which all locks of Python accept
        return std::min(InSeconds(SecondsOf(timeout, "timeout")), kMost);
      },
      nb::arg("timeout"));
  nb::class_<PyWatch>(
      m, "Watch",
      "Puts a file into a Live whenever another process has replaced the file, for example by\n"
      "save().\n\n"
      "interval: seconds between checks of the file. secret: the secret of a keyed hash.\n\n"
      "A file is checked before it serves. A damaged file does not serve, and a missing file is\n"
      "not an error: see status(). Checks run on a separate thread until close() or the end of\n"
      "`with`.\n\n"
      ">>> tamis.SplitBlockBloomFilter(1000).save('known.tamis')\n"
      ">>> live = tamis.live.Live()\n"
      ">>> with tamis.live.Watch(live, 'known.tamis') as watch:\n"
      "...     live.generation, watch.status().file\n"
      "(1, 'serving')\n")
      .def(
          "__init__",
          [](PyWatch* self, Arg<"tamis.live.Live"> live, const std::filesystem::path& path,
             Seconds interval, const std::optional<nb::bytes>& secret) {
            if (!nb::isinstance<PyLive>(live)) throw nb::type_error("live is a tamis.live.Live");
            new (self) PyWatch(nb::borrow(live), path, interval, secret);
          },
          nb::arg("live"), nb::arg("path"), nb::kw_only(), nb::arg("interval") = 1.0,
          nb::arg("secret").none() = nb::none())
      .def("check_now", &PyWatch::CheckNow, "Checks the file now. Returns whether it is new.")
      .def("status", &PyWatch::status, "Returns the status of the file.")
      .def("close", &PyWatch::Close, "Stops checking the file.")
      .def("__enter__", [](nb::handle self) { return SelfResult(nb::borrow(self)); })
      .def("__exit__", [](PyWatch& self, const nb::args&) { self.Close(); });
}

}  // namespace tamis::python
