// Rebuilds and replaces a live filter repeatedly while all cores query it. Measures missed keys,
// the times of readers, and memory.
//
// Usage: tamis_live_swaps [SWAPS [KEYS [READERS]]]   (default 1,000, 1,000,000, one for each core)
//
// Readers take a snapshot for each batch. They query keys that are in every generation, and keys
// that another thread has just inserted. Their batches are timed in three phases: while nothing is
// rebuilt, while filters are rebuilt as fast as possible and thrown away, and while rebuilt filters
// are put in place. The phases take turns, and the phase without rebuilds takes as long as the
// phase with swaps. The second phase shows the cost of a rebuild that needs a core, and the third
// the additional cost of swaps. Exit status: 0 if no present key was missed and one filter is left
// at the end, otherwise 1; 2 for bad arguments.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <memory_resource>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "bench/arguments.h"
#include "bench/timing.h"
#include "bench/workload.h"
#include "tamis/live/concurrent_bloom.h"
#include "tamis/live/live.h"

namespace tamis::bench {
namespace {

using Filter = ConcurrentSplitBlockBloomFilter;

constexpr size_t kBatch = 1024;     // keys of all generations in a batch
constexpr size_t kNewInBatch = 64;  // keys inserted during the run, in a batch
constexpr uint64_t kNewInRebuild = 100;
constexpr uint64_t kNewInCall = 10;
constexpr uint64_t kTurns = 10;

enum Phase : int { kIdle, kRebuilds, kSwaps, kPhases, kNone = kPhases };
constexpr std::array<const char*, kPhases> kPhaseNames = {
    "nothing is rebuilt", "rebuilds, thrown away", "rebuilds, put in place"};

// Times, each rounded by at most 1.6%.
class Histogram {
 public:
  void Add(uint64_t ns) {
    ++counts_[BucketOf(ns)];
    ++total_;
    max_ = std::max(max_, ns);
  }
  void Add(const Histogram& other) {
    for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    total_ += other.total_;
    max_ = std::max(max_, other.max_);
  }
  uint64_t total() const { return total_; }
  double max() const { return static_cast<double>(max_); }
  // Returns the least time that is not exceeded by `share` of all times.
  double Quantile(double share) const {
    const auto wanted = static_cast<uint64_t>(share * static_cast<double>(total_));
    uint64_t seen = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen > wanted) return static_cast<double>(std::min(EndOf(i), max_));
    }
    return max();
  }

 private:
  static constexpr int kBits = 6;  // bits of the mantissa

  static size_t BucketOf(uint64_t ns) {
    const int shift = std::max(0, static_cast<int>(std::bit_width(ns)) - kBits - 1);
    return (static_cast<size_t>(shift) << kBits) + static_cast<size_t>(ns >> shift);
  }
  static uint64_t EndOf(size_t bucket) {
    const size_t shift = bucket >> kBits > 1 ? (bucket >> kBits) - 1 : 0;
    return (bucket - (shift << kBits) + 1) << shift;
  }

  std::array<uint64_t, size_t{64} << kBits> counts_{};
  uint64_t total_ = 0;
  uint64_t max_ = 0;
};

// Counts the memory of filters.
class Counted final : public std::pmr::memory_resource {
 public:
  uint64_t now() const { return now_; }
  uint64_t peak() const { return peak_; }

 private:
  void* do_allocate(size_t bytes, size_t alignment) override {
    void* const begin = std::pmr::new_delete_resource()->allocate(bytes, alignment);
    const uint64_t now = now_ += bytes;
    uint64_t peak = peak_;
    while (peak < now && !peak_.compare_exchange_weak(peak, now)) {
    }
    return begin;
  }
  void do_deallocate(void* begin, size_t bytes, size_t alignment) override {
    std::pmr::new_delete_resource()->deallocate(begin, bytes, alignment);
    now_ -= bytes;
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::atomic<uint64_t> now_ = 0, peak_ = 0;
};

// Returns a value of /proc/self/status in bytes, or 0 if the file or the line does not exist.
uint64_t StatusBytes(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    uint64_t kib = 0;
    if (word == name + ":" && file >> kib) return kib * 1024;
  }
  return 0;
}
uint64_t Resident() { return StatusBytes("VmRSS"); }
// Resets the peak, if Linux allows it.
void ForgetPeakResident() { std::ofstream("/proc/self/clear_refs") << "5"; }
uint64_t PeakResident() { return StatusBytes("VmHWM"); }

