// Bulk changes of cuckoo filters: on every route, the table and the answers are the same as for one
// key after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/src/bulk/batches.h"
#include "core/src/filters/kinds/cuckoo/cuckoo_writer.h"
#include "tamis/backends.h"
#include "tamis/engine/engine.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tests/core/contract.h"
#include "tests/core/cuckoo_test_util.h"
#include "tests/test_util.h"

namespace tamis::cuckoo_bulk_test {

// The number of changed keys, the indices of the unchanged keys, and the resulting table.
struct Outcome {
  uint64_t done = 0;
  std::vector<uint64_t> others;
  std::vector<std::byte> payload;
  uint64_t size = 0;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  return out << outcome.done << " done, " << outcome.others.size() << " others, size "
             << outcome.size << ", payload of hash "
             << XXH3_64bits(outcome.payload.data(), outcome.payload.size());
}

template <typename Filter>
void Conclude(const Filter& filter, Outcome& outcome) {
  outcome.payload = Payload(filter);
  outcome.size = filter.size();
}

template <typename Filter>
Outcome OneByOne(Change change, Filter filter, const std::vector<uint64_t>& hashes) {
  Outcome outcome;
  for (size_t i = 0; i < hashes.size(); ++i) {
    const bool done =
        change == Change::kInsert ? filter.InsertHash(hashes[i]) : filter.EraseHash(hashes[i]);
    if (done) {
      ++outcome.done;
    } else {
      outcome.others.push_back(i);
    }
  }
  Conclude(filter, outcome);
  return outcome;
}

// Changes by the function of the filter.
template <typename Filter>
Outcome InBulk(Change change, Filter filter, const Keys& keys) {
  Outcome outcome;
  outcome.others.resize(keys.size());
  const std::span out(outcome.others);
  outcome.done = change == Change::kInsert ? filter.Insert(keys, out) : filter.Erase(keys, out);
  outcome.others.resize(keys.size() - outcome.done);
  Conclude(filter, outcome);
  return outcome;
}

template <typename Filter>
Outcome ByEngine(Change change, Filter filter, const Keys& keys, const Engine& engine) {
  Outcome outcome;
  outcome.others.resize(keys.size());
  const std::span out(outcome.others);
  outcome.done = change == Change::kInsert ? engine.Insert(filter, keys, out)
                                           : engine.Erase(filter, keys, out);
  outcome.others.resize(keys.size() - outcome.done);
  Conclude(filter, outcome);
  return outcome;
}

// Changes by a writer for `expected_keys`. The writer works in rounds of hardly more keys. Each
// lane runs on its own thread and adds batches of different lengths.
template <typename Filter>
Outcome ByWriter(Change change, Filter filter, const std::vector<uint64_t>& hashes, unsigned lanes,
                 uint64_t expected_keys) {
  using Word = cuckoo::Word<Filter::kFingerprintBits>;
  std::vector<Word> words(filter.bytes() / sizeof(Word));
  std::memcpy(words.data(), filter.payload().data(), filter.bytes());
  detail::CuckooWriter<Filter::kFingerprintBits> writer(
      change, *filter.backend().kernels, words.data(), filter.geometry(), expected_keys, lanes);
  EXPECT_TRUE(writer.in_order());
  EXPECT_EQ(writer.num_tasks(), filter.geometry().chunks);
  EXPECT_EQ(writer.max_slice_keys() % 64, 0u);

  Outcome outcome;
  outcome.done = hashes.size();
  outcome.others.resize(hashes.size());
  detail::Outcomes outcomes(ChangeOutputs{.rejected_indices = outcome.others.data()});
  for (size_t begin = 0, n = 0; begin < hashes.size(); begin += n) {
    n = std::min<size_t>(writer.max_slice_keys(), hashes.size() - begin);
    const size_t share = n / lanes + 1;
    std::vector<std::jthread> threads;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      threads.emplace_back([&, lane] {
        Random random(begin + lane);
        const size_t end = begin + std::min(n, (lane + 1) * share);
        for (size_t at = begin + std::min(n, lane * share); at < end;) {
          const size_t size = std::min<size_t>(end - at, 1 + random.Below(3 * detail::kBatchKeys));
          writer.Add(lane, detail::HashBatch(hashes.data() + at, size), at);
          at += size;
        }
      });
    }
    threads.clear();
    for (size_t task = writer.num_tasks(); task > 0; --task) writer.Run(task - 1);
    outcome.done -= writer.EndSlice(outcomes);
  }
  outcome.others.resize(hashes.size() - outcome.done);
  outcome.payload.resize(filter.bytes());
  std::memcpy(outcome.payload.data(), words.data(), filter.bytes());
  outcome.size =
      change == Change::kInsert ? filter.size() + outcome.done : filter.size() - outcome.done;
  return outcome;
}

