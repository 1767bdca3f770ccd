#include "bench/suite/gpu.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "bench/timing.h"
#include "bench/workload.h"
#include "tamis/cuckoo_filter.h"
#include "tamis/cuda/device_filter.h"
#include "tamis/cuda/host_pipeline.h"
#include "tamis/error.h"
#include "tamis/sizing.h"
#include "tamis/split_block_filter.h"

namespace tamis::bench {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kVerifiedBytes = uint64_t{1} << 16;
constexpr uint64_t kVerifiedKeys = 10'007;  // a prime: the last warp is not full
constexpr double kSplitBlockBitsPerKey = 16;

// Names of backends: only the rows are made with them.
const Backend kPlaces[] = {
    {"CUDA:device", "keys and answers in device memory", nullptr},
    {"CUDA:pinned", "keys in pinned memory of the host", nullptr},
    {"CUDA:host", "keys in any memory of the host", nullptr},
};
enum Place : size_t { kDevice, kPinned, kHost };

template <typename T>
class DeviceArray {
 public:
  DeviceArray(GpuDevice& device, uint64_t n)
      : device_(device), n_(n), data_(static_cast<T*>(device.Allocate(n * sizeof(T)))) {}
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { device_.Free(data_); }
  T* data() const { return data_; }
  std::span<T> span() const { return {data_, n_}; }
  Keys keys(uint64_t n) const { return std::span<const T>(data_, n); }

 private:
  GpuDevice& device_;
  uint64_t n_;
  T* data_;
};

class PinnedKeys {
 public:
  PinnedKeys(GpuDevice& device, uint64_t n)
      : device_(device), n_(n), data_(static_cast<uint64_t*>(device.AllocatePinned(8 * n))) {}
  PinnedKeys(const PinnedKeys&) = delete;
  PinnedKeys& operator=(const PinnedKeys&) = delete;
  ~PinnedKeys() { device_.FreePinned(data_); }
  uint64_t* data() const { return data_; }
  std::span<const uint64_t> span() const { return {data_, n_}; }

 private:
  GpuDevice& device_;
  uint64_t n_;
  uint64_t* data_;
};

struct Kind {
  const char* name;
  bool can_be_full;  // hence built to its capacity, and erased from
  uint64_t max_bytes;
  std::unique_ptr<Filter> (*make)(uint64_t bytes);
};

constexpr Kind kKinds[] = {
    {"split_block", false, ~uint64_t{0},
     [](uint64_t bytes) -> std::unique_ptr<Filter> {
       return std::make_unique<SplitBlockBloomFilter>(FilterOptions{.bytes = bytes});
     }},
    {"cuckoo16", true, 1024 * kMiB,
     [](uint64_t bytes) -> std::unique_ptr<Filter> {
       return std::make_unique<CuckooFilter<16>>(FilterOptions{.bytes = bytes});
     }},
};

// Of calls that count, too, as all do that wait: one that a GPU has done in some microseconds, and
// one that fills it many times.
constexpr uint32_t kCallKeys[] = {1 << 20, 1 << 24};

std::vector<Case> CasesOf(const Kind& kind) {
  using enum Operation;
  std::vector<Case> cases;
  for (const int hits : {0, 50, 100}) {
    cases.push_back({.operation = kContains, .backend = &kPlaces[kDevice], .hit_percent = hits});
  }
  for (const uint32_t call : kCallKeys) {
    cases.push_back({.operation = kContains, .backend = &kPlaces[kDevice], .call_keys = call});
  }
  cases.push_back({.operation = kContains, .backend = &kPlaces[kPinned]});
  cases.push_back({.operation = kContains, .backend = &kPlaces[kHost]});
  if (kind.can_be_full) {
    cases.push_back({.operation = kErase, .backend = &kPlaces[kDevice]});
    cases.push_back(
        {.operation = kBuild, .backend = &kPlaces[kDevice]});  // last: it fills it again
  } else {
    cases.push_back({.operation = kInsert, .backend = &kPlaces[kDevice]});
  }
  return cases;
}

std::vector<Case> CasesOf(const Kind& kind, const SizeClass& size, const NameFilter& filter) {
  if (size.bytes > kind.max_bytes) return {};
  std::vector<Case> cases = CasesOf(kind);
  std::erase_if(cases,
                [&](const Case& c) { return !filter.Keeps(CaseName(kind.name, c, size, true)); });
  return cases;
}

SizeClass SizeOf(uint64_t bytes) {
  const bool small = bytes < kMiB;
  return {"GPU_" + std::to_string(small ? bytes >> 10 : bytes / kMiB) + (small ? "KiB" : "MiB"),
          bytes};
}

Limit& LimitOf(std::vector<Limit>& limits, const Limit& sample) {
  const auto same = [&](const Limit& limit) {
    return limit.name == sample.name && limit.size_class == sample.size_class;
  };
  const auto found = std::find_if(limits.begin(), limits.end(), same);
  return found != limits.end() ? *found : limits.emplace_back(sample);
}

// A kind of filter of one size on the device, filled, and its rows.
class Contestant {
 public:
  Contestant(GpuDevice& device, const Kind& kind, const SizeClass& size,
             const GpuSchedule& schedule, const NameFilter& filter)
      : device_(device),
        kind_(kind),
        size_(size),
        schedule_(schedule),
        cases_(CasesOf(kind, size, filter)),
        filter_(kind.make(size.bytes)->Header(), device.options()),
        num_keys_(kind.can_be_full
                      ? filter_.Header().capacity
                      : static_cast<uint64_t>(8 * static_cast<double>(filter_.bytes()) /
                                              kSplitBlockBitsPerKey)) {}

