// Changes that are captured into a CUDA graph run as often as the graph does, which nobody counts:
// the count is then said to be unknown, and estimated where it is needed.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tamis/cuckoo_filter.h"
#include "tamis/cuda/device_filter.h"
#include "tamis/split_block_filter.h"
#include "tests/cuda/fake_runtime.h"
#include "tests/test_util.h"

namespace tamis::cuda {
namespace {

constexpr size_t kBatch = 1000;
constexpr size_t kBatches = 4;

class CudaGraphs : public testing::Test {
 protected:
  CudaGraphs() : host_({.capacity = kBatch * kBatches, .fpr = 0.01}), device_(host_, Options()) {
    EXPECT_TRUE(runtime_.CreateStream(&stream_).ok());
  }
  ~CudaGraphs() override { EXPECT_TRUE(runtime_.DestroyStream(stream_).ok()); }

  DeviceOptions Options() const { return {.runtime = &runtime_}; }

  template <typename Call>
  void Capture(const Call& call) {
    runtime_.SetCapturing(true);
    EXPECT_TRUE(call().ok());
    runtime_.SetCapturing(false);
  }
  void Replay() {
    runtime_.Replay(stream_);
    ASSERT_TRUE(runtime_.Wait(stream_).ok());
  }

  FakeRuntime runtime_;
  SplitBlockBloomFilter host_;
  DeviceFilter device_;
  Stream stream_ = nullptr;
};

TEST_F(CudaGraphs, ReplayedInsertionsAreEstimated) {
  std::vector<uint64_t> batch(kBatch);
  Capture([&] { return device_.InsertAsync(batch, stream_); });
  EXPECT_FALSE(device_.count_is_known());
  EXPECT_EQ(device_.inserted_count(), 0u) << "a graph that has not run has inserted nothing";
  device_.Download(host_);
  EXPECT_EQ(host_.inserted_count(), 0u);

  const std::vector<uint64_t> keys = RandomKeys(kBatch * kBatches, 1);
  for (size_t i = 0; i < kBatches; ++i) {
    std::copy_n(keys.begin() + static_cast<int64_t>(kBatch * i), kBatch, batch.begin());
    Replay();
  }
  device_.Download(host_);
  EXPECT_EQ(host_.Count(keys), keys.size());
  EXPECT_EQ(host_.key_forms(), KeyForms(KeyForm::kInteger));
  EXPECT_NEAR(static_cast<double>(host_.inserted_count()), host_.estimated_count(), 0.5);
  // 2% is some five standard deviations of such an estimate.
  EXPECT_NEAR(static_cast<double>(host_.inserted_count()), kBatch * kBatches,
              0.02 * kBatch * kBatches);

  // The graph may run again, so the count stays unknown.
  device_.Clear();
  EXPECT_FALSE(device_.count_is_known());
  Replay();
  device_.Upload(host_);
  EXPECT_FALSE(device_.count_is_known());
}

TEST_F(CudaGraphs, ACapturedClearChangesNoCountByItself) {
  const std::vector<uint64_t> keys = RandomKeys(kBatch, 1);
  device_.Insert(keys);
  EXPECT_TRUE(device_.count_is_known());
  Capture([&] { return device_.ClearAsync(stream_); });
  EXPECT_FALSE(device_.count_is_known());
  EXPECT_EQ(device_.Header().key_forms, KeyForms(KeyForm::kInteger));
  device_.Download(host_);
  EXPECT_GT(host_.inserted_count(), kBatch * 9 / 10);
  Replay();
  device_.Download(host_);
  EXPECT_EQ(host_.inserted_count(), 0u);
}

TEST_F(CudaGraphs, AMergeWithAnUncountedFilterIsUncounted) {
  const std::vector<uint64_t> keys = RandomKeys(kBatch, 1);
  DeviceFilter other(host_, Options());
  other.Insert(keys);
  other.ForgetCount();  // as after a kernel of the user's
  DeviceFilter moved = std::move(other);
  EXPECT_FALSE(moved.count_is_known());
  device_.Merge(moved);
  EXPECT_FALSE(device_.count_is_known());
  device_.Download(host_);
  EXPECT_NEAR(static_cast<double>(host_.inserted_count()), kBatch, 0.03 * kBatch);
  device_.Clear();
  EXPECT_TRUE(device_.count_is_known());

  Capture([&] { return device_.MergeAsync(moved, stream_); });
  EXPECT_FALSE(device_.count_is_known());
}

// Of a full filter there is no estimate.
TEST_F(CudaGraphs, AFullFilterHasItsCapacity) {
  std::fill_n(static_cast<unsigned char*>(device_.data()), device_.bytes(), 0xFF);
  device_.ForgetCount();
  device_.Download(host_);
  EXPECT_EQ(host_.inserted_count(), host_.capacity());
}

TEST_F(CudaGraphs, CuckooFiltersAreCountedWhenTheyAreDownloaded) {
  CuckooFilter<16> host({.capacity = kBatch * kBatches});
  DeviceFilter device(host, Options());
  std::vector<uint64_t> batch = RandomKeys(kBatch, 2);
  std::vector<uint64_t> failed(BitmapWords(kBatch));
  uint64_t num_failed = 0;
  EXPECT_EQ(device.Insert(batch), kBatch);
  EXPECT_TRUE(device.count_is_known());
  ASSERT_TRUE(device.EraseAsync(batch, Bitmap(failed), &num_failed, stream_).ok());
  ASSERT_TRUE(runtime_.Wait(stream_).ok());
  EXPECT_FALSE(device.count_is_known());
  device.Clear();
  EXPECT_TRUE(device.count_is_known());

  Capture([&] { return device.InsertAsync(batch, Bitmap(failed), &num_failed, {}, stream_); });
  Replay();
  std::ranges::copy(RandomKeys(kBatch, 3), batch.begin());  // where the graph looks
  Replay();
  EXPECT_FALSE(device.count_is_known());
  device.Download(host);
  EXPECT_EQ(host.inserted_count(), 2 * kBatch);
  device.Clear();
  EXPECT_FALSE(device.count_is_known());
}

}  // namespace
}  // namespace tamis::cuda
