#include "redis/src/filter/segment_state.h"

#include <gtest/gtest.h>

#include <string>

namespace tamis::redis::segment_state_test {

constexpr SegmentState kState = {0x0807060504030201, 96, 0x10, 0xFF000000000000EE};

TEST(RedisSegmentStateTest, FieldsAreLittleEndianInTheirOrder) {
  const std::string text = StateText(kState);
  EXPECT_EQ(text, std::string("\1\2\3\4\5\6\7\10"
                              "\x60\0\0\0\0\0\0\0"
                              "\x10\0\0\0\0\0\0\0"
                              "\xEE\0\0\0\0\0\0\xFF",
                              kStateBytes));
  EXPECT_EQ(ParseState(text), kState);
}

TEST(RedisSegmentStateTest, ItsPlaceIsBehindTheBits) {
  const StateOffsets at(96);
  EXPECT_EQ(at.begin, "96");
  EXPECT_EQ(at.end, "128");  // one byte past the end
  EXPECT_EQ(at.mark, "112");
  EXPECT_EQ(at.version, "120");
}

TEST(RedisSegmentStateTest, EveryOtherFieldAndLengthIsAProblem) {
  const std::string text = StateText(kState);
  EXPECT_FALSE(ProblemOfState(text, kState.generation, kState.length));
  for (const std::string& other :
       {std::string(), text.substr(1), text + "x", text + text, std::string(kStateBytes, '\0')}) {
    EXPECT_TRUE(ProblemOfState(other, kState.generation, kState.length)) << other.size();
  }
  EXPECT_TRUE(ProblemOfState(text, kState.generation + 1, kState.length));
  EXPECT_TRUE(ProblemOfState(text, kState.generation, kState.length + 32));
  for (size_t i = 0; i < 16; ++i) {
    std::string damaged = text;
    damaged[i] ^= 1;
    EXPECT_TRUE(ProblemOfState(damaged, kState.generation, kState.length)) << i;
  }
}

}  // namespace tamis::redis::segment_state_test
