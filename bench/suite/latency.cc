#include "bench/suite/latency.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

#include "bench/huge_memory.h"
#include "bench/suite/keys.h"
#include "bench/suite/subject.h"
#include "bench/suite/turns.h"
#include "bench/timing.h"
#include "bench/workload.h"
#include "tamis/backends.h"
#include "tamis/detail/str_cat.h"
#include "tamis/engine/engine.h"
#include "tamis/filters/split_block_filter.h"

namespace tamis::bench {
namespace {

constexpr char kKind[] = "split_block";  // the default kind
constexpr uint32_t kLatencyCallKeys[] = {1, 100, 1000, 100'000};
constexpr uint32_t kMostInQuick = 1000;
constexpr Beside kBesides[] = {Beside::kNothing, Beside::kContains, Beside::kInsert,
                               Beside::kContainsApart};
constexpr uint64_t kFewestQueries = uint64_t{1} << 17;  // more than the largest small call
constexpr uint64_t kLargeKeys = uint64_t{16} << 20;
constexpr size_t kMaxCalls = size_t{1} << 20;  // calls of one case in one repetition
constexpr size_t kMinCalls = 1000;             // fewer only after kMostWindows windows
constexpr double kMostWindows = 4;

// A filter that small calls query, and their queries.
class Asked {
 public:
  Asked(const SizeClass& size, const Engine& engine) : arena_(ArenaBytes(size.bytes)) {
    filter_.emplace(OptionsOf(arena_, size.bytes, kBitsPerKey));
    keys_.emplace(size.bytes, filter_->capacity(), std::span<const KeyType>());
    keys_->ForEachSlice(filter_->capacity(),
                        [&](const Keys& slice) { engine.Insert(*filter_, slice); });
    queries_ = keys_->Queries(KeyType::kU64, 50);
    // If the filter is in a cache, the queries must leave it there.
    const uint64_t lines = size.bytes / 64;
    queries_.keys = queries_.keys.Slice(
        0, std::min<uint64_t>(queries_.keys.size(), std::max(kFewestQueries, lines)));
  }

  const SplitBlockBloomFilter& filter() const { return *filter_; }
  const Keys& queries() const { return queries_.keys; }

  // Returns the number of keys of each call that `portable` finds.
  const std::vector<uint32_t>& Found(uint32_t call_keys) {
    std::vector<uint32_t>& found = found_[call_keys];
    if (!found.empty()) return found;
    HugeVector<uint64_t> bits(BitmapWords(queries().size()));
    const Engine portable({.threads = 1, .backend = &FindBackend("portable")});
    portable.Contains(filter(), queries(), Bitmap(bits));
    for (size_t i = 0; i < queries().size(); ++i) {
      const auto is_found = static_cast<uint32_t>(bits[i / 64] >> (i % 64) & 1);
      if (is_found == 0 && queries_.present[i] != 0) {
        throw std::runtime_error("portable misses a key that was inserted");
      }
      if (i % call_keys == 0) found.push_back(0);
      found.back() += is_found;
    }
    if (queries().size() % call_keys != 0) found.pop_back();  // the last call has fewer keys
    return found;
  }

 private:
  Arena arena_;
  std::optional<SplitBlockBloomFilter> filter_;
  std::optional<SuiteKeys> keys_;
  AskedKeys queries_;
  std::map<uint32_t, std::vector<uint32_t>> found_;
};

// A thread that makes the same call repeatedly.
class Loop {
 public:
  // Returns after the first call, which touches memory for the first time.
  explicit Loop(std::function<void()> call)
      : thread_([this, call = std::move(call)](std::stop_token stop) {
          try {
            while (!stop.stop_requested()) {
              call();
              warm_.store(true);
              warm_.notify_one();
            }
          } catch (...) {
            error_ = std::current_exception();
            warm_.store(true);
            warm_.notify_one();
          }
        }) {
    warm_.wait(false);
  }

  // Rethrows the exception of a call.
  void Stop() {
    thread_.request_stop();
    thread_.join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::atomic<bool> warm_{false};
  std::exception_ptr error_;
  std::jthread thread_;  // last, because it uses the other members
};

// Makes calls one after the other. Each call is timed from the end of the previous one. So if the
// thread loses its processor, that time is always part of a call.
std::vector<uint64_t> TimeCalls(const Engine& engine, Asked& asked, uint32_t call_keys,
                                double window_seconds) {
  const std::vector<uint32_t>& found = asked.Found(call_keys);
  std::vector<uint64_t> bits(BitmapWords(call_keys));
  // Writes all elements now, so that no page is touched for the first time later.
  std::vector<uint64_t> times(kMaxCalls);
  size_t calls = 0, at = 0, wrong = 0;
  const double start = NowNs(Time::kWall);
  for (double before = start;;) {
    const Keys keys = asked.queries().Slice(at * call_keys, call_keys);
    const size_t n = engine.Contains(asked.filter(), keys, Bitmap(bits));
    const double now = NowNs(Time::kWall);
    times[calls++] = static_cast<uint64_t>(std::max(now - before, 1.0));  // for coarse clocks
    before = now;
    wrong += n != found[at];
    at = at + 1 == found.size() ? 0 : at + 1;
    const double seconds = 1e-9 * (now - start);
    if (calls == kMaxCalls || seconds >= kMostWindows * window_seconds) break;
    if (seconds >= window_seconds && calls >= kMinCalls) break;
  }
  if (wrong > 0) {
    throw std::runtime_error(
        detail::StrCat(wrong, " of ", calls, " small calls found other keys than portable"));
  }
  times.resize(calls);
  return times;
}

// Measures all cases, one repetition after the other. So the same calls, alone and beside another
// thread, are measured while the machine is in the same state.
class Latencies {
 public:
  Latencies(const LatencySchedule& schedule, const Backend& backend, unsigned processors,
            Results& results)
      : schedule_(schedule),
        engine_({.threads = processors, .backend = &backend}),
        apart_({.threads = std::max(processors, 2u) - 1, .backend = &backend}),
        first_(results.latencies.size()),
        rows_(results.latencies) {
    for (const LatencyCase& c : schedule.cases) {
      auto& asked = asked_[c.size.name];
      if (asked == nullptr) asked = std::make_unique<Asked>(c.size, engine_);
      if (c.size.bytes > largest_.bytes) largest_ = c.size;
      const bool apart = c.beside == Beside::kContainsApart;
      const bool alone = c.beside == Beside::kNothing;
      rows_.push_back({.name = LatencyName(c, backend, engine_.threads()),
                       .kind = kKind,
                       .backend = std::string(backend.name),
                       .threads = engine_.threads(),
                       .size_class = c.size.name,
                       .filter_bytes = asked->filter().bytes(),
                       .num_keys = asked->filter().capacity(),
                       .call_keys = c.call_keys,
                       .beside = std::string(BesideName(c.beside)),
                       .large_threads = alone   ? 0
                                        : apart ? apart_.threads()
                                                : engine_.threads(),
                       .large_keys = alone ? 0 : schedule.large_keys});
    }
    large_keys_.resize(schedule.large_keys);
    for (size_t i = 0; i < large_keys_.size(); ++i) large_keys_[i] = KeyAt(i);
    large_bits_.resize(BitmapWords(large_keys_.size()));
    changed_arena_.emplace(ArenaBytes(largest_.bytes));
    changed_.emplace(OptionsOf(*changed_arena_, largest_.bytes, kBitsPerKey));
  }

  void Repeat(size_t repetition) {
    constexpr size_t kCount = std::size(kBesides);
    for (size_t i = 0; i < kCount; ++i) MeasureBeside(kBesides[(i + repetition) % kCount]);
    for (size_t i = 0; i < schedule_.cases.size(); ++i) AddRatio(i);
  }

 private:
  void MeasureBeside(Beside beside) {
    const auto is_beside = [&](const LatencyCase& c) { return c.beside == beside; };
    const auto& cases = schedule_.cases;
    if (std::none_of(cases.begin(), cases.end(), is_beside)) return;
    for (const LatencyCase& c : cases) asked_[c.size.name]->Found(c.call_keys);
    std::optional<Loop> loop;
    if (beside != Beside::kNothing) loop.emplace([this, beside] { CallLarge(beside); });
    for (size_t i = 0; i < cases.size(); ++i) {
      if (!is_beside(cases[i])) continue;
      const std::vector<uint64_t> times = TimeCalls(engine_, *asked_[cases[i].size.name],
                                                    cases[i].call_keys, schedule_.window_seconds);
      rows_[first_ + i].calls += times.size();
      rows_[first_ + i].ns.push_back(PercentilesOf(times));
    }
    if (loop) loop->Stop();
  }

  void CallLarge(Beside beside) {
    const Keys keys{std::span<const uint64_t>(large_keys_)};
    if (beside == Beside::kInsert) {
      engine_.Insert(*changed_, keys);
    } else {
      const Engine& engine = beside == Beside::kContainsApart ? apart_ : engine_;
      engine.Contains(asked_[largest_.name]->filter(), keys, Bitmap(large_bits_));
    }
  }

  // Adds the ratio to the same calls alone in this repetition, if they are measured.
  void AddRatio(size_t i) {
    LatencyCase alone = schedule_.cases[i];
    if (alone.beside == Beside::kNothing) return;
    alone.beside = Beside::kNothing;
    const auto found = std::find(schedule_.cases.begin(), schedule_.cases.end(), alone);
    if (found == schedule_.cases.end()) return;
    const auto base = static_cast<size_t>(found - schedule_.cases.begin());
    rows_[first_ + i].p99_over_alone.push_back(rows_[first_ + i].ns.back().p99 /
                                               rows_[first_ + base].ns.back().p99);
  }

  const LatencySchedule& schedule_;
  const Engine engine_;
  const Engine apart_;
  const size_t first_;  // index of our first row in rows_
  std::vector<Latency>& rows_;
  std::map<std::string, std::unique_ptr<Asked>> asked_;  // by size class
  SizeClass largest_;
  HugeVector<uint64_t> large_keys_;
  HugeVector<uint64_t> large_bits_;
  std::optional<Arena> changed_arena_;
  std::optional<SplitBlockBloomFilter> changed_;
};

}  // namespace

std::string_view BesideName(Beside beside) noexcept {
  constexpr std::string_view kNames[] = {"nothing", "contains", "insert", "contains_apart"};
  return kNames[static_cast<size_t>(beside)];
}

std::string LatencyName(const LatencyCase& c, const Backend& backend, unsigned threads) {
  std::string name = std::string(kKind) + "/latency/backend:";
  name.append(backend.name).append("/threads:").append(std::to_string(threads));
  name.append("/size:").append(c.size.name).append("/call:").append(std::to_string(c.call_keys));
  return name.append("/beside:").append(BesideName(c.beside));
}

double LatencySchedule::Seconds() const {
  if (cases.empty()) return 0;
  const double windows = static_cast<double>(cases.size() * repetitions) * window_seconds;
  // The last term is the time for building the filters. `large` is the time for the first and the
  // last of the largest calls in each repetition.
  const double large = 20e-9 * static_cast<double>(large_keys * repetitions * std::size(kBesides));
  return windows + large + 5;
}

LatencySchedule LatencyScheduleFor(const LatencyInput& input) {
  LatencySchedule schedule;
  if (ComparesSpeeds(input.mode)) return schedule;
  const bool quick = input.mode == Mode::kQuick;
  const bool full = input.mode == Mode::kFull;
  schedule.repetitions = input.repetitions.value_or(quick ? 5 : full ? 11 : 7);
  schedule.window_seconds = quick ? 0.05 : full ? 0.5 : 0.2;
  schedule.large_keys = std::clamp<uint64_t>(input.max_bytes / sizeof(uint64_t), 1, kLargeKeys);
  const NameFilter filter(input.filter);
  const char* const in_cache = input.caches.l2 < input.caches.last_level ? "L2" : "LLC";
  for (const SizeClass& size : input.sizes) {
    if (size.num_keys != 0 || (size.name != in_cache && size.name != "memory")) continue;
    for (const uint32_t call_keys : kLatencyCallKeys) {
      if (quick && call_keys > kMostInQuick) continue;
      for (const Beside beside : kBesides) {
        // With one processor, no engine has fewer threads: an engine has at least the thread of its
        // caller.
        if (beside == Beside::kContainsApart && input.processors < 2) continue;
        const LatencyCase c{size, call_keys, beside};
        if (filter.Keeps(LatencyName(c, *input.backend, input.processors))) {
          schedule.cases.push_back(c);
        }
      }
    }
  }
  return schedule;
}

void MeasureLatencies(const LatencySchedule& schedule, const Backend& backend,
                      const Pinning& pinning, Progress& progress, Results& results) {
  if (schedule.cases.empty()) return;
  const unsigned processors = pinning.processors();
  pinning.PinTo(processors);
  progress.Show("latency of small calls, filters", schedule.Seconds());
  Latencies latencies(schedule, backend, processors, results);
  for (size_t i = 0; i < schedule.repetitions; ++i) {
    const auto left = static_cast<double>(schedule.repetitions - i);
    progress.Show(detail::StrCat("latency of small calls, repetition ", i + 1),
                  schedule.Seconds() * left / static_cast<double>(schedule.repetitions));
    latencies.Repeat(i);
  }
  pinning.PinTo(1);
}

}  // namespace tamis::bench
