// The secrets of keyed hashes. A file contains its secret only on request; otherwise the secret
// must be given to open the file. Wrong secrets are detected, and no message contains a secret.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tamis/file/file_checks.h"
#include "tamis/filters/set_operations.h"
#include "tamis/hash.h"
#include "tests/core/contract.h"
#include "tests/core/file_parts.h"
#include "tests/test_util.h"

namespace tamis::secret_test {

constexpr HashSecret kSecret{0x1234567890ABCDEF, 0xFEDCBA0987654321};
constexpr HashSecret kOther{0x1234567890ABCDEF, 0xFEDCBA0987654320};

class SecretTest : public ContractTest {
 protected:
  const std::vector<std::string> strings_ = DistinctStrings(100);
  const std::vector<std::string_view> keys_{strings_.begin(), strings_.end()};

  static std::vector<std::string> DistinctStrings(size_t n) {
    std::vector<std::string> strings = RandomStrings(n, /*seed=*/1);
    for (size_t i = 0; i < n; ++i) strings[i] += std::to_string(i);
    return strings;
  }

  AnyFilter MakeKeyed(HashKind kind, const HashSecret& secret = kSecret) const {
    AnyFilter filter = Make(1000, nullptr, {kind, 0, secret});
    EXPECT_EQ(RequireChangeable(*filter).Insert(keys_), keys_.size());
    return filter;
  }

  // Opens the file in every way, with the given secret.
  void ExpectOpened(const std::optional<HashSecret>& secret, const Filter& want) const {
    const auto expect = [&](const AnyFilter& filter) {
      EXPECT_EQ(filter->hash(), want.hash());
      EXPECT_EQ(filter->Count(keys_), keys_.size());
      EXPECT_EQ(Contents(*filter), Contents(want));
    };
    expect(subject().load(path_, {.secret = secret}));
    expect(subject().map(path_, {.secret = secret}));
    expect(Load(path_, {.secret = secret}));
    expect(Map(path_, {.secret = secret}));
    expect(Map(path_, {.verify = Verify::kFull, .secret = secret}));
  }

  void ExpectRefusedFor(const std::optional<HashSecret>& secret, const std::string& words) const {
    const auto expect = [&](const auto& act) {
      ExpectError(act, ErrorCode::kSecret, path_.string() + ": " + words);
    };
    expect([&] { subject().load(path_, {.secret = secret}); });
    expect([&] { subject().map(path_, {.secret = secret}); });
    expect([&] { Load(path_, {.secret = secret}); });
    expect([&] { Map(path_, {.secret = secret}); });
  }

