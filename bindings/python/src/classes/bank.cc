// The class of filter banks: construction, changes and files. Lookups are in bank_lookups.cc.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <tamis/file/filter_kind_name.h>
#include <tamis/filters/sizing.h>
#include <tamis/hash_keys.h>
#include <tamis/hash_kinds.h>
#include <tamis/key_types_text.h>

#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/python/src/classes/classes.h"
#include "bindings/python/src/classes/py_bank.h"
#include "bindings/python/src/classes/py_filter.h"
#include "bindings/python/src/classes/typed.h"
#include "bindings/python/src/queries/batches.h"
#include "bindings/python/src/queries/engines.h"
#include "tamis/detail/str_cat.h"

namespace tamis::python {

namespace fs = std::filesystem;

void PyBank::RequireChangeable() const {
  if (bank.read_only()) {
    throw Error(ErrorCode::kReadOnly,
                "the bank is mapped, so it is read-only: FilterBank.open(path) without map=True "
                "reads a bank that can be changed");
  }
}

std::shared_ptr<const MemberPositions> PyBank::Positions() {
  if (positions_ != nullptr && positions_at_ == changes) return positions_;
  auto made = std::make_shared<MemberPositions>();
  made->position_of.resize(64 * bank.row_words());
  for (BankMember& member : bank.members()) {
    made->position_of[member.index] = made->index_of.size();
    made->index_of.push_back(member.index);
    made->names.push_back(std::move(member.name));
  }
  positions_ = std::move(made);
  positions_at_ = changes;
  return positions_;
}

std::string MemberNameOf(nb::handle name) {
  if (PyUnicode_Check(name.ptr())) {
    const nb::object bytes =
        nb::steal(PyUnicode_AsEncodedString(name.ptr(), "utf-8", "surrogateescape"));
    char* text = nullptr;
    Py_ssize_t size = 0;
    if (!bytes.is_valid() || PyBytes_AsStringAndSize(bytes.ptr(), &text, &size) != 0) {
      throw nb::python_error();
    }
    return {text, static_cast<size_t>(size)};
  }
  if (PyIndex_Check(name.ptr()) && !PyBool_Check(name.ptr())) {
    return std::to_string(UnsignedOf(name));
  }
  throw nb::type_error("the name of a member is a str, or an int from 0 to 2**64 - 1");
}

nb::object TextOfName(const std::string& name) {
  nb::object text = nb::steal(
      PyUnicode_DecodeUTF8(name.data(), static_cast<Py_ssize_t>(name.size()), "surrogateescape"));
  if (!text.is_valid()) throw nb::python_error();
  return text;
}

nb::list TextsOfNames(const std::vector<std::string>& names) {
  nb::list texts;
  for (const std::string& name : names) texts.append(TextOfName(name));
  return texts;
}

namespace {

[[noreturn]] void ThrowNoMember(nb::handle name) {
  PyErr_SetObject(PyExc_KeyError, name.ptr());
  throw nb::python_error();
}

// Returns work(bank), which reads the bank with the GIL. No call changes the bank during `work`.
template <typename Work>
auto Look(PyBank& b, const Work& work) {
  const Reading lock(b.gate);
  return work(static_cast<const FilterBank&>(b.bank));
}

// Like Look, but calls `work` without the GIL.
template <typename Work>
auto Read(PyBank& b, const Work& work) {
  const Reading lock(b.gate);
  const WithoutGil released;
  return work(static_cast<const FilterBank&>(b.bank));
}

// Returns work(bank), which changes the bank. Calls `work` without the GIL.
template <typename Work>
auto Change(PyBank& b, const Work& work) {
  const ChangingBank lock(b);
  const WithoutGil released;
  return work(b.bank);
}

void Make(PyBank* self, double fpr, double false_members, Unsigned members, const std::string& hash,
          Unsigned seed, const std::optional<nb::bytes>& secret,
          const std::optional<std::string>& backend, bool huge_pages, Unsigned buffer_bytes) {
  const BankOptions options{.fpr = fpr,
                            .false_members = false_members,
                            .members = members.value,
                            .hash = SpecOf(hash, seed.value, secret),
                            .memory = {.huge_pages = huge_pages},
                            .backend = BackendOf(backend),
                            .buffer_bytes = buffer_bytes.value};
  new (self) PyBank(FilterBank(options), options.memory);
}

// Returns an empty filter with the bank's hash and rate. Its size is one of the sizes of
// BankBlocks.
SplitBlockBloomFilter NewFilter(const PyBank& b, uint64_t capacity) {
  FilterOptions options;
  options.capacity = capacity;
  options.bytes = 32 * BankBlocks(SplitBlockBlocks(capacity, b.bank.fpr()));
  options.hash = b.bank.hash();
  options.memory = b.memory;
  options.backend = &b.bank.backend();
  return SplitBlockBloomFilter(options);
}

void InsertAll(SplitBlockBloomFilter& filter, const EnginePtr& engine, const Keys& keys) {
  engine ? engine->Insert(filter, keys) : filter.Insert(keys);
}

struct NoLock {};

// Builds a filter from keys. The size of the filter follows from the number of keys. So if keys
// come in several batches, their hashes are stored until the last batch.
SplitBlockBloomFilter FilterOfKeys(const PyBank& b, KeySource& source, const EnginePtr& engine) {
  std::optional<SplitBlockBloomFilter> whole;
  std::vector<uint64_t> hashes;
  KeyTypes types;
  ForBatches(
      source, nb::none(), NoPreparation, [] { return NoLock(); },
      [&](const Keys& keys, uint64_t first) {
        const uint64_t valid = keys.CountValid();
        if (first == 0 && source.size() == keys.size()) {
          whole.emplace(NewFilter(b, std::max<uint64_t>(valid, 1)));
          InsertAll(*whole, engine, keys);
          return;
        }
        const size_t before = hashes.size();
        hashes.resize(before + valid);
        const size_t n = HashKeys(keys, b.bank.hash(), std::span(hashes).subspan(before));
        hashes.resize(before + n);
        if (n > 0) types.Add(keys.key_type());
      });
  if (whole) return std::move(*whole);
  SplitBlockBloomFilter filter = NewFilter(b, std::max<uint64_t>(hashes.size(), 1));
  const WithoutGil released;
  InsertAll(filter, engine, Hashes{hashes});
  filter.set_key_types(types);
  return filter;
}

template <typename Py>
void AddCopyOf(PyBank& b, const std::string& name, Py& f) {
  const auto* const filter = f.filter.template As<SplitBlockBloomFilter>();
  if (filter == nullptr) {
    throw nb::type_error(
        (std::string("a bank contains SplitBlockBloomFilters, and this is a filter of kind ") +
         FilterKindName(f.kind))
            .c_str());
  }
  WaitForBoth(b.gate, f.gate);
  const ChangingBank lock(b, AtOnce());
  const Reading filter_lock(f.gate, AtOnce());
  const WithoutGil released;
  b.bank.Add(name, *filter);
}

void Add(PyBank& b, NameArg name, Arg<"tamis.SplitBlockBloomFilter | tamis._Keys"> x,
         std::optional<int64_t> threads) {
  const std::string text = MemberNameOf(name);
  if (IsFilter(x)) return WithFilterIn(x, [&](auto& f) { AddCopyOf(b, text, f); });
  // Throws before any key is read, because an iterator can be read only once.
  b.RequireChangeable();
  if (Look(b, [&](const FilterBank& bank) { return bank.Find(text).has_value(); })) {
    throw Error(ErrorCode::kInvalidArgument, "the bank has a member \"" + text + "\" already");
  }
  const EnginePtr engine = EngineFor(threads);
  const auto source = MakeKeySource(x);
  const SplitBlockBloomFilter filter = FilterOfKeys(b, *source, engine);
  Change(b, [&](FilterBank& bank) { bank.Add(text, filter); });
}

bool Discard(PyBank& b, NameArg name) {
  const std::string text = MemberNameOf(name);
  return Change(b, [&](FilterBank& bank) { return bank.Remove(text); });
}

void Remove(PyBank& b, NameArg name) {
  if (!Discard(b, name)) ThrowNoMember(name);
}

SplitBlockResult Extract(PyBank& b, NameArg name) {
  const std::string text = MemberNameOf(name);
  std::optional<SplitBlockBloomFilter> filter = Read(b, [&](const FilterBank& bank) {
    return bank.Find(text) ? std::optional(bank.Extract(text, b.memory)) : std::nullopt;
  });
  if (!filter) ThrowNoMember(name);
  return Wrap(AnyFilter(std::move(*filter)));
}

void Merge(PyBank& b, PyBank& other) {
  if (&b == &other) throw nb::value_error("a bank cannot be merged with itself");
  WaitForBoth(b.gate, other.gate);
  const ChangingBank lock(b, AtOnce());
  const Reading other_lock(other.gate, AtOnce());
  const WithoutGil released;
  b.bank.Merge(other.bank);
}

Result<"tamis.FilterBank"> OpenBank(const fs::path& path, bool map, bool verify,
                                    const std::optional<nb::bytes>& secret,
                                    const std::optional<std::string>& backend) {
  RequireThere(path);
  auto opened = [&] {
    const Backend* const by = BackendOf(backend);
    const std::optional<HashSecret> parts = SecretIf(secret);
    const WithoutGil released;
    if (!map) return FilterBank::Load(path, {.backend = by, .secret = parts});
    return FilterBank::Map(
        path, {.verify = verify ? Verify::kFull : Verify::kHeader, .backend = by, .secret = parts});
  };
  return nb::cast(new PyBank(opened()), nb::rv_policy::take_ownership);
}

void SaveBank(PyBank& b, const fs::path& path, std::optional<bool> with_secret,
              uint64_t shard_bytes) {
  const Writing lock(b.gate);  // Save changes a bank that is not mapped: it flushes waiting members
  ++b.changes;
  const WithoutGil released;
  b.bank.Save(path, {.with_secret = with_secret, .shard_bytes = shard_bytes});
}

bool HasMember(PyBank& b, NameArg name) {
  const std::string text = MemberNameOf(name);
  return Look(b, [&](const FilterBank& bank) { return bank.Find(text).has_value(); });
}

Result<"list[str]"> Names(PyBank& b) {
  const auto positions = [&] {
    const Reading lock(b.gate);
    return b.Positions();
  }();
  return TextsOfNames(positions->names);
}

// Replaces the member's index, which the library uses, by its position.
BankMember WithPosition(PyBank& b, BankMember member) {
  member.index = b.Positions()->position_of[member.index];
  return member;
}

std::vector<BankMember> Members(PyBank& b) {
  const Reading lock(b.gate);
  std::vector<BankMember> members = b.bank.members();
  for (BankMember& member : members) member = WithPosition(b, std::move(member));
  return members;
}

BankMember Member(PyBank& b, NameArg name) {
  const std::string text = MemberNameOf(name);
  std::optional<BankMember> found;
  {
    const Reading lock(b.gate);
    found = b.bank.Find(text);
    if (found) found = WithPosition(b, std::move(*found));
  }
  if (!found) ThrowNoMember(name);
  return std::move(*found);
}

std::string Repr(nb::handle self) {
  if (!nb::inst_ready(self)) throw nb::type_error("the bank is not made yet");
  PyBank& b = *nb::inst_ptr<PyBank>(self);
  const std::string name = nb::cast<std::string>(self.type().attr("__qualname__"));
  char rate[32];
  std::snprintf(rate, sizeof(rate), ", fpr=%.3g", b.bank.fpr());
  const Reading lock(b.gate);
  return tamis::detail::StrCat(name, "(members=", b.bank.num_members(), ", nbytes=", b.bank.bytes(),
                               rate, b.bank.read_only() ? ", read_only=True)" : ")");
}

Result<"typing.NoReturn"> RefusePickle(nb::handle, Arg<"typing.SupportsIndex">) {
  throw nb::type_error(
      "a bank cannot be pickled or copied: save() it, then FilterBank.open(path, map=True) in each "
      "process");
}

constexpr char kBankDoc[] =
    "Many split-block filters queried at once: which of ten thousand files may contain a key?\n"
    "A query of 512 filters of equal size reads eight cache lines per key.\n\n"
    "Each filter is a member. Its name is a str, or an int, which stands for its decimal digits.\n"
    "Like for a dict, `name in bank` tests whether a member exists, len(bank) is the number of\n"
    "members, and iteration yields their names. The position of a member is its index in `names`,\n"
    "until the bank changes.\n\n"
    "Any number of threads may use a bank. A call that changes it waits for calls that read it,\n"
    "and vice versa. A lookup whose keys come in several batches raises RuntimeError if the bank\n"
    "changes between two batches.\n\n"
    ">>> bank = tamis.FilterBank(fpr=0.001)\n"
    ">>> bank.add('monday', ['ada', 'bob'])\n"
    ">>> bank.add('tuesday', ['bob', 'eve'])\n"
    ">>> bank.members_with('bob'), bank.members_with('eve')\n"
    "(['monday', 'tuesday'], ['tuesday'])\n"
    ">>> 'monday' in bank, 'bob' in bank, len(bank)\n"
    "(True, False, 2)\n";
constexpr char kMakeBankDoc[] =
    "fpr: false-positive rate of filters that add() builds from keys. 0: the rate follows from\n"
    "    false_members and members, or is 0.01 if both are 0.\n"
    "false_members, members: expected number of false-positive members per lookup in a bank of\n"
    "    `members` members.\n"
    "hash, seed, secret, backend, huge_pages: see the filter classes. All filters of a bank have\n"
    "    the same hash.\n"
    "buffer_bytes: added filters wait until there are 512 of equal size, or until all waiting\n"
    "    filters together have more bytes than this.";
constexpr char kAddDoc[] =
    "Adds a member: a copy of a SplitBlockBloomFilter, or a filter built from keys.\n\n"
    "name: a str, or an int from 0 to 2**64 - 1. Raises ValueError if the name is in use.\n"
    "x: a filter, or keys as for Filter.insert. A filter must have the bank's hash (see\n"
    "    new_filter); otherwise raises IncompatibleError. The size of a filter built from keys\n"
    "    follows from the bank's fpr, and is rounded up to one of few sizes.\n"
    "threads: see Filter.insert.\n\n"
    "A group takes the memory of 512 filters, even if it contains fewer: see groups().\n\n"
    ">>> bank = tamis.FilterBank()\n"
    ">>> bank.add('a', range(1000))\n"
    ">>> f = bank.new_filter(1000)\n"
    ">>> f.update(range(500, 1500))\n"
    ">>> bank.add('b', f)\n"
    ">>> bank.members_with(700)\n"
    "['a', 'b']\n";
constexpr char kOpenDoc[] =
    "Opens a bank in a file written by save() or by `tamis bank`.\n\n"
    "map, verify, secret, backend: see tamis.open.\n\n"
    ">>> bank = tamis.FilterBank()\n"
    ">>> bank.add('a', range(1000))\n"
    ">>> bank.save('all.bank')\n"
    ">>> tamis.FilterBank.open('all.bank', map=True).members_with(7)\n"
    "['a']\n";

void DefineParts(nb::module_& m) {
  nb::class_<BankMember>(m, "BankMember", "A snapshot of a member of a FilterBank.")
      .def_prop_ro(
          "name", [](const BankMember& c) -> Result<"str"> { return TextOfName(c.name); })
      .def_ro("position", &BankMember::index,
              "The index of the member in `names` and in the answers of lookups.")
      .def_prop_ro(
          "nbytes", [](const BankMember& c) { return 32 * c.num_blocks; },
          "The size of the member's filter.")
      .def_ro("capacity", &BankMember::capacity, "The capacity of the filter that was added.")
      .def_ro("inserted_count", &BankMember::inserted)
      .def_prop_ro("key_types", [](const BankMember& c) { return KeyTypesText(c.key_types); })
      .def("__repr__", [](const BankMember& c) {
        return tamis::detail::StrCat(
            "BankMember(name=", nb::cast<std::string>(nb::repr(TextOfName(c.name))),
            ", position=", c.index, ", nbytes=", 32 * c.num_blocks, ", inserted_count=", c.inserted,
            ")");
      });
  nb::class_<BankGroupInfo>(m, "BankGroup",
                            "Members of a FilterBank with equal size, as stored in memory.")
      .def_prop_ro(
          "filter_nbytes", [](const BankGroupInfo& g) { return 32 * g.num_blocks; },
          "The size of each filter.")
      .def_ro("members", &BankGroupInfo::members, "The number of members, of at most 512.")
      .def_ro("removed", &BankGroupInfo::removed,
              "The number of removed members whose bits stay until compact().")
      .def_ro("nbytes", &BankGroupInfo::bytes)
      .def("__repr__", [](const BankGroupInfo& g) {
        return tamis::detail::StrCat("BankGroup(filter_nbytes=", 32 * g.num_blocks,
                                     ", members=", g.members, ", removed=", g.removed,
                                     ", nbytes=", g.bytes, ")");
      });
}

void DefineChanges(nb::class_<PyBank>& bank) {
  const auto none = nb::none();
  bank.def("add", Add, nb::arg("name").none(), nb::arg("x"), nb::kw_only(),
           nb::arg("threads").none() = none, kAddDoc)
      .def(
          "new_filter",
          [](const PyBank& b, Unsigned capacity) -> SplitBlockResult {
            return Wrap(AnyFilter(NewFilter(b, capacity.value)));
          },
          nb::arg("capacity"),
          "Returns an empty filter for `capacity` keys, with the hash and fpr of the bank. Its\n"
          "size is rounded up to one of few sizes, so that filters share groups. Fill it, then\n"
          "add it.")
      .def("remove", Remove, nb::arg("name").none(),
           "Removes a member. Raises KeyError if the name is unknown.")
      .def("discard", Discard, nb::arg("name").none(),
           "Removes a member. Returns whether it existed.")
      .def("merge", Merge, nb::arg("other"),
           "Adds all members of another bank with the same hash. Raises ValueError if a name is\n"
           "in both banks.\n\n"
           ">>> a, b = tamis.FilterBank(), tamis.FilterBank()\n"
           ">>> a.add('x', [1, 2])\n"
           ">>> b.add('y', [2, 3])\n"
           ">>> a.merge(b)\n"
           ">>> a.members_with(2)\n"
           "['x', 'y']\n")
      .def(
          "flush", [](PyBank& b) { Change(b, [](FilterBank& g) { g.Flush(); }); },
          "Moves all waiting members into groups, which saves memory if there are many.")
      .def(
          "compact", [](PyBank& b) { Change(b, [](FilterBank& g) { g.Compact(); }); },
          "Calls flush(), moves members from the emptiest groups to other groups of the same "
          "size,\n"
          "and drops removed members.")
      .def("extract", Extract, nb::arg("name").none(),
           "Returns the filter of a member, bit for bit, as a SplitBlockBloomFilter. Raises\n"
           "KeyError if the name is unknown.\n\n"
           ">>> bank = tamis.FilterBank()\n"
           ">>> bank.add('a', ['ada', 'bob'])\n"
           ">>> 'ada' in bank.extract('a')\n"
           "True\n")
      .def("save", SaveBank, nb::arg("path"), nb::kw_only(), nb::arg("with_secret").none() = none,
           nb::arg("shard_bytes") = 0,
           "Calls flush() and writes the bank to a file, atomically. with_secret and shard_bytes:\n"
           "see Filter.save.")
      .def_static("open", OpenBank, nb::arg("path"), nb::kw_only(), nb::arg("map") = false,
                  nb::arg("verify") = false, nb::arg("secret").none() = none,
                  nb::arg("backend").none() = none, kOpenDoc);
}

void DefineProperties(nb::class_<PyBank>& bank) {
  bank.def("__len__",
           [](PyBank& b) { return Look(b, [](const FilterBank& g) { return g.num_members(); }); })
      .def("__contains__", HasMember, nb::arg("name").none())
      .def("__iter__",
           [](PyBank& b) { return Result<"collections.abc.Iterator[str]">(nb::iter(Names(b))); })
      .def_prop_ro("names", Names, "The names of all members, by position: a list of str.")
      .def("members", Members, "Returns all members, by position: a list of BankMember.")
      .def("member", Member, nb::arg("name").none(),
           "Returns the BankMember with this name. Raises KeyError if the name is unknown.")
      .def(
          "groups",
          [](PyBank& b) { return Look(b, [](const FilterBank& g) { return g.groups(); }); },
          "Returns the groups of members in memory, without waiting members: a list of BankGroup.")
      .def_prop_ro(
          "nbytes",
          [](PyBank& b) { return Look(b, [](const FilterBank& g) { return g.bytes(); }); },
          "The size of all groups and of waiting filters, in bytes.")
      .def_prop_ro(
          "fpr", [](const PyBank& b) { return b.bank.fpr(); },
          "The false-positive rate of filters built from keys.")
      .def_prop_ro(
          "hash", [](const PyBank& b) { return std::string(HashKindName(b.bank.hash().kind)); },
          "'xxh3', 'xxh64', 'siphash13' or 'siphash24'.")
      .def_prop_ro(
          "seed", [](const PyBank& b) { return b.bank.hash().seed; }, "The seed of the hash.")
      .def_prop_ro(
          "backend", [](const PyBank& b) { return std::string(b.bank.backend().name); },
          "The name of the backend. It affects only the speed.")
      .def_prop_ro(
          "read_only", [](const PyBank& b) { return b.bank.read_only(); },
          "True if the bank is mapped.")
      .def(
          "expected_false_members",
          [](PyBank& b) {
            return Read(b, [](const FilterBank& g) { return g.expected_false_members(); });
          },
          "Computes the expected number of false-positive members per lookup from the contents\n"
          "of all members.")
      .def("__repr__", Repr)
      .def("__reduce_ex__", RefusePickle, nb::arg("protocol"));
}

}  // namespace

void DefineBank(nb::module_& m) {
  DefineParts(m);
  nb::class_<PyBank> bank(m, "FilterBank", nb::is_weak_referenceable(), kBankDoc);
  bank.def("__init__", Make, nb::kw_only(), nb::arg("fpr") = 0.0, nb::arg("false_members") = 0.0,
           nb::arg("members") = Unsigned{}, nb::arg("hash") = "xxh3", nb::arg("seed") = Unsigned{},
           nb::arg("secret").none() = nb::none(), nb::arg("backend").none() = nb::none(),
           nb::arg("huge_pages") = true, nb::arg("buffer_bytes") = Unsigned{uint64_t{64} << 20},
           kMakeBankDoc);
  DefineChanges(bank);
  DefineBankLookups(bank);
  DefineProperties(bank);
}

}  // namespace tamis::python