  const Kind& kind() const { return kind_; }
  std::vector<Row>& rows() { return rows_; }

  // All cases once. `keys` and `bits` are memory for a batch; `limits` are those of this
  // repetition.
  struct Limits {
    double read_ns = 0;  // per sector
    double set_ns = 0;
    double copy_ns = 0;  // per key to the device
  };
  void Repeat(size_t repetition, cuda::HostPipeline& pipeline, const DeviceArray<uint64_t>& keys,
              const DeviceArray<uint64_t>& bits, const PinnedKeys& pinned, const Limits& limits);

 private:
  void Fill(const DeviceArray<uint64_t>& keys);
  double Measure(const Case& c, cuda::HostPipeline& pipeline, const DeviceArray<uint64_t>& keys,
                 const DeviceArray<uint64_t>& bits, const PinnedKeys& pinned, uint64_t* batch);
  double MeasureChange(const Case& c, const DeviceArray<uint64_t>& keys, uint64_t* batch);

  GpuDevice& device_;
  const Kind& kind_;
  const SizeClass size_;
  const GpuSchedule& schedule_;
  std::vector<Case> cases_;
  cuda::DeviceFilter filter_;
  uint64_t num_keys_;
  double fpr_ = 0;
  std::vector<Row> rows_;
};

// What the device does otherwise than `portable`.
std::optional<std::string> Disagreement(GpuDevice& device, const Kind& kind) {
  const std::unique_ptr<Filter> host = kind.make(kVerifiedBytes);
  host->set_backend(FindBackend("portable"));
  cuda::DeviceFilter filter(host->Header(), device.options());
  const uint64_t n = std::min(kVerifiedKeys, host->capacity());
  const DeviceArray<uint64_t> keys(device, n);
  device.MakeKeys(keys.data(), n, 0);
  if (filter.Insert(keys.keys(n)) != n) return "not all keys went in";
  std::vector<uint64_t> queries(n);
  device.Copy(queries.data(), keys.data(), 8 * n);
  for (uint64_t i = 0; i < n; ++i) {
    if (queries[i] != KeyAt(i)) return "the device makes other keys";
  }
  const std::unique_ptr<Filter> copy = kind.make(kVerifiedBytes);
  filter.Download(*copy);
  copy->set_backend(FindBackend("portable"));
  if (!kind.can_be_full) {  // else the order of insertions decides where fingerprints are
    host->Insert(queries);
    const auto want = host->payload();
    if (!std::equal(want.begin(), want.end(), copy->payload().begin())) {
      return "other bits after the same insertions";
    }
  }
  device.MakeQueries(keys.data(), n, n, 50);
  device.Copy(queries.data(), keys.data(), 8 * n);
  const DeviceArray<uint64_t> bits(device, BitmapWords(n));
  const size_t found = filter.Contains(keys.keys(n), Bitmap(bits.span()));
  std::vector<uint64_t> want(BitmapWords(n)), got(BitmapWords(n));
  device.Copy(got.data(), bits.data(), 8 * got.size());
  if (copy->Contains(queries, Bitmap(want)) != found || want != got) return "other answers";
  return std::nullopt;
}

void Contestant::Fill(const DeviceArray<uint64_t>& keys) {
  filter_.Clear();
  for (uint64_t first = 0; first < num_keys_; first += schedule_.batch_keys) {
    const uint64_t n = std::min(schedule_.batch_keys, num_keys_ - first);
    device_.MakeKeys(keys.data(), n, first);
    if (filter_.Insert(keys.keys(n)) != n) throw std::runtime_error("a filter took too few keys");
  }
}

// Batches of the last keys, as far as they are in one.
double Contestant::MeasureChange(const Case& c, const DeviceArray<uint64_t>& keys,
                                 uint64_t* batch) {
  const uint64_t n = *batch = std::min(schedule_.batch_keys, num_keys_);
  if (c.operation == Operation::kInsert) {
    device_.MakeKeys(keys.data(), n, num_keys_ - n);
    return device_.Time([&](cudaStream_t stream) {
      filter_.InsertAsync(keys.keys(n), stream).ThrowIfFailed("inserting");
    });
  }
  const DeviceArray<uint64_t> failed(device_, BitmapWords(n));
  const DeviceArray<uint64_t> count(device_, 1);
  const DeviceArray<std::byte> scratch(device_, cuda::DeviceFilter::kInsertScratchBytes);
  double seconds = 0;
  if (c.operation == Operation::kErase) {
    device_.MakeKeys(keys.data(), n, num_keys_ - n);
    seconds = device_.Time([&](cudaStream_t stream) {
      filter_.EraseAsync(keys.keys(n), Bitmap(failed.span()), count.data(), stream)
          .ThrowIfFailed("erasing");
    });
    filter_.Insert(keys.keys(n));
    return seconds;
  }
  filter_.Clear();
  *batch = num_keys_;
  for (uint64_t first = 0; first < num_keys_; first += schedule_.batch_keys) {
    const uint64_t part = std::min(schedule_.batch_keys, num_keys_ - first);
    device_.MakeKeys(keys.data(), part, first);
    seconds += device_.Time([&](cudaStream_t stream) {
      filter_
          .InsertAsync(keys.keys(part), Bitmap(failed.span()), count.data(), scratch.span(), stream)
          .ThrowIfFailed("inserting");
    });
    uint64_t missing = 0;
    device_.Copy(&missing, count.data(), sizeof(missing));
    if (missing != 0) throw std::runtime_error(std::to_string(missing) + " keys did not go in");
  }
  return seconds;
}

double Contestant::Measure(const Case& c, cuda::HostPipeline& pipeline,
                           const DeviceArray<uint64_t>& keys, const DeviceArray<uint64_t>& bits,
                           const PinnedKeys& pinned, uint64_t* batch) {
  if (!IsLookup(c.operation)) return MeasureChange(c, keys, batch);
  const bool on_device = c.backend == &kPlaces[kDevice];
  const uint64_t n = *batch = on_device ? schedule_.batch_keys : schedule_.host_batch_keys;
  device_.MakeQueries(keys.data(), n, num_keys_, c.hit_percent);
  double seconds = 0;
  uint64_t found = 0;
  if (on_device && c.call_keys != 0) {
    const DeviceArray<uint64_t> count(device_, 1);
    seconds = device_.Time([&](cudaStream_t stream) {
      for (uint64_t begin = 0; begin < n; begin += c.call_keys) {
        const uint64_t part = std::min<uint64_t>(c.call_keys, n - begin);
        filter_
            .ContainsAsync(keys.keys(n).Slice(begin, part), Bitmap(bits.span()), count.data(),
                           stream)
            .ThrowIfFailed("looking up");
      }
    });
  } else if (on_device) {
    seconds = device_.Time([&](cudaStream_t stream) {
      filter_.ContainsAsync(keys.keys(n), Bitmap(bits.span()), nullptr, stream)
          .ThrowIfFailed("looking up");
    });
    found = filter_.Count(keys.keys(n));
    if (c.hit_percent == 0) fpr_ = static_cast<double>(found) / static_cast<double>(n);
  } else {
    device_.Copy(pinned.data(), keys.data(), 8 * n);
    std::vector<uint64_t> pageable;
    std::span<const uint64_t> asked = pinned.span();
    if (c.backend == &kPlaces[kHost]) {
      pageable.assign(asked.begin(), asked.end());
      asked = pageable;
    }
    std::vector<uint64_t> answers(BitmapWords(n));
    // What comes back comes to the host: its clock has to say when.
    seconds = 1e-9 * Nanoseconds(Time::kWall, [&] {
                found = pipeline.Contains(filter_, asked, Bitmap(answers));
              });
  }
  if (c.hit_percent == 100 && found != n) throw std::runtime_error("a key that is in is not found");
  return seconds;
}

void Contestant::Repeat(size_t repetition, cuda::HostPipeline& pipeline,
                        const DeviceArray<uint64_t>& keys, const DeviceArray<uint64_t>& bits,
                        const PinnedKeys& pinned, const Limits& limits) {
  if (repetition == 0) Fill(keys);
  for (const Case& c : cases_) {
    uint64_t batch = 0;
    if (repetition == 0) Measure(c, pipeline, keys, bits, pinned, &batch);  // to warm up
    const double ns = 1e9 * Measure(c, pipeline, keys, bits, pinned, &batch);
    const std::string name = CaseName(kind_.name, c, size_, true);
    auto row = std::find_if(rows_.begin(), rows_.end(),
                            [&](const Row& other) { return other.name == name; });
    if (row == rows_.end()) {
      row = rows_.insert(rows_.end(), Row{.name = name,
                                          .kind = kind_.name,
                                          .library = "tamis",
                                          .point = c,
                                          .size_class = size_.name,
                                          .filter_bytes = filter_.bytes(),
                                          .num_keys = num_keys_,
                                          .batch_keys = batch});
    }
    const double ns_per_key = std::max(ns / static_cast<double>(batch), 1e-6);
    row->ns_per_key.push_back(ns_per_key);
    const double limit = !IsLookup(c.operation)           ? limits.set_ns
                         : c.backend == &kPlaces[kDevice] ? limits.read_ns
                                                          : limits.copy_ns;
    row->share_of_limit.push_back(limit / ns_per_key);
  }
  for (Row& row : rows_) {
    row.fpr = fpr_;
    row.expected_fpr = kind_.can_be_full
                           ? CuckooFpr(16, static_cast<double>(num_keys_), filter_.bytes() / 8)
                           : SplitBlockFpr(static_cast<double>(num_keys_), filter_.bytes() / 32);
  }
}

// The limits of one repetition, in memory of the size of the filter.
Contestant::Limits MeasureLimits(GpuDevice& device, const SizeClass& size,
                                 const GpuSchedule& schedule, const DeviceArray<uint64_t>& keys,
                                 const PinnedKeys& pinned, std::vector<Limit>& limits) {
  const DeviceArray<std::byte> memory(device, size.bytes);
  const auto n = static_cast<double>(schedule.batch_keys);
  Contestant::Limits found;
  Limit best{.name = "random_sectors", .size_class = size.name, .unit = "sectors"};
  for (const int per_thread : GpuDevice::kReadsPerThread) {
    const double ns =
        1e9 / n * device.ReadSectors(memory.data(), size.bytes, schedule.batch_keys, per_thread);
    if (found.read_ns != 0 && ns >= found.read_ns) continue;
    found.read_ns = ns;
    best.method = std::to_string(per_thread) + " under way per thread";
  }
  Limit& read = LimitOf(limits, best);
  read.method = best.method;
  read.per_second.push_back(1e9 / found.read_ns);
  found.set_ns = 1e9 / n * device.SetSectors(memory.data(), size.bytes, schedule.batch_keys);
  LimitOf(limits, {.name = "random_sectors_set", .size_class = size.name, .unit = "sectors"})
      .per_second.push_back(1e9 / found.set_ns);
  const uint64_t bytes = 8 * schedule.host_batch_keys;
  const auto copy = [&](const char* name, void* to, const void* from) {
    const double seconds = 1e-9 * Nanoseconds(Time::kWall, [&] { device.Copy(to, from, bytes); });
    LimitOf(limits, {.name = name, .size_class = size.name, .unit = "bytes"})
        .per_second.push_back(static_cast<double>(bytes) / seconds);
    return 1e9 * seconds / static_cast<double>(schedule.host_batch_keys);
  };
  copy("copy_from_device", pinned.data(), keys.data());
  found.copy_ns = copy("copy_to_device", keys.data(), pinned.data());
  return found;
}

}  // namespace

