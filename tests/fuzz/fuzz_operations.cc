// Sequences of operations on filters of every kind, on every backend of this machine at the same
// time, compared with the exact multiset of their keys. For any sequence, no inserted key is
// missing, every backend gives the same answers and the same filter, and every form of a call has
// the same outcome. Refused operations throw the Error that the headers document, and change
// nothing.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tamis/backend.h"
#include "tamis/backends.h"
#include "tamis/error.h"
#include "tamis/filters/any_filter.h"
#include "tamis/filters/any_scalable_filter.h"
#include "tamis/filters/bloom_filter.h"
#include "tamis/filters/erasable_filter.h"
#include "tamis/filters/filter_kinds.h"
#include "tamis/filters/scalable_filter.h"
#include "tamis/filters/serialize.h"
#include "tamis/filters/set_operations.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/hash_kinds.h"
#include "tests/campaigns/fault_filters.h"
#include "tests/fuzz/memory_file.h"

namespace tamis {
namespace {

using campaigns::KeyOf;
using campaigns::Shape;

constexpr size_t kMaxOperations = 40;

// Reads the input byte by byte, with zeros after its end.
class Input {
 public:
  explicit Input(std::span<const uint8_t> data) : data_(data) {}

  bool empty() const { return data_.empty(); }
  uint8_t Byte() {
    if (data_.empty()) return 0;
    const uint8_t byte = data_.front();
    data_ = data_.subspan(1);
    return byte;
  }
  template <typename T, size_t n>
  const T& Choose(const T (&values)[n]) {
    return values[Byte() % n];
  }

 private:
  std::span<const uint8_t> data_;
};

// Returns the code of the Error that `call` throws, or nothing.
template <typename Call>
std::optional<ErrorCode> CodeOf(const Call& call) {
  try {
    call();
    return std::nullopt;
  } catch (const Error& error) {
    return error.code();
  }
}

// The options of filters.
struct Spec {
  Shape shape;
  FilterOptions options;
  ScalableOptions layered;

  AnyFilter Make(const Backend& backend) const {
    if (shape.layered) {
      ScalableOptions with = layered;
      with.backend = &backend;
      return MakeScalableFilter(shape.kind, with);
    }
    FilterOptions with = options;
    with.backend = &backend;
    return MakeFilter(shape.kind, with);
  }
};

Spec ReadSpec(Input& input) {
  static const std::vector<Shape> shapes = campaigns::Shapes();
  constexpr double kRates[] = {
      0, 0.01, 0.5, 0.1, 1e-4, 1e-9, 0.9, -1, std::numeric_limits<double>::quiet_NaN()};
  constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();
  constexpr uint64_t kCapacities[] = {1, 16, 100, 1000, 3000, 0, kNone, kNone / 2};
  constexpr HashKind kHashes[] = {HashKind::kXxh3, HashKind::kXxh64, HashKind::kSipHash13,
                                  HashKind::kSipHash24};
  Spec spec;
  spec.shape = shapes[input.Byte() % shapes.size()];
  FilterOptions& options = spec.options;
  options.capacity = input.Choose(kCapacities);
  if (options.capacity < kNone / 2) options.capacity += input.Byte();
  options.fpr = input.Choose(kRates);
  if (input.Byte() % 4 == 3) options.bytes = 1 + 16 * input.Byte();
  options.hash.kind = input.Choose(kHashes);
  if (IsKeyed(options.hash.kind)) {
    options.hash.secret = {input.Byte(), 7};
  } else {
    options.hash.seed = input.Byte();
  }
  spec.layered.initial_capacity = options.capacity;
  if (options.fpr != 0) spec.layered.fpr = options.fpr;
  constexpr double kGrowths[] = {2, 1, 1.3, 8, 1024, 0.5};
  constexpr double kTightenings[] = {0.85, 0.5, 0.01, 0.99, 1};
  spec.layered.growth = input.Choose(kGrowths);
  spec.layered.tightening = input.Choose(kTightenings);
  // Layers with a low rate and fingerprints of 8 bits take gigabytes even for few keys, so
  // max_bytes is always set.
  spec.layered.max_bytes = input.Byte() % 2 == 0 ? uint64_t{1} << 20 : 64 * (1 + input.Byte());
  spec.layered.hash = options.hash;
  return spec;
}

// A selection of the available keys: integers or strings, by number.
struct Selection {
  std::vector<unsigned> numbers;
  std::vector<uint64_t> integers;
  std::vector<std::string> strings;
  std::vector<uint8_t> validity;  // empty: all are valid

