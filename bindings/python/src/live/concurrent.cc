// Filters that many threads change and ask at the same time. There is no gate here, and one-key
// calls need no more of the GIL than to read their argument.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bindings/python/src/classes/erase.h"
#include "bindings/python/src/classes/options.h"
#include "bindings/python/src/classes/py_filter.h"
#include "bindings/python/src/live/concurrent_slots.h"
#include "bindings/python/src/live/live_classes.h"
#include "bindings/python/src/queries/batches.h"

namespace tamis::python {
namespace {

// One type for each class, so that each has its own constructor.
template <typename F>
struct ConcurrentFor : PyConcurrent {
  using PyConcurrent::PyConcurrent;
};

struct NoLock {};
NoLock Unlocked() { return {}; }

uint64_t Insert(PyConcurrent& c, nb::handle x, bool partial, nb::handle progress) {
  const auto source = MakeKeySource(x);
  return c.filter.Visit([&](auto& f) {
    uint64_t inserted = 0, lost = 0;
    const uint64_t keys =
        ForBatches(*source, progress, NoPreparation, Unlocked, [&](const Keys& batch, uint64_t) {
          const size_t n = f.Insert(batch), valid = batch.CountValid();
          inserted += n;
          // A copy that is not held is in all the same.
          if (n < valid) lost += valid - std::max(n, std::min(valid, f.Count(batch)));
        });
    if (lost > 0 && !partial) ThrowFull(lost, keys);
    return inserted;
  });
}

// As ErasableFilter::RequireAllIn. Other threads may change how often the filter has a key, so no
// key may come twice.
void RequireAllIn(const AnyConcurrent& filter, const Keys& keys) {
  if (const size_t absent = keys.size() - filter.Count(keys); absent > 0) {
    throw Error(ErrorCode::kInvalidArgument, std::to_string(absent) + " of " +
                                                 std::to_string(keys.size()) +
                                                 " keys are not in the filter; nothing was erased");
  }
  const auto* const hashes = keys.data<uint64_t>();
  std::vector<uint64_t> sorted(hashes, hashes + keys.size());
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) {
    throw Error(ErrorCode::kInvalidArgument, "a key comes twice in the list; nothing was erased");
  }
}

uint64_t Erase(PyConcurrent& c, nb::handle x, bool missing_ok, nb::handle progress) {
  RequireErasable(c.filter);
  return EraseKeys(
      x, missing_ok, c.filter.hash(), progress, Unlocked,
      [&](const Keys& keys) { RequireAllIn(c.filter, keys); },
      [&](const Keys& keys) { return c.filter.Erase(keys); });
}

nb::object ContainsEach(PyConcurrent& c, nb::handle x, nb::handle out) {
  return AnswerEach(x, out, nb::none(), Unlocked, [&](const Keys& keys, std::span<uint8_t> bools) {
    c.filter.Visit([&](const auto& f) {
      RequireSameSort(keys, f.key_forms());
      f.Contains(keys, bools);
    });
  });
}

nb::object Select(PyConcurrent& c, nb::handle x) {
  return SelectFrom(x, Unlocked, [&](const Keys& keys, std::span<uint64_t> out) {
    return c.filter.Visit([&](const auto& f) {
      RequireSameSort(keys, f.key_forms());
      return f.Select(keys, out);
    });
  });
}

uint64_t Count(PyConcurrent& c, nb::handle x) {
  const auto source = MakeKeySource(x);
  uint64_t count = 0;
  ForBatches(*source, nb::none(), NoPreparation, Unlocked, [&](const Keys& batch, uint64_t) {
    RequireSameSort(batch, c.filter.key_forms());
    count += c.filter.Count(batch);
  });
  return count;
}

nb::object InsertIfAbsent(PyConcurrent& c, nb::handle x, nb::handle out, bool partial,
                          nb::handle progress) {
  uint64_t lost = 0, done = 0;
  std::vector<uint64_t> words, rejected;
  nb::object answer =
      AnswerEach(x, out, progress, Unlocked, [&](const Keys& keys, std::span<uint8_t> bools) {
        words.resize(BitmapWords(keys.size()));
        rejected.assign(words.size(), 0);
        const Bitmap fresh(words), full(rejected);
        c.filter.Visit([&](auto& f) {
          if constexpr (requires { f.InsertIfAbsent(keys, fresh, full); }) {
            f.InsertIfAbsent(keys, fresh, full);
          } else {  // there always is room
            f.InsertIfAbsent(keys, fresh);
          }
        });
        for (size_t i = 0; i < bools.size(); ++i) bools[i] = fresh.Test(i);
        for (const uint64_t word : rejected) lost += static_cast<uint64_t>(std::popcount(word));
        done += keys.size();
      });
  if (lost > 0 && !partial) ThrowFull(lost, done);
  return answer;
}

template <typename F>
concept Mergeable = requires(F& f, const F& other) {
  f.Merge(other);
};

template <typename F>
void MergePlain(F& to, PyFilter& from) {
  const Reading lock(from.gate);
  if constexpr (Mergeable<F>) {
    using Plain = std::remove_cvref_t<decltype(to.filter())>;
    const auto* const plain = from.filter.template As<Plain>();
    if (plain == nullptr) {
      throw Error(ErrorCode::kIncompatible,
                  std::string("a filter of kind ") + FilterKindName(from.kind) +
                      " cannot be merged into one of kind " + FilterKindName(F::kKind));
    }
    const WithoutGil released;
    to.Merge(*plain);
  } else {
    throw Error(ErrorCode::kIncompatible, "filters that keys can be erased from are not merged");
  }
}

template <typename F>
void MergeConcurrent(F& to, const AnyConcurrent& from) {
  from.Visit([&]<typename G>(const G& other) {
    if constexpr (Mergeable<F> && std::is_same_v<F, G>) {
      const WithoutGil released;
      to.Merge(other);
    } else {
      throw Error(ErrorCode::kIncompatible,
                  std::string("a concurrent filter of kind ") + FilterKindName(G::kKind) +
                      " cannot be merged into one of kind " + FilterKindName(F::kKind));
    }
  });
}

nb::object MergeInPlace(nb::handle self, nb::handle other) {
  PyConcurrent& to = nb::cast<PyConcurrent&>(self);
  PyFilter* plain = nullptr;
  PyConcurrent* shared = nullptr;
  if (other.is_none()) return nb::borrow(Py_NotImplemented);
  if (nb::try_cast(other, plain)) {
    to.filter.Visit([&](auto& f) { MergePlain(f, *plain); });
  } else if (nb::try_cast(other, shared)) {
    to.filter.Visit([&](auto& f) { MergeConcurrent(f, shared->filter); });
  } else {
    return nb::borrow(Py_NotImplemented);
  }
  return nb::borrow(self);
}

nb::object Snapshot(const PyConcurrent& c) {
  return Wrap(c.filter.Visit([](const auto& f) {
    const WithoutGil released;
    return AnyFilter(f.Snapshot());
  }));
}

void SaveFile(const PyConcurrent& c, const std::filesystem::path& path,
              std::optional<bool> with_secret, uint32_t version) {
  c.filter.Visit([&](const auto& f) {
    const WithoutGil released;
    f.Save(path, {.with_secret = with_secret, .version = version});
  });
}

nb::object OpenFile(const std::filesystem::path& path, const std::optional<nb::bytes>& secret) {
  const nb::object plain =
      nb::module_::import_("tamis").attr("open")(nb::cast(path), nb::arg("secret") = secret);
  return WrapConcurrent(MakeConcurrent(std::move(nb::cast<PyFilter&>(plain).filter)));
}

std::string Repr(nb::handle self) {
  const PyConcurrent& c = nb::cast<const PyConcurrent&>(self);
  return c.filter.Visit([&](const auto& f) {
    char rate[32];
    std::snprintf(rate, sizeof(rate), ", fill=%.3g)",
                  static_cast<double>(f.inserted_count()) /
                      static_cast<double>(std::max<uint64_t>(f.capacity(), 1)));
    return nb::cast<std::string>(self.type().attr("__qualname__")) +
           "(capacity=" + std::to_string(f.capacity()) +
           ", inserted_count=" + std::to_string(f.inserted_count()) +
           ", nbytes=" + std::to_string(f.bytes()) + rate;
  });
}

// A property that is a function of the filter as what it is.
template <typename Get>
auto Of(const Get& get) {
  return [get](const PyConcurrent& c) { return c.filter.Visit(get); };
}

template <typename F>
void Define(nb::module_& m, const char* name, const char* doc) {
  const auto make = [](ConcurrentFor<F>* self, Unsigned capacity, double fpr, Unsigned nbytes,
                       const std::string& hash, Unsigned seed,
                       const std::optional<nb::bytes>& secret,
                       const std::optional<std::string>& backend, bool huge_pages) {
    new (self) ConcurrentFor<F>(AnyConcurrent(
        F(OptionsOf(capacity, fpr, nbytes, hash, seed, secret, backend, huge_pages))));
  };
  nb::class_<ConcurrentFor<F>, PyConcurrent>(m, name, nb::type_slots(ConcurrentSlots()), doc)
      .def("__init__", make, nb::arg("capacity") = Unsigned{}, nb::arg("fpr") = 0.0, nb::kw_only(),
           nb::arg("nbytes") = Unsigned{}, nb::arg("hash") = "xxh3", nb::arg("seed") = Unsigned{},
           nb::arg("secret").none() = nb::none(), nb::arg("backend").none() = nb::none(),
           nb::arg("huge_pages") = true, kMakeDoc);
}

constexpr char kDoc[] =
    "What the concurrent filters have in common. Any number of threads insert and ask at the same\n"
    "time, in calls that wait for nobody: also those with many keys, which run without the GIL.\n\n"
    "A key whose insertion has returned is found by every call that begins afterwards. Keys and\n"
    "answers are those of tamis.Filter. A child of fork may use those that keys cannot be erased\n"
    "from.\n";

void DefineBase(nb::module_& m) {
  const auto none = nb::none();
  nb::class_<PyConcurrent>(m, "ConcurrentFilter", nb::type_slots(ConcurrentBaseSlots()),
                           nb::is_weak_referenceable(), kDoc)
      .def("insert", Insert, nb::arg("x"), nb::kw_only(), nb::arg("partial") = false,
           nb::arg("progress").none() = none, "Insert many keys: see tamis.Filter.insert.")
      .def(
          "update", [](PyConcurrent& c, nb::handle x) { Insert(c, x, false, nb::none()); },
          nb::arg("x"), "Insert many keys, as insert(x).")
      .def("erase", Erase, nb::arg("x"), nb::kw_only(), nb::arg("missing_ok") = false,
           nb::arg("progress").none() = none,
           "Erase one copy of each key, all of which must have been inserted: see "
           "tamis.Filter.erase.\n"
           "The keys are looked up before the first is erased, and no lock is held in between: of\n"
           "threads that erase the same key at once, several may find it.")
      .def("contains", ContainsEach, nb::arg("x"), nb::kw_only(), nb::arg("out").none() = none,
           "Whether each key may be in: see tamis.Filter.contains.")
      .def("select", Select, nb::arg("x"), "The indices of the keys that may be in, ascending.")
      .def("count", Count, nb::arg("x"), "The number of keys that may be in.")
      .def("insert_if_absent", InsertIfAbsent, nb::arg("x"), nb::kw_only(),
           nb::arg("out").none() = none, nb::arg("partial") = false,
           nb::arg("progress").none() = none,
           "Insert the keys that are absent; returns which were. Of threads that insert the same\n"
           "key at once at least one is told that it is new; of cuckoo filters exactly one.\n\n"
           ">>> seen = tamis.live.ConcurrentSplitBlockBloomFilter(1000)\n"
           ">>> seen.insert_if_absent(['ada', 'bob', 'ada'])\n"
           "[True, True, False]\n")
      .def("__ior__", MergeInPlace, nb::arg("other"),
           "Add all keys of another filter of equal kind, size and hash, plain or concurrent.")
      .def("snapshot", Snapshot,
           "A plain filter with at least every key whose insertion had returned: a copy.\n\n"
           ">>> f = tamis.live.ConcurrentSplitBlockBloomFilter(1000)\n"
           ">>> f.add('ada')\n"
           ">>> 'ada' in f.snapshot(), type(f.snapshot()).__name__\n"
           "(True, 'SplitBlockBloomFilter')\n")
      .def("save", SaveFile, nb::arg("path"), nb::kw_only(), nb::arg("with_secret").none() = none,
           nb::arg("version") = kFormatVersion, "Save a snapshot: see tamis.Filter.save.")
      .def_prop_ro(
          "kind", [](const PyConcurrent& c) { return FilterKindName(c.filter.kind()); },
          "The name of its kind: 'split-block' ...")
      .def_prop_ro("capacity", Of([](const auto& f) { return f.capacity(); }),
                   "Keys that it was sized for.")
      .def_prop_ro("inserted_count", Of([](const auto& f) { return f.inserted_count(); }),
                   "Keys inserted so far, duplicates included, less those erased.")
      .def_prop_ro("nbytes", Of([](const auto& f) { return f.bytes(); }), "Bytes of its contents.")
      .def_prop_ro(
          "hash", [](const PyConcurrent& c) { return HashKindName(c.filter.hash().kind); },
          "'xxh3', 'xxh64', 'siphash13' or 'siphash24'.")
      .def_prop_ro(
          "seed", [](const PyConcurrent& c) { return c.filter.hash().seed; },
          "The seed of its hash.")
      .def_prop_ro(
          "key_forms", [](const PyConcurrent& c) { return KeyFormsText(c.filter.key_forms()); },
          "What its keys were: see tamis.Filter.key_forms.")
      .def_prop_ro(
          "can_erase", [](const PyConcurrent& c) { return c.filter.erasable(); },
          "Whether keys can be erased.")
      .def("expected_fpr", Of([](const auto& f) {
             const WithoutGil released;
             return f.expected_fpr();
           }),
           "The false-positive rate as full as it is.")
      .def("__repr__", Repr);
}

}  // namespace

