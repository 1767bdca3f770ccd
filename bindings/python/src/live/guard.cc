// A cache guard whose cache and database are Python objects.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <tamis/live/guard.h>
#include <tamis/table_hash.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bindings/python/src/classes/options.h"
#include "bindings/python/src/classes/py_filter.h"
#include "bindings/python/src/classes/raised.h"
#include "bindings/python/src/keys/key_source.h"
#include "bindings/python/src/keys/one_key.h"
#include "bindings/python/src/live/live_classes.h"
#include "bindings/python/src/live/py_live.h"

namespace tamis::python {
namespace {

using Found = std::optional<FreeObject>;

using KeyIterableArg = Arg<"collections.abc.Iterable[tamis._Key]">;
using CommitArg = Arg<"collections.abc.Callable[[], typing.Any]">;
using GuardsArg = nb::typed<nb::dict, nb::str, Named<"tamis.live.CacheGuard[typing.Any]">>;

template <typename Key>
using GuardOf = CacheGuard<Key, FreeObject, AnyConcurrent>;

// A CacheGuard in C++ has keys of one type. Some keys that differ in Python are equal in a filter:
// "a" and b"a", -1 and 2**64 - 1, a UUID and its bytes. Each sort of key has a separate CacheGuard,
// so such keys do not share values.
struct PyGuard {
  PyGuard(PyLive& its_live, const GuardOptions& options)
      : integers{GuardOf<uint64_t>(its_live.live, options),
                 GuardOf<uint64_t>(its_live.live, options)},
        texts{GuardOf<std::string>(its_live.live, options),
              GuardOf<std::string>(its_live.live, options),
              GuardOf<std::string>(its_live.live, options)} {}

  // Returns the guards for all sorts of keys of type `Key`.
  template <typename Key>
  auto& Of() {
    if constexpr (std::is_same_v<Key, std::string>) {
      return texts;
    } else {
      return integers;
    }
  }

  nb::object live, load, load_many, cache;  // None if not given
  GuardOf<uint64_t> integers[2];            // nonnegative; negative
  GuardOf<std::string> texts[3];            // str; bytes; UUID
};

// The guards whose functions for loading or caching this thread is currently calling.
thread_local std::vector<const PyGuard*> t_asked;

class Asking {
 public:
  explicit Asking(const PyGuard& guard) {
    if (std::ranges::find(t_asked, &guard) != t_asked.end()) {
      throw std::runtime_error(
          "load, load_many and the cache of a guard must not call this guard: they "
          "would wait for themselves");
    }
    t_asked.push_back(&guard);
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
  ~Asking() { t_asked.pop_back(); }
};

template <typename Key>
Key KeyOf(const OneKey& key) {
  if constexpr (std::is_same_v<Key, std::string>) {
    return std::string(key.bytes);
  } else {
    return key.integer;
  }
}

// Returns the index of the guard for a key in `integers` or `texts`. Throws nb::python_error.
size_t SortOf(const OneKey& key, nb::handle object) {
  if (key.type == OneKey::Type::kBytes) {
    return PyUnicode_Check(object.ptr()) ? 0 : PyBytes_Check(object.ptr()) ? 1 : 2;
  }
  if (key.integer >> 63 == 0) return 0;
  const int below = PyObject_RichCompareBool(object.ptr(), nb::int_(0).ptr(), Py_LT);
  if (below < 0) throw nb::python_error();
  return static_cast<size_t>(below);
}

Found FoundOf(nb::object value) {
  if (value.is_none()) return {};
  return FreeObject(std::move(value));
}

// The keys of a call that belong to one CacheGuard, and their Python objects.
template <typename Key>
struct Batch {
  void Add(const OneKey& key, nb::handle object, size_t index) {
    keys.push_back(KeyOf<Key>(key));
    objects.emplace(keys.back(), object);
    indices.push_back(index);
  }

