// Runs every operation on a filter of a device that is not current, with each call of the CUDA
// runtime failing once, and during captures. The operation fails or succeeds, and no other state
// changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tamis/cuda/device_filter.h"
#include "tamis/cuda/host_pipeline.h"
#include "tamis/error.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/cuda/fake_runtime.h"
#include "tests/test_util.h"

namespace tamis::cuda::faults_test {

constexpr size_t kKeys = 200;
constexpr uint64_t kChunk = 64;
constexpr uint64_t kFirstBit = 5;

// Fails the n-th allocation, where 0 is the next one. -1: no allocation fails.
class ResourceThatFails final : public MemoryResource {
 public:
  explicit ResourceThatFails(const Runtime& runtime) : runtime_(runtime) {}

  void* Allocate(uint64_t bytes, cudaStream_t stream) noexcept override {
    ++calls;
    void* memory = nullptr;
    const bool fails = fail_at >= 0 && fail_at-- == 0;
    if (!fails) {
      EXPECT_TRUE(runtime_.Allocate(&memory, bytes, stream).ok());
    }
    return memory;
  }
  void Free(void* memory, uint64_t, cudaStream_t stream) noexcept override {
    EXPECT_TRUE(runtime_.Free(memory, stream).ok());
  }

  uint64_t calls = 0;
  int64_t fail_at = -1;

