// The number of words that a filter of n-grams records.
#include "text/units.h"

#include <gtest/gtest.h>
#include <tamis/filters/split_block_filter.h>

#include <algorithm>
#include <set>
#include <vector>

#include "tests/test_util.h"

namespace tamis::text::units_test {

class InFilter final : public KnownKeys {
 public:
  explicit InFilter(ChangeableFilter& filter) : filter_(filter) {}
  size_t Contains(const Keys& keys, Bitmap found) override { return filter_.Contains(keys, found); }
  size_t InsertIfAbsent(const Keys& keys, Bitmap fresh) override {
    return filter_.InsertIfAbsent(keys, fresh);
  }

 private:
  ChangeableFilter& filter_;
};

TEST(MarkedWordsTest, AreAllThatWereInserted) {
  Random random(1);
  for (int round = 0; round < 20; ++round) {
    SplitBlockBloomFilter filter({.capacity = 1000, .fpr = 1e-6});
    InFilter known(filter);
    std::set<size_t> inserted;
    for (uint64_t n = random.Below(12); n > 0; --n) {
      const size_t words = 1 + random.Below(kMostWords);
      InsertMarks(known, words);
      inserted.insert(words);
    }
    const std::vector<size_t> all(inserted.begin(), inserted.end());
    for (const size_t words : all) EXPECT_EQ(MarkedWords(filter, words), std::vector{words});
    const size_t other = 1 + random.Below(kMostWords);
    EXPECT_EQ(MarkedWords(filter, other), inserted.contains(other) ? std::vector{other} : all);
  }
}

TEST(WordsTextTest, NamesAtMostEight) {
  EXPECT_EQ(WordsText(std::vector<size_t>{13}), "13");
  EXPECT_EQ(WordsText(std::vector<size_t>{3, 13}), "3 or 13");
  EXPECT_EQ(WordsText(std::vector<size_t>{1, 2, 3, 4, 5, 6, 7, 8}), "1, 2, 3, 4, 5, 6, 7 or 8");
  EXPECT_EQ(WordsText(std::vector<size_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 1000}),
            "1, 2, 3, 4, 5, 6, 7, 8, ...");
}

}  // namespace tamis::text::units_test
