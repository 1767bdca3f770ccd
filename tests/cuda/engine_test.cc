// The Engine with an emulated GPU: the calls that go to the GPU, the filters kept there, and the
// reactions to failures.
#include "tamis/engine/engine.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/src/engine/calibration/calibration_device.h"
#include "core/src/engine/engine_access.h"
#include "cuda/src/accelerator.h"
#include "tamis/backends.h"
#include "tamis/error.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/core/scoped_env.h"
#include "tests/cuda/fake_runtime.h"
#include "tests/test_util.h"

namespace tamis::cuda::engine_test {

constexpr Status kLaunchFailure{719};

std::shared_ptr<tamis::detail::Accelerator> NotMade() { return nullptr; }

// Lookups take 1 ns per key on the device, and `host_ns` on the host.
Calibration Costs(double host_ns) {
  Calibration calibration;
  calibration.machine = "test";
  calibration.points = {{"portable", 1024, host_ns, host_ns, host_ns},
                        {"fake GPU", 1024, 1, host_ns, host_ns}};
  return calibration;
}

class EngineOnDeviceTest : public testing::Test {
 protected:
  EngineOnDeviceTest()
      : backend_{"fake GPU", "for tests", Backends().back().kernels, NotMade},
        accelerator_(std::make_shared<CudaAccelerator>(
            backend_, DeviceOptions{.runtime = &runtime_},
            PipelineOptions{.chunk_keys = 128, .chunks = 3, .threads = 1})),
        filter_({.capacity = 2000, .fpr = 0.01}),
        keys_(RandomKeys(1001, 2)) {
    filter_.Insert(RandomKeys(2000, 1));
    filter_.Insert(std::span(keys_).first(500));
  }
  ~EngineOnDeviceTest() override {
    accelerator_.reset();
    EXPECT_EQ(runtime_.num_live(), 0u) << "a leak";
  }

  EngineOptions Options(double host_ns = 1e6) {
    return {.threads = 1,
            .calibration = Costs(host_ns),
            .device_filter_bytes = ~uint64_t{0}};  // for tests that set the amount of memory
  }
  Engine EngineOf(EngineOptions options) {
    return tamis::detail::EngineAccess::Make(std::move(options), accelerator_);
  }

  // Compares all outputs with those of the filter itself.
  void ExpectRightAnswers(const Engine& engine, const Filter& filter) {
    ExpectRightAnswers(engine, filter, keys_);
  }
  void ExpectRightAnswers(const Engine& engine, const Filter& filter, const Keys& keys) {
    std::vector<uint64_t> want(BitmapWords(keys.size())), bits(BitmapWords(keys.size()));
    std::vector<uint8_t> want_bytes(keys.size()), bytes(keys.size());
    std::vector<uint32_t> want_rows(keys.size()), rows(keys.size());
    std::vector<uint64_t> rows64(keys.size());
    const size_t found = filter.Contains(keys, Bitmap(want));
    filter.Contains(keys, std::span(want_bytes));
    filter.Select(keys, std::span(want_rows));
    EXPECT_EQ(engine.Contains(filter, keys, Bitmap(bits)), found);
    EXPECT_EQ(bits, want);
    EXPECT_EQ(engine.Contains(filter, keys, std::span(bytes)), found);
    EXPECT_EQ(bytes, want_bytes);
    EXPECT_EQ(engine.Count(filter, keys), found);
    EXPECT_EQ(engine.Select(filter, keys, std::span(rows)), found);
    EXPECT_EQ(engine.Select(filter, keys, std::span(rows64)), found);
    for (size_t i = 0; i < found; ++i) {
      ASSERT_EQ(rows[i], want_rows[i]);
      ASSERT_EQ(rows64[i], want_rows[i]);
    }
  }

