#include "bench/suite/calibrate.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/huge_memory.h"
#include "bench/suite/keys.h"
#include "bench/timing.h"
#include "tamis/bloom_filter.h"
#include "tamis/counting_filter.h"
#include "tamis/cuckoo_filter.h"
#include "tamis/engine.h"
#include "tamis/split_block_filter.h"

namespace tamis::bench {
namespace {

constexpr uint64_t kFirstBytes = uint64_t{256} << 10;
constexpr uint64_t kSizeStep = 4;

struct Kind {
  FilterKind kind;
  uint64_t max_bytes;
  bool partitions;  // an Engine inserts into parts of it
  std::unique_ptr<Filter> (*make)(const FilterOptions& options);
};

template <typename F>
std::unique_ptr<Filter> Make(const FilterOptions& options) {
  return std::make_unique<F>(options);
}

// One kind of cuckoo filter stands for all. Larger ones of kinds that take long to fill would keep
// everybody waiting.
constexpr uint64_t kMostForSlow = uint64_t{64} << 20;
constexpr Kind kKinds[] = {
    {FilterKind::kSplitBlock, ~uint64_t{0}, true, Make<SplitBlockBloomFilter>},
    {FilterKind::kCuckoo16, kMostForSlow, true, Make<CuckooFilter<16>>},
    {FilterKind::kBloom, kMostForSlow, false, Make<BloomFilter>},
    {FilterKind::kCounting, kMostForSlow, true, Make<CountingBloomFilter>},
};

// A GPU is measured by the library, which alone knows what it keeps there.
std::vector<const Backend*> HostBackends() {
  std::vector<const Backend*> backends;
  for (const Backend& backend : Backends()) {
    if (!IsAccelerator(&backend)) backends.push_back(&backend);
  }
  return backends;
}

// One way to carry out one operation, and its samples.
struct Task {
  std::string name;
  PlanStep step;
  Operation operation;
  uint64_t keys;
  std::vector<double> ns = {};
};

class Turn {
 public:
  Turn(const Kind& kind, uint64_t filter_bytes, Arena& arena)
      : partitions_(kind.partitions),
        owner_(kind.make(OptionsFor(filter_bytes, arena))),
        filter_(*owner_),
        erasable_(dynamic_cast<ErasableFilter*>(owner_.get())),
        keys_(filter_bytes, filter_.capacity()),
        queries_(keys_.Queries(KeyForm::kU64, 50).keys),
        batch_(keys_.Last(filter_.capacity(), KeyForm::kU64)),
        bits_(BitmapWords(queries_.size())) {
    keys_.ForEachSlice(filter_.capacity(), [&](const Keys& slice) { filter_.Insert(slice); });
  }

  std::vector<Task> Tasks(unsigned processors) const {
    std::vector<Task> tasks;
    const auto add = [&](const char* what, const Backend& backend, unsigned threads,
                         bool partitioned, Operation operation, uint64_t keys) {
      tasks.push_back({std::string("calibrate/") + FilterKindName(filter_.kind()) + "/" +
                           std::string(what) + "/backend:" + std::string(backend.name) +
                           "/threads:" + std::to_string(threads) +
                           "/bytes:" + std::to_string(filter_.bytes()),
                       {.backend = &backend, .threads = threads, .partitioned = partitioned},
                       operation,
                       keys});
    };
    for (const Backend* const host : HostBackends()) {
      const Backend& backend = *host;
      add("contains", backend, 1, false, Operation::kContains, queries_.size());
      add("insert", backend, 1, false, Operation::kInsert, batch_.size());
      if (partitions_) add("partitioned", backend, 1, true, Operation::kInsert, filter_.capacity());
    }
    if (processors > 1) {
      add("contains", Backends()[0], processors, false, Operation::kContains, queries_.size());
    }
    return tasks;
  }

