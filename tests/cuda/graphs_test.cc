// A captured change runs as often as its CUDA graph, which is not counted. The filter then reports
// its count as unknown, and estimates it if needed.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tamis/cuda/device_filter.h"
#include "tamis/cuda/host_pipeline.h"
#include "tamis/error.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/cuda/fake_runtime.h"
#include "tests/test_util.h"

namespace tamis::cuda::graphs_test {

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
  EXPECT_EQ(host_.key_types(), KeyTypes(KeyType::kInteger));
  EXPECT_NEAR(static_cast<double>(host_.inserted_count()), host_.estimated_count(), 0.5);
  // 2% is about five standard deviations of this estimate.
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
  EXPECT_EQ(device_.Header().key_types, KeyTypes(KeyType::kInteger));
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
  other.ForgetCount();  // as after a user's kernel
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

TEST_F(CudaGraphs, ACapturedCombinationChangesNoCountByItself) {
  const std::vector<uint64_t> keys = RandomKeys(kBatch, 1);
  DeviceFilter counted(host_, Options());
  counted.Insert(keys);
  ASSERT_TRUE(counted.count_is_known());
  for (const bool merges : {true, false}) {
    DeviceFilter device(host_, Options());
    device.Insert(std::span(keys).first(kBatch / 2));
    Capture([&] {
      return merges ? device.MergeAsync(counted, stream_) : device.IntersectAsync(counted, stream_);
    });
    EXPECT_FALSE(device.count_is_known());
    EXPECT_EQ(device.inserted_count(), kBatch / 2) << "the graph may never run";
  }
}

// The count of a full filter cannot be estimated.
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
  std::ranges::copy(RandomKeys(kBatch, 3), batch.begin());  // at the address that the graph reads
  Replay();
  EXPECT_FALSE(device.count_is_known());
  device.Download(host);
  EXPECT_EQ(host.inserted_count(), 2 * kBatch);
  device.Clear();
  EXPECT_FALSE(device.count_is_known());
}

TEST_F(CudaGraphs, AnUploadIsCountedAgain) {
  CuckooFilter<16> host({.capacity = 2 * kBatch});
  DeviceFilter device(host, Options());
  const std::vector<uint64_t> batch = RandomKeys(kBatch, 2);
  std::vector<uint64_t> failed(BitmapWords(kBatch));
  uint64_t num_failed = 0;
  ASSERT_TRUE(device.InsertAsync(batch, Bitmap(failed), &num_failed, {}, stream_).ok());
  ASSERT_TRUE(runtime_.Wait(stream_).ok());
  EXPECT_FALSE(device.count_is_known());
  host.Insert(std::span(batch).first(10));
  device.Upload(host);
  EXPECT_TRUE(device.count_is_known());
  EXPECT_EQ(device.inserted_count(), 10u);
}

// The key types of inserted, merged and streamed keys, and no others.
TEST_F(CudaGraphs, KeyTypesAreThoseOfInsertedKeys) {
  const std::string text = "abc";
  const std::vector<int32_t> offsets = {0, 1, 3};
  const StringColumn strings{text.data(), offsets};
  const KeyTypes bytes(KeyType::kBytes);
  KeyTypes both = bytes;
  both.Add(KeyType::kInteger);
  const std::vector<uint64_t> integers = RandomKeys(10, 1);

  DeviceFilter other(host_, Options());
  EXPECT_EQ(other.Insert(Keys(strings).Slice(0, 0)), 0u);
  EXPECT_EQ(other.Header().key_types, KeyTypes());
  other.Insert(strings);
  EXPECT_EQ(other.Header().key_types, bytes);
  device_.Insert(integers);
  device_.Merge(other);
  EXPECT_EQ(device_.Header().key_types, both);

  DeviceFilter cuckoo(CuckooFilter<16>({.capacity = 100}).Header(), Options());
  cuckoo.Insert(strings);
  EXPECT_EQ(cuckoo.Header().key_types, bytes);
  cuckoo.Insert(integers);
  EXPECT_EQ(cuckoo.Header().key_types, both);

  DeviceFilter streamed(host_, Options());
  HostPipeline pipeline(Options(), {.chunk_keys = 64, .chunks = 3, .threads = 1});
  pipeline.Insert(streamed, strings);
  EXPECT_EQ(streamed.Header().key_types, bytes);
}

TEST_F(CudaGraphs, MoreCanBeErasedThanWasCounted) {
  const CuckooFilter<16> host({.capacity = kBatch});
  DeviceFilter device(host, Options());
  const std::vector<uint64_t> batch = RandomKeys(kBatch, 2);
  std::vector<uint64_t> failed(BitmapWords(kBatch));
  uint64_t num_failed = 0;
  ASSERT_TRUE(device.InsertAsync(batch, Bitmap(failed), &num_failed, {}, stream_).ok());
  EXPECT_EQ(device.inserted_count(), 0u);
  EXPECT_EQ(device.Erase(std::span(batch).first(kBatch / 2), stream_), kBatch / 2);
  EXPECT_EQ(device.inserted_count(), 0u);
  EXPECT_FALSE(device.count_is_known());
}

// Whichever call of the runtime fails, a count that is reported as known is right.
TEST(CudaCounts, AreUnknownAfterAChangeThatFailed) {
  const std::vector<uint64_t> batch = RandomKeys(kBatch, 2);
  int changed = 0;
  for (const bool erase : {false, true}) {
    for (int64_t at = 0;; ++at) {
      FakeRuntime runtime;
      CuckooFilter<16> host({.capacity = 2 * kBatch});
      host.Insert(RandomKeys(kBatch / 2, 3));
      host.Insert(std::span(batch).first(erase ? kBatch : 0));
      DeviceFilter device(host, {.runtime = &runtime});
      const uint64_t before = runtime.calls();
      runtime.FailCall(at, kMemoryAllocation);
      bool threw = false;
      try {
        erase ? device.Erase(batch) : device.Insert(batch);
      } catch (const Error&) {
        threw = true;
      }
      const uint64_t calls = runtime.calls() - before;
      if (!runtime.usable()) continue;  // nothing can be checked any more
      runtime.FailCall(-1, kSuccess);
      const uint64_t counted = device.inserted_count();
      device.Download(host);
      if (device.count_is_known()) {
        ASSERT_EQ(counted, host.inserted_count()) << "after call " << at;
      }
      changed += threw && host.inserted_count() != counted;
      if (static_cast<int64_t>(calls) <= at) {
        EXPECT_FALSE(threw);
        EXPECT_TRUE(device.count_is_known());
        break;
      }
    }
  }
  EXPECT_GT(changed, 1) << "or this test shows nothing";
}

}  // namespace tamis::cuda::graphs_test
