// The rows of a GPU, on a CUDA runtime that needs none.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "bench/suite/gpu.h"
#include "bench/workload.h"
#include "tamis/cuda/device_filter.h"
#include "tests/cuda/fake_runtime.h"

namespace tamis::bench {
namespace {

constexpr uint64_t kKiB = uint64_t{1} << 10;

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
  double ReadSectors(const void*, uint64_t, uint64_t n, int per_thread) override {
    return 1e-9 * static_cast<double>(n) / per_thread;
  }
  double SetSectors(void*, uint64_t, uint64_t n) override { return 2e-9 * static_cast<double>(n); }

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
  MeasureGpu(device, schedule, progress, results);
  return results;
}

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
    // A few false positives of some thousand queries decide little; none at all decides.
    ASSERT_TRUE(row.expected_fpr.has_value());
    EXPECT_NEAR(row.fpr, *row.expected_fpr, 0.004) << row.name;
    const bool on_device = row.point.backend->name == "CUDA:device";
    if (!on_device || !IsLookup(row.point.operation)) continue;
    // A millisecond for a batch, beside the best limit, which is a quarter of a nanosecond.
    EXPECT_NEAR(row.ns_per_key[0], 1e6 / 3000, 1e-6);
    EXPECT_NEAR(row.share_of_limit[0], 0.25 / (1e6 / 3000), 1e-9);
  }
  std::vector<std::string> scheduled = GpuCaseNames(kSchedule);
  EXPECT_EQ(std::multiset(names.begin(), names.end()),
            std::multiset(scheduled.begin(), scheduled.end()));
  EXPECT_EQ(names.size(), 2u * (8 + 9));
  for (const char* call : {"/call:1048576/", "/call:16777216/"}) {
    EXPECT_EQ(std::count_if(
                  names.begin(), names.end(),
                  [&](const std::string& name) { return name.find(call) != std::string::npos; }),
              4)
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
  EXPECT_EQ(other_keys.refusals.size(), 2u);
  // Queries that should be hits and are none.
  const Results lost = Measure(runtime, kSchedule, 0, uint64_t{1} << 40);
  EXPECT_TRUE(lost.rows.empty());
  EXPECT_GE(lost.refusals.size(), 2u);
  EXPECT_NE(lost.refusals[0].what.find("not found"), std::string::npos) << lost.refusals[0].what;
  EXPECT_EQ(runtime.num_live(), 0u);
}

// What was measured before a device is lost stays.
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

TEST(GpuRows, SizesFitTheMemory) {
  EXPECT_TRUE(GpuScheduleFor(Mode::kQuick, kKiB).filter_bytes.empty());
  EXPECT_EQ(GpuScheduleFor(Mode::kQuick, uint64_t{80} << 30).filter_bytes.size(), 3u);
  EXPECT_EQ(GpuScheduleFor(Mode::kDefault, uint64_t{140} << 30).filter_bytes.back(),
            uint64_t{16} << 30);
  EXPECT_EQ(GpuScheduleFor(Mode::kFull, uint64_t{24} << 30).filter_bytes.back(), uint64_t{1} << 30);
}

}  // namespace
}  // namespace tamis::bench
