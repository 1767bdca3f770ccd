// Hashing of strings on a device, against the xxHash library and that of the host.
#include "cuda/src/hash_bytes.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <vector>

#include "tests/test_util.h"

namespace tamis {
namespace {

constexpr uint64_t kSeeds[] = {0, 1, 0x8123456789ABCDEF, ~uint64_t{0}};
// Every length on both sides of 16, 128, 240 and of the blocks of 1024 bytes of long inputs.
constexpr size_t kMaxLength = 2200;

std::vector<unsigned char> RandomBytes(size_t n) {
  Random random(1);
  std::vector<unsigned char> bytes(n);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  return bytes;
}

TEST(HashBytesOnDevice, IsTheLibrarysForEveryLength) {
  const GuardedArray<unsigned char> bytes(RandomBytes(kMaxLength));
  for (const uint64_t seed : kSeeds) {
    for (size_t n = 0; n <= kMaxLength; ++n) {
      // Up to the end of what can be read.
      const unsigned char* p = bytes.data() + kMaxLength - n;
      ASSERT_EQ(hash::Xxh3OfBytes(p, n, seed), XXH3_64bits_withSeed(p, n, seed)) << n;
      ASSERT_EQ(hash::Xxh64OfBytes(p, n, seed), XXH64(p, n, seed)) << n;
    }
  }
}

TEST(HashBytesOnDevice, OfASecretIsThatOfTheHostForEveryLength) {
  const GuardedArray<unsigned char> bytes(RandomBytes(300));
  for (const HashKind kind : {HashKind::kSipHash13, HashKind::kSipHash24}) {
    const HashSpec spec = HashOf(kind, 5);
    for (size_t n = 0; n <= bytes.size(); ++n) {
      const unsigned char* p = bytes.data() + bytes.size() - n;
      ASSERT_EQ(hash::OfBytes(p, n, spec), HashBytes({reinterpret_cast<const char*>(p), n}, spec));
    }
  }
}

TEST(HashBytesOnDevice, IsThatOfAnIntegerForItsBytes) {
  for (const uint64_t key : RandomKeys(100, 2)) {
    unsigned char bytes[8];
    std::memcpy(bytes, &key, sizeof(key));
    for (const HashKind kind : kHashKinds) {
      const HashSpec spec = HashOf(kind, 0x123456789ABCDEF0);
      EXPECT_EQ(hash::OfBytes(bytes, sizeof(bytes), spec), HashU64(key, spec));
    }
  }
}

}  // namespace
}  // namespace tamis
