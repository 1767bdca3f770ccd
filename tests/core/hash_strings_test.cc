// Many strings hashed at once have the same hashes as each one alone, with any lengths. No byte is
// read past the last one.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/hash.h"
#include "tamis/hash_keys.h"
#include "tamis/hash_kinds.h"
#include "tamis/keys.h"
#include "tests/test_util.h"

namespace tamis::hash_strings_test {

const HashSpec kSpecs[] = {{},
                           {.seed = 12345},
                           {.kind = HashKind::kXxh64},
                           {.kind = HashKind::kXxh64, .seed = 7},
                           {.kind = HashKind::kSipHash13, .secret = {1, 2}}};

// Tests strings of these lengths in every layout. The last byte is the last one that may be read.
void ExpectHashes(const std::vector<size_t>& lengths, const std::string& what) {
  std::vector<int32_t> ends = {0};
  std::vector<int64_t> large_ends = {0};
  for (const size_t length : lengths) {
    ends.push_back(ends.back() + static_cast<int32_t>(length));
    large_ends.push_back(ends.back());
  }
  Random random(lengths.size());
  std::vector<char> text(static_cast<size_t>(ends.back()));
  for (char& c : text) c = static_cast<char>(random());
  const GuardedArray<char> bytes(text);
  std::vector<std::string_view> views;
  std::vector<std::string> strings;
  for (size_t i = 0; i < lengths.size(); ++i) {
    views.emplace_back(bytes.data() + ends[i], lengths[i]);
    strings.emplace_back(views.back());
  }
  // Nothing is read past the last view or offset.
  const GuardedArray<std::string_view> guarded_views(views);
  const GuardedArray<int32_t> guarded_ends(ends);
  const GuardedArray<int64_t> guarded_large_ends(large_ends);
  for (const HashSpec& spec : kSpecs) {
    std::vector<uint64_t> want, got(lengths.size());
    for (const std::string_view view : views) want.push_back(HashBytes(view, spec));
    const auto expect = [&](const Keys& keys, const char* form) {
      std::fill(got.begin(), got.end(), 0);
      HashKeys(keys, spec, got);
      ASSERT_EQ(got, want) << what << ", " << form << ", " << HashKindName(spec.kind);
    };
    expect(guarded_views.span(), "views");
    expect(strings, "strings");
    expect(StringColumn{bytes.data(), guarded_ends.span()}, "column");
    expect(LargeStringColumn{bytes.data(), guarded_large_ends.span()}, "large column");
    const size_t width = lengths.empty() ? 0 : lengths.front();
    const bool equal =
        std::all_of(lengths.begin(), lengths.end(), [&](size_t length) { return length == width; });
    if (equal && width > 0) {
      expect(FixedColumn{bytes.data(), static_cast<uint32_t>(width), lengths.size()}, "fixed");
    }
  }
}

std::vector<size_t> Lengths(size_t n, const std::function<size_t(size_t)>& length) {
  std::vector<size_t> lengths;
  for (size_t i = 0; i < n; ++i) lengths.push_back(length(i));
  return lengths;
}

TEST(HashStringsTest, EveryLengthAmongOthers) {
  Random random(1);
  // Up to each of these lengths; the last ones are long in the mean.
  for (const size_t most : {0, 1, 3, 8, 16, 17, 40, 64, 100, 129, 150, 241, 300, 1500}) {
    ExpectHashes(Lengths(700, [&](size_t) { return random.Below(most + 1); }),
                 "up to " + std::to_string(most));
  }
}

TEST(HashStringsTest, AllOfOneLength) {
  for (size_t length = 0; length <= 260; ++length) {
    ExpectHashes(Lengths(130, [&](size_t) { return length; }), std::to_string(length));
  }
}

// The sample is not representative of all strings.
TEST(HashStringsTest, OneOfAnotherLength) {
  for (const size_t length : {4, 8, 9, 16, 40, 300}) {
    for (const size_t other : {0, 3, 8, 17, 240, 5000}) {
      for (const size_t where : {0, 1, 60, 254, 255, 256, 300}) {
        ExpectHashes(
            Lengths(301, [&](size_t i) { return i == where ? other : length; }),
            std::to_string(length) + ", " + std::to_string(other) + " at " + std::to_string(where));
      }
    }
  }
}

// Long in the mean, of the sample or of all, but with short strings among them.
TEST(HashStringsTest, LongOnesAmongShortOnes) {
  Random random(3);
  for (const uint64_t long_of_ten : {1, 5, 9}) {
    ExpectHashes(Lengths(700,
                         [&](size_t) {
                           return random.Below(10) < long_of_ten ? 100 + random.Below(300)
                                                                 : random.Below(40);
                         }),
                 std::to_string(long_of_ten) + " of 10 long");
  }
}

TEST(HashStringsTest, StringsOfNothing) {
  const std::vector<std::string_view> views(300);
  ASSERT_EQ(views.front().data(), nullptr);
  for (const HashSpec& spec : kSpecs) {
    std::vector<uint64_t> got(views.size());
    HashKeys(views, spec, got);
    EXPECT_EQ(got, std::vector<uint64_t>(views.size(), HashBytes("", spec)));
  }
}

TEST(HashStringsTest, AnyNumber) {
  Random random(2);
  for (size_t n = 0; n < 530; ++n) {
    ExpectHashes(Lengths(n, [&](size_t) { return random.Below(30); }), std::to_string(n));
  }
}

}  // namespace tamis::hash_strings_test
