// Hashes of strings on a device, compared with the xxHash library and with the hashes of the host.
#include "cuda/src/hash_bytes.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <vector>

#include "tamis/hash_kinds.h"
#include "tests/test_util.h"

namespace tamis::hash_bytes_test {

constexpr uint64_t kSeeds[] = {0, 1, 0x8123456789ABCDEF, ~uint64_t{0}};
// Every length around 16, 128, 240, and around the blocks of 1024 bytes of long inputs.
constexpr size_t kMaxLength = 2200;

std::vector<unsigned char> RandomBytes(size_t n) {
  Random random(1);
  std::vector<unsigned char> bytes(n);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  return bytes;
}

template <typename Reader>
void ExpectTheLibrarys(const unsigned char* p, size_t n, uint64_t seed) {
  ASSERT_EQ(hash::Xxh3OfBytes<Reader>(p, n, seed), XXH3_64bits_withSeed(p, n, seed)) << n;
  ASSERT_EQ(hash::Xxh64OfBytes<Reader>(p, n, seed), XXH64(p, n, seed)) << n;
}

// Calls visit(p, n, whether whole words may be read) with strings of all lengths up to `most`,
// which end at the end of `bytes` or up to seven bytes before, so at every alignment.
template <typename Visit>
void ForEachString(const GuardedArray<unsigned char>& bytes, size_t most, const Visit& visit) {
  for (size_t n = 0; n <= most; ++n) {
    for (size_t after = 0; after < (n <= 300 ? 8 : 2); ++after) {
      const unsigned char* p = bytes.data() + bytes.size() - after - n;
      visit(p, n, hash::WordReader::StaysWithin(p, n, bytes.data(), bytes.data() + bytes.size()));
    }
  }
}

TEST(HashBytesOnDevice, EqualsTheLibraryForEveryLength) {
  const GuardedArray<unsigned char> bytes(RandomBytes(kMaxLength + 8));
  for (const uint64_t seed : kSeeds) {
    ForEachString(bytes, kMaxLength, [&](const unsigned char* p, size_t n, bool whole_words) {
      ExpectTheLibrarys<hash::ByteReader>(p, n, seed);
      if (whole_words) ExpectTheLibrarys<hash::WordReader>(p, n, seed);
    });
  }
}

// Words that extend past the memory of all strings are not read whole.
TEST(HashBytesOnDevice, WholeWordsAreReadOnlyWithinTheMemory) {
  alignas(4) unsigned char memory[32] = {};
  for (size_t begin = 0; begin < 8; ++begin) {
    for (size_t end = 20; end < 28; ++end) {
      for (size_t at = begin; at < end; ++at) {
        for (size_t n = 0; n <= end - at; ++n) {
          const bool within = at / 4 * 4 >= begin && (at + n + 3) / 4 * 4 <= end;
          ASSERT_EQ(hash::WordReader::StaysWithin(memory + at, n, memory + begin, memory + end),
                    within);
        }
      }
    }
  }
}

TEST(HashBytesOnDevice, OfASecretEqualsTheHostForEveryLength) {
  const GuardedArray<unsigned char> bytes(RandomBytes(308));
  for (const HashKind kind : {HashKind::kSipHash13, HashKind::kSipHash24}) {
    const HashSpec spec = HashOf(kind, 5);
    ForEachString(bytes, 300, [&](const unsigned char* p, size_t n, bool whole_words) {
      const uint64_t want = HashBytes({reinterpret_cast<const char*>(p), n}, spec);
      ASSERT_EQ(hash::OfBytes<hash::ByteReader>(p, n, spec), want) << n;
      if (whole_words) {
        ASSERT_EQ(hash::OfBytes<hash::WordReader>(p, n, spec), want) << n;
      }
    });
  }
}

TEST(HashBytesOnDevice, OfAnIntegerEqualsTheHashOfItsBytes) {
  for (const uint64_t key : RandomKeys(100, 2)) {
    unsigned char bytes[8];
    std::memcpy(bytes, &key, sizeof(key));
    for (const HashKind kind : kHashKinds) {
      const HashSpec spec = HashOf(kind, 0x123456789ABCDEF0);
      EXPECT_EQ(hash::OfBytes<hash::ByteReader>(bytes, sizeof(bytes), spec), HashU64(key, spec));
    }
  }
}

}  // namespace tamis::hash_bytes_test
