// Random sequences of all operations on a filter, beside a slow model of the same kind that was
// written from the specification. After each step both have the same bits. For cuckoo filters,
// which have more to compare than bits, the model is in cuckoo_filter_model_test.cc.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tamis/backends.h"
#include "tamis/filters/bloom_filter.h"
#include "tamis/filters/counting_filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/hash_kinds.h"
#include "tests/core/reference_bloom.h"
#include "tests/core/reference_counters.h"
#include "tests/core/reference_filter.h"
#include "tests/test_util.h"

namespace tamis::contract_model_test {

ReferenceFilter EmptyReference(const SplitBlockBloomFilter& filter) {
  return ReferenceFilter(filter.num_blocks());
}
ReferenceBloom EmptyReference(const BloomFilter& filter) {
  return {filter.num_bits(), filter.num_hashes()};
}
ReferenceCounters EmptyReference(const CountingBloomFilter& filter) {
  return ReferenceCounters(filter.num_blocks());
}

// The expected state of a filter after the operations on it.
template <typename F>
struct Model {
  static constexpr bool kErases = std::is_base_of_v<ErasableFilter, F>;

  explicit Model(const F& filter) : reference(EmptyReference(filter)) {}

  void Insert(uint64_t hash) {
    reference.Insert(hash);
    hashes.push_back(hash);
    ++inserted;
  }
  void Merge(const Model& other) {
    if constexpr (kErases) {
      reference.Merge(other.reference);
    } else {
      for (const uint64_t hash : other.hashes) reference.Insert(hash);
    }
    hashes.insert(hashes.end(), other.hashes.begin(), other.hashes.end());
    inserted += other.inserted;
  }

  decltype(EmptyReference(std::declval<F>())) reference;
  std::vector<uint64_t> hashes;  // every hash ever inserted
  uint64_t inserted = 0;
};

template <typename F>
class ModelContractTest : public testing::Test {
 protected:
  using Beside = Model<F>;

  // Returns keys, some of which repeat.
  std::vector<uint64_t> Draw(size_t n) {
    std::vector<uint64_t> keys = RandomKeys(n, random_());
    for (uint64_t& key : keys) {
      if (random_.Below(2) == 0) key = random_.Below(150);
    }
    return keys;
  }

  void InsertSome(F& filter, Beside& model) {
    const std::vector<uint64_t> numbers = Draw(random_.Below(200));
    const std::vector<std::string> strings = RandomStrings(1 + random_.Below(100), random_());
    const HashSpec& spec = filter.hash();
    switch (random_.Below(5)) {
      case 0:
        EXPECT_TRUE(filter.Insert(numbers.size()));
        model.Insert(ReferenceHash(numbers.size(), spec));
        break;
      case 1:
        EXPECT_EQ(filter.Insert(numbers), numbers.size());
        for (const uint64_t key : numbers) model.Insert(ReferenceHash(key, spec));
        break;
      case 2:
        EXPECT_TRUE(filter.Insert(strings[0]));
        model.Insert(ReferenceHash(std::string_view(strings[0]), spec));
        break;
      case 3:
        EXPECT_EQ(filter.Insert(std::vector<std::string_view>(strings.begin(), strings.end())),
                  strings.size());
        for (const std::string_view s : strings) model.Insert(ReferenceHash(s, spec));
        break;
      case 4:
        EXPECT_EQ(filter.Insert(Hashes{numbers}), numbers.size());
        for (const uint64_t hash : numbers) model.Insert(hash);
        break;
    }
  }

  // Erases present and absent keys, one by one or in bulk.
  void EraseSome(F& filter, Beside& model) {
    if constexpr (Beside::kErases) {
      const std::vector<uint64_t> keys = Draw(random_.Below(300));
      size_t want = 0, got = 0;
      for (const uint64_t key : keys) {
        want += model.reference.Erase(ReferenceHash(key, filter.hash()));
      }
      if (random_.Below(2) == 0) {
        got = filter.Erase(keys);
      } else {
        for (const uint64_t key : keys) got += filter.Erase(key);
      }
      EXPECT_EQ(got, want);
      model.inserted -= want;
    }
  }

  void Expect(const F& filter, const Beside& model) const {
    ASSERT_EQ(Payload(filter), model.reference.Bytes());
    ASSERT_EQ(filter.inserted_count(), model.inserted);
    if constexpr (Beside::kErases) {
      ASSERT_EQ(filter.saturated(), model.reference.Saturated());
    } else {
      ASSERT_EQ(filter.Count(Hashes{model.hashes}), model.hashes.size()) << "false negatives";
    }
    std::vector<uint64_t> probes = RandomKeys(400, model.inserted);
    for (uint64_t key = 0; key < 150; ++key) probes.push_back(key);
    size_t positives = 0, wrong = 0;
    for (const uint64_t key : probes) {
      const bool maybe = model.reference.Contains(ReferenceHash(key, filter.hash()));
      wrong += filter.Contains(key) != maybe;
      positives += maybe;
    }
    ASSERT_EQ(wrong, 0u);
    ASSERT_EQ(filter.Count(probes), positives);
  }

  Random random_{0};
};
using Modelled = testing::Types<SplitBlockBloomFilter, BloomFilter, CountingBloomFilter>;
TYPED_TEST_SUITE(ModelContractTest, Modelled);

TYPED_TEST(ModelContractTest, RandomSequences) {
  for (uint64_t round = 0; round < 15 * Backends().size(); ++round) {
    this->random_ = Random(round);
    Random& random = this->random_;
    const FilterOptions options{.capacity = 1 + random.Below(2000),
                                .bytes = 64 * (1 + random.Below(round % 3 == 0 ? 3 : 60)),
                                .hash = HashOf(kHashKinds[random.Below(4)], random()),
                                .backend = &Backends()[round % Backends().size()]};
    TypeParam filter(options);
    typename TestFixture::Beside model(filter);
    for (int step = 0; step < 25; ++step) {
      switch (random.Below(10)) {
        default:
          this->InsertSome(filter, model);
          break;
        case 5:
          this->EraseSome(filter, model);
          break;
        case 6: {
          FilterOptions same = options;
          same.bytes = filter.bytes();
          TypeParam other(same);
          typename TestFixture::Beside other_model(other);
          this->InsertSome(other, other_model);
          filter.Merge(other);
          this->Expect(other, other_model);  // the source stays as it was
          model.Merge(other_model);
          break;
        }
        case 7:
          if (random.Below(3) != 0) break;
          filter.Clear();
          model = Model<TypeParam>(filter);
          break;
        case 8:
          if constexpr (requires { filter.Folded(); }) {
            if (filter.num_blocks() % 2 != 0) break;
            TypeParam half = filter.Folded();
            EXPECT_EQ(half.num_blocks(), filter.num_blocks() / 2);
            this->Expect(filter, model);
            filter = std::move(half);
            const std::vector<uint64_t> hashes = model.hashes;
            model = Model<TypeParam>(filter);
            for (const uint64_t hash : hashes) model.Insert(hash);
          }
          break;
        case 9: {
          TypeParam copy = filter.Clone();
          typename TestFixture::Beside copy_model = model;
          this->InsertSome(filter, model);  // changes one of the two
          this->Expect(copy, copy_model);
          if (random.Below(2) == 0) break;
          filter = std::move(copy);
          model = std::move(copy_model);
          break;
        }
      }
      this->Expect(filter, model);
      if (this->HasFailure()) FAIL() << "round " << round << ", step " << step;
    }
  }
}

}  // namespace tamis::contract_model_test
