#include "redis/src/rebuild/rebuild_record.h"

#include <gtest/gtest.h>
#include <tamis/redis/split_block_filter.h>

#include <string>

#include "redis/src/client/slot.h"
#include "redis/src/filter/layout.h"
#include "tests/redis/redis_test_util.h"

namespace tamis::redis::rebuild_record_test {

constexpr const char* kText =
    "tamis-redis-rebuild 1\n"
    "owner 0000000000000007\n"
    "old 0123456789abcdef\n"
    "next fedcba9876543210\n";
constexpr RebuildRecord kRecord = {7, 0x0123456789ABCDEF, 0xFEDCBA9876543210};

TEST(RedisRebuildRecordTest, IsThisText) {
  EXPECT_EQ(RecordText(kRecord), kText);
  EXPECT_EQ(ParseRecord(kText), kRecord);
}

TEST(RedisRebuildRecordTest, StatesHaveNames) {
  EXPECT_STREQ(RebuildStateName(RebuildState::kNone), "none");
  EXPECT_STREQ(RebuildStateName(RebuildState::kRunning), "running");
  EXPECT_STREQ(RebuildStateName(RebuildState::kAbandoned), "abandoned");
  EXPECT_STREQ(RebuildStateName(RebuildState::kUnknown), "unknown");
}

TEST(RedisRebuildRecordTest, AnyOtherTextIsDamaged) {
  const std::string text = kText;
  for (size_t size = 0; size < text.size(); ++size) {
    ExpectError([&] { ParseRecord(text.substr(0, size)); }, ErrorCode::kCorrupt, "line ");
  }
  for (size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = damaged[i] == 'x' ? 'y' : 'x';
    ExpectError([&] { ParseRecord(damaged); }, ErrorCode::kCorrupt, "the record of a rebuild");
  }
  ExpectError([&] { ParseRecord(text + "\n"); }, ErrorCode::kCorrupt, "line 5");
  ExpectError([&] { ParseRecord(text + std::string(1'000, 'x')); }, ErrorCode::kCorrupt, "line 1");
  ExpectError([&] { ParseRecord(RecordText({7, 0, 1})); }, ErrorCode::kCorrupt, "generations");
  ExpectError([&] { ParseRecord(RecordText({7, 1, 0})); }, ErrorCode::kCorrupt, "generations");
  ExpectError([&] { ParseRecord(RecordText({7, 1, 1})); }, ErrorCode::kCorrupt, "generations");
}

TEST(RedisRebuildRecordTest, OtherVersionsAreNotSupported) {
  std::string text = kText;
  text.replace(text.find('1'), 1, "2");
  ExpectError([&] { ParseRecord(text); }, ErrorCode::kUnsupported, "version");
}

TEST(RedisRebuildRecordTest, ItsKeysAreInTheSlotOfTheDescriptor) {
  EXPECT_EQ(RebuildKey("x"), "tamis:{x}:rebuild");
  EXPECT_EQ(LeaseKey("x"), "tamis:{x}:lease");
  EXPECT_EQ(SlotOfKey(RebuildKey("a:b")), SlotOfKey(DescriptorKey("a:b")));
  EXPECT_EQ(SlotOfKey(LeaseKey("a:b")), SlotOfKey(DescriptorKey("a:b")));
}

}  // namespace tamis::redis::rebuild_record_test
