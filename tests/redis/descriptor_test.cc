#include "redis/src/filter/descriptor.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/redis/redis_test_util.h"

namespace tamis::redis::descriptor_test {

Descriptor Example() {
  Descriptor descriptor;
  descriptor.layout = {1'000'000, 262'080 / split_block::kBlockBytes};
  descriptor.hash = {HashKind::kXxh64, 17};
  descriptor.capacity = 24'000'000;
  descriptor.fpr = 0.01;
  descriptor.generation = 0x0123456789ABCDEF;
  descriptor.origin = 0xFEDCBA9876543210;
  descriptor.deadline = 1'900'000'000'000;
  return descriptor;
}

constexpr const char* kText =
    "tamis-redis 1\n"
    "kind split-block\n"
    "blocks 1000000\n"
    "segment-bytes 262080\n"
    "hash xxh64\n"
    "seed 17\n"
    "key-tag-1 0000000000000000\n"
    "key-tag-2 0000000000000000\n"
    "capacity 24000000\n"
    "fpr 0.01\n"
    "generation 0123456789abcdef\n"
    "origin fedcba9876543210\n"
    "deadline 1900000000000\n";

std::string With(const std::string& old_line, const std::string& new_line) {
  std::string text = kText;
  const size_t at = text.find(old_line);
  EXPECT_NE(at, std::string::npos) << old_line;
  return text.replace(at, old_line.size(), new_line);
}

TEST(RedisDescriptorTest, IsThisText) { EXPECT_EQ(DescriptorText(Example()), kText); }

TEST(RedisDescriptorTest, IsReadAgain) {
  EXPECT_EQ(ParseDescriptor(kText), Example());
  Descriptor keyed = Example();
  keyed.hash = {HashKind::kSipHash24, 0};
  keyed.key_tag = KeyTag({HashKind::kSipHash24, 0, {1, 2}});
  keyed.fpr = 1e-12;
  keyed.deadline = 0;
  EXPECT_NE(keyed.key_tag[0], 0u);
  EXPECT_EQ(ParseDescriptor(DescriptorText(keyed)), keyed);
  EXPECT_EQ(DescriptorText(keyed).find("secret"), std::string::npos);
}

TEST(RedisDescriptorTest, KeysExpireAnHourAfterTheDeadline) {
  Descriptor descriptor = Example();
  EXPECT_EQ(ExpiryText(descriptor), "1900003600000");
  descriptor.deadline = (uint64_t{1} << 53) - 3'600'000;
  EXPECT_EQ(ExpiryText(descriptor), "9007199254740992");
  for (const uint64_t never : {uint64_t{0}, descriptor.deadline + 1, ~uint64_t{0}}) {
    descriptor.deadline = never;
    EXPECT_EQ(ExpiryText(descriptor), "0");
  }
}

TEST(RedisDescriptorTest, OtherVersionsAndKindsAreNotSupported) {
  for (const char* version : {"0", "2", "18446744073709551615"}) {
    ExpectError([&] { ParseDescriptor(With("redis 1", std::string("redis ") + version)); },
                ErrorCode::kUnsupported, "version");
  }
  // An unknown version is refused, whatever the other lines contain.
  ExpectError([] { ParseDescriptor("tamis-redis 2\nwhat is new\n"); }, ErrorCode::kUnsupported,
              "version 2");
  ExpectError([] { ParseDescriptor(With("kind split-block", "kind cuckoo8")); },
              ErrorCode::kUnsupported, "kind");
}

TEST(RedisDescriptorTest, AnyOtherTextIsDamaged) {
  const std::pair<const char*, const char*> changes[] = {
      {"tamis-redis 1", "tamis-redis"},
      {"tamis-redis 1", "tamis-redis 01"},
      {"tamis-redis 1", "tamis-redis x"},
      {"tamis-redis 1", "something 1"},
      {"blocks 1000000", "blocks 0"},
      {"blocks 1000000", "blocks 4294967296"},
      {"blocks 1000000", "blocks 18446744073709551616"},
      {"blocks 1000000", "blocks -1"},
      {"blocks 1000000", "blocks 1e6"},
      {"segment-bytes 262080", "segment-bytes 262144"},
      {"segment-bytes 262080", "segment-bytes 0"},
      {"hash xxh64", "hash md5"},
      {"hash xxh64", "hash unknown"},
      {"hash xxh64", "hash siphash13"},  // has no seed
      {"seed 17", "seed 017"},
      {"key-tag-1 0000000000000000", "key-tag-1 0000000000000001"},
      {"key-tag-1 0000000000000000", "key-tag-1 0"},
      {"capacity 24000000", "capacity 0"},
      {"fpr 0.01", "fpr 0"},
      {"fpr 0.01", "fpr 0.6"},
      {"fpr 0.01", "fpr nan"},
      {"fpr 0.01", "fpr inf"},
      {"fpr 0.01", "fpr 0.010"},
      {"fpr 0.01", "fpr 1e-13"},
      {"generation 0123456789abcdef", "generation 0123456789ABCDEF"},
      {"generation 0123456789abcdef", "generation 123456789abcdef"},
      {"generation 0123456789abcdef", "generation 00123456789abcdef"},
      {"origin fedcba9876543210", "origin fedcba987654321"},
      {"origin fedcba9876543210\n", ""},
      {"deadline 1900000000000", "deadline "},
      {"deadline 1900000000000", "deadline 1 "},
      {"deadline 1900000000000\n", "deadline 1900000000000"},
      {"deadline 1900000000000\n", "deadline 1900000000000\nmore 1\n"},
      {"deadline 1900000000000\n", "deadline 1900000000000\n\n"},
      {"kind split-block\n", ""},
      {"kind split-block\n", "kind split-block\r\n"},
  };
  for (const auto& [from, to] : changes) {
    SCOPED_TRACE(to);
    try {
      ParseDescriptor(With(from, to));
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::kCorrupt || error.code() == ErrorCode::kUnsupported);
    }
  }
  ExpectError([] { ParseDescriptor(""); }, ErrorCode::kCorrupt, "line 1");
  ExpectError([] { ParseDescriptor(std::string(1 << 20, 'x')); }, ErrorCode::kCorrupt, "line 1");
}

TEST(RedisDescriptorTest, NoPartOfItIsOne) {
  const std::string text = kText;
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_THROW(ParseDescriptor(std::string_view(text).substr(0, size)), Error) << size;
  }
}

}  // namespace tamis::redis::descriptor_test
