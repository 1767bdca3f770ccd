#include "bench/suite/gpu.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "bench/suite/gpu_memory.h"
#include "bench/suite/gpu_peer.h"
#include "bench/timing.h"
#include "bench/workload.h"
#include "tamis/backends.h"
#include "tamis/cuda/device_filter.h"
#include "tamis/cuda/host_pipeline.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/filters/changeable_filter.h"
#include "tamis/filters/filter_kinds.h"

namespace tamis::bench {
namespace {

constexpr uint64_t kVerifiedBytes = uint64_t{1} << 16;
constexpr uint64_t kVerifiedKeys = 10'007;  // a prime, so the last warp is not full
constexpr double kSplitBlockBitsPerKey = 16;

Limit& LimitOf(std::vector<Limit>& limits, const Limit& sample) {
  const auto same = [&](const Limit& limit) {
    return limit.name == sample.name && limit.size_class == sample.size_class;
  };
  const auto found = std::find_if(limits.begin(), limits.end(), same);
  return found != limits.end() ? *found : limits.emplace_back(sample);
}

// Memory that all contestants share.
struct Batch {
  const DeviceArray<uint64_t>& keys;
  const DeviceArray<uint64_t>& bits;
  const DeviceArray<uint8_t>& bytes;
  const PinnedKeys& pinned;
  cuda::HostPipeline& pipeline;
};

// The limits of one repetition, in nanoseconds.
struct Limits {
  double read_ns = 0;  // time to read a sector
  double set_ns = 0;
  double copy_ns = 0;  // time to copy a key to the device
};

// A filled filter of one size on the device, and its rows.
class Contestant {
 public:
  Contestant(GpuDevice& device, const GpuSchedule& schedule, const Batch& batch, const char* kind,
             const char* library, const SizeClass& size, std::vector<Case> cases)
      : device_(device),
        schedule_(schedule),
        batch_(batch),
        kind_(kind),
        library_(library),
        size_(size),
        cases_(std::move(cases)) {}
  virtual ~Contestant() = default;

  const char* kind() const { return kind_; }
  std::vector<Row>& rows() { return rows_; }
  // Measures all cases once. `repetition` counts from 0.
  void Repeat(size_t repetition, const Limits& limits);

 protected:
  virtual uint64_t bytes() const = 0;
  virtual uint64_t num_keys() const = 0;
  virtual std::optional<double> expected_fpr() const = 0;
  // Inserts all keys before the first repetition.
  virtual void Prepare() { Fill(); }
  // The next functions put work on a stream. RequireAll checks the passes.
  virtual void Clear(cudaStream_t stream) = 0;
  virtual void Insert(uint64_t first, uint64_t n, uint64_t pass, cudaStream_t stream) = 0;
  virtual void Erase(uint64_t first, uint64_t n, uint64_t pass, cudaStream_t stream) = 0;
  // Throws if the last change of any of the passes 0 to `passes` - 1 failed for a key.
  virtual void RequireAll(uint64_t passes) = 0;
  // Returns the seconds that a batch of queries takes, and sets `*n` to its number of keys.
  virtual double Lookup(const Case& c, uint64_t* n) = 0;

  // Writes `n` keys of the sequence, from `first` on. After `most` keys it begins again at `first`.
  void MakeKeys(uint64_t n, uint64_t first, uint64_t most);
  void RequireHits(const Case& c, uint64_t found, uint64_t n);

  GpuDevice& device_;
  const GpuSchedule& schedule_;
  const Batch& batch_;

 private:
  // Inserts all keys into an empty filter, in batches.
  double Fill();
  double InsertAgain();
  double Erase(const GpuPasses& passes);
  double Build(const GpuPasses& passes);
  double Measure(const Case& c, uint64_t* n);

