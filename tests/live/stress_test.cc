// All cores insert, erase and query for a chosen time, while copies are taken. No inserted key may
// be missed, no bit may be lost or appear from nowhere, and no copy may contain half of a change.
//
// TAMIS_STRESS_SECONDS=60 tamis_live_tests --gtest_filter='Stress*' runs this long for each filter.
// Without the variable, the tests run only briefly. They print what they have done.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "tamis/live/concurrent_bloom.h"
#include "tamis/live/concurrent_cuckoo.h"
#include "tests/core/file_test_util.h"
#include "tests/live/concurrent_types.h"
#include "tests/test_util.h"

namespace tamis::stress_test {

using Clock = std::chrono::steady_clock;
using KeySpan = std::span<const uint64_t>;

std::chrono::duration<double> Duration() {
  const char* const seconds = std::getenv("TAMIS_STRESS_SECONDS");
  return std::chrono::duration<double>(seconds != nullptr ? std::atof(seconds) : 0.2);
}

// Number of threads of each sort: together at least one per core, plus one that takes copies.
size_t NumThreads() { return std::max<size_t>(2, (std::thread::hardware_concurrency() + 1) / 2); }

struct Figures {
  std::atomic<uint64_t> inserted = 0, erased = 0, refused = 0, asked = 0, missed = 0;
  uint64_t snapshots = 0, files = 0, rounds = 0, repeated = 0, locked = 0;

