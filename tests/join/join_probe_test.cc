// The verdicts of JoinProbe.
#include "tamis/join/join_probe.h"

#include <gtest/gtest.h>

#include <cmath>
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
  Feed(probe, 2000, 0.8, 1.9);  // saves 2, costs 1.9
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

// A model of caches: after rows that were not queried, the filter costs `cold` times as much. The
// difference falls by a factor of e in each `cold_rows` rows.
struct Scan {
  double row_ns = 10;
  double pass_rate = 0;
  double warm_ns = 1;
  double cold = 1;
  double cold_rows = 1;
  double ns = 0;            // of the filter and the rows after it
  uint64_t since_skip = 0;  // rows that were queried since rows were skipped

  void Run(JoinProbe& probe, uint64_t rows, uint64_t batch) {
    for (uint64_t done = 0; done < rows; done += batch) {
      const auto n = static_cast<double>(batch);
      if (!probe.Wanted(batch)) {
        since_skip = 0;
        ns += n * row_ns;
        continue;
      }
      const double cost =
          n * warm_ns * (1 + (cold - 1) * std::exp(-static_cast<double>(since_skip) / cold_rows));
      since_skip += batch;
      ns += cost + n * pass_rate * row_ns;
      probe.Record(batch, static_cast<uint64_t>(n * pass_rate), cost);
    }
  }
};

TEST_F(JoinProbeTest, LongScans_OfColdFilters_KeepFiltersThatPay) {
  Random random(1);
  const auto between = [&](double low, double high) {
    return low +
           (high - low) * static_cast<double>(random() >> 11) / static_cast<double>(1ull << 53);
  };
  for (int i = 0; i < 200; ++i) {
    const uint64_t batch = uint64_t{512} << random.Below(5);
    Scan scan{.row_ns = between(3, 60), .pass_rate = between(0, 0.7)};
    const double saved = (1 - scan.pass_rate) * scan.row_ns;
    scan.warm_ns = saved * between(0.1, 0.6);
    scan.cold = between(1, 8);
    scan.cold_rows = between(1, 6000);
    JoinProbe probe(filter_, {.row_ns = scan.row_ns});
    // A part of the scan in which all rows match, and then the rest, in which few match.
    Scan all = scan;
    all.pass_rate = 1;
    all.Run(probe, 1'000'000, batch);
    ASSERT_EQ(probe.verdict(), JoinVerdict::kTryAgainLater);
    scan.Run(probe, 3'000'000, batch);
    EXPECT_EQ(probe.verdict(), JoinVerdict::kKeep) << probe.counters().ToText();
    const uint64_t skipped = probe.counters().skipped;
    scan.Run(probe, 10'000'000, batch);
    EXPECT_EQ(probe.counters().skipped, skipped);
  }
}

TEST_F(JoinProbeTest, LongScans_OfFiltersThatDropNothing_CostLittle) {
  Random random(2);
  for (int i = 0; i < 50; ++i) {
    const uint64_t batch = uint64_t{512} << random.Below(4);
    Scan scan{.row_ns = 4, .pass_rate = 1, .warm_ns = 2, .cold = 3, .cold_rows = 4096};
    JoinProbe probe(filter_, {.row_ns = scan.row_ns});
    constexpr uint64_t kRows = 4096 * 256;
    scan.Run(probe, kRows, batch);
    EXPECT_LT(scan.ns, 1.03 * scan.row_ns * kRows);
    scan.Run(probe, 149 * kRows, batch);
    EXPECT_LT(scan.ns, 1.002 * scan.row_ns * 150 * kRows);
    EXPECT_EQ(probe.verdict(), JoinVerdict::kSwitchOff);
  }
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
