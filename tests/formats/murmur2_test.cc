#include "formats/src/murmur2.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

namespace tamis::murmur2_test {

struct Vector {
  std::string_view key;
  uint64_t hash64;  // with the seed of RedisBloom
  uint32_t hash32;
};

// Computed with deps/murmur2/MurmurHash2.c of RedisBloom.
constexpr Vector kVectors[] = {
    {"", 0x1AB11EA5A7B2C56E, 0x106E08D9},
    {"a", 0x4292CEE227B9150A, 0xA2D0B27C},
    {"abc", 0xCA52F3863690CD7B, 0x1C94221B},
    {"redis", 0x00AF8EC5BCA242B3, 0x729DD2B0},
    {"12345678", 0x700BEA34339441C4, 0x1430CE0E},
    {"123456789", 0xB791DA69F9D395E3, 0x9362DE66},
    {"decimal text of nineteen", 0xE390F17498B07949, 0x5C606ECE},
};

TEST(Murmur2Test, Vectors) {
  for (const Vector& vector : kVectors) {
    const auto& key = vector.key;
    EXPECT_EQ(detail::Murmur64A(key.data(), key.size(), 0xC6A4A7935BD1E995), vector.hash64) << key;
    EXPECT_EQ(detail::Murmur2(key.data(), key.size(), 0x9747B28C), vector.hash32) << key;
  }
}

}  // namespace tamis::murmur2_test