class Swaps {
 public:
  Swaps(uint64_t swaps, uint64_t keys, uint64_t readers)
      : swaps_(swaps),
        num_readers_(readers),
        always_(keys),
        later_(2 * kNewInRebuild * (swaps + 1)) {
    for (uint64_t i = 0; i < keys; ++i) always_[i] = KeyAt(i);
    for (uint64_t i = 0; i < later_.size(); ++i) later_[i] = KeyAt((uint64_t{1} << 40) + i);
  }

  bool Run() {
    live_.Publish(Built());
    const uint64_t one_filter = memory_.now();
    uint64_t resident_before = 0;
    std::vector<Reader> readers(num_readers_);
    std::vector<double> rebuild_ms;
    {
      std::vector<std::jthread> threads;
      for (Reader& reader : readers) {
        threads.emplace_back([&](const std::stop_token& stop) { Read(reader, stop); });
      }
      threads.emplace_back([&](const std::stop_token& stop) { InsertMeanwhile(stop); });
      for (uint64_t turn = 0; turn < kTurns; ++turn) {
        const uint64_t n = swaps_ * (turn + 1) / kTurns - swaps_ * turn / kTurns;
        InPhase(kRebuilds, [&] {
          for (uint64_t i = 0; i < n; ++i) Build();
        });
        // After a rebuild, malloc keeps its temporary memory. This is not memory of filters.
        if (turn == 0) {
          ForgetPeakResident();
          resident_before = Resident();
        }
        const double ns = InPhase(kSwaps, [&] {
          for (uint64_t i = 0; i < n; ++i) {
            rebuild_ms.push_back(1e-6 * Nanoseconds(Time::kWall, [&] { Rebuild(); }));
          }
        });
        InPhase(kIdle,
                [&] { std::this_thread::sleep_for(std::chrono::duration<double, std::nano>(ns)); });
      }
    }
    std::array<Histogram, kPhases> times;
    uint64_t missed = 0;
    for (const Reader& reader : readers) {
      missed += reader.missed;
      for (size_t phase = 0; phase < kPhases; ++phase) times[phase].Add(reader.times[phase]);
    }
    const auto later = std::span(later_).first(inserted_);
    const auto last = live_.Read();
    missed += always_.size() - last->Count(always_) + later.size() - last->Count(later);
    const bool one_is_left = memory_.now() == one_filter;

    std::printf(
        "| %zu readers, %zu keys a batch | batches | p50 us | p99.9 us | max us |\n"
        "|---|---:|---:|---:|---:|\n",
        readers.size(), kBatch + kNewInBatch);
    for (size_t phase = 0; phase < kPhases; ++phase) {
      std::printf("| %s | %llu | %.1f | %.1f | %.1f |\n", kPhaseNames[phase],
                  Number(times[phase].total()), 1e-3 * times[phase].Quantile(0.5),
                  1e-3 * times[phase].Quantile(0.999), 1e-3 * times[phase].max());
    }
    std::printf("\n%llu swaps of a filter of %zu keys; median of a rebuild: %.2f ms.\n",
                Number(live_.status().generation - 1), always_.size(), Median(rebuild_ms));
    std::printf("Keys inserted: %llu, of these while a rebuild was running: %llu.\n",
                Number(inserted_), Number(inserted_in_rebuild_));
    std::printf("False negatives: %llu.\n", Number(missed));
    const auto in_filters = [&](uint64_t bytes) {
      return static_cast<double>(bytes) / static_cast<double>(one_filter);
    };
    std::printf(
        "Memory of filters, in filters of %.2f MiB: %.0f at once at most, %.0f in the end.\n",
        MiB(one_filter), in_filters(memory_.peak()), in_filters(memory_.now()));
    std::printf("Resident memory of the process, in MiB: %.1f after rebuilds without a swap, ",
                MiB(resident_before));
    std::printf("%.1f at most from there on, %.1f in the end.\n", MiB(PeakResident()),
                MiB(Resident()));
    if (missed != 0) std::printf("A PRESENT KEY WAS MISSED\n");
    if (!one_is_left) std::printf("NOT EXACTLY ONE FILTER IS LEFT\n");
    return missed == 0 && one_is_left;
  }

