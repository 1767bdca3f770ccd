// Changes of filters of every kind: clearing, erasing, combining, moving. Their results do not
// depend on the backend.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "tamis/backends.h"
#include "tamis/changes.h"
#include "tamis/file/filter_kind_name.h"
#include "tamis/filters/any_scalable_filter.h"
#include "tamis/filters/set_operations.h"
#include "tests/core/contract.h"
#include "tests/test_util.h"

namespace tamis::contract_change_test {

using ChangeContractTest = ContractTest;
class CloneContractTest : public ContractTest {};
class EraseContractTest : public ContractTest {};
class EraseAllContractTest : public ContractTest {};
class MergeContractTest : public ContractTest {};
class IntersectContractTest : public ContractTest {};

std::vector<uint64_t> AllIndices(size_t n) {
  std::vector<uint64_t> indices(n);
  std::iota(indices.begin(), indices.end(), uint64_t{0});
  return indices;
}

TEST_P(ChangeContractTest, ANewFilterIsEmptyAndAClearedOneIsNew) {
  const std::vector<uint64_t> keys = RandomKeys(1000, /*seed=*/1);
  for (const Backend& backend : Backends()) {
    SCOPED_TRACE(backend.name);
    const AnyFilter fresh = Make(1000, &backend), cleared = Make(1000, &backend);
    EXPECT_EQ(RequireChangeable(*cleared).Insert(keys), 1000u);
    EXPECT_EQ(cleared->inserted_count(), 1000u);
    EXPECT_EQ(cleared->Header().inserted, 1000u);
    EXPECT_GT(cleared->estimated_count(), 900);
    RequireChangeable(*cleared).Clear();
    EXPECT_EQ(Contents(*cleared), Contents(*fresh));
    EXPECT_EQ(Payload(*cleared), std::vector<std::byte>(cleared->payload().size()));
    for (const AnyFilter* filter : {&fresh, &cleared}) {
      EXPECT_EQ((*filter)->kind(), subject().kind);
      EXPECT_EQ((*filter)->inserted_count(), 0u);
      EXPECT_EQ((*filter)->Header().inserted, 0u);
      EXPECT_EQ((*filter)->estimated_count(), 0);
      EXPECT_EQ((*filter)->expected_fpr(), 0);
      EXPECT_EQ((*filter)->Count(keys), 0u);
      EXPECT_EQ(&(*filter)->backend(), &backend);
      EXPECT_FALSE((*filter)->read_only());
      EXPECT_EQ(reinterpret_cast<uintptr_t>((*filter)->payload().data()) % 64, 0u);
    }
    EXPECT_EQ(RequireChangeable(*cleared).Insert(keys), 1000u);
    RequireChangeable(*fresh).Insert(keys);
    EXPECT_EQ(Contents(*cleared), Contents(*fresh));
  }
}

// Each backend builds a part of one filter.
TEST_P(ChangeContractTest, SettingTheBackendChangesNoBit) {
  const std::vector<uint64_t> keys = RandomKeys(5000, /*seed=*/1);
  const AnyFilter filter = Make(5000), want = Make(5000);
  const size_t step = keys.size() / Backends().size();
  size_t at = 0;
  for (const Backend& backend : Backends()) {
    filter->set_backend(backend);
    EXPECT_EQ(&filter->backend(), &backend);
    EXPECT_EQ(RequireChangeable(*filter).Insert(std::span(keys).subspan(at, step)), step);
    at += step;
    EXPECT_EQ(filter->Count(std::span(keys).first(at)), at) << "false negatives";
    if (const auto view = ViewScalable(*filter)) {
      for (const Filter* layer : view->layers) EXPECT_EQ(&layer->backend(), &backend);
    }
  }
  for (size_t i = 0; i < at; ++i) EXPECT_TRUE(subject().insert(*want, keys[i]));
  EXPECT_EQ(Contents(*filter), Contents(*want));
}

TEST_P(ChangeContractTest, HugePagesChangeNoBit) {
  const std::vector<uint64_t> keys = RandomKeys(10'000, /*seed=*/1);
  const auto build = [&](bool huge_pages) {
    const AnyFilter filter =
        subject().make({.capacity = 4'500'000, .memory = {.huge_pages = huge_pages}});
    RequireChangeable(*filter).Insert(keys);
    EXPECT_EQ(filter->Count(keys), keys.size());
    return Contents(*filter);
  };
  EXPECT_EQ(build(false), build(true));
}

TEST_P(ChangeContractTest, MovedFiltersKeepTheirBytesWhereTheyAre) {
  const std::vector<uint64_t> keys = RandomKeys(100, /*seed=*/1);
  const HashSpec hash{HashKind::kXxh64, 3};
  const AnyFilter filter = Make(100, &Backends().back(), hash);
  RequireChangeable(*filter).Insert(keys);
  const auto want = Contents(*filter);
  const FileHeader header = filter->Header();
  const std::byte* const data = filter->payload().data();
  const AnyFilter moved = subject().moved(*filter);
  EXPECT_EQ(moved->payload().data(), data);
  EXPECT_EQ(Contents(*moved), want);
  EXPECT_EQ(moved->Header().geometry, header.geometry);
  EXPECT_EQ(moved->hash(), hash);
  EXPECT_EQ(&moved->backend(), &Backends().back());
  EXPECT_EQ(moved->Count(keys), 100u);
  if (auto* const erasable = dynamic_cast<ErasableFilter*>(&*moved);
      erasable && !subject().layered) {
    EXPECT_EQ(erasable->Erase(keys), 100u);
  }
  subject().assign(*filter, Make(100));  // a moved-from filter can be assigned to
  EXPECT_FALSE(filter->moved_from());
  EXPECT_EQ(RequireChangeable(*filter).Insert(keys), 100u);
}

TEST_P(ChangeContractTest, MovedFromFiltersAreEmptyAndReadOnly) {
  const std::vector<uint64_t> keys = RandomKeys(5000, /*seed=*/1);
  const AnyFilter filter = Make(5000);
  RequireChangeable(*filter).Insert(keys);
  AnyFilter moved = subject().moved(*filter);
  EXPECT_TRUE(filter->read_only());
  EXPECT_TRUE(filter->moved_from());
  EXPECT_FALSE(moved->moved_from());
  const auto expect_read_only = [](const auto& act) {
    ExpectError(act, ErrorCode::kReadOnly, "was moved from");
  };
  EXPECT_EQ(filter->Count(keys), 0u);
  expect_read_only([&] { RequireChangeable(*filter).Insert(keys); });
  EXPECT_FALSE(subject().insert(*filter, keys[0]));
  EXPECT_EQ(filter->inserted_count(), 0u);
  EXPECT_EQ(filter->estimated_count(), 0);
  EXPECT_EQ(filter->expected_fpr(), 0);
  for (const Backend& backend : Backends()) {
    const Engine engine = PinnedEngine(backend, 2);
    EXPECT_EQ(engine.Count(*filter, keys), 0u);
    expect_read_only([&] { engine.Insert(RequireChangeable(*filter), keys); });
  }
  if (auto* const erasable = dynamic_cast<ErasableFilter*>(&*filter)) {
    expect_read_only([&] { erasable->Erase(keys); });
  }
  expect_read_only([&] { RequireChangeable(*filter).Clear(); });
  EXPECT_FALSE(CanMerge(*filter, *moved));
  // Otherwise a file without keys could replace a file with keys.
  ExpectError([&] { filter->Save(path_); }, ErrorCode::kInvalidArgument, "was moved from");
  EXPECT_EQ(moved->Count(keys), keys.size());
}

TEST_P(ChangeContractTest, OptionsOutOfRangeAreRefused) {
  for (const uint32_t kind : {0u, 5u, 7u, 0xFFFFFFFFu}) {
    ExpectError(
        [&] {
          Make(100, nullptr, {static_cast<HashKind>(kind), 0});
        },
        ErrorCode::kInvalidArgument, "hash kind " + std::to_string(kind) + " does not exist");
  }
  for (const double fpr : {std::nan(""), -5.0, 7.0, 1e-13, -0.01}) {
    for (const FilterOptions& options : {FilterOptions{.capacity = 100, .fpr = fpr},
                                         {.capacity = 100, .fpr = fpr, .bytes = 4096},
                                         {.fpr = fpr, .bytes = 4096}}) {
      ExpectError([&] { subject().make(options); }, ErrorCode::kInvalidArgument,
                  "false-positive rate");
    }
  }
}

TEST_P(CloneContractTest, ACloneIsEqualAndIndependent) {
  const std::vector<uint64_t> keys = RandomKeys(200, /*seed=*/1);
  const HashSpec hash{HashKind::kXxh64, 8};
  const AnyFilter filter = Make(200, &Backends().back(), hash);
  RequireChangeable(*filter).Insert(std::span(keys).first(100));
  const AnyFilter copy = subject().clone(*filter);
  const auto before = Contents(*filter);
  EXPECT_EQ(Contents(*copy), before);
  const AnyFilter of_any_kind = Clone(*filter);
  EXPECT_TRUE(subject().is(of_any_kind));
  EXPECT_EQ(Contents(*of_any_kind), before);
  if (!subject().layered) {
    EXPECT_NE(copy->payload().data(), filter->payload().data());
  }
  EXPECT_EQ(copy->Header().geometry, filter->Header().geometry);
  EXPECT_EQ(copy->hash(), hash);
  EXPECT_EQ(&copy->backend(), &filter->backend());
  EXPECT_EQ(RequireChangeable(*copy).Insert(std::span(keys).last(100)), 100u);
  EXPECT_EQ(Contents(*filter), before);
  RequireChangeable(*copy).Clear();
  EXPECT_EQ(copy->estimated_count(), 0);
  EXPECT_EQ(Contents(*filter), before);
}

// Tests the functions of the filter and of an Engine: calls act(erase), where erase(filter, keys,
// missing) returns how many keys were erased.
void ByAll(const auto& act) {
  act([](ErasableFilter& f, Keys keys, auto out) { return f.Erase(keys, out); });
  for (const unsigned threads : {1, 3}) {
    const Engine engine = PinnedEngine(Backends().front(), threads, true);
    act([&](ErasableFilter& f, Keys keys, auto out) { return engine.Erase(f, keys, out); });
  }
}

// An ability is reported exactly if the class has the function.
TEST_P(ChangeContractTest, AbilitiesMatchTheClass) {
  const AnyFilter filter = Make(10);
  EXPECT_EQ(dynamic_cast<ErasableFilter*>(&*filter) != nullptr, subject().can.erase);
  EXPECT_EQ(subject().erase != nullptr, subject().can.erase);
  EXPECT_EQ(subject().merge != nullptr, subject().can.merge);
  EXPECT_EQ(subject().intersect != nullptr, subject().can.intersect);
  EXPECT_EQ(static_cast<bool>(CanMerge(*filter, *filter)), subject().can.merge);
  if (!subject().can.intersect) {
    ExpectError([&] { Intersect(*filter, *Make(10)); }, ErrorCode::kUnsupported, "intersected");
  }
}

// Uses copies, nulls, and more keys than there is room for.
TEST_P(ChangeContractTest, FunctionsForAnyChangeableEqualTheMembers) {
  std::vector<uint64_t> numbers = RandomKeys(600, /*seed=*/1);
  numbers.insert(numbers.end(), numbers.begin(), numbers.begin() + 300);
  const size_t n = numbers.size(), words = BitmapWords(n);
  const std::vector<uint8_t> validity(n / 8 + 1, 0xEE);
  const Keys keys = Keys(numbers).WithValidity(validity.data(), 0);
  const AnyFilter want = Make(200), got = Make(200);
  ChangeableFilter& filter = RequireChangeable(*want);
  Changeable& any = RequireChangeable(*got);
  std::vector<uint64_t> want_keys(n), got_keys(n);
  std::vector<uint64_t> want_bits(2 * words, 7), got_bits(2 * words, 7);
  const auto first = [&](std::vector<uint64_t>& bits) {
    return Bitmap(std::span(bits).first(words));
  };
  const auto second = [&](std::vector<uint64_t>& bits) {
    return Bitmap(std::span(bits).last(words));
  };

  EXPECT_EQ(InsertIfAbsent(any, keys.Slice(0, 500), first(got_bits), second(got_bits)),
            filter.InsertIfAbsent(keys.Slice(0, 500), first(want_bits), second(want_bits)));
  EXPECT_EQ(InsertIfAbsent(any, keys, first(got_bits)),
            filter.InsertIfAbsent(keys, first(want_bits)));
  EXPECT_EQ(got_bits, want_bits);
  EXPECT_EQ(Insert(any, keys, got_keys), filter.Insert(keys, want_keys));
  EXPECT_EQ(Insert(any, keys), filter.Insert(keys));
  const auto* const erasable = dynamic_cast<ErasableFilter*>(&filter);
  EXPECT_EQ(any.change_traits().erases, erasable != nullptr);
  if (erasable != nullptr) {
    auto& from = dynamic_cast<ErasableFilter&>(filter);
    EXPECT_EQ(Erase(any, keys, got_keys), from.Erase(keys, want_keys));
    EXPECT_EQ(Erase(any, keys), from.Erase(keys));
  } else {
    const std::vector<uint64_t> before = got_keys;
    ExpectError([&] { Erase(any, keys, got_keys); }, ErrorCode::kUnsupported, "cannot be erased");
    ExpectError([&] { Erase(any, keys); }, ErrorCode::kUnsupported, "cannot be erased");
    EXPECT_EQ(got_keys, before);
  }
  EXPECT_EQ(got_keys, want_keys);
  EXPECT_EQ(Contents(*got), Contents(*want));

  const std::span<uint64_t> short_keys = std::span(got_keys).first(n - 1);
  ExpectError([&] { Insert(any, keys, short_keys); }, ErrorCode::kInvalidArgument, "elements");
  EXPECT_EQ(Contents(*got), Contents(*want));
}

TEST_P(EraseAllContractTest, ErasedKeysLeaveNothing) {
  for (const Backend& backend : Backends()) {
    SCOPED_TRACE(backend.name);
    for (const size_t n : {0, 1, 65, 2049}) {
      const AllLayouts layouts(n, /*seed=*/n);
      for (const AllLayouts::Set& set : layouts.sets()) {
        const AnyFilter empty = Make(n + 1, &backend);
        ByAll([&](const auto& erase) {
          const AnyFilter filter = Make(n + 1, &backend);
          auto& erasable = dynamic_cast<ErasableFilter&>(*filter);
          const size_t in = RequireChangeable(*filter).Insert(set.keys);
          std::vector<uint64_t> missing(n);
          // The rejected keys were surplus copies of one key, so erasing misses the same number.
          ASSERT_EQ(erase(erasable, set.keys, std::span(missing)), in) << set.name;
          ASSERT_EQ(Contents(*filter), Contents(*empty)) << set.name;
        });
        const AnyFilter filter = Make(n + 1, &backend);
        for (const OneKey& key : set.ones) {
          if (!subject().insert(*filter, key)) continue;
          ASSERT_TRUE(subject().contains(*filter, key));
        }
        const size_t in = filter->inserted_count();
        size_t erased = 0;
        for (const OneKey& key : set.ones) erased += subject().erase(*filter, key);
        ASSERT_EQ(erased, in);
        ASSERT_EQ(Contents(*filter), Contents(*empty)) << set.name;
        EXPECT_EQ(dynamic_cast<ErasableFilter&>(*filter).Erase(set.keys), 0u);
      }
    }
  }
}

TEST_P(EraseContractTest, EngineErasesAsTheFilter) {
  const std::vector<uint64_t> keys = RandomKeys(150'000, /*seed=*/1);
  const auto some = std::span(keys).first(100'000);
  for (const Backend& backend : Backends()) {
    SCOPED_TRACE(backend.name);
    const AnyFilter one = Make(keys.size(), &backend), many = Make(keys.size(), &backend);
    const Engine engine({.threads = 3, .backend = &backend});
    EXPECT_EQ(RequireChangeable(*one).Insert(keys), engine.Insert(RequireChangeable(*many), keys));
    std::vector<uint64_t> want(some.size()), got(some.size());
    const size_t erased = dynamic_cast<ErasableFilter&>(*one).Erase(some, want);
    EXPECT_GT(erased, some.size() / 2);
    EXPECT_EQ(engine.Erase(dynamic_cast<ErasableFilter&>(*many), some, got), erased);
    want.resize(some.size() - erased);
    got.resize(some.size() - erased);
    EXPECT_EQ(got, want);
    EXPECT_EQ(one->inserted_count(), keys.size() - erased);
    EXPECT_EQ(Contents(*many), Contents(*one));
    EXPECT_EQ(one->Count(std::span(keys).last(50'000)), 50'000u) << "false negatives";
  }
}

TEST_P(EraseContractTest, NothingIsErasedUnlessAllAreFound) {
  const Engine engine({.threads = 2});
  const std::vector<uint64_t> keys = RandomKeys(1000, /*seed=*/1);
  const AnyFilter filter = Make(keys.size());
  RequireChangeable(*filter).Insert(keys);
  auto& erasable = dynamic_cast<ErasableFilter&>(*filter);
  const auto before = Contents(*filter);
  std::vector<uint64_t> list(keys.begin(), keys.begin() + 500);
  uint64_t absent = 1;
  while (subject().contains(*filter, absent)) ++absent;
  list.push_back(absent);
  const auto refused = [&](const auto& erase) {
    ExpectError([&] { erase(Keys(list)); }, ErrorCode::kInvalidArgument,
                "1 of 501 keys are not in the filter; nothing was erased");
    EXPECT_EQ(Contents(*filter), before);
  };
  refused([&](Keys some) { erasable.EraseIfAllFound(some); });
  refused([&](Keys some) { engine.EraseIfAllFound(erasable, some); });
  // A key occurs twice in the list. Erasing the second copy would erase another key.
  list.back() = list.front();
  const auto refused_twice = [&](const auto& erase) {
    ExpectError([&] { erase(Keys(list)); }, ErrorCode::kInvalidArgument,
                "1 of 501 keys are in the list more often than in the filter; nothing was erased");
    EXPECT_EQ(Contents(*filter), before);
  };
  refused_twice([&](Keys some) { erasable.EraseIfAllFound(some); });
  refused_twice([&](Keys some) { engine.EraseIfAllFound(erasable, some); });
  // The last key does not count if it is null.
  std::vector<uint8_t> valid(63, 0xFF);
  valid[500 / 8] = 0x0F;
  EXPECT_GT(erasable.EraseIfAllFound(Keys(list).WithValidity(valid.data())), 450u);
  EXPECT_EQ(filter->Count(std::span(keys).subspan(500)), 500u) << "false negatives";
}

TEST_P(EraseContractTest, ARefusedErasureChangesNothing) {
  const AnyFilter filter = Make(1000);
  RequireChangeable(*filter).Insert(RandomKeys(1000, /*seed=*/1));
  const auto before = Contents(*filter);
  std::vector<uint64_t> absent = RandomKeys(1000, /*seed=*/2);
  std::erase_if(absent, [&](uint64_t key) { return subject().contains(*filter, key); });
  ASSERT_GT(absent.size(), 700u);
  for (const uint64_t key : absent) EXPECT_FALSE(subject().erase(*filter, key));
  ByAll([&](const auto& erase) {
    std::vector<uint64_t> missing(absent.size());
    EXPECT_EQ(erase(dynamic_cast<ErasableFilter&>(*filter), absent, std::span(missing)), 0u);
    EXPECT_EQ(missing, AllIndices(absent.size()));
  });
  EXPECT_EQ(Contents(*filter), before);
}

TEST_P(MergeContractTest, AMergedFilterIsBuiltFromBoth) {
  const std::vector<uint64_t> keys = RandomKeys(1000, /*seed=*/2);
  const auto first = std::span(keys).first(600), last = std::span(keys).last(600);
  for (const Backend& backend : Backends()) {
    for (const uint64_t capacity : {1, 30, 1000}) {
      SCOPED_TRACE(std::string(backend.name) + ", capacity " + std::to_string(capacity));
      const AnyFilter of_class = Make(capacity, &backend), of_base = Make(capacity, &backend);
      const AnyFilter other = Make(capacity, &backend), both = Make(capacity, &backend);
      RequireChangeable(*of_class).Insert(first);
      RequireChangeable(*of_base).Insert(first);
      RequireChangeable(*other).Insert(last);
      RequireChangeable(*both).Insert(first);
      RequireChangeable(*both).Insert(last);
      const auto before = Contents(*other);
      EXPECT_EQ(CanMerge(*of_class, *other).reason, "");
      subject().merge(*of_class, *other);
      Merge(*of_base, *other);
      EXPECT_EQ(of_class->inserted_count(), 1200u);
      EXPECT_EQ(Contents(*of_class), Contents(*both));
      EXPECT_EQ(Contents(*of_base), Contents(*both));
      EXPECT_EQ(Contents(*other), before);
      EXPECT_EQ(of_class->Count(keys), keys.size()) << "false negatives";
      subject().merge(*other, *other);  // with itself: all its keys again
      const AnyFilter twice = Make(capacity, &backend);
      RequireChangeable(*twice).Insert(last);
      RequireChangeable(*twice).Insert(last);
      EXPECT_EQ(Contents(*other), Contents(*twice));
    }
  }
}

TEST_P(IntersectContractTest, AnIntersectionContainsTheCommonKeys) {
  const std::vector<uint64_t> keys = RandomKeys(3000, /*seed=*/2);
  const std::vector<uint64_t> others = RandomKeys(20'000, /*seed=*/3);
  for (const Backend& backend : Backends()) {
    for (const uint64_t capacity : {1, 40, 2000}) {
      SCOPED_TRACE(std::string(backend.name) + ", capacity " + std::to_string(capacity));
      const AnyFilter a = Make(capacity, &backend), b = Make(capacity, &backend);
      RequireChangeable(*a).Insert(std::span(keys).first(2000));
      RequireChangeable(*b).Insert(std::span(keys).last(1500));
      const AnyFilter common = subject().clone(*a), same = subject().clone(*a);
      subject().intersect(*common, *b);
      Intersect(*same, *b);
      EXPECT_EQ(Contents(*same), Contents(*common));
      EXPECT_EQ(common->inserted_count(), 1500u);
      EXPECT_EQ(common->Count(std::span(keys).subspan(1500, 500)), 500u) << "false negatives";
      for (const uint64_t key : others) {
        EXPECT_TRUE(!subject().contains(*common, key) ||
                    (subject().contains(*a, key) && subject().contains(*b, key)));
      }
    }
  }
}

// Tests other kinds, sizes, hashes and seeds, and kinds that cannot be merged.
TEST_P(ChangeContractTest, MismatchedFiltersAreNotCombined) {
  const HashSpec hash{HashKind::kXxh3, 5};
  const AnyFilter filter = Make(640, nullptr, hash);
  RequireChangeable(*filter).Insert(RandomKeys(20, /*seed=*/1));
  const auto before = Contents(*filter);
  const auto expect = [&](const Filter& other, const std::string& text) {
    const MergeCheck check = CanMerge(*filter, other);
    EXPECT_FALSE(check);
    EXPECT_NE(check.reason.find(text), check.reason.npos) << check.reason;
    EXPECT_NE(check.reason.find("cannot be merged"), check.reason.npos) << check.reason;
    const auto expect_refused = [&](const auto& act) {
      ExpectError([&] { act(*filter, other); }, ErrorCode::kIncompatible, check.reason);
    };
    expect_refused([](Filter& a, const Filter& b) { Merge(a, b); });
    if (other.kind() == subject().kind) {
      if (subject().merge != nullptr) expect_refused(subject().merge);
      if (subject().intersect != nullptr) expect_refused(subject().intersect);
    }
    EXPECT_EQ(Contents(*filter), before);
  };
  const std::string kind = FilterKindName(subject().kind);
  for (const Subject& other : Subjects()) {
    if (other.kind == subject().kind) continue;
    expect(*other.make({.capacity = 640, .hash = hash}),
           "filters of kinds " + kind + " and " + FilterKindName(other.kind));
  }
  if (!subject().can.merge) {
    expect(*filter, "filters of kind " + kind + " cannot be merged");
    return;
  }
  expect(*Make(1280, nullptr, hash), " and ");
  expect(*Make(640, nullptr, {HashKind::kXxh3, 6}), "xxh3 with seed 5 and xxh3 with seed 6");
  expect(*Make(640, nullptr, {HashKind::kXxh64, 5}), "xxh3 with seed 5 and xxh64 with seed 5");
  expect(*Make(640, nullptr, HashOf(HashKind::kSipHash13, 5)), "xxh3 with seed 5 and siphash13 ");
}

INSTANTIATE_TEST_SUITE_P(Kinds, ChangeContractTest, testing::ValuesIn(Subjects()), SubjectName());
INSTANTIATE_TEST_SUITE_P(Kinds, CloneContractTest,
                         testing::ValuesIn(SubjectsThat([](const Subject& s) {
                           return s.clone != nullptr;
                         })),
                         SubjectName());
INSTANTIATE_TEST_SUITE_P(
    Kinds, EraseContractTest,
    testing::ValuesIn(SubjectsThat([](const Subject& s) { return s.can.erase; })), SubjectName());
// Two layers that may both have a key refuse to erase it.
INSTANTIATE_TEST_SUITE_P(Kinds, EraseAllContractTest,
                         testing::ValuesIn(SubjectsThat([](const Subject& s) {
                           return s.can.erase && !s.layered;
                         })),
                         SubjectName());
INSTANTIATE_TEST_SUITE_P(
    Kinds, MergeContractTest,
    testing::ValuesIn(SubjectsThat([](const Subject& s) { return s.can.merge; })), SubjectName());
INSTANTIATE_TEST_SUITE_P(Kinds, IntersectContractTest,
                         testing::ValuesIn(SubjectsThat([](const Subject& s) {
                           return s.can.intersect;
                         })),
                         SubjectName());

}  // namespace tamis::contract_change_test
