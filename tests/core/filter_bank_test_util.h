// A filter bank beside the filters that it is made of.
#ifndef TAMIS_TESTS_CORE_FILTER_BANK_TEST_UTIL_H_
#define TAMIS_TESTS_CORE_FILTER_BANK_TEST_UTIL_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tamis/bank/filter_bank.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/test_util.h"

namespace tamis {

// With half of its bits set or fewer, and numbers of keys to recognize it by.
SplitBlockBloomFilter RandomFilter(uint64_t num_blocks, Random& random, const HashSpec& hash = {});

// Whether payload and header are equal.
bool BitsEqual(const SplitBlockBloomFilter& a, const SplitBlockBloomFilter& b);

class BankModel {
 public:
  explicit BankModel(const BankOptions& options = {}) : options_(options), bank_(options) {}

  FilterBank& bank() { return bank_; }
  size_t size() const { return filters_.size(); }

  // Filters of few sizes, and some out of keys.
  void AddMany(size_t n, Random& random);
  void RemoveSome(Random& random);
  void RemoveAll();
  // Another bank of some filters.
  void MergeAnother(Random& random);
  // Lookups of every form, on one thread and several, and `extracted` members given back.
  void ExpectEqual(Random& random, size_t extracted);
  // The same for a bank that was made of this one.
  void ExpectEqual(const FilterBank& bank, Random& random, size_t extracted) const;

 private:
  std::string NewName() { return "member " + std::to_string(next_++); }

  BankOptions options_;
  FilterBank bank_;
  std::map<std::string, SplitBlockBloomFilter> filters_;
  uint64_t next_ = 0;
};

}  // namespace tamis

#endif  // TAMIS_TESTS_CORE_FILTER_BANK_TEST_UTIL_H_
