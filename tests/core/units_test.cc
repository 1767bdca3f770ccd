// Numbers in readable form.
#include "tamis/units.h"

#include <gtest/gtest.h>

#include <limits>

namespace tamis::units_test {

TEST(UnitsTest, Durations) {
  EXPECT_EQ(DurationText(0), "0.00 ns");
  EXPECT_EQ(DurationText(1.726e-9), "1.73 ns");
  EXPECT_EQ(DurationText(999.4e-9), "999 ns");
  EXPECT_EQ(DurationText(999.6e-9), "1.00 us");
  EXPECT_EQ(DurationText(5e-6), "5.00 us");
  EXPECT_EQ(DurationText(3.12e-3), "3.12 ms");
  EXPECT_EQ(DurationText(52.34), "52.3 s");
  EXPECT_EQ(DurationText(99.94), "99.9 s");
  EXPECT_EQ(DurationText(99.95), "1 min 40 s");
  EXPECT_EQ(DurationText(125), "2 min 05 s");
  EXPECT_EQ(DurationText(3599.5), "1 h 00 min");
  EXPECT_EQ(DurationText(4200), "1 h 10 min");
  EXPECT_EQ(DurationText(std::numeric_limits<double>::infinity()), "inf s");
}

TEST(UnitsTest, Bytes) {
  EXPECT_EQ(BytesText(0), "0 bytes");
  EXPECT_EQ(BytesText(1023), "1023 bytes");
  EXPECT_EQ(BytesText(1024), "1.00 KiB");
  EXPECT_EQ(BytesText(9.9999 * 1024), "10.0 KiB");
  EXPECT_EQ(BytesText(1000 * 1024), "1000 KiB");
  EXPECT_EQ(BytesText(1023.9 * 1024), "1.00 MiB");
  EXPECT_EQ(BytesText(6.58e9), "6.13 GiB");
  EXPECT_EQ(BytesText(0x1p64), "16.0 EiB");
}

TEST(UnitsTest, Counts) {
  EXPECT_EQ(CountText(0), "0");
  EXPECT_EQ(CountText(999.4), "999");
  EXPECT_EQ(CountText(999.5), "1.00 thousand");
  EXPECT_EQ(CountText(52.7e9), "52.7 billion");
  EXPECT_EQ(CountText(1.8e19), "18000000 trillion");
  EXPECT_EQ(ShortCountText(17), "17");
  EXPECT_EQ(ShortCountText(812e3), "812 k");
  EXPECT_EQ(ShortCountText(999'999), "1.00 M");
  EXPECT_EQ(ShortCountText(95.6e6), "95.6 M");
}

TEST(UnitsTest, Percents) {
  EXPECT_EQ(PercentText(0), "0%");
  EXPECT_EQ(PercentText(0.01), "1.000%");
  EXPECT_EQ(PercentText(0.009999999), "1.000%");
  EXPECT_EQ(PercentText(0.5), "50.00%");
  EXPECT_EQ(PercentText(1, 3), "100%");
  EXPECT_EQ(PercentText(1, 2), "1.0e+02%");
  EXPECT_EQ(PercentText(0.0000315, 2), "0.0032%");
  EXPECT_EQ(PercentText(1.2e-7), "1 in 8.33 million");
  EXPECT_EQ(PercentText(1e-9), "1 in 10^9");
  EXPECT_EQ(PercentText(9.999e-7), "1 in 10^6");
  EXPECT_EQ(PercentText(7e-19), "1 in 10^18");
  EXPECT_EQ(PercentText(5e-324), "1 in 10^323");
  EXPECT_EQ(PercentText(1e-6), "0.0001000%");
  EXPECT_EQ(ShortPercentText(0), "0%");
  EXPECT_EQ(ShortPercentText(0.01), "1%");
  EXPECT_EQ(ShortPercentText(0.002441), "0.244%");
  EXPECT_EQ(ShortPercentText(1.2e-7), "1 in 8.33 million");
}

TEST(UnitsTest, PlainNumbers) {
  EXPECT_EQ(FixedText(1.25, 1), "1.2");
  EXPECT_EQ(FixedText(0x1p64, 0), "18446744073709551616");
  EXPECT_EQ(NumberText(0.1), "0.1");
  EXPECT_EQ(NumberText(1e6), "1e+06");
  EXPECT_EQ(NumberText(9007199254740993.0), "9007199254740992");
  EXPECT_EQ(NumberText(std::numeric_limits<double>::quiet_NaN()), "nan");
}

}  // namespace tamis::units_test
