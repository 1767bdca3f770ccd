// Join filters and their parts.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings/python/src/classes/options.h"
#include "bindings/python/src/classes/typed.h"
#include "bindings/python/src/join/join_classes.h"
#include "bindings/python/src/keys/held_buffer.h"
#include "bindings/python/src/queries/batches.h"
#include "tamis/detail/str_cat.h"
#include "tamis/engine/calibration.h"
#include "tamis/error.h"

namespace tamis::python {
namespace {

struct PyJoinPart {
  explicit PyJoinPart(JoinFilter::Part made) : part(std::move(made)) {}

  JoinFilter::Part part;
  Gate gate;  // one thread at a time inserts
};

// Yields the rows of a PyColumnHashes, and keeps it alive.
class HashSource final : public KeySource {
 public:
  explicit HashSource(nb::handle object)
      : owner_(nb::borrow(object)), slices_(nb::cast<PyColumnHashes&>(object).rows.keys()) {}

  bool Next(Keys& keys) override { return slices_.Next(keys); }
  std::optional<uint64_t> size() const override {
    return nb::cast<PyColumnHashes&>(owner_).rows.hashes().size();
  }

 private:
  nb::object owner_;
  Slices slices_;
};

// ---- Filters ----

JoinKeyType KeyTypeOf(const std::string& name) {
  if (name == "integers") return JoinKeyType::kIntegers;
  if (name == "hashes") return JoinKeyType::kHashes;
  throw nb::value_error(("key_type is '" + name + "', must be 'integers' or 'hashes'").c_str());
}

// Converts an integer from -2^63 to 2^64 - 1, as C++ does.
uint64_t IntegerOf(nb::handle object) {
  const nb::object number = nb::steal(OrStay([&] { return PyNumber_Index(object.ptr()); }));
  if (!number.is_valid()) throw nb::python_error();
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow < 0) throw nb::value_error("an integer key must be at least -2**63");
  return overflow > 0 ? UnsignedOf(number) : static_cast<uint64_t>(value);
}

JoinKeyRange RangeOf(nb::handle range) {
  const nb::object pair = nb::steal(PySequence_Tuple(range.ptr()));
  if (!pair.is_valid()) throw nb::python_error();
  if (nb::len(pair) != 2) throw nb::value_error("range must be (low, high)");
  return {IntegerOf(pair[0]), IntegerOf(pair[1])};
}

void MakeFilter(PyJoinFilter* self, Unsigned expected_keys, const std::string& key_type,
                Arg<"tuple[int, int]"> range, double fpr, Unsigned max_bytes, Unsigned kept_keys,
                Unsigned l2_bytes, Unsigned l3_bytes, const std::string& hash, Unsigned seed,
                const std::optional<std::string>& backend,
                const std::optional<std::filesystem::path>& calibration) {
  JoinFilterOptions options{.expected_keys = expected_keys.value,
                            .key_type = KeyTypeOf(key_type),
                            .fpr = fpr,
                            .max_bytes = max_bytes.value,
                            .kept_keys = kept_keys.value,
                            .l2_bytes = l2_bytes.value,
                            .l3_bytes = l3_bytes.value,
                            .hash = SpecOf(hash, seed.value, std::nullopt),
                            .backend = BackendOf(backend)};
  if (!range.is_none()) options.range = RangeOf(range);
  std::optional<Calibration> costs;
  if (calibration) costs = Calibration::Load(*calibration);
  options.calibration = costs ? &*costs : nullptr;
  new (self) PyJoinFilter(options);
}

PyJoinPart* MakePart(const PyJoinFilter& f, uint32_t index) {
  return new PyJoinPart(f.filter.MakePart(index));
}

// Waits for both gates, and holds neither while it waits for the other.
void Add(PyJoinFilter& f, PyJoinPart& p) {
  do {
    p.gate.WaitToWrite();
    f.gate.WaitToWrite();
  } while (!p.gate.idle());
  const Writing lock_part(p.gate, AtOnce{}), lock_filter(f.gate, AtOnce{});
  const WithoutGil released;
  f.filter.Add(std::move(p.part));
}

void Complete(PyJoinFilter& f, uint32_t parts_expected) {
  const Writing lock(f.gate);
  const WithoutGil released;
  f.filter.Complete(parts_expected);
}

uint32_t PartsAdded(PyJoinFilter& f) {
  const Reading lock(f.gate);
  return f.filter.parts_added();
}

// Reads the bounds as signed integers, unless they are only in order as unsigned ones.
Result<"tuple[int, int] | None"> RangeIf(const PyJoinFilter& f) {
  const std::optional<JoinKeyRange> range = f.filter.range();
  if (!range) return nb::none();
  const auto low = static_cast<int64_t>(range->low), high = static_cast<int64_t>(range->high);
  if (low <= high) return nb::make_tuple(low, high);
  return nb::make_tuple(range->low, range->high);
}

// ---- Columns ----

// The hashes of one column, for HashColumns.
struct ColumnReader {
  std::vector<uint64_t> hashes;
  std::vector<uint8_t> valid;  // a bit for each row

