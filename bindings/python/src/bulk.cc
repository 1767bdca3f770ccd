#include "bindings/python/src/bulk.h"

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/python/src/answer.h"
#include "bindings/python/src/key_source.h"

namespace tamis::python {
namespace {

// Calls with fewer keys are over before another thread could do anything.
constexpr size_t kReleasesGil = 1024;

using EnginePtr = std::shared_ptr<const Engine>;

// The engine with so many threads, the last few of which are kept; nullptr for the calling thread
// alone.
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

struct CallOptions {
  nb::handle keys;
  std::optional<int64_t> threads;
  nb::handle progress;  // None, or what is called with the number of keys done
};

// Calls work(engine, keys, first) for all keys, without the GIL and with `Lock` on the filter.
// `prepare` is called before each with the GIL. Returns how many keys there were.
template <typename Lock, typename Prepare, typename Work>
uint64_t ForBatches(PyFilter& f, KeySource& source, const CallOptions& call, const Prepare& prepare,
                    const Work& work) {
  const EnginePtr kept = EngineFor(call.threads);
  const Engine* const engine = kept.get();
  uint64_t done = 0;
  size_t with_gil = 0;  // keys since other threads could last run
  Keys keys;
  while (source.Next(keys)) {
    prepare(keys, done);
    {
      const Lock lock(f.gate);
      if constexpr (std::is_same_v<Lock, Writing>) f.RequireChangeable();
      with_gil += keys.size();
      if (with_gil < kReleasesGil) {
        work(engine, keys, done);
      } else {
        with_gil = 0;
        const WithoutGil released;
        work(engine, keys, done);
      }
    }
    done += keys.size();
    CheckSignals();
    if (!call.progress.is_none()) Call(call.progress, nb::int_(done));
  }
  return done;
}

void NoPreparation(const Keys&, uint64_t) {}

// Throws before the first key if the filter cannot be changed at all.
void RequireWritable(PyFilter& f) {
  f.gate.WaitToWrite();
  f.RequireChangeable();
}

// Keys that found no room, of those that are not null. A copy that is not held is in all the same.
uint64_t LostOf(const Filter& filter, const Keys& keys, size_t inserted) {
  const size_t valid = keys.CountValid();
  if (inserted >= valid) return 0;
  return valid - std::max(inserted, std::min(valid, filter.Count(keys)));
}

uint64_t Insert(PyFilter& f, nb::handle x, std::optional<int64_t> threads, bool partial,
                nb::handle progress) {
  RequireWritable(f);
  const auto source = MakeKeySource(x);
  uint64_t inserted = 0, lost = 0;
  const uint64_t keys = ForBatches<Writing>(
      f, *source, {x, threads, progress}, NoPreparation,
      [&](const Engine* engine, const Keys& batch, uint64_t) {
        const size_t n = engine ? engine->Insert(*f.filter, batch) : f.filter->Insert(batch);
        inserted += n;
        lost += LostOf(*f.filter, batch, n);
      });
  if (lost > 0 && !partial) ThrowFull(lost, keys);
  return inserted;
}

uint64_t Erase(PyFilter& f, nb::handle x, std::optional<int64_t> threads, nb::handle progress) {
  ErasableFilter* const erasable = f.erasable();
  if (erasable == nullptr) {
    throw nb::type_error((std::string("keys cannot be erased from a ") +
                          FilterKindName(f.filter->kind()) + " filter")
                             .c_str());
  }
  RequireWritable(f);
  const auto source = MakeKeySource(x);
  uint64_t erased = 0;
  ForBatches<Writing>(f, *source, {x, threads, progress}, NoPreparation,
                      [&](const Engine* engine, const Keys& batch, uint64_t) {
                        erased += engine ? engine->Erase(*erasable, batch) : erasable->Erase(batch);
                      });
  return erased;
}

uint64_t Count(PyFilter& f, nb::handle x, std::optional<int64_t> threads) {
  const auto source = MakeKeySource(x);
  uint64_t count = 0;
  ForBatches<Reading>(f, *source, {x, threads, nb::none()}, NoPreparation,
                      [&](const Engine* engine, const Keys& batch, uint64_t) {
                        count += engine ? engine->Count(*f.filter, batch) : f.filter->Count(batch);
                      });
  return count;
}

// A byte for each key: in an array of the caller, or in an Answer.
class Bools {
 public:
  explicit Bools(nb::handle out) {
    if (out.is_none()) return;
    held_ = std::make_unique<HeldBuffer>(out, PyBUF_CONTIG | PyBUF_FORMAT);
    const Py_buffer& view = held_->view();
    const char* format = view.format != nullptr ? view.format : "B";
    if (std::strchr("<>=@|", *format) != nullptr) ++format;
    const bool bytes = *format != '\0' && format[1] == '\0' && std::strchr("?Bb", *format);
    if (view.ndim != 1 || view.itemsize != 1 || !bytes) {
      throw nb::value_error("out is a contiguous array of one dimension, of bool or uint8");
    }
    room_ = static_cast<uint64_t>(view.len);
  }

