// Filters of every kind as bytes in memory. These bytes equal the bytes of files, and can be loaded
// and mapped like files.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "tamis/filters/serialize.h"
#include "tests/core/contract.h"
#include "tests/test_util.h"

namespace tamis::contract_memory_test {

struct alignas(64) Line {
  std::byte bytes[64];
};

// A copy of bytes that begins at a multiple of 64.
class Aligned {
 public:
  explicit Aligned(std::span<const std::byte> bytes)
      : lines_(bytes.size() / 64 + 2), size_(bytes.size()) {
    std::memcpy(lines_.data(), bytes.data(), size_);
  }
  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(lines_)).first(size_); }
  // Returns the same bytes moved by `by` bytes.
  std::span<const std::byte> Moved(size_t by) {
    const auto all = std::as_writable_bytes(std::span(lines_));
    std::memmove(all.data() + by, all.data(), size_);
    return all.subspan(by, size_);
  }

 private:
  std::vector<Line> lines_;
  size_t size_;
};

class MemoryContractTest : public ContractTest {
 protected:
  AnyFilter Filled(uint64_t keys) const {
    AnyFilter filter = Make(keys, nullptr, {HashKind::kXxh64, 5});
    RequireChangeable(*filter).Insert(RandomKeys(keys, /*seed=*/1));
    return filter;
  }
};

TEST_P(MemoryContractTest, BytesEqualTheFiles) {
  for (const uint64_t keys : {1, 100, 200'000}) {
    const AnyFilter filter = Filled(keys);
    for (const uint32_t version : {1, 2}) {
      filter->Save(path_, {.version = version});
      const Bytes file = ReadBytes(path_);
      const std::vector<std::byte> bytes = Serialize(*filter, {.version = version});
      ASSERT_EQ(bytes.size(), file.size());
      EXPECT_EQ(std::memcmp(bytes.data(), file.data(), file.size()), 0);
      EXPECT_EQ(SerializedBytes(*filter, {.version = version}), file.size());
    }
  }
}

TEST_P(MemoryContractTest, GiveBackTheSameFilter) {
  const AnyFilter filter = Filled(200'000);
  const std::vector<std::byte> bytes = Serialize(*filter);
  Aligned aligned(bytes);
  const AnyFilter loaded = Load(std::span<const std::byte>(bytes));
  const AnyFilter mapped = Map(aligned.bytes());
  const AnyFilter verified = Map(aligned.bytes(), {.verify = Verify::kFull});
  for (const AnyFilter* const read : {&loaded, &mapped, &verified}) {
    EXPECT_TRUE(subject().is(*read));
    EXPECT_EQ(Contents(**read), Contents(*filter));
    EXPECT_EQ(Serialize(**read), bytes);
    EXPECT_EQ((*read)->Count(RandomKeys(200'000, /*seed=*/1)),
              filter->Count(RandomKeys(200'000, 1)));
  }
  EXPECT_FALSE(loaded->read_only());
  EXPECT_TRUE(mapped->read_only());
  EXPECT_FALSE(RequireChangeable(*mapped).Insert(uint64_t{1}));
  EXPECT_EQ(Contents(*Clone(*mapped)), Contents(*filter));
  if (!subject().layered) {
    EXPECT_EQ(mapped->payload().data(), aligned.bytes().data() + 192) << "was copied";
  }
}

TEST_P(MemoryContractTest, MapsBytesAtAMultipleOf64Alone) {
  const AnyFilter filter = Filled(100);
  Aligned aligned(Serialize(*filter));
  const std::span<const std::byte> moved = aligned.Moved(32);
  ExpectError([&] { Map(moved); }, ErrorCode::kInvalidArgument, "multiple of 64");
  EXPECT_EQ(Contents(*Load(moved)), Contents(*filter));
}

TEST_P(MemoryContractTest, NeedsRoomForAllBytes) {
  const AnyFilter filter = Filled(100);
  std::vector<std::byte> out(SerializedBytes(*filter), std::byte{7});
  const std::vector<std::byte> untouched = out;
  ExpectError([&] { Serialize(*filter, std::span(out).first(out.size() - 1)); },
              ErrorCode::kInvalidArgument, "there is room for");
  EXPECT_EQ(out, untouched);
  EXPECT_EQ(Serialize(*filter, out), out.size());
  EXPECT_EQ(out, Serialize(*filter));
}

TEST_P(MemoryContractTest, BytesOfEveryOtherLengthAreRefused) {
  std::vector<std::byte> bytes = Serialize(*Filled(100));
  for (size_t n = 0; n < bytes.size(); ++n) {
    // A separate copy, so that a sanitizer detects reads past its end.
    Aligned cut{std::span(bytes).first(n)};
    EXPECT_THROW(Load(cut.bytes()), FormatError) << n;
    EXPECT_THROW(Map(cut.bytes()), FormatError) << n;
  }
  EXPECT_THROW(Load(std::span<const std::byte>()), FormatError);
  bytes.push_back(std::byte{0});
  EXPECT_THROW(Load(std::span<const std::byte>(bytes)), FormatError);
}

TEST_P(MemoryContractTest, EveryDamagedByteIsFound) {
  Aligned bytes(Serialize(*Filled(100)));
  for (std::byte& byte : bytes.bytes()) {
    byte ^= std::byte{0x40};
    EXPECT_THROW(Load(bytes.bytes()), Error);
    EXPECT_THROW(Map(bytes.bytes(), {.verify = Verify::kFull}), Error);
    byte ^= std::byte{0x40};
  }
  EXPECT_NO_THROW(Load(bytes.bytes()));
}

TEST_P(MemoryContractTest, DamageOfAMappedFilterDoesNotSpread) {
  Aligned bytes(Serialize(*Filled(5000)));
  std::byte& last = bytes.bytes()[bytes.bytes().size() - 300];  // of the last payload
  last ^= std::byte{1};
  const AnyFilter mapped = Map(bytes.bytes());
  EXPECT_THROW(Serialize(*mapped), FormatError);
  EXPECT_THROW(Clone(*mapped), FormatError);
}

INSTANTIATE_TEST_SUITE_P(Kinds, MemoryContractTest, testing::ValuesIn(Subjects()), SubjectName());

}  // namespace tamis::contract_memory_test