  ColumnReader(nb::handle x, const HashSpec& hash) {
    const auto source = MakeKeySource(x);
    const auto unlocked = [] { return 0; };
    ForBatches(*source, nb::none(), NoPreparation, unlocked, [&](const Keys& keys, uint64_t first) {
      const ColumnHashes rows = HashColumns(std::span(&keys, 1), hash);
      hashes.insert(hashes.end(), rows.hashes().begin(), rows.hashes().end());
      valid.resize(hashes.size() / 8 + 1);
      for (size_t i = 0; i < keys.size(); ++i) {
        if (keys.IsValid(i)) valid[(first + i) / 8] |= static_cast<uint8_t>(1 << (first + i) % 8);
      }
    });
    valid.resize(hashes.size() / 8 + 1);  // without keys
  }

  Keys keys() const { return Keys(Hashes{hashes}).WithValidity(valid.data()); }
};

// The hash of a hash is the hash itself, so columns of hashes give the hashes of the rows.
PyColumnHashes* HashRows(const PyJoinFilter& f,
                         Arg<"collections.abc.Iterable[tamis._Keys]"> given) {
  if (f.key_type != JoinKeyType::kHashes) {
    throw nb::value_error("several columns need key_type='hashes'");
  }
  std::vector<ColumnReader> columns;
  for (const nb::handle column : nb::iter(given)) columns.emplace_back(column, f.filter.hash());
  std::vector<Keys> keys;
  for (const ColumnReader& column : columns) keys.push_back(column.keys());
  const WithoutGil released;
  return new PyColumnHashes{f.filter.hash(), HashColumns(keys, f.filter.hash())};
}

Result<"bytes"> HashBytes(const PyColumnHashes& c) {
  const std::vector<uint64_t>& hashes = c.rows.hashes();
  return nb::bytes(hashes.data(), hashes.size() * sizeof(uint64_t));
}

PyColumnHashes* HashesOf(BufferArg data, const std::string& hash, Unsigned seed) {
  const HeldBuffer held(data, PyBUF_SIMPLE);
  const auto n = static_cast<size_t>(held.view().len);
  if (n % sizeof(uint64_t) != 0) {
    throw nb::value_error(
        tamis::detail::StrCat("a hash has 8 bytes, and ", n, " is not a multiple of 8").c_str());
  }
  std::vector<uint64_t> hashes(n / sizeof(uint64_t));
  if (n != 0) std::memcpy(hashes.data(), held.view().buf, n);
  const Keys keys = Hashes{hashes};
  const HashSpec spec = SpecOf(hash, seed.value, std::nullopt);
  return new PyColumnHashes{spec, HashColumns(std::span(&keys, 1), spec)};
}

// ---- Parts ----

uint64_t Insert(PyJoinPart& p, KeysArg x) {
  p.gate.WaitToWrite();
  const auto source = KeysOrHashesOf(x, p.part.hash());
  uint64_t inserted = 0;
  const auto lock = [&] { return Writing(p.gate); };
  ForBatches(*source, nb::none(), NoPreparation, lock, [&](const Keys& keys, uint64_t) {
    p.part.Insert(keys);
    inserted += keys.CountValid();
  });
  return inserted;
}

// Returns get(part), while no other thread changes the part.
template <typename Get>
auto Read(PyJoinPart& p, const Get& get) {
  const Reading lock(p.gate);
  return get(p.part);
}

Result<"bytes"> ToBytes(PyJoinPart& p) {
  const std::vector<std::byte> bytes = [&] {
    const Reading lock(p.gate);
    const WithoutGil released;
    return p.part.Serialize();
  }();
  return nb::bytes(bytes.data(), bytes.size());
}

JoinFilter::Part PartOf(nb::handle data) {
  const HeldBuffer held(data, PyBUF_SIMPLE);
  const std::span bytes(static_cast<const std::byte*>(held.view().buf),
                        static_cast<size_t>(held.view().len));
  const WithoutGil released;
  return JoinFilter::Part::FromBytes(bytes);
}

void SetState(nb::pointer_and_handle<PyJoinPart> self, const nb::bytes& data) {
  JoinFilter::Part part = PartOf(data);
  if (nb::inst_ready(self.h)) throw nb::type_error("the part is made already");
  new (self.p) PyJoinPart(std::move(part));
}

constexpr char kFilterDoc[] =
    "Carries the keys of the build side of a hash join to the scan of the probe side.\n\n"
    "Each thread or machine inserts its keys into a part of its own. The parts are added in any\n"
    "order. Before complete() has returned, every query answers True for every key except null.\n"
    "A False is never wrong. Any number of threads may use an object.\n\n"
    ">>> import tamis.join\n"
    ">>> f = tamis.join.JoinFilter(expected_keys=1000)\n"
    ">>> part = f.make_part(0)\n"
    ">>> part.update(range(0, 3000, 3))\n"
    ">>> f.add(part)\n"
    ">>> f.complete(1)\n"
    ">>> f.form, f.contains([6, 7, None])\n"
    "('bitmap', [True, False, False])\n"
    ">>> f.choice.reason\n"
    "'a bitmap of 376 bytes fits the second-level cache, ...'\n";
constexpr char kFilterArguments[] =
    "expected_keys: distinct keys of the build side; at least 1.\n"
    "key_type: 'integers', also for times from 1677 to 2262; 'hashes' for text, for other times\n"
    "    and for several columns.\n"
    "range: (low, high), if all keys are integers in this range. If the parts have a bitmap, a\n"
    "    key outside turns the form into 'nothing'.\n"
    "fpr: the false-positive rate of the form 'blocks'.\n"
    "max_bytes: of each part, and of the completed filter.\n"
    "kept_keys: number of keys that a part without a bitmap keeps in full.\n"
    "l2_bytes, l3_bytes: the caches of a processor.\n"
    "hash, seed: 'xxh3' or 'xxh64', and its seed.\n"
    "backend: one of backends(). None selects the best backend.\n"
    "calibration: a file of `tamis calibrate`, with the costs of queries on this machine. None\n"
    "    stands for the costs of a typical machine. The file decides the structure together with\n"
    "    l2_bytes and l3_bytes.\n\n"
    "All parts of a join must be made with the same arguments, on every machine.";
constexpr char kColumnHashesDoc[] =
    "The rows of several columns, as keys: see JoinFilter.hash_columns. They are keys of joins\n"
    "and of filters with the same hash and seed.\n\n"
    ">>> columns = tamis.join.JoinFilter(1, key_type='hashes').hash_columns([['ada', 'bob']])\n"
    ">>> f = tamis.SplitBlockBloomFilter(1000)\n"
    ">>> f.insert(tamis.join.ColumnHashes.from_bytes(columns.to_bytes()))\n"
    "2\n"
    ">>> 'bob' in f\n"
    "True\n";
constexpr char kHashColumnsDoc[] =
    "Returns the rows of several columns as keys of this join. A row is null if one of its\n"
    "columns is null. The order of columns matters. Requires key_type='hashes'.\n\n"
    ">>> f = tamis.join.JoinFilter(10, key_type='hashes')\n"
    ">>> part = f.make_part(0)\n"
    ">>> part.insert(f.hash_columns([['ada', 'bob'], [1, 2]]))\n"
    "2\n"
    ">>> f.add(part); f.complete(1)\n"
    ">>> f.contains(f.hash_columns([['bob', 'bob', None], [2, 1, 2]]))\n"
    "[True, False, False]\n";
constexpr char kPartDoc[] =
    "The keys that one thread or machine has read. JoinFilter.make_part makes one. A part can be\n"
    "pickled: its state is the result of to_bytes().\n\n"
    ">>> f = tamis.join.JoinFilter(1000)\n"
    ">>> part = f.make_part(0)\n"
    ">>> part.insert([1, 2, None])\n"
    "2\n"
    ">>> f.add(tamis.join.JoinPart.from_bytes(part.to_bytes()))\n";

void DefineChoice(nb::module_& m) {
  nb::class_<JoinCandidate>(m, "JoinCandidate",
                            "A structure for the keys, or the reason why it is impossible.")
      .def_prop_ro(
          "form", [](const JoinCandidate& c) { return JoinFormName(c.form); },
          "'list', 'bitmap' or 'blocks'.")
      .def_ro("nbytes", &JoinCandidate::bytes, "The size.")
      .def_prop_ro(
          "place", [](const JoinCandidate& c) { return JoinPlaceName(c.place); },
          "The memory in which it fits: 'L2', 'L3' or 'memory'.")
      .def_ro("ns_per_row", &JoinCandidate::ns_per_row,
              "Predicted nanoseconds of a query for one row.")
      .def_ro("error", &JoinCandidate::error, "Why it is impossible; otherwise empty.")
      .def("__repr__", [](const JoinCandidate& c) {
        return tamis::detail::StrCat(
            "<tamis.join.JoinCandidate ", JoinFormName(c.form), ": ",
            c.possible() ? tamis::detail::StrCat(c.bytes, " bytes") : c.error, ">");
      });
  nb::class_<JoinChoice>(m, "JoinChoice",
                         "A structure, its reason, and all structures that were compared.")
      .def_prop_ro("form", [](const JoinChoice& c) { return JoinFormName(c.form); })
      .def_ro("reason", &JoinChoice::reason, "The reason, as one sentence.")
      .def_ro("candidates", &JoinChoice::candidates, "Possible ones first, the best first.")
      .def("__str__", [](const JoinChoice& c) { return c.reason; });
}

void DefineFilter(nb::module_& m) {
  const JoinFilterOptions defaults;
  nb::class_<PyJoinFilter, PyQueryable>(m, "JoinFilter", nb::is_weak_referenceable(), kFilterDoc)
      .def("__init__", MakeFilter, nb::arg("expected_keys"), nb::kw_only(),
           nb::arg("key_type") = "integers", nb::arg("range").none() = nb::none(),
           nb::arg("fpr") = defaults.fpr, nb::arg("max_bytes") = Unsigned{defaults.max_bytes},
           nb::arg("kept_keys") = Unsigned{defaults.kept_keys},
           nb::arg("l2_bytes") = Unsigned{defaults.l2_bytes},
           nb::arg("l3_bytes") = Unsigned{defaults.l3_bytes}, nb::arg("hash") = "xxh3",
           nb::arg("seed") = Unsigned{}, nb::arg("backend").none() = nb::none(),
           nb::arg("calibration").none() = nb::none(), kFilterArguments)
      .def("make_part", MakePart, nb::arg("index"), nb::rv_policy::take_ownership,
           "Returns an empty part. Parts are numbered from 0, and each number is added once.")
      .def("add", Add, nb::arg("part"),
           "Adds the keys of a part, and empties the part. Raises, and changes nothing,\n"
           "IncompatibleError for a part with another memory layout, InvalidArgumentError for a\n"
           "part that was added before, and ReadOnlyError if the filter is complete.")
      .def("complete", Complete, nb::arg("parts_expected"),
           "Chooses the structure that answers queries. Raises InvalidArgumentError, and changes\n"
           "nothing, unless exactly the parts 0 to parts_expected - 1 were added.")
      .def("hash_columns", HashRows, nb::arg("columns"), nb::rv_policy::take_ownership,
           kHashColumnsDoc)
      .def_prop_ro(
          "is_complete", [](const PyJoinFilter& f) { return f.filter.complete(); },
          "Whether complete() has returned.")
      .def_prop_ro(
          "form", [](const PyJoinFilter& f) { return JoinFormName(f.filter.form()); },
          "The structure that answers queries: 'list', 'bitmap', 'blocks' or 'nothing', which\n"
          "answers True. Before completion 'nothing'.")
      .def_prop_ro(
          "choice", [](const PyJoinFilter& f) { return f.filter.choice(); },
          "The choice of complete(). Before completion, the choice that determined the contents\n"
          "of the parts.")
      .def_prop_ro("parts_added", PartsAdded, "Number of parts added.")
      .def_prop_ro("range", RangeIf,
                   "The smallest and the largest key, or None if they are unknown. Integers from\n"
                   "2**63 up are negative, unless the range also has smaller positive integers.");
}

void DefinePart(nb::module_& m) {
  nb::class_<PyJoinPart>(m, "JoinPart", kPartDoc)
      .def("insert", Insert, nb::arg("x"),
           "Inserts many keys, and returns their number. Nulls are not keys. See Filter.insert\n"
           "for x. Raises InvalidArgumentError for keys that are not integers, unless key_type is\n"
           "'hashes', and ReadOnlyError if the part was added.")
      .def(
          "update", [](PyJoinPart& p, KeysArg x) { Insert(p, x); }, nb::arg("x"),
          "Inserts many keys, like insert(x).")
      .def("to_bytes", ToBytes, "Returns the part as bytes for another machine.")
      .def_static(
          "from_bytes", [](BufferArg data) { return new PyJoinPart(PartOf(data)); },
          nb::arg("data"), nb::rv_policy::take_ownership,
          "Returns the part in the bytes of to_bytes(). Checks all of them. Raises CorruptError.")
      .def("__getstate__", ToBytes)
      .def("__setstate__", SetState, nb::arg("state"))
      .def_prop_ro(
          "index", [](PyJoinPart& p) { return Read(p, [](auto& part) { return part.index(); }); },
          "The number of the part.")
      .def_prop_ro(
          "contents",
          [](PyJoinPart& p) {
            return JoinFormName(Read(p, [](auto& part) { return part.contents(); }));
          },
          "'list' for keys in full, otherwise 'bitmap', 'blocks' or 'nothing'.")
      .def_prop_ro(
          "inserted_count",
          [](PyJoinPart& p) { return Read(p, [](auto& part) { return part.inserted_count(); }); },
          "Number of keys inserted. Duplicates count; nulls do not.")
      .def_prop_ro(
          "nbytes", [](PyJoinPart& p) { return Read(p, [](auto& part) { return part.bytes(); }); },
          "The size of its contents, in bytes.");
}

}  // namespace

