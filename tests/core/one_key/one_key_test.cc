// A program whose files are compiled for different processors. In each file, functions for one key
// give the same answers as bulk functions. No file runs code of another file, in any order of
// linking.
#include <gtest/gtest.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tamis/backends.h"
#include "tamis/filters/filter_kinds.h"
#include "tamis/hash_kinds.h"
#include "tamis/tamis.h"
#include "tests/core/one_key/unit.h"
#include "tests/test_util.h"

namespace tamis::one_key::one_key_test {

struct NamedUnit {
  const char* name;
  const Unit* unit;
  bool runs_here;
};

void PrintTo(const NamedUnit& unit, std::ostream* out) { *out << unit.name; }

#if defined(__x86_64__)
// Returns whether the processor has a feature, by its bit in EBX of leaf 7 of CPUID.
// __builtin_cpu_supports is always false with the C library of zig.
bool Has(unsigned feature) {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ebx & feature) != 0;
}
#endif

// Not a constant: the processor must be known to run a unit before its pointers are read.
std::vector<NamedUnit> Units() {
  std::vector<NamedUnit> units = {{"plain", &kPlain, true}};
#if defined(__x86_64__)
  const bool haswell = Has(bit_AVX2) && Has(bit_BMI2);
  units.push_back({"avx2", &kAvx2, Has(bit_AVX2)});
  units.push_back({"haswell", &kHaswell, haswell});
  units.push_back({"avx512", &kAvx512,
                   haswell && Has(bit_AVX512VL) && Has(bit_AVX512BW) && Has(bit_AVX512DQ) &&
                       Has(bit_AVX512CD)});
#if !defined(_MSC_VER)
  units.push_back({"intel", &kIntel, haswell});
#endif
#endif
  return units;
}

