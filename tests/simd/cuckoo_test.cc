// The cuckoo kernels of every backend give the same answers and the same tables as the portable
// kernels.
#include "tamis/layout/cuckoo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "tamis/backends.h"
#include "tamis/detail/kernels.h"
#include "tamis/keys.h"
#include "tests/os/test_os.h"
#include "tests/simd/kernel_test_util.h"
#include "tests/test_util.h"

namespace tamis::cuckoo_test {

using cuckoo::Geometry;

// Kernels prefetch these tables in different ways: not at all, beyond 1.25 MiB, beyond 64 MiB.
std::vector<Geometry> Geometries(int bits) {
  const uint32_t most = bits == 8 ? 65536 : 32768;
  return {{1, 2}, {1, 100}, {3, 2}, {7, 1002}, {6, most}, {260, most}};
}

template <int kBits>
class Table : public GuardedArray<cuckoo::Word<kBits>> {
 public:
  using Word = cuckoo::Word<kBits>;

  explicit Table(const Geometry& geometry, size_t slack = 0)
      : GuardedArray<Word>(geometry.buckets(), slack) {}

  // Fills three of four slots with values that keys have, so that many probes are hits.
  void Randomize(uint64_t seed) {
    Random random(seed);
    for (Word& word : this->span()) {
      uint64_t slots = 0;
      for (int s = 0; s < cuckoo::Bucket<kBits>::kSlots; ++s) {
        if (random.Below(4) == 0) continue;
        slots |= uint64_t{cuckoo::Fingerprint<kBits>(random())} << (kBits * s);
      }
      word = static_cast<Word>(slots);
    }
  }

  // Writes the fingerprint of each hash into one of its buckets, over the old contents.
  void Plant(const std::vector<uint64_t>& hashes, const Geometry& geometry, uint64_t seed) {
    Random random(seed);
    for (const uint64_t hash : hashes) {
      const cuckoo::Place place = cuckoo::Locate<kBits>(hash, geometry);
      const uint32_t bucket =
          random.Below(2) == 0
              ? place.bucket
              : cuckoo::AlternateBucket(place.bucket, place.fingerprint, geometry.chunk_buckets);
      const auto shift = kBits * random.Below(cuckoo::Bucket<kBits>::kSlots);
      Word& word = this->data()[uint64_t{place.chunk} * geometry.chunk_buckets + bucket];
      word = (word & ~(cuckoo::kSlotMask<kBits> << shift)) | Word{place.fingerprint} << shift;
    }
  }

  bool operator==(const Table& other) const {
    return this->size() == other.size() &&
           std::memcmp(this->data(), other.data(), sizeof(Word) * this->size()) == 0;
  }
};

template <int kBits>
class CuckooKernelTester {
 public:
  CuckooKernelTester(const detail::Kernels& tested, const detail::Kernels& portable)
      : tested_(tested.cuckoo<kBits>()),
        oracle_(portable.cuckoo<kBits>()),
        popcount_(portable.popcount) {}

  void Contains() const {
    for (const Geometry& geometry : Geometries(kBits)) {
      Table<kBits> table(geometry);
      table.Randomize(/*seed=*/geometry.buckets());
      size_t hits = 0, misses = 0;
      for (const BatchSpec& spec : kBatchSpecs) {
        for (const size_t n : TestSizes()) {
          const GuardedArray<uint64_t> values(RandomValues(n, /*seed=*/n + geometry.chunks), n % 2);
          const detail::Batch batch = spec.Make(values.data(), n);
          std::vector<uint64_t> some;
          for (size_t i = 0; i < n; i += 3) some.push_back(batch.hasher(values.data()[i]));
          table.Plant(some, geometry, /*seed=*/n);
          const size_t num_words = BitmapWords(n);
          std::vector<uint64_t> want(num_words);
          oracle_.contains(table.data(), geometry, batch, want.data());
          for (const size_t slack : {8, 9}) {
            const auto got = GuardedArray<uint64_t>::Output(num_words, slack);
            tested_.contains(table.data(), geometry, batch, got.data());
            ASSERT_EQ(got.vector(), want) << Name(geometry) << spec << ", n = " << n;
            ASSERT_TRUE(got.Intact()) << Name(geometry) << spec << ", n = " << n;
          }
          ContainsChanging(table, geometry, batch, want);
          if (n % 64 != 0) {
            ASSERT_EQ(want.back() >> (n % 64), 0u) << "n = " << n;
          }
          const uint64_t ones = popcount_(want.data(), num_words);
          hits += ones;
          misses += n - ones;
        }
      }
      EXPECT_GT(hits, 1000u) << Name(geometry);
      EXPECT_GT(misses, 1000u) << Name(geometry);
      EXPECT_TRUE(table.Intact());
    }
  }