GpuSchedule GpuScheduleFor(Mode mode, uint64_t memory_bytes) {
  GpuSchedule schedule;
  const bool quick = mode == Mode::kQuick;
  schedule.batch_keys = quick ? 64 * kMiB : 256 * kMiB;
  schedule.host_batch_keys = 32 * kMiB;
  schedule.repetitions = quick ? 5 : 7;
  for (const uint64_t bytes :
       {kMiB, 4 * kMiB, 16 * kMiB, 64 * kMiB, 256 * kMiB, 512 * kMiB, 1024 * kMiB, 16384 * kMiB}) {
    const bool few = bytes == kMiB || bytes == 16 * kMiB || bytes == 1024 * kMiB;
    // Two kinds and what is read for the limits.
    if ((!quick || few) && bytes <= memory_bytes / 6) schedule.filter_bytes.push_back(bytes);
  }
  return schedule;
}

std::vector<std::string> GpuCaseNames(const GpuSchedule& schedule) {
  std::vector<std::string> names;
  const NameFilter filter(schedule.filter);
  for (const uint64_t bytes : schedule.filter_bytes) {
    const SizeClass size = SizeOf(bytes);
    for (const Kind& kind : kKinds) {
      for (const Case& c : CasesOf(kind, size, filter)) {
        names.push_back(CaseName(kind.name, c, size, true));
      }
    }
  }
  return names;
}

