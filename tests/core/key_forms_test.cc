// What filters remember of their keys' form: through every way to insert, files, and merges.
#include "tamis/key_forms.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tamis/error.h"
#include "tamis/split_block_filter.h"
#include "tests/core/contract.h"
#include "tests/test_util.h"

namespace tamis::key_forms_test {

TEST(KeyFormsTest, AdmitOnlyWhatMayBeIn) {
  const KeyForms none;
  EXPECT_TRUE(none.Admit(KeyForm::kBytes));
  KeyForms forms = KeyForm::kInteger;
  EXPECT_TRUE(forms.Admit(KeyForm::kInteger));
  EXPECT_FALSE(forms.Admit(KeyForm::kBytes));
  EXPECT_TRUE(forms.Admit(KeyForm::kUnknown));
  forms.Add(KeyForm::kBytes);
  EXPECT_TRUE(forms.Admit(KeyForm::kBytes));
  EXPECT_FALSE(forms.Admit(KeyForm::kDouble));
  forms.Add(KeyForm::kUnknown);
  EXPECT_TRUE(forms.Admit(KeyForm::kDouble));
}

TEST(KeyFormsTest, HaveNames) {
  EXPECT_EQ(KeyFormsText({}), "none");
  EXPECT_EQ(KeyFormsText(KeyForm::kBytes), "text");
  EXPECT_EQ(KeyFormsText(KeyForms::FromBits(6)), "text and integers");
  EXPECT_EQ(KeyFormsText(KeyForms::FromBits(62)),
            "text, integers, 32-bit integers, floats and doubles");
  EXPECT_EQ(KeyFormsText(KeyForms::FromBits(132)), "integers and times");
  EXPECT_EQ(KeyFormsText(KeyForms::FromBits(255)), "unknown");
  EXPECT_EQ(KeyForms::FromBits(0xFFFF).bits(), 255);
}

KeyForm FormOf(const OneKey& key) {
  if (std::holds_alternative<OneHash>(key)) return KeyForm::kUnknown;
  return std::holds_alternative<std::string_view>(key) ? KeyForm::kBytes : KeyForm::kInteger;
}

class KeyFormsContractTest : public ContractTest {
 protected:
  const AllForms forms_{20, /*seed=*/1};
};

TEST_P(KeyFormsContractTest, AreThoseOfWhatWasInserted) {
  for (const AllForms::Set& set : forms_.sets()) {
    SCOPED_TRACE(set.name);
    const KeyForms want = FormOf(set.ones[0]);
    EXPECT_EQ(KeyForms(set.keys.key_form()), want);
    const auto expect = [&](const auto& insert) {
      const AnyFilter filter = Make(1000);
      EXPECT_EQ(filter->key_forms(), KeyForms());
      insert(RequireChangeable(*filter));
      EXPECT_EQ(filter->key_forms(), want);
      EXPECT_EQ(filter->Header().key_forms, want);
      filter->Save(path_);
      EXPECT_EQ(ReadHeader(path_).key_forms, want);
      const AnyFilter loaded = Load(path_);
      EXPECT_EQ(loaded->key_forms(), want);
      EXPECT_EQ(Map(path_)->key_forms(), want);
      if (subject().clone != nullptr) {
        EXPECT_EQ(subject().clone(*loaded)->key_forms(), want);
      }
      const AnyFilter moved = subject().moved(*loaded);
      EXPECT_EQ(moved->key_forms(), want);
      EXPECT_EQ(loaded->key_forms(), KeyForms());
      RequireChangeable(*moved).Clear();
      EXPECT_EQ(moved->key_forms(), KeyForms());
    };
    expect([&](ChangeableFilter& filter) { filter.Insert(set.keys); });
    expect([&](ChangeableFilter& filter) { subject().insert(filter, set.ones[0]); });
    for (const unsigned threads : {1, 3}) {
      const Engine engine = PinnedEngine(Backends().front(), threads, true);
      expect([&](ChangeableFilter& filter) { engine.Insert(filter, set.keys); });
    }
  }
  const AnyFilter filter = Make(1000);
  PinnedEngine(Backends().front(), 1)
      .Insert(RequireChangeable(*filter), 10, [](uint64_t begin, std::span<uint64_t> keys) {
        for (uint64_t& key : keys) key = begin++;
      });
  EXPECT_EQ(filter->key_forms(), KeyForms(KeyForm::kInteger));
}

TEST_P(KeyFormsContractTest, ComeTogether) {
  const AnyFilter filter = Make(1000);
  RequireChangeable(*filter).Insert(forms_.sets()[0].keys);
  RequireChangeable(*filter).Insert(Keys(std::vector<std::string_view>()));  // no key, no form
  EXPECT_EQ(filter->key_forms(), KeyForms(KeyForm::kInteger));
  RequireChangeable(*filter).Insert(forms_.sets()[4].keys);
  EXPECT_EQ(filter->key_forms(), KeyForms::FromBits(6));
  filter->set_key_forms(KeyForm::kInt96);
  filter->Save(path_);
  EXPECT_EQ(Load(path_)->key_forms(), KeyForms(KeyForm::kInt96));
  filter->Save(path_, {.version = 1});
  EXPECT_EQ(Load(path_)->key_forms(), KeyForms(KeyForm::kUnknown));
  for (const auto combine : {subject().merge, subject().intersect}) {
    if (combine == nullptr) continue;
    const AnyFilter one = Make(1000), other = Make(1000);
    RequireChangeable(*one).Insert(forms_.sets()[0].keys);
    RequireChangeable(*other).Insert(forms_.sets()[4].keys);
    combine(*one, *other);
    EXPECT_EQ(one->key_forms(), KeyForms::FromBits(6));
  }
}

// A change that is refused leaves no trace.
TEST_P(KeyFormsContractTest, AreNotThoseOfKeysThatWereRefused) {
  const AnyFilter filter = Make(1000);
  RequireChangeable(*filter).Insert(forms_.sets()[0].keys);
  filter->Save(path_);
  const AnyFilter mapped = Map(path_);
  for (const AllForms::Set& set : forms_.sets()) {
    EXPECT_THROW(RequireChangeable(*mapped).Insert(set.keys), Error);
    subject().insert(*mapped, set.ones[0]);
    EXPECT_EQ(mapped->key_forms(), KeyForms(KeyForm::kInteger));
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, KeyFormsContractTest, testing::ValuesIn(Subjects()), SubjectName());

// Nobody sees what a view is given.
TEST(KeyFormsViewTest, AreUnknownWithAView) {
  SplitBlockBloomFilter filter({.capacity = 100});
  filter.Insert("a");
  filter.view();
  EXPECT_EQ(filter.key_forms(), KeyForms(KeyForm::kBytes));
  const SplitBlockView view = filter.mutable_view();
  view.Insert(uint64_t{1});
  EXPECT_TRUE(filter.key_forms().Admit(KeyForm::kInteger));
  filter.Clear();  // which a view outlives
  view.Insert(uint64_t{1});
  filter.Insert("a");
  EXPECT_TRUE(filter.key_forms().Admit(KeyForm::kInteger));
}

}  // namespace tamis::key_forms_test