  const char* const kind_;
  const char* const library_;
  const SizeClass size_;
  const std::vector<Case> cases_;
  double fpr_ = 0;
  std::vector<Row> rows_;
};

void Contestant::MakeKeys(uint64_t n, uint64_t first, uint64_t most) {
  for (uint64_t made = 0; made < n; made += std::min(most, n - made)) {
    device_.MakeKeys(batch_.keys.data() + made, std::min(most, n - made), first);
  }
}

void Contestant::RequireHits(const Case& c, uint64_t found, uint64_t n) {
  if (c.hit_percent == 0) fpr_ = static_cast<double>(found) / static_cast<double>(n);
  if (c.hit_percent == 100 && found != n) throw std::runtime_error("a present key was not found");
}

double Contestant::Fill() {
  (void)device_.Time([&](cudaStream_t stream) { Clear(stream); });
  double seconds = 0;
  for (uint64_t i = 0;; ++i) {
    const GpuPart part = GpuPartOf(num_keys(), schedule_.batch_keys, i);
    if (part.keys == 0) return seconds;
    MakeKeys(part.keys, part.first, part.keys);
    seconds += device_.Time([&](cudaStream_t stream) { Insert(0, part.keys, 0, stream); });
    RequireAll(1);
  }
}

// Inserts keys that the filter contains, which sets the same bits. Uses the keys of a small filter
// many times.
double Contestant::InsertAgain() {
  const GpuPasses passes = GpuPassesFor(num_keys(), schedule_.batch_keys);
  MakeKeys(schedule_.batch_keys, num_keys() - passes.keys, passes.keys);
  const double seconds =
      device_.Time([&](cudaStream_t stream) { Insert(0, schedule_.batch_keys, 0, stream); });
  RequireAll(1);
  return seconds;
}

// Erases the last keys, and inserts them again after each pass. The next pass checks that they were
// inserted.
double Contestant::Erase(const GpuPasses& passes) {
  MakeKeys(passes.keys, num_keys() - passes.keys, passes.keys);
  const double seconds = device_.TimeEach(
      passes.count,
      [&](uint64_t pass, cudaStream_t stream) {
        if (pass > 0) Insert(0, passes.keys, pass, stream);
      },
      [&](uint64_t pass, cudaStream_t stream) { Erase(0, passes.keys, pass, stream); });
  RequireAll(passes.count);
  (void)device_.Time([&](cudaStream_t stream) { Insert(0, passes.keys, 0, stream); });
  RequireAll(1);
  return seconds;
}

// Builds from different parts of a batch. The part with the keys of the queries is last, so the
// filter contains them at the end.
double Contestant::Build(const GpuPasses& passes) {
  MakeKeys(passes.count * passes.keys, 0, passes.count * passes.keys);
  const double seconds = device_.TimeEach(
      passes.count, [&](uint64_t, cudaStream_t stream) { Clear(stream); },
      [&](uint64_t pass, cudaStream_t stream) {
        Insert((passes.count - 1 - pass) * passes.keys, passes.keys, pass, stream);
      });
  RequireAll(passes.count);
  return seconds;
}

double Contestant::Measure(const Case& c, uint64_t* n) {
  if (IsLookup(c.operation)) return Lookup(c, n);
  const GpuPasses passes = GpuPassesFor(num_keys(), schedule_.batch_keys);
  if (c.operation == Operation::kInsert) {
    *n = schedule_.batch_keys;
    return InsertAgain();
  }
  if (c.operation == Operation::kErase) {
    *n = passes.count * passes.keys;
    return Erase(passes);
  }
  if (num_keys() > schedule_.batch_keys) {
    *n = num_keys();
    return Fill();
  }
  *n = passes.count * passes.keys;
  return Build(passes);
}

void Contestant::Repeat(size_t repetition, const Limits& limits) {
  if (repetition == 0) Prepare();
  for (const Case& c : cases_) {
    uint64_t n = 0;
    if (repetition == 0) Measure(c, &n);  // to warm up
    const double ns = 1e9 * Measure(c, &n);
    const std::string name = CaseName(kind_, c, size_, true);
    auto row = std::find_if(rows_.begin(), rows_.end(),
                            [&](const Row& other) { return other.name == name; });
    if (row == rows_.end()) {
      row = rows_.insert(rows_.end(), Row{.name = name,
                                          .kind = kind_,
                                          .library = library_,
                                          .point = c,
                                          .size_class = size_.name,
                                          .filter_bytes = bytes(),
                                          .num_keys = num_keys(),
                                          .batch_keys = n});
    }
    const double ns_per_key = std::max(ns / static_cast<double>(n), 1e-6);
    row->ns_per_key.push_back(ns_per_key);
    const bool on_host =
        c.backend == BackendOf(GpuPlace::kPinned) || c.backend == BackendOf(GpuPlace::kHost);
    const double limit = !IsLookup(c.operation) ? limits.set_ns
                         : on_host              ? limits.copy_ns
                                                : limits.read_ns;
    row->share_of_limit.push_back(limit / ns_per_key);
  }
  for (Row& row : rows_) {
    row.fpr = fpr_;
    row.expected_fpr = expected_fpr();
  }
}

// A filter of this library.
class OwnContestant final : public Contestant {
 public:
  OwnContestant(GpuDevice& device, const GpuSchedule& schedule, const Batch& batch,
                const GpuKind& kind, const SizeClass& size, std::vector<Case> cases)
      : Contestant(device, schedule, batch, kind.name, "tamis", size, std::move(cases)),
        can_be_full_(kind.can_be_full),
        is_static_(kind.is_static),
        filter_(*kind.make(size.bytes), device.options()),
        num_keys_(kind.can_be_full || kind.is_static
                      ? filter_.Header().capacity
                      : static_cast<uint64_t>(8 * static_cast<double>(filter_.bytes()) /
                                              kSplitBlockBitsPerKey)),
        failed_(device, BitmapWords(kind.can_be_full ? schedule.batch_keys : 1)),
        counts_(device, kMostGpuPasses),
        scratch_(device, kind.can_be_full ? cuda::DeviceFilter::kInsertScratchBytes : 1) {}