  Selection(std::vector<unsigned> of, bool are_strings) : numbers(std::move(of)) {
    for (const unsigned number : numbers) {
      if (are_strings) {
        strings.push_back(std::string(number % 41, 'k') + std::to_string(number));
      } else {
        integers.push_back(KeyOf(number));
      }
    }
  }

  size_t size() const { return numbers.size(); }
  Keys keys() const {
    const Keys all = strings.empty() ? Keys(integers) : Keys(strings);
    return validity.empty() ? all : all.WithValidity(validity.data());
  }
  bool IsValid(size_t i) const { return keys().IsValid(i); }
};

// The filters of all backends, which are equal, and the number of copies of each key.
class Subject {
 public:
  explicit Subject(const Spec& spec) : spec_(spec) {
    for (const Backend& backend : Backends()) filters_.push_back(spec.Make(backend));
  }

  uint64_t bytes() const { return filters_.front()->bytes(); }

  // Inserts one copy of each valid key of `selection`. One backend inserts keys one at a time.
  void Insert(const Selection& selection) {
    const size_t n = selection.size();
    std::optional<std::vector<uint64_t>> first;
    for (AnyFilter& filter : filters_) {
      std::vector<uint64_t> rejected(n);
      rejected.resize(n - RequireChangeable(*filter).Insert(selection.keys(), rejected));
      if (!first) first = rejected;
      Require(rejected == *first);
    }
    size_t next = 0;
    for (size_t i = 0; i < n; ++i) {
      if (next < first->size() && (*first)[next] == i) {
        ++next;
      } else {
        Require(selection.IsValid(i));
        ++CopiesOf(selection, i);
      }
    }
    Require(next == first->size());
    RequireSame();
  }

  // Inserts keys that are all valid: one at a time on one backend, and at once on the others.
  void InsertOneByOne(const Selection& selection, size_t which) {
    AnyFilter& one = filters_[which % filters_.size()];
    std::vector<uint64_t> rejected;
    for (size_t i = 0; i < selection.size(); ++i) {
      const bool in = selection.strings.empty()
                          ? RequireChangeable(*one).Insert(selection.integers[i])
                          : RequireChangeable(*one).Insert(std::string_view(selection.strings[i]));
      if (!in) rejected.push_back(i);
    }
    for (AnyFilter& filter : filters_) {
      if (&filter == &one) continue;
      std::vector<uint64_t> others(selection.size());
      others.resize(selection.size() - RequireChangeable(*filter).Insert(selection.keys(), others));
      Require(others == rejected);
    }
    for (size_t i = 0; i < selection.size(); ++i) {
      if (!std::ranges::binary_search(rejected, i)) ++CopiesOf(selection, i);
    }
    RequireSame();
  }

  void InsertIfAbsent(const Selection& selection) {
    const size_t n = selection.size();
    std::optional<std::vector<uint64_t>> first;
    for (AnyFilter& filter : filters_) {
      std::vector<uint64_t> bits(2 * BitmapWords(n));
      const std::span all(bits);
      const size_t inserted = RequireChangeable(*filter).InsertIfAbsent(
          selection.keys(), Bitmap(all.first(BitmapWords(n))), Bitmap(all.subspan(BitmapWords(n))));
      if (!first) first = bits;
      Require(bits == *first);
      Require(inserted <= n);
    }
    const Bitmap fresh(std::span(*first).first(BitmapWords(n)));
    const Bitmap rejected(std::span(*first).subspan(BitmapWords(n)));
    for (size_t i = 0; i < n; ++i) {
      Require(!fresh.Test(i) || (!rejected.Test(i) && selection.IsValid(i)));
      // A key that was already inserted is not new.
      uint64_t& copies = CopiesOf(selection, i);
      Require(copies == 0 || !selection.IsValid(i) || (!fresh.Test(i) && !rejected.Test(i)));
      if (fresh.Test(i)) ++copies;
    }
    RequireSame();
  }