std::unique_ptr<KeySource> KeysOrHashesOf(nb::handle x, const HashSpec& hash) {
  if (!nb::isinstance<PyColumnHashes>(x)) return MakeKeySource(x, Numbers::kIntegers, kCachedKeys);
  if (nb::cast<PyColumnHashes&>(x).hash != hash) {
    throw Error(ErrorCode::kInvalidArgument,
                "these are hashes of columns with another hash or seed");
  }
  return std::make_unique<HashSource>(x);
}

void DefineJoin(nb::module_& m) {
  nb::class_<PyColumnHashes>(m, "ColumnHashes", kColumnHashesDoc)
      .def(
          "to_bytes", HashBytes,
          "Returns the hashes, 8 bytes each in the byte order of this machine. The hash of a null\n"
          "is unspecified.")
      .def_static(
          "from_bytes", HashesOf, nb::arg("data"), nb::kw_only(), nb::arg("hash") = "xxh3",
          nb::arg("seed") = Unsigned{}, nb::rv_policy::take_ownership,
          "Returns keys with these hashes, without nulls. hash, seed: as in the filter that\n"
          "made them. Raises ValueError if data is not a multiple of 8 bytes.")
      .def("__len__", [](const PyColumnHashes& c) { return c.rows.hashes().size(); });
  DefineChoice(m);
  DefinePart(m);
  DefineFilter(m);
}

}  // namespace tamis::python
