// The verdicts of JoinProbe.
#include "tamis/join/join_probe.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tamis/error.h"
#include "tests/core/file_test_util.h"
#include "tests/test_util.h"

namespace tamis::join_probe_test {

class JoinProbeTest : public testing::Test {
 protected:
  JoinProbeTest() {
    JoinFilter::Part part = filter_.MakePart(0);
    part.Insert(keys_);
    filter_.Add(std::move(part));
    filter_.Complete(1);
  }

  // Records samples with this share of passing rows and this cost, until `rows` were wanted.
  static void Feed(JoinProbe& probe, uint64_t rows, double pass_rate, double ns_per_row) {
    for (uint64_t done = 0; done < rows && probe.Wanted(1000); done += 1000) {
      probe.Record(1000, static_cast<uint64_t>(1000 * pass_rate), 1000 * ns_per_row);
    }
  }

  const std::vector<uint64_t> keys_ = RandomKeys(100, 1);
  JoinFilter filter_{{.expected_keys = 100}};
  const JoinProbeOptions options_ = {.row_ns = 10, .sample_rows = 1000, .pause_rows = 5000};
};

TEST_F(JoinProbeTest, FilterThatPays_IsKept) {
  JoinProbe probe(filter_, options_);
  Feed(probe, 100'000, 0.1, 2);  // saves 9, costs 2
  EXPECT_EQ(probe.verdict(), JoinVerdict::kKeep);
  EXPECT_EQ(probe.counters().rows, 100'000u);
  EXPECT_EQ(probe.counters().samples, 100u);
  EXPECT_EQ(probe.counters().skipped, 0u);
}

TEST_F(JoinProbeTest, TwoBadSamples_PauseTheFilter_AndPausesDouble) {
  JoinProbe probe(filter_, options_);
  Feed(probe, 1000, 1, 2);
  EXPECT_EQ(probe.verdict(), JoinVerdict::kKeep) << "one sample may be a coincidence";
  Feed(probe, 1000, 1, 2);
  EXPECT_EQ(probe.verdict(), JoinVerdict::kTryAgainLater);
  for (uint64_t pause = 5000; pause <= 40'000; pause *= 2) {
    for (uint64_t row = 0; row < pause; row += 1000) EXPECT_FALSE(probe.Wanted(1000));
    EXPECT_TRUE(probe.Wanted(1000)) << pause;
    probe.Record(1000, 1000, 2000);
  }
  // One good sample ends it.
  while (!probe.Wanted(1000)) {
  }
  probe.Record(1000, 100, 2000);
  EXPECT_EQ(probe.verdict(), JoinVerdict::kKeep);
  EXPECT_EQ(probe.counters().switches, 2u);
  EXPECT_NE(probe.counters().ToText().find("switches 2"), std::string::npos);
}

TEST_F(JoinProbeTest, NearTheBreakEvenPoint_TheVerdictStays) {
  JoinProbe probe(filter_, options_);
  Feed(probe, 50'000, 0.8, 2.1);  // saves 2, costs 2.1
  EXPECT_EQ(probe.verdict(), JoinVerdict::kKeep);
  Feed(probe, 2000, 1, 2);
  EXPECT_EQ(probe.verdict(), JoinVerdict::kTryAgainLater);
  while (!probe.Wanted(1000)) {
  }
  probe.Record(1000, 800, 1900);  // saves 2, costs 1.9
  EXPECT_EQ(probe.verdict(), JoinVerdict::kTryAgainLater);
}

TEST_F(JoinProbeTest, NeverPays_IsSwitchedOffForGood) {
  JoinProbeOptions options = options_;
  options.max_pauses = 3;
  JoinProbe probe(filter_, options);
  for (int i = 0; i < 1000; ++i) {
    if (probe.Wanted(1000)) probe.Record(1000, 1000, 2000);
  }
  EXPECT_EQ(probe.verdict(), JoinVerdict::kSwitchOff);
  EXPECT_EQ(probe.counters().samples, 5u);
  EXPECT_FALSE(probe.Wanted(uint64_t{1} << 40));
  EXPECT_EQ(std::string(JoinVerdictName(probe.verdict())), "switch off");
}

TEST_F(JoinProbeTest, Queries_EqualTheFilter) {
  JoinProbe probe(filter_);
  std::vector<uint64_t> rows = RandomKeys(900, 2);
  rows.insert(rows.end(), keys_.begin(), keys_.end());
  std::vector<uint32_t> out(1000), all(1000);
  const size_t n = probe.Select(rows, std::span(out));
  EXPECT_EQ(n, filter_.Count(rows));
  EXPECT_EQ(probe.SelectFrom(rows, std::span<const uint32_t>(out).first(n), std::span(all)), n);
  std::vector<uint8_t> bytes(1000);
  EXPECT_EQ(probe.Contains(rows, std::span(bytes)), n);
  std::vector<uint64_t> words(16);
  EXPECT_EQ(probe.Contains(rows, Bitmap(words)), n);
  EXPECT_EQ(probe.counters().rows, 3000 + n);
  EXPECT_GT(probe.counters().ns, 0);
}

TEST_F(JoinProbeTest, BadOptions_Throw) {
  for (const JoinProbeOptions& options :
       {JoinProbeOptions{.row_ns = -1}, JoinProbeOptions{.sample_rows = 0},
        JoinProbeOptions{.margin = 0.9}, JoinProbeOptions{.pause_rows = 0}}) {
    ExpectError([&] { JoinProbe probe(filter_, options); }, ErrorCode::kInvalidArgument, "margin");
  }
}

}  // namespace tamis::join_probe_test
