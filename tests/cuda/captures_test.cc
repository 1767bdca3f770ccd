// Streams that are captured into CUDA graphs, by other threads or by the calling thread: calls that
// wait work during a capture and do not invalidate it.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/src/engine/engine_access.h"
#include "cuda/src/accelerator.h"
#include "cuda/src/device_check.h"
#include "tamis/backend.h"
#include "tamis/backends.h"
#include "tamis/cuda/device_filter.h"
#include "tamis/cuda/host_pipeline.h"
#include "tamis/engine/engine.h"
#include "tamis/error.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/core/scoped_env.h"
#include "tests/cuda/fake_runtime.h"
#include "tests/test_util.h"

namespace tamis::cuda::captures_test {

constexpr size_t kKeys = 300;

class CudaCaptures : public testing::Test {
 protected:
  CudaCaptures() : keys_(RandomKeys(kKeys, 1)), host_({.capacity = kKeys}) {
    host_.Insert(std::span(keys_).first(kKeys / 2));
    EXPECT_TRUE(runtime_.CreateStream(&captured_).ok());
    EXPECT_TRUE(runtime_.CreateStream(&stream_).ok());
  }
  ~CudaCaptures() override {
    EXPECT_TRUE(runtime_.DestroyStream(captured_).ok());
    EXPECT_TRUE(runtime_.DestroyStream(stream_).ok());
    EXPECT_EQ(runtime_.num_live(), 0u) << "a leak";
  }

  DeviceOptions Options() const { return {.runtime = &runtime_}; }

  // Runs `call` while this thread captures, first on another thread and then on this one.
  void WhileCapturing(const std::function<void()>& call) {
    const auto checked = [&] {
      call();
      EXPECT_EQ(runtime_.capture_mode(), CaptureMode::kGlobal) << "it is not left as it was";
    };
    runtime_.BeginCapture(captured_);
    std::thread(checked).join();
    EXPECT_TRUE(runtime_.EndCapture()) << "another thread has spoilt the capture";
    runtime_.BeginCapture(captured_);
    checked();
    EXPECT_TRUE(runtime_.EndCapture()) << "this thread has spoilt its capture";
  }

  static void Refuses(ErrorCode code, const std::string& says, const std::function<void()>& call) {
    try {
      call();
      ADD_FAILURE() << "no error: " << says;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
    }
  }