  bool FileHasTheSecret() const {
    const Bytes file = ReadBytes(path_);
    const std::string text(file.begin(), file.end());
    for (const uint64_t half : {kSecret.low, kSecret.high}) {
      const std::string bytes(reinterpret_cast<const char*>(&half), sizeof(half));
      if (text.find(bytes) != std::string::npos) return true;
    }
    return false;
  }
};

TEST_P(SecretTest, IsInTheFileByChoice) {
  for (const HashKind kind : {HashKind::kSipHash13, HashKind::kSipHash24}) {
    const AnyFilter filter = MakeKeyed(kind);
    filter->Save(path_, {.with_secret = true});
    EXPECT_TRUE(FileHasTheSecret());
    ExpectOpened(std::nullopt, *filter);
    ExpectOpened(kSecret, *filter);
    ExpectRefusedFor(kOther, "the secret does not match the filter");
    for (const FileHeader& header : {ReadHeader(path_), VerifyFile(path_)}) {
      EXPECT_TRUE(header.has_secret);
      EXPECT_EQ(header.hash, (HashSpec{kind, 0, {}}));
    }
  }
}

TEST_P(SecretTest, IsGivenAgainWhereItIsNot) {
  for (const HashKind kind : {HashKind::kSipHash13, HashKind::kSipHash24}) {
    const AnyFilter filter = MakeKeyed(kind);
    filter->Save(path_);
    EXPECT_FALSE(FileHasTheSecret());
    ExpectOpened(kSecret, *filter);
    ExpectRefusedFor(std::nullopt, "the filter's hash is keyed, and its secret is not in the file");
    ExpectRefusedFor(kOther, "the secret does not match the filter");
    ExpectRefusedFor(HashSecret{}, "the secret does not match the filter");
    EXPECT_FALSE(ReadHeader(path_).has_secret);
    EXPECT_FALSE(VerifyFile(path_).has_secret);
    // A filter that was loaded with the secret can be saved with it.
    Load(path_, {.secret = kSecret})->Save(path_, {.with_secret = true});
    ExpectOpened(std::nullopt, *filter);
  }
}

TEST_P(SecretTest, StaysWhereItWas) {
  const AnyFilter filter = MakeKeyed(HashKind::kSipHash13);
  filter->Save(path_, {.with_secret = true});
  const AnyFilter loaded = Load(path_);
  RequireChangeable(*loaded).Insert("one more");
  loaded->Save(path_);
  EXPECT_TRUE(FileHasTheSecret());
  EXPECT_TRUE(Map(path_)->Contains("one more"));
  const AnyFilter cloned = Clone(*Map(path_));
  cloned->Save(path_);
  EXPECT_TRUE(FileHasTheSecret());
  Load(path_)->Save(path_, {.with_secret = false});
  EXPECT_FALSE(FileHasTheSecret());
  Load(path_, {.secret = kSecret})->Save(path_);
  EXPECT_FALSE(FileHasTheSecret());
}

TEST_P(SecretTest, IsRefusedByHashesWithoutASecret) {
  const AnyFilter filter = Make(1000, nullptr, {HashKind::kXxh3, 7});
  filter->Save(path_);
  ExpectRefusedFor(kSecret, "a secret was given, and the filter's hash has none");
  ExpectError([&] { filter->Save(path_, {.with_secret = true}); }, ErrorCode::kInvalidArgument,
              "the hash xxh3 has no secret to save");
}

TEST_P(SecretTest, IsNotForVersion1) {
  const AnyFilter filter = MakeKeyed(HashKind::kSipHash13);
  ExpectError([&] { filter->Save(path_, {.version = 1}); }, ErrorCode::kInvalidArgument,
              "version 1 of the format does not have the hash siphash13");
  for (const uint32_t version : {0, 3}) {
    ExpectError([&] { filter->Save(path_, {.version = version}); }, ErrorCode::kInvalidArgument,
                "version " + std::to_string(version) + " of the format cannot be chosen");
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

class MergedSecretTest : public SecretTest {};

// Texts that compare two filters do not contain the secrets either.
TEST_P(MergedSecretTest, IsNotShown) {
  const AnyFilter one = MakeKeyed(HashKind::kSipHash13);
  const AnyFilter other = MakeKeyed(HashKind::kSipHash13, kOther);
  const MergeCheck check = CanMerge(*one, *other);
  ASSERT_FALSE(check);
  EXPECT_NE(check.reason.find("siphash13"), std::string::npos) << check.reason;
  for (const uint64_t half : {kSecret.low, kSecret.high, kOther.high}) {
    EXPECT_EQ(check.reason.find(std::to_string(half)), std::string::npos) << check.reason;
  }
  EXPECT_TRUE(CanMerge(*one, *MakeKeyed(HashKind::kSipHash13)));
}

INSTANTIATE_TEST_SUITE_P(Kinds, SecretTest, testing::ValuesIn(Subjects()), SubjectName());
INSTANTIATE_TEST_SUITE_P(Kinds, MergedSecretTest,
                         testing::ValuesIn(SubjectsThat([](const Subject& s) {
                           return s.merge != nullptr;
                         })),
                         SubjectName());

}  // namespace tamis::secret_test