  // An environment variable would pin another backend.
  const ScopedEnv pin_{"TAMIS_BACKEND", nullptr};
  FakeRuntime runtime_;
  const Backend backend_;
  std::shared_ptr<CudaAccelerator> accelerator_;
  SplitBlockBloomFilter filter_;
  std::vector<uint64_t> keys_;
};

TEST_F(EngineOnDeviceTest, GivesTheSameAnswersAndKeepsTheFilter) {
  const Engine engine = EngineOf(Options());
  ExpectRightAnswers(engine, filter_);
  EXPECT_EQ(runtime_.copied_from(filter_.payload().data(), filter_.bytes()), 0u)
      << "a driver copies pageable memory by one thread: it is staged";
  const Engine::Stats stats = engine.stats();
  EXPECT_EQ(stats.device_calls, 5u);
  EXPECT_EQ(stats.uploads, 1u);
  EXPECT_EQ(stats.failures, 0u);
}

TEST_F(EngineOnDeviceTest, NullsAreInNoAnswer) {
  const Engine engine = EngineOf(Options());
  const std::vector<uint8_t> validity(keys_.size() / 8 + 2, 0b1101'0011);
  const Keys keys = Keys(keys_).WithValidity(validity.data(), 5);
  ASSERT_LT(filter_.Count(keys), filter_.Count(keys_));
  ExpectRightAnswers(engine, filter_, keys);
  EXPECT_GT(engine.stats().device_calls, 0u);
}

TEST_F(EngineOnDeviceTest, EveryChangeOfTheFilterIsSeen) {
  Engine engine = EngineOf(Options());
  SplitBlockBloomFilter other({.capacity = 2000, .fpr = 0.01});
  other.Insert(RandomKeys(10, 9));
  uint64_t uploads = 0;
  const auto expect_upload = [&] {
    ExpectRightAnswers(engine, filter_);
    EXPECT_EQ(engine.stats().uploads, ++uploads);
    EXPECT_EQ(engine.stats().device_filter_bytes, filter_.bytes()) << "of one copy";
    ExpectRightAnswers(engine, filter_);
    EXPECT_EQ(engine.stats().uploads, uploads);
  };
  expect_upload();
  filter_.Insert(keys_[700]);
  expect_upload();
  filter_.Insert(std::span(keys_).subspan(600, 10));
  expect_upload();
  engine.Insert(filter_, std::span(keys_).subspan(800, 10));
  expect_upload();
  engine.Insert(filter_, 5, [](uint64_t first, std::span<uint64_t> keys) {
    for (uint64_t& key : keys) key = first++;
  });
  expect_upload();
  filter_.Merge(other);
  expect_upload();
  filter_.Clear();
  expect_upload();
  // The same number of keys as before, but other keys.
  filter_.Insert(keys_[0]);
  expect_upload();
  filter_.Clear();
  filter_.Insert(keys_[1]);
  expect_upload();
  DeviceFilter(other, {.runtime = &runtime_}).Download(filter_);
  expect_upload();
  // Bits from another filter, of keys that are not counted.
  SplitBlockBloomFilter more({.capacity = 2000, .fpr = 0.01});
  more.Insert(keys_[900]);
  ASSERT_EQ(more.bytes(), filter_.bytes());
  ASSERT_FALSE(filter_.Contains(keys_[900]));
  std::memcpy(filter_.mutable_view().mutable_blocks().data(), more.payload().data(), more.bytes());
  EXPECT_EQ(engine.Count(filter_, std::span(keys_).subspan(900, 1)), 1u);
  ++uploads;
  SplitBlockView view = filter_.mutable_view();
  expect_upload();
  view.Insert(keys_[950]);
  expect_upload();
  // The same contents at another address.
  SplitBlockBloomFilter moved = std::move(filter_);
  filter_ = std::move(moved);
  ExpectRightAnswers(engine, filter_);
  EXPECT_EQ(engine.stats().uploads, uploads);
  // Another filter at the same address.
  filter_ = other.Clone();
  expect_upload();
}

TEST_F(EngineOnDeviceTest, TheCheaperWayIsChosenAndExplained) {
  const Engine engine = EngineOf(Options(10));
  const auto plan = [&](uint64_t n) { return engine.PlanCall(filter_, n); };
  // 40 us to start and the copy of the filter, compared with 9 ns per key.
  EXPECT_FALSE(plan(1000).chosen.on_device);
  const Engine::CallPlan many = plan(100'000);
  EXPECT_TRUE(many.chosen.on_device);
  EXPECT_TRUE(many.chosen.uploads);
  EXPECT_NE(many.reason.find("fake GPU, copying the filter there"), std::string::npos)
      << many.reason;
  EXPECT_NE(many.reason.find("of the GPU: defaults, not measured"), std::string::npos)
      << many.reason;
  ASSERT_EQ(many.alternatives.size(), 1u);
  EXPECT_EQ(many.alternatives[0].backend->name, "portable");

  EXPECT_EQ(engine.Count(filter_, std::span(keys_).first(5)), 5u);
  EXPECT_EQ(engine.stats().device_calls, 0u);
  const std::vector<uint64_t> large = RandomKeys(50'000, 3);
  EXPECT_EQ(engine.Count(filter_, large), filter_.Count(large));
  EXPECT_EQ(engine.stats().device_calls, 1u);
  const Engine::CallPlan again = plan(100'000);
  EXPECT_FALSE(again.chosen.uploads);
  EXPECT_LT(again.chosen.seconds, many.chosen.seconds);
  EXPECT_NE(again.reason.find("where the filter is"), std::string::npos) << again.reason;

  EXPECT_FALSE(engine.PlanCall(filter_, 100'000, Engine::Operation::kInsert).chosen.on_device);
  // If a backend is pinned, only that backend is used.
  EngineOptions pinned = Options(10);
  pinned.backend = &backend_;
  EXPECT_TRUE(EngineOf(pinned).PlanCall(filter_, 1).chosen.on_device);
  pinned.backend = &Backends().back();
  EXPECT_FALSE(EngineOf(pinned).PlanCall(filter_, 100'000'000).chosen.on_device);
}

TEST_F(EngineOnDeviceTest, CalibrationMeasuresTheDevice) {
  Calibration calibration;
  calibration.points.clear();
  for (const FilterKind kind :
       {FilterKind::kSplitBlock, FilterKind::kCuckoo16, FilterKind::kFuse8}) {
    for (const uint64_t bytes : {1024, 65536}) {
      calibration.points.push_back({std::string(Backends().front().name), bytes, 10, 20, 30, kind});
    }
  }
  // Old values are replaced.
  calibration.points.push_back({"fake GPU", 77, 1e6, 1, 1});
  calibration.upload_gb_per_s = 123;
  tamis::detail::MeasureDevice(backend_, accelerator_, 1000, calibration);
  EXPECT_NO_THROW(calibration.Validate());
  EXPECT_EQ(calibration.device, "for tests");
  EXPECT_GT(calibration.device_start_us, 0);
  EXPECT_GT(calibration.upload_gb_per_s, 0);
  EXPECT_NE(calibration.upload_gb_per_s, 123);
  EXPECT_GT(runtime_.launches(), 12u * 4);
  ASSERT_EQ(calibration.points.size(), 12u);
  for (size_t i = 6; i < 12; ++i) {
    const Calibration::Point& point = calibration.points[i];
    EXPECT_EQ(point.backend, "fake GPU");
    EXPECT_EQ(point.kind, calibration.points[i - 6].kind);
    EXPECT_EQ(point.insert_ns, 20);
    EXPECT_EQ(point.partitioned_insert_ns, 30);
    EXPECT_NE(point.contains_ns, 10);
  }
  EngineOptions options = Options();
  options.calibration = calibration;
  const Engine::CallPlan plan = EngineOf(options).PlanCall(filter_, 1'000'000);
  EXPECT_NE(plan.reason.find("; of the GPU: for tests)"), std::string::npos) << plan.reason;

  runtime_.FailWork(0, kLaunchFailure);
  EXPECT_THROW(tamis::detail::MeasureDevice(backend_, accelerator_, 1000, calibration), Error);
}

// Predictions use the values of the calibration.
TEST_F(EngineOnDeviceTest, PlansByTheMeasuredValues) {
  EngineOptions options = Options(10);
  options.calibration.device_start_us = 1000;
  options.calibration.upload_gb_per_s = 1e-3;  // a microsecond per byte
  const Engine::CallPlan plan = EngineOf(options).PlanCall(filter_, 1'000'000'000);
  ASSERT_TRUE(plan.chosen.on_device);
  EXPECT_DOUBLE_EQ(plan.chosen.seconds,
                   1e-3 + 1e-9 * 1'000'000'000 + 1e-6 * static_cast<double>(filter_.bytes()));
}

TEST_F(EngineOnDeviceTest, MirrorsGiveWayWhenMemoryIsShort) {
  const Engine engine = EngineOf(Options());
  ExpectRightAnswers(engine, filter_);
  runtime_.SetMemory(runtime_.live_bytes() + filter_.bytes());  // room for one more
  SplitBlockBloomFilter b = filter_.Clone();
  SplitBlockBloomFilter c = filter_.Clone();
  ExpectRightAnswers(engine, b);
  EXPECT_TRUE(accelerator_->HasMirror(filter_));
  ExpectRightAnswers(engine, filter_);
  ExpectRightAnswers(engine, c);  // replaces b, which is the least recently used
  EXPECT_TRUE(accelerator_->HasMirror(filter_));
  EXPECT_FALSE(accelerator_->HasMirror(b));
  EXPECT_TRUE(accelerator_->HasMirror(c));
  EXPECT_EQ(engine.stats().uploads, 3u);
  EXPECT_EQ(engine.stats().failures, 0u);
}

TEST_F(EngineOnDeviceTest, AFilterThatCannotFitDrivesNoOthersOut) {
  const Engine engine = EngineOf(Options());
  ExpectRightAnswers(engine, filter_);
  runtime_.SetMemory(runtime_.live_bytes() + 100);
  SplitBlockBloomFilter large({.bytes = 2 * runtime_.live_bytes()});
  ExpectRightAnswers(engine, large);
  EXPECT_GT(engine.stats().fallbacks, 0u);
  EXPECT_TRUE(accelerator_->HasMirror(filter_));
}

TEST_F(EngineOnDeviceTest, AFilterThatIsDestroyedTakesItsCopyAlong) {
  const Engine engine = EngineOf(Options());
  std::vector<uint64_t> keys = RandomKeys(10, 5);
  auto filter = std::make_unique<SplitBlockBloomFilter>(filter_.Clone());
  const uint64_t bytes = filter->bytes();
  engine.Count(*filter, keys);
  engine.Count(filter_, keys);
  EXPECT_EQ(engine.stats().device_filter_bytes, 2 * bytes);
  const uint64_t live = runtime_.live_bytes();

  // The device's copy belongs to the contents, wherever they move.
  auto moved = std::make_unique<SplitBlockBloomFilter>(std::move(*filter));
  filter.reset();
  EXPECT_TRUE(accelerator_->HasMirror(*moved));
  moved.reset();
  EXPECT_EQ(runtime_.live_bytes(), live - bytes);
  EXPECT_EQ(engine.stats().device_filter_bytes, bytes);
  filter_ = SplitBlockBloomFilter({.capacity = 10});
  EXPECT_EQ(runtime_.live_bytes(), live - 2 * bytes);
  EXPECT_EQ(engine.stats().device_filter_bytes, 0u);
}

// A call of the runtime would invalidate the capture.
TEST_F(EngineOnDeviceTest, AFilterThatIsDestroyedDuringACaptureGoesLater) {
  const Engine engine = EngineOf(Options());
  auto filter = std::make_unique<SplitBlockBloomFilter>(filter_.Clone());
  engine.Count(*filter, keys_);
  const uint64_t live = runtime_.live_bytes();
  runtime_.SetCapturing(true);
  filter.reset();
  runtime_.SetCapturing(false);
  EXPECT_EQ(runtime_.live_bytes(), live);
  engine.Count(filter_, keys_);
  EXPECT_EQ(runtime_.live_bytes(), live);
  EXPECT_EQ(engine.stats().device_filter_bytes, filter_.bytes());

  // A lookup that keeps no copy also frees it.
  runtime_.SetCapturing(true);
  filter_ = SplitBlockBloomFilter({.capacity = 10});
  runtime_.SetCapturing(false);
  EXPECT_GT(engine.stats().device_filter_bytes, 0u);
  SplitBlockBloomFilter shared({.capacity = 10});
  tamis::detail::FilterAccess::SetShared(shared, true);
  engine.Count(shared, keys_);
  EXPECT_EQ(engine.stats().device_filter_bytes, 0u);
}

// The device memory behind the copies belongs to the parent.
TEST_F(EngineOnDeviceTest, AFilterDestroyedInAChildOfForkDoesNotReachTheDevice) {
  const Engine engine = EngineOf(Options());
  engine.Count(filter_, keys_);
  const uint64_t calls = runtime_.calls();
  const pid_t child = fork();
  if (child == 0) {
    filter_ = SplitBlockBloomFilter({.capacity = 10});
    engine.DropDeviceFilters();
    if (runtime_.calls() != calls) _exit(1);
    // The child's own device does free its copy.
    FakeRuntime runtime;
    CudaAccelerator own(backend_, DeviceOptions{.runtime = &runtime},
                        PipelineOptions{.chunk_keys = 128, .chunks = 3, .threads = 1});
    auto filter = std::make_unique<SplitBlockBloomFilter>(filter_.Clone());
    own.ForEachBits(*filter, keys_, [](const uint64_t*, size_t, uint64_t) {});
    if (own.MirrorBytes() != filter->bytes()) _exit(2);
    filter.reset();
    _exit(own.MirrorBytes() == 0 ? 0 : 3);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(EngineOnDeviceTest, CopiesStayWithinTheirLimit) {
  EngineOptions options = Options();
  options.device_filter_bytes = 2 * filter_.bytes();
  const Engine engine = EngineOf(options);
  SplitBlockBloomFilter b = filter_.Clone();
  SplitBlockBloomFilter c = filter_.Clone();
  for (const SplitBlockBloomFilter* filter : {&filter_, &b, &filter_, &c}) {
    ExpectRightAnswers(engine, *filter);
    EXPECT_LE(engine.stats().device_filter_bytes, options.device_filter_bytes);
  }
  EXPECT_TRUE(accelerator_->HasMirror(filter_));
  EXPECT_FALSE(accelerator_->HasMirror(b)) << "it was not used for longer";
  EXPECT_TRUE(accelerator_->HasMirror(c));

  // A filter larger than the limit is queried on the host.
  const uint64_t calls = engine.stats().device_calls;
  const SplitBlockBloomFilter large({.bytes = options.device_filter_bytes + 32});
  ExpectRightAnswers(engine, large);
  EXPECT_EQ(engine.stats().device_calls, calls);
  EXPECT_EQ(engine.stats().failures, 0u);
  EXPECT_TRUE(accelerator_->HasMirror(c));
  try {
    accelerator_->ForEachBits(large, keys_, [](const uint64_t*, size_t, uint64_t) {});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory);
    EXPECT_NE(std::string(error.what()).find("device_filter_bytes"), std::string::npos);
  }
}

TEST_F(EngineOnDeviceTest, TheLimitIsHalfOfTheMemoryUnlessItIsGiven) {
  runtime_.SetMemory(uint64_t{1} << 30);
  EngineOptions options = Options();
  options.device_filter_bytes = 0;
  const Engine engine = EngineOf(options);
  EXPECT_TRUE(accelerator_->Takes(SplitBlockBloomFilter({.bytes = uint64_t{1} << 29})));
  EXPECT_FALSE(accelerator_->Takes(SplitBlockBloomFilter({.bytes = (uint64_t{1} << 29) + 32})));
}

TEST_F(EngineOnDeviceTest, CopiesCanBeGivenBack) {
  const Engine engine = EngineOf(Options());
  SplitBlockBloomFilter other = filter_.Clone();
  engine.Count(filter_, keys_);
  engine.Count(other, keys_);
  const uint64_t live = runtime_.live_bytes();
  engine.DropDeviceFilters();
  EXPECT_EQ(runtime_.live_bytes(), live - 2 * filter_.bytes());
  EXPECT_EQ(engine.stats().device_filter_bytes, 0u);
  ExpectRightAnswers(engine, filter_);
  EXPECT_EQ(engine.stats().uploads, 3u);
}

// A copy of a shared filter could not be used twice, so no copy is kept.
TEST_F(EngineOnDeviceTest, OfASharedFilterNoCopyIsKept) {
  const Engine engine = EngineOf(Options());
  engine.Count(filter_, keys_);
  const uint64_t live = runtime_.live_bytes();
  SplitBlockBloomFilter other = filter_.Clone();
  tamis::detail::FilterAccess::SetShared(other, true);
  for (int i = 0; i < 3; ++i) {
    ExpectRightAnswers(engine, other);
    EXPECT_EQ(runtime_.live_bytes(), live);
  }
  EXPECT_TRUE(accelerator_->HasMirror(filter_));
}

// While one thread waits for a GPU, other threads plan their calls, and make calls on the host.
TEST_F(EngineOnDeviceTest, QueriesAboutTheDeviceDoNotWait) {
  bool answered = false;
  accelerator_->ForEachBits(filter_, keys_, [&](const uint64_t*, size_t, uint64_t begin) {
    if (begin != 0) return;
    auto asked = std::make_shared<std::promise<bool>>();
    std::future<bool> answer = asked->get_future();
    std::thread other([asked, accelerator = accelerator_, filter = &filter_] {
      asked->set_value(accelerator->HasMirror(*filter));
    });
    answered = answer.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
    EXPECT_TRUE(answered && answer.get());
    // If the other thread waits for this call, it must not be joined.
    answered ? other.join() : other.detach();
  });
  EXPECT_TRUE(answered);
}

// There is room for one copy, which is evicted and dropped while other threads query.
TEST_F(EngineOnDeviceTest, ThreadsTakeTurns) {
  constexpr unsigned kThreads = 3;
  EngineOptions options = Options();
  options.device_filter_bytes = filter_.bytes() + 32;
  const Engine engine = EngineOf(options);
  const std::vector<uint64_t> keys = RandomKeys(300, 2);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (unsigned t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (unsigned i = 0; i < 12; ++i) {
        SplitBlockBloomFilter own({.capacity = 2000, .fpr = 0.01});
        own.Insert(RandomKeys(300, 100 * t + i));
        for (const SplitBlockBloomFilter* filter : {&own, &filter_}) {
          std::vector<uint64_t> want(BitmapWords(keys.size())), bits(BitmapWords(keys.size()));
          filter->Contains(keys, Bitmap(want));
          engine.Contains(*filter, keys, Bitmap(bits));
          wrong += bits != want;
        }
        if (i % 4 == 3) engine.DropDeviceFilters();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(engine.stats().device_calls, kThreads * 12u * 2) << engine.stats().last_failure;
  EXPECT_LE(engine.stats().device_filter_bytes, options.device_filter_bytes);
}

TEST_F(EngineOnDeviceTest, WithoutMemoryTheHostAnswers) {
  const Engine engine = EngineOf(Options());
  runtime_.SetMemory(100);
  ExpectRightAnswers(engine, filter_);
  const Engine::Stats stats = engine.stats();
  EXPECT_EQ(stats.device_calls, 0u);
  EXPECT_EQ(stats.fallbacks, 5u);
  EXPECT_NE(stats.last_failure.find("allocating"), std::string::npos) << stats.last_failure;
  // Memory may be available later.
  runtime_.SetMemory(~uint64_t{0});
  ExpectRightAnswers(engine, filter_);
  EXPECT_EQ(engine.stats().device_calls, 5u);
}

TEST_F(EngineOnDeviceTest, ADeviceThatIsLostIsNotAskedAgain) {
  const Engine engine = EngineOf(Options());
  runtime_.FailWork(0, kLaunchFailure);
  ExpectRightAnswers(engine, filter_);
  EXPECT_EQ(engine.stats().failures, 1u);
  EXPECT_EQ(engine.stats().fallbacks, 1u);
  const uint64_t calls = runtime_.calls();
  ExpectRightAnswers(engine, filter_);
  EXPECT_EQ(runtime_.calls(), calls);
  EXPECT_FALSE(engine.PlanCall(filter_, 1'000'000).chosen.on_device);
}

// Wherever the device fails, the result is right or an error.
TEST_F(EngineOnDeviceTest, FailuresAnywhereAreFallbacksOrErrors) {
  uint64_t fallbacks = 0;
  uint64_t errors = 0;
  for (int64_t at = 0;; ++at) {
    FakeRuntime runtime;
    {
      const Engine engine = tamis::detail::EngineAccess::Make(
          Options(), std::make_shared<CudaAccelerator>(
                         backend_, DeviceOptions{.runtime = &runtime},
                         PipelineOptions{.chunk_keys = 128, .chunks = 3, .threads = 1}));
      runtime.FailWork(at, kLaunchFailure);
      std::vector<uint64_t> want(BitmapWords(keys_.size())), bits(BitmapWords(keys_.size()));
      filter_.Contains(keys_, Bitmap(want));
      bool threw = false;
      try {
        engine.Contains(filter_, keys_, Bitmap(bits));
        EXPECT_EQ(bits, want) << at;
      } catch (const Error& error) {
        threw = true;
        EXPECT_EQ(error.code(), ErrorCode::kDevice);
      }
      const Engine::Stats stats = engine.stats();
      errors += threw;
      fallbacks += stats.fallbacks;
      EXPECT_EQ(stats.failures, threw + stats.fallbacks);
      if (stats.failures == 0) break;
    }
    EXPECT_EQ(runtime.num_live(), 0u);
  }
  EXPECT_GT(fallbacks, 3u);  // before any output was written
  EXPECT_GT(errors, 3u);     // after some output was written
}

TEST_F(EngineOnDeviceTest, APinnedDeviceThatFailsIsAnError) {
  EngineOptions options = Options();
  options.backend = &backend_;
  const Engine engine = EngineOf(options);
  runtime_.SetMemory(100);
  for (int i = 0; i < 2; ++i) {
    try {
      engine.Count(filter_, keys_);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory);
    }
  }
  EXPECT_EQ(engine.stats().failures, 2u);
  EXPECT_EQ(engine.stats().fallbacks, 0u);
}

TEST_F(EngineOnDeviceTest, KeysInDeviceMemoryAreLookedUpThere) {
  void* memory = nullptr;
  ASSERT_TRUE(runtime_.Allocate(&memory, 8 * keys_.size(), nullptr).ok());
  std::memcpy(memory, keys_.data(), 8 * keys_.size());
  const std::span<const uint64_t> there(static_cast<const uint64_t*>(memory), keys_.size());
  EngineOptions options = Options(1e-3);  // the host would be faster
  options.device_keys = true;
  const Engine engine = EngineOf(options);
  EXPECT_EQ(engine.Count(filter_, there), filter_.Count(keys_));
  EXPECT_EQ(engine.stats().device_calls, 1u);
  EXPECT_EQ(engine.Count(filter_, keys_), filter_.Count(keys_));
  EXPECT_EQ(engine.stats().device_calls, 1u);
  runtime_.FailWork(0, kLaunchFailure);
  EXPECT_THROW(engine.Count(filter_, there), Error);  // no other backend can read the keys
  EXPECT_THROW(engine.Count(filter_, there), Error);  // nor find out where the keys are
  EXPECT_TRUE(runtime_.Free(memory, nullptr).ok());
}

// The host may be unable to read either array of a column.
TEST_F(EngineOnDeviceTest, StringsThatAreOnTheDeviceInPartAreRefused) {
  const std::string text = "abcdef";
  const std::vector<int32_t> offsets = {0, 2, 6};
  void *text_there = nullptr, *offsets_there = nullptr;
  ASSERT_TRUE(runtime_.Allocate(&text_there, text.size(), nullptr).ok());
  ASSERT_TRUE(runtime_.Allocate(&offsets_there, 4 * offsets.size(), nullptr).ok());
  std::memcpy(text_there, text.data(), text.size());
  std::memcpy(offsets_there, offsets.data(), 4 * offsets.size());
  const auto* far_text = static_cast<char*>(text_there);
  const std::span<const int32_t> far_offsets(static_cast<int32_t*>(offsets_there), 3);
  EngineOptions options = Options(1e-3);  // the host would be faster
  options.device_keys = true;
  const Engine engine = EngineOf(options);
  const StringColumn here{text.data(), offsets};
  EXPECT_EQ(engine.Count(filter_, here), filter_.Count(here));
  for (const StringColumn& column :
       {StringColumn{far_text, offsets}, StringColumn{text.data(), far_offsets},
        StringColumn{far_text, far_offsets}}) {
    try {
      engine.Count(filter_, column);
      ADD_FAILURE() << "the host has read it";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << error.what();
    }
  }
  EXPECT_TRUE(runtime_.Free(text_there, nullptr).ok());
  EXPECT_TRUE(runtime_.Free(offsets_there, nullptr).ok());
}

}  // namespace tamis::cuda::engine_test
