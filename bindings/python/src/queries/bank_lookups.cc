// Lookups in filter banks: one key, and many.
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings/python/src/classes/classes.h"
#include "bindings/python/src/classes/py_bank.h"
#include "bindings/python/src/classes/typed.h"
#include "bindings/python/src/keys/one_key.h"
#include "bindings/python/src/queries/batches.h"
#include "bindings/python/src/queries/engines.h"

namespace tamis::python {
namespace {

KeyTypes KeyTypesOf(const FilterBank& bank) {
  KeyTypes types;
  for (const BankMember& member : bank.members()) types.Add(member.key_types);
  return types;
}

// A call with many keys. The positions of members are computed at the first batch. So the bank must
// not change until the last batch, like a dict during iteration.
class Lookup {
 public:
  Lookup(PyBank& bank, nb::handle x, std::optional<int64_t> threads)
      : bank_(bank), engine_(EngineFor(threads)), source_(SourceOf(x)) {}

  // Calls work(bank, engine, keys, first) for batches of all keys, without the GIL if there are
  // many keys.
  template <typename Work>
  uint64_t ForAll(const Work& work) {
    const uint64_t keys = ForBatches(
        *source_, nb::none(), NoPreparation, [this] { return Held(*this); },
        [&](const Keys& batch, uint64_t first) {
          if (batch.key_type() == KeyType::kTime) RequireSameSort(batch, KeyTypesOf(bank_.bank));
          work(static_cast<const FilterBank&>(bank_.bank), engine_.get(), batch, first);
        },
        Many());
    if (positions_ == nullptr) const Held none(*this);
    return keys;
  }

  // Valid from the first batch on.
  const MemberPositions& positions() const { return *positions_; }
  std::optional<uint64_t> size() const { return source_->size(); }

 private:
  // Locks the bank for reading during a batch. Throws if the bank has changed since the first
  // batch.
  class Held {
   public:
    explicit Held(Lookup& lookup) : lock_(lookup.bank_.gate) {
      if (lookup.positions_ == nullptr) {
        lookup.positions_ = lookup.bank_.Positions();
        lookup.changes_ = lookup.bank_.changes;
      } else if (lookup.bank_.changes != lookup.changes_) {
        throw std::runtime_error("the bank was changed during the call, between two batches");
      }
    }

   private:
    const Reading lock_;
  };

  static std::unique_ptr<KeySource> SourceOf(nb::handle x) {
    if (PyUnicode_Check(x.ptr()) || PyBytes_Check(x.ptr()) || PyByteArray_Check(x.ptr())) {
      throw nb::type_error("this is one key, and not a collection of keys: use members_with(key)");
    }
    return MakeKeySource(x);
  }

  // Returns the smallest number of keys for which the GIL is released. Querying one key in a bank
  // takes as long as querying one filter per group.
  size_t Many() {
    const Reading lock(bank_.gate);
    return std::max<size_t>(1, kReleasesGil / (1 + bank_.bank.row_words() / 8));
  }

