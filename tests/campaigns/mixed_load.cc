// Runs many threads for a chosen time, with a shared engine and with engines of their own. They
// query filters of every kind and a bank, insert into and erase from their own filters, save and
// map files that other threads replace, change concurrent filters, and read live filters that are
// replaced. Inserted keys must always be found, and unchanged objects must answer as before. With
// ThreadSanitizer, the program also finds races: docs/campaigns.md.
//
// Usage: tamis_mixed_load FOLDER SECONDS [--seed lost|race]
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tamis/backends.h"
#include "tamis/bank/filter_bank.h"
#include "tamis/engine/engine.h"
#include "tamis/filters/any_filter.h"
#include "tamis/filters/erasable_filter.h"
#include "tamis/filters/serialize.h"
#include "tamis/filters/set_operations.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/formats/guava.h"
#include "tamis/live/concurrent_bloom.h"
#include "tamis/live/concurrent_cuckoo.h"
#include "tamis/live/live.h"
#include "tests/campaigns/fault_filters.h"

namespace tamis::campaigns {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kThreads = 6;
constexpr uint64_t kKeys = 20'000;  // in objects that do not change
constexpr uint64_t kOwn = 4'000;    // per thread
constexpr uint64_t kColumns = 8;
// From here on, each thread has its own keys.
constexpr uint64_t kFirstOwn = uint64_t{1} << 40;
constexpr uint64_t kOwnRange = uint64_t{1} << 32;

struct Totals {
  std::atomic<uint64_t> steps = 0, inserted = 0, erased = 0, asked = 0, files = 0, swaps = 0;
  std::atomic<uint64_t> findings = 0;

  void Find(const std::string& what) {
    if (findings++ < 20) std::printf("FINDING: %s\n", what.c_str());
  }
};

// A filter that does not change, and its answers.
struct Settled {
  Settled(const Shape& shape, const std::vector<uint64_t>& keys, const std::vector<uint64_t>& asked)
      : name(shape.name()), filter(shape.Make(keys.size())) {
    RequireChangeable(*filter).Insert(keys);
    selected.resize(asked.size());
    selected.resize(filter->Select(asked, selected));
  }

  std::string name;
  AnyFilter filter;
  std::vector<uint32_t> selected;
};

// State shared by all threads.
struct World {
  explicit World(const fs::path& in) : folder(in) {
    for (const Shape& shape : Shapes()) settled.emplace_back(shape, keys, asked);
    for (uint64_t i = 0; i < kColumns; ++i) bank.Add(i, KeysOf(i * kOwn, kOwn));
    hits = bank.Select(asked);
    guava.Insert(keys);
    of_guava = guava.Count(asked);
    Publish(1);
    Publish(2);
    unguarded.Insert(uint64_t{0});
    settled.front().filter->Save(folder / "f.tamis");
    bank.Save(folder / "f.bank");
  }

  // Each generation has all keys, and one more.
  void Publish(uint64_t number) {
    SplitBlockBloomFilter next({.capacity = kKeys + 1});
    next.Insert(keys);
    next.Insert(KeyOf(kFirstOwn - number));
    live.Publish(std::move(next));
  }

  const fs::path folder;
  const std::vector<uint64_t> keys = KeysOf(0, kKeys);
  const std::vector<uint64_t> asked = KeysOf(kKeys / 2, kKeys);
  const Engine engine = Engine({.threads = 3});
  std::vector<Settled> settled;
  FilterBank bank;
  std::vector<BankHit> hits;
  GuavaBloomFilter guava = GuavaBloomFilter(GuavaFunnel::kLong, {.capacity = kKeys});
  size_t of_guava = 0;
  ConcurrentBloom<SplitBlockBloomFilter> blocks =
      ConcurrentBloom<SplitBlockBloomFilter>({.capacity = 4'000'000});
  ConcurrentBloom<BloomFilter> bits = ConcurrentBloom<BloomFilter>({.capacity = 4'000'000});
  ConcurrentCuckooFilter<16> cuckoo = ConcurrentCuckooFilter<16>({.capacity = 4 * kThreads * kOwn});
  Live<SplitBlockBloomFilter> live;
  Live<ConcurrentCuckooFilter<16>> changing;
  // A seeded defect: several threads change this filter at a time, which is not allowed.
  SplitBlockBloomFilter unguarded =
      SplitBlockBloomFilter({.capacity = 1000, .backend = &Backends().back()});
};

class Worker {
 public:
  Worker(World& world, Totals& totals, uint64_t number, std::string seed)
      : world_(world), totals_(totals), number_(number), seed_(std::move(seed)) {
    next_ = kFirstOwn + number * kOwnRange;
  }

