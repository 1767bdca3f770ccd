#include "bindings/python/src/queries/bulk.h"

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/python/src/classes/erase.h"
#include "bindings/python/src/queries/batches.h"

namespace tamis::python {

EnginePtr EngineFor(std::optional<int64_t> threads) {
  if (!threads) return nullptr;
  if (*threads < 0 || *threads > int64_t{kMaxThreads}) {
    throw nb::value_error(("threads is " + std::to_string(*threads) + ", and must be in [0, " +
                           std::to_string(kMaxThreads) + "]; 0: one for each processor")
                              .c_str());
  }
  constexpr size_t kKept = 4;
  // The last used first. Never destroyed: at the end of a process threads may still be in a call.
  // The GIL guards it.
  static auto& engines = *new std::vector<std::pair<int64_t, EnginePtr>>;
  auto found = std::ranges::find(engines, *threads, &std::pair<int64_t, EnginePtr>::first);
  if (found == engines.end()) {
    const EngineOptions options{.threads = static_cast<unsigned>(*threads)};
    engines.emplace_back(*threads, std::make_shared<const Engine>(options));
    found = engines.end() - 1;
  }
  std::rotate(engines.begin(), found, found + 1);
  if (engines.size() > kKept) engines.pop_back();  // as soon as no call uses it
  return engines.front().second;
}

namespace {

// Filters as they are locked for a batch.
auto ToRead(PyFilter& f) {
  return [&f] { return Reading(f.gate); };
}
struct Changing {
  explicit Changing(PyFilter& f) : lock(f.gate) { f.RequireChangeable(); }
  const Writing lock;
};
auto ToChange(PyFilter& f) {
  return [&f] { return Changing(f); };
}

// Throws before the first key if the filter cannot be changed at all.
ChangeableFilter& RequireWritable(PyFilter& f) {
  f.gate.WaitToWrite();
  return f.RequireChangeable();
}

// Keys that found no room, of those that are not null. A copy that is not held is in all the same.
uint64_t LostOf(const Filter& filter, const Keys& keys, size_t inserted) {
  const size_t valid = keys.CountValid();
  if (inserted >= valid) return 0;
  return valid - std::max(inserted, std::min(valid, filter.Count(keys)));
}

uint64_t Insert(PyFilter& f, nb::handle x, std::optional<int64_t> threads, bool partial,
                nb::handle progress) {
  ChangeableFilter& into = RequireWritable(f);
  const EnginePtr engine = EngineFor(threads);
  const auto source = MakeKeySource(x);
  uint64_t inserted = 0, lost = 0;
  const uint64_t keys =
      ForBatches(*source, progress, NoPreparation, ToChange(f), [&](const Keys& batch, uint64_t) {
        const size_t n = engine ? engine->Insert(into, batch) : into.Insert(batch);
        inserted += n;
        lost += LostOf(*f.filter, batch, n);
      });
  if (lost > 0 && !partial) ThrowFull(lost, keys);
  return inserted;
}

uint64_t Erase(PyFilter& f, nb::handle x, std::optional<int64_t> threads, bool missing_ok,
               nb::handle progress) {
  ErasableFilter* const erasable = f.erasable();
  if (erasable == nullptr) {
    throw nb::type_error((std::string("keys cannot be erased from a ") +
                          FilterKindName(f.filter->kind()) + " filter")
                             .c_str());
  }
  RequireWritable(f);
  const EnginePtr engine = EngineFor(threads);
  return EraseKeys(
      x, missing_ok, erasable->hash(), progress, ToChange(f),
      [&](const Keys& keys) { erasable->RequireAllIn(keys); },
      [&](const Keys& keys) {
        return engine ? engine->Erase(*erasable, keys) : erasable->Erase(keys);
      });
}

uint64_t Count(PyFilter& f, nb::handle x, std::optional<int64_t> threads) {
  const EnginePtr engine = EngineFor(threads);
  const auto source = MakeKeySource(x);
  uint64_t count = 0;
  ForBatches(*source, nb::none(), NoPreparation, ToRead(f), [&](const Keys& batch, uint64_t) {
    RequireSameSort(batch, f.filter->key_forms());
    count += engine ? engine->Count(*f.filter, batch) : f.filter->Count(batch);
  });
  return count;
}

nb::object ContainsEach(PyFilter& f, nb::handle x, nb::handle out, std::optional<int64_t> threads) {
  const EnginePtr engine = EngineFor(threads);
  return AnswerEach(x, out, nb::none(), ToRead(f), [&](const Keys& keys, std::span<uint8_t> bools) {
    RequireSameSort(keys, f.filter->key_forms());
    engine ? engine->Contains(*f.filter, keys, bools) : f.filter->Contains(keys, bools);
  });
}

nb::object InsertIfAbsent(PyFilter& f, nb::handle x, nb::handle out, std::optional<int64_t> threads,
                          bool partial, nb::handle progress) {
  ChangeableFilter& into = RequireWritable(f);
  const EnginePtr engine = EngineFor(threads);
  uint64_t lost = 0, done = 0;
  std::vector<uint64_t> words, rejected;
  nb::object answer =
      AnswerEach(x, out, progress, ToChange(f), [&](const Keys& keys, std::span<uint8_t> bools) {
        words.resize(BitmapWords(keys.size()));
        rejected.resize(words.size());
        const Bitmap fresh(words), full(rejected);
        engine ? engine->InsertIfAbsent(into, keys, fresh, full)
               : into.InsertIfAbsent(keys, fresh, full);
        for (size_t i = 0; i < bools.size(); ++i) bools[i] = fresh.Test(i);
        for (const uint64_t word : rejected) lost += static_cast<uint64_t>(std::popcount(word));
        done += keys.size();
      });
  if (lost > 0 && !partial) ThrowFull(lost, done);
  return answer;
}

nb::object Select(PyFilter& f, nb::handle x, std::optional<int64_t> threads) {
  const EnginePtr engine = EngineFor(threads);
  return SelectFrom(x, ToRead(f), [&](const Keys& keys, std::span<uint64_t> out) {
    RequireSameSort(keys, f.filter->key_forms());
    return engine ? engine->Select(*f.filter, keys, out) : f.filter->Select(keys, out);
  });
}

constexpr char kInsertDoc[] =
    "Insert many keys; returns how many were inserted, which is all but nulls.\n\n"
    "x: a NumPy array of integers of any width, spacing and byte order, of str, bytes or objects;\n"
    "    anything with __arrow_c_array__ or __arrow_c_stream__ (pyarrow, Polars, pandas, DuckDB)\n"
    "    that has integers, strings, binary, dates, timestamps or a dictionary of these; or an\n"
    "    iterable of keys as add takes them, with None for nulls. Missing values are no keys:\n"
    "    never inserted, never contained.\n"
    "threads: None is the calling thread, 0 one for each processor, else so many.\n"
    "partial: if True, keys that a cuckoo or scalable filter has no room for are only left out;\n"
    "    else they raise FullError, when all others are in.\n"
    "progress: is called with the number of keys done, at least every 2**24 of them.\n\n"
    "Runs without the GIL. Ctrl-C ends it between two slices of keys. When an error is raised in\n"
    "the middle of an iterable, the keys before it are in.\n\n"
    ">>> f = tamis.SplitBlockBloomFilter(1000)\n"
    ">>> f.insert([1, 2, 3, None])\n"
    "3\n"
    ">>> f.insert(range(10, 20)), f.inserted_count\n"
    "(10, 13)\n";
constexpr char kContainsDoc[] =
    "Whether each key may be in: an array of bool, of the caller's kind.\n\n"
    "For NumPy arrays that is a NumPy array, for those of pyarrow a BooleanArray, for a Series of\n"
    "Polars or pandas a Series, for other Arrow data Answers, and a list for iterables. out: an\n"
    "array of bool or uint8 to write to instead, which is returned. See insert for x and "
    "threads.\n\n"
    ">>> f = tamis.SplitBlockBloomFilter(1000)\n"
    ">>> f.update(['ada', 'bob'])\n"
    ">>> f.contains(['bob', 'eve', None])\n"
    "[True, False, False]\n";
constexpr char kSelectDoc[] =
    "The indices of the keys that may be in, ascending: of the kind that contains has, int64.\n\n"
    ">>> f = tamis.SplitBlockBloomFilter(1000)\n"
    ">>> f.update(['ada', 'bob'])\n"
    ">>> f.select(['eve', 'bob', 'ada'])\n"
    "[1, 2]\n";
constexpr char kInsertIfAbsentDoc[] =
    "Insert the keys that are absent, one after the other; returns which were: an array of "
    "bool.\n\n"
    "A key that came earlier in x is not absent, nor is a null. Otherwise as insert and "
    "contains.\n\n"
    ">>> f = tamis.SplitBlockBloomFilter(1000)\n"
    ">>> f.insert_if_absent(['ada', 'bob', 'ada'])\n"
    "[True, True, False]\n";
constexpr char kEraseDoc[] =
    "Erase one copy of each key, all of which must have been inserted; returns how many were "
    "erased.\n\n"
    "A filter finds some other keys, too, at its false-positive rate, and erasing one of these\n"
    "takes out a key that was inserted. So unless the filter finds every key, "
    "InvalidArgumentError\n"
    "is raised and nothing is erased; nor is anything after an error among the keys, or Ctrl-C.\n"
    "The call keeps 8 bytes for each key meanwhile.\n\n"
    "missing_ok: if True, the keys that are found are erased, in batches as they are read.\n\n"
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
    "The number of keys that may be in.\n\n"
    ">>> f = tamis.SplitBlockBloomFilter(1000)\n"
    ">>> f.update(range(10))\n"
    ">>> f.count([5, 8, 1000])\n"
    "2\n";

}  // namespace

void DefineBulk(nb::class_<PyFilter>& filter) {
  const auto none = nb::none();
  filter
      .def("insert", Insert, nb::arg("x"), nb::kw_only(), nb::arg("threads").none() = none,
           nb::arg("partial") = false, nb::arg("progress").none() = none, kInsertDoc)
      .def(
          "update",
          [](PyFilter& f, nb::handle x) { Insert(f, x, std::nullopt, false, nb::none()); },
          nb::arg("x"), "Insert many keys, as insert(x).")
      .def("erase", Erase, nb::arg("x"), nb::kw_only(), nb::arg("threads").none() = none,
           nb::arg("missing_ok") = false, nb::arg("progress").none() = none, kEraseDoc)
      .def("contains", ContainsEach, nb::arg("x"), nb::kw_only(), nb::arg("out").none() = none,
           nb::arg("threads").none() = none, kContainsDoc)
      .def("select", Select, nb::arg("x"), nb::kw_only(), nb::arg("threads").none() = none,
           kSelectDoc)
      .def("count", Count, nb::arg("x"), nb::kw_only(), nb::arg("threads").none() = none, kCountDoc)
      .def("insert_if_absent", InsertIfAbsent, nb::arg("x"), nb::kw_only(),
           nb::arg("out").none() = none, nb::arg("threads").none() = none,
           nb::arg("partial") = false, nb::arg("progress").none() = none, kInsertIfAbsentDoc);
}

}  // namespace tamis::python
