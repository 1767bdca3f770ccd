// Bulk functions of every kind: every layout of keys and every output has the same result as the
// functions for one key, for every backend and any number of threads. No output is written past its
// end.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "tamis/backends.h"
#include "tamis/hash_kinds.h"
#include "tests/core/contract.h"
#include "tests/core/contract_outputs.h"
#include "tests/test_util.h"

namespace tamis::contract_bulk_test {

// Sizes around the words of a bitmap, and around the batches of the bulk functions.
constexpr size_t kSizes[] = {0,   1,   7,    63,   64,   65,   127,  128,  129,
                             255, 256, 1000, 2047, 2048, 2049, 4095, 4096, 5000};
constexpr size_t kEngineSizes[] = {0, 1, 63, 64, 65, 127, 128, 129, 511, 512, 1000, 4096, 10'007};
constexpr unsigned kThreads[] = {1, 2, 5};

using BulkContractTest = ContractTest;

// Inserts the keys one by one. Returns the indices of refused keys.
std::vector<uint64_t> InsertOnes(const Subject& subject, Filter& filter,
                                 const std::vector<OneKey>& keys) {
  std::vector<uint64_t> rejected;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!subject.insert(filter, keys[i])) rejected.push_back(i);
  }
  return rejected;
}

TEST_P(BulkContractTest, InsertEqualsOneKeyAtATime) {
  for (const size_t n : kSizes) {
    const AllLayouts layouts(n, /*seed=*/n);
    for (const AllLayouts::Set& set : layouts.sets()) {
      for (const HashKind kind : kHashKinds) {
        const AnyFilter ones = Make(n + 1, nullptr, HashOf(kind, n));
        const std::vector<uint64_t> want = InsertOnes(subject(), *ones, set.ones);
        EXPECT_EQ(ones->inserted_count(), n - want.size());
        for (const Backend& backend : Backends()) {
          // One size with all kinds of hashes is enough, because the tests in tests/simd compare
          // the backends: hash_test with all kinds, the others with those that kernels of filters
          // compute.
          if (kind != HashKind::kXxh3 && n != 1000 && &backend != &Backends().front()) continue;
          const AnyFilter bulk = Make(n + 1, &backend, HashOf(kind, n));
          std::vector<uint64_t> rejected(n);
          rejected.resize(n - RequireChangeable(*bulk).Insert(set.keys, rejected));
          ASSERT_EQ(rejected, want) << set.name << ", n = " << n;
          ASSERT_EQ(Contents(*bulk), Contents(*ones)) << set.name << ", n = " << n;
        }
        const AnyFilter unasked = Make(n + 1, nullptr, HashOf(kind, n));
        EXPECT_EQ(RequireChangeable(*unasked).Insert(set.keys), n - want.size());
        ASSERT_EQ(Contents(*unasked), Contents(*ones)) << set.name << ", n = " << n;
      }
    }
  }
}

// Uses the functions of Filter and ErasableFilter, which find the class at run time.
TEST_P(BulkContractTest, OneKeyOfAnyKindIsOneKeyOfTheClass) {
  const AllLayouts layouts(200, /*seed=*/1);
  for (const AllLayouts::Set& set : layouts.sets()) {
    const AnyFilter of_class = Make(100), any = Make(100);
    auto* const erasable = dynamic_cast<ErasableFilter*>(&*any);
    const auto in_any = [&](const OneKey& one, const auto& of_hash, const auto& of_key) {
      return std::visit(
          [&](auto key) {
            if constexpr (std::is_same_v<decltype(key), OneHash>)
              return of_hash(key.value);
            else
              return of_key(key);
          },
          one);
    };
    const auto inserts = [&](const OneKey& one) {
      return in_any(
          one, [&](uint64_t hash) { return RequireChangeable(*any).InsertHash(hash); },
          [&](auto key) { return RequireChangeable(*any).Insert(key); });
    };
    const auto contains = [&](const OneKey& one) {
      return in_any(
          one, [&](uint64_t hash) { return any->ContainsHash(hash); },
          [&](auto key) { return any->Contains(key); });
    };
    const auto erases = [&](const OneKey& one) {
      return in_any(
          one, [&](uint64_t hash) { return erasable->EraseHash(hash); },
          [&](auto key) { return erasable->Erase(key); });
    };
    for (size_t i = 0; i < set.ones.size(); i += 2) {
      ASSERT_EQ(inserts(set.ones[i]), subject().insert(*of_class, set.ones[i])) << set.name;
    }
    EXPECT_EQ(Contents(*any), Contents(*of_class)) << set.name;
    EXPECT_EQ(any->inserted_count(), of_class->inserted_count());
    EXPECT_EQ(any->key_types(), of_class->key_types());
    for (const OneKey& one : set.ones) {
      ASSERT_EQ(contains(one), subject().contains(*of_class, one)) << set.name;
    }
    if (erasable == nullptr) continue;
    for (size_t i = 0; i < set.ones.size(); i += 4) {
      ASSERT_EQ(erases(set.ones[i]), subject().erase(*of_class, set.ones[i])) << set.name;
    }
    EXPECT_EQ(Contents(*any), Contents(*of_class)) << set.name;
  }
}

