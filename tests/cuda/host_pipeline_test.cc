// Streaming of host keys: the order of results and of streams, and failures. The runtime of the
// tests runs work of different streams in random order if it may.
#include "tamis/cuda/host_pipeline.h"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tamis/error.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/cuda/fake_runtime.h"
#include "tests/test_util.h"

namespace tamis::cuda::host_pipeline_test {

constexpr size_t kSizes[] = {0, 1, 63, 64, 65, 127, 128, 129, 397, 640, 641, 3000};

SplitBlockBloomFilter HostFilter(HashSpec hash = {}) {
  SplitBlockBloomFilter filter({.capacity = 2000, .fpr = 0.01, .hash = hash});
  filter.Insert(RandomKeys(1000, 1));
  return filter;
}

// Returns keys of which every other one is in the filter.
std::vector<uint64_t> Queries(size_t n) {
  std::vector<uint64_t> keys = RandomKeys(n, 2);
  const std::vector<uint64_t> known = RandomKeys(1000, 1);
  for (size_t i = 0; i < n; i += 2) keys[i] = known[i % known.size()];
  return keys;
}

TEST(HostPipeline, GivesTheBitsOfTheHost) {
  const SplitBlockBloomFilter host = HostFilter({HashKind::kXxh64, 5});
  for (uint64_t seed = 0; seed < 30; ++seed) {
    FakeRuntime runtime(1, seed);
    {
      const DeviceFilter device(host, {.runtime = &runtime});
      HostPipeline pipeline({.runtime = &runtime},
                            {.chunk_keys = 64, .chunks = 3 + static_cast<int>(seed % 3)});
      for (const size_t n : kSizes) {
        const std::vector<uint64_t> keys = Queries(n);
        std::vector<uint64_t> want(BitmapWords(n));
        const auto bits = GuardedArray<uint64_t>::Output(BitmapWords(n), 0);
        const size_t found = host.Contains(keys, Bitmap(want));
        uint64_t done = 0;
        const auto progress = [&](uint64_t keys_done) {
          EXPECT_EQ(keys_done, std::min<uint64_t>(done + 64, n));
          done = keys_done;
        };
        ASSERT_EQ(pipeline.Contains(device, keys, Bitmap(bits.span()), progress), found);
        ASSERT_EQ(bits.vector(), want) << n << " keys, order " << seed;
        ASSERT_EQ(done, n);
        ASSERT_TRUE(bits.Intact());
      }
    }
    ASSERT_EQ(runtime.num_live(), 0u);
  }
}

TEST(HostPipeline, InsertsTheSameAsTheHost) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    FakeRuntime runtime(1, seed);
    SplitBlockBloomFilter host = HostFilter();
    DeviceFilter device(host, {.runtime = &runtime});
    HostPipeline pipeline({.runtime = &runtime}, {.chunk_keys = 128, .chunks = 3});
    const std::vector<uint64_t> keys = RandomKeys(1001, 3);
    EXPECT_EQ(pipeline.Insert(device, keys), keys.size());
    host.Insert(keys);
    SplitBlockBloomFilter copy = host.Clone();
    copy.Clear();
    device.Download(copy);
    EXPECT_TRUE(SameBytes(copy.payload(), host.payload()));
    EXPECT_EQ(copy.inserted_count(), host.inserted_count());
  }
}

TEST(HostPipeline, TakesEveryFormOfKeys) {
  FakeRuntime runtime;
  SplitBlockBloomFilter host({.capacity = 2000, .fpr = 0.001});
  DeviceFilter device(host, {.runtime = &runtime});
  HostPipeline pipeline({.runtime = &runtime}, {.chunk_keys = 64, .chunks = 3, .threads = 2});
  const auto check = [&](const Keys& keys) {
    EXPECT_EQ(pipeline.Insert(device, keys), host.Insert(keys));
    EXPECT_EQ(device.Header().key_types, host.key_types());
    std::vector<uint64_t> bits(BitmapWords(keys.size()));
    EXPECT_EQ(pipeline.Contains(device, keys, Bitmap(bits)), keys.size());
    SplitBlockBloomFilter copy = host.Clone();
    device.Download(copy);
    EXPECT_TRUE(SameBytes(copy.payload(), host.payload()));
  };
  const std::vector<uint64_t> u64 = RandomKeys(200, 3);
  const std::vector<uint32_t> u32(u64.begin(), u64.end());
  const std::vector<int32_t> i32(u64.begin(), u64.end());
  check(u64);
  check(u32);
  check(i32);
  check(Hashes{u64});
  const std::vector<std::string> strings = RandomStrings(200, 4);
  check(std::vector<std::string_view>(strings.begin(), strings.end()));
  std::string bytes;
  std::vector<int64_t> offsets = {0};
  for (const std::string& s : strings) {
    bytes += s;
    offsets.push_back(static_cast<int64_t>(bytes.size()));
  }
  check(LargeStringColumn{bytes.data(), offsets});
  check(strings);
  const std::vector<int32_t> small_offsets(offsets.begin(), offsets.end());
  check(StringColumn{bytes.data(), small_offsets});
  check(FixedColumn{bytes.data(), 3, 200});
  check(FixedColumn{bytes.data() + 1, 4, 200, KeyType::kInt32});
}

