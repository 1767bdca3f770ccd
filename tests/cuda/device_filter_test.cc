// DeviceFilter on a runtime that needs no GPU: results, order of streams, failures, leaks.
#include "tamis/cuda/device_filter.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cuda/src/runtime.h"
#include "tamis/error.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/hash_kinds.h"
#include "tamis/join/join_filter.h"
#include "tests/core/file_test_util.h"
#include "tests/cuda/fake_runtime.h"
#include "tests/test_util.h"

namespace tamis::cuda::device_filter_test {

constexpr size_t kSizes[] = {0, 1, 31, 32, 33, 64, 65, 397, 1000, 4097};

template <typename Call>
ErrorCode CodeOf(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "no error";
  return ErrorCode::kInvalidArgument;
}

SplitBlockBloomFilter HostFilter(size_t keys = 2000, HashSpec hash = {}) {
  SplitBlockBloomFilter filter({.capacity = 2000, .fpr = 0.01, .hash = hash});
  filter.Insert(RandomKeys(keys, 1));
  return filter;
}

std::vector<std::byte> Payload(const Filter& filter) {
  return {filter.payload().begin(), filter.payload().end()};
}

class DeviceFilterTest : public testing::Test {
 protected:
  ~DeviceFilterTest() override { EXPECT_EQ(runtime_.num_live(), 0u) << "a leak"; }

  DeviceOptions Options() const { return {.runtime = &runtime_}; }

  // Returns the contents of the filter, downloaded to the host.
  static std::vector<std::byte> Contents(const DeviceFilter& filter,
                                         const SplitBlockBloomFilter& like) {
    SplitBlockBloomFilter copy = like.Clone();
    copy.Clear();
    filter.Download(copy);
    EXPECT_EQ(copy.inserted_count(), filter.inserted_count());
    return Payload(copy);
  }

