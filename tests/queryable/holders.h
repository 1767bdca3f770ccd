// Objects of all classes that are Queryables, and a Queryable that the tests define.
#ifndef TAMIS_TESTS_QUERYABLE_HOLDERS_H_
#define TAMIS_TESTS_QUERYABLE_HOLDERS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "tamis/queryable.h"

namespace tamis {

// Makes a Queryable that contains some integers.
struct Holder {
  std::string name;
  std::function<std::unique_ptr<Queryable>(const std::vector<uint64_t>& keys)> make;
  // Bits of the integers. Fewer bits for structures that need a small range.
  uint64_t mask = ~uint64_t{0};

  // Returns random integers of these bits.
  std::vector<uint64_t> RandomIntegers(size_t n, uint64_t seed) const;
};

inline void PrintTo(const Holder& holder, std::ostream* out) { *out << holder.name; }

// Returns one holder for each filter kind, for views, concurrent filters, windows, formats, join
// filters of each form and EvenNumbers.
const std::vector<Holder>& Holders();

// Answers "maybe" for even integers and "no" for odd integers, slowly and without a filter. Refuses
// strings. Counts queries, and fails for chosen keys.
class EvenNumbers final : public Queryable {
 public:
  explicit EvenNumbers(QueryTraits traits = {}) : traits_(traits) {}

  // A query that has this key throws std::runtime_error.
  std::function<bool(uint64_t key)> fails = [](uint64_t) { return false; };
  // Keys without an answer: a query that has some throws UnansweredError.
  std::function<bool(uint64_t key)> unanswered = [](uint64_t) { return false; };

  int queries() const { return queries_; }
  bool in_one_thread_only() const { return !overlapped_; }

  QueryTraits traits() const noexcept override { return traits_; }
  KeyTypes key_types() const override { return KeyType::kInteger; }
  uint64_t bytes() const override { return 0; }

 protected:
  void Query(const Keys& keys, uint64_t* bits) const override;

 private:
  QueryTraits traits_;
  mutable std::atomic<int> queries_{0};
  mutable std::atomic<int> running_{0};
  mutable std::atomic<bool> overlapped_{false};
};

}  // namespace tamis

#endif  // TAMIS_TESTS_QUERYABLE_HOLDERS_H_