namespace {

void RunGpu(GpuDevice& device, const GpuSchedule& schedule, Progress& progress, Results& results) {
  const NameFilter filter(schedule.filter);
  const auto refuse = [&](const Kind& kind, const std::string& what) {
    results.refusals.push_back({"CUDA", kind.name, what});
    progress.Say(std::string("refused: ") + kind.name + " on the GPU: " + what);
  };
  std::vector<const Kind*> kinds;
  for (const Kind& kind : kKinds) {
    progress.Show(std::string("checking ") + kind.name + " on the GPU against portable", -1);
    if (const auto wrong = Disagreement(device, kind)) {
      refuse(kind, *wrong);
    } else {
      kinds.push_back(&kind);
    }
  }
  cuda::HostPipeline pipeline(device.options());
  const DeviceArray<uint64_t> keys(device, schedule.batch_keys);
  const DeviceArray<uint64_t> bits(device, BitmapWords(schedule.batch_keys));
  const PinnedKeys pinned(device, schedule.host_batch_keys);
  for (const uint64_t bytes : schedule.filter_bytes) {
    const SizeClass size = SizeOf(bytes);
    std::vector<std::unique_ptr<Contestant>> contestants;
    for (const Kind* const kind : kinds) {
      if (CasesOf(*kind, size, filter).empty()) continue;
      contestants.push_back(std::make_unique<Contestant>(device, *kind, size, schedule, filter));
    }
    if (contestants.empty()) continue;
    results.sizes.push_back(size);
    for (size_t repetition = 0; repetition < schedule.repetitions; ++repetition) {
      progress.Show(size.name + ", repetition " + std::to_string(repetition + 1) + " of " +
                        std::to_string(schedule.repetitions),
                    -1);
      const auto limits = MeasureLimits(device, size, schedule, keys, pinned, results.limits);
      for (size_t i = 0; i < contestants.size(); ++i) {
        auto& contestant = contestants[(i + repetition) % contestants.size()];
        if (!contestant) continue;
        try {
          contestant->Repeat(repetition, pipeline, keys, bits, pinned, limits);
        } catch (const std::runtime_error& error) {
          refuse(contestant->kind(), size.name + ": " + error.what());
          contestant.reset();
        }
      }
    }
    for (const auto& contestant : contestants) {
      if (!contestant) continue;
      for (Row& row : contestant->rows()) results.rows.push_back(std::move(row));
    }
  }
}

}  // namespace

void MeasureGpu(GpuDevice& device, const GpuSchedule& schedule, Progress& progress,
                Results& results) {
  try {
    RunGpu(device, schedule, progress, results);
  } catch (const Error& error) {  // what was measured before is worth having
    results.refusals.push_back({"CUDA", "all that were left", error.what()});
    progress.Say(std::string("the GPU failed: ") + error.what());
  }
}

}  // namespace tamis::bench