  std::vector<Key> keys;
  std::unordered_map<Key, nb::handle, TableHash> objects;  // kept alive by the caller
  std::vector<size_t> indices;                             // indices of these keys in the call
};

bool IsOneText(nb::handle object) {
  return PyUnicode_Check(object.ptr()) || PyBytes_Check(object.ptr()) ||
         PyByteArray_Check(object.ptr());
}

bool IsMapping(nb::handle object) {
  if (PyDict_Check(object.ptr())) return true;
  const nb::object mapping = nb::module_::import_("collections.abc").attr("Mapping");
  return nb::isinstance(object, mapping);
}

// An exception such as KeyboardInterrupt. It ends the call of one thread, but not the calls of
// threads that share its load.
class Interrupt : public Raised, public LoadInterrupted {
 public:
  explicit Interrupt(const Raised& raised) : Raised(raised) {}
};

// Returns work(), like CatchRaised. Throws Interrupt if a Python exception is not an Exception.
template <typename Work>
auto CatchInterrupts(const Work& work) {
  try {
    return CatchRaised(work);
  } catch (const Raised& raised) {
    if (raised.is_interrupt()) throw Interrupt(raised);
    throw;
  }
}

// The cache and the database, as CacheGuard calls them. The caller has released the GIL.
template <typename Key>
class Sources {
 public:
  Sources(const PyGuard& guard, const Batch<Key>& batch, WithoutGil& released)
      : guard_(guard), batch_(batch), released_(released) {}

  std::vector<Found> Get(std::span<const Key> keys) {
    std::vector<Found> values(keys.size());
    if (guard_.cache.is_none()) return values;
    const WithoutGil::Pause with_gil(released_);
    OfCache([&] {
      const nb::object get = guard_.cache.attr("get");
      for (size_t i = 0; i < keys.size(); ++i) values[i] = FoundOf(Call(get, ObjectOf(keys[i])));
    });
    return values;
  }
  void Put(std::span<const std::pair<Key, FreeObject>> loaded) {
    if (guard_.cache.is_none()) return;
    const WithoutGil::Pause with_gil(released_);
    OfCache([&] {
      for (const auto& item : loaded) {
        const nb::handle key = ObjectOf(item.first);
        const int status = OrStay([&] {
          return PyObject_SetItem(guard_.cache.ptr(), key.ptr(), item.second.get().ptr());
        });
        if (status != 0) throw nb::python_error();
      }
    });
  }
  std::vector<Found> Load(std::span<const Key> keys) {
    const WithoutGil::Pause with_gil(released_);
    if (interrupt_) throw Interrupt(*interrupt_);
    return CatchInterrupts(
        [&] { return guard_.load_many.is_none() ? OneByOne(keys) : AtOnce(keys); });
  }
  // CacheGuard calls this repeatedly while it waits for another thread that loads the key.
  void Wait() {
    const WithoutGil::Pause with_gil(released_);
    CatchInterrupts(CheckSignals);
  }

  // If a call of the cache was interrupted, raises the interrupt, because CacheGuard only counts
  // the failures of a cache.
  void RaiseInterrupt() const {
    if (interrupt_) interrupt_->Raise();
  }

 private:
  nb::handle ObjectOf(const Key& key) const { return batch_.objects.find(key)->second; }

  template <typename Work>
  void OfCache(const Work& work) {
    try {
      CatchInterrupts(work);
    } catch (const Interrupt& interrupt) {
      interrupt_ = interrupt;
      throw;
    }
  }

  std::vector<Found> OneByOne(std::span<const Key> keys) const {
    std::vector<Found> values;
    for (const Key& key : keys) values.push_back(FoundOf(Call(guard_.load, ObjectOf(key))));
    return values;
  }
  std::vector<Found> AtOnce(std::span<const Key> keys) const {
    nb::list asked;
    for (const Key& key : keys) asked.append(ObjectOf(key));
    const nb::object loaded = Call(guard_.load_many, asked);
    if (PyAnySet_Check(loaded.ptr())) {
      throw nb::type_error(
          "load_many must return values in the order of its keys, and a set is not ordered");
    }
    if (IsOneText(loaded)) {
      throw nb::type_error("load_many returns a value for each key, and a string is one value");
    }
    std::vector<Found> values;
    if (IsMapping(loaded)) {
      RequireKeysOf(loaded, asked);
      const nb::object get = loaded.attr("get");
      for (const nb::handle key : asked) values.push_back(FoundOf(Call(get, key)));
      return values;
    }
    for (const nb::handle value : loaded) values.push_back(FoundOf(nb::borrow(value)));
    return values;
  }

