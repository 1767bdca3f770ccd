// Both interfaces give the same bits, for every kind of filter, layout of keys and output. The
// calls run on the calling thread and on an engine, with nulls and offsets. The numbers of keys are
// just below and above multiples of the run length in which keys are converted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <string>
#include <vector>

#include "tamis/filters/any_scalable_filter.h"
#include "tamis/filters/filter_kinds.h"
#include "tamis/filters/serialize.h"
#include "tamis/filters/set_operations.h"
#include "tests/c/c_test_util.h"
#include "tests/c/key_sets.h"
#include "tests/test_util.h"

namespace tamis::equality_test {

constexpr tamis_hash kHash = {TAMIS_HASH_XXH64, 0, 77, 0, 0};
constexpr HashSpec kSpec = {HashKind::kXxh64, 77};

// A kind, or a scalable filter with layers of a kind.
struct Subject {
  std::string name;
  uint32_t kind;
  bool layers;

  CFilter C(uint64_t capacity) const {
    if (!layers) return MakeC(kind, capacity, kHash);
    auto options = TAMIS_INIT(tamis_scalable_options);
    options.layers = kind;
    options.initial_capacity = capacity / 8 + 1;
    options.hash = kHash;
    return Made<tamis_filter>(tamis_filter_create_scalable, &options);
  }
  AnyFilter Cpp(uint64_t capacity) const {
    if (!layers) {
      return MakeFilter(static_cast<FilterKind>(kind), {.capacity = capacity, .hash = kSpec});
    }
    return MakeScalableFilter(static_cast<FilterKind>(kind),
                              {.initial_capacity = capacity / 8 + 1, .hash = kSpec});
  }
};

void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.name; }

std::vector<std::byte> PayloadOf(const tamis_filter* filter) {
  const void* data = nullptr;
  uint64_t bytes = 0;
  EXPECT_EQ(tamis_filter_payload(filter, &data, &bytes), TAMIS_OK);
  const auto* const first = static_cast<const std::byte*>(data);
  return {first, first + bytes};
}

std::vector<Subject> Subjects() {
  std::vector<Subject> subjects;
  for (const FilterKindInfo& info : FilterKinds()) {
    std::string name = info.name;
    std::replace(name.begin(), name.end(), '-', '_');
    const auto kind = static_cast<uint32_t>(info.kind);
    if (info.is_plain()) subjects.push_back({name, kind, false});
    if (info.can_be_layer) subjects.push_back({"scalable_" + name, kind, true});
  }
  return subjects;
}

