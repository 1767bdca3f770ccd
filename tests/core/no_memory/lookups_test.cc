// Lookups ordered by region, in a process that runs out of memory: they are answered one after
// the other, or refused with nothing written. Also tests how much memory they take.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <new>
#include <optional>
#include <vector>

#include "tamis/engine/engine.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/core/no_memory/failing_new.h"
#include "tests/test_util.h"

namespace tamis::lookups_test {

constexpr size_t kKeys = 10'000;
constexpr uint64_t kJunk = 0x5C5C5C5C5C5C5C5C;

class LookupsWithoutMemoryTest : public testing::Test {
 protected:
  LookupsWithoutMemoryTest() {
    filter_.Insert(std::span(keys_).first(kKeys / 2));
    std::vector<uint64_t> rows(kKeys);
    rows.resize(filter_.Select(keys_, rows));
    rows_ = rows;
  }

  // Calls ask(engine) once for each of its allocations, and makes this allocation fail. If `later`,
  // all later allocations fail, too. `ask` must return the number of keys found. Returns how many
  // calls threw. After these calls, untouched() must return true.
  int ThrownBy(const std::function<size_t(const Engine&)>& ask,
               const std::function<bool()>& untouched, bool later) {
    int thrown = 0;
    for (int n = 0;; ++n) {
      EXPECT_LT(n, 1000);
      // The call starts its threads.
      const Engine engine({.pin = CallRoute{.threads = 3, .partitioned = true}});
      std::optional<size_t> found;
      failures = 0;
      later_ones_fail = later;
      allocations_left = n;
      try {
        found = ask(engine);
      } catch (const std::bad_alloc&) {
      }
      allocations_left = -1;
      if (found) {
        EXPECT_EQ(*found, rows_.size()) << "allocation " << n;
      } else {
        EXPECT_TRUE(untouched()) << "allocation " << n;
        ++thrown;
      }
      if (failures == 0) {
        EXPECT_GT(n, 5);
        return thrown;
      }
    }
  }

  const std::vector<uint64_t> keys_ = RandomKeys(kKeys, /*seed=*/1);
  SplitBlockBloomFilter filter_{{.bytes = uint64_t{3} << 20}};
  std::vector<uint64_t> rows_;  // the rows of present keys
};

TEST_F(LookupsWithoutMemoryTest, BitsAndCountsEqualDirectLookups) {
  std::vector<uint64_t> want(BitmapWords(kKeys)), bits(want.size());
  filter_.Contains(keys_, Bitmap(want));
  for (const bool later : {false, true}) {
    const auto contains = [&](const Engine& engine) {
      std::fill(bits.begin(), bits.end(), kJunk);
      const size_t found = engine.Contains(filter_, keys_, Bitmap(bits));
      EXPECT_TRUE(bits == want);
      return found;
    };
    const auto count = [&](const Engine& engine) { return engine.Count(filter_, keys_); };
    const auto nothing = [] { return true; };
    EXPECT_EQ(ThrownBy(contains, nothing, later), 0);
    EXPECT_EQ(ThrownBy(count, nothing, later), 0);
  }
}

TEST_F(LookupsWithoutMemoryTest, IndicesEqualDirectLookupsOrAreRefused) {
  std::vector<uint64_t> rows(kKeys);
  const auto select = [&](const Engine& engine) {
    std::fill(rows.begin(), rows.end(), kJunk);
    const size_t found = engine.Select(filter_, keys_, std::span(rows));
    EXPECT_TRUE(std::equal(rows_.begin(), rows_.end(), rows.begin()));
    return found;
  };
  const auto untouched = [&] {
    return std::all_of(rows.begin(), rows.end(), [](uint64_t row) { return row == kJunk; });
  };
  EXPECT_EQ(ThrownBy(select, untouched, false), 0);
  EXPECT_GT(ThrownBy(select, untouched, true), 0);  // it has to store what each slice found
}

// The memory that engine.h documents for one thread.
TEST_F(LookupsWithoutMemoryTest, OrderedLookupsTakeTheDocumentedMemory) {
  const auto bytes_of = [&](bool ordered) {
    const Engine engine({.pin = CallRoute{.threads = 1, .partitioned = ordered}});
    allocated_bytes = 0;
    EXPECT_EQ(engine.Count(filter_, keys_), rows_.size());
    return allocated_bytes;
  };
  EXPECT_EQ(bytes_of(false), 0u);
  EXPECT_GE(bytes_of(true), 12 * kKeys);
  EXPECT_LE(bytes_of(true), 12 * kKeys + 32'000);  // a few segments of lists, and the bits
}

}  // namespace tamis::lookups_test