 private:
  const Runtime& runtime_;
};

// The filters, keys and other data of the operations, on device 1 of two. Device 0 is the current
// one.
class World {
 public:
  explicit World(bool has_resource = false)
      : has_resource_(has_resource),
        keys_(RandomKeys(2 * kKeys, 1)),
        validity_(kKeys / 8 + 2, 0b0110'1101),
        host_({.bytes = 2048}),
        host_cuckoo_({.capacity = 4 * kKeys}) {
    host_.Insert(OldKeys());
    host_cuckoo_.Insert(OldKeys());
    EXPECT_TRUE(runtime_.SetDevice(1).ok());
    EXPECT_TRUE(runtime_.CreateStream(&stream_).ok());
    there_ = Copied(NewKeys().data<void>(), kKeys * sizeof(uint64_t));
    validity_there_ = Copied(validity_.data(), validity_.size());
    text_there_ = Copied(text_.data(), text_.size());
    offsets_there_ = Copied(offsets_.data(), offsets_.size() * sizeof(int32_t));
    rows_there_ = Copied(nullptr, kKeys * sizeof(uint64_t));
    foreign_ = Copied(host_.payload().data(), host_.bytes());
    EXPECT_TRUE(runtime_.SetDevice(0).ok());
    filter_.emplace(host_, Options());
    other_.emplace(host_.Header(), Options());
    other_->Insert(Device());
    cuckoo_.emplace(host_cuckoo_, Options());
    pipeline_.emplace(Options(), PipelineOptions{.chunk_keys = kChunk, .chunks = 3, .threads = 1});
  }
  ~World() {
    pipeline_.reset();
    for (auto* const filter : {&filter_, &other_, &cuckoo_}) filter->reset();
    (void)runtime_.SetDevice(1);  // fails if the runtime is unusable
    for (void* const memory : blocks_) EXPECT_TRUE(runtime_.FreeIdle(memory).ok());
    EXPECT_TRUE(runtime_.DestroyStream(stream_).ok());
    EXPECT_EQ(runtime_.num_live(), 0u) << "a leak";
  }

  DeviceOptions Options() const {
    return {.device = 1, .memory = has_resource_ ? &resource_ : nullptr, .runtime = &runtime_};
  }
  std::span<const uint64_t> OldKeys() const { return std::span(keys_).first(kKeys); }
  // Keys on the host.
  Keys NewKeys() const { return std::span(keys_).subspan(kKeys); }
  Keys NewValid() const { return NewKeys().WithValidity(validity_.data(), kFirstBit); }
  // The same keys on the device.
  Keys Device() const { return std::span(static_cast<const uint64_t*>(there_), kKeys); }
  Keys DeviceValid() const {
    return Device().WithValidity(static_cast<const uint8_t*>(validity_there_), kFirstBit);
  }
  StringColumn Strings() const {
    return {static_cast<const char*>(text_there_),
            std::span(static_cast<const int32_t*>(offsets_there_), offsets_.size())};
  }
  StringColumn HostStrings() const { return {text_.data(), offsets_}; }
  template <typename T>
  std::span<T> Rows() const {
    return {static_cast<T*>(rows_there_), kKeys};
  }

  mutable FakeRuntime runtime_{2};
  mutable ResourceThatFails resource_{runtime_};
  const bool has_resource_;
  const std::vector<uint64_t> keys_;
  const std::vector<uint8_t> validity_;
  const std::string text_ = "abcdef";
  const std::vector<int32_t> offsets_ = {0, 1, 3, 3, 6};
  SplitBlockBloomFilter host_;
  CuckooFilter<16> host_cuckoo_;
  std::optional<DeviceFilter> filter_, other_, cuckoo_;
  std::optional<HostPipeline> pipeline_;
  Stream stream_ = nullptr;
  std::span<std::byte> Foreign() const {
    return {static_cast<std::byte*>(foreign_), host_.bytes()};
  }

 private:
  void* Copied(const void* from, size_t bytes) {
    void* memory = nullptr;
    EXPECT_TRUE(runtime_.Allocate(&memory, bytes, nullptr).ok());
    if (from != nullptr) std::memcpy(memory, from, bytes);
    blocks_.push_back(memory);
    return memory;
  }

  std::vector<void*> blocks_;
  void *there_ = nullptr, *validity_there_ = nullptr, *text_there_ = nullptr,
       *offsets_there_ = nullptr, *rows_there_ = nullptr, *foreign_ = nullptr;
};

struct Operation {
  const char* name;
  std::function<void(World&)> run;
  // The same changes on the host, if the operation changes filter_. After a failure some of the
  // first steps may have been done.
  std::vector<std::function<void(World&, SplitBlockBloomFilter&)>> steps = {};
};

void Chunk(const Keys& keys, size_t chunk, SplitBlockBloomFilter& host) {
  const size_t begin = kChunk * chunk;
  host.Insert(keys.Slice(begin, std::min(kChunk, keys.size() - begin)));
}

std::vector<Operation> Operations() {
  using Host = SplitBlockBloomFilter;
  std::vector<std::function<void(World&, Host&)>> by_chunk, valid_by_chunk;
  for (size_t chunk = 0; chunk < (kKeys + kChunk - 1) / kChunk; ++chunk) {
    by_chunk.push_back([=](World& w, Host& host) { Chunk(w.NewKeys(), chunk, host); });
    valid_by_chunk.push_back([=](World& w, Host& host) { Chunk(w.NewValid(), chunk, host); });
  }
  const auto bits = [](World& w) { return Bitmap(w.Rows<uint64_t>()); };
  return {
      {"insert",
       [](World& w) { w.filter_->Insert(w.Device(), w.stream_); },
       {[](World& w, Host& host) { host.Insert(w.NewKeys()); }}},
      {"insert strings",
       [](World& w) { w.filter_->Insert(w.Strings(), w.stream_); },
       {[](World& w, Host& host) { host.Insert(w.HostStrings()); }}},
      {"insert with nulls",
       [](World& w) { w.filter_->Insert(w.DeviceValid(), w.Rows<uint64_t>(), w.stream_); },
       {[](World& w, Host& host) { host.Insert(w.NewValid()); }}},
      {"contains", [=](World& w) { w.filter_->Contains(w.Device(), bits(w), w.stream_); }},
      {"contains to bytes",
       [](World& w) { w.filter_->Contains(w.DeviceValid(), w.Rows<uint8_t>(), w.stream_); }},
      {"select", [](World& w) { w.filter_->Select(w.Device(), w.Rows<uint32_t>(), w.stream_); }},
      {"select strings",
       [](World& w) { w.filter_->Select(w.Strings(), w.Rows<uint64_t>(), w.stream_); }},
      {"count", [](World& w) { w.cuckoo_->Count(w.DeviceValid(), w.stream_); }},
      {"merge",
       [](World& w) { w.filter_->Merge(*w.other_, w.stream_); },
       {[](World& w, Host& host) { host.Insert(w.NewKeys()); }}},
      {"intersect",
       [](World& w) { w.filter_->Intersect(*w.other_, w.stream_); },
       {[](World& w, Host& host) {
         Host other = host.Clone();
         other.Clear();
         other.Insert(w.NewKeys());
         host.Intersect(other);
       }}},
      {"clear", [](World& w) { w.filter_->Clear(w.stream_); }, {[](World&, Host& host) {
         host.Clear();
       }}},
      {"upload",
       [](World& w) {
         SplitBlockBloomFilter more = w.host_.Clone();
         more.Insert(w.NewKeys());
         w.filter_->Upload(more, w.stream_);
       },
       {[](World& w, Host& host) { host.Insert(w.NewKeys()); }}},
      {"download",
       [](World& w) {
         SplitBlockBloomFilter copy = w.host_.Clone();
         w.filter_->Download(copy, w.stream_);
       }},
      {"view",
       [](World& w) {
         const DeviceFilter view =
             DeviceFilter::View(w.host_.Header(), w.Foreign(), w.Options(), w.stream_);
         EXPECT_EQ(view.device(), 1);
       }},
      {"filter of a header",
       [](World& w) { DeviceFilter(w.host_.Header(), w.Options(), w.stream_); }},
      {"filter of a filter",
       [](World& w) { DeviceFilter(w.host_cuckoo_, w.Options(), w.stream_); }},
      {"cuckoo insert",
       [](World& w) { w.cuckoo_->Insert(w.Device(), w.Rows<uint64_t>(), w.stream_); }},
      {"cuckoo erase",
       [](World& w) { w.cuckoo_->Erase(w.DeviceValid(), w.Rows<uint64_t>(), w.stream_); }},
      {"cuckoo upload",
       [](World& w) {
         CuckooFilter<16> more = w.host_cuckoo_.Clone();
         more.Insert(w.NewKeys());
         w.cuckoo_->Upload(more, w.stream_);
       }},
      {"pipeline",
       [](World& w) {
         HostPipeline(w.Options(), {.chunk_keys = kChunk, .chunks = 3, .threads = 1});
       }},
      {"pipeline contains",
       [](World& w) {
         std::vector<uint64_t> out(BitmapWords(kKeys));
         w.pipeline_->Contains(*w.filter_, w.NewValid(), Bitmap(out), {}, w.stream_);
       }},
      {"pipeline contains, keys of the device",
       [](World& w) {
         std::vector<uint64_t> out(BitmapWords(kKeys));
         w.pipeline_->Contains(*w.cuckoo_, w.DeviceValid(), Bitmap(out), {}, w.stream_);
       }},
      {"pipeline insert",
       [](World& w) { w.pipeline_->Insert(*w.filter_, w.NewKeys(), {}, w.stream_); }, by_chunk},
      {"pipeline insert with nulls",
       [](World& w) { w.pipeline_->Insert(*w.filter_, w.NewValid(), {}, w.stream_); },
       valid_by_chunk},
      {"pipeline insert, keys of the device",
       [](World& w) { w.pipeline_->Insert(*w.filter_, w.Device(), {}, w.stream_); }, by_chunk},
      {"pipeline insert with nulls, keys of the device",
       [](World& w) { w.pipeline_->Insert(*w.filter_, w.DeviceValid(), {}, w.stream_); },
       valid_by_chunk},
      {"pipeline upload",
       [](World& w) {
         SplitBlockBloomFilter more = w.host_.Clone();
         more.Insert(w.NewKeys());
         w.pipeline_->Upload(*w.filter_, more, w.stream_);
       },
       {[](World& w, Host& host) { host.Insert(w.NewKeys()); }}},
      {"pipeline upload of a cuckoo filter",
       [](World& w) {
         CuckooFilter<16> more = w.host_cuckoo_.Clone();
         more.Insert(w.NewKeys());
         w.pipeline_->Upload(*w.cuckoo_, more, w.stream_);
       }},
  };
}

struct State {
  uint64_t count;
  std::vector<std::byte> payload;
};

State StateOf(const Filter& filter) {
  return {filter.inserted_count(), {filter.payload().begin(), filter.payload().end()}};
}

// Returns the states that filter_ may have. The last one is the state after success.
std::vector<State> States(World& world, const Operation& operation) {
  SplitBlockBloomFilter host = world.host_.Clone();
  std::vector<State> states = {StateOf(host)};
  for (const auto& step : operation.steps) {
    step(world, host);
    states.push_back(StateOf(host));
  }
  return states;
}

// If the filter reports its count as known, the count must be right.
void CheckCounts(World& world, const std::vector<State>& states) {
  SplitBlockBloomFilter copy = world.host_.Clone();
  const bool known = world.filter_->count_is_known();
  const uint64_t count = world.filter_->inserted_count();
  world.filter_->Download(copy);
  if (known) {
    EXPECT_TRUE(std::ranges::any_of(states,
                                    [&](const State& state) {
                                      return state.count == count &&
                                             std::ranges::equal(state.payload, copy.payload());
                                    }))
        << count << " keys are counted";
  }
  CuckooFilter<16> cuckoo = world.host_cuckoo_.Clone();
  world.cuckoo_->Download(cuckoo);  // counts the keys
  if (world.cuckoo_->count_is_known()) {
    EXPECT_EQ(world.cuckoo_->inserted_count(), cuckoo.inserted_count());
  }
}

TEST(CudaFaults, ACallThatFailsLeavesTheRestUnchanged) {
  for (const Operation& operation : Operations()) {
    int errors = 0;
    for (int64_t at = 0;; ++at) {
      SCOPED_TRACE(std::string(operation.name) + ", call " + std::to_string(at));
      World world;
      FakeRuntime& runtime = world.runtime_;
      const std::vector<State> states = States(world, operation);
      const uint64_t live = runtime.num_live(), calls = runtime.calls();
      runtime.FailCall(at, at % 2 == 0 ? Status{719} : kMemoryAllocation);
      bool failed = false;
      try {
        operation.run(world);
      } catch (const Error& error) {
        failed = true;
        EXPECT_TRUE(error.code() == ErrorCode::kDevice || error.code() == ErrorCode::kOutOfMemory);
        EXPECT_NE(std::string(error.what()).find("CUDA"), std::string::npos) << error.what();
      }
      const bool over = static_cast<int64_t>(runtime.calls() - calls) <= at;
      runtime.FailCall(-1, kSuccess);
      errors += failed;
      EXPECT_EQ(runtime.num_live(), live);
      EXPECT_EQ(runtime.capture_mode(), CaptureMode::kGlobal);
      if (!runtime.usable()) continue;  // nothing can be checked any more
      int current = -1;
      EXPECT_TRUE(runtime.CurrentDevice(&current).ok());
      // If only the restoring of the current device fails, the call has succeeded.
      if (failed) {
        EXPECT_EQ(current, 0);
      }
      EXPECT_TRUE(runtime.SetDevice(0).ok());
      EXPECT_EQ(runtime.num_pending(), 0u) << "it may use what the caller frees";
      CheckCounts(world, states);
      if (over) {
        EXPECT_FALSE(failed);
        EXPECT_EQ(world.filter_->inserted_count(), states.back().count);
        break;
      }
      // After that the operation succeeds.
      world.filter_->Upload(world.host_);
      world.cuckoo_->Upload(world.host_cuckoo_);
      operation.run(world);
      EXPECT_EQ(world.filter_->inserted_count(), states.back().count);
      CheckCounts(world, {states.back()});
    }
    EXPECT_GT(errors, 2) << operation.name;
  }
}

// After a failure of work on a stream, the device cannot be used, but everything else works.
TEST(CudaFaults, WorkThatFailsIsAnErrorOfTheCallThatWaits) {
  for (const Operation& operation : Operations()) {
    int errors = 0;
    for (int64_t at = 0;; ++at) {
      SCOPED_TRACE(std::string(operation.name) + ", work " + std::to_string(at));
      World world;
      FakeRuntime& runtime = world.runtime_;
      const uint64_t live = runtime.num_live();
      runtime.FailWork(at, Status{719});
      bool failed = false;
      try {
        operation.run(world);
      } catch (const Error& error) {
        failed = true;
        EXPECT_EQ(error.code(), ErrorCode::kDevice) << error.what();
      }
      EXPECT_EQ(failed, !runtime.usable()) << "or nobody is told";
      EXPECT_EQ(runtime.num_live(), live);
      EXPECT_EQ(runtime.capture_mode(), CaptureMode::kGlobal);
      runtime.FailWork(-1, kSuccess);
      if (!failed) break;  // there was less work
      ++errors;
    }
    const bool works =
        std::string(operation.name) != "view" && std::string(operation.name) != "pipeline";
    EXPECT_EQ(errors > 0, works) << operation.name;
  }
}

TEST(CudaFaults, AResourceWithoutMemoryIsAnErrorWithoutALeak) {
  for (const Operation& operation : Operations()) {
    for (int64_t at = 0;; ++at) {
      SCOPED_TRACE(std::string(operation.name) + ", allocation " + std::to_string(at));
      World world(true);
      FakeRuntime& runtime = world.runtime_;
      const std::vector<State> states = States(world, operation);
      const uint64_t live = runtime.num_live(), calls = world.resource_.calls;
      world.resource_.fail_at = at;
      bool failed = false;
      try {
        operation.run(world);
      } catch (const Error& error) {
        failed = true;
        EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory) << error.what();
      }
      world.resource_.fail_at = -1;
      EXPECT_EQ(failed, static_cast<int64_t>(world.resource_.calls - calls) > at);
      EXPECT_EQ(runtime.num_live(), live);
      EXPECT_EQ(runtime.num_pending(), 0u);
      CheckCounts(world, states);
      if (!failed) break;
      world.filter_->Upload(world.host_);
      world.cuckoo_->Upload(world.host_cuckoo_);
      operation.run(world);
      CheckCounts(world, {states.back()});
    }
  }
}

// Tests captures in the global mode by another thread and by the calling thread.
TEST(CudaFaults, NoOperationSpoilsACapture) {
  for (const Operation& operation : Operations()) {
    SCOPED_TRACE(operation.name);
    World world;
    FakeRuntime& runtime = world.runtime_;
    const std::vector<State> states = States(world, operation);
    Stream captured = nullptr;
    ASSERT_TRUE(runtime.CreateStream(&captured).ok());
    const auto run = [&] {
      try {
        operation.run(world);
      } catch (const Error& error) {
        ADD_FAILURE() << error.what();
      }
    };
    runtime.BeginCapture(captured);
    std::thread(run).join();
    EXPECT_TRUE(runtime.EndCapture()) << "of another thread";
    CheckCounts(world, {states.back()});
    world.filter_->Upload(world.host_);
    world.cuckoo_->Upload(world.host_cuckoo_);
    runtime.BeginCapture(captured);
    run();
    EXPECT_TRUE(runtime.EndCapture()) << "of this thread";
    CheckCounts(world, {states.back()});
    ASSERT_TRUE(runtime.DestroyStream(captured).ok());
  }
}

}  // namespace tamis::cuda::faults_test
