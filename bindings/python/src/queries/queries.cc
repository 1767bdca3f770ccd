// The calls of all filters, with one key and with many.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <tamis/changes.h>
#include <tamis/error.h>
#include <tamis/hash_keys.h>
#include <tamis/key_types_text.h>
#include <tamis/unanswered_error.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/python/src/classes/py_filter.h"
#include "bindings/python/src/classes/typed.h"
#include "bindings/python/src/keys/one_key.h"
#include "bindings/python/src/live/guarded.h"
#include "bindings/python/src/queries/batches.h"
#include "bindings/python/src/queries/engines.h"
#include "bindings/python/src/queries/py_queryable.h"
#include "tamis/detail/str_cat.h"

namespace tamis::python {
namespace {

// Returns call(). If it throws UnansweredError, sets the Python error with the indices of the keys.
template <typename Call>
auto WithKeys(const Call& call) {
  try {
    return call();
  } catch (const UnansweredError& error) {
    SetError(error, error.keys());
    throw nb::python_error();
  }
}

// Returns work(), which processes the batch that begins with key `first` of a call. Converts the
// key indices in an UnansweredError to indices in the call.
template <typename Work>
auto ForBatch(uint64_t first, const Work& work) {
  try {
    return work();
  } catch (UnansweredError& error) {
    error.Shift(first);
    throw;
  }
}

// Like ForBatch, for insertions. The messages of their errors may contain an index within the
// batch, so the new message states how many keys were inserted before the batch.
template <typename Work>
size_t InsertBatch(uint64_t first, const Work& work) {
  try {
    return ForBatch(first, work);
  } catch (const UnansweredError&) {
    throw;
  } catch (const Error& error) {
    if (first == 0) throw;
    throw Error(error.code(), tamis::detail::StrCat(first, " keys are in; of the keys after them, ",
                                                    error.what()));
  }
}

EnginePtr EngineOf(const PyQueryable& f, std::optional<int64_t> threads) {
  if (threads && f.thread_safety == QueryTraits::ThreadSafety::kOneThread) {
    throw nb::value_error("threads must be None: this filter takes one call at a time");
  }
  return EngineFor(threads);
}

size_t LeastKeysWithoutGil(const PyQueryable& f) { return f.waits ? 0 : kReleasesGil; }

AnyResult Contains(PyQueryable& f, KeysArg x, Arg<"typing.Any"> out,
                   std::optional<int64_t> threads) {
  const EnginePtr engine = EngineOf(f, threads);
  const Queryable& in = f.queryable();
  uint64_t first = 0;
  const auto query = [&](const Keys& keys, std::span<uint8_t> bools) {
    RequireSameSort(keys, in.key_types());
    ForBatch(std::exchange(first, first + keys.size()),
             [&] { return engine ? engine->Contains(in, keys, bools) : in.Contains(keys, bools); });
  };
  return WithKeys([&] {
    return AnswerEach(*f.KeysOf(x), x, out, nb::none(), ToQuery(f), query, LeastKeysWithoutGil(f));
  });
}

AnyResult Select(PyQueryable& f, KeysArg x, std::optional<int64_t> threads) {
  const EnginePtr engine = EngineOf(f, threads);
  const Queryable& in = f.queryable();
  uint64_t first = 0;
  const auto query = [&](const Keys& keys, std::span<uint64_t> rows) {
    RequireSameSort(keys, in.key_types());
    return ForBatch(std::exchange(first, first + keys.size()), [&] {
      return engine ? engine->Select(in, keys, rows) : in.Select(keys, rows);
    });
  };
  return WithKeys(
      [&] { return SelectFrom(*f.KeysOf(x), x, ToQuery(f), query, LeastKeysWithoutGil(f)); });
}

AnyResult SelectRowsFrom(PyQueryable& f, KeysArg x, KeysArg selection) {
  const Queryable& in = f.queryable();
  const auto query = [&](const Keys& keys, std::span<const uint64_t> rows,
                         std::span<uint64_t> out) {
    RequireSameSort(keys, in.key_types());
    return in.SelectFrom(keys, rows, out);
  };
  return WithKeys([&] {
    return SelectFromRows(*f.KeysOf(x), x, selection, ToQuery(f), query, LeastKeysWithoutGil(f));
  });
}

uint64_t Count(PyQueryable& f, KeysArg x, std::optional<int64_t> threads) {
  const EnginePtr engine = EngineOf(f, threads);
  const Queryable& in = f.queryable();
  const auto source = f.KeysOf(x);
  uint64_t count = 0;
  const auto query = [&](const Keys& keys, uint64_t first) {
    RequireSameSort(keys, in.key_types());
    count += ForBatch(first, [&] { return engine ? engine->Count(in, keys) : in.Count(keys); });
  };
  return WithKeys([&] {
    ForBatches(*source, nb::none(), NoPreparation, ToQuery(f), query, LeastKeysWithoutGil(f));
    return count;
  });
}

// Waits until the filter can be changed. Throws, before any key is read, if it cannot be changed at
// all.
Changeable& WaitToChange(PyChangeable& f) {
  if (f.thread_safety != QueryTraits::ThreadSafety::kConcurrentChanges) f.gate.WaitToWrite();
  return f.RequireChangeable();
}

// Returns the number of keys, except nulls, that were not inserted and that the filter does not
// find.
uint64_t LostOf(const Queryable& in, const Keys& keys, size_t inserted) {
  const size_t valid = keys.CountValid();
  if (inserted >= valid) return 0;
  return valid - std::max(inserted, std::min(valid, in.Count(keys)));
}

uint64_t Insert(PyChangeable& f, KeysArg x, std::optional<int64_t> threads, bool partial,
                ProgressArg progress) {
  const EnginePtr engine = EngineOf(f, threads);
  Changeable& into = WaitToChange(f);
  const Queryable& in = f.queryable();
  ChangeableFilter* const filter = engine ? f.engine_filter() : nullptr;
  const auto source = f.KeysOf(x);
  uint64_t inserted = 0, lost = 0;
  const auto insert = [&](const Keys& keys, uint64_t first) {
    const size_t n = InsertBatch(first, [&] {
      return filter != nullptr ? engine->Insert(*filter, keys) : tamis::Insert(into, keys);
    });
    inserted += n;
    lost += LostOf(in, keys, n);
  };
  return WithKeys([&] {
    const uint64_t keys =
        ForBatches(*source, progress, NoPreparation, ToChange(f), insert, LeastKeysWithoutGil(f));
    if (lost > 0 && !partial) ThrowFull(lost, keys);
    return inserted;
  });
}

AnyResult InsertIfAbsent(PyChangeable& f, KeysArg x, Arg<"typing.Any"> out,
                         std::optional<int64_t> threads, bool partial, ProgressArg progress) {
  const EnginePtr engine = EngineOf(f, threads);
  Changeable& into = WaitToChange(f);
  ChangeableFilter* const filter = engine ? f.engine_filter() : nullptr;
  uint64_t lost = 0, done = 0;
  std::vector<uint64_t> words, rejected;
  const auto insert = [&](const Keys& keys, std::span<uint8_t> bools) {
    words.resize(BitmapWords(keys.size()));
    rejected.resize(words.size());
    const Bitmap fresh(words), full(rejected);
    InsertBatch(done, [&] {
      return filter != nullptr ? engine->InsertIfAbsent(*filter, keys, fresh, full)
                               : tamis::InsertIfAbsent(into, keys, fresh, full);
    });
    for (size_t i = 0; i < bools.size(); ++i) bools[i] = fresh.Test(i);
    for (const uint64_t word : rejected) lost += static_cast<uint64_t>(std::popcount(word));
    done += keys.size();
  };
  return WithKeys([&] {
    nb::object answer =
        AnswerEach(*f.KeysOf(x), x, out, progress, ToChange(f), insert, LeastKeysWithoutGil(f));
    if (lost > 0 && !partial) ThrowFull(lost, done);
    return answer;
  });
}

// Like WaitToChange, but also throws TypeError for a filter that cannot erase keys.
Changeable& WaitToErase(PyChangeable& f) {
  Changeable& from = WaitToChange(f);
  if (from.change_traits().erases) return from;
  throw nb::type_error(("keys cannot be erased from a " + f.name()).c_str());
}

// Reads the hashes of all keys before any is erased, so that an invalid key erases nothing.
uint64_t EraseAll(PyChangeable& f, nb::handle x, nb::handle progress, const auto& erase) {
  const std::optional<HashSpec> hash = f.hash_for_erasure();
  if (!hash) {
    throw nb::type_error(("the keys of a " + f.name() +
                          " cannot be queried in advance: missing_ok=True erases the keys that it "
                          "finds")
                             .c_str());
  }
  const auto source = f.KeysOf(x);
  std::vector<uint64_t> hashes;
  const auto unlocked = [] { return 0; };
  ForBatches(*source, progress, NoPreparation, unlocked, [&](const Keys& batch, uint64_t) {
    const size_t before = hashes.size();
    hashes.resize(before + batch.size());
    hashes.resize(before + HashKeys(batch, *hash, std::span(hashes).subspan(before)));
  });
  const Locked lock(f);
  std::optional<WithoutGil> released;
  if (hashes.size() >= kReleasesGil) released.emplace();
  const Keys keys(Hashes{hashes});
  try {
    f.RequireAllIn(keys);
  } catch (const Error& error) {
    throw Error(error.code(), std::string(error.what()) +
                                  ". Erasing keys that are not in can erase others; "
                                  "missing_ok=True erases the keys that are found");
  }
  return erase(keys);
}

uint64_t Erase(PyChangeable& f, KeysArg x, std::optional<int64_t> threads, bool missing_ok,
               ProgressArg progress) {
  const EnginePtr engine = EngineOf(f, threads);
  Changeable& from = WaitToErase(f);
  auto* const filter = engine ? dynamic_cast<ErasableFilter*>(f.engine_filter()) : nullptr;
  const auto erase = [&](const Keys& keys) {
    return filter != nullptr ? engine->Erase(*filter, keys) : tamis::Erase(from, keys);
  };
  if (!missing_ok) return EraseAll(f, x, progress, erase);
  const auto source = f.KeysOf(x);
  uint64_t erased = 0;
  return WithKeys([&] {
    ForBatches(
        *source, progress, NoPreparation, ToChange(f),
        [&](const Keys& batch, uint64_t first) {
          erased += ForBatch(first, [&] { return erase(batch); });
        },
        LeastKeysWithoutGil(f));
    return erased;
  });
}

// ---- One key. The classes of filters in memory have faster functions.

// Returns work(keys), where `keys` contains one key. Holds the lock for the change or query.
template <typename F, typename Work>
auto WithKey(F& f, nb::handle object, const Work& work) {
  OneKey key;
  if (!key.Parse(object.ptr())) throw nb::python_error();
  const Keys keys = key.type == OneKey::Type::kInteger ? Keys(std::span(&key.integer, 1))
                                                       : Keys(std::span(&key.bytes, 1));
  return WithKeys([&] {
    const Locked lock(f);
    std::optional<WithoutGil> released;
    if (f.waits) released.emplace();
    return work(keys);
  });
}

bool Has(PyQueryable& f, KeyArg key) {
  const Queryable& in = f.queryable();
  return WithKey(f, key, [&](const Keys& keys) { return in.Count(keys) == 1; });
}

void Add(PyChangeable& f, KeyArg key) {
  Changeable& into = WaitToChange(f);
  const Queryable& in = f.queryable();
  const uint64_t lost = WithKey(
      f, key, [&](const Keys& keys) { return LostOf(in, keys, tamis::Insert(into, keys)); });
  if (lost > 0) ThrowFull(1, 1);
}

bool AddIfAbsent(PyChangeable& f, KeyArg key) {
  Changeable& into = WaitToChange(f);
  uint64_t fresh = 0, lost = 0;
  WithKey(f, key, [&](const Keys& keys) {
    return tamis::InsertIfAbsent(into, keys, Bitmap({&fresh, 1}), Bitmap({&lost, 1}));
  });
  if (lost > 0) ThrowFull(1, 1);
  return fresh > 0;
}

bool Discard(PyChangeable& f, KeyArg key) {
  Changeable& from = WaitToErase(f);
  return WithKey(f, key, [&](const Keys& keys) { return tamis::Erase(from, keys) == 1; });
}

void Remove(PyChangeable& f, KeyArg key) {
  if (Discard(f, key)) return;
  PyErr_SetObject(PyExc_KeyError, key.ptr());
  throw nb::python_error();
}

constexpr char kInsertDoc[] =
    "Inserts many keys. Returns the number inserted, which is all except nulls.\n\n"
    "x: a NumPy array of integers of any width, spacing and byte order, of str, bytes or objects;\n"
    "    anything with __arrow_c_array__ or __arrow_c_stream__ (pyarrow, Polars, pandas, DuckDB)\n"
    "    with integers, strings, binary, dates, timestamps or a dictionary of these; or an\n"
    "    iterable of keys as for add, with None for nulls. Missing values are not keys: they are\n"
    "    never inserted and never contained.\n"
    "threads: number of threads. None: the calling thread. 0: one thread per processor, or\n"
    "    TAMIS_THREADS.\n"
    "partial: if True, leaves out keys for which a cuckoo or scalable filter has no room. If\n"
    "    False, raises FullError for such keys, after all other keys have been inserted.\n"
    "progress: is called with the number of keys done, at least every 2**24 keys.\n\n"
    "Runs without the GIL. Ctrl-C ends it between two slices of keys. If an error is raised in\n"
    "the middle of an iterable, the keys before it have been inserted.\n\n"
    ">>> f = tamis.SplitBlockBloomFilter(1000)\n"
    ">>> f.insert([1, 2, 3, None])\n"
    "3\n"
    ">>> f.insert(range(10, 20)), f.inserted_count\n"
    "(10, 13)\n";
constexpr char kContainsDoc[] =
    "Returns an array of bool: whether each key of x may be in.\n\n"
    "For a NumPy array the result is a NumPy array, for pyarrow a BooleanArray, for a Series of\n"
    "Polars or pandas a Series, for other Arrow data Answers, and for an iterable a list.\n"
    "out: an array of bool or uint8 to write to instead, which is returned.\n"
    "See insert for x and threads.\n\n"
    ">>> f = tamis.SplitBlockBloomFilter(1000)\n"
    ">>> f.update(['ada', 'bob'])\n"
    ">>> f.contains(['bob', 'eve', None])\n"
    "[True, False, False]\n";
constexpr char kSelectDoc[] =
    "Returns the indices of the keys that may be in, ascending. They are int64, in an array of\n"
    "the same package as the answer of contains.\n\n"
    ">>> f = tamis.SplitBlockBloomFilter(1000)\n"
    ">>> f.update(['ada', 'bob'])\n"
    ">>> f.select(['eve', 'bob', 'ada'])\n"
    "[1, 2]\n";
constexpr char kSelectFromDoc[] =
    "Queries only the keys at the indices in selection, such as the rows that an earlier\n"
    "predicate kept. Returns the indices of the keys that may be in, in the order of selection,\n"
    "like select.\n\n"
    "selection: integers, in any order; each is at least 0 and below the number of keys.\n\n"
    ">>> f = tamis.SplitBlockBloomFilter(1000)\n"
    ">>> f.update(['ada', 'bob'])\n"
    ">>> f.select_from(['eve', 'bob', 'ada'], [2, 0])\n"
    "[2]\n";
constexpr char kInsertIfAbsentDoc[] =
    "Inserts the absent keys, one after the other. Returns an array of bool: which keys were\n"
    "absent.\n\n"
    "A key that came earlier in x is not absent, and neither is a null. See insert and contains\n"
    "for the arguments.\n\n"
    ">>> f = tamis.SplitBlockBloomFilter(1000)\n"
    ">>> f.insert_if_absent(['ada', 'bob', 'ada'])\n"
    "[True, True, False]\n";
constexpr char kEraseDoc[] =
    "Erases one copy of each key. All keys must have been inserted. Returns the number erased.\n\n"
    "A filter also finds some other keys, at its false-positive rate, and erasing one of these\n"
    "removes an inserted key. So unless the filter finds every key, InvalidArgumentError is\n"
    "raised and nothing is erased. An error among the keys, or Ctrl-C, also erases nothing. The\n"
    "call needs 8 bytes of memory per key.\n\n"
    "missing_ok: if True, erases the keys that are found, in batches as they are read.\n\n"
    "See insert for x, threads and progress.\n\n"
    ">>> f = tamis.CuckooFilter12(1000)\n"
    ">>> f.update([1, 2, 3])\n"
    ">>> f.erase([2, 3]), f.inserted_count\n"
    "(2, 1)\n"
    ">>> f.erase([1, 2])\n"
    "Traceback (most recent call last):\n"
    "tamis.InvalidArgumentError: 1 of 2 keys are not in the filter; nothing was erased. ...\n"
    ">>> f.erase([1, 2], missing_ok=True)\n"
    "1\n";
constexpr char kCountDoc[] =
    "Returns the number of keys that may be in.\n\n"
    ">>> f = tamis.SplitBlockBloomFilter(1000)\n"
    ">>> f.update(range(10))\n"
    ">>> f.count([5, 8, 1000])\n"
    "2\n";

}  // namespace

void DefineQueryables(nb::module_& m) {
  const auto none = nb::none();
  nb::class_<PyQueryable>(
      m, "Queryable", nb::is_weak_referenceable(),
      "The common base class of all objects that can be queried. `key in f` is True for every\n"
      "inserted key, and for few other keys. The share of these is the false-positive rate.\n\n"
      "Any number of threads may use an object. A call that changes it waits for calls that\n"
      "query it, and vice versa.\n")
      .def("__contains__", Has, nb::arg("key").none())
      .def("contains", Contains, nb::arg("x"), nb::kw_only(), nb::arg("out").none() = none,
           nb::arg("threads").none() = none, kContainsDoc)
      .def("select", Select, nb::arg("x"), nb::kw_only(), nb::arg("threads").none() = none,
           kSelectDoc)
      .def("select_from", SelectRowsFrom, nb::arg("x"), nb::arg("selection"), kSelectFromDoc)
      .def("count", Count, nb::arg("x"), nb::kw_only(), nb::arg("threads").none() = none, kCountDoc)
      .def_prop_ro(
          "nbytes",
          [](PyQueryable& f) {
            const Locked lock(f);
            return f.queryable().bytes();
          },
          "The size of its contents, in bytes.")
      .def_prop_ro(
          "key_types",
          [](PyQueryable& f) {
            const Locked lock(f);
            return KeyTypesText(f.queryable().key_types());
          },
          "The types of its keys: 'text', 'integers', 'text and integers' ... A key of another\n"
          "type is not in the filter: 42 and '42' are different keys.")
      .def(
          "estimated_count",
          [](PyQueryable& f) {
            return Query(f, [](const Queryable& in) { return in.estimated_count(); });
          },
          "Estimates the number of distinct inserted keys. Reads all contents. Returns NaN if the\n"
          "class does not support it.")
      .def(
          "expected_fpr",
          [](PyQueryable& f) {
            return Query(f, [](const Queryable& in) { return in.expected_fpr(); });
          },
          "Computes the false-positive rate at the current fill. Reads all contents. Returns NaN\n"
          "if the class does not support it.");
  nb::class_<PyChangeable, PyQueryable>(m, "Changeable", nb::is_weak_referenceable(),
                                        "The base class of all objects that accept insertions. A\n"
                                        "call that an object does not support raises\n"
                                        "UnsupportedError, TypeError or ReadOnlyError.\n")
      .def("add", Add, nb::arg("key").none(), "Inserts one key: see Filter.add.")
      .def("add_if_absent", AddIfAbsent, nb::arg("key").none(),
           "Inserts one key unless it may be in. Returns True if the key was new and was inserted.")
      .def("discard", Discard, nb::arg("key").none(),
           "Erases one copy of one key, which must have been inserted: see Filter.discard.")
      .def("remove", Remove, nb::arg("key").none(),
           "Erases one copy of one key. Raises KeyError if it is not found. See discard.")
      .def("insert", Insert, nb::arg("x"), nb::kw_only(), nb::arg("threads").none() = none,
           nb::arg("partial") = false, nb::arg("progress").none() = none, kInsertDoc)
      .def(
          "update",
          [](PyChangeable& f, KeysArg x) { Insert(f, x, std::nullopt, false, nb::none()); },
          nb::arg("x"), "Inserts many keys, like insert(x).")
      .def("erase", Erase, nb::arg("x"), nb::kw_only(), nb::arg("threads").none() = none,
           nb::arg("missing_ok") = false, nb::arg("progress").none() = none, kEraseDoc)
      .def("insert_if_absent", InsertIfAbsent, nb::arg("x"), nb::kw_only(),
           nb::arg("out").none() = none, nb::arg("threads").none() = none,
           nb::arg("partial") = false, nb::arg("progress").none() = none, kInsertIfAbsentDoc);
}

}  // namespace tamis::python
