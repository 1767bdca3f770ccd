// The types of keys that filters record: by every way to insert, in files, and after merges.
#include "tamis/key_types.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tamis/backends.h"
#include "tamis/error.h"
#include "tamis/file/file_checks.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/key_types_text.h"
#include "tests/core/contract.h"
#include "tests/test_util.h"

namespace tamis::key_types_test {

TEST(KeyTypesTest, AdmitOnlyTypesThatMayBePresent) {
  const KeyTypes none;
  EXPECT_TRUE(none.Admit(KeyType::kBytes));
  KeyTypes types = KeyType::kInteger;
  EXPECT_TRUE(types.Admit(KeyType::kInteger));
  EXPECT_FALSE(types.Admit(KeyType::kBytes));
  EXPECT_TRUE(types.Admit(KeyType::kUnknown));
  types.Add(KeyType::kBytes);
  EXPECT_TRUE(types.Admit(KeyType::kBytes));
  EXPECT_FALSE(types.Admit(KeyType::kDouble));
  types.Add(KeyType::kUnknown);
  EXPECT_TRUE(types.Admit(KeyType::kDouble));
}

TEST(KeyTypesTest, HaveNames) {
  EXPECT_EQ(KeyTypesText({}), "none");
  EXPECT_EQ(KeyTypesText(KeyType::kBytes), "text");
  EXPECT_EQ(KeyTypesText(KeyTypes::FromBits(6)), "text and integers");
  EXPECT_EQ(KeyTypesText(KeyTypes::FromBits(62)),
            "text, integers, 32-bit integers, floats and doubles");
  EXPECT_EQ(KeyTypesText(KeyTypes::FromBits(132)), "integers and times");
  EXPECT_EQ(KeyTypesText(KeyTypes::FromBits(255)), "unknown");
  EXPECT_EQ(KeyTypes::FromBits(0xFFFF).bits(), 255);
}

KeyType FormOf(const OneKey& key) {
  if (std::holds_alternative<OneHash>(key)) return KeyType::kUnknown;
  return std::holds_alternative<std::string_view>(key) ? KeyType::kBytes : KeyType::kInteger;
}

class KeyTypesContractTest : public ContractTest {
 protected:
  const AllLayouts layouts_{20, /*seed=*/1};
};

TEST_P(KeyTypesContractTest, AreTheTypesOfInsertedKeys) {
  for (const AllLayouts::Set& set : layouts_.sets()) {
    SCOPED_TRACE(set.name);
    const KeyTypes want = FormOf(set.ones[0]);
    EXPECT_EQ(KeyTypes(set.keys.key_type()), want);
    const auto expect = [&](const auto& insert) {
      const AnyFilter filter = Make(1000);
      EXPECT_EQ(filter->key_types(), KeyTypes());
      insert(RequireChangeable(*filter));
      EXPECT_EQ(filter->key_types(), want);
      EXPECT_EQ(filter->Header().key_types, want);
      filter->Save(path_);
      EXPECT_EQ(ReadHeader(path_).key_types, want);
      const AnyFilter loaded = Load(path_);
      EXPECT_EQ(loaded->key_types(), want);
      EXPECT_EQ(Map(path_)->key_types(), want);
      if (subject().clone != nullptr) {
        EXPECT_EQ(subject().clone(*loaded)->key_types(), want);
      }
      const AnyFilter moved = subject().moved(*loaded);
      EXPECT_EQ(moved->key_types(), want);
      EXPECT_EQ(loaded->key_types(), KeyTypes());
      RequireChangeable(*moved).Clear();
      EXPECT_EQ(moved->key_types(), KeyTypes());
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
  EXPECT_EQ(filter->key_types(), KeyTypes(KeyType::kInteger));
}

TEST_P(KeyTypesContractTest, ComeTogether) {
  const AnyFilter filter = Make(1000);
  RequireChangeable(*filter).Insert(layouts_.sets()[0].keys);
  RequireChangeable(*filter).Insert(Keys(std::vector<std::string_view>()));  // no key, so no type
  EXPECT_EQ(filter->key_types(), KeyTypes(KeyType::kInteger));
  RequireChangeable(*filter).Insert(layouts_.sets()[4].keys);
  EXPECT_EQ(filter->key_types(), KeyTypes::FromBits(6));
  filter->set_key_types(KeyType::kInt96);
  filter->Save(path_);
  EXPECT_EQ(Load(path_)->key_types(), KeyTypes(KeyType::kInt96));
  filter->Save(path_, {.version = 1});
  EXPECT_EQ(Load(path_)->key_types(), KeyTypes(KeyType::kUnknown));
  for (const auto combine : {subject().merge, subject().intersect}) {
    if (combine == nullptr) continue;
    const AnyFilter one = Make(1000), other = Make(1000);
    RequireChangeable(*one).Insert(layouts_.sets()[0].keys);
    RequireChangeable(*other).Insert(layouts_.sets()[4].keys);
    combine(*one, *other);
    EXPECT_EQ(one->key_types(), KeyTypes::FromBits(6));
  }
}

// A refused change leaves no trace.
TEST_P(KeyTypesContractTest, DoNotIncludeRefusedKeys) {
  const AnyFilter filter = Make(1000);
  RequireChangeable(*filter).Insert(layouts_.sets()[0].keys);
  filter->Save(path_);
  const AnyFilter mapped = Map(path_);
  for (const AllLayouts::Set& set : layouts_.sets()) {
    EXPECT_THROW(RequireChangeable(*mapped).Insert(set.keys), Error);
    subject().insert(*mapped, set.ones[0]);
    EXPECT_EQ(mapped->key_types(), KeyTypes(KeyType::kInteger));
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, KeyTypesContractTest, testing::ValuesIn(Subjects()), SubjectName());

// The types of keys in a view are unknown.
TEST(KeyTypesViewTest, AreUnknownWithAView) {
  SplitBlockBloomFilter filter({.capacity = 100});
  filter.Insert("a");
  filter.view();
  EXPECT_EQ(filter.key_types(), KeyTypes(KeyType::kBytes));
  const SplitBlockView view = filter.mutable_view();
  view.Insert(uint64_t{1});
  EXPECT_TRUE(filter.key_types().Admit(KeyType::kInteger));
  filter.Clear();  // a view outlives this
  view.Insert(uint64_t{1});
  filter.Insert("a");
  EXPECT_TRUE(filter.key_types().Admit(KeyType::kInteger));
}

}  // namespace tamis::key_types_test
