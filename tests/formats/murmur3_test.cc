#include "formats/src/murmur3.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>

#include "tests/test_util.h"

namespace tamis::detail::murmur3_test {

std::string Digest(const Hash128& hash) {
  char bytes[16];
  std::memcpy(bytes, &hash.low, 8);
  std::memcpy(bytes + 8, &hash.high, 8);
  return {bytes, sizeof(bytes)};
}

// The verification value of Appleby's smhasher (KeysetTest.cpp, VerificationTest; "Murmur3F" in
// main.cpp). The keys are {}, {0}, {0, 1} ... up to 255 bytes, and the key of n bytes has the seed
// 256 - n. The value is the first four bytes of the hash of all their hashes.
TEST(Murmur3Test, VerificationValueOfSmhasher) {
  std::string key, hashes;
  for (uint32_t n = 0; n < 256; ++n) {
    hashes += Digest(Murmur3OfBytes(key.data(), n, 256 - n));
    key.push_back(static_cast<char>(n));
  }
  uint32_t first = 0;
  std::memcpy(&first, Digest(Murmur3OfBytes(hashes.data(), hashes.size())).data(), 4);
  EXPECT_EQ(first, 0x6384BA69u);
}

TEST(Murmur3Test, KnownStrings) {
  const auto of = [](std::string_view text) { return Murmur3OfBytes(text.data(), text.size()); };
  EXPECT_EQ(of(""), Hash128{});
  EXPECT_EQ(of("The quick brown fox jumps over the lazy dog"),
            (Hash128{0xE34BBC7BBC071B6C, 0x7A433CA9C49A9347}));
}

TEST(Murmur3Test, IntegersAreTheirBytes) {
  for (const uint64_t value : RandomKeys(1000, 1)) {
    char bytes[8];
    std::memcpy(bytes, &value, 8);
    EXPECT_EQ(Murmur3OfU64(value), Murmur3OfBytes(bytes, 8));
    EXPECT_EQ(Murmur3OfU32(static_cast<uint32_t>(value)), Murmur3OfBytes(bytes, 4));
  }
}

}  // namespace tamis::detail::murmur3_test