  void Sample(Task& task, const Pinning& pinning, Sampler& sampler) {
    const Engine engine(EngineOptions{.pin = task.step});
    const Time time = task.step.threads == 1 ? Time::kThread : Time::kWall;
    const auto once = [&] {
      if (task.operation == Operation::kContains) {
        return Nanoseconds(time, [&] { engine.Contains(filter_, queries_, Bitmap(bits_)); });
      }
      if (!task.step.partitioned) {  // what is in is inserted again where that is no new key
        if (erasable_ != nullptr) erasable_->Erase(batch_);
        return Nanoseconds(time, [&] { engine.Insert(filter_, batch_); });
      }
      double ns = 0;
      filter_.Clear();
      keys_.ForEachSlice(filter_.capacity(), [&](const Keys& slice) {
        ns += Nanoseconds(time, [&] { engine.Insert(filter_, slice); });
      });
      return ns;
    };
    pinning.PinTo(task.step.threads);
    once();  // to warm up
    task.ns.push_back(sampler.Sample(task.name, task.keys, {}, 0, once));
    pinning.PinTo(1);
  }

 private:
  static FilterOptions OptionsFor(uint64_t filter_bytes, Arena& arena) {
    FilterOptions options;
    options.bytes = filter_bytes;
    options.memory.resource = &arena;
    return options;
  }

  bool partitions_;
  std::unique_ptr<Filter> owner_;
  Filter& filter_;
  ErasableFilter* erasable_;  // nullptr if it is none
  SuiteKeys keys_;
  Keys queries_;
  Keys batch_;
  HugeVector<uint64_t> bits_;
};

// What each thread beyond the first adds, of one and of several threads' times.
double Efficiency(double one_ns, double all_ns, unsigned threads) {
  return std::clamp((one_ns / all_ns - 1) / (threads - 1), 0.05, 1.0);
}

}  // namespace

Calibration MeasureCalibration(uint64_t max_filter_bytes, size_t repetitions,
                               const Pinning& pinning, Sampler& sampler, Progress& progress) {
  Calibration calibration;
  calibration.machine = "tamis-bench";
  for (const auto& [name, value] : MachineFacts()) {
    if (name == "processor") calibration.machine = value;
  }
  calibration.machine += ", " + std::to_string(pinning.processors()) + " processors";
  calibration.points.clear();
  for (const Kind& kind : kKinds) {
    std::vector<std::vector<CostPoint>> points(HostBackends().size());
    for (uint64_t bytes = kFirstBytes; bytes <= std::min(max_filter_bytes, kind.max_bytes);
         bytes *= kSizeStep) {
      Arena arena(bytes);
      Turn turn(kind, bytes, arena);
      std::vector<Task> tasks = turn.Tasks(pinning.processors());
      for (size_t i = 0; i < repetitions; ++i) {
        for (size_t j = 0; j < tasks.size(); ++j) {
          Task& task = tasks[(i + j) % tasks.size()];
          progress.Show(task.name + ", repetition " + std::to_string(i + 1), -1);
          turn.Sample(task, pinning, sampler);
        }
      }
      for (size_t i = 0; i < points.size(); ++i) {
        const Task* const its = &tasks[(kind.partitions ? 3 : 2) * i];
        points[i].push_back({.backend = std::string(HostBackends()[i]->name),
                             .filter_bytes = bytes,
                             .contains_ns = Median(its[0].ns),
                             .insert_ns = Median(its[1].ns),
                             .partitioned_insert_ns = Median(its[kind.partitions ? 2 : 1].ns),
                             .kind = kind.kind});
      }
      // Of the largest split-block filter, whose time matters most.
      if (pinning.processors() > 1 && kind.kind == FilterKind::kSplitBlock) {
        calibration.thread_efficiency =
            Efficiency(Median(tasks.front().ns), Median(tasks.back().ns), pinning.processors());
      }
    }
    for (auto& of_backend : points) {
      for (CostPoint& point : of_backend) calibration.points.push_back(std::move(point));
    }
  }
  progress.Show("calibrate, the GPU", -1);
  calibration.MeasureDevice();
  calibration.Validate();
  return calibration;
}

}  // namespace tamis::bench