  // Throws TypeError if the loader seems to have returned keys of another class. That is so if the
  // mapping contains no requested key, and no requested key has the class of the mapping's first
  // key.
  static void RequireKeysOf(const nb::object& mapping, const nb::list& asked) {
    for (const nb::handle other : mapping) {
      for (const nb::handle key : asked) {
        const int is_in = PySequence_Contains(mapping.ptr(), key.ptr());
        if (is_in < 0) throw nb::python_error();
        if (is_in == 1 || key.type().is(other.type())) return;
      }
      PyErr_Format(PyExc_TypeError, "load_many was called with %R, and returned a mapping with %R",
                   asked[0].ptr(), other.ptr());
      throw nb::python_error();
    }
  }

  const PyGuard& guard_;
  const Batch<Key>& batch_;
  WithoutGil& released_;
  std::optional<Interrupt> interrupt_;
};

template <typename Key>
void GetBatch(PyGuard& guard, GuardOf<Key>& of_batch, const Batch<Key>& batch, nb::list& values) {
  if (batch.keys.empty()) return;
  std::vector<Found> found;
  RaiseAgain([&] {
    WithoutGil released;
    Sources<Key> sources(guard, batch, released);
    found = of_batch.GetMany(
        std::span<const Key>(batch.keys), sources,
        [&](std::span<const Key> keys) { return sources.Load(keys); }, [&] { sources.Wait(); });
    const WithoutGil::Pause with_gil(released);
    sources.RaiseInterrupt();
  });
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i]) values[batch.indices[i]] = found[i]->get();
  }
}

// Distributes the keys of a call to one batch for each CacheGuard.
struct Batches {
  void Add(nb::handle object, size_t index) {
    OneKey key;
    if (!key.Parse(object.ptr())) throw nb::python_error();
    const size_t sort = SortOf(key, object);
    if (key.type == OneKey::Type::kInteger) {
      integers[sort].Add(key, object, index);
    } else {
      texts[sort].Add(key, object, index);
    }
  }

  Batch<uint64_t> integers[2];
  Batch<std::string> texts[3];
};

// Returns the values of `keys`. The caller must keep the objects alive.
nb::list GetAll(PyGuard& guard, std::span<const nb::object> keys, nb::handle lacking) {
  const Asking asking(guard);
  Batches batches;
  nb::list values;
  for (size_t i = 0; i < keys.size(); ++i) {
    batches.Add(keys[i], i);
    values.append(lacking);
  }
  for (size_t i = 0; i < std::size(batches.integers); ++i) {
    GetBatch(guard, guard.integers[i], batches.integers[i], values);
  }
  for (size_t i = 0; i < std::size(batches.texts); ++i) {
    GetBatch(guard, guard.texts[i], batches.texts[i], values);
  }
  return values;
}

std::vector<nb::object> ObjectsOf(nb::handle iterable) {
  if (IsOneText(iterable)) throw nb::type_error("this is one key, and not a collection of keys");
  std::vector<nb::object> objects;
  for (const nb::handle object : iterable) objects.push_back(nb::borrow(object));
  return objects;
}

Result<"_V | typing.Any"> Get(PyGuard& guard, KeyArg key, Arg<"typing.Any"> lacking) {
  const nb::object object = nb::borrow(key);
  return nb::object(GetAll(guard, std::span(&object, 1), lacking)[0]);
}

Result<"list[_V | None]"> GetMany(PyGuard& guard, KeyIterableArg keys) {
  return GetAll(guard, ObjectsOf(keys), nb::none());
}

// Forgets the keys in the guards of all sorts, because keys of different sorts may be equal in the
// filter.
template <typename Key>
void ForgetIn(PyGuard& guard, std::span<const Key> keys) noexcept {
  for (GuardOf<Key>& of_type : guard.Of<Key>()) {
    for (const Key& key : keys) of_type.Forget(key);
  }
}