  FakeRuntime runtime_;
};

TEST_F(DeviceFilterTest, UploadsAndDownloads) {
  const SplitBlockBloomFilter host = HostFilter();
  DeviceFilter device(host, Options());
  EXPECT_EQ(device.bytes(), host.bytes());
  EXPECT_EQ(device.inserted_count(), host.inserted_count());
  EXPECT_EQ(device.hash(), host.hash());
  EXPECT_EQ(std::memcmp(device.data(), host.payload().data(), host.bytes()), 0);
  EXPECT_EQ(Contents(device, host), Payload(host));

  const SplitBlockBloomFilter other = HostFilter(700);
  device.Upload(other);
  EXPECT_EQ(Contents(device, host), Payload(other));
}

// The device does not check the range of the keys, so it may answer "maybe" for more keys.
TEST_F(DeviceFilterTest, BlocksOfAJoinFilter_OnADevice_FindEveryKey) {
  const std::vector<uint64_t> keys = RandomKeys(2000, 1);
  JoinFilter join({.expected_keys = keys.size(), .kept_keys = 1});
  JoinFilter::Part part = join.MakePart(0);
  part.Insert(keys);
  join.Add(std::move(part));
  join.Complete(1);
  ASSERT_NE(join.blocks(), nullptr);
  const DeviceFilter device(*join.blocks(), Options());
  EXPECT_EQ(device.Count(keys), keys.size());
  const std::vector<uint64_t> others = RandomKeys(3000, 2);
  std::vector<uint64_t> bits(BitmapWords(3000)), host(BitmapWords(3000));
  EXPECT_EQ(device.Contains(others, Bitmap(bits)), join.blocks()->Count(others));
  join.blocks()->Contains(others, Bitmap(host));
  EXPECT_EQ(bits, host);
  join.Contains(others, Bitmap(host));
  for (size_t i = 0; i < host.size(); ++i) EXPECT_EQ(host[i] & ~bits[i], 0u);
}

TEST_F(DeviceFilterTest, AnswersInEveryFormAsTheHostDoes) {
  for (const HashKind kind : kHashKinds) {
    const SplitBlockBloomFilter host = HostFilter(2000, HashOf(kind, 7));
    const DeviceFilter device(host, Options());
    for (const size_t n : kSizes) {
      std::vector<uint64_t> keys = RandomKeys(n, 2);
      const std::vector<uint64_t> known = RandomKeys(2000, 1);
      for (size_t i = 0; i < n; i += 3) keys[i] = known[i % known.size()];

      std::vector<uint64_t> want(BitmapWords(n));
      const size_t found = host.Contains(keys, Bitmap(want));
      const auto bits = GuardedArray<uint64_t>::Output(BitmapWords(n), 0);
      EXPECT_EQ(device.Contains(keys, Bitmap(bits.span())), found);
      EXPECT_EQ(bits.vector(), want);

      std::vector<uint8_t> want_bytes(n);
      host.Contains(keys, std::span(want_bytes));
      const auto bytes = GuardedArray<uint8_t>::Output(n, 0);
      EXPECT_EQ(device.Contains(keys, bytes.span()), found);
      EXPECT_EQ(bytes.vector(), want_bytes);

      std::vector<uint32_t> want_rows(n), rows(n);
      std::vector<uint64_t> rows64(n);
      host.Select(keys, std::span(want_rows));
      EXPECT_EQ(device.Select(keys, std::span(rows)), found);
      EXPECT_EQ(device.Select(keys, std::span(rows64)), found);
      for (size_t i = 0; i < found; ++i) {
        ASSERT_EQ(rows[i], want_rows[i]);
        ASSERT_EQ(rows64[i], want_rows[i]);
      }
      EXPECT_EQ(device.Count(keys), found);
      EXPECT_TRUE(bits.Intact() && bytes.Intact());
    }
  }
}

TEST_F(DeviceFilterTest, TakesEveryFormOfKeys) {
  SplitBlockBloomFilter host = HostFilter(0);
  DeviceFilter device(host, Options());
  const auto check = [&](const Keys& keys) {
    EXPECT_EQ(host.Insert(keys), device.Insert(keys));
    EXPECT_EQ(Contents(device, host), Payload(host));
    EXPECT_EQ(device.Count(keys), keys.size());
    std::vector<uint64_t> rows(keys.size());
    EXPECT_EQ(device.Select(keys, std::span(rows)), keys.size());
  };
  const std::vector<uint64_t> u64 = RandomKeys(100, 3);
  const std::vector<uint32_t> u32(u64.begin(), u64.end());
  const std::vector<int32_t> i32(u64.begin(), u64.end());
  check(u64);
  check(u32);
  check(i32);
  check(Hashes{u64});
  const std::vector<std::string> strings = RandomStrings(100, 4);
  std::string bytes;
  std::vector<int32_t> offsets = {0};
  std::vector<int64_t> large_offsets = {0};
  for (const std::string& s : strings) {
    bytes += s;
    offsets.push_back(static_cast<int32_t>(bytes.size()));
    large_offsets.push_back(static_cast<int64_t>(bytes.size()));
  }
  check(StringColumn{bytes.data(), offsets});
  check(LargeStringColumn{bytes.data(), large_offsets});
  check(Keys(StringColumn{bytes.data(), offsets}).Slice(3, 50));

  const std::vector<std::string_view> views(strings.begin(), strings.end());
  EXPECT_EQ(CodeOf([&] { device.Insert(views); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(device.InsertAsync(views, nullptr), kInvalidValue);
  // Hashes of strings need scratch memory.
  EXPECT_EQ(device.InsertAsync(StringColumn{bytes.data(), offsets}, nullptr), kInvalidValue);
}

// Refused as by Clone, because the copy on the device would look intact.
TEST_F(DeviceFilterTest, RefusesADamagedMappedFilter) {
  const TemporaryFolder folder;
  const SplitBlockBloomFilter host = HostFilter();
  host.Save(folder / "f");
  EXPECT_EQ(DeviceFilter(SplitBlockBloomFilter::Map(folder / "f"), Options()).bytes(),
            host.bytes());
  Bytes file = ReadBytes(folder / "f");
  file.back() ^= 1;
  WriteBytes(folder / "f", file);
  const auto damaged = SplitBlockBloomFilter::Map(folder / "f");
  EXPECT_EQ(CodeOf([&] { DeviceFilter(damaged, Options()); }), ErrorCode::kCorrupt);
  DeviceFilter device(host, Options());
  EXPECT_EQ(CodeOf([&] { device.Upload(damaged); }), ErrorCode::kCorrupt);
  EXPECT_EQ(Contents(device, host), Payload(host));
}

TEST_F(DeviceFilterTest, MergesAndClears) {
  SplitBlockBloomFilter a = HostFilter(500);
  SplitBlockBloomFilter b = HostFilter(0);
  b.Insert(RandomKeys(700, 9));
  DeviceFilter device(a, Options());
  const DeviceFilter other(b, Options());
  device.Merge(other);
  a.Merge(b);
  EXPECT_EQ(Contents(device, a), Payload(a));
  EXPECT_EQ(device.inserted_count(), a.inserted_count());
  device.Clear();
  a.Clear();
  EXPECT_EQ(Contents(device, a), Payload(a));
  EXPECT_EQ(device.inserted_count(), 0u);

  EXPECT_EQ(CodeOf([&] {
              device.Merge(DeviceFilter(HostFilter(0, {HashKind::kXxh64, 0}), Options()));
            }),
            ErrorCode::kIncompatible);
  const SplitBlockBloomFilter small({.capacity = 10, .fpr = 0.01});
  EXPECT_EQ(CodeOf([&] { device.Upload(small); }), ErrorCode::kIncompatible);
}

TEST_F(DeviceFilterTest, IntersectsAsTheHost) {
  SplitBlockBloomFilter a = HostFilter(900);
  SplitBlockBloomFilter b = HostFilter(400);
  b.Insert(RandomKeys(100, 9));
  const DeviceFilter other(b, Options());
  DeviceFilter device(a, Options());
  DeviceFilter by_stream(a, Options());
  device.Intersect(other);
  EXPECT_TRUE(by_stream.IntersectAsync(other, nullptr).ok());
  a.Intersect(b);
  for (const DeviceFilter* const filter : {&device, &by_stream}) {
    EXPECT_EQ(Contents(*filter, a), Payload(a));
    EXPECT_EQ(filter->inserted_count(), a.inserted_count());
  }
  const DeviceFilter different(HostFilter(0, {HashKind::kXxh64, 0}), Options());
  EXPECT_EQ(CodeOf([&] { device.Intersect(different); }), ErrorCode::kIncompatible);
  EXPECT_EQ(device.IntersectAsync(different, nullptr), kInvalidValue);
  EXPECT_EQ(Contents(device, a), Payload(a));
}

TEST_F(DeviceFilterTest, IsEmptyFromAHeader) {
  SplitBlockBloomFilter host = HostFilter(0);
  const DeviceFilter device(host.Header(), Options());
  EXPECT_EQ(Contents(device, host), Payload(host));
  FileHeader header = host.Header();
  header.payload_bytes -= 32;
  EXPECT_EQ(CodeOf([&] { DeviceFilter(header, Options()); }), ErrorCode::kInvalidArgument);
  header.geometry[0] = 0;
  header.payload_bytes = 0;
  EXPECT_EQ(CodeOf([&] { DeviceFilter(header, Options()); }), ErrorCode::kInvalidArgument);
  runtime_.SetMemory(1 << 20);
  header.geometry[0] = split_block::kMaxBlocks32 + 1;
  header.payload_bytes = header.geometry[0] * split_block::kBlockBytes;
  EXPECT_EQ(CodeOf([&] { DeviceFilter(header, Options()); }), ErrorCode::kUnsupported);
}

TEST_F(DeviceFilterTest, MovesItsMemoryAlong) {
  const SplitBlockBloomFilter host = HostFilter();
  DeviceFilter a(host, Options());
  void* const data = a.data();
  DeviceFilter b(std::move(a));
  EXPECT_EQ(b.data(), data);
  DeviceFilter c(HostFilter(10), Options());
  c = std::move(b);
  EXPECT_EQ(c.data(), data);
  EXPECT_EQ(c.ref<SplitBlockRef>().words, data);
  EXPECT_EQ(c.Count(RandomKeys(2000, 1)), 2000u);
}

TEST_F(DeviceFilterTest, ErrorsNameTheBadOutput) {
  DeviceFilter device(HostFilter(), Options());
  const std::vector<uint64_t> keys = RandomKeys(65, 1);
  std::vector<uint64_t> words(1);
  std::vector<uint8_t> bytes(64);
  std::vector<uint32_t> rows(64);
  std::vector<std::byte> scratch(DeviceFilter::SelectScratchBytes(65));
  uint64_t count = 0;
  EXPECT_EQ(CodeOf([&] { device.Contains(keys, Bitmap(words)); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(CodeOf([&] { device.Contains(keys, std::span(bytes)); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(CodeOf([&] { device.Select(keys, std::span(rows)); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(CodeOf([&] { device.Insert(keys, words); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(device.ContainsAsync(keys, Bitmap(words), nullptr, nullptr), kInvalidValue);
  EXPECT_EQ(device.ContainsAsync(keys, std::span(bytes), nullptr, nullptr), kInvalidValue);
  EXPECT_EQ(device.SelectAsync(keys, std::span(rows), &count, scratch, nullptr), kInvalidValue);
  rows.resize(65);
  EXPECT_EQ(device.SelectAsync(keys, std::span(rows), &count, std::span(scratch).first(8), nullptr),
            kInvalidValue);
}

// During a capture, every call that allocates or waits fails.
TEST_F(DeviceFilterTest, AsyncCallsCanBeCaptured) {
  SplitBlockBloomFilter host = HostFilter();
  DeviceFilter device(host, Options());
  const DeviceFilter other(host, Options());
  const std::vector<uint64_t> keys = RandomKeys(397, 2);
  const std::string bytes = "abcdef";
  const std::vector<int32_t> offsets = {0, 2, 6};
  std::vector<uint64_t> bits(BitmapWords(keys.size())), rows64(keys.size()), hashes(2);
  std::vector<uint8_t> flags(keys.size());
  std::vector<uint32_t> rows(keys.size());
  std::vector<uint64_t> scratch(DeviceFilter::SelectScratchBytes(keys.size()) / 8);
  const std::span scratch_bytes = std::as_writable_bytes(std::span(scratch));
  uint64_t counts[4] = {};
  Stream stream = nullptr;
  ASSERT_TRUE(runtime_.CreateStream(&stream).ok());

  runtime_.SetCapturing(true);
  EXPECT_TRUE(device.InsertAsync(keys, stream).ok());
  EXPECT_TRUE(device.MergeAsync(other, stream).ok());
  EXPECT_TRUE(device.ContainsAsync(keys, Bitmap(bits), &counts[0], stream).ok());
  EXPECT_TRUE(device.ContainsAsync(keys, std::span(flags), nullptr, stream).ok());
  EXPECT_TRUE(device.CountAsync(keys, &counts[1], stream).ok());
  EXPECT_TRUE(device.SelectAsync(keys, std::span(rows), &counts[2], scratch_bytes, stream).ok());
  EXPECT_TRUE(device.SelectAsync(keys, std::span(rows64), &counts[3], scratch_bytes, stream).ok());
  EXPECT_TRUE(device.HashAsync(StringColumn{bytes.data(), offsets}, hashes, stream).ok());
  // A call that waits is refused.
  EXPECT_EQ(CodeOf([&] { (void)device.Count(keys, stream); }), ErrorCode::kInvalidArgument);
  runtime_.SetCapturing(false);
  runtime_.Replay(stream);

  // A call without a place for its count does not reach the device either.
  EXPECT_TRUE(device.SelectAsync(keys, std::span(rows), nullptr, scratch_bytes, stream).ok());
  EXPECT_EQ(device.CountAsync(keys, nullptr, stream), kInvalidValue);

  EXPECT_EQ(counts[0], 0u) << "nothing has run yet";
  ASSERT_TRUE(runtime_.Wait(stream).ok());
  for (const uint64_t count : counts) EXPECT_EQ(count, keys.size());
  for (size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(rows[i], i);
  EXPECT_EQ(hashes[1], HashBytes("cdef"));
  host.Insert(keys);
  host.Merge(HostFilter());
  EXPECT_TRUE(device.ClearAsync(stream).ok());
  EXPECT_TRUE(runtime_.DestroyStream(stream).ok());
}

TEST(DeviceFilterFailures, NoDeviceIsAnErrorThatSaysWhy) {
  FakeRuntime runtime;
  runtime.RemoveDevices("the NVIDIA driver is too old: it is for CUDA 11.4, and this for 13.0");
  try {
    DeviceFilter(HostFilter(), {.runtime = &runtime});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kDevice);
    EXPECT_NE(std::string(error.what()).find("too old"), std::string::npos);
  }
}

TEST(DeviceFilterFailures, AMissingDevice) {
  FakeRuntime runtime(2);
  DeviceFilter second(HostFilter(), {.device = 1, .runtime = &runtime});
  EXPECT_EQ(second.device(), 1);
  int current = -1;
  EXPECT_TRUE(runtime.CurrentDevice(&current).ok());
  EXPECT_EQ(current, 0) << "the current device is left as it was";
  EXPECT_EQ(CodeOf([&] { DeviceFilter(HostFilter(), {.device = 2, .runtime = &runtime}); }),
            ErrorCode::kInvalidArgument);
}

TEST(DeviceFilterFailures, OutOfMemory) {
  FakeRuntime runtime;
  const SplitBlockBloomFilter host = HostFilter();
  runtime.SetMemory(host.bytes() - 1);
  EXPECT_EQ(CodeOf([&] { DeviceFilter(host, {.runtime = &runtime}); }), ErrorCode::kOutOfMemory);
  runtime.SetMemory(host.bytes());
  {
    const DeviceFilter device(host, {.runtime = &runtime});
    EXPECT_EQ(CodeOf([&] { (void)device.Count(RandomKeys(10, 1)); }), ErrorCode::kOutOfMemory);
  }
  EXPECT_EQ(runtime.num_live(), 0u);
}

// Uses a filter as a program does, with all calls of the runtime.
void UseFilter(const Runtime& runtime, const SplitBlockBloomFilter& host) {
  const std::vector<uint64_t> keys = RandomKeys(100, 2);
  const std::string bytes = "abcdef";
  const std::vector<int32_t> offsets = {0, 2, 6};
  std::vector<uint64_t> bits(BitmapWords(keys.size()));
  std::vector<uint32_t> rows(keys.size());
  DeviceFilter device(host, {.runtime = &runtime});
  DeviceFilter empty(host.Header(), {.runtime = &runtime});
  device.Insert(keys);
  device.Insert(StringColumn{bytes.data(), offsets});
  empty.Merge(device);
  device.Contains(keys, Bitmap(bits));
  device.Select(keys, std::span(rows));
  SplitBlockBloomFilter copy = host.Clone();
  empty.Download(copy);
  EXPECT_GE(copy.inserted_count(), 2102u);
}

TEST(DeviceFilterFailures, EveryCallThatFailsIsAnErrorWithoutALeak) {
  const SplitBlockBloomFilter host = HostFilter();
  FakeRuntime counting;
  UseFilter(counting, host);
  ASSERT_EQ(counting.num_live(), 0u);
  size_t errors = 0;
  for (uint64_t call = 0; call < counting.calls(); ++call) {
    FakeRuntime runtime;
    runtime.FailCall(static_cast<int64_t>(call), call % 2 == 0 ? Status{719} : kMemoryAllocation);
    try {
      UseFilter(runtime, host);
    } catch (const Error& error) {
      ++errors;
      EXPECT_TRUE(error.code() == ErrorCode::kDevice || error.code() == ErrorCode::kOutOfMemory);
      EXPECT_NE(std::string(error.what()).find("CUDA"), std::string::npos);
    }
    EXPECT_EQ(runtime.num_live(), 0u) << "after a failure of call " << call;
  }
  EXPECT_GT(errors, counting.calls() / 2);  // the other calls free something
}

TEST(DeviceFilterFailures, WorkThatFailsLaterIsAnErrorWithoutALeak) {
  const SplitBlockBloomFilter host = HostFilter();
  constexpr Status kLaunchFailure{719};  // cudaErrorLaunchFailure
  int failed = 0;
  for (int work = 0;; ++work) {
    FakeRuntime runtime;
    runtime.FailWork(work, kLaunchFailure);
    bool error = false;
    try {
      UseFilter(runtime, host);
    } catch (const Error& e) {
      error = true;
      EXPECT_EQ(e.code(), ErrorCode::kDevice);
    }
    EXPECT_EQ(runtime.num_live(), 0u);
    if (!error) break;  // there was less work
    ++failed;
  }
  EXPECT_GT(failed, 10);
}

class CountingResource final : public MemoryResource {
 public:
  explicit CountingResource(const Runtime& runtime, uint64_t offset = 0)
      : runtime_(runtime), offset_(offset) {}

  void* Allocate(uint64_t bytes, cudaStream_t stream) noexcept override {
    void* memory = nullptr;
    if (bytes > limit || !runtime_.Allocate(&memory, bytes + offset_, stream).ok()) return nullptr;
    live += static_cast<int64_t>(bytes);
    ++calls;
    return static_cast<char*>(memory) + offset_;
  }
  void Free(void* memory, uint64_t bytes, cudaStream_t stream) noexcept override {
    live -= static_cast<int64_t>(bytes);
    EXPECT_TRUE(runtime_.Free(static_cast<char*>(memory) - offset_, stream).ok());
  }

  int64_t live = 0;
  int calls = 0;
  uint64_t limit = ~uint64_t{0};

 private:
  const Runtime& runtime_;
  uint64_t offset_;
};

TEST(DeviceFilterMemory, AllOfItComesFromTheResource) {
  FakeRuntime runtime;
  CountingResource resource(runtime);
  {
    const SplitBlockBloomFilter host = HostFilter();
    const DeviceFilter device(host, {.memory = &resource, .runtime = &runtime});
    EXPECT_EQ(resource.live, static_cast<int64_t>(host.bytes()));
    std::vector<uint32_t> rows(100);
    device.Select(RandomKeys(100, 1), std::span(rows));
    EXPECT_EQ(resource.live, static_cast<int64_t>(host.bytes()));
    EXPECT_EQ(resource.calls, 3);
    resource.limit = 7;
    EXPECT_EQ(CodeOf([&] { (void)device.Count(RandomKeys(1, 1)); }), ErrorCode::kOutOfMemory);
  }
  EXPECT_EQ(resource.live, 0);
  EXPECT_EQ(runtime.num_live(), 0u);
}

// Frees memory only when the object is destroyed, so that work on a stream never uses freed memory.
class LateResource final : public MemoryResource {
 public:
  void* Allocate(uint64_t bytes, cudaStream_t) noexcept override {
    blocks_.push_back(std::make_unique<Block[]>(bytes / sizeof(Block) + 1));
    return blocks_.back().get();
  }
  void Free(void*, uint64_t, cudaStream_t) noexcept override {}

 private:
  struct alignas(32) Block {
    std::byte bytes[32];
  };
  std::vector<std::unique_ptr<Block[]>> blocks_;
};

// After a call has thrown, nothing uses the caller's keys and outputs any more, so the caller may
// free them.
TEST(DeviceFilterFailures, NoWorkIsUnderWayAfterAnError) {
  const std::vector<uint64_t> keys = RandomKeys(100, 2);
  const std::string bytes = "abcdef";
  const std::vector<int32_t> offsets = {0, 2, 6};
  const StringColumn strings{bytes.data(), offsets};
  std::vector<uint32_t> rows(keys.size());
  SplitBlockBloomFilter host = HostFilter();
  const std::function<void(DeviceFilter&)> calls[] = {
      [&](DeviceFilter& device) { (void)device.Count(keys); },
      [&](DeviceFilter& device) { (void)device.Count(strings); },
      [&](DeviceFilter& device) { (void)device.Insert(strings); },
      [&](DeviceFilter& device) { (void)device.Select(keys, std::span(rows)); },
      [&](DeviceFilter& device) { device.Download(host); },
  };
  for (const auto& call : calls) {
    int errors = 0;
    for (int64_t at = 0;; ++at) {
      FakeRuntime runtime;
      LateResource resource;
      DeviceFilter device(HostFilter(), {.memory = &resource, .runtime = &runtime});
      const uint64_t before = runtime.calls();
      runtime.FailCall(at, kMemoryAllocation);
      try {
        call(device);
      } catch (const Error&) {
        ++errors;
        // If a wait fails, no work is left that could run.
        if (runtime.usable()) {
          EXPECT_EQ(runtime.num_pending(), 0u) << "after call " << at;
        }
      }
      if (static_cast<int64_t>(runtime.calls() - before) <= at) break;  // there were fewer calls
    }
    EXPECT_GT(errors, 1);
  }
}

TEST(DeviceFilterMemory, MisalignedMemoryIsRefused) {
  FakeRuntime runtime;
  CountingResource resource(runtime, 16);
  EXPECT_EQ(CodeOf([&] { DeviceFilter(HostFilter(), {.memory = &resource, .runtime = &runtime}); }),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(resource.live, 0);
  EXPECT_EQ(runtime.num_live(), 0u);
}

}  // namespace tamis::cuda::device_filter_test