  // Compares the answers with `want`, and the places with those of `locate`.
  void ContainsChanging(const Table<kBits>& table, const Geometry& geometry,
                        const detail::Batch& batch, const std::vector<uint64_t>& want) const {
    std::vector<uint64_t> places(batch.n);
    oracle_.locate(geometry, batch, places.data());
    const auto got = GuardedArray<uint64_t>::Output(want.size(), /*slack=*/8);
    const auto got_places = GuardedArray<uint64_t>::Output(batch.n, /*slack=*/8);
    tested_.contains_changing(table.data(), geometry, batch, got.data(), got_places.data());
    ASSERT_EQ(got.vector(), want) << Name(geometry) << ", n = " << batch.n;
    ASSERT_EQ(got_places.vector(), places) << Name(geometry) << ", n = " << batch.n;
    ASSERT_TRUE(got.Intact() && got_places.Intact()) << Name(geometry) << ", n = " << batch.n;
  }

  // Tests one match at a time, in each slot of either bucket. All other slots nearly match.
  void EverySlotCounts() const {
    constexpr Geometry kGeometry{2, 10};
    for (const uint64_t hash : RandomKeys(20, /*seed=*/1)) {
      const cuckoo::Place place = cuckoo::Locate<kBits>(hash, kGeometry);
      const uint32_t partner =
          cuckoo::AlternateBucket(place.bucket, place.fingerprint, kGeometry.chunk_buckets);
      const std::vector<uint64_t> hashes(128, hash);
      const auto found = [&](const Table<kBits>& table) {
        uint64_t bits[2];
        tested_.contains(table.data(), kGeometry, detail::HashBatch(hashes.data(), 128), bits);
        EXPECT_TRUE(bits[0] == bits[1] && (bits[0] == 0 || ~bits[0] == 0));
        return bits[0] != 0;
      };
      for (int flip = 0; flip < kBits; ++flip) {
        Table<kBits> table(kGeometry);
        const uint32_t near = place.fingerprint ^ 1u << flip;
        for (auto& word : table.span()) word = cuckoo::Broadcast<kBits>(near);
        ASSERT_FALSE(found(table)) << flip;
        for (const uint32_t bucket : {place.bucket, partner}) {
          auto& word = table.data()[place.chunk * kGeometry.chunk_buckets + bucket];
          for (int s = 0; s < cuckoo::Bucket<kBits>::kSlots; ++s) {
            const auto bit = cuckoo::Word<kBits>{1} << (kBits * s + flip);
            word ^= bit;
            ASSERT_TRUE(found(table)) << "slot " << s;
            word ^= bit;
          }
        }
      }
    }
  }

  void Locate() const {
    std::vector<Geometry> geometries = Geometries(kBits);
    geometries.push_back({cuckoo::kMaxChunks, cuckoo::kMaxChunkBuckets<kBits>});
    geometries.push_back({cuckoo::kMaxChunks - 1, 2});
    geometries.push_back({65537, cuckoo::kMaxChunkBuckets<kBits> - 2});
    for (const Geometry& geometry : geometries) {
      for (const BatchSpec& spec : kBatchSpecs) {
        for (const size_t n : TestSizes()) {
          const GuardedArray<uint64_t> values(RandomValues(n, /*seed=*/n), n % 2);
          const detail::Batch batch = spec.Make(values.data(), n);
          std::vector<uint64_t> want(n);
          oracle_.locate(geometry, batch, want.data());
          for (const size_t slack : {8, 9}) {
            const auto got = GuardedArray<uint64_t>::Output(n, slack);
            tested_.locate(geometry, batch, got.data());
            ASSERT_EQ(got.vector(), want) << Name(geometry) << spec << ", n = " << n;
            ASSERT_TRUE(got.Intact()) << Name(geometry) << spec << ", n = " << n;
          }
        }
      }
    }
  }

  // Alternates with erasing, except for the last sizes, so that tables get full.
  void ChangeTables(Change insert, bool one_chunk) const {
    for (const Geometry& geometry : {Geometry{1, 2}, {1, 30}, {3, 10}, {5, 1000}}) {
      Table<kBits> want(geometry), got(geometry);
      size_t done = 0, total = 0;
      for (const size_t n : TestSizes()) {
        if (n > 200 && n > 20 * geometry.buckets()) continue;  // failures take long
        const Change change = n % 3 == 0 && n <= 300 ? Change::kErase : insert;
        const std::vector<uint64_t> hashes = RandomValues(n, /*seed=*/n / 3);
        std::vector<uint64_t> want_places(n);
        oracle_.locate(geometry, detail::HashBatch(hashes.data(), n), want_places.data());
        const GuardedArray<uint64_t> places(want_places, 8 + n % 2);
        const auto oracle = one_chunk ? oracle_.change_chunk : oracle_.change_table;
        const auto tested = one_chunk ? tested_.change_chunk : tested_.change_table;
        const size_t want_done =
            oracle(change, want.data(), geometry.chunk_buckets, want_places.data(), n);
        ASSERT_EQ(tested(change, got.data(), geometry.chunk_buckets, places.data(), n), want_done);
        ASSERT_EQ(places.vector(), want_places) << Name(geometry) << "n = " << n;
        ASSERT_TRUE(places.Intact());
        ASSERT_TRUE(got == want) << Name(geometry) << "n = " << n;
        const auto failed = static_cast<size_t>(
            std::count_if(want_places.begin(), want_places.end(),
                          [](uint64_t place) { return cuckoo::Unpack(place).fingerprint == 0; }));
        ASSERT_EQ(failed, n - want_done);
        done += want_done;
        total += n;
      }
      EXPECT_TRUE(got.Intact());
      EXPECT_GT(done, 0u);
      EXPECT_LT(done, total);
    }
  }

