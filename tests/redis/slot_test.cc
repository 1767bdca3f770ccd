#include "redis/src/client/slot.h"

#include <gtest/gtest.h>

#include <string>

#include "redis/src/client/sha1.h"

namespace tamis::redis::slot_test {

TEST(RedisSlotTest, CrcFollowsTheSpecification) {
  // Redis Cluster Specification, "Appendix A".
  EXPECT_EQ(Crc16("123456789"), 0x31C3);
  EXPECT_EQ(Crc16(""), 0);
}

TEST(RedisSlotTest, OnlyTheTagCounts) {
  // Values of CLUSTER KEYSLOT of redis-server 7.0.
  EXPECT_EQ(SlotOfKey("foo"), 12182u);
  EXPECT_EQ(SlotOfKey("{user1000}.following"), SlotOfKey("user1000"));
  EXPECT_EQ(SlotOfKey("foo{}{bar}"), Crc16("foo{}{bar}") % kSlots);
  EXPECT_EQ(SlotOfKey("foo{{bar}}zap"), SlotOfKey("{bar"));
  EXPECT_EQ(SlotOfKey("foo{bar}{zap}"), SlotOfKey("bar"));
  EXPECT_EQ(SlotOfKey("foo{bar"), Crc16("foo{bar") % kSlots);
}

TEST(RedisSlotTest, EverySlotHasItsSmallestTag) {
  for (uint32_t slot = 0; slot < kSlots; ++slot) {
    ASSERT_EQ(SlotOfKey("x{" + std::to_string(TagOfSlot(slot)) + "}y"), slot);
  }
  // Smaller numbers belong to other slots, or are the tags of their slots.
  for (uint32_t number = 0; number < 5000; ++number) {
    ASSERT_LE(TagOfSlot(SlotOfKey(std::to_string(number))), number);
  }
}

TEST(RedisSlotTest, Sha1FollowsFips180) {
  EXPECT_EQ(Sha1Text("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(Sha1Text(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(Sha1Text("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  EXPECT_EQ(Sha1Text(std::string(1'000'000, 'a')), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

}  // namespace tamis::redis::slot_test
