// Backends with the results of the portable kernels pass, and every wrong kernel is detected.
#include "bench/suite/verify.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tamis/backends.h"
#include "tamis/detail/kernels.h"

namespace tamis::bench::verify_test {

const Backend& Portable() { return FindBackend("portable"); }

std::unique_ptr<Subject> SplitBlock() { return std::move(TamisSubjects().front()); }

// The portable kernels, one of which a test breaks.
class BrokenBackend {
 public:
  detail::Kernels& kernels() { return kernels_; }
  const Backend& backend() const { return backend_; }

 private:
  detail::Kernels kernels_ = *Portable().kernels;
  Backend backend_{"broken", "for tests", &kernels_};
};

TEST(VerifyTest, AllBackendsAgreeInAllKinds) {
  Subjects subjects = TamisSubjects();
  for (auto& subject : LiveSubjects()) subjects.push_back(std::move(subject));
  for (const auto& subject : subjects) {
    for (const Backend& backend : Backends()) {
      EXPECT_EQ(Disagreement(*subject, {&backend, 1}, Portable()), std::nullopt)
          << subject->kind() << " " << backend.name;
    }
  }
}

TEST(VerifyTest, PeersFindTheirKeys) {
  for (const auto& peer : PeerSubjects()) {
    EXPECT_EQ(Disagreement(*peer, {}, Portable()), std::nullopt) << peer->kind();
  }
}

// Calls of 1, 64 or 4,096 keys, by the filter or an engine, return the same bits as one call.
TEST(VerifyTest, CallsOfFewKeysAnswerAsOneOfAll) {
  Arena arena(uint64_t{4} << 20);
  for (const auto& subject : TamisSubjects()) {
    subject->Open(arena, 150'000);
    SuiteKeys keys(150'000, subject->capacity());
    InsertIntegers(*subject, keys, {&Portable(), 1});
    const Keys queries = keys.Queries(KeyType::kU64, 50).keys;
    Answers all(queries.size());
    subject->Ask(Operation::kContains, queries, {&Portable(), 1}, all);
    for (const Operation operation : {Operation::kContains, Operation::kEngineContains}) {
      EXPECT_TRUE(subject->AnswersInBits(operation));
      for (const uint32_t call_keys : {0u, 1u, 64u, 4096u}) {
        Answers answers(queries.size());
        subject->Ask(operation, queries, {.backend = &Portable(), .call_keys = call_keys}, answers);
        EXPECT_EQ(answers.bits, all.bits) << subject->kind() << " " << call_keys;
      }
    }
    subject->Close();
  }
}

// A static filter contains all integers, or a smaller number of strings.
TEST(VerifyTest, StaticKinds_AfterABuild_HaveItsKeysAlone) {
  Arena arena(uint64_t{4} << 20);
  const Way one{&Portable(), 1}, two{&Portable(), 2};
  size_t found = 0;
  for (const auto& subject : TamisSubjects()) {
    if (!subject->is_static()) continue;
    ++found;
    subject->Open(arena, 150'000);
    SuiteKeys keys(150'000, subject->capacity());
    EXPECT_EQ(NumBuiltIntegers(*subject, keys), subject->capacity());
    EXPECT_GT(InsertIntegers(*subject, keys, one), 0);
    EXPECT_NEAR(static_cast<double>(subject->bytes()), 150'000, 7'500) << subject->kind();
    const std::vector<std::byte> integers(subject->contents().begin(), subject->contents().end());
    InsertStrings(*subject, keys, two);
    EXPECT_NEAR(static_cast<double>(subject->bytes()), 150'000, 7'500) << subject->kind();
    EXPECT_FALSE(std::equal(integers.begin(), integers.end(), subject->contents().begin(),
                            subject->contents().end()));
    InsertIntegers(*subject, keys, two);
    EXPECT_TRUE(std::equal(integers.begin(), integers.end(), subject->contents().begin(),
                           subject->contents().end()));
    EXPECT_THROW(subject->Insert(keys.Last(10, KeyType::kU64), one), std::logic_error);
    EXPECT_THROW(subject->Erase(keys.Last(10, KeyType::kU64), one), std::logic_error);
    subject->Close();
  }
  EXPECT_EQ(found, 4u);
  EXPECT_THROW(SplitBlock()->Build({}, one), std::logic_error);
}

TEST(VerifyTest, FindsFalseNegativesOfStaticKinds) {
  BrokenBackend broken;
  broken.kernels().fuse8.contains = [](const fuse::Table&, const detail::Batch& batch,
                                       uint64_t* bits) {
    std::memset(bits, 0, BitmapWords(batch.n) * sizeof(*bits));
  };
  for (const auto& subject : TamisSubjects()) {
    if (subject->kind() != "fuse8") continue;
    const auto wrong = Disagreement(*subject, {&broken.backend(), 1}, Portable());
    ASSERT_TRUE(wrong);
    EXPECT_NE(wrong->find("false negative"), std::string::npos) << *wrong;
  }
}

TEST(VerifyTest, FindsFalseNegatives) {
  BrokenBackend broken;
  broken.kernels().split_block.contains = [](const uint32_t*, uint64_t, const detail::Batch& batch,
                                             uint64_t* bits) {
    std::memset(bits, 0, BitmapWords(batch.n) * sizeof(*bits));
  };
  const auto wrong = Disagreement(*SplitBlock(), {&broken.backend(), 1}, Portable());
  ASSERT_TRUE(wrong);
  EXPECT_NE(wrong->find("false negative"), std::string::npos) << *wrong;
}

TEST(VerifyTest, FindsTooManyHits) {
  BrokenBackend broken;
  broken.kernels().split_block.contains = [](const uint32_t* words, uint64_t num_blocks,
                                             const detail::Batch& batch, uint64_t* bits) {
    Portable().kernels->split_block.contains(words, num_blocks, batch, bits);
    bits[0] = batch.n >= 64 ? ~uint64_t{0} : bits[0];
  };
  EXPECT_EQ(Disagreement(*SplitBlock(), {&broken.backend(), 1}, Portable()),
            "contains of u64 keys differs from portable's");
}

TEST(VerifyTest, FindsAWrongOneKeyFunction) {
  BrokenBackend broken;
  broken.kernels().split_block.contains_one = [](const uint32_t*, uint64_t, uint64_t) {
    return true;
  };
  EXPECT_EQ(Disagreement(*SplitBlock(), {&broken.backend(), 1}, Portable()),
            "one_key of u64 keys differs from portable's");
}

TEST(VerifyTest, FindsOtherBits) {
  BrokenBackend broken;
  broken.kernels().split_block.insert = [](uint32_t* words, uint64_t num_blocks,
                                           const detail::Batch& batch) {
    Portable().kernels->split_block.insert(words, num_blocks, batch);
    words[0] = ~0u;
  };
  EXPECT_EQ(Disagreement(*SplitBlock(), {&broken.backend(), 1}, Portable()),
            "filter that it builds differs from portable's");
}

TEST(VerifyTest, RowsAreAlsoAnswers) {
  const auto subject = SplitBlock();
  Answers answers(5);
  answers.rows = {0, 2, 4, 0, 0};
  answers.num_rows = 3;
  const std::vector<uint8_t> present = {1, 0, 1, 0, 1}, more = {1, 0, 1, 1, 0};
  EXPECT_EQ(FirstFalseNegative(*subject, Operation::kSelect, answers, present), std::nullopt);
  EXPECT_EQ(FirstFalseNegative(*subject, Operation::kSelect, answers, more), 3u);
}

}  // namespace tamis::bench::verify_test
