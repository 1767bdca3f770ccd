// Filters of a size class: with the given number of bytes, or for the given number of keys.
#include "bench/suite/turns.h"

#include <gtest/gtest.h>

namespace tamis::bench::turns_test {

std::vector<Contender> All(const Subjects& subjects) {
  std::vector<Contender> contenders;
  for (const auto& subject : subjects) contenders.push_back({.subject = subject.get()});
  return contenders;
}

TEST(TurnsTest, EachKindHasTheBytesOfItsSizeClass) {
  const Subjects subjects = TamisSubjects();
  const SizeClass size{"L2", uint64_t{1} << 20};
  Turns turns(size, All(subjects), true);
  for (const Contender& contender : turns.contenders) EXPECT_EQ(contender.bytes, size.bytes);
  EXPECT_GT(turns.keys->Last(0, KeyType::kUrl).size(), 0u);
}

TEST(TurnsTest, ColumnsAreThereWhereTheyAreAskedFor) {
  const Subjects subjects = TamisSubjects();
  const SizeClass size{"L2", uint64_t{1} << 20};
  Turns without(size, All(subjects), true);
  EXPECT_EQ(without.keys->string_forms().size(), 2u);
  auto contenders = All(subjects);
  contenders[0].others = {{.form = KeyType::kColumn80}};
  Turns with(size, contenders, true);
  EXPECT_EQ(with.keys->string_forms().size(), 6u);
  EXPECT_GT(with.keys->Last(0, KeyType::kColumn80).size(), 0u);
}

TEST(TurnsTest, EachKindHasTheKeysThatAreGiven) {
  constexpr uint64_t kKeys = 100'000;
  const Subjects subjects = TamisSubjects();
  const SizeClass size = SizesOfKeys(std::vector<uint64_t>{kKeys}, {}).front();
  Turns turns(size, All(subjects), false);
  for (const Contender& contender : turns.contenders) {
    Subject& subject = *contender.subject;
    subject.Open(turns.arena(true), contender.bytes);
    EXPECT_NEAR(static_cast<double>(subject.capacity()), kKeys, 0.02 * kKeys) << subject.kind();
    EXPECT_EQ(turns.keys->NumIntegers(subject.capacity(), true), subject.capacity());
    subject.Close();
  }
  EXPECT_EQ(turns.keys->Last(0, KeyType::kUrl).size(), 0u);
}

}  // namespace tamis::bench::turns_test