 private:
  uint64_t bytes() const override { return filter_.bytes(); }
  uint64_t num_keys() const override { return num_keys_; }
  std::optional<double> expected_fpr() const override {
    return FilterFpr(filter_.kind(), static_cast<double>(num_keys_), filter_.bytes());
  }
  void Prepare() override {
    if (!is_static_) Contestant::Prepare();
  }
  void Clear(cudaStream_t stream) override { filter_.ClearAsync(stream).ThrowIfFailed("clearing"); }
  void Insert(uint64_t first, uint64_t n, uint64_t pass, cudaStream_t stream) override {
    const cuda::Status status =
        can_be_full_ ? filter_.InsertAsync(Part(first, n), Bitmap(failed_.span()),
                                           counts_.data() + pass, scratch_.span(), stream)
                     : filter_.InsertAsync(Part(first, n), stream);
    status.ThrowIfFailed("inserting");
  }
  void Erase(uint64_t first, uint64_t n, uint64_t pass, cudaStream_t stream) override {
    filter_.EraseAsync(Part(first, n), Bitmap(failed_.span()), counts_.data() + pass, stream)
        .ThrowIfFailed("erasing");
  }
  void RequireAll(uint64_t passes) override {
    if (!can_be_full_) return;
    std::vector<uint64_t> failures(passes);
    device_.Copy(failures.data(), counts_.data(), 8 * passes);
    for (const uint64_t n : failures) {
      if (n != 0) throw std::runtime_error(detail::StrCat("a change failed for ", n, " keys"));
    }
  }
  double Lookup(const Case& c, uint64_t* n) override;
  double LookupFromHost(const Case& c, uint64_t n);

  Keys Part(uint64_t first, uint64_t n) const {
    return std::span<const uint64_t>(batch_.keys.data() + first, n);
  }

