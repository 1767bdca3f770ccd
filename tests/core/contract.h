// The contract of every filter kind, as tests that are written once: contract_*_test.cc run over
// Subjects(). A new kind is one line in contract.cc.
#ifndef TAMIS_TESTS_CORE_CONTRACT_H_
#define TAMIS_TESTS_CORE_CONTRACT_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "tamis/engine/engine.h"
#include "tamis/error.h"
#include "tamis/filters/any_filter.h"
#include "tamis/filters/any_scalable_filter.h"
#include "tamis/filters/filter_kinds.h"
#include "tests/core/file_test_util.h"
#include "tests/core/reference_filter.h"

namespace tamis {

struct OneHash {
  uint64_t value;
};
// The type of one element of Keys, for functions that take one key.
using OneKey = std::variant<uint64_t, int64_t, uint32_t, int32_t, std::string_view, OneHash>;

// A filter class, with the functions that are not in Filter or MakeFilter.
struct Subject {
  std::string name;  // the name of its tests
  FilterKind kind;
  Abilities can;
  bool layered;  // scalable: without a payload of its own, and with a capacity that grows

  // A scalable filter begins with an eighth of the capacity, so that it gets several layers.
  AnyFilter (*make)(const FilterOptions&);
  AnyFilter (*load)(const std::filesystem::path&, const LoadOptions&);
  AnyFilter (*map)(const std::filesystem::path&, const MapOptions&);
  bool (*is)(const AnyFilter&);  // whether the filter has this class
  bool (*contains)(const Filter&, const OneKey&);
  bool (*insert)(Filter&, const OneKey&);
  // Moves the filter once by construction and once by assignment.
  AnyFilter (*moved)(Filter&);
  void (*assign)(Filter& to, AnyFilter from);
  // nullptr if the class lacks the function.
  bool (*erase)(Filter&, const OneKey&);
  AnyFilter (*clone)(const Filter&);
  void (*merge)(Filter&, const Filter&);
  void (*intersect)(Filter&, const Filter&);
};

inline void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.name; }

// Returns one subject for every kind, and a scalable one for every kind of layers.
const std::vector<Subject>& Subjects();
std::vector<Subject> SubjectsThat(bool (*suits)(const Subject&));

struct SubjectName {
  std::string operator()(const testing::TestParamInfo<Subject>& test) const {
    return test.param.name;
  }
};

class ContractTest : public testing::TestWithParam<Subject> {
 protected:
  const Subject& subject() const { return GetParam(); }

  AnyFilter Make(uint64_t capacity, const Backend* backend = nullptr, HashSpec hash = {}) const {
    return subject().make({.capacity = capacity, .hash = hash, .backend = backend});
  }

  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "f.tamis";
};

// Returns everything in which filters with equal options can differ: bytes and numbers, of every
// layer.
std::vector<char> Contents(const Filter& filter);

Engine PinnedEngine(const Backend& backend, unsigned threads, bool partitioned = false);

// n keys in every layout. All layouts of integers have the same keys, and so have all three layouts
// of strings. Short strings repeat.
class AllLayouts {
 public:
  struct Set {
    const char* name;
    Keys keys;
    std::vector<OneKey> ones;
  };

  AllLayouts(size_t n, uint64_t seed);
  AllLayouts(const AllLayouts&) = delete;
  AllLayouts& operator=(const AllLayouts&) = delete;

  const std::vector<Set>& sets() const { return sets_; }
  const Keys& u64() const { return sets_.front().keys; }

 private:
  std::vector<uint64_t> u64_;
  std::vector<int64_t> i64_;
  std::vector<uint32_t> u32_;
  std::vector<int32_t> i32_;
  std::vector<std::string> strings_;
  std::vector<std::string_view> views_;
  std::string bytes_ = "??";
  std::vector<int32_t> offsets_ = {2};
  std::vector<int64_t> large_offsets_;
  std::vector<OneHash> hashes_;
  std::vector<Set> sets_;
};

// Expects that a damaged file is refused. If `by_headers` is true, functions that read only headers
// refuse it as well. Otherwise it can be mapped, and is then safe to probe.
void ExpectRefused(const Subject& subject, const std::filesystem::path& path, const Bytes& file,
                   const std::string& check, uint64_t at, bool by_headers = true,
                   ErrorCode code = ErrorCode::kCorrupt);

