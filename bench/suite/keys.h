// Keys and queries of one size class, in every form, the same for all that is compared.
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

// Strings end to end, and where each begins: as views, or as offsets of a column.
class StringKeys {
 public:
  // String i has the number at(i), of which it is a function without collisions.
  StringKeys(KeyType form, size_t n, const std::function<uint64_t(size_t)>& at);

  Keys keys() const noexcept {
    return offsets_.empty() ? Keys(views_) : Keys(StringColumn{text_.data(), offsets_});
  }

 private:
  HugeVector<char> text_;
  HugeVector<std::string_view> views_;
  HugeVector<int32_t> offsets_;  // empty unless it is a column
};

struct AskedKeys {
  Keys keys;
  std::span<const uint8_t> present;  // 1 where the key is in, else 0
};

// A filter holds integers from the beginning of the sequence KeyAt, and some strings of each form
// (a quarter of the keys at most), so that one filter answers for every form.
class SuiteKeys {
 public:
  // For filters of `filter_bytes` and `fewest_keys` or more, with strings of these forms. Queries
  // visit each cache line of the filter about once, within bounds.
  SuiteKeys(uint64_t filter_bytes, uint64_t fewest_keys,
            std::span<const KeyType> string_forms = kViewForms);

  std::span<const KeyType> string_forms() const noexcept { return string_forms_; }

  // Integers in a filter of n keys; one that takes no strings has only these.
  uint64_t NumIntegers(uint64_t n, bool strings) const noexcept {
    return strings ? n - string_forms_.size() * num_strings_ : n;
  }

  // Calls visit(keys) for consecutive slices of integers [0, n). Slices of large n are made between
  // the calls, so that memory does not grow with n.
  void ForEachSlice(uint64_t n, const std::function<void(const Keys&)>& visit);

  // A batch of keys to insert and to erase: the last of so many integers, or the strings of a form.
  Keys Last(uint64_t num_integers, KeyType form);

  // Queries of which hit_percent are in. Made when first asked for.
  AskedKeys Queries(KeyType form, int hit_percent);
  size_t num_queries(KeyType form) const noexcept {
    return form == KeyType::kU64 ? num_queries_ : num_string_queries_;
  }
  // Integers that are in no filter; a batch of num_queries(kU64), another for each i.
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
  size_t slice_size_ = 0;  // 0: nothing made yet
  HugeVector<uint64_t> last_;
  HugeVector<uint64_t> absent_;
  std::map<KeyType, StringKeys> strings_;
  std::map<std::pair<KeyType, int>, Batch> batches_;
};

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_KEYS_H_