  void Run(const std::atomic<bool>& stop) {
    for (uint64_t i = number_; !stop; ++i) {
      try {
        Step(i % 9);
      } catch (const std::exception& error) {
        totals_.Find(std::string("thrown: ") + error.what());
      }
      ++totals_.steps;
    }
  }

 private:
  void Step(uint64_t what) {
    switch (what) {
      case 0:
        return AskSettled(world_.engine);
      case 1:
        return AskSettled(Engine({.threads = 2}));
      case 2:
        return ChangeOwn();
      case 3:
        return ChangeConcurrent(world_.blocks);
      case 4:
        return ChangeConcurrent(world_.bits);
      case 5:
        return ChangeCuckoo();
      case 6:
        return UseFiles();
      case 7:
        return UseLive();
      default:
        return AskBank();
    }
  }

  void Expect(bool holds, const std::string& what) {
    if (!holds) totals_.Find(what);
  }

  std::vector<uint64_t> NewKeys(uint64_t n) {
    next_ += n;
    return KeysOf(next_ - n, n);
  }

  void AskSettled(const Engine& engine) {
    const Settled& settled = world_.settled[turn_++ % world_.settled.size()];
    std::vector<uint32_t> rows(world_.asked.size());
    rows.resize(engine.Select(*settled.filter, world_.asked, rows));
    Expect(rows == settled.selected, settled.name + " answers otherwise");
    Expect(engine.Count(*settled.filter, world_.keys) == kKeys, settled.name + " has lost keys");
    Expect(world_.guava.Count(world_.asked) == world_.of_guava, "Guava's answers otherwise");
    totals_.asked += 2 * world_.asked.size() + kKeys;
  }

  // Changes a filter of this thread with the shared engine.
  void ChangeOwn() {
    const std::vector<Shape> shapes = Shapes();
    const Shape& shape = shapes[turn_++ % shapes.size()];
    AnyFilter filter = shape.Make(2 * kOwn);
    const std::vector<uint64_t> first = NewKeys(kOwn), second = NewKeys(kOwn);
    world_.engine.Insert(RequireChangeable(*filter), first);
    AnyFilter other = Clone(*filter);
    world_.engine.Insert(RequireChangeable(*other), second);
    if (CanMerge(*filter, *other)) Merge(*filter, *other);
    if (auto* const erasable = other.As<ErasableFilter>()) {
      const size_t erased = world_.engine.Erase(*erasable, second);
      Expect(erased == kOwn || shape.layered, shape.name() + " does not find what it has");
      totals_.erased += erased;
    }
    Expect(world_.engine.Count(*filter, first) == kOwn, shape.name() + " has lost keys");
    Expect(HasAll(*other, first) || shape.layered, shape.name() + ", copied, has lost keys");
    Expect(Serialize(*Load(Serialize(*filter))) == Serialize(*filter), "bytes are others");
    totals_.inserted += 2 * kOwn;
  }

  template <typename Filter>
  void ChangeConcurrent(Filter& filter) {
    const std::vector<uint64_t> keys = NewKeys(kOwn / 4);
    filter.Insert(Keys(keys));
    Expect(filter.Count(keys) == keys.size(), "a concurrent filter has lost keys");
    if (seed_ == "race") world_.unguarded.Insert(keys.front());
    totals_.inserted += keys.size();
    totals_.asked += keys.size();
  }