  PyBank& bank_;
  const EnginePtr engine_;
  const std::unique_ptr<KeySource> source_;
  std::shared_ptr<const MemberPositions> positions_;
  uint64_t changes_ = 0;
};

nb::object Like(Answer answer, nb::handle x) {
  return Call(InKinds("like"), nb::cast(std::move(answer)), x);
}

// Calls visit(i) for each set bit i.
template <typename Visit>
void ForSet(std::span<const uint64_t> words, const Visit& visit) {
  for (size_t i = 0; i < words.size(); ++i) {
    for (uint64_t word = words[i]; word != 0; word &= word - 1) {
      visit(64 * i + static_cast<size_t>(std::countr_zero(word)));
    }
  }
}

Result<"list[str]"> MembersWith(PyBank& b, KeyArg object) {
  OneKey key;
  if (!key.Parse(object.ptr())) throw nb::python_error();
  std::vector<std::string> names;
  {
    const Reading lock(b.gate);
    std::vector<uint64_t> row(b.bank.row_words());
    if (key.type == OneKey::Type::kInteger) {
      b.bank.Contains(key.integer, Bitmap(row));
    } else {
      b.bank.Contains(key.bytes, Bitmap(row));
    }
    ForSet(row, [&](size_t index) { names.push_back(b.bank.NameOf(index)); });
  }
  return TextsOfNames(names);
}

// Writes rows of bools for some keys to `out`, which must have room for them.
void WriteRows(const FilterBank& bank, const Engine* engine, const MemberPositions& positions,
               const Keys& keys, uint8_t* out) {
  constexpr size_t kWordsAtOnce = size_t{1} << 17;
  const size_t words = bank.row_words(), members = positions.names.size();
  if (members == 0 || keys.empty()) return;
  const size_t at_once = std::min(keys.size(), std::max<size_t>(64, kWordsAtOnce / words));
  std::vector<uint64_t> rows(at_once * words);
  std::memset(out, 0, keys.size() * members);
  for (size_t begin = 0; begin < keys.size(); begin += at_once) {
    const size_t n = std::min(at_once, keys.size() - begin);
    const Bitmap bits{std::span(rows).first(n * words)};
    const Keys some = keys.Slice(begin, n);
    engine != nullptr ? bank.Contains(*engine, some, bits) : bank.Contains(some, bits);
    for (size_t i = 0; i < n; ++i, out += members) {
      ForSet(std::span(rows).subspan(i * words, words),
             [&](size_t index) { out[positions.position_of[index]] = 1; });
    }
  }
}

AnyResult ContainsEach(PyBank& b, KeysArg x, std::optional<int64_t> threads) {
  Lookup lookup(b, x, threads);
  Answer answer;
  const uint64_t known = lookup.size().value_or(0);
  answer.size = lookup.ForAll(
      [&](const FilterBank& bank, const Engine* engine, const Keys& keys, uint64_t first) {
        const size_t members = lookup.positions().names.size();
        const uint64_t room = std::max(known, first + keys.size());
        if (members > 0 && room > PY_SSIZE_T_MAX / members) throw std::bad_alloc();
        answer.memory->Reserve(room * members);
        WriteRows(bank, engine, lookup.positions(), keys,
                  answer.memory->As<uint8_t>() + first * members);
      });
  answer.columns = lookup.positions().names.size();
  return Like(std::move(answer), x);
}

Result<"tuple[typing.Any, typing.Any]"> Select(PyBank& b, KeysArg x,
                                               std::optional<int64_t> threads) {
  Lookup lookup(b, x, threads);
  Answer keys{.output = Answer::Output::kIndices}, members{.output = Answer::Output::kIndices};
  lookup.ForAll([&](const FilterBank& bank, const Engine* engine, const Keys& batch,
                    uint64_t first) {
    const std::vector<BankHit> hits =
        engine != nullptr ? bank.Select(*engine, batch) : bank.Select(batch);
    const size_t before = keys.size;
    for (Answer* const answer : {&keys, &members}) {
      answer->memory->Reserve((before + hits.size()) * sizeof(uint64_t));
      answer->size += hits.size();
    }
    for (size_t i = 0; i < hits.size(); ++i) {
      keys.memory->As<uint64_t>()[before + i] = first + hits[i].key;
      members.memory->As<uint64_t>()[before + i] = lookup.positions().position_of[hits[i].member];
    }
  });
  for (Answer* const answer : {&keys, &members}) {
    answer->memory->Resize(answer->size * sizeof(uint64_t));
  }
  const nb::object key_array = Like(std::move(keys), x);
  return nb::make_tuple(key_array, Like(std::move(members), x));
}

Result<"list[tuple[str, int]]"> CountPerMember(PyBank& b, KeysArg x, Unsigned at_least,
                                               Arg<"int"> top, std::optional<int64_t> threads) {
  const uint64_t most = top.is_none() ? SIZE_MAX : UnsignedOf(top);
  Lookup lookup(b, x, threads);
  std::vector<uint64_t> counts;
  lookup.ForAll([&](const FilterBank& bank, const Engine* engine, const Keys& keys, uint64_t) {
    const std::vector<uint64_t> some =
        engine != nullptr ? bank.CountPerMember(*engine, keys) : bank.CountPerMember(keys);
    const std::vector<uint64_t>& index_of = lookup.positions().index_of;
    counts.resize(index_of.size());
    for (size_t i = 0; i < counts.size(); ++i) counts[i] += some[index_of[i]];
  });
  counts.resize(lookup.positions().names.size());  // also if there was no batch
  nb::list best;
  for (const MemberCount& count : BestMembers(counts, at_least.value, most)) {
    best.append(nb::make_tuple(TextOfName(lookup.positions().names[count.member]), count.keys));
  }
  return best;
}

constexpr char kMembersWithDoc[] =
    "Returns the names of the members that may have one key, by position: a list of str.\n\n"
    "key: as for Filter.add, with the same exceptions.\n\n"
    ">>> bank = tamis.FilterBank()\n"
    ">>> bank.add('a', [1, 2])\n"
    ">>> bank.add('b', [2, 3])\n"
    ">>> bank.members_with(2), bank.members_with('no')\n"
    "(['a', 'b'], [])\n";
constexpr char kContainsDoc[] =
    "Returns a row of bools for each key: bool i is True if the member at position i may have\n"
    "the key.\n\n"
    "x, threads: see Filter.insert. A missing value is in no member. For NumPy and pandas the\n"
    "answer is a two-dimensional NumPy array, for other Arrow data an array of lists, and for\n"
    "iterables a list of lists. It takes a byte per key and member; select returns only the\n"
    "hits.\n\n"
    ">>> bank = tamis.FilterBank()\n"
    ">>> bank.add('a', [1, 2])\n"
    ">>> bank.add('b', [2, 3])\n"
    ">>> bank.contains([1, 2, None])\n"
    "[[True, False], [True, True], [False, False]]\n";
constexpr char kSelectDoc[] =
    "Returns all pairs of a key and a member that may have it: two arrays, with the indices of\n"
    "the keys and the positions of the members, ordered by key, then by member.\n\n"
    "x, threads: see Filter.insert. The arrays are int64, of the type that Filter.select\n"
    "    returns.\n\n"
    ">>> bank = tamis.FilterBank()\n"
    ">>> bank.add('a', [1, 2])\n"
    ">>> bank.add('b', [2, 3])\n"
    ">>> keys, members = bank.select([3, 2])\n"
    ">>> names = bank.names\n"
    ">>> keys, [names[member] for member in members]\n"
    "([0, 1, 1], ['b', 'a', 'b'])\n";
constexpr char kCountPerMemberDoc[] =
    "Counts the keys that each member may have. Returns a list of (name, count), the largest\n"
    "counts first, equal counts by position.\n\n"
    "x, threads: see Filter.insert. A repeated key counts each time.\n"
    "at_least: leaves out members with smaller counts.\n"
    "top: largest number of members; None means all.\n\n"
    ">>> bank = tamis.FilterBank()\n"
    ">>> bank.add('a', [1, 2])\n"
    ">>> bank.add('b', [2, 3, 4])\n"
    ">>> bank.count_per_member([2, 3, 4])\n"
    "[('b', 3), ('a', 1)]\n"
    ">>> dict(bank.count_per_member([2, 3, 4], at_least=2))\n"
    "{'b': 3}\n";

}  // namespace

void DefineBankLookups(nb::class_<PyBank>& bank) {
  const auto none = nb::none();
  bank.def("members_with", MembersWith, nb::arg("key").none(), kMembersWithDoc)
      .def("contains", ContainsEach, nb::arg("x"), nb::kw_only(), nb::arg("threads").none() = none,
           kContainsDoc)
      .def("select", Select, nb::arg("x"), nb::kw_only(), nb::arg("threads").none() = none,
           kSelectDoc)
      .def("count_per_member", CountPerMember, nb::arg("x"), nb::kw_only(),
           nb::arg("at_least") = Unsigned{1}, nb::arg("top").none() = none,
           nb::arg("threads").none() = none, kCountPerMemberDoc);
}

}  // namespace tamis::python