  // For `n` keys in all, as far as is known. Throws ValueError if there is no room for them.
  void Reserve(uint64_t n) {
    if (held_ == nullptr) {
      answer_.memory->Reserve(n);
    } else if (n > room_) {
      throw nb::value_error(("out has " + std::to_string(room_) + " elements, and there are " +
                             std::to_string(n) + " keys or more")
                                .c_str());
    }
  }
  uint8_t* data() const {
    return held_ ? static_cast<uint8_t*>(held_->view().buf) : answer_.memory->As<uint8_t>();
  }
  std::span<uint8_t> At(uint64_t first, size_t n) const { return {data() + first, n}; }

  // What the call returns: `out`, or an array of the kind of `like`.
  nb::object Finish(uint64_t n, nb::handle out, nb::handle like) {
    if (held_ != nullptr) return nb::borrow(out);
    answer_.size = n;
    return Call(InKinds("like"), nb::cast(std::move(answer_)), like);
  }

 private:
  std::unique_ptr<HeldBuffer> held_;
  uint64_t room_ = 0;
  Answer answer_;
};

// Calls work(engine, keys, bools) for all keys of a call that has a bool for each.
template <typename Lock, typename Work>
nb::object AnswerEach(PyFilter& f, nb::handle x, nb::handle out, const CallOptions& call,
                      const Work& work) {
  const auto source = MakeKeySource(x);
  Bools bools(out);
  if (source->size()) bools.Reserve(*source->size());
  const uint64_t n = ForBatches<Lock>(
      f, *source, call,
      [&](const Keys& keys, uint64_t first) { bools.Reserve(first + keys.size()); },
      [&](const Engine* engine, const Keys& keys, uint64_t first) {
        work(engine, keys, bools.At(first, keys.size()));
      });
  return bools.Finish(n, out, x);
}

nb::object ContainsEach(PyFilter& f, nb::handle x, nb::handle out, std::optional<int64_t> threads) {
  return AnswerEach<Reading>(f, x, out, {x, threads, nb::none()},
                             [&](const Engine* engine, const Keys& keys, std::span<uint8_t> bools) {
                               engine ? engine->Contains(*f.filter, keys, bools)
                                      : f.filter->Contains(keys, bools);
                             });
}

nb::object InsertIfAbsent(PyFilter& f, nb::handle x, nb::handle out, std::optional<int64_t> threads,
                          bool partial, nb::handle progress) {
  RequireWritable(f);
  uint64_t lost = 0, done = 0;
  std::vector<uint64_t> words, rejected;
  nb::object answer =
      AnswerEach<Writing>(f, x, out, {x, threads, progress},
                          [&](const Engine* engine, const Keys& keys, std::span<uint8_t> bools) {
                            words.resize(BitmapWords(keys.size()));
                            rejected.resize(words.size());
                            const Bitmap fresh(words), full(rejected);
                            engine ? engine->InsertIfAbsent(*f.filter, keys, fresh, full)
                                   : f.filter->InsertIfAbsent(keys, fresh, full);
                            for (size_t i = 0; i < bools.size(); ++i) bools[i] = fresh.Test(i);
                            for (const uint64_t word : rejected)
                              lost += static_cast<uint64_t>(std::popcount(word));
                            done += keys.size();
                          });
  if (lost > 0 && !partial) ThrowFull(lost, done);
  return answer;
}

nb::object Select(PyFilter& f, nb::handle x, std::optional<int64_t> threads) {
  const auto source = MakeKeySource(x);
  Answer answer{.form = Answer::Form::kIndices};
  const auto room = [&](const Keys& keys, uint64_t) {
    answer.memory->Reserve((answer.size + keys.size()) * sizeof(uint64_t));
  };
  ForBatches<Reading>(
      f, *source, {x, threads, nb::none()}, room,
      [&](const Engine* engine, const Keys& keys, uint64_t first) {
        const std::span out(answer.memory->As<uint64_t>() + answer.size, keys.size());
        const size_t n =
            engine ? engine->Select(*f.filter, keys, out) : f.filter->Select(keys, out);
        for (size_t i = 0; first > 0 && i < n; ++i) out[i] += first;
        answer.size += n;
      });
  answer.memory->Resize(answer.size * sizeof(uint64_t));
  return Call(InKinds("like"), nb::cast(std::move(answer)), x);
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
    "found.\n\n"
    ">>> f = tamis.CuckooFilter12(1000)\n"
    ">>> f.update([1, 2, 3])\n"
    ">>> f.erase([2, 3]), f.inserted_count\n"
    "(2, 1)\n";
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
           nb::arg("progress").none() = none, kEraseDoc)
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
