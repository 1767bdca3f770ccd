// Calibration::Measure.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/src/bulk/regions.h"
#include "core/src/engine/calibration/calibration_fields.h"
#include "core/src/engine/calibration/measured_filter.h"
#include "core/src/engine/thread_pool.h"
#include "core/src/filters/registry/kinds.h"
#include "core/src/os/process.h"
#include "tamis/backend.h"
#include "tamis/backends.h"
#include "tamis/detail/str_cat.h"
#include "tamis/engine/calibration.h"
#include "tamis/engine/engine.h"
#include "tamis/error.h"
#include "tamis/filters/any_filter.h"

namespace tamis {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kMinFilterBytes = uint64_t{256} << 10;
constexpr uint64_t kSizeStep = 4;
constexpr int kRepetitions = 5;
// Number of keys of one repetition, which takes a fraction of a millisecond or more.
constexpr size_t kKeys = size_t{128} << 10;
constexpr uint64_t kBitsPerKey = 12;  // Bloom filters get at most one key per 12 bits

// Returns the wall-clock time in seconds.
double WallTime() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

// Returns the seconds that this thread has worked, or the wall-clock time if they are unknown.
double ThreadTime() {
  const std::optional<double> seconds = os::ThreadSeconds();
  return seconds ? *seconds : WallTime();
}

// Returns the shortest time, by clock(), of `repetitions` calls of call(repetition). Before each
// call, calls prepare(repetition), whose time does not count.
template <typename Prepare, typename Call>
double BestSeconds(double (*clock)(), int repetitions, const Prepare& prepare, const Call& call) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repetitions; ++i) {
    prepare(i);
    const double start = clock();
    call(i);
    best = std::min(best, clock() - start);
  }
  return best;
}

// Returns BestSeconds of one thread, in nanoseconds per key. Never 0, even if the clock is coarse.
template <typename Prepare, typename Call>
double BestNs(int repetitions, uint64_t keys, const Prepare& prepare, const Call& call) {
  const double seconds = BestSeconds(ThreadTime, repetitions, prepare, call);
  return std::max(1e9 * seconds / static_cast<double>(keys), 0.001);
}

Engine PinnedEngine(const Backend& backend, unsigned threads, bool partitioned) {
  EngineOptions options;
  options.pin = CallRoute{&backend, threads, partitioned, 0, 0};
  return Engine(std::move(options));
}

void FillSequence(uint64_t first, std::span<uint64_t> keys) {
  std::iota(keys.begin(), keys.end(), first);
}

// A filter with keys to insert and keys to query. The filter contains every other key to query.
class Workload {
 public:
  Workload(const detail::Kind& kind, uint64_t filter_bytes)
      : kind_(kind), filter_(detail::MakeMeasured(kind, filter_bytes)) {
    if (kind.info.is_static) {
      const uint64_t keys = detail::MeasuredKeys(kind, filter_bytes);
      // Measures a second build, because the build above touched the memory for the first time.
      build_ns_ = BestNs(
          1, keys, [](int) {}, [&](int) { filter_ = detail::MakeMeasured(kind, filter_bytes); });
      MakeKeys(keys);
      return;
    }
    uint64_t most = 8 * filter_bytes / kBitsPerKey;
    partitioned_keys_ = detail::CalibratedKeys(filter_bytes);
    insert_keys_ = kKeys;
    if (kind.calibration.until_full) {
      // Measures until the filter is full: inserting the last tenth of the keys takes as long as
      // inserting half of the other keys.
      most = partitioned_keys_ = insert_keys_ = changeable().capacity();
    }
    MakeKeys(most);
    // Touches the memory of the filter and of the buffers before the first measurement.
    if (kind.calibration.fill != nullptr) {
      kind.calibration.fill(changeable(), keys_.size());
      changeable().Insert(keys_);
    } else {
      InsertPartitioned(PinnedEngine(Backends().front(), 1, true));
    }
  }

  Calibration::Point Measure(const Backend& backend) {
    Calibration::Point point;
    point.backend = backend.name;
    point.kind = kind_.info.kind;
    point.filter_bytes = filter_->bytes();
    if (kind_.info.is_static) {
      point.insert_ns = point.partitioned_insert_ns = build_ns_;
    } else {
      MeasureInsertions(backend, point);
    }
    const Engine engine = PinnedEngine(backend, 1, false);
    point.contains_ns = BestNs(
        kRepetitions, kKeys, [](int) {},
        [&](int repetition) {
          engine.Contains(*filter_, Slice(queries_, repetition), Bitmap(bits_));
        });
    return point;
  }

  // Returns the throughput that each further thread adds, relative to one thread.
  double ThreadEfficiency(const Backend& backend, unsigned threads, double start_seconds) {
    std::vector<uint64_t> bits(BitmapWords(queries_.size()));
    const auto seconds = [&](unsigned count) {
      const Engine engine = PinnedEngine(backend, count, false);
      return BestSeconds(
          WallTime, kRepetitions, [](int) {},
          [&](int) { engine.Contains(*filter_, queries_, Bitmap(bits)); });
    };
    const double one = seconds(1);
    const double all = std::max(seconds(threads) - start_seconds * (threads - 1), 1e-9);
    return std::clamp((one / all - 1) / (threads - 1), 0.05, 1.0);
  }

 private:
  ChangeableFilter& changeable() { return RequireChangeable(*filter_); }

  // Each repetition queries different keys if the filter contains enough. The cache lines of
  // repeated keys would be in a cache, unlike the cache lines of a user's keys.
  void MakeKeys(uint64_t most) {
    keys_.resize(
        std::clamp<uint64_t>(kRepetitions * kKeys, kKeys, std::max<uint64_t>(most, kKeys)));
    FillSequence(0, keys_);
    queries_ = keys_;
    for (size_t i = 1; i < queries_.size(); i += 2) queries_[i] += uint64_t{1} << 40;
  }