  FakeRuntime runtime_;
  const std::vector<uint64_t> keys_;
  SplitBlockBloomFilter host_;
  Stream captured_ = nullptr;
  Stream stream_ = nullptr;
};

// Otherwise the other tests here would show nothing.
TEST_F(CudaCaptures, AreInvalidatedByCallsInTheGlobalMode) {
  void* memory = nullptr;
  runtime_.BeginCapture(captured_);
  std::thread([&] { EXPECT_FALSE(runtime_.Allocate(&memory, 8, stream_).ok()); }).join();
  EXPECT_FALSE(runtime_.EndCapture());
  runtime_.BeginCapture(captured_);
  CaptureMode mode = CaptureMode::kRelaxed;
  EXPECT_TRUE(runtime_.ExchangeCaptureMode(&mode).ok());
  EXPECT_FALSE(runtime_.Wait(Stream{nullptr}).ok());
  EXPECT_TRUE(runtime_.ExchangeCaptureMode(&mode).ok());
  EXPECT_FALSE(runtime_.EndCapture());
}

TEST_F(CudaCaptures, FiltersAreMadeAskedAndChangedBesideThem) {
  const std::string text = "abcdef";
  const std::vector<int32_t> offsets = {0, 1, 3, 6};
  WhileCapturing([&] {
    DeviceFilter device(host_, Options(), stream_);
    std::vector<uint64_t> bits(BitmapWords(kKeys)), rows(kKeys), want(BitmapWords(kKeys));
    std::vector<uint8_t> bytes(kKeys);
    const size_t found = host_.Contains(keys_, Bitmap(want));
    EXPECT_EQ(device.Contains(keys_, Bitmap(bits), stream_), found);
    EXPECT_EQ(bits, want);
    EXPECT_EQ(device.Contains(keys_, std::span(bytes), stream_), found);
    EXPECT_EQ(device.Count(keys_, stream_), found);
    EXPECT_EQ(device.Select(keys_, std::span(rows), stream_), found);
    EXPECT_EQ(device.Insert(keys_, stream_), kKeys);
    EXPECT_EQ(device.Insert(StringColumn{text.data(), offsets}, stream_), 3u);
    EXPECT_EQ(device.Count(keys_, stream_), kKeys);
    DeviceFilter other(host_.Header(), Options(), stream_);
    other.Merge(device, stream_);
    EXPECT_EQ(other.Count(keys_, stream_), kKeys);
    other.Intersect(DeviceFilter(host_, Options(), stream_), stream_);
    SplitBlockBloomFilter copy = host_.Clone();
    other.Download(copy, stream_);
    EXPECT_TRUE(SameBytes(copy.payload(), host_.payload()));
    other.Upload(host_, stream_);
    const DeviceFilter view = DeviceFilter::View(
        host_.Header(), {static_cast<std::byte*>(other.data()), other.bytes()}, Options(), stream_);
    EXPECT_EQ(view.Count(keys_, stream_), found);
    other.Clear(stream_);

    DeviceFilter cuckoo(CuckooFilter<16>({.capacity = 2 * kKeys}), Options(), stream_);
    EXPECT_EQ(cuckoo.Insert(keys_, stream_), kKeys);
    EXPECT_EQ(cuckoo.Erase(keys_, rows, stream_), kKeys);
  });
}

TEST_F(CudaCaptures, PipelinesStreamBesideThem) {
  const PipelineOptions chunks = {.chunk_keys = 64, .chunks = 3, .threads = 2};
  WhileCapturing([&] {
    DeviceFilter device(host_, Options(), stream_);
    HostPipeline pipeline(Options(), chunks);
    std::vector<uint64_t> bits(BitmapWords(kKeys)), want(BitmapWords(kKeys));
    const size_t found = host_.Contains(keys_, Bitmap(want));
    EXPECT_EQ(pipeline.Contains(device, keys_, Bitmap(bits)), found);
    EXPECT_EQ(bits, want);
    EXPECT_EQ(pipeline.Insert(device, keys_, {}, stream_), kKeys);
    EXPECT_EQ(device.Count(keys_, stream_), kKeys);
    Refuses(ErrorCode::kInvalidArgument, "the stream is being captured",
            [&] { pipeline.Contains(device, keys_, Bitmap(bits), {}, captured_); });
  });
}

TEST_F(CudaCaptures, EnginesLookUpBesideThem) {
  const Backend backend = {"fake GPU", "for tests", Backends().back().kernels,
                           [] { return std::shared_ptr<tamis::detail::Accelerator>(); }};
  const ScopedEnv pin("TAMIS_BACKEND", nullptr);
  Calibration costs;
  costs.machine = "test";
  costs.points = {{"portable", 1024, 1e6, 1e6, 1e6}, {"fake GPU", 1024, 1, 1e6, 1e6}};
  const EngineOptions options = {.threads = 1, .calibration = costs};
  WhileCapturing([&] {
    std::string why;
    EXPECT_TRUE(DescribeFirstDevice(runtime_, &why).has_value()) << why;
    auto accelerator = std::make_shared<CudaAccelerator>(
        backend, Options(), PipelineOptions{.chunk_keys = 64, .chunks = 3, .threads = 1});
    const Engine engine = tamis::detail::EngineAccess::Make(options, accelerator);
    auto filter = std::make_unique<SplitBlockBloomFilter>(host_.Clone());
    EXPECT_EQ(engine.Count(*filter, keys_), host_.Count(keys_));
    filter->Insert(keys_);
    EXPECT_EQ(engine.Count(*filter, keys_), kKeys);
    EXPECT_EQ(engine.stats().device_calls, 2u);
    EXPECT_EQ(engine.stats().failures, 0u);
    EXPECT_FALSE(accelerator->Holds(keys_));
    filter.reset();
    EXPECT_EQ(engine.Count(host_, keys_), host_.Count(keys_));
  });
}

// They are refused before any work is put on them.
TEST_F(CudaCaptures, StreamsThatAreCapturedAreRefused) {
  DeviceFilter device(host_, Options(), stream_);
  DeviceFilter cuckoo(CuckooFilter<16>({.capacity = 2 * kKeys}), Options(), stream_);
  std::vector<uint64_t> bits(BitmapWords(kKeys)), rows(kKeys);
  WhileCapturing([&] {
    const auto all = [&](ErrorCode code, const std::string& says, StreamRef stream) {
      const uint64_t live = runtime_.num_live();
      Refuses(code, says, [&] { DeviceFilter(host_, Options(), stream); });
      Refuses(code, says, [&] { DeviceFilter(host_.Header(), Options(), stream); });
      Refuses(code, says, [&] { device.Contains(keys_, Bitmap(bits), stream); });
      Refuses(code, says, [&] { device.Count(keys_, stream); });
      Refuses(code, says, [&] { device.Select(keys_, std::span(rows), stream); });
      Refuses(code, says, [&] { device.Insert(keys_, stream); });
      Refuses(code, says, [&] { cuckoo.Insert(keys_, stream); });
      Refuses(code, says, [&] { cuckoo.Erase(keys_, stream); });
      Refuses(code, says, [&] { device.Merge(device, stream); });
      Refuses(code, says, [&] { device.Clear(stream); });
      Refuses(code, says, [&] { device.Upload(host_, stream); });
      Refuses(code, says, [&] { device.Download(host_, stream); });
      EXPECT_EQ(runtime_.num_live(), live);
    };
    all(ErrorCode::kInvalidArgument, "the stream is being captured into a CUDA graph", captured_);
    all(ErrorCode::kUnsupported, "not while a stream is captured into a graph", {});
  });
  EXPECT_EQ(device.Count(keys_, stream_), host_.Count(keys_));
}

// If any call of the runtime fails because of a capture, the result is an answer or an error, and
// the GPU is used again.
TEST_F(CudaCaptures, DoNotDisableTheDevice) {
  const Backend backend = {"fake GPU", "for tests", Backends().back().kernels,
                           [] { return std::shared_ptr<tamis::detail::Accelerator>(); }};
  const ScopedEnv pin("TAMIS_BACKEND", nullptr);
  Calibration costs;
  costs.machine = "test";
  costs.points = {{"portable", 1024, 1e6, 1e6, 1e6}, {"fake GPU", 1024, 1, 1e6, 1e6}};
  constexpr Status kUnsupportedNow{900};
  uint64_t fallbacks = 0;
  for (int64_t at = 0;; ++at) {
    FakeRuntime runtime;
    const Engine engine = tamis::detail::EngineAccess::Make(
        {.threads = 1, .calibration = costs},
        std::make_shared<CudaAccelerator>(
            backend, DeviceOptions{.runtime = &runtime},
            PipelineOptions{.chunk_keys = 64, .chunks = 3, .threads = 1}));
    runtime.FailCall(at, kUnsupportedNow);
    try {
      EXPECT_EQ(engine.Count(host_, keys_), host_.Count(keys_)) << at;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUnsupported) << error.what();
    }
    const Engine::Stats stats = engine.stats();
    fallbacks += stats.fallbacks;
    runtime.FailCall(-1, kSuccess);
    EXPECT_EQ(engine.Count(host_, keys_), host_.Count(keys_)) << at;
    EXPECT_EQ(engine.stats().device_calls, stats.device_calls + 1) << at;
    if (stats.failures == 0 && stats.device_calls == 1 && at > 100) break;
  }
  EXPECT_GT(fallbacks, 10u);
}

}  // namespace tamis::cuda::captures_test
