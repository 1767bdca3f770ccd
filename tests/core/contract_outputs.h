// Compares every output of a lookup with the expected answers.
#ifndef TAMIS_TESTS_CORE_CONTRACT_OUTPUTS_H_
#define TAMIS_TESTS_CORE_CONTRACT_OUTPUTS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tamis/engine/engine.h"
#include "tamis/filters/filter.h"
#include "tests/test_util.h"

namespace tamis {

// Tests bits, bytes, 32- and 64-bit indices and counts for the same keys, by a Filter or an Engine.
template <typename Asked>
void ExpectOutputs(const Asked& asked, const Keys& keys, const std::vector<bool>& want) {
  const size_t n = want.size();
  std::vector<uint64_t> rows;
  for (size_t i = 0; i < n; ++i) {
    if (want[i]) rows.push_back(i);
  }
  EXPECT_EQ(asked.Count(keys), rows.size());

  const auto words = GuardedArray<uint64_t>::Output(BitmapWords(n), 9);
  EXPECT_EQ(asked.Contains(keys, Bitmap(words.span())), rows.size());
  for (size_t i = 0; i < 64 * words.size(); ++i) {
    ASSERT_EQ(Bitmap(words.span()).Test(i), i < n && want[i]) << "bit " << i << " of " << n;
  }
  const auto bytes = GuardedArray<uint8_t>::Output(n, 65);
  EXPECT_EQ(asked.Contains(keys, bytes.span()), rows.size());
  ASSERT_EQ(bytes.vector(), std::vector<uint8_t>(want.begin(), want.end()));

  const auto rows32 = GuardedArray<uint32_t>::Output(n, 17);
  ASSERT_EQ(asked.Select(keys, rows32.span()), rows.size());
  ASSERT_TRUE(std::equal(rows.begin(), rows.end(), rows32.data()));
  const auto rows64 = GuardedArray<uint64_t>::Output(n, 9);
  ASSERT_EQ(asked.Select(keys, rows64.span()), rows.size());
  ASSERT_TRUE(std::equal(rows.begin(), rows.end(), rows64.data()));
  ASSERT_TRUE(words.Intact() && bytes.Intact() && rows32.Intact() && rows64.Intact());
}

// An Engine with the functions of a Filter.
struct ByEngine {
  const Engine& engine;
  const Filter& filter;

  size_t Contains(Keys keys, auto out) const { return engine.Contains(filter, keys, out); }
  size_t Select(Keys keys, auto out) const { return engine.Select(filter, keys, out); }
  size_t Count(Keys keys) const { return engine.Count(filter, keys); }
};

}  // namespace tamis

#endif  // TAMIS_TESTS_CORE_CONTRACT_OUTPUTS_H_