template <typename Key>
nb::object InsertBatch(PyGuard& guard, std::span<const Key> keys, nb::handle commit) {
  PyLive& live = nb::cast<PyLive&>(guard.live);
  nb::object result;
  RaiseAgain([&] {
    WithoutGil released;
    const ScopeMark mark(live.scopes);
    struct ForgetAtEnd {
      ~ForgetAtEnd() { ForgetIn(guard, keys); }
      PyGuard& guard;
      std::span<const Key> keys;
    } const forget{guard, keys};
    guard.Of<Key>()[0].Insert(keys, [&] {
      const WithoutGil::Pause with_gil(released);
      CatchRaised([&] { result = Call(commit); });
    });
  });
  return result;
}

nb::object InsertAll(PyGuard& guard, std::span<const nb::object> objects, nb::handle commit) {
  std::vector<uint64_t> integers;
  std::vector<std::string> texts;
  for (const nb::object& object : objects) {
    OneKey key;
    if (!key.Parse(object.ptr())) throw nb::python_error();
    if (key.type == OneKey::Type::kInteger) {
      integers.push_back(key.integer);
    } else {
      texts.emplace_back(key.bytes);
    }
  }
  if (!integers.empty() && !texts.empty()) {
    throw nb::value_error("keys that are inserted together are all integers, or all text");
  }
  return texts.empty() ? InsertBatch(guard, std::span<const uint64_t>(integers), commit)
                       : InsertBatch(guard, std::span<const std::string>(texts), commit);
}

AnyResult Insert(PyGuard& guard, KeyArg key, CommitArg commit) {
  const nb::object object = nb::borrow(key);
  return InsertAll(guard, std::span(&object, 1), commit);
}

AnyResult InsertMany(PyGuard& guard, KeyIterableArg keys, CommitArg commit) {
  return InsertAll(guard, ObjectsOf(keys), commit);
}

void Forget(PyGuard& guard, KeyArg object) {
  OneKey key;
  if (!key.Parse(object.ptr())) throw nb::python_error();
  if (key.type == OneKey::Type::kInteger) {
    ForgetIn(guard, std::span<const uint64_t>(&key.integer, 1));
  } else {
    const std::string text(key.bytes);
    ForgetIn(guard, std::span<const std::string>(&text, 1));
  }
}

// Adds the counters of `part` to `sum`.
void Add(GuardStats& sum, const GuardStats& part) {
  for (uint64_t GuardStats::*const counter :
       {&GuardStats::blocked, &GuardStats::passed, &GuardStats::unknown, &GuardStats::other_type,
        &GuardStats::cache_hits, &GuardStats::negative_hits, &GuardStats::coalesced,
        &GuardStats::loads, &GuardStats::false_positives, &GuardStats::load_failures,
        &GuardStats::cache_failures, &GuardStats::negatives}) {
    sum.*counter += part.*counter;
  }
  if (part.known) {
    sum.known = true;
    sum.failure = {};
  }
}

// Returns the sum of the counters of all guards. `known` is true if it is true for any guard.
GuardStats StatsOf(PyGuard& guard) {
  GuardStats sum = guard.integers[0].stats();
  Add(sum, guard.integers[1].stats());
  for (GuardOf<std::string>& texts : guard.texts) Add(sum, texts.stats());
  return sum;
}

std::string PrometheusTextOf(GuardsArg guards) {
  std::vector<NamedGuardStats> named;
  for (const auto [name, guard] : guards) {
    if (!nb::isinstance<PyGuard>(guard)) throw nb::type_error("the values are guards");
    named.push_back({nb::cast<std::string>(name), StatsOf(nb::cast<PyGuard&>(guard))});
  }
  return PrometheusText(named);
}

// Visits all references: `load` and `cache` may refer to the guard, which then is part of a cycle.
int Traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const PyGuard* const guard = nb::inst_ptr<PyGuard>(self);
  for (const nb::object* const held :
       {&guard->live, &guard->load, &guard->load_many, &guard->cache}) {
    Py_VISIT(held->ptr());
  }
  return 0;
}