TEST(HostPipeline, TakesTheMemoryThatItSays) {
  FakeRuntime runtime;
  const HostPipeline pipeline({.runtime = &runtime}, {.chunk_keys = 1024, .chunks = 5});
  EXPECT_EQ(runtime.live_bytes(), 5u * 1024 * 65 / 8);
}

// The answers of one call could go to the keys of the other.
TEST(HostPipeline, RefusesACallBesideAnother) {
  FakeRuntime runtime;
  const SplitBlockBloomFilter host = HostFilter();
  DeviceFilter device(host, {.runtime = &runtime});
  HostPipeline pipeline({.runtime = &runtime}, {.chunk_keys = 64, .chunks = 3});
  const std::vector<uint64_t> keys = Queries(500);
  std::vector<uint64_t> want(BitmapWords(keys.size())), bits(BitmapWords(keys.size())), others(8);
  host.Contains(keys, Bitmap(want));
  const uint64_t calls = 8;
  uint64_t refused = 0;
  const auto refuses = [&](const std::function<void()>& call) {
    try {
      call();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_NE(std::string(error.what()).find("busy"), std::string::npos) << error.what();
      ++refused;
    }
  };
  pipeline.Contains(device, keys, Bitmap(bits), [&](uint64_t) {
    refuses([&] { pipeline.Contains(device, keys, Bitmap(others)); });
    refuses([&] { pipeline.Insert(device, keys); });
    refuses([&] { pipeline.Upload(device, host); });
  });
  EXPECT_EQ(refused, 3 * calls);
  EXPECT_EQ(bits, want);
  EXPECT_EQ(pipeline.Insert(device, keys), keys.size()) << "it goes on after that";
}