  // Erases inserted keys, at most as often as they were inserted.
  void Erase(const Selection& wanted, bool one_by_one) {
    if (filters_[0].As<ErasableFilter>() == nullptr) return;
    std::vector<unsigned> numbers;
    std::map<unsigned, uint64_t> taken;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (taken[wanted.numbers[i]] >= CopiesOf(wanted, i)) continue;
      ++taken[wanted.numbers[i]];
      numbers.push_back(wanted.numbers[i]);
    }
    const Selection selection(numbers, !wanted.strings.empty());
    const size_t n = selection.size();
    std::optional<std::vector<uint64_t>> first;
    for (AnyFilter& filter : filters_) {
      ErasableFilter& erasable = *filter.As<ErasableFilter>();
      std::vector<uint64_t> missing(n);
      if (one_by_one && &filter == &filters_.back()) {
        missing.clear();
        for (size_t i = 0; i < n; ++i) {
          const bool out = selection.strings.empty()
                               ? erasable.Erase(selection.integers[i])
                               : erasable.Erase(std::string_view(selection.strings[i]));
          if (!out) missing.push_back(i);
        }
      } else {
        missing.resize(n - erasable.Erase(selection.keys(), missing));
      }
      if (!first) first = missing;
      Require(missing == *first);
    }
    // A scalable filter refuses keys that several layers may have.
    Require(first->empty() || spec_.shape.layered);
    for (size_t i = 0; i < n; ++i) {
      if (!std::ranges::binary_search(*first, i)) --CopiesOf(selection, i);
    }
    RequireSame();
  }

  // Every form of a query gives the same answer, and inserted keys are found.
  void Ask(const Selection& selection) const {
    const size_t n = selection.size();
    const Keys keys = selection.keys();
    std::optional<std::vector<uint64_t>> first;
    for (const AnyFilter& filter : filters_) {
      std::vector<uint64_t> bits(BitmapWords(n));
      const size_t found = filter->Contains(keys, Bitmap(bits));
      if (!first) first = bits;
      Require(bits == *first && filter->Count(keys) == found);
      std::vector<uint8_t> bytes(n);
      std::vector<uint32_t> rows(n);
      std::vector<uint64_t> long_rows(n);
      Require(filter->Contains(keys, bytes) == found && filter->Select(keys, rows) == found &&
              filter->Select(keys, long_rows) == found);
      size_t next = 0;
      for (size_t i = 0; i < n; ++i) {
        const bool in = Bitmap(bits).Test(i);
        Require(bytes[i] == (in ? 1 : 0));
        if (in) Require(rows[next] == i && long_rows[next] == i);
        if (in) ++next;
        const bool alone = selection.strings.empty()
                               ? filter->Contains(selection.integers[i])
                               : filter->Contains(std::string_view(selection.strings[i]));
        Require(in == (alone && selection.IsValid(i)));
        Require(in || !selection.IsValid(i) || !Has(selection, i));
      }
      if (n == 0) continue;
      // An output that is too small is refused.
      Require(CodeOf([&] { filter->Contains(keys, std::span(bytes).first(n - 1)); }) ==
              ErrorCode::kInvalidArgument);
      Require(CodeOf([&] { filter->Select(keys, std::span(rows).first(n - 1)); }) ==
              ErrorCode::kInvalidArgument);
    }
  }