// Clears the references that can be part of a cycle. Does not clear `live`, which the guards still
// use: it cannot refer to the guard.
int Clear(PyObject* self) noexcept {
  if (!nb::inst_ready(self)) return 0;
  PyGuard* const guard = nb::inst_ptr<PyGuard>(self);
  for (nb::object* const held : {&guard->load, &guard->load_many, &guard->cache}) {
    *held = nb::none();
  }
  return 0;
}

void Make(PyGuard* self, Arg<"tamis.live.Live"> live,
          Arg<"collections.abc.Callable[[typing.Any], _V | None]"> load,
          Arg<"collections.abc.Callable[[list[typing.Any]], collections.abc.Iterable[_V | None]]">
              load_many,
          Arg<"_Cache[_V]"> cache, std::optional<Seconds> max_age, Seconds negative_ttl,
          Unsigned max_negatives) {
  if (!nb::isinstance<PyLive>(live)) throw nb::type_error("live is a tamis.live.Live");
  for (const nb::handle callable : {nb::handle(load), nb::handle(load_many)}) {
    if (!callable.is_none() && PyCallable_Check(callable.ptr()) == 0) {
      throw nb::type_error("load and load_many are functions");
    }
  }
  if (load.is_none() && load_many.is_none()) {
    throw nb::type_error("load or load_many must be given, or both");
  }
  GuardOptions options{.negative_ttl = SecondsOf(negative_ttl, "negative_ttl"),
                       .max_negatives = max_negatives.value};
  if (max_age) options.max_age = SecondsOf(*max_age, "max_age");
  new (self) PyGuard(nb::cast<PyLive&>(live), options);
  self->live = nb::borrow(live);
  self->load = nb::borrow(load);
  self->load_many = nb::borrow(load_many);
  self->cache = nb::borrow(cache);
}

PyType_Slot kSlots[] = {{Py_tp_traverse, reinterpret_cast<void*>(Traverse)},
                        {Py_tp_clear, reinterpret_cast<void*>(Clear)},
                        {0, nullptr}};

constexpr char kDoc[] =
    "Returns values by key, and keeps requests for keys that do not exist from a cache and a\n"
    "database: if the filter answers \"no\", neither is called.\n\n"
    "live: the Live with the filter. Without a filter, all keys pass.\n"
    "load: load(key) reads the database, and returns None if it does not have the key. If\n"
    "    several threads request the same key at a time, one of them loads it, and the others\n"
    "    share its result or exception. An exception that is not an Exception, such as\n"
    "    KeyboardInterrupt, is raised only in the thread that loads, and another thread loads\n"
    "    again. Ctrl-C ends waiting for another thread's load.\n"
    "load_many: load_many(keys), for get_many. Takes a list of keys. Returns a value for each\n"
    "    key, in order, or a mapping of keys to values.\n"
    "cache: a dict, or any object with get(key), which returns None for a miss, and\n"
    "    cache[key] = value. An exception of the cache is counted, and then treated as a miss.\n"
    "max_age: largest age of the filter, in seconds. All keys pass an older filter.\n"
    "negative_ttl: how long a database miss is cached, in seconds.\n"
    "max_negatives: number of keys with a cached miss. Counts str, bytes, UUIDs, negative and\n"
    "    other integers separately.\n\n"
    "Keys are those of the filters: str and bytes, or integers. Any number of threads may use\n"
    "one guard.\n\n"
    ">>> users = {'ada': 'Ada Lovelace', 'bob': 'Bob'}\n"
    ">>> live = tamis.live.Live(tamis.live.ConcurrentSplitBlockBloomFilter(1000))\n"
    ">>> live.insert(users)\n"
    "2\n"
    ">>> guard = tamis.live.CacheGuard(live, users.get, cache={})\n"
    ">>> guard.get('ada'), guard.get('eve')\n"
    "('Ada Lovelace', None)\n"
    ">>> guard.stats().blocked, guard.stats().loads\n"
    "(1, 1)\n";

