// Keys and queries of one size class, in every key type. All contenders use the same keys.
#ifndef TAMIS_BENCH_SUITE_KEYS_H_
#define TAMIS_BENCH_SUITE_KEYS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/huge_memory.h"
#include "bench/suite/axes.h"
#include "tamis/keys.h"

namespace tamis::bench {

// Strings stored one after another, with the beginning of each: as views, or as offsets of a
// column.
class StringKeys {
 public:
  // String i is a function of the number `at(i)`. Different numbers give different strings.
  StringKeys(KeyType form, size_t n, const std::function<uint64_t(size_t)>& at);

  Keys keys() const noexcept {
    return offsets_.empty() ? Keys(views_) : Keys(StringColumn{text_.data(), offsets_});
  }

 private:
  HugeVector<char> text_;
  HugeVector<std::string_view> views_;
  HugeVector<int32_t> offsets_;  // only for columns
};

struct AskedKeys {
  Keys keys;
  std::span<const uint8_t> present;  // 1 if the filter contains the key, 0 if not
};

// A filter contains integers from the beginning of the sequence KeyAt and some strings of each key
// type (a quarter of the keys at most), so that one filter can be queried with every key type.
class SuiteKeys {
 public:
  // Makes keys for filters of `filter_bytes` bytes and at least `fewest_keys` keys, with strings of
  // these key types. The number of queries is such that they read each cache line of the filter
  // about once, within limits.
  SuiteKeys(uint64_t filter_bytes, uint64_t fewest_keys,
            std::span<const KeyType> string_forms = kViewForms);

  std::span<const KeyType> string_forms() const noexcept { return string_forms_; }

  // Returns the number of integers in a filter of `n` keys. A filter without strings contains only
  // integers.
  uint64_t NumIntegers(uint64_t n, bool strings) const noexcept {
    return strings ? n - string_forms_.size() * num_strings_ : n;
  }

  // Calls visit(keys) for consecutive slices of the integers [0, n). For a large `n`, slices are
  // made between the calls, so that memory does not grow with `n`.
  void ForEachSlice(uint64_t n, const std::function<void(const Keys&)>& visit);

  // Returns a batch of keys to insert and to erase: the last of `num_integers` integers, or the
  // strings of a key type.
  Keys Last(uint64_t num_integers, KeyType form);

  // Returns queries of which `hit_percent` percent are in the filter. The first call makes these
  // queries.
  AskedKeys Queries(KeyType form, int hit_percent);
  size_t num_queries(KeyType form) const noexcept {
    return form == KeyType::kU64 ? num_queries_ : num_string_queries_;
  }
  // Returns batch `i` of integers that no filter contains. A batch has num_queries(kU64) integers.
  Keys Absent(size_t i);

 private:
  struct Batch {
    HugeVector<uint64_t> integers;
    std::unique_ptr<StringKeys> strings;
    HugeVector<uint8_t> present;
  };

  std::vector<KeyType> string_forms_;
  size_t num_queries_;
  size_t num_string_queries_;
  size_t num_strings_;
  uint64_t num_hit_integers_;
  HugeVector<uint64_t> slice_;
  uint64_t slice_begin_ = 0;
  size_t slice_size_ = 0;  // 0: no slice was made
  HugeVector<uint64_t> last_;
  HugeVector<uint64_t> absent_;
  std::map<KeyType, StringKeys> strings_;
  std::map<std::pair<KeyType, int>, Batch> batches_;
};

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_KEYS_H_
