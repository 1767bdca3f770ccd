// The rows of a GPU, measured on a fake CUDA runtime.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <unordered_set>

#include "bench/suite/gpu.h"
#include "bench/suite/gpu_peer.h"
#include "bench/workload.h"
#include "tamis/cuda/device_filter.h"
#include "tests/cuda/fake_runtime.h"

namespace tamis::bench::gpu_rows_test {

constexpr uint64_t kKiB = uint64_t{1} << 10;
constexpr uint64_t kMiB = uint64_t{1} << 20;

class FakeDevice final : public GpuDevice {
 public:
  explicit FakeDevice(const cuda::FakeRuntime& runtime) : runtime_(runtime) {
    runtime.CreateStream(&stream_).ThrowIfFailed("creating a stream");
  }
  ~FakeDevice() override { (void)runtime_.DestroyStream(stream_); }

  uint64_t memory_bytes() const override { return uint64_t{1} << 30; }
  cuda::DeviceOptions options() const override { return {.runtime = &runtime_}; }
  void* Allocate(uint64_t bytes) override {
    void* memory = nullptr;
    runtime_.Allocate(&memory, bytes, stream_).ThrowIfFailed("allocating");
    return memory;
  }
  void Free(void* memory) noexcept override { (void)runtime_.Free(memory, stream_); }
  void* AllocatePinned(uint64_t bytes) override {
    void* memory = nullptr;
    runtime_.AllocatePinned(&memory, bytes).ThrowIfFailed("allocating");
    return memory;
  }
  void FreePinned(void* memory) noexcept override { (void)runtime_.FreePinned(memory); }
  void Copy(void* to, const void* from, uint64_t bytes) override {
    runtime_.Copy(to, from, bytes, stream_).ThrowIfFailed("copying");
    runtime_.Wait(stream_).ThrowIfFailed("copying");
  }
  void MakeKeys(uint64_t* keys, uint64_t n, uint64_t first) override {
    for (uint64_t i = 0; i < n; ++i) keys[i] = KeyAt(first + i + wrong_keys);
  }
  void MakeQueries(uint64_t* keys, uint64_t n, uint64_t inserted, int hit_percent) override {
    for (uint64_t i = 0; i < n; ++i) {
      const bool hit = KeyAt(i) % 100 < static_cast<uint64_t>(hit_percent);
      keys[i] = KeyAt(hit ? KeyAt(i) % inserted + lost_keys : (uint64_t{1} << 48) + i);
    }
  }
  double Time(const std::function<void(cudaStream_t)>& work) override {
    work(stream_);
    runtime_.Wait(stream_).ThrowIfFailed("working");
    return 1e-3;
  }
  double TimeEach(uint64_t times, const Piece& before, const Piece& work) override {
    for (uint64_t i = 0; i < times; ++i) {
      before(i, stream_);
      work(i, stream_);
    }
    runtime_.Wait(stream_).ThrowIfFailed("working");
    pieces.push_back(times);
    return 1e-3 * static_cast<double>(times);
  }
  uint64_t CountBytes(const uint8_t* bytes, uint64_t n) override {
    return static_cast<uint64_t>(
        std::count_if(bytes, bytes + n, [](uint8_t byte) { return byte != 0; }));
  }
  double ReadSectors(const void*, uint64_t, uint64_t n, int per_thread) override {
    return 1e-9 * static_cast<double>(n) / per_thread;
  }
  double SetSectors(void*, uint64_t, uint64_t n) override { return 2e-9 * static_cast<double>(n); }

  std::vector<uint64_t> pieces;  // number of calls of `work` in each TimeEach
  uint64_t wrong_keys = 0;
  uint64_t lost_keys = 0;

 private:
  const cuda::FakeRuntime& runtime_;
  cudaStream_t stream_ = nullptr;
};

const GpuSchedule kSchedule = {.filter_bytes = {4 * kKiB, 64 * kKiB},
                               .batch_keys = 3000,
                               .host_batch_keys = 1000,
                               .repetitions = 2,
                               .filter = ""};

Results Measure(const cuda::FakeRuntime& runtime, const GpuSchedule& schedule, uint64_t wrong = 0,
                uint64_t lost = 0) {
  Results results;
  Progress progress(false);
  FakeDevice device(runtime);
  device.wrong_keys = wrong;
  device.lost_keys = lost;
  MeasureGpu(device, schedule, progress, {}, results);
  return results;
}

// A set that loses every key divisible by `forgotten`, if that is not 0.
class SetPeer final : public GpuPeer {
 public:
  explicit SetPeer(uint64_t bytes) : bytes_(bytes) {}
  uint64_t bytes() const override { return bytes_; }
  uint64_t num_keys() const override { return bytes_ / 2; }
  void Clear(cudaStream_t) override { keys_.clear(); }
  uint64_t Insert(const uint64_t* keys, uint64_t n, cudaStream_t) override {
    for (uint64_t i = 0; i < n; ++i) {
      if (forgotten == 0 || keys[i] % forgotten != 0) keys_.insert(keys[i]);
    }
    return n;
  }
  void Contains(const uint64_t* keys, uint64_t n, uint8_t* out, cudaStream_t) const override {
    for (uint64_t i = 0; i < n; ++i) out[i] = keys_.contains(keys[i]);
  }
  void Erase(const uint64_t* keys, uint64_t n, cudaStream_t) override {
    for (uint64_t i = 0; i < n; ++i) missed += keys_.erase(keys[i]) == 0;
  }