  void ChangeCuckoo() {
    const std::vector<uint64_t> keys = NewKeys(kOwn / 4);
    const size_t inserted = world_.cuckoo.Insert(Keys(keys));
    Expect(inserted == keys.size(), "a key has no room");
    if (seed_ == "lost") world_.cuckoo.Erase(keys.front());
    size_t found = 0;
    for (const uint64_t key : keys) found += world_.cuckoo.Contains(key);
    Expect(found == keys.size(), "a concurrent cuckoo filter has lost keys");
    size_t erased = 0;
    for (const uint64_t key : keys) erased += world_.cuckoo.Erase(key);
    Expect(erased == keys.size(), "a concurrent cuckoo filter does not find what it has");
    totals_.inserted += inserted;
    totals_.asked += keys.size();
    totals_.erased += erased;
  }

  // Uses a file that other threads replace at the same time by one of two complete files.
  void UseFiles() {
    const fs::path path = world_.folder / "f.tamis";
    world_.settled[turn_++ % world_.settled.size()].filter->Save(path);
    const AnyFilter loaded = Load(path);
    Expect(HasAll(*loaded, world_.keys), "a file that was loaded has lost keys");
    const AnyFilter mapped = Map(path, {.verify = Verify::kFull});
    Expect(world_.engine.Count(*mapped, world_.keys) == kKeys, "a mapped file has lost keys");
    totals_.files += 3;
    totals_.asked += 2 * kKeys;
  }

  void UseLive() {
    if (number_ == 0) {
      world_.Publish(turn_++);
      ++totals_.swaps;
    }
    const auto lease = world_.live.Read();
    Expect(world_.engine.Count(*lease, world_.keys) == kKeys, "a live filter has lost keys");
    totals_.asked += kKeys;
    if (number_ == 1) {
      const auto build = [](RebuildContext&) {
        return ConcurrentCuckooFilter<16>({.capacity = 4 * kThreads * kOwn});
      };
      world_.changing.Rebuild({.build = build});
      ++totals_.swaps;
    }
    if (!world_.changing.Read()) return;
    // Keys that a rebuild does not read must be present while it runs, and may be gone afterwards.
    // This only checks that keys can be inserted at any time.
    const std::vector<uint64_t> keys = NewKeys(100);
    Expect(world_.changing.Insert(Keys(keys)) == keys.size(), "a key has no room in a live filter");
    totals_.inserted += keys.size();
  }

  void AskBank() {
    Expect(world_.bank.Select(world_.engine, world_.asked) == world_.hits,
           "a bank answers otherwise");
    const FilterBank mapped = FilterBank::Map(world_.folder / "f.bank");
    Expect(mapped.Select(world_.asked) == world_.hits, "a mapped bank answers otherwise");
    totals_.asked += 2 * world_.asked.size();
    ++totals_.files;
  }

  World& world_;
  Totals& totals_;
  const uint64_t number_;
  const std::string seed_;
  uint64_t next_ = 0, turn_ = 0;
};

int Run(const fs::path& folder, double seconds, const std::string& seed) {
  World world(folder);
  Totals totals;
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] { Worker(world, totals, i, seed).Run(stop); });
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  stop = true;
  for (std::thread& thread : threads) thread.join();
  std::printf(
      "steps=%llu inserted=%llu erased=%llu asked=%llu files=%llu swaps=%llu findings=%llu\n",
      static_cast<unsigned long long>(totals.steps),
      static_cast<unsigned long long>(totals.inserted),
      static_cast<unsigned long long>(totals.erased), static_cast<unsigned long long>(totals.asked),
      static_cast<unsigned long long>(totals.files), static_cast<unsigned long long>(totals.swaps),
      static_cast<unsigned long long>(totals.findings));
  return totals.findings == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tamis::campaigns

int main(int argc, char** argv) {
  const bool seeded = argc == 5 && std::string(argv[3]) == "--seed";
  if (argc != 3 && !seeded) {
    std::fprintf(stderr, "usage: tamis_mixed_load FOLDER SECONDS [--seed lost|race]\n");
    return 2;
  }
  return tamis::campaigns::Run(argv[1], std::atof(argv[2]), seeded ? argv[4] : "");
}