std::vector<std::byte> Copy(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

class OneKeyTest : public testing::TestWithParam<NamedUnit> {
 protected:
  void SetUp() override {
    if (!GetParam().runs_here) GTEST_SKIP() << "not on this processor";
  }

  const Unit& unit() const { return *GetParam().unit; }

  // With the functions of the unit, inserts every third key into `changed`, which is empty, and
  // queries all keys in `asked`, which is the same filter as `changed`.
  template <typename Asked, typename Changed>
  void ExpectBulk(const Calls<Asked, Changed>& calls, const Asked& asked, Changed& changed,
                  std::span<const std::byte> blocks, const FilterOptions& options) const {
    SplitBlockBloomFilter bulk{options};
    std::vector<uint64_t> some;
    std::vector<std::string_view> some_strings;
    for (size_t i = 0; i < keys_.size(); i += 3) {
      some.push_back(keys_[i]);
      some_strings.push_back(strings_[i]);
      calls.insert(changed, keys_[i]);
      calls.insert_string(changed, strings_[i]);
      calls.insert_hash(changed, ~keys_[i]);
    }
    bulk.Insert(some);
    bulk.Insert(some_strings);
    for (uint64_t& key : some) key = ~key;
    bulk.Insert(Hashes{some});
    ASSERT_EQ(Copy(blocks), Copy(bulk.payload()));

    const std::vector<std::string_view> strings(strings_.begin(), strings_.end());
    std::vector<uint8_t> want(keys_.size()), want_strings(keys_.size()), want_hashes(keys_.size());
    bulk.Contains(keys_, want);
    bulk.Contains(strings, want_strings);
    bulk.Contains(Hashes{keys_}, want_hashes);
    for (size_t i = 0; i < keys_.size(); ++i) {
      ASSERT_EQ(calls.contains(asked, keys_[i]), want[i]);
      ASSERT_EQ(calls.contains_string(asked, strings_[i]), want_strings[i]);
      ASSERT_EQ(calls.contains_hash(asked, keys_[i]), want_hashes[i]);
    }
  }

  const std::vector<uint64_t> keys_ = RandomKeys(999, /*seed=*/1);
  const std::vector<std::string> strings_ = RandomStrings(999, /*seed=*/2);
};

TEST_P(OneKeyTest, EqualsBulk) {
  for (const Backend& backend : Backends()) {
    for (const HashKind kind : kHashKinds) {
      for (const size_t blocks : {1, 3, 100}) {
        SCOPED_TRACE(std::string(backend.name) + ", " + std::to_string(blocks) + " blocks");
        const FilterOptions options{
            .bytes = 32 * blocks, .hash = HashOf(kind, 7), .backend = &backend};
        SplitBlockBloomFilter filter{options};
        ExpectBulk(unit().filter, filter, filter, filter.payload(), options);
        for (const size_t slack : {0, 1}) {
          const GuardedArray<uint32_t> words(8 * blocks, slack);
          const std::span<std::byte> memory = std::as_writable_bytes(words.span());
          const SplitBlockView view = unit().make_view(memory, options.hash, backend);
          ExpectBulk<ConstSplitBlockView>(unit().view, view, view, memory, options);
          EXPECT_TRUE(words.Intact());
        }
      }
    }
  }
}

// Also for numbers of blocks that no test can allocate.
TEST_P(OneKeyTest, BlockIndexEqualsTheDefinition) {
  for (const uint64_t limit : {uint64_t{1}, split_block::kMaxBlocks32, split_block::kMaxBlocks}) {
    for (uint64_t blocks = limit - std::min<uint64_t>(limit - 1, 2);
         blocks <= std::min(limit + 2, split_block::kMaxBlocks); ++blocks) {
      const bool wide = blocks > split_block::kMaxBlocks32;
      for (const uint64_t hash : keys_) {
        ASSERT_EQ(unit().block_index(hash, blocks), wide ? split_block::BlockIndex64(hash, blocks)
                                                         : split_block::BlockIndex32(hash, blocks));
      }
    }
  }
}

TEST_P(OneKeyTest, RecordsKeysAndTheirTypes) {
  SplitBlockBloomFilter filter({.bytes = 3200});
  KeyTypes types;
  for (size_t i = 0; i < 9; i += 3) {
    unit().filter.insert(filter, keys_[i]);
    types.Add(KeyType::kInteger);
    EXPECT_EQ(filter.key_types(), types);
    if (i < 3) continue;
    unit().filter.insert_string(filter, strings_[i]);
    types.Add(KeyType::kBytes);
    EXPECT_EQ(filter.key_types(), types);
  }
  EXPECT_EQ(filter.inserted_count(), 5u);
  SplitBlockBloomFilter moved(std::move(filter));
  unit().filter.insert(filter, keys_[0]);  // read-only
  EXPECT_EQ(filter.inserted_count(), 0u);
  EXPECT_EQ(filter.key_types(), KeyTypes());
  filter = std::move(moved);
  EXPECT_EQ(filter.inserted_count(), 5u);
}

TEST_P(OneKeyTest, PointersToFunctionsAreToTheUnitsOwn) {
  SplitBlockBloomFilter filter({.bytes = 3200});
  const SplitBlockView view = filter.mutable_view();
  for (const uint64_t key : keys_) (view.*unit().insert_hash)(unit().hash(key, {}));
  EXPECT_EQ(filter.Count(keys_), keys_.size());
  EXPECT_EQ(filter.inserted_count(), keys_.size());
  const std::vector<uint64_t> others = RandomKeys(999, /*seed=*/3);
  std::vector<uint8_t> want(others.size());
  filter.Contains(Hashes{others}, want);
  for (size_t i = 0; i < others.size(); ++i) {
    ASSERT_EQ((view.*unit().contains_hash)(others[i]), want[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Units, OneKeyTest, testing::ValuesIn(Units()),
                         [](const auto& test) { return std::string(test.param.name); });

// The library also has kernels for a processor without AVX2, and uses no others there.
TEST(LibraryTest, RunsOnThisProcessor) {
#if defined(__x86_64__)
  EXPECT_EQ(
      std::ranges::any_of(Backends(), [](const Backend& b) { return b.name.starts_with("AVX2"); }),
      TAMIS_HAVE_SIMD && Has(bit_AVX2));
#endif
  const std::vector<uint64_t> keys = RandomKeys(10'000, /*seed=*/4);
  const std::vector<std::string> owners = RandomStrings(100, /*seed=*/5);
  const std::vector<std::string_view> strings(owners.begin(), owners.end());
  Engine engine;
  for (const FilterKindInfo& info : FilterKinds()) {
    if (!info.is_plain()) continue;  // its layers are of the other kinds
    for (const Backend& backend : Backends()) {
      const FilterOptions options{.capacity = 20'000, .backend = &backend};
      const AnyFilter filter = MakeFilter(info.kind, options);
      EXPECT_EQ(RequireChangeable(*filter).Insert(keys), keys.size());
      EXPECT_EQ(engine.Insert(RequireChangeable(*filter), strings), strings.size());
      EXPECT_EQ(filter->Count(keys), keys.size());
      EXPECT_EQ(engine.Count(*filter, strings), strings.size());
      EXPECT_LT(filter->Count(RandomKeys(10'000, /*seed=*/6)), 1000u);
      EXPECT_GT(filter->estimated_count(), 0);
    }
  }
}

}  // namespace tamis::one_key::one_key_test