AnyConcurrent MakeConcurrent(AnyFilter filter) {
  return ForConcurrentKind(filter->kind(), [&]<typename F>() {
    using Plain = decltype(std::declval<F>().Release());
    return AnyConcurrent(F(std::move(*filter.As<Plain>())));
  });
}

nb::object WrapConcurrent(AnyConcurrent filter) {
  return ForConcurrentKind(filter.kind(), [&]<typename F>() {
    return nb::cast(new ConcurrentFor<F>(std::move(filter)), nb::rv_policy::take_ownership);
  });
}

AnyConcurrent ConcurrentOf(nb::handle object) {
  PyConcurrent* shared = nullptr;
  if (nb::try_cast(object, shared) && shared != nullptr) return shared->filter;  // not None
  PyFilter* plain = nullptr;
  if (!nb::try_cast(object, plain) || plain == nullptr) {
    throw nb::type_error("a filter is expected: a ConcurrentFilter, or a tamis.Filter to copy");
  }
  ForConcurrentKind(plain->kind, []<typename F>() {});  // before the copy
  const Reading lock(plain->gate);
  const WithoutGil released;
  return MakeConcurrent(Clone(*plain->filter));
}

void DefineConcurrent(nb::module_& m) {
  DefineBase(m);
  Define<ConcurrentSplitBlockBloomFilter>(
      m, "ConcurrentSplitBlockBloomFilter",
      "A SplitBlockBloomFilter that many threads insert into and ask, without locks.\n\n"
      ">>> seen = tamis.live.ConcurrentSplitBlockBloomFilter(capacity=100_000, fpr=0.001)\n"
      ">>> from concurrent.futures import ThreadPoolExecutor\n"
      ">>> with ThreadPoolExecutor(4) as threads:\n"
      "...     parts = [range(i, 100_000, 4) for i in range(4)]\n"
      "...     sum(threads.map(seen.insert, parts))\n"
      "100000\n"
      ">>> seen.count(range(100_000))\n"
      "100000\n");
  Define<ConcurrentBloomFilter>(
      m, "ConcurrentBloomFilter",
      "A BloomFilter that many threads insert into and ask, without locks.");
  Define<ConcurrentCuckooFilter<8>>(
      m, "ConcurrentCuckooFilter8",
      "A CuckooFilter8 that many threads insert into, erase from and ask. Lookups take no locks.");
  Define<ConcurrentCuckooFilter<12>>(
      m, "ConcurrentCuckooFilter12",
      "A CuckooFilter12 that many threads insert into, erase from and ask. Lookups take no locks.");
  Define<ConcurrentCuckooFilter<16>>(
      m, "ConcurrentCuckooFilter16",
      "A CuckooFilter16 that many threads insert into, erase from and ask. Lookups take no locks.\n"
      "\n"
      ">>> sessions = tamis.live.ConcurrentCuckooFilter16(1000)\n"
      ">>> sessions.add('s1')\n"
      ">>> sessions.discard('s1'), 's1' in sessions\n"
      "(True, False)\n");
  m.def(
      "concurrent", [](nb::handle filter) { return WrapConcurrent(ConcurrentOf(filter)); },
      nb::arg("filter"),
      "A concurrent filter with the keys of a plain one, of which it is a copy.\n\n"
      ">>> f = tamis.BloomFilter(1000)\n"
      ">>> f.add('ada')\n"
      ">>> 'ada' in tamis.live.concurrent(f)\n"
      "True\n");
  m.def("open", OpenFile, nb::arg("path"), nb::kw_only(), nb::arg("secret").none() = nb::none(),
        "The concurrent filter in a file, all of which is read and checked: see tamis.open.");
}

}  // namespace tamis::python