// A filter that contains every third key. If the kind allows a high false-positive rate, the filter
// has one, because the false positives must also be the same.
class SomeIn {
 public:
  SomeIn(const Subject& subject, const AllLayouts::Set& set)
      : filter_(subject.make({.capacity = set.ones.size() / 8 * 3 + 8,
                              .fpr = subject.can.erase && !subject.layered ? 0 : 0.3})),
        want_(set.ones.size()) {
    std::vector<bool> in(want_.size());
    for (size_t i = 0; i < in.size(); i += 3) in[i] = subject.insert(*filter_, set.ones[i]);
    for (size_t i = 0; i < in.size(); ++i) {
      want_[i] = subject.contains(*filter_, set.ones[i]);
      EXPECT_TRUE(want_[i] || !in[i]) << "false negative: " << set.name << ' ' << i;
    }
  }

  const Filter& filter() const { return *filter_; }
  Filter& filter() { return *filter_; }
  const std::vector<bool>& want() const { return want_; }

 private:
  AnyFilter filter_;
  std::vector<bool> want_;
};

TEST_P(BulkContractTest, EveryOutputEqualsOneKeyAtATime) {
  size_t hits = 0, misses = 0;
  for (const size_t n : kSizes) {
    const AllLayouts layouts(n, /*seed=*/n);
    for (const AllLayouts::Set& set : layouts.sets()) {
      SomeIn some(subject(), set);
      const auto before = Contents(some.filter());
      const auto hit =
          static_cast<size_t>(std::count(some.want().begin(), some.want().end(), true));
      hits += hit;
      misses += n - hit;
      const auto cut = static_cast<std::ptrdiff_t>(n / 3);
      const std::vector<bool> rest(some.want().begin() + cut, some.want().end());
      for (const Backend& backend : Backends()) {
        SCOPED_TRACE(std::string(backend.name) + ", " + set.name + ", n = " + std::to_string(n));
        some.filter().set_backend(backend);
        ASSERT_NO_FATAL_FAILURE(ExpectOutputs(some.filter(), set.keys, some.want()));
        // A slice has the same results as in the whole.
        ASSERT_NO_FATAL_FAILURE(
            ExpectOutputs(some.filter(), set.keys.Slice(n / 3, rest.size()), rest));
      }
      ASSERT_EQ(Contents(some.filter()), before) << "probing changed the filter";
    }
  }
  EXPECT_GT(hits, 50'000u);
  EXPECT_GT(misses, 50'000u);
}

TEST_P(BulkContractTest, EngineAnswersAsTheFilter) {
  for (const size_t n : kEngineSizes) {
    const AllLayouts layouts(n, /*seed=*/n);
    for (const AllLayouts::Set& set : layouts.sets()) {
      const SomeIn some(subject(), set);
      for (const unsigned threads : kThreads) {
        for (const bool partitioned : {false, true}) {
          SCOPED_TRACE(std::to_string(threads) +
                       (partitioned ? " threads by region, " : " threads, ") + set.name + ", " +
                       std::to_string(n));
          const Engine engine = PinnedEngine(Backends().front(), threads, partitioned);
          ASSERT_NO_FATAL_FAILURE(
              ExpectOutputs(ByEngine{engine, some.filter()}, set.keys, some.want()));
        }
      }
      if (n != 1000) continue;
      for (const Backend& backend : Backends()) {
        SCOPED_TRACE(backend.name);
        const Engine engine = PinnedEngine(backend, 3);
        ASSERT_NO_FATAL_FAILURE(
            ExpectOutputs(ByEngine{engine, some.filter()}, set.keys, some.want()));
      }
    }
  }
}

TEST_P(BulkContractTest, EngineInsertsAsTheFilter) {
  for (const size_t n : kEngineSizes) {
    const AllLayouts layouts(n, /*seed=*/n);
    for (const AllLayouts::Set& set : layouts.sets()) {
      const AnyFilter ones = Make(n + 1);
      const std::vector<uint64_t> want = InsertOnes(subject(), *ones, set.ones);
      for (const unsigned threads : kThreads) {
        for (const bool partitioned : {false, true}) {
          SCOPED_TRACE(std::to_string(threads) + " threads, " + set.name + ", " +
                       std::to_string(n) + " keys");
          const Engine engine = PinnedEngine(Backends().front(), threads, partitioned);
          const AnyFilter filter = Make(n + 1);
          std::vector<uint64_t> rejected(n);
          rejected.resize(n - engine.Insert(RequireChangeable(*filter), set.keys, rejected));
          ASSERT_EQ(rejected, want);
          ASSERT_EQ(Contents(*filter), Contents(*ones));
        }
      }
    }
  }
}

// As many keys as an Engine would share among threads by default.
TEST_P(BulkContractTest, EngineDoesTheSameWithManyKeys) {
  const std::vector<uint64_t> keys = RandomKeys(150'000, /*seed=*/1);
  const auto half = std::span(keys).first(keys.size() / 2);
  const AnyFilter one = Make(keys.size());
  EXPECT_EQ(RequireChangeable(*one).Insert(keys), keys.size());
  std::vector<bool> all(keys.size(), true);
  for (const Backend& backend : Backends()) {
    SCOPED_TRACE(backend.name);
    for (const unsigned threads : {1u, 4u}) {
      const Engine engine({.threads = threads, .backend = &backend});
      const AnyFilter many = Make(keys.size(), &backend);
      EXPECT_EQ(engine.Insert(RequireChangeable(*many), half), half.size());
      EXPECT_EQ(engine.Insert(RequireChangeable(*many), std::span(keys).subspan(half.size())),
                keys.size() - half.size());
      ASSERT_EQ(Contents(*many), Contents(*one));
      ASSERT_NO_FATAL_FAILURE(ExpectOutputs(ByEngine{engine, *many}, keys, all));

      const AnyFilter made = Make(keys.size(), &backend);
      EXPECT_EQ(engine.Insert(RequireChangeable(*made), keys.size(),
                              [&](uint64_t first, std::span<uint64_t> out) {
                                std::copy_n(keys.data() + first, out.size(), out.begin());
                              }),
                keys.size());
      ASSERT_EQ(Contents(*made), Contents(*one));
    }
  }
}

TEST_P(BulkContractTest, FormsOfTheSameKeysAreTheSame) {
  const AllLayouts layouts(3000, /*seed=*/5);
  const auto contents = [&](const std::string& name) {
    const AnyFilter filter = Make(4000, nullptr, {HashKind::kXxh3, 7});
    for (const AllLayouts::Set& set : layouts.sets()) {
      if (set.name == name) RequireChangeable(*filter).Insert(set.keys);
    }
    EXPECT_GT(filter->inserted_count(), 2900u) << name;
    return Contents(*filter);
  };
  EXPECT_EQ(contents("u64"), contents("i64"));
  EXPECT_EQ(contents("string views"), contents("column"));
  EXPECT_EQ(contents("string views"), contents("large column"));
  EXPECT_NE(contents("u32"), contents("i32"));  // a sign is part of the value
}

// int32_t{-1} and int64_t{-1} are the same key, uint32_t{0xFFFFFFFF} is another.
TEST_P(BulkContractTest, SignedIntegersAreWidenedWithTheirSign) {
  for (const Backend& backend : Backends()) {
    const AnyFilter filter = Make(100, &backend);
    EXPECT_EQ(RequireChangeable(*filter).Insert(std::vector<int32_t>{-1}), 1u);
    EXPECT_TRUE(subject().contains(*filter, int32_t{-1}));
    EXPECT_TRUE(subject().contains(*filter, int64_t{-1}));
    EXPECT_TRUE(subject().contains(*filter, ~uint64_t{0}));
    EXPECT_FALSE(subject().contains(*filter, uint32_t{0xFFFFFFFF}));
    EXPECT_EQ(filter->Count(std::vector<int64_t>{-1}), 1u);
    EXPECT_EQ(filter->Count(std::vector<uint32_t>{0xFFFFFFFF}), 0u);
  }
}

// Calls act(output of n elements). The call must report that the output has too few of `unit`, and
// must write nothing.
template <typename T>
void ExpectTooSmall(size_t n, const std::string& unit, const auto& act) {
  const std::vector<T> untouched(n, static_cast<T>(0xC0FFEEC0FFEEC0EE));
  std::vector<T> out = untouched;
  ExpectError([&] { act(std::span<T>(out)); }, ErrorCode::kInvalidArgument,
              "the output has " + std::to_string(n) + " " + unit + ", and 129 keys need " +
                  std::to_string(unit == "words" ? 3 : 129));
  EXPECT_EQ(out, untouched);
}

template <typename Asked>
void ExpectSmallOutputsRefused(const Asked& asked, const Keys& keys) {
  ExpectTooSmall<uint64_t>(2, "words", [&](auto out) { asked.Contains(keys, Bitmap(out)); });
  ExpectTooSmall<uint8_t>(128, "bytes", [&](auto out) { asked.Contains(keys, out); });
  ExpectTooSmall<uint32_t>(128, "elements", [&](auto out) { asked.Select(keys, out); });
  ExpectTooSmall<uint64_t>(0, "elements", [&](auto out) { asked.Select(keys, out); });
  // The keys and the output do not exist, so the call must check their sizes before any access.
  uint64_t key = 0;
  uint32_t row = 0;
  const Keys many(std::span(&key, (size_t{1} << 32) + 1));
  ExpectError([&] { asked.Select(many, std::span(&row, many.size())); },
              ErrorCode::kInvalidArgument, "4294967297 keys");
}

TEST_P(BulkContractTest, OutputsThatAreTooSmallAreRefused) {
  const std::vector<uint64_t> keys = RandomKeys(129, /*seed=*/1);
  const AnyFilter filter = Make(200);
  RequireChangeable(*filter).Insert(std::span(keys).first(60));
  const auto before = Contents(*filter);
  auto* const erasable = dynamic_cast<ErasableFilter*>(&*filter);
  ASSERT_EQ(erasable != nullptr, subject().can.erase);
  ExpectSmallOutputsRefused(*filter, keys);
  ExpectTooSmall<uint64_t>(128, "elements",
                           [&](auto out) { RequireChangeable(*filter).Insert(keys, out); });
  if (erasable != nullptr) {
    ExpectTooSmall<uint64_t>(128, "elements", [&](auto out) { erasable->Erase(keys, out); });
  }
  for (const unsigned threads : {1, 2}) {
    const Engine engine = PinnedEngine(Backends().front(), threads, true);
    ExpectSmallOutputsRefused(ByEngine{engine, *filter}, keys);
    ExpectTooSmall<uint64_t>(
        128, "elements", [&](auto out) { engine.Insert(RequireChangeable(*filter), keys, out); });
    if (erasable == nullptr) continue;
    ExpectTooSmall<uint64_t>(128, "elements",
                             [&](auto out) { engine.Erase(*erasable, keys, out); });
  }
  EXPECT_EQ(Contents(*filter), before);
}

INSTANTIATE_TEST_SUITE_P(Kinds, BulkContractTest, testing::ValuesIn(Subjects()), SubjectName());

}  // namespace tamis::contract_bulk_test