// Keys of every layout on the host. For nulls, string views have invalid pointers.
TEST(HostPipeline, ClearsTheAnswersOfNulls) {
  FakeRuntime runtime;
  SplitBlockBloomFilter host({.capacity = 2000, .fpr = 0.001});
  const std::vector<uint64_t> numbers = RandomKeys(500, 3);
  const std::vector<std::string> strings = RandomStrings(500, 4);
  const std::vector<uint8_t> valid(64, 0b1011'0110);
  constexpr uint64_t kFirstBit = 3;
  std::vector<std::string_view> views(strings.begin(), strings.end());
  for (size_t i = 0; i < views.size(); ++i) {
    if (Keys(views).WithValidity(valid.data(), kFirstBit).IsValid(i)) continue;
    views[i] = {reinterpret_cast<const char*>(16), size_t{1} << 40};
  }
  host.Insert(numbers);
  host.Insert(std::vector<std::string_view>(strings.begin(), strings.end()));
  DeviceFilter device(host, {.runtime = &runtime});
  HostPipeline pipeline({.runtime = &runtime}, {.chunk_keys = 64, .chunks = 3, .threads = 2});
  for (const Keys& all : {Keys(numbers), Keys(views)}) {
    const Keys keys = all.WithValidity(valid.data(), kFirstBit);
    std::vector<uint64_t> bits(BitmapWords(keys.size()));
    EXPECT_EQ(pipeline.Contains(device, keys, Bitmap(bits)), keys.CountValid());
    for (size_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(Bitmap(bits).Test(i), keys.IsValid(i)) << i;
    }
  }
}

// More keys than one thread stages at a time.
TEST(HostPipeline, StagesInSeveralThreads) {
  FakeRuntime runtime;
  const SplitBlockBloomFilter host = HostFilter();
  const DeviceFilter device(host, {.runtime = &runtime});
  HostPipeline pipeline({.runtime = &runtime}, {.chunk_keys = 1 << 16, .chunks = 3, .threads = 4});
  const std::vector<uint64_t> keys = Queries(150'001);
  std::vector<uint64_t> want(BitmapWords(keys.size())), bits(BitmapWords(keys.size()));
  EXPECT_EQ(pipeline.Contains(device, keys, Bitmap(bits)), host.Contains(keys, Bitmap(want)));
  EXPECT_EQ(bits, want);
}

// Filters with fewer bytes than one chunk, and with more than the ring holds. The last chunk is not
// full.
TEST(HostPipeline, UploadsByWayOfPinnedMemory) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    for (const size_t capacity : {10, 800, 20'000}) {
      FakeRuntime runtime(2, seed);
      {
        SplitBlockBloomFilter host({.capacity = capacity, .fpr = 0.01});
        CuckooFilter<16> cuckoo({.capacity = capacity});
        const DeviceOptions on = {.device = 1, .runtime = &runtime};
        HostPipeline pipeline(on, {.chunk_keys = 64, .chunks = 3, .threads = 2});
        Stream stream = nullptr;
        ASSERT_TRUE(runtime.SetDevice(1).ok());
        ASSERT_TRUE(runtime.CreateStream(&stream).ok());
        ASSERT_TRUE(runtime.SetDevice(0).ok());
        const std::vector<uint64_t> keys = RandomKeys(capacity, seed);
        for (Filter* const filter : {static_cast<Filter*>(&host), static_cast<Filter*>(&cuckoo)}) {
          RequireChangeable(*filter).Insert(keys);
          DeviceFilter device(filter->Header(), on);
          device.ForgetCount();
          // If the upload waits for a stream, earlier work on the stream comes first.
          ASSERT_TRUE(device.ClearAsync(stream).ok());
          pipeline.Upload(device, *filter, stream);
          EXPECT_EQ(std::memcmp(device.data(), filter->payload().data(), filter->bytes()), 0);
          EXPECT_EQ(device.inserted_count(), filter->inserted_count());
          EXPECT_EQ(device.Header().key_types, filter->key_types());
          EXPECT_EQ(runtime.copied_from(filter->payload().data(), filter->bytes()), 0u);
        }
        // The ring still works as before.
        DeviceFilter device(host, on);
        std::vector<uint64_t> bits(BitmapWords(keys.size()));
        EXPECT_EQ(pipeline.Contains(device, keys, Bitmap(bits)), keys.size());

        DeviceFilter other(host, {.runtime = &runtime});
        EXPECT_THROW(pipeline.Upload(other, host), Error) << "on another device";
        EXPECT_THROW(pipeline.Upload(device, cuckoo), Error) << "of another kind";
        ASSERT_TRUE(runtime.DestroyStream(stream).ok());
      }
      ASSERT_EQ(runtime.num_live(), 0u);
    }
  }
}

TEST(HostPipeline, CopiesPinnedKeysFromWhereTheyAre) {
  FakeRuntime runtime;
  {
    const SplitBlockBloomFilter host = HostFilter();
    const DeviceFilter device(host, {.runtime = &runtime});
    HostPipeline pipeline({.runtime = &runtime}, {.chunk_keys = 64, .chunks = 3});
    const std::vector<uint64_t> keys = Queries(1000);
    void* pinned = nullptr;
    ASSERT_TRUE(runtime.AllocatePinned(&pinned, 8 * keys.size()).ok());
    std::memcpy(pinned, keys.data(), 8 * keys.size());
    std::vector<uint64_t> want(BitmapWords(keys.size())), bits(BitmapWords(keys.size()));
    const std::span<const uint64_t> there(static_cast<const uint64_t*>(pinned), keys.size());
    EXPECT_EQ(pipeline.Contains(device, there, Bitmap(bits)), host.Contains(keys, Bitmap(want)));
    EXPECT_EQ(bits, want);
    EXPECT_EQ(runtime.copied_from(pinned, 8 * keys.size()), 8 * keys.size());
    EXPECT_TRUE(runtime.FreePinned(pinned).ok());

    // Keys in device memory are not copied at all.
    void* memory = nullptr;
    ASSERT_TRUE(runtime.Allocate(&memory, 8 * keys.size(), nullptr).ok());
    std::memcpy(memory, keys.data(), 8 * keys.size());
    const std::span<const uint64_t> on_device(static_cast<const uint64_t*>(memory), keys.size());
    std::fill(bits.begin(), bits.end(), 0);
    const uint64_t before = runtime.copied_from(memory, 8 * keys.size());
    pipeline.Contains(device, on_device, Bitmap(bits));
    EXPECT_EQ(bits, want);
    EXPECT_EQ(runtime.copied_from(memory, 8 * keys.size()), before);
    EXPECT_TRUE(runtime.Free(memory, nullptr).ok());
  }
  EXPECT_EQ(runtime.num_live(), 0u);
}

TEST(HostPipeline, RefusesOptionsOutOfRange) {
  FakeRuntime runtime;
  const auto code = [&](const PipelineOptions& options) {
    try {
      HostPipeline pipeline({.runtime = &runtime}, options);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::kIo;
  };
  EXPECT_EQ(code({.chunk_keys = 0}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.chunk_keys = 100}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.chunk_keys = uint64_t{1} << 31}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.chunks = 2}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.chunks = -1}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.threads = 5000}), ErrorCode::kInvalidArgument);
  try {
    HostPipeline({.device = 1, .runtime = &runtime});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << "as for a filter";
  }
  EXPECT_EQ(runtime.num_live(), 0u);
}