struct Spread {
  const char* name;
  uint64_t (*hash)(uint64_t i);
};

constexpr Spread kSpreads[] = {
    {"even", [](uint64_t i) { return Mix(i); }},
    {"many keys nine times", [](uint64_t i) { return Mix(i % 7 == 0 ? i : i / 9); }},
    {"all in the first chunk", [](uint64_t i) { return Mix(i) >> 3; }},
    {"both ends", [](uint64_t i) { return i % 2 == 0 ? Mix(i) >> 6 : ~(Mix(i) >> 6); }},
    {"one key", [](uint64_t) { return Mix(1); }},
};

std::vector<uint64_t> HashesOf(const Spread& spread, size_t n, uint64_t first = 0) {
  std::vector<uint64_t> hashes(n);
  for (size_t i = 0; i < n; ++i) hashes[i] = spread.hash(first + i);
  return hashes;
}

template <typename Filter>
class CuckooBulkTest : public testing::Test {
 protected:
  static Filter Empty(const cuckoo::Geometry& geometry,
                      const Backend& backend = Backends().front()) {
    return EmptyCuckooFilter<Filter>(geometry, {}, &backend);
  }
  // As many keys as the filter has slots, some of which are refused.
  static Filter Full(const cuckoo::Geometry& geometry) {
    Filter filter = Empty(geometry);
    for (const uint64_t hash : RandomKeys(filter.num_slots(), /*seed=*/0)) filter.InsertHash(hash);
    return filter;
  }
};
TYPED_TEST_SUITE(CuckooBulkTest, CuckooFilters, CuckooFilterName);

// A failed insertion takes as long as hundreds of others, so these tables are only slightly
// overfull.
constexpr cuckoo::Geometry kGeometry{8, 46};  // 1472 slots, of 12 bits 1840

TYPED_TEST(CuckooBulkTest, EveryWayGivesTheTableOfOneKeyAtATime) {
  for (const Spread& spread : kSpreads) {
    for (const size_t n : {0, 1, 63, 64, 65, 600, 2049}) {
      const std::vector<uint64_t> hashes = HashesOf(spread, n);
      const Keys keys = Hashes{hashes};
      for (const Change change : {Change::kInsert, Change::kErase}) {
        SCOPED_TRACE(std::string(spread.name) + ", n = " + std::to_string(n));
        TypeParam start = this->Empty(kGeometry);
        if (change == Change::kErase) start.Insert(Hashes{HashesOf(spread, 1200)});
        const Outcome want = OneByOne(change, start.Clone(), hashes);
        ASSERT_EQ(want.done + want.others.size(), n);
        ASSERT_EQ(InBulk(change, start.Clone(), keys), want);
        for (const auto& [threads, partitioned] :
             {std::pair(1u, false), {1u, true}, {2u, true}, {3u, false}, {5u, true}}) {
          const Engine engine = PinnedEngine(Backends().front(), threads, partitioned);
          ASSERT_EQ(ByEngine(change, start.Clone(), keys, engine), want)
              << threads << " threads, " << partitioned;
        }
      }
    }
  }
}

// Rounds of 64 keys and more, also with so many keys in one chunk that a list has several segments.
TYPED_TEST(CuckooBulkTest, SeveralRoundsOfAWriter) {
  for (const Spread& spread : kSpreads) {
    const std::vector<uint64_t> hashes = HashesOf(spread, 1900);
    for (const Change change : {Change::kInsert, Change::kErase}) {
      TypeParam start = this->Empty(kGeometry);
      if (change == Change::kErase) start.Insert(Hashes{HashesOf(spread, 1500)});
      const Outcome want = OneByOne(change, start.Clone(), hashes);
      for (const uint64_t expected_keys : {1, 700, 1900}) {
        for (const unsigned lanes : {1, 2, 5}) {
          ASSERT_EQ(ByWriter(change, start.Clone(), hashes, lanes, expected_keys), want)
              << spread.name << ", " << lanes << " lanes, " << expected_keys << " keys expected";
        }
      }
    }
  }
}

// A segment of a list has room for 127 entries. These lists end near the end of a segment.
TYPED_TEST(CuckooBulkTest, SegmentsThatAreJustFull) {
  for (const size_t n : {126, 127, 128, 253, 254, 255, 256, 381, 382}) {
    const std::vector<uint64_t> hashes = HashesOf(kSpreads[0], n);
    const TypeParam start = this->Empty({1, 60});
    const Outcome want = OneByOne(Change::kInsert, start.Clone(), hashes);
    for (const unsigned lanes : {1, 2, 3}) {
      ASSERT_EQ(ByWriter(Change::kInsert, start.Clone(), hashes, lanes, n), want) << n;
    }
  }
}