  const bool can_be_full_;
  const bool is_static_;
  cuda::DeviceFilter filter_;
  const uint64_t num_keys_;
  const DeviceArray<uint64_t> failed_;
  const DeviceArray<uint64_t> counts_;
  const DeviceArray<std::byte> scratch_;
};

double OwnContestant::LookupFromHost(const Case& c, uint64_t n) {
  device_.Copy(batch_.pinned.data(), batch_.keys.data(), 8 * n);
  std::vector<uint64_t> pageable;
  std::span<const uint64_t> asked = batch_.pinned.span().first(n);
  if (c.backend == BackendOf(GpuPlace::kHost)) {
    pageable.assign(asked.begin(), asked.end());
    asked = pageable;
  }
  std::vector<uint64_t> answers(BitmapWords(n));
  // The answers are copied to the host, so the host's clock measures the time.
  return 1e-9 * Nanoseconds(Time::kWall, [&] {
           RequireHits(c, batch_.pipeline.Contains(filter_, asked, Bitmap(answers)), n);
         });
}

double OwnContestant::Lookup(const Case& c, uint64_t* n) {
  const bool on_device = c.backend == BackendOf(GpuPlace::kDevice);
  const uint64_t keys = *n = on_device ? schedule_.batch_keys : schedule_.host_batch_keys;
  device_.MakeQueries(batch_.keys.data(), keys, num_keys_, c.hit_percent);
  if (!on_device) return LookupFromHost(c, keys);
  if (c.call_keys != 0) {
    return device_.Time([&](cudaStream_t stream) {
      for (uint64_t i = 0;; ++i) {
        const GpuPart part = GpuPartOf(keys, c.call_keys, i);
        if (part.keys == 0) return;
        filter_
            .ContainsAsync(Part(part.first, part.keys), Bitmap(batch_.bits.span()), counts_.data(),
                           stream)
            .ThrowIfFailed("looking up");
      }
    });
  }
  if (c.operation == Operation::kContainsBytes) {
    const double seconds = device_.Time([&](cudaStream_t stream) {
      filter_.ContainsAsync(Part(0, keys), batch_.bytes.span(), nullptr, stream)
          .ThrowIfFailed("looking up");
    });
    RequireHits(c, device_.CountBytes(batch_.bytes.data(), keys), keys);
    return seconds;
  }
  const double seconds = device_.Time([&](cudaStream_t stream) {
    filter_.ContainsAsync(Part(0, keys), Bitmap(batch_.bits.span()), nullptr, stream)
        .ThrowIfFailed("looking up");
  });
  RequireHits(c, filter_.Count(Part(0, keys)), keys);
  return seconds;
}

class PeerContestant final : public Contestant {
 public:
  PeerContestant(GpuDevice& device, const GpuSchedule& schedule, const Batch& batch,
                 const GpuPeerKind& kind, const SizeClass& size, std::vector<Case> cases)
      : Contestant(device, schedule, batch, kind.name, kind.library, size, std::move(cases)),
        filter_(kind.make(size.bytes)) {}

 private:
  uint64_t bytes() const override { return filter_->bytes(); }
  uint64_t num_keys() const override { return filter_->num_keys(); }
  std::optional<double> expected_fpr() const override { return std::nullopt; }
  void Clear(cudaStream_t stream) override { filter_->Clear(stream); }
  void Insert(uint64_t first, uint64_t n, uint64_t, cudaStream_t stream) override {
    if (filter_->Insert(batch_.keys.data() + first, n, stream) != n) {
      throw std::runtime_error("not all keys went in");
    }
  }
  void Erase(uint64_t first, uint64_t n, uint64_t, cudaStream_t stream) override {
    filter_->Erase(batch_.keys.data() + first, n, stream);
  }
  void RequireAll(uint64_t) override {}  // Insert checks it
  double Lookup(const Case& c, uint64_t* n) override {
    const uint64_t keys = *n = schedule_.batch_keys;
    device_.MakeQueries(batch_.keys.data(), keys, num_keys(), c.hit_percent);
    const double seconds = device_.Time([&](cudaStream_t stream) {
      filter_->Contains(batch_.keys.data(), keys, batch_.bytes.data(), stream);
    });
    RequireHits(c, device_.CountBytes(batch_.bytes.data(), keys), keys);
    return seconds;
  }