  static inline uint64_t forgotten = 0;
  static inline uint64_t missed = 0;

 private:
  uint64_t bytes_;
  std::unordered_set<uint64_t> keys_;
};

constexpr GpuPeerKind kSetPeers[] = {
    {"set", "a test", true, 4 * kKiB,
     [](uint64_t bytes) -> std::unique_ptr<GpuPeer> { return std::make_unique<SetPeer>(bytes); }},
    {"set_that_grows", "a test", false, 64 * kKiB,
     [](uint64_t bytes) -> std::unique_ptr<GpuPeer> { return std::make_unique<SetPeer>(bytes); }},
};

TEST(GpuRows, HaveTheirLimitsSharesAndRates) {
  cuda::FakeRuntime runtime;
  const Results results = Measure(runtime, kSchedule);
  EXPECT_TRUE(results.refusals.empty()) << results.refusals[0].what;
  ASSERT_EQ(results.sizes.size(), 2u);
  EXPECT_EQ(results.sizes[0].name, "GPU_4KiB");
  std::vector<std::string> names;
  for (const Row& row : results.rows) {
    names.push_back(row.name);
    EXPECT_EQ(row.ns_per_key.size(), 2u) << row.name;
    EXPECT_EQ(row.share_of_limit.size(), 2u) << row.name;
    // The tolerance is wide, because there are only some thousand queries.
    ASSERT_TRUE(row.expected_fpr.has_value());
    EXPECT_NEAR(row.fpr, *row.expected_fpr, 0.004) << row.name;
    const bool on_device = row.point.backend->name == "CUDA:device";
    if (!on_device || !IsLookup(row.point.operation)) continue;
    // A batch takes one millisecond. The best limit is a quarter of a nanosecond.
    EXPECT_NEAR(row.ns_per_key[0], 1e6 / 3000, 1e-6);
    EXPECT_NEAR(row.share_of_limit[0], 0.25 / (1e6 / 3000), 1e-9);
  }
  std::vector<std::string> scheduled = GpuCaseNames(kSchedule);
  EXPECT_EQ(std::multiset(names.begin(), names.end()),
            std::multiset(scheduled.begin(), scheduled.end()));
  EXPECT_EQ(names.size(), 2u * (11 + 12 + 10));
  for (const char* call : {"/call:1048576/", "/call:16777216/"}) {
    EXPECT_EQ(std::count_if(
                  names.begin(), names.end(),
                  [&](const std::string& name) { return name.find(call) != std::string::npos; }),
              6)
        << call;
  }
  std::set<std::string> limits;
  for (const Limit& limit : results.limits) {
    limits.insert(limit.name);
    EXPECT_EQ(limit.per_second.size(), 2u);
    if (limit.name == "random_sectors") {
      EXPECT_EQ(limit.method, "4 under way per thread");
    }
  }
  EXPECT_EQ(limits, (std::set<std::string>{"copy_from_device", "copy_to_device", "random_sectors",
                                           "random_sectors_set"}));
  EXPECT_EQ(runtime.num_live(), 0u) << "a leak";
}

TEST(GpuRows, AreChosenByName) {
  GpuSchedule schedule = kSchedule;
  schedule.filter = "split_block/contains/backend:CUDA:pinned/.*GPU_64KiB";
  EXPECT_EQ(GpuCaseNames(schedule),
            (std::vector<std::string>{"split_block/contains/backend:CUDA:pinned/threads:1/"
                                      "size:GPU_64KiB/hits:50/keys:u64/huge_pages:on"}));
  cuda::FakeRuntime runtime;
  EXPECT_EQ(Measure(runtime, schedule).rows.size(), 1u);
}

TEST(GpuRows, AreRefusedWhereAnswersAreWrong) {
  cuda::FakeRuntime runtime;
  const Results other_keys = Measure(runtime, kSchedule, 1);
  EXPECT_TRUE(other_keys.rows.empty());
  EXPECT_EQ(other_keys.refusals.size(), 3u);
  // Queries that should be hits but are not.
  const Results lost = Measure(runtime, kSchedule, 0, uint64_t{1} << 40);
  EXPECT_TRUE(lost.rows.empty());
  EXPECT_GE(lost.refusals.size(), 2u);
  EXPECT_NE(lost.refusals[0].what.find("not found"), std::string::npos) << lost.refusals[0].what;
  EXPECT_EQ(runtime.num_live(), 0u);
}

// Rows measured before the device is lost are kept.
TEST(GpuRows, SurviveTheLossOfTheDevice) {
  cuda::FakeRuntime runtime;
  Measure(runtime, kSchedule);
  const uint64_t work = runtime.launches();
  runtime.FailWork(static_cast<int64_t>(2 * work), cuda::Status{719});
  const Results results = Measure(runtime, kSchedule);
  EXPECT_FALSE(results.refusals.empty());
  EXPECT_GT(results.rows.size(), 0u);
  EXPECT_LT(results.rows.size(), GpuCaseNames(kSchedule).size());
}

// A row of a few microseconds would measure only the launches. So a row of a small filter makes
// several passes. Together the passes fill one batch, and no pass exceeds the batch.
TEST(GpuRows, AreAsLongAsABatchAllows) {
  cuda::FakeRuntime runtime;
  const Results results = Measure(runtime, kSchedule);
  size_t changes = 0;
  for (const Row& row : results.rows) {
    if (IsLookup(row.point.operation)) continue;
    ++changes;
    const bool is_build = row.point.operation == Operation::kBuild;
    if (is_build && row.num_keys > kSchedule.batch_keys) {
      EXPECT_EQ(row.batch_keys, row.num_keys) << row.name;
    } else {
      EXPECT_LE(row.batch_keys, kSchedule.batch_keys) << row.name;
      EXPECT_GT(2 * row.batch_keys, kSchedule.batch_keys) << row.name;
    }
    if (row.point.operation == Operation::kInsert) {
      EXPECT_EQ(row.batch_keys, kSchedule.batch_keys) << row.name;
    }
    // The limit was measured with the same number of sectors: 2 ns each.
    EXPECT_NEAR(row.share_of_limit[0] * row.ns_per_key[0], 2, 1e-9) << row.name;
  }
  EXPECT_EQ(changes, 2u * 3);
}

TEST(GpuRows, PassesUseABatch) {
  static_assert(GpuPassesFor(524'288, uint64_t{1} << 28).count == kMostGpuPasses);
  static_assert(GpuPassesFor(524'288, uint64_t{1} << 28).keys == 524'288);
  static_assert(GpuPassesFor(7, 20).count == 2 && GpuPassesFor(7, 20).keys == 7);
  static_assert(GpuPassesFor(20, 20).count == 1 && GpuPassesFor(20, 20).keys == 20);
  static_assert(GpuPassesFor(21, 20).count == 1 && GpuPassesFor(21, 20).keys == 20);
  static_assert(GpuPassesFor(1, 20).count == 20);
  static_assert(GpuPassesFor(0, 20).count == 0 && GpuPassesFor(20, 0).count == 0);
  for (const uint64_t total : {uint64_t{0}, uint64_t{1}, uint64_t{9}, uint64_t{10}, uint64_t{11},
                               uint64_t{20}, ~uint64_t{0}}) {
    uint64_t next = 0;
    uint64_t i = 0;
    for (; i < 3; ++i) {
      const GpuPart part = GpuPartOf(total, 10, i);
      if (part.keys == 0) break;
      EXPECT_EQ(part.first, next) << total;
      EXPECT_LE(part.keys, 10u) << total;
      next += part.keys;
    }
    EXPECT_EQ(next, std::min<uint64_t>(total, 30));
    EXPECT_EQ(GpuPartOf(total, 0, i).keys, 0u);
  }
}

TEST(GpuRows, PeersTakeTheirTurns) {
  cuda::FakeRuntime runtime;
  GpuSchedule schedule = kSchedule;
  schedule.peers = kSetPeers;
  SetPeer::missed = 0;
  const Results results = Measure(runtime, schedule);
  EXPECT_TRUE(results.refusals.empty()) << results.refusals[0].what;
  std::vector<std::string> names;
  size_t of_peers = 0;
  for (const Row& row : results.rows) {
    names.push_back(row.name);
    if (row.library != "a test") continue;
    ++of_peers;
    EXPECT_EQ(row.point.backend, nullptr);
    EXPECT_FALSE(row.expected_fpr.has_value());
    EXPECT_EQ(row.fpr, 0) << "a set knows its keys";
    EXPECT_EQ(row.share_of_limit.size(), 2u);
  }
  // One of the peers is measured only at the smaller size.
  EXPECT_EQ(of_peers, 5u + 2 * 4);
  const std::vector<std::string> scheduled = GpuCaseNames(schedule);
  EXPECT_EQ(std::multiset(names.begin(), names.end()),
            std::multiset(scheduled.begin(), scheduled.end()));
  EXPECT_TRUE(std::find(names.begin(), names.end(),
                        "set/contains_bytes/backend:own/threads:1/size:GPU_4KiB/hits:100/keys:u64/"
                        "huge_pages:on") != names.end());
  EXPECT_EQ(SetPeer::missed, 0u) << "what is erased was in";
}

TEST(GpuRows, PeersThatMissKeysAreRefused) {
  cuda::FakeRuntime runtime;
  GpuSchedule schedule = kSchedule;
  schedule.peers = kSetPeers;
  SetPeer::forgotten = 2;
  const Results results = Measure(runtime, schedule);
  SetPeer::forgotten = 0;
  EXPECT_EQ(results.refusals.size(), 2u);
  for (const Row& row : results.rows) EXPECT_EQ(row.library, "tamis");
  EXPECT_EQ(results.rows.size(), GpuCaseNames(kSchedule).size());
}

// Results are passed on after each size except the last.
TEST(GpuRows, AreSavedSizeBySize) {
  cuda::FakeRuntime runtime;
  GpuSchedule schedule = kSchedule;
  schedule.filter_bytes.push_back(8 * kKiB);
  Results results;
  Progress progress(false);
  FakeDevice device(runtime);
  std::vector<std::pair<size_t, std::string>> saved;
  MeasureGpu(
      device, schedule, progress,
      [&](const Results& so_far, const std::string& left) {
        saved.emplace_back(so_far.rows.size(), left);
      },
      results);
  const std::vector<std::pair<size_t, std::string>> want = {{33, "GPU_64KiB, GPU_8KiB"},
                                                            {66, "GPU_8KiB"}};
  EXPECT_EQ(saved, want);
  EXPECT_EQ(results.rows.size(), 99u);
}

TEST(GpuRows, SizesHaveNames) {
  for (const uint64_t bytes : {4 * kKiB, 64 * kKiB, 1536 * kKiB, 1024 * kKiB, 16384 * kMiB}) {
    EXPECT_EQ(GpuSizeBytes(GpuSizeOf(bytes).name), bytes);
  }
  EXPECT_EQ(GpuSizeOf(16 * kMiB).name, "GPU_16MiB");
  EXPECT_EQ(GpuSizeOf(4 * kKiB).name, "GPU_4KiB");
  for (const char* name : {"GPU", "GPU_", "GPU_MiB", "GPU_0MiB", "GPU_1KiB", "GPU_16", "GPU_16GiB",
                           "GPU_-1MiB", "GPU_1x6MiB", "GPU_99999999999999MiB", "LLC", ""}) {
    EXPECT_FALSE(GpuSizeBytes(name).has_value()) << name;
  }
}

// The sizes that are published for comparison come first, in case time runs out.
TEST(GpuRows, AnchorsComeFirst) {
  const uint64_t memory = uint64_t{140} << 30;
  const std::vector<uint64_t> anchors = {16 * kMiB, 1024 * kMiB, 512 * kMiB};
  EXPECT_EQ(GpuScheduleFor(Mode::kQuick, memory).filter_bytes, anchors);
  const std::vector<uint64_t> all = GpuScheduleFor(Mode::kDefault, memory).filter_bytes;
  EXPECT_EQ(std::vector(all.begin(), all.begin() + 3), anchors);
  for (const uint64_t bytes : {8 * kMiB, 32 * kMiB, 128 * kMiB}) {
    EXPECT_EQ(std::count(all.begin(), all.end(), bytes), 1) << bytes;
  }
  EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());
}

TEST(GpuRows, SizesFitTheMemory) {
  EXPECT_TRUE(GpuScheduleFor(Mode::kQuick, kKiB).filter_bytes.empty());
  EXPECT_EQ(GpuScheduleFor(Mode::kQuick, uint64_t{80} << 30).filter_bytes.size(), 3u);
  EXPECT_EQ(GpuScheduleFor(Mode::kDefault, uint64_t{140} << 30).filter_bytes.back(),
            uint64_t{16} << 30);
  for (const uint64_t bytes : GpuScheduleFor(Mode::kFull, uint64_t{24} << 30).filter_bytes) {
    EXPECT_LE(bytes, uint64_t{1} << 30);
  }
}

}  // namespace tamis::bench::gpu_rows_test