 private:
  struct Reader {
    std::array<Histogram, kPhases> times;
    uint64_t missed = 0;
  };

  static unsigned long long Number(uint64_t n) { return n; }
  static double MiB(uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

  template <typename Act>
  double InPhase(Phase phase, const Act& act) {
    phase_ = phase;
    const double ns = Nanoseconds(Time::kWall, act);
    phase_ = kNone;
    return ns;
  }

  Filter Built() {
    const uint64_t capacity = always_.size() + later_.size();
    Filter filter(
        {.capacity = capacity, .bytes = FilterBytes(capacity), .memory = {.resource = &memory_}});
    filter.Insert(always_);
    filter.Insert(std::span(later_).first(committed_));
    return filter;
  }
  void Build() {
    ++builds_;
    Built();
  }
  void Rebuild() {
    ++builds_;
    rebuilding_ = true;
    live_.Rebuild({[&](RebuildContext&) { return Built(); }});
    rebuilding_ = false;
  }

  void Read(Reader& reader, const std::stop_token& stop) {
    std::vector<uint64_t> bits(BitmapWords(kBatch));
    const size_t batch = std::min(kBatch, always_.size());
    for (uint64_t round = 0; !stop.stop_requested(); ++round) {
      const int phase = phase_;
      const auto always =
          std::span(always_).subspan(KeyAt(round) % (always_.size() - batch + 1), batch);
      const uint64_t inserted = inserted_;  // read before the snapshot is taken
      const uint64_t some = std::min<uint64_t>(kNewInBatch, inserted);
      const auto later = std::span(later_).subspan(inserted - some, some);
      size_t found = 0;
      const double ns = Nanoseconds(Time::kWall, [&] {
        const Snapshot<Filter> snapshot = live_.Read();
        found += snapshot->Contains(always, Bitmap(bits));
        found += snapshot->Contains(later, Bitmap(bits));
      });
      reader.missed += always.size() + later.size() - found;
      if (phase != kNone && phase == phase_) {
        reader.times[static_cast<size_t>(phase)].Add(static_cast<uint64_t>(ns));
      }
    }
  }

  // Inserts a few keys for each rebuild. Each call is a separate transaction.
  void InsertMeanwhile(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      if (inserted_ + kNewInCall > std::min<uint64_t>(builds_ * kNewInRebuild, later_.size())) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
        continue;
      }
      const bool rebuilding = rebuilding_;
      const uint64_t builds = builds_;
      {
        auto change = live_.BeginChange();
        change.Insert(std::span(later_).subspan(inserted_, kNewInCall));
        committed_ += kNewInCall;
      }
      inserted_ += kNewInCall;
      if (rebuilding && rebuilding_ && builds == builds_) inserted_in_rebuild_ += kNewInCall;
    }
  }

  const uint64_t swaps_, num_readers_;
  std::vector<uint64_t> always_, later_;
  Counted memory_;
  Live<Filter> live_;
  std::atomic<int> phase_ = kNone;
  std::atomic<uint64_t> builds_ = 0;
  std::atomic<bool> rebuilding_ = false;
  // committed_: a rebuild reads this number of keys from the beginning of later_. inserted_: every
  // reader must find this number of keys.
  std::atomic<uint64_t> committed_ = 0, inserted_ = 0;
  uint64_t inserted_in_rebuild_ = 0;
};

}  // namespace
}  // namespace tamis::bench

int main(int argc, char** argv) {
  using tamis::bench::ParseCount;
  uint64_t swaps = 1000, keys = 1'000'000;
  uint64_t readers = std::max(1u, std::thread::hardware_concurrency());
  if (argc > 4 || (argc > 1 && !ParseCount(argv[1], swaps, 1, 1'000'000)) ||
      (argc > 2 && !ParseCount(argv[2], keys, 1)) ||
      (argc > 3 && !ParseCount(argv[3], readers, 1, 4096))) {
    std::fprintf(stderr, "usage: tamis_live_swaps [SWAPS [KEYS [READERS]]]\n");
    return 2;
  }
  try {
    return tamis::bench::Swaps(swaps, keys, readers).Run() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
}