  const std::unique_ptr<GpuPeer> filter_;
};

// Returns how the device differs from `portable`, or nothing if it does not.
std::optional<std::string> Disagreement(GpuDevice& device, const GpuKind& kind) {
  const std::unique_ptr<Filter> host = kind.make(kVerifiedBytes);
  host->set_backend(FindBackend("portable"));
  cuda::DeviceFilter filter(*host, device.options());
  const uint64_t n = std::min(kVerifiedKeys, host->capacity());
  const DeviceArray<uint64_t> keys(device, n);
  device.MakeKeys(keys.data(), n, 0);
  std::vector<uint64_t> queries(n);
  device.Copy(queries.data(), keys.data(), 8 * n);
  for (uint64_t i = 0; i < n; ++i) {
    if (queries[i] != KeyAt(i)) return "the device makes other keys";
  }
  const std::unique_ptr<Filter> copy = kind.make(kVerifiedBytes);
  copy->set_backend(FindBackend("portable"));
  if (!kind.is_static) {
    if (filter.Insert(keys.keys(n)) != n) return "not all keys went in";
    filter.Download(*copy);
  }
  // In cuckoo filters, the order of insertions decides the places of fingerprints.
  if (!kind.is_static && !kind.can_be_full) {
    RequireChangeable(*host).Insert(queries);
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

// Measures the limits of one repetition, in memory of the size of the filter.
Limits MeasureLimits(GpuDevice& device, const SizeClass& size, const GpuSchedule& schedule,
                     const Batch& batch, std::vector<Limit>& limits) {
  const DeviceArray<std::byte> memory(device, size.bytes);
  const auto n = static_cast<double>(schedule.batch_keys);
  Limits found;
  Limit best{.name = "random_sectors", .size_class = size.name, .unit = "sectors"};
  for (const int per_thread : GpuDevice::kReadsPerThread) {
    const double ns =
        1e9 / n * device.ReadSectors(memory.data(), size.bytes, schedule.batch_keys, per_thread);
    if (found.read_ns != 0 && ns >= found.read_ns) continue;
    found.read_ns = ns;
    best.method = detail::StrCat(per_thread, " under way per thread");
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
  copy("copy_from_device", batch.pinned.data(), batch.keys.data());
  found.copy_ns = copy("copy_to_device", batch.keys.data(), batch.pinned.data());
  return found;
}

// Returns the first wrong answer of a peer, or nothing. It is called before anything is measured.
std::optional<std::string> Disagreement(GpuDevice& device, const GpuPeerKind& kind) {
  const std::unique_ptr<GpuPeer> peer = kind.make(kVerifiedBytes);
  const uint64_t n = std::min(kVerifiedKeys, peer->num_keys());
  const DeviceArray<uint64_t> keys(device, n);
  const DeviceArray<uint8_t> bytes(device, n);
  device.MakeKeys(keys.data(), n, 0);
  uint64_t inserted = 0;
  (void)device.Time([&](cudaStream_t stream) {
    peer->Clear(stream);
    inserted = peer->Insert(keys.data(), n, stream);
    peer->Contains(keys.data(), n, bytes.data(), stream);
  });
  if (inserted != n) return "not all keys went in";
  if (device.CountBytes(bytes.data(), n) != n) return "a present key was not found";
  return std::nullopt;
}

class Run {
 public:
  Run(GpuDevice& device, const GpuSchedule& schedule, Progress& progress, const SaveGpu& save,
      Results& results)
      : device_(device),
        schedule_(schedule),
        filter_(schedule.filter),
        progress_(progress),
        save_(save),
        results_(results) {}

  void All();

 private:
  void Refuse(const std::string& kind, const std::string& what) {
    results_.refusals.push_back({"CUDA", kind, what});
    progress_.Say("refused: " + kind + " on the GPU: " + what);
  }
  template <typename Kind>
  std::vector<const Kind*> Checked(std::span<const Kind> kinds);
  void Measure(const SizeClass& size, const Batch& batch);
  template <typename Made, typename Kind>
  void Add(const Kind& kind, const SizeClass& size, const Batch& batch,
           std::vector<std::unique_ptr<Contestant>>& contestants);

  GpuDevice& device_;
  const GpuSchedule& schedule_;
  const NameFilter filter_;
  Progress& progress_;
  const SaveGpu& save_;
  Results& results_;
  std::vector<const GpuKind*> kinds_;
  std::vector<const GpuPeerKind*> peers_;
};

template <typename Kind>
std::vector<const Kind*> Run::Checked(std::span<const Kind> kinds) {
  std::vector<const Kind*> right;
  for (const Kind& kind : kinds) {
    const auto is_asked_for = [&](uint64_t bytes) {
      return !GpuCases(kind, GpuSizeOf(bytes), filter_).empty();
    };
    if (std::none_of(schedule_.filter_bytes.begin(), schedule_.filter_bytes.end(), is_asked_for)) {
      continue;  // does not even check the kind, because a peer may end the program
    }
    progress_.Show(std::string("checking ") + kind.name + " on the GPU", -1);
    if (const auto wrong = Disagreement(device_, kind)) {
      Refuse(kind.name, *wrong);
    } else {
      right.push_back(&kind);
    }
  }
  return right;
}

template <typename Made, typename Kind>
void Run::Add(const Kind& kind, const SizeClass& size, const Batch& batch,
              std::vector<std::unique_ptr<Contestant>>& contestants) {
  std::vector<Case> cases = GpuCases(kind, size, filter_);
  if (cases.empty()) return;
  contestants.push_back(
      std::make_unique<Made>(device_, schedule_, batch, kind, size, std::move(cases)));
}

void Run::Measure(const SizeClass& size, const Batch& batch) {
  std::vector<std::unique_ptr<Contestant>> contestants;
  for (const GpuKind* const kind : kinds_) Add<OwnContestant>(*kind, size, batch, contestants);
  for (const GpuPeerKind* const kind : peers_) {
    Add<PeerContestant>(*kind, size, batch, contestants);
  }
  if (contestants.empty()) return;
  results_.sizes.push_back(size);
  for (size_t repetition = 0; repetition < schedule_.repetitions; ++repetition) {
    progress_.Show(
        detail::StrCat(size.name, ", repetition ", repetition + 1, " of ", schedule_.repetitions),
        -1);
    const Limits limits = MeasureLimits(device_, size, schedule_, batch, results_.limits);
    for (size_t i = 0; i < contestants.size(); ++i) {
      auto& contestant = contestants[(i + repetition) % contestants.size()];
      if (!contestant) continue;
      try {
        contestant->Repeat(repetition, limits);
      } catch (const std::runtime_error& error) {
        Refuse(contestant->kind(), size.name + ": " + error.what());
        contestant.reset();
      }
    }
  }
  for (const auto& contestant : contestants) {
    if (!contestant) continue;
    for (Row& row : contestant->rows()) results_.rows.push_back(std::move(row));
  }
}

void Run::All() {
  kinds_ = Checked(GpuKinds());
  peers_ = Checked(schedule_.peers);
  cuda::HostPipeline pipeline(device_.options());
  const DeviceArray<uint64_t> keys(device_, schedule_.batch_keys);
  const DeviceArray<uint64_t> bits(device_, BitmapWords(schedule_.batch_keys));
  const DeviceArray<uint8_t> bytes(device_, schedule_.batch_keys);
  const PinnedKeys pinned(device_, schedule_.host_batch_keys);
  const Batch batch = {keys, bits, bytes, pinned, pipeline};
  for (size_t i = 0; i < schedule_.filter_bytes.size(); ++i) {
    Measure(GpuSizeOf(schedule_.filter_bytes[i]), batch);
    std::string left;
    for (size_t next = i + 1; next < schedule_.filter_bytes.size(); ++next) {
      left += (left.empty() ? "" : ", ") + GpuSizeOf(schedule_.filter_bytes[next]).name;
    }
    if (save_ && !left.empty()) save_(results_, left);
  }
}

}  // namespace

void MeasureGpu(GpuDevice& device, const GpuSchedule& schedule, Progress& progress,
                const SaveGpu& save, Results& results) {
  try {
    Run(device, schedule, progress, save, results).All();
  } catch (const Error& error) {  // keeps the rows measured so far
    results.refusals.push_back({"CUDA", "all that were left", error.what()});
    progress.Say(std::string("the GPU failed: ") + error.what());
  }
}

}  // namespace tamis::bench