// A writer also takes batches that are longer than its own buffers.
TYPED_TEST(CuckooBulkTest, LongBatchesOfAWriter) {
  const std::vector<uint64_t> hashes = RandomKeys(5 * detail::kBatchKeys, /*seed=*/3);
  TypeParam start = this->Empty({4, 600});
  for (size_t i = 0; i < hashes.size(); i += 2) start.InsertHash(hashes[i]);
  const Outcome want = OneByOne(Change::kErase, start.Clone(), hashes);
  EXPECT_GT(want.others.size(), hashes.size() / 3);
  for (const unsigned lanes : {1, 2}) {
    ASSERT_EQ(ByWriter(Change::kErase, start.Clone(), hashes, lanes, hashes.size()), want);
  }
}

TYPED_TEST(CuckooBulkTest, EveryBackendGivesTheSameTable) {
  const TypeParam full = this->Full(kGeometry);
  const std::vector<uint64_t> hashes = RandomKeys(1400, /*seed=*/0);
  const std::vector<uint64_t> more = RandomKeys(400, /*seed=*/1);
  const Outcome want_erased = OneByOne(Change::kErase, full.Clone(), hashes);
  const Outcome want_refused = OneByOne(Change::kInsert, full.Clone(), more);
  EXPECT_EQ(want_erased.done + want_erased.others.size(), 1400u);
  EXPECT_GT(want_refused.others.size(), 200u);
  for (const Backend& backend : Backends()) {
    SCOPED_TRACE(backend.name);
    TypeParam start = full.Clone();
    start.set_backend(backend);
    EXPECT_EQ(InBulk(Change::kErase, start.Clone(), Hashes{hashes}), want_erased);
    EXPECT_EQ(InBulk(Change::kInsert, start.Clone(), Hashes{more}), want_refused);
    EXPECT_EQ(ByWriter(Change::kErase, start.Clone(), hashes, 2, 500), want_erased);
    EXPECT_EQ(ByWriter(Change::kInsert, start.Clone(), more, 2, 500), want_refused);
    for (const unsigned threads : {1, 4}) {
      const Engine engine = PinnedEngine(backend, threads, true);
      EXPECT_EQ(ByEngine(Change::kErase, full.Clone(), Hashes{hashes}, engine), want_erased);
      EXPECT_EQ(ByEngine(Change::kInsert, full.Clone(), Hashes{more}, engine), want_refused);
    }
  }
}

// The answer is the same if the indices are not requested.
TYPED_TEST(CuckooBulkTest, IndicesNeedNotBeAskedFor) {
  const std::vector<uint64_t> hashes = RandomKeys(400, /*seed=*/1);
  const TypeParam full = this->Full(kGeometry);
  const Outcome want = OneByOne(Change::kInsert, full.Clone(), hashes);
  for (const unsigned threads : {1, 3}) {
    for (const bool partitioned : {false, true}) {
      TypeParam filter = full.Clone();
      const Engine engine = PinnedEngine(Backends().front(), threads, partitioned);
      EXPECT_EQ(engine.Insert(filter, Hashes{hashes}), want.done);
      EXPECT_EQ(Payload(filter), want.payload);
      EXPECT_EQ(filter.size(), want.size);
      const std::vector<uint64_t> absent = RandomKeys(100, /*seed=*/2);
      const Outcome erased = OneByOne(Change::kErase, filter.Clone(), absent);
      EXPECT_EQ(engine.Erase(filter, Hashes{absent}), erased.done);
      EXPECT_EQ(Payload(filter), erased.payload);
    }
  }
  TypeParam filter = full.Clone();
  EXPECT_EQ(filter.Insert(Hashes{hashes}), want.done);
  EXPECT_EQ(Payload(filter), want.payload);
}