void UsePipeline(const Runtime& runtime, const SplitBlockBloomFilter& host) {
  const std::vector<uint64_t> keys = Queries(700);
  std::vector<uint64_t> want(BitmapWords(keys.size())), bits(BitmapWords(keys.size()));
  DeviceFilter device(host, {.runtime = &runtime});
  HostPipeline pipeline({.runtime = &runtime}, {.chunk_keys = 64, .chunks = 3, .threads = 1});
  pipeline.Contains(device, keys, Bitmap(bits));
  host.Contains(keys, Bitmap(want));
  EXPECT_EQ(bits, want);
  pipeline.Insert(device, keys);
  const std::vector<uint8_t> valid(90, 0b1011'0110);
  const Keys some = Keys(keys).WithValidity(valid.data(), 3).Slice(0, 100);
  pipeline.Insert(device, some);
  device.Insert(some);
  pipeline.Upload(device, host);
  pipeline.Contains(device, keys, Bitmap(bits));
  EXPECT_EQ(bits, want);
}

TEST(HostPipelineFailures, EveryCallThatFailsIsAnErrorWithoutALeak) {
  const SplitBlockBloomFilter host = HostFilter();
  FakeRuntime counting;
  UsePipeline(counting, host);
  ASSERT_EQ(counting.num_live(), 0u);
  size_t errors = 0;
  for (uint64_t call = 0; call < counting.calls(); ++call) {
    FakeRuntime runtime;
    runtime.FailCall(static_cast<int64_t>(call), call % 2 == 0 ? Status{719} : kMemoryAllocation);
    try {
      UsePipeline(runtime, host);
    } catch (const Error&) {
      ++errors;
    }
    ASSERT_EQ(runtime.num_live(), 0u) << "after a failure of call " << call;
  }
  EXPECT_GT(errors, counting.calls() / 2);
}

TEST(HostPipelineFailures, WorkThatFailsInMidStreamIsAnErrorWithoutALeak) {
  const SplitBlockBloomFilter host = HostFilter();
  for (int work : {0, 1, 2, 5, 11, 20, 30, 40}) {
    FakeRuntime runtime;
    runtime.FailWork(work, Status{719});
    EXPECT_THROW(UsePipeline(runtime, host), Error) << work;
    EXPECT_EQ(runtime.num_live(), 0u);
  }
}

TEST(HostPipelineFailures, AnExceptionOfTheReceiverEndsTheCall) {
  FakeRuntime runtime;
  const SplitBlockBloomFilter host = HostFilter();
  const DeviceFilter device(host, {.runtime = &runtime});
  HostPipeline pipeline({.runtime = &runtime}, {.chunk_keys = 64, .chunks = 3});
  std::vector<uint64_t> keys = Queries(1000);
  EXPECT_THROW(pipeline.ForEachBits(device, keys,
                                    [](const uint64_t*, size_t, uint64_t begin) {
                                      if (begin >= 128) throw std::runtime_error("enough");
                                    }),
               std::runtime_error);
  EXPECT_EQ(runtime.num_pending(), 0u) << "it may use the keys";
  // An insertion has counted the keys inserted so far.
  DeviceFilter changed(host, {.runtime = &runtime});
  const auto enough = [](uint64_t done) {
    if (done >= 128) throw std::runtime_error("enough");
  };
  EXPECT_THROW(pipeline.Insert(changed, keys, enough), std::runtime_error);
  EXPECT_EQ(runtime.num_pending(), 0u);
  EXPECT_TRUE(changed.count_is_known());
  SplitBlockBloomFilter same = host.Clone();
  const uint64_t inserted = changed.inserted_count() - host.inserted_count();
  EXPECT_LT(inserted, keys.size());
  same.Insert(std::span(keys).first(inserted));
  EXPECT_EQ(std::memcmp(changed.data(), same.payload().data(), same.bytes()), 0);
  // The pipeline can still be used.
  std::vector<uint64_t> want(BitmapWords(keys.size())), bits(BitmapWords(keys.size()));
  EXPECT_EQ(pipeline.Contains(device, keys, Bitmap(bits)), host.Contains(keys, Bitmap(want)));
  EXPECT_EQ(bits, want);
}

}  // namespace tamis::cuda::host_pipeline_test