  void AskForAll() const {
    for (const bool are_strings : {false, true}) {
      std::vector<unsigned> numbers;
      for (const auto& [number, copies] : are_strings ? strings_ : integers_) {
        if (copies > 0) numbers.push_back(number);
      }
      const Selection selection(numbers, are_strings);
      for (const AnyFilter& filter : filters_) {
        Require(filter->Count(selection.keys()) == selection.size());
      }
    }
    for (const AnyFilter& filter : filters_) {
      Require(filter->expected_fpr() >= 0 && filter->expected_fpr() <= 1);
      Require(filter->estimated_count() >= 0);
      Require(filter->estimated_count() == filters_[0]->estimated_count());
    }
  }

  // Saves each filter and loads it on the next backend.
  void Reload(bool map, uint32_t version) {
    static MemoryFile file;
    const SaveOptions save = {
        .version = IsKeyed(spec_.options.hash.kind) ? FileHeader::kNewestVersion : version};
    std::optional<HashSecret> secret;
    if (IsKeyed(spec_.options.hash.kind)) secret = spec_.options.hash.secret;
    for (size_t i = 0; i < filters_.size(); ++i) {
      const std::vector<std::byte> bytes = Serialize(*filters_[i], save);
      const Backend& backend = Backends()[(i + 1) % Backends().size()];
      Require(bytes.size() == SerializedBytes(*filters_[i], save));
      if (map) {
        const auto* const begin = reinterpret_cast<const uint8_t*>(bytes.data());
        const std::string path = file.Write({begin, begin + bytes.size()});
        const AnyFilter mapped =
            Map(path, {.verify = Verify::kFull, .backend = &backend, .secret = secret});
        Require(mapped->read_only() && !RequireChangeable(*mapped).Insert(KeyOf(1)));
        Require(CodeOf([&] { RequireChangeable(*mapped).Insert(std::vector{KeyOf(1)}); }) ==
                ErrorCode::kReadOnly);
        Require(CodeOf([&] { RequireChangeable(*mapped).Clear(); }) == ErrorCode::kReadOnly);
        filters_[i] = Clone(*mapped);
      } else {
        filters_[i] = Load(bytes, {.backend = &backend, .secret = secret});
      }
      filters_[i]->set_backend(backend);
      Require(Serialize(*filters_[i], save) == bytes);
    }
    std::rotate(filters_.begin(), filters_.end() - 1, filters_.end());
    RequireSame();
  }

  void Merge(const Subject& other) {
    const bool can = static_cast<bool>(CanMerge(*filters_[0], *other.filters_[0]));
    const auto before = Serialize(*filters_[0]);
    for (size_t i = 0; i < filters_.size(); ++i) {
      const auto code = CodeOf([&] { tamis::Merge(*filters_[i], *other.filters_[i]); });
      Require(code == (can ? std::nullopt : std::optional(ErrorCode::kIncompatible)));
    }
    RequireSame();
    if (!can) {
      Require(Serialize(*filters_[0]) == before);
      return;
    }
    for (const auto& [number, copies] : other.integers_) integers_[number] += copies;
    for (const auto& [number, copies] : other.strings_) strings_[number] += copies;
  }

  // Does nothing for kinds that cannot be intersected. Keys that are in both filters stay.
  void Intersect(const Subject& other) {
    const bool did = IntersectAs<SplitBlockBloomFilter>(other) || IntersectAs<BloomFilter>(other);
    if (!did) return;
    for (auto& [number, copies] : integers_) copies = std::min(copies, other.Copies(number, false));
    for (auto& [number, copies] : strings_) copies = std::min(copies, other.Copies(number, true));
    RequireSame();
  }

  void Clear() {
    for (AnyFilter& filter : filters_) RequireChangeable(*filter).Clear();
    integers_.clear();
    strings_.clear();
    RequireSame();
    Require(filters_[0]->inserted_count() == 0);
  }

 private:
  uint64_t Copies(unsigned number, bool are_strings) const {
    const auto& copies = are_strings ? strings_ : integers_;
    const auto found = copies.find(number);
    return found == copies.end() ? 0 : found->second;
  }
  uint64_t& CopiesOf(const Selection& selection, size_t i) {
    return (selection.strings.empty() ? integers_ : strings_)[selection.numbers[i]];
  }
  bool Has(const Selection& selection, size_t i) const {
    return Copies(selection.numbers[i], !selection.strings.empty()) > 0;
  }