// Large enough for the filter to choose a writer by default: several chunks and some million keys.
TYPED_TEST(CuckooBulkTest, LargeFiltersByTheirOwnChoice) {
  const FilterOptions options = {.bytes = (uint64_t{4} << 20) + 12344};
  TypeParam want(options), got(options), by_engine(options), made(options);
  ASSERT_GE(want.geometry().chunks, 16u);
  // The load is at most 0.9; a quarter of the keys come twice, and a few of them far too often.
  std::vector<uint64_t> keys(want.num_slots() / 10 * 9);
  for (size_t i = 0; i < keys.size(); ++i) {
    keys[i] = i % 1000 == 0 ? ~uint64_t{i / 1000 % 10} : i % (keys.size() / 5 * 4);
  }
  std::vector<uint64_t> others;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!want.Insert(keys[i])) others.push_back(i);
  }
  EXPECT_GT(others.size(), 100u);

  const auto expect = [&](const TypeParam& filter) {
    EXPECT_EQ(filter.size(), want.size());
    EXPECT_EQ(std::memcmp(filter.payload().data(), want.payload().data(), want.bytes()), 0);
  };
  std::vector<uint64_t> rejected(keys.size());
  rejected.resize(keys.size() - got.Insert(keys, rejected));
  EXPECT_EQ(rejected, others);
  expect(got);

  const Engine engine({.threads = 3});
  rejected.resize(keys.size());
  rejected.resize(keys.size() - engine.Insert(by_engine, keys, rejected));
  EXPECT_EQ(rejected, others);
  expect(by_engine);

  const Engine::KeySource source = [&](uint64_t first, std::span<uint64_t> out) {
    std::copy_n(keys.begin() + static_cast<std::ptrdiff_t>(first), out.size(), out.begin());
  };
  EXPECT_EQ(engine.Insert(made, keys.size(), source), keys.size() - others.size());
  expect(made);

  // Erases all keys that were not refused: nothing is left.
  std::vector<uint64_t> missing(keys.size());
  missing.resize(keys.size() - engine.Erase(by_engine, keys, missing));
  EXPECT_EQ(missing.size(), others.size());
  EXPECT_EQ(by_engine.size(), 0u);
  EXPECT_EQ(Payload(by_engine), std::vector<std::byte>(by_engine.bytes()));
  EXPECT_EQ(got.Erase(keys), keys.size() - others.size());
  EXPECT_EQ(Payload(got), Payload(by_engine));
}

TYPED_TEST(CuckooBulkTest, KeySourcesOnAnyNumberOfThreads) {
  for (const size_t n : {0, 1, 64, 1900}) {
    TypeParam want = this->Empty(kGeometry);
    uint64_t done = 0;
    for (size_t i = 0; i < n; ++i) done += want.Insert(3 * uint64_t{i} + 1);
    for (const unsigned threads : {1, 2, 5}) {
      for (const bool partitioned : {false, true}) {
        TypeParam filter = this->Empty(kGeometry);
        const Engine engine = PinnedEngine(Backends().front(), threads, partitioned);
        const uint64_t inserted =
            engine.Insert(filter, n, [](uint64_t first, std::span<uint64_t> keys) {
              for (size_t i = 0; i < keys.size(); ++i) keys[i] = 3 * (first + i) + 1;
            });
        EXPECT_EQ(inserted, done) << n << " keys, " << threads << " threads";
        EXPECT_EQ(Payload(filter), Payload(want)) << n << " keys, " << threads << " threads";
        EXPECT_EQ(filter.size(), want.size());
      }
    }
  }
}

// The same keys one by one and in each layout, by both routes, in several chunks.
TYPED_TEST(CuckooBulkTest, AllFormsOfKeys) {
  constexpr cuckoo::Geometry kSmall{3, ReferenceSlots(TypeParam::kFingerprintBits) == 4 ? 60 : 48};
  const Subject subject = SubjectOf<TypeParam>();
  const AllLayouts layouts(800, /*seed=*/1);
  const TypeParam empty = EmptyCuckooFilter<TypeParam>(kSmall, {HashKind::kXxh64, 77});
  const auto one_by_one = [](const auto& change, TypeParam filter, const auto& keys) {
    Outcome outcome;
    for (size_t i = 0; i < keys.size(); ++i) {
      if (change(filter, keys[i])) {
        ++outcome.done;
      } else {
        outcome.others.push_back(i);
      }
    }
    Conclude(filter, outcome);
    return outcome;
  };
  for (const AllLayouts::Set& set : layouts.sets()) {
    SCOPED_TRACE(set.name);
    const Outcome want = one_by_one(subject.insert, empty.Clone(), set.ones);
    EXPECT_GT(want.others.size(), 0u);
    TypeParam full = empty.Clone();
    full.Insert(set.keys);
    EXPECT_EQ(Payload(full), want.payload);
    const Outcome want_erased = one_by_one(subject.erase, full.Clone(), set.ones);
    EXPECT_EQ(want_erased.size, 0u);
    for (const unsigned threads : {1, 2}) {
      for (const bool partitioned : {false, true}) {
        const Engine engine = PinnedEngine(Backends().front(), threads, partitioned);
        EXPECT_EQ(ByEngine(Change::kInsert, empty.Clone(), set.keys, engine), want);
        EXPECT_EQ(ByEngine(Change::kErase, full.Clone(), set.keys, engine), want_erased);
      }
    }
  }
}

}  // namespace tamis::cuckoo_bulk_test