void DefineStats(nb::module_& m) {
  nb::class_<GuardStats>(m, "GuardStats", "A snapshot of the counters of a CacheGuard, in keys.")
      .def_ro("blocked", &GuardStats::blocked, "The filter answered \"no\".")
      .def_ro("passed", &GuardStats::passed, "The filter answered \"maybe\", or could not be used.")
      .def_ro("unknown", &GuardStats::unknown,
              "Part of `passed`: the filter could not be used, also for keys of `other_type`.")
      .def_ro("other_type", &GuardStats::other_type,
              "Part of `unknown`: the filter has only keys of another type.")
      .def_ro("cache_hits", &GuardStats::cache_hits, "The cache had the key.")
      .def_ro("negative_hits", &GuardStats::negative_hits,
              "The database did not have the key shortly before.")
      .def_ro("coalesced", &GuardStats::coalesced, "Another thread was already loading the key.")
      .def_ro("loads", &GuardStats::loads, "The database was called.")
      .def_ro(
          "false_positives", &GuardStats::false_positives,
          "Part of `loads`: the filter answered \"maybe\", but the database did not have the key.")
      .def_ro("load_failures", &GuardStats::load_failures,
              "Part of `loads`: the database raised an exception.")
      .def_ro("cache_failures", &GuardStats::cache_failures,
              "Number of calls of the cache that raised an exception.")
      .def_ro("negatives", &GuardStats::negatives,
              "Number of keys that are currently cached as database misses.")
      .def_ro("known", &GuardStats::known, "Whether the filter can be used.")
      .def_prop_ro(
          "failure", [](const GuardStats& s) -> Result<"str | None"> {
            if (!s.failure) return nb::none();
            return nb::str(s.failure->text.c_str());
          },
          "Why the filter cannot be used, or None.")
      .def_ro("generation", &GuardStats::generation,
              "The generation of the filter; 0 without a filter.")
      .def_prop_ro(
          "age", [](const GuardStats& s) { return static_cast<double>(s.age.count()) / 1e9; },
          "The age of the filter, in seconds.");
}

}  // namespace

void DefineGuard(nb::module_& m) {
  const auto none = nb::none();
  DefineStats(m);
  nb::class_<PyGuard>(m, "CacheGuard", nb::type_slots(kSlots), nb::is_weak_referenceable(),
                      nb::is_generic(), nb::sig("class CacheGuard(typing.Generic[_V])"), kDoc)
      .def("__init__", Make, nb::arg("live"), nb::arg("load").none() = none, nb::kw_only(),
           nb::arg("load_many").none() = none, nb::arg("cache").none() = none,
           nb::arg("max_age").none() = none, nb::arg("negative_ttl") = 30.0,
           nb::arg("max_negatives") = Unsigned{1 << 16})
      .def("get", Get, nb::arg("key").none(), nb::arg("default").none() = none,
           "Returns the value of a key, or the default. Raises the exceptions of load.")
      .def("get_many", GetMany, nb::arg("keys"),
           "Returns a list of the values of many keys, in order, with None for keys that do not\n"
           "exist. Loads no key twice. An exception of load ends the call.")
      .def("insert", Insert, nb::arg("key").none(), nb::arg("commit"),
           "Inserts a key into the filter, then calls commit() to insert it into the database,\n"
           "and returns its result. Afterwards no thread gets the answer that the key does not\n"
           "exist. The caller must remove an outdated cache entry. If commit raises, the key\n"
           "stays in the filter until the next rebuild.\n\n"
           ">>> users = {}\n"
           ">>> live = tamis.live.Live(tamis.live.ConcurrentSplitBlockBloomFilter(1000))\n"
           ">>> guard = tamis.live.CacheGuard(live, users.get)\n"
           ">>> guard.insert('eve', lambda: users.update(eve='Eve'))\n"
           ">>> guard.get('eve')\n"
           "'Eve'\n")
      .def("insert_many", InsertMany, nb::arg("keys"), nb::arg("commit"),
           "Like insert, for several keys of one type with one commit.")
      .def("forget", Forget, nb::arg("key").none(),
           "Forgets that the database lacked a key. Call it after inserting the key into the\n"
           "database and the filter without insert().")
      .def("stats", StatsOf, "Returns the counters.");
  m.def("prometheus_text", PrometheusTextOf, nb::arg("guards"),
        "Returns the counters of guards as text for Prometheus. `guards`: a dict of names and "
        "guards.");
}

}  // namespace tamis::python
