// The result of a query of many keys, in memory that the result owns.
#ifndef TAMIS_ANSWERS_H_
#define TAMIS_ANSWERS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tamis/keys.h"

namespace tamis {

// The answers for the keys of one call: bit i is 1 if key i may be in the filter.
class Answers {
 public:
  // Returns the number of keys.
  size_t size() const noexcept { return size_; }
  // The number of keys that may be in the filter.
  size_t count() const noexcept { return count_; }
  // Returns whether key i may be in the filter. `i` must be below size().
  bool operator[](size_t i) const noexcept { return (words_[i / 64] >> (i % 64)) & 1; }
  // The bits, least significant bit first, as in Bitmap. Bits past size() are 0.
  std::span<const uint64_t> words() const noexcept { return words_; }

 private:
  friend class Engine;
  friend class Queryable;

  // Calls query(bitmap), which fills the bitmap and returns the number of bits that are 1.
  template <typename Query>
  Answers(size_t size, const Query& query)
      : words_(BitmapWords(size)), size_(size), count_(query(Bitmap(words_))) {}

  std::vector<uint64_t> words_;
  size_t size_;
  size_t count_;
};

}  // namespace tamis

#endif  // TAMIS_ANSWERS_H_
