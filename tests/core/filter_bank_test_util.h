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

// Returns a filter with at most half of its bits set, and with counts that identify it.
SplitBlockBloomFilter RandomFilter(uint64_t num_blocks, Random& random, const HashSpec& hash = {});

// Returns whether payload and header are equal.
bool BitsEqual(const SplitBlockBloomFilter& a, const SplitBlockBloomFilter& b);

class BankModel {
 public:
  explicit BankModel(const BankOptions& options = {}) : options_(options), bank_(options) {}

  FilterBank& bank() { return bank_; }
  size_t size() const { return filters_.size(); }

  // Adds filters of few sizes, some of them made from keys.
  void AddMany(size_t n, Random& random);
  void RemoveSome(Random& random);
  void RemoveAll();
  // Merges another bank of some filters.
  void MergeAnother(Random& random);
  // Compares lookups of every layout, on one thread and several, and extracts `extracted` members.
  void ExpectEqual(Random& random, size_t extracted);
  // The same for a bank that was made from this one.
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