  // A table of more than 4 GiB. Only the written pages take memory.
  void OffsetsBeyond4GiB() const {
    constexpr Geometry kGeometry{40'000, cuckoo::kMaxChunkBuckets<kBits>};  // 9.8 GiB
    const size_t bytes = kGeometry.buckets() * sizeof(cuckoo::Word<kBits>);
    const test_os::SparseMemory memory(bytes);
    if (memory.empty()) GTEST_SKIP() << "no 10 GiB of address space";
    void* const map = memory.begin();
    const std::vector<uint64_t> hashes = RandomKeys(300, /*seed=*/4);
    std::vector<uint64_t> places(300);
    tested_.locate(kGeometry, detail::HashBatch(hashes.data(), 300), places.data());
    uint32_t highest = 0;
    for (const uint64_t place : places) highest = std::max(highest, cuckoo::Unpack(place).chunk);
    EXPECT_GT(highest, 39'000u);
    EXPECT_EQ(
        tested_.change_table(Change::kInsert, map, kGeometry.chunk_buckets, places.data(), 200),
        200u);
    // Each fingerprint is in the first slot of its first bucket, at the computed address.
    const auto* const words = static_cast<const cuckoo::Word<kBits>*>(map);
    for (size_t i = 0; i < 300; ++i) {
      const cuckoo::Place place = cuckoo::Locate<kBits>(hashes[i], kGeometry);
      const uint64_t bucket = uint64_t{place.chunk} * kGeometry.chunk_buckets + place.bucket;
      EXPECT_EQ(words[bucket], i < 200 ? place.fingerprint : 0) << i;
    }
    std::vector<uint64_t> bits(BitmapWords(300));
    tested_.contains(map, kGeometry, detail::HashBatch(hashes.data(), 300), bits.data());
    for (size_t i = 0; i < 300; ++i) EXPECT_EQ(bits[i / 64] >> (i % 64) & 1, i < 200) << i;
    EXPECT_EQ(
        tested_.change_table(Change::kErase, map, kGeometry.chunk_buckets, places.data(), 300),
        200u);
  }

 private:
  static std::string Name(const Geometry& geometry) {
    return std::to_string(kBits) + " bits, " + std::to_string(geometry.chunks) + " chunks of " +
           std::to_string(geometry.chunk_buckets) + ", ";
  }

  const detail::CuckooKernels& tested_;
  const detail::CuckooKernels& oracle_;
  uint64_t (*const popcount_)(const uint64_t*, size_t);
};

class CuckooKernelTest : public testing::TestWithParam<std::tuple<Backend, int>> {
 protected:
  // Calls test(tester) for the fingerprint width of the test parameter.
  template <typename Test>
  void Run(const Test& test) const {
    const detail::Kernels& tested = *std::get<0>(GetParam()).kernels;
    const detail::Kernels& portable = *FindBackend("portable").kernels;
    const int bits = std::get<1>(GetParam());
    if (bits == 8) test(CuckooKernelTester<8>(tested, portable));
    if (bits == 12) test(CuckooKernelTester<12>(tested, portable));
    if (bits == 16) test(CuckooKernelTester<16>(tested, portable));
  }
};

TEST_P(CuckooKernelTest, ContainsEqualsPortable) {
  Run([](const auto& tester) { tester.Contains(); });
}
TEST_P(CuckooKernelTest, EverySlotCounts) {
  Run([](const auto& tester) { tester.EverySlotCounts(); });
}
TEST_P(CuckooKernelTest, LocateEqualsPortable) {
  Run([](const auto& tester) { tester.Locate(); });
}
TEST_P(CuckooKernelTest, ChangesOfAChunkEqualPortable) {
  Run([](const auto& tester) {
    tester.ChangeTables(Change::kInsert, /*one_chunk=*/true);
    tester.ChangeTables(Change::kInsertIfAbsent, /*one_chunk=*/true);
  });
}
TEST_P(CuckooKernelTest, ChangesOfATableEqualPortable) {
  Run([](const auto& tester) {
    tester.ChangeTables(Change::kInsert, /*one_chunk=*/false);
    tester.ChangeTables(Change::kInsertIfAbsent, /*one_chunk=*/false);
  });
}
TEST_P(CuckooKernelTest, OffsetsBeyond4GiBAreNotCutOff) {
  Run([](const auto& tester) { tester.OffsetsBeyond4GiB(); });
}

INSTANTIATE_TEST_SUITE_P(Backends, CuckooKernelTest,
                         testing::Combine(testing::ValuesIn(Backends().begin(), Backends().end()),
                                          testing::Values(8, 12, 16)),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param).name) + "_" +
                                  std::to_string(std::get<1>(test.param));
                         });

}  // namespace tamis::cuckoo_test