  // Visits the whole filter, so that as much of it as possible is in the caches.
  void MeasureInsertions(const Backend& backend, Calibration::Point& point) {
    const Engine direct = PinnedEngine(backend, 1, false);
    const Engine partitioned = PinnedEngine(backend, 1, true);
    const bool empties = kind_.calibration.until_full;
    // Many keys need no repetition.
    const int repetitions = partitioned_keys_ > kKeys ? 1 : kRepetitions;
    // A filter that can be full is emptied before keys are inserted again.
    const auto empty = [&](int) {
      if (empties) changeable().Clear();
    };
    if (kind_.info.can.parallel_build) {
      point.partitioned_insert_ns = BestNs(repetitions, partitioned_keys_, empty,
                                           [&](int) { InsertPartitioned(partitioned); });
    }
    point.insert_ns =
        BestNs(empties ? repetitions : kRepetitions, insert_keys_, empty, [&](int repetition) {
          if (empties) {
            direct.Insert(changeable(), insert_keys_, FillSequence);
          } else {
            direct.Insert(changeable(), Slice(keys_, repetition));
          }
        });
    if (!kind_.info.can.parallel_build) {
      point.partitioned_insert_ns = point.insert_ns;  // cannot be partitioned
    }
  }

  void InsertPartitioned(const Engine& engine) {
    engine.Insert(changeable(), partitioned_keys_, FillSequence);
  }

  static Keys Slice(const std::vector<uint64_t>& keys, int repetition) {
    const size_t step = (keys.size() - kKeys) / (kRepetitions - 1);
    return Keys(keys).Slice(static_cast<size_t>(repetition) * step, kKeys);
  }

  const detail::Kind& kind_;
  AnyFilter filter_;
  double build_ns_ = 0;  // of a static kind: time to build, per key
  uint64_t partitioned_keys_ = 0;
  uint64_t insert_keys_ = 0;
  std::vector<uint64_t> keys_;
  std::vector<uint64_t> queries_;
  std::vector<uint64_t> bits_ = std::vector<uint64_t>(BitmapWords(kKeys));
};

// Returns the median, per thread, of the time until all threads work on a call that found them
// asleep.
double ThreadStartSeconds(unsigned threads) {
  constexpr int kCalls = 25;
  constexpr std::chrono::milliseconds kGiveUp{5};  // the system may refuse to start a thread
  detail::ThreadPool pool;
  std::vector<double> seconds;
  for (int i = 0; i < kCalls; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    std::atomic<unsigned> arrived{0};
    const Clock::time_point deadline = Clock::now() + kGiveUp;
    seconds.push_back(BestSeconds(
        WallTime, 1, [](int) {},
        [&](int) {
          pool.ParallelFor(threads, threads, [&](size_t, unsigned) noexcept {
            ++arrived;
            while (arrived < threads && Clock::now() < deadline) std::this_thread::yield();
          });
        }));
  }
  std::nth_element(seconds.begin(), seconds.begin() + kCalls / 2, seconds.end());
  return seconds[kCalls / 2] / (threads - 1);
}

std::string Machine(unsigned threads) {
  std::string processor = os::ProcessorName();
  if (processor.empty()) processor = os::SystemName();
  if (processor.empty()) processor = "unknown processor";
  std::string name =
      detail::StrCat(processor, ", ", threads, threads == 1 ? " thread" : " threads", ", backends");
  for (const Backend& backend : Backends()) name += " " + std::string(backend.name);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return name;
}

}  // namespace

Calibration Calibration::Measure(uint64_t max_filter_bytes) {
  if (max_filter_bytes < kMinFilterBytes || max_filter_bytes > detail::kMaxFilterBytes) {
    throw Error(
        ErrorCode::kInvalidArgument,
        detail::StrCat("the largest filter to measure has ", max_filter_bytes,
                       " bytes; allowed: ", kMinFilterBytes, " to ", detail::kMaxFilterBytes));
  }
  const unsigned threads = Engine().threads();
  Calibration calibration;
  calibration.machine = Machine(threads);
  calibration.points.clear();

  if (threads > 1) calibration.thread_start_us = 1e6 * ThreadStartSeconds(threads);
  for (const detail::Kind* kind : detail::Kinds()) {
    if (kind->calibration.costs_as != kind->info.kind) continue;  // has the costs of another kind
    const uint64_t most = std::min(max_filter_bytes, kind->calibration.max_bytes);
    const std::span<const Backend> backends = Backends();
    std::vector<std::vector<Calibration::Point>> by_backend(backends.size());
    for (uint64_t bytes = kMinFilterBytes; bytes <= most; bytes *= kSizeStep) {
      Workload workload(*kind, bytes);
      for (size_t i = 0; i < backends.size(); ++i) {
        if (backends[i].make_accelerator != nullptr) continue;  // measured separately below
        by_backend[i].push_back(workload.Measure(backends[i]));
      }
      // Uses the largest filter, because its time matters most.
      if (kind == detail::Kinds().front() && threads > 1 && bytes * kSizeStep > max_filter_bytes) {
        calibration.thread_efficiency =
            workload.ThreadEfficiency(backends[0], threads, 1e-6 * calibration.thread_start_us);
      }
    }
    for (std::vector<Calibration::Point>& points : by_backend) {
      calibration.points.insert(calibration.points.end(), points.begin(), points.end());
    }
  }
  calibration.MeasureDevice();
  return calibration;
}

}  // namespace tamis