  template <typename F>
  bool IntersectAs(const Subject& other) {
    if (filters_[0].As<F>() == nullptr || other.filters_[0].As<F>() == nullptr) return false;
    if (!CanMerge(*filters_[0], *other.filters_[0])) return false;
    for (size_t i = 0; i < filters_.size(); ++i) {
      filters_[i].As<F>()->Intersect(*other.filters_[i].As<F>());
    }
    return true;
  }

  // The filters of all backends have the same bytes.
  void RequireSame() const {
    const std::vector<std::byte> first = Serialize(*filters_[0]);
    for (const AnyFilter& filter : filters_) Require(Serialize(*filter) == first);
  }

  Spec spec_;
  std::vector<AnyFilter> filters_;
  std::map<unsigned, uint64_t> integers_, strings_;  // by number; number of copies
};

Selection ReadSelection(Input& input) {
  const unsigned first = 4 * input.Byte(), step = input.Byte(), n = input.Byte();
  std::vector<unsigned> numbers;
  for (unsigned i = 0; i < n; ++i) numbers.push_back((first + i * (step / 2)) % 4096);
  return {numbers, step % 2 == 1};
}

// The same, with nulls.
Selection ReadWithNulls(Input& input) {
  Selection selection = ReadSelection(input);
  selection.validity.resize(selection.size() / 8 + 1);
  for (size_t i = 0; i < selection.validity.size(); ++i) {
    selection.validity[i] = static_cast<uint8_t>(~(i < 4 ? input.Byte() : i));
  }
  return selection;
}

void Operate(Input& input, Subject& subject, Subject& other) {
  const uint8_t operation = input.Byte();
  switch (operation % 12) {
    case 0:
      return subject.Insert(ReadSelection(input));
    case 1:
      return subject.InsertOneByOne(ReadSelection(input), operation / 12);
    case 2:
      return subject.Insert(ReadWithNulls(input));
    case 3:
      return subject.InsertIfAbsent(ReadWithNulls(input));
    case 4:
      return subject.Erase(ReadSelection(input), false);
    case 5:
      return subject.Erase(ReadSelection(input), true);
    case 6:
      return subject.Ask(ReadSelection(input));
    case 7:
      return subject.Ask(ReadWithNulls(input));
    case 8:
      return subject.Merge(other);
    case 9:
      return subject.Intersect(other);
    case 10:
      return subject.Reload((operation & 128) != 0,
                            (operation & 64) != 0 ? 1 : FileHeader::kNewestVersion);
    default:
      if (operation > 240) return subject.Clear();
      return subject.AskForAll();
  }
}

}  // namespace
}  // namespace tamis

// The first bytes select the options of the filters. The rest are operations: a byte that selects
// one of the two filters, and the bytes of the operation.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tamis;
  Input input({data, size});
  const bool same = input.Byte() % 4 != 0;
  const Spec spec = ReadSpec(input);
  const Spec other = same ? spec : ReadSpec(input);
  std::optional<Subject> a, b;
  const auto code = CodeOf([&] {
    a.emplace(spec);
    b.emplace(other);
  });
  if (code) {
    Require(code == ErrorCode::kInvalidArgument || code == ErrorCode::kOutOfMemory);
    return 0;
  }
  // A cuckoo filter with fingerprints of 8 bits and a rate of 1e-9 takes 500 MB for 16 keys, and
  // all of it would be compared after each operation.
  constexpr uint64_t kMostBytes = uint64_t{4} << 20;
  if (std::max(a->bytes(), b->bytes()) > kMostBytes) return 0;
  for (size_t i = 0; i < kMaxOperations && !input.empty(); ++i) {
    if (input.Byte() % 4 != 0) {
      Operate(input, *a, *b);
    } else {
      Operate(input, *b, *a);
    }
  }
  a->AskForAll();
  b->AskForAll();
  return 0;
}
