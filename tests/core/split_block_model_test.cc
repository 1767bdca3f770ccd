// Random sequences of everything that can be done to a filter, beside a set of what is in it: after
// each step the filter has, bit for bit, what the specification says for that set.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tamis/split_block_filter.h"
#include "tests/core/reference_filter.h"
#include "tests/test_util.h"

namespace tamis {
namespace {

// The keys that were inserted, by kind, and how often anything was.
struct Model {
  std::set<uint64_t> integers;
  std::set<std::string> strings;
  std::set<uint64_t> hashes;
  uint64_t inserted = 0;

  void Merge(const Model& other) {
    integers.insert(other.integers.begin(), other.integers.end());
    strings.insert(other.strings.begin(), other.strings.end());
    hashes.insert(other.hashes.begin(), other.hashes.end());
    inserted += other.inserted;
  }

  ReferenceFilter Build(uint64_t num_blocks, const HashSpec& spec) const {
    ReferenceFilter filter(num_blocks);
    for (const uint64_t key : integers) filter.Insert(ReferenceHash(key, spec));
    for (const std::string& s : strings) filter.Insert(ReferenceHash(std::string_view(s), spec));
    for (const uint64_t hash : hashes) filter.Insert(hash);
    return filter;
  }
};

class SplitBlockModelTest : public BackendTest {
 protected:
  SplitBlockBloomFilter MakeFilter(uint64_t blocks, const HashSpec& hash) const {
    return SplitBlockBloomFilter(
        {.capacity = 10, .bytes = 32 * blocks, .hash = hash, .backend = &backend()});
  }

  // Inserts at random, into both.
  void InsertSome(Random& random, SplitBlockBloomFilter& filter, Model& model) const {
    const size_t n = random.Below(200);
    const std::vector<uint64_t> numbers = RandomKeys(n, random());
    switch (random.Below(5)) {
      case 0:
        EXPECT_TRUE(filter.Insert(numbers.size()));
        model.integers.insert(numbers.size());
        ++model.inserted;
        break;
      case 1:
        EXPECT_EQ(filter.Insert(numbers), n);
        model.integers.insert(numbers.begin(), numbers.end());
        model.inserted += n;
        break;
      case 2: {
        const std::string s = RandomStrings(1, random()).front();
        EXPECT_TRUE(filter.Insert(s));
        model.strings.insert(s);
        ++model.inserted;
        break;
      }
      case 3: {
        const std::vector<std::string> strings = RandomStrings(n, random());
        EXPECT_EQ(filter.Insert(std::vector<std::string_view>(strings.begin(), strings.end())), n);
        model.strings.insert(strings.begin(), strings.end());
        model.inserted += n;
        break;
      }
      case 4:
        EXPECT_EQ(filter.Insert(Hashes{numbers}), n);
        model.hashes.insert(numbers.begin(), numbers.end());
        model.inserted += n;
        break;
    }
  }

  void Expect(const SplitBlockBloomFilter& filter, const Model& model) const {
    const ReferenceFilter want = model.Build(filter.num_blocks(), filter.hash());
    ASSERT_EQ(Payload(filter), want.Bytes());
    ASSERT_EQ(filter.inserted_count(), model.inserted);
    const std::vector<uint64_t> integers(model.integers.begin(), model.integers.end());
    ASSERT_EQ(filter.Count(integers), integers.size()) << "false negatives";
    const std::vector<std::string_view> strings(model.strings.begin(), model.strings.end());
    ASSERT_EQ(filter.Count(strings), strings.size()) << "false negatives";
    const std::vector<uint64_t> hashes(model.hashes.begin(), model.hashes.end());
    ASSERT_EQ(filter.Count(Hashes{hashes}), hashes.size()) << "false negatives";
    const std::vector<uint64_t> others = RandomKeys(200, model.inserted);
    size_t positives = 0;
    for (const uint64_t key : others) positives += want.Contains(ReferenceHash(key, filter.hash()));
    ASSERT_EQ(filter.Count(others), positives);
  }
};

TEST_P(SplitBlockModelTest, RandomSequences) {
  for (uint64_t round = 0; round < 25; ++round) {
    Random random(round);
    const HashSpec spec{kHashKinds[random.Below(2)], random()};
    SplitBlockBloomFilter filter = MakeFilter(8 * (1 + random.Below(10)), spec);
    Model model;
    for (int step = 0; step < 25; ++step) {
      switch (random.Below(10)) {
        default:
          InsertSome(random, filter, model);
          break;
        case 6: {
          SplitBlockBloomFilter other = MakeFilter(filter.num_blocks(), spec);
          Model other_model;
          InsertSome(random, other, other_model);
          filter.Merge(other);
          Expect(other, other_model);  // the source stays as it was
          model.Merge(other_model);
          break;
        }
        case 7:
          if (random.Below(3) == 0) {
            filter.Clear();
            model = {};
          }
          break;
        case 8:
          if (filter.num_blocks() % 2 == 0) {
            SplitBlockBloomFilter half = filter.Folded();
            EXPECT_EQ(half.num_blocks(), filter.num_blocks() / 2);
            Expect(filter, model);
            filter = std::move(half);
          }
          break;
        case 9: {
          SplitBlockBloomFilter copy = filter.Clone();
          Model copy_model = model;
          InsertSome(random, filter, model);  // changes one of the two
          Expect(copy, copy_model);
          if (random.Below(2) == 0) {
            filter = std::move(copy);
            model = copy_model;
          }
          break;
        }
      }
      Expect(filter, model);
      if (HasFatalFailure()) FAIL() << "round " << round << ", step " << step;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, SplitBlockModelTest,
                         testing::ValuesIn(Backends().begin(), Backends().end()), BackendName());

}  // namespace
}  // namespace tamis