// Returns a capacity with which cuckoo filters reject a few of n keys. Each rejection takes a long
// search, so many rejections would take too long.
uint64_t TooFew(size_t n) { return n < 10'000 ? n / 2 + 1 : n - n / 8; }

constexpr size_t kRunKeys = 65'536;

bool IsConverted(uint32_t layout) {
  switch (layout) {
    case TAMIS_KEYS_U8:
    case TAMIS_KEYS_I8:
    case TAMIS_KEYS_U16:
    case TAMIS_KEYS_I16:
    case TAMIS_KEYS_POINTERS:
    case TAMIS_KEYS_VIEWS:
    case TAMIS_KEYS_DAYS:
    case TAMIS_KEYS_SECONDS:
    case TAMIS_KEYS_MILLIS:
    case TAMIS_KEYS_MICROS:
    case TAMIS_KEYS_NANOS:
      return true;
    default:
      return false;
  }
}

class EqualityTest : public testing::TestWithParam<Subject> {
 protected:
  void ExpectSame(const tamis_filter* c, const Filter& cpp) const {
    EXPECT_EQ(SerializedC(c), Serialize(cpp));
  }

  const CEngine engine_ = MakeEngine(2);
};

TEST_P(EqualityTest, ManyKeysOfEveryForm) {
  struct Shape {
    size_t n;
    uint64_t offset;
    bool nulls;
  };
  // Keys of 8 and 16 bits and pointers are converted in runs of 65,536. Many keys of other layouts
  // are one run, so few of them suffice.
  for (const Shape shape :
       {Shape{0, 0, false}, {1, 3, true}, {65, 0, true}, {1000, 13, false}, {70'001, 5, true}}) {
    const KeySets sets(shape.n, shape.offset, shape.nulls, /*seed=*/1);
    const KeySets others(shape.n, 0, false, /*seed=*/2);
    for (size_t i = 0; i < sets.sets().size(); ++i) {
      const KeySets::Set& keys = sets.sets()[i];
      SCOPED_TRACE(keys.name + ", " + std::to_string(shape.n));
      if (shape.n > kRunKeys && !IsConverted(keys.c.layout)) continue;
      const tamis_engine* const engine = i % 2 == 0 ? nullptr : engine_.get();
      const uint64_t capacity = TooFew(shape.n);
      const CFilter c = GetParam().C(capacity);
      const AnyFilter cpp = GetParam().Cpp(capacity);
      std::vector<uint64_t> rejected(shape.n), cpp_rejected(shape.n);
      uint64_t inserted = 0;
      ASSERT_EQ(tamis_filter_insert(c.get(), engine, &keys.c, &inserted, rejected.data(), shape.n),
                TAMIS_OK)
          << tamis_last_error();
      EXPECT_EQ(inserted, RequireChangeable(*cpp).Insert(keys.cpp, cpp_rejected));
      rejected.resize(shape.n - inserted), cpp_rejected.resize(shape.n - inserted);
      EXPECT_EQ(rejected, cpp_rejected);
      ExpectSame(c.get(), *cpp);
      ExpectSameAnswers(c.get(), engine, *cpp, keys);
      ExpectSameAnswers(c.get(), engine, *cpp, others.sets()[i]);
    }
  }
}

TEST_P(EqualityTest, InsertIfAbsent) {
  for (const size_t n : {0, 100, 66'000}) {
    const KeySets sets(n, 3, true, /*seed=*/3);
    for (const KeySets::Set& keys : sets.sets()) {
      SCOPED_TRACE(keys.name);
      if (n > kRunKeys && !IsConverted(keys.c.layout)) continue;
      const CFilter c = GetParam().C(TooFew(n));
      const AnyFilter cpp = GetParam().Cpp(TooFew(n));
      const size_t words = BitmapWords(n);
      std::vector<uint64_t> fresh(words, 1), rejected(words, 1), cpp_fresh(words),
          cpp_rejected(words);
      uint64_t num_fresh = 0;
      ASSERT_EQ(tamis_filter_insert_if_absent(c.get(), engine_.get(), &keys.c, fresh.data(),
                                              rejected.data(), words, &num_fresh),
                TAMIS_OK)
          << tamis_last_error();
      EXPECT_EQ(num_fresh, RequireChangeable(*cpp).InsertIfAbsent(keys.cpp, Bitmap(cpp_fresh),
                                                                  Bitmap(cpp_rejected)));
      EXPECT_EQ(fresh, cpp_fresh);
      EXPECT_EQ(rejected, cpp_rejected);
      ExpectSame(c.get(), *cpp);
      // Without the second output.
      ASSERT_EQ(tamis_filter_insert_if_absent(c.get(), nullptr, &keys.c, fresh.data(), nullptr,
                                              words, nullptr),
                TAMIS_OK);
      RequireChangeable(*cpp).InsertIfAbsent(keys.cpp, Bitmap(cpp_fresh));
      EXPECT_EQ(fresh, cpp_fresh);
      ExpectSame(c.get(), *cpp);
    }
  }
}

TEST_P(EqualityTest, Erase) {
  const CFilter any = GetParam().C(10);
  const AnyFilter any_cpp = GetParam().Cpp(10);
  if (any_cpp.As<ErasableFilter>() == nullptr) {
    const tamis_keys keys = tamis_keys_u64(nullptr, 0);
    ExpectStatus(tamis_filter_erase(any.get(), nullptr, &keys, nullptr, nullptr, 0),
                 TAMIS_UNSUPPORTED, "cannot erase");
    ExpectStatus(-tamis_filter_erase_u64(any.get(), 1), TAMIS_UNSUPPORTED, "cannot erase");
    return;
  }
  for (const size_t n : {1000, 66'000}) {
    const KeySets sets(n, 3, true, /*seed=*/4);
    const KeySets some(n / 2, 3, false, /*seed=*/4);
    for (size_t i = 0; i < sets.sets().size(); ++i) {
      const KeySets::Set& keys = sets.sets()[i];
      SCOPED_TRACE(keys.name);
      if (n > kRunKeys && !IsConverted(keys.c.layout)) continue;
      const CFilter c = GetParam().C(n);
      const AnyFilter cpp = GetParam().Cpp(n);
      uint64_t inserted = 0;
      ASSERT_EQ(tamis_filter_insert(c.get(), nullptr, &some.sets()[i].c, &inserted, nullptr, 0),
                TAMIS_OK);
      EXPECT_EQ(inserted, RequireChangeable(*cpp).Insert(some.sets()[i].cpp));
      std::vector<uint64_t> missing(n), cpp_missing(n);
      uint64_t erased = 0;
      ASSERT_EQ(tamis_filter_erase(c.get(), engine_.get(), &keys.c, &erased, missing.data(), n),
                TAMIS_OK);
      EXPECT_EQ(erased, cpp.As<ErasableFilter>()->Erase(keys.cpp, cpp_missing));
      missing.resize(n - erased), cpp_missing.resize(n - erased);
      EXPECT_EQ(missing, cpp_missing);
      ExpectSame(c.get(), *cpp);
    }
  }
}

TEST_P(EqualityTest, OneKey) {
  const CFilter c = GetParam().C(600);
  const AnyFilter cpp = GetParam().Cpp(600);
  const std::vector<std::string> strings = RandomStrings(200, /*seed=*/5);
  const bool erases = cpp.As<ErasableFilter>() != nullptr;
  Random random(6);
  for (const std::string& s : strings) {
    const uint64_t key = random() % 100, hash = random();
    EXPECT_EQ(tamis_filter_insert_u64(c.get(), key), RequireChangeable(*cpp).Insert(key));
    EXPECT_EQ(tamis_filter_insert_string(c.get(), s.data(), s.size()),
              RequireChangeable(*cpp).Insert(s));
    EXPECT_EQ(tamis_filter_insert_hash(c.get(), hash), RequireChangeable(*cpp).InsertHash(hash));
    EXPECT_EQ(tamis_filter_contains_u64(c.get(), key + 1), cpp->Contains(key + 1));
    EXPECT_EQ(tamis_filter_contains_string(c.get(), s.data(), s.size()), 1);
    EXPECT_EQ(tamis_filter_contains_hash(c.get(), hash + 1), cpp->ContainsHash(hash + 1));
    EXPECT_EQ(tamis_filter_insert_if_absent_u64(c.get(), key + 2),
              RequireChangeable(*cpp).InsertIfAbsent(key + 2));
    EXPECT_EQ(tamis_filter_insert_if_absent_string(c.get(), s.data(), s.size() / 2),
              RequireChangeable(*cpp).InsertIfAbsent(std::string_view(s).substr(0, s.size() / 2)));
    EXPECT_EQ(tamis_filter_insert_if_absent_hash(c.get(), ~hash),
              RequireChangeable(*cpp).InsertHashIfAbsent(~hash));
    if (!erases) continue;
    ErasableFilter& erasable = *cpp.As<ErasableFilter>();
    EXPECT_EQ(tamis_filter_erase_u64(c.get(), key), erasable.Erase(key));
    EXPECT_EQ(tamis_filter_erase_string(c.get(), s.data(), s.size()), erasable.Erase(s));
    EXPECT_EQ(tamis_filter_erase_hash(c.get(), hash), erasable.EraseHash(hash));
  }
  EXPECT_EQ(tamis_filter_insert_string(c.get(), nullptr, 0),
            RequireChangeable(*cpp).Insert(std::string_view()));
  ExpectSame(c.get(), *cpp);
}

TEST_P(EqualityTest, InfoEqualsTheClass) {
  const CFilter c = GetParam().C(1000);
  const AnyFilter cpp = GetParam().Cpp(1000);
  const std::vector<uint64_t> numbers = RandomKeys(900, /*seed=*/7);
  const tamis_keys keys = tamis_keys_u64(numbers.data(), numbers.size());
  ASSERT_EQ(tamis_filter_insert(c.get(), nullptr, &keys, nullptr, nullptr, 0), TAMIS_OK);
  RequireChangeable(*cpp).Insert(numbers);
  auto info = TAMIS_INIT(tamis_filter_info);
  ASSERT_EQ(tamis_filter_get_info(c.get(), &info), TAMIS_OK);
  EXPECT_EQ(info.kind, static_cast<uint32_t>(cpp->kind()));
  EXPECT_EQ(info.read_only, 0u);
  EXPECT_EQ(info.capacity, cpp->capacity());
  EXPECT_EQ(info.inserted, cpp->inserted_count());
  EXPECT_EQ(info.bytes, cpp->bytes());
  EXPECT_EQ(info.bits_per_key, cpp->bits_per_key());
  EXPECT_EQ(info.fpr_by_count, FprByCount(*cpp));
  EXPECT_EQ(info.format, nullptr);
  EXPECT_EQ((info.abilities & TAMIS_CAN_ERASE) != 0, cpp.As<ErasableFilter>() != nullptr);
  uint32_t of_kind = 0;
  ASSERT_EQ(tamis_kind_abilities(info.kind, &of_kind), TAMIS_OK);
  EXPECT_EQ(info.abilities & ~TAMIS_CAN_ERASE, of_kind & ~TAMIS_CAN_ERASE);
  EXPECT_EQ(info.hash_kind, uint32_t{TAMIS_HASH_XXH64});
  EXPECT_EQ(info.seed, 77u);
  EXPECT_EQ(info.key_types, KeyTypes(KeyType::kInteger).bits());
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(info.geometry[i], cpp->Header().geometry[i]);
  double value = 0;
  ASSERT_EQ(tamis_filter_estimated_count(c.get(), &value), TAMIS_OK);
  EXPECT_EQ(value, cpp->estimated_count());
  ASSERT_EQ(tamis_filter_expected_fpr(c.get(), &value), TAMIS_OK);
  EXPECT_EQ(value, cpp->expected_fpr());
  const void* data = nullptr;
  uint64_t bytes = 0;
  ASSERT_EQ(tamis_filter_payload(c.get(), &data, &bytes), TAMIS_OK);
  ASSERT_EQ(bytes, cpp->payload().size());
  if (bytes > 0) {
    EXPECT_EQ(std::memcmp(data, cpp->payload().data(), bytes), 0);
  }

  const CFilter clone = Made<tamis_filter>(tamis_filter_clone, c.get());
  ASSERT_EQ(tamis_filter_clear(c.get()), TAMIS_OK);
  ExpectSame(clone.get(), *cpp);
  RequireChangeable(*cpp).Clear();
  ExpectSame(c.get(), *cpp);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EqualityTest, testing::ValuesIn(Subjects()),
                         [](const auto& test) { return test.param.name; });

TEST(SetOperationsTest, MergeIntersectAndFold) {
  const std::vector<uint64_t> a = RandomKeys(1000, 1), b = RandomKeys(1500, 1);
  const tamis_keys a_keys = tamis_keys_u64(a.data(), a.size());
  const tamis_keys b_keys = tamis_keys_u64(b.data(), b.size());
  for (const FilterKindInfo& info : FilterKinds()) {
    if (!info.is_plain()) continue;
    SCOPED_TRACE(info.name);
    const auto kind = static_cast<uint32_t>(info.kind);
    const auto filled = [&](const tamis_keys& keys) {
      CFilter made = MakeC(kind, 2000);
      EXPECT_EQ(tamis_filter_insert(made.get(), nullptr, &keys, nullptr, nullptr, 0), TAMIS_OK);
      return made;
    };
    const CFilter first = filled(a_keys), second = filled(b_keys), small = MakeC(kind, 20);
    AnyFilter cpp = MakeFilter(info.kind, {.capacity = 2000});
    const AnyFilter other = MakeFilter(info.kind, {.capacity = 2000});
    RequireChangeable(*cpp).Insert(a);
    RequireChangeable(*other).Insert(b);
    uint32_t can = 0;
    ASSERT_EQ(tamis_kind_abilities(kind, &can), TAMIS_OK);
    EXPECT_EQ((can & TAMIS_CAN_MERGE) != 0, info.can.merge);
    EXPECT_EQ((can & TAMIS_CAN_INTERSECT) != 0, info.can.intersect);
    EXPECT_EQ((can & TAMIS_CAN_ERASE) != 0, info.can.erase);
    EXPECT_EQ((can & TAMIS_CAN_PARQUET) != 0, info.can.parquet);
    if (info.can.merge) {
      ASSERT_EQ(tamis_filter_merge(first.get(), second.get()), TAMIS_OK) << tamis_last_error();
      Merge(*cpp, *other);
      EXPECT_EQ(SerializedC(first.get()), Serialize(*cpp));
    }
    ExpectStatus(tamis_filter_merge(first.get(), small.get()), TAMIS_INCOMPATIBLE,
                 "cannot be merged");
    ExpectStatus(tamis_filter_merge(first.get(), first.get()), TAMIS_INVALID_ARGUMENT, "the same");
    if (info.can.intersect) {
      ASSERT_EQ(tamis_filter_intersect(first.get(), second.get()), TAMIS_OK) << tamis_last_error();
      // The first filter has the keys of both.
      EXPECT_EQ(PayloadOf(first.get()), PayloadOf(second.get()));
      ExpectStatus(tamis_filter_intersect(first.get(), small.get()), TAMIS_INCOMPATIBLE, "cannot");
    } else {
      ExpectStatus(tamis_filter_intersect(first.get(), second.get()), TAMIS_UNSUPPORTED,
                   "cannot be intersected");
    }
    if (info.kind != FilterKind::kSplitBlock) {
      tamis_filter* out = nullptr;
      ExpectStatus(tamis_filter_fold(first.get(), &out), TAMIS_UNSUPPORTED, "cannot be folded");
    }
  }
}

TEST(SetOperationsTest, Fold) {
  const std::vector<uint64_t> numbers = RandomKeys(1000, 1);
  const tamis_keys keys = tamis_keys_u64(numbers.data(), numbers.size());
  for (const uint64_t blocks : {64, 65}) {
    tamis_filter_options options = OptionsFor(0);
    options.bytes = 32 * blocks;
    const CFilter c = Made<tamis_filter>(tamis_filter_create, TAMIS_SPLIT_BLOCK, &options);
    ASSERT_EQ(tamis_filter_insert(c.get(), nullptr, &keys, nullptr, nullptr, 0), TAMIS_OK);
    if (blocks % 2 != 0) {
      tamis_filter* out = nullptr;
      ExpectStatus(tamis_filter_fold(c.get(), &out), TAMIS_INVALID_ARGUMENT, "even number");
      EXPECT_EQ(out, nullptr);
      continue;
    }
    SplitBlockBloomFilter cpp({.bytes = 32 * blocks});
    cpp.Insert(numbers);
    const CFilter folded = Made<tamis_filter>(tamis_filter_fold, c.get());
    EXPECT_EQ(SerializedC(folded.get()), Serialize(cpp.Folded()));
  }
}

}  // namespace tamis::equality_test