namespace contract {

template <typename Call>
bool WithKey(const OneKey& key, const Call& call) {
  return std::visit(call, key);
}

template <typename F>
AnyFilter MakeOf(const FilterOptions& options) {
  if constexpr (requires { F::kErases; }) {
    return F({.initial_capacity = options.capacity / 8 + 1,
              .fpr = options.fpr != 0 ? options.fpr : 0.1,
              .growth = F::kErases ? 1.25 : 2,  // below 2, Bloom layers do not count all keys
              .hash = options.hash,
              .memory = options.memory,
              .backend = options.backend});
  } else {
    return F(options);
  }
}

}  // namespace contract

template <typename F>
Subject SubjectOf() {
  static_assert(std::is_nothrow_move_constructible_v<F> && std::is_nothrow_move_assignable_v<F>);
  static_assert(!std::is_copy_constructible_v<F> && !std::is_copy_assignable_v<F>);
  const AnyFilter one = contract::MakeOf<F>({.capacity = 1});
  const std::optional<ScalableView> view = ViewScalable(*one);
  const FilterKindInfo& info = KindInfo(view ? view->layers[0]->kind() : one->kind());
  Subject s{};
  s.name = (view ? "scalable_" : "") + std::string(info.name);
  std::replace(s.name.begin(), s.name.end(), '-', '_');
  s.kind = one->kind();
  s.layered = view.has_value();
  s.can = view ? Abilities{.erase = info.can.erase, .grow = true} : info.can;
  s.make = &contract::MakeOf<F>;
  s.load = [](const std::filesystem::path& path, const LoadOptions& options) {
    return AnyFilter(F::Load(path, options));
  };
  s.map = [](const std::filesystem::path& path, const MapOptions& options) {
    return AnyFilter(F::Map(path, options));
  };
  s.is = [](const AnyFilter& any) { return any.As<F>() != nullptr; };
  s.contains = [](const Filter& filter, const OneKey& key) {
    const auto& f = dynamic_cast<const F&>(filter);
    return contract::WithKey(key, [&f](auto k) {
      if constexpr (std::is_same_v<decltype(k), OneHash>)
        return f.ContainsHash(k.value);
      else
        return f.Contains(k);
    });
  };
  s.insert = [](Filter& filter, const OneKey& key) {
    auto& f = dynamic_cast<F&>(filter);
    return contract::WithKey(key, [&f](auto k) {
      if constexpr (std::is_same_v<decltype(k), OneHash>)
        return f.InsertHash(k.value);
      else
        return f.Insert(k);
    });
  };
  s.moved = [](Filter& filter) {
    F constructed(std::move(dynamic_cast<F&>(filter)));
    AnyFilter assigned = contract::MakeOf<F>({.capacity = 1});
    *assigned.As<F>() = std::move(constructed);
    return assigned;
  };
  s.assign = [](Filter& to, AnyFilter from) { dynamic_cast<F&>(to) = std::move(*from.As<F>()); };
  if constexpr (requires(F f) { f.EraseHash(uint64_t{}); }) {
    s.erase = [](Filter& filter, const OneKey& key) {
      auto& f = dynamic_cast<F&>(filter);
      return contract::WithKey(key, [&f](auto k) {
        if constexpr (std::is_same_v<decltype(k), OneHash>)
          return f.EraseHash(k.value);
        else
          return f.Erase(k);
      });
    };
  }
  if constexpr (requires(const F f) { f.Clone(); }) {
    s.clone = [](const Filter& f) { return AnyFilter(dynamic_cast<const F&>(f).Clone()); };
  }
  if constexpr (requires(F f) { f.Merge(f); }) {
    s.merge = [](Filter& f, const Filter& other) {
      dynamic_cast<F&>(f).Merge(dynamic_cast<const F&>(other));
    };
  }
  if constexpr (requires(F f) { f.Intersect(f); }) {
    s.intersect = [](Filter& f, const Filter& other) {
      dynamic_cast<F&>(f).Intersect(dynamic_cast<const F&>(other));
    };
  }
  return s;
}

}  // namespace tamis

#endif  // TAMIS_TESTS_CORE_CONTRACT_H_
