// Filters of every kind, and a comparison of two filters.
#ifndef TAMIS_TESTS_CAMPAIGNS_FAULT_FILTERS_H_
#define TAMIS_TESTS_CAMPAIGNS_FAULT_FILTERS_H_

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tamis/file/filter_kind_name.h"
#include "tamis/filters/any_filter.h"
#include "tamis/filters/any_scalable_filter.h"
#include "tamis/filters/filter_kinds.h"

namespace tamis::campaigns {

// Distinct keys: SplitMix64's output function is a bijection.
constexpr uint64_t KeyOf(uint64_t i) {
  uint64_t x = i + 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

inline std::vector<uint64_t> KeysOf(uint64_t first, uint64_t n) {
  std::vector<uint64_t> keys(n);
  for (uint64_t i = 0; i < n; ++i) keys[i] = KeyOf(first + i);
  return keys;
}

// A kind of filter, or a scalable filter with layers of this kind.
struct Shape {
  FilterKind kind;
  bool layered = false;

  std::string name() const {
    return (layered ? std::string("scalable ") : std::string()) + FilterKindName(kind);
  }
  AnyFilter Make(uint64_t capacity) const {
    if (layered) return MakeScalableFilter(kind, {.initial_capacity = capacity / 8 + 1});
    return MakeFilter(kind, {.capacity = capacity});
  }
};

inline std::vector<Shape> Shapes() {
  std::vector<Shape> shapes;
  for (const FilterKindInfo& kind : FilterKinds()) {
    if (kind.is_plain()) shapes.push_back({kind.kind});
    if (kind.can_be_layer) shapes.push_back({kind.kind, true});
  }
  return shapes;
}

// A template, because filters that many threads change do not derive from Filter.
template <typename F>
bool HasAll(const F& filter, const std::vector<uint64_t>& keys) {
  return filter.Count(keys) == keys.size();
}

// Returns the bytes of a file, or nothing if it cannot be read.
inline std::string BytesOf(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(bytes).str();
}

}  // namespace tamis::campaigns

#endif  // TAMIS_TESTS_CAMPAIGNS_FAULT_FILTERS_H_