  void Print(const std::string& name) const {
    std::cout << "[ stressed ] " << name << ": " << inserted << " keys inserted (" << refused
              << " more refused), " << erased << " erased, " << asked << " asked for, " << missed
              << " missed; " << repeated << " looked for again, " << locked << " under a lock; "
              << snapshots << " snapshots, of these " << files << " files; " << rounds
              << " filters\n";
  }
};

// Queries at most a few hundred inserted keys, one by one or in bulk, and the same number of other
// keys. Other keys matter because a cuckoo filter checks for moved fingerprints only before it
// answers "no".
template <typename Filter>
void AskForSome(const Filter& filter, KeySpan known, Random& random, Figures& figures) {
  constexpr size_t kKeys = 500;
  if (known.empty()) return;
  const size_t begin = random.Below(known.size());
  const KeySpan some = known.subspan(begin, std::min(kKeys, known.size() - begin));
  std::array<uint64_t, kKeys> others;
  std::generate(others.begin(), others.end(), random);
  std::array<uint64_t, BitmapWords(kKeys)> bits;
  size_t missed = 0;
  if (random.Below(4) == 0) {
    for (size_t i = 0; i < some.size(); ++i) {
      missed += !filter.Contains(some[i]);
      static_cast<void>(filter.Contains(others[i]));
    }
  } else {
    missed = some.size() - filter.Contains(some, Bitmap(bits));
    filter.Contains(KeySpan(others).first(some.size()), Bitmap(bits));
  }
  figures.missed += missed;
  figures.asked += 2 * some.size();
}

// Returns a copy, either directly or through a file, which is verified when it is loaded.
template <typename Plain, typename Filter>
Plain Copy(const Filter& filter, const std::filesystem::path& path, Figures& figures) {
  if (++figures.snapshots % 8 != 0) return filter.Snapshot();
  ++figures.files;
  filter.Save(path);
  return Plain::Load(path);
}

bool IsSubset(std::span<const std::byte> bits, std::span<const std::byte> of) {
  return std::ranges::equal(bits, of,
                            [](std::byte a, std::byte b) { return (a & ~b) == std::byte{0}; });
}

template <typename F>
class StressBloomTest : public testing::Test {};
TYPED_TEST_SUITE(StressBloomTest, BloomTypes, BloomTypeName);

// Each round fills a filter: a small one, in which all threads write to the same words, or a large
// one.
TYPED_TEST(StressBloomTest, LosesNothing) {
  const TemporaryFolder folder;
  const size_t num_threads = NumThreads();
  const auto end = Clock::now() + Duration();
  Figures figures;
  for (uint64_t round = 0; round == 0 || Clock::now() < end; ++round, ++figures.rounds) {
    const size_t num_keys = round % 4 == 3 ? 200'000 : 3000;  // per thread
    const FilterOptions options = {.capacity = num_threads * num_keys};
    ConcurrentBloom<TypeParam> filter(options);
    TypeParam plain(options);
    std::vector<std::vector<uint64_t>> keys;
    for (size_t t = 0; t < num_threads; ++t) {
      keys.push_back(RandomKeys(num_keys, round * num_threads + t));
      plain.Insert(keys.back());
    }
    std::vector<std::atomic<size_t>> inserted(num_threads);
    const auto known_of = [&](size_t t) { return KeySpan(keys[t]).first(inserted[t]); };
    std::atomic<size_t> inserting = num_threads;
    std::atomic<size_t> ready = 0;  // otherwise one thread could fill a small filter alone
    {
      std::vector<std::jthread> threads;
      for (size_t t = 0; t < num_threads; ++t) {
        threads.emplace_back([&, t] {  // single keys, and batches of all kinds
          Random random(round + t);
          for (++ready; ready < num_threads;) std::this_thread::yield();
          for (size_t i = 0, step = 0; i < num_keys; i += step) {
            constexpr std::array<size_t, 4> kSteps = {1, 20, 400, 50'000};
            step = std::min(num_keys - i, 1 + random.Below(kSteps[random.Below(kSteps.size())]));
            const KeySpan some = KeySpan(keys[t]).subspan(i, step);
            if (step < 20) {
              for (const uint64_t key : some) filter.Insert(key);
            } else {
              filter.Insert(some);
            }
            inserted[t] = i + step;
          }
          figures.inserted += num_keys;
          --inserting;
        });
        threads.emplace_back([&, t] {
          Random random(round - t);
          while (inserting != 0) {
            AskForSome(filter, known_of(random.Below(num_threads)), random, figures);
          }
        });
      }
      TypeParam before(options);
      while (inserting != 0) {
        std::vector<size_t> known;
        for (const std::atomic<size_t>& count : inserted) known.push_back(count);
        TypeParam copy = Copy<TypeParam>(filter, folder / "f", figures);
        for (size_t t = 0; t < num_threads; ++t) {
          ASSERT_EQ(copy.Count(KeySpan(keys[t]).first(known[t])), known[t]) << "torn";
        }
        ASSERT_TRUE(IsSubset(before.payload(), copy.payload())) << "a bit is gone again";
        ASSERT_TRUE(IsSubset(copy.payload(), plain.payload())) << "a bit of no key";
        before = std::move(copy);
      }
    }
    ASSERT_EQ(figures.missed, 0u);
    ASSERT_TRUE(SameBytes(filter.filter().payload(), plain.payload())) << "a bit is lost";
    ASSERT_EQ(filter.inserted_count(), plain.inserted_count());
  }
  figures.Print(BloomTypeName::GetName<TypeParam>(0));
}

// Erases its own keys and inserts them again, in random order.
template <typename Filter>
class Mover {
 public:
  Mover(Filter& filter, std::vector<uint64_t> in, uint64_t seed)
      : filter_(filter), in_(std::move(in)), random_(seed) {}

  void Move(Figures& figures) {
    const size_t n = 1 + random_.Below(random_.Below(20) == 0 ? in_.size() / 2 : 50);
    for (size_t last = in_.size(); last > in_.size() - n; --last) {
      std::swap(in_[last - 1], in_[random_.Below(last)]);
    }
    const std::vector<uint64_t> leaving(in_.end() - static_cast<std::ptrdiff_t>(n), in_.end());
    in_.resize(in_.size() - n);
    const bool in_bulk = random_.Below(2) == 0;
    size_t erased = 0;
    if (in_bulk) {
      erased = filter_.Erase(leaving);
    } else {
      for (const uint64_t key : leaving) erased += filter_.Erase(key);
    }
    figures.erased += erased;
    figures.missed += n - erased;
    out_.insert(out_.end(), leaving.begin(), leaving.end());
    PutBack(in_bulk, figures);
  }
  const std::vector<uint64_t>& in() const { return in_; }

 private:
  void Shuffle(std::vector<uint64_t>& keys) {
    for (size_t i = keys.size(); i > 1; --i) std::swap(keys[i - 1], keys[random_.Below(i)]);
  }
  // Keys that a full filter rejects are tried again the next time.
  void PutBack(bool in_bulk, Figures& figures) {
    Shuffle(out_);
    std::vector<uint64_t> rejected(out_.size());
    size_t num_rejected = 0;
    if (in_bulk) {
      num_rejected = out_.size() - filter_.Insert(out_, rejected);
    } else {
      for (size_t i = 0; i < out_.size(); ++i) {
        if (!filter_.Insert(out_[i])) rejected[num_rejected++] = i;
      }
    }
    figures.inserted += out_.size() - num_rejected;
    figures.refused += num_rejected;
    std::vector<uint64_t> still_out;
    for (size_t i = 0; i < out_.size(); ++i) {
      if (still_out.size() < num_rejected && rejected[still_out.size()] == i) {
        still_out.push_back(out_[i]);
      } else {
        in_.push_back(out_[i]);
      }
    }
    out_ = std::move(still_out);
  }

  Filter& filter_;
  std::vector<uint64_t> in_, out_;
  Random random_;
};

template <typename Bits>
class StressCuckooTest : public testing::Test {};
TYPED_TEST_SUITE(StressCuckooTest, CuckooTypes, CuckooTypeName);

// With 95% of the slots used, nearly every insertion moves fingerprints. Tests one chunk with few
// buckets, one with many, and several chunks.
TYPED_TEST(StressCuckooTest, LosesNothing) {
  using Plain = CuckooFilter<TypeParam::value>;
  using Concurrent = ConcurrentCuckooFilter<TypeParam::value>;
  const TemporaryFolder folder;
  const size_t num_threads = NumThreads();
  constexpr std::array<uint64_t, 3> kCapacities = {2000, 100'000, 400'000};
  Figures figures;
  for (const uint64_t capacity : kCapacities) {
    Concurrent filter({.capacity = capacity});
    const auto num_keys = static_cast<size_t>(0.95 * static_cast<double>(filter.num_slots()));
    const std::vector<uint64_t> keys = RandomKeys(num_keys, capacity);
    ASSERT_EQ(filter.Insert(keys), num_keys);
    const KeySpan staying = KeySpan(keys).first(num_keys / 2);
    std::vector<Mover<Concurrent>> movers;
    for (size_t t = 0; t < num_threads; ++t) {
      const size_t begin = num_keys / 2 + (num_keys - num_keys / 2) * t / num_threads;
      const size_t stop = num_keys / 2 + (num_keys - num_keys / 2) * (t + 1) / num_threads;
      movers.emplace_back(filter,
                          std::vector<uint64_t>(keys.begin() + static_cast<std::ptrdiff_t>(begin),
                                                keys.begin() + static_cast<std::ptrdiff_t>(stop)),
                          t);
    }
    std::atomic<bool> done = false;
    {
      std::vector<std::jthread> threads;
      for (size_t t = 0; t < num_threads; ++t) {
        threads.emplace_back([&, t] {
          do {
            movers[t].Move(figures);
          } while (!done);
        });
        threads.emplace_back([&, t] {
          Random random(capacity - t);
          do {
            AskForSome(filter, staying, random, figures);
          } while (!done);
        });
      }
      const auto end = Clock::now() + Duration() / kCapacities.size();
      do {
        const Plain copy = Copy<Plain>(filter, folder / "f", figures);
        EXPECT_EQ(copy.Count(staying), staying.size()) << "torn";
      } while (Clock::now() < end);
      done = true;
    }
    ASSERT_EQ(figures.missed, 0u);
    size_t in = staying.size();
    for (const Mover<Concurrent>& mover : movers) {
      in += mover.in().size();
      ASSERT_EQ(filter.Count(mover.in()), mover.in().size());
    }
    ASSERT_EQ(filter.inserted_count(), in);
    figures.repeated += filter.repeated_looks();
    figures.locked += filter.locked_looks();
    // Each of its fingerprints belongs to an inserted key.
    ASSERT_EQ(filter.Erase(staying), staying.size());
    for (const Mover<Concurrent>& mover : movers) {
      ASSERT_EQ(filter.Erase(mover.in()), mover.in().size());
    }
    const Plain empty = filter.Snapshot();
    ASSERT_TRUE(
        std::ranges::all_of(empty.payload(), [](std::byte b) { return b == std::byte{0}; }));
    ++figures.rounds;
  }
  figures.Print("cuckoo" + std::to_string(TypeParam::value));
}

}  // namespace tamis::stress_test
