// Tests that need a real GPU. Without one they are skipped, with the reason.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cuda/src/runtime.h"
#include "tamis/cuda/device_filter.h"
#include "tamis/cuda/host_pipeline.h"
#include "tamis/error.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tamis/filters/fuse_filter.h"
#include "tamis/filters/sizing.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/hash_kinds.h"
#include "tests/cuda/example_kernel.h"
#include "tests/test_util.h"

namespace tamis::cuda::gpu_test {

// Primes, so the last warp and the last tile are never full.
constexpr size_t kSizes[] = {0, 1, 31, 397, 797, 65537, 1'000'003};

#define ASSERT_CUDA(call) ASSERT_EQ(call, cudaSuccess) << cudaGetErrorString(cudaGetLastError())

// Memory of the device, with copies from and to the host.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t n) : n_(n) {
    EXPECT_EQ(cudaMalloc(&data_, std::max<size_t>(n, 1) * sizeof(T)), cudaSuccess);
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    EXPECT_EQ(cudaMemcpy(data_, values.data(), n_ * sizeof(T), cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  T* data() const { return data_; }
  std::span<T> span() const { return {data_, n_}; }
  std::span<const T> keys() const { return {data_, n_}; }
  std::vector<T> vector() const {
    std::vector<T> values(n_);
    EXPECT_EQ(cudaMemcpy(values.data(), data_, n_ * sizeof(T), cudaMemcpyDeviceToHost),
              cudaSuccess);
    return values;
  }

 private:
  size_t n_;
  T* data_ = nullptr;
};

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    if (CudaRuntime().DeviceCount(&why) == 0) GTEST_SKIP() << why;
  }
  // Whether this many bytes are free, and 1 GiB more.
  static bool HasMemory(uint64_t bytes) {
    uint64_t free = 0;
    return CudaRuntime().FreeMemory(&free).ok() && free > bytes + (uint64_t{1} << 30);
  }
};

// Returns a filter with the first half of the keys.
SplitBlockBloomFilter HostFilter(const std::vector<uint64_t>& keys, HashSpec hash = {}) {
  SplitBlockBloomFilter filter(
      {.capacity = std::max<size_t>(keys.size(), 1), .fpr = 0.01, .hash = hash});
  filter.Insert(std::span(keys).first(keys.size() / 2));
  return filter;
}

std::vector<std::byte> Payload(const Filter& filter) {
  return {filter.payload().begin(), filter.payload().end()};
}

TEST(GpuRuntime, SaysWhyThereIsNoDevice) {
  std::string why;
  const int devices = CudaRuntime().DeviceCount(&why);
  EXPECT_EQ(devices == 0, !why.empty());
  if (devices > 0) return;
  try {
    DeviceFilter(HostFilter({}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kDevice);
    EXPECT_NE(std::string(error.what()).find(why), std::string::npos);
  }
}

TEST_F(GpuTest, InsertGivesTheBitsOfTheHost) {
  for (const HashKind kind : kHashKinds) {
    for (const size_t n : kSizes) {
      const std::vector<uint64_t> keys = RandomKeys(n, n);
      SplitBlockBloomFilter host = HostFilter(keys, HashOf(kind, 3));
      DeviceFilter device(host);
      const DeviceArray<uint64_t> on_device(keys);
      device.Insert(on_device.keys());
      host.Insert(keys);
      SplitBlockBloomFilter copy = host.Clone();
      copy.Clear();
      device.Download(copy);
      ASSERT_EQ(Payload(copy), Payload(host)) << n;
    }
  }
}

TEST_F(GpuTest, EveryOutputEqualsTheHosts) {
  for (const size_t n : kSizes) {
    const std::vector<uint64_t> keys = RandomKeys(n, n);
    const SplitBlockBloomFilter host = HostFilter(keys);
    const DeviceFilter device(host);
    const DeviceArray<uint64_t> on_device(keys);
    std::vector<uint64_t> want(BitmapWords(n));
    std::vector<uint8_t> want_bytes(n);
    std::vector<uint64_t> want_rows(n);
    const size_t found = host.Contains(keys, Bitmap(want));
    host.Contains(keys, std::span(want_bytes));
    host.Select(keys, std::span(want_rows));
    want_rows.resize(found);
    const DeviceArray<uint64_t> bits(BitmapWords(n));
    const DeviceArray<uint8_t> bytes(n);
    const DeviceArray<uint32_t> rows32(n);
    const DeviceArray<uint64_t> rows64(n);
    EXPECT_EQ(device.Contains(on_device.keys(), Bitmap(bits.span())), found);
    EXPECT_EQ(device.Contains(on_device.keys(), bytes.span()), found);
    EXPECT_EQ(device.Count(on_device.keys()), found);
    EXPECT_EQ(device.Select(on_device.keys(), rows32.span()), found);
    EXPECT_EQ(device.Select(on_device.keys(), rows64.span()), found);
    ASSERT_EQ(bits.vector(), want);
    ASSERT_EQ(bytes.vector(), want_bytes);
    std::vector<uint64_t> got = rows64.vector();
    got.resize(found);
    ASSERT_EQ(got, want_rows);
    const std::vector<uint32_t> got32 = rows32.vector();
    ASSERT_TRUE(std::equal(want_rows.begin(), want_rows.end(), got32.begin()));
  }
}

TEST_F(GpuTest, StringsHashAsOnTheHost) {
  std::vector<std::string> strings = RandomStrings(5000, 1);
  for (size_t n = 0; n <= 1200; ++n) strings.emplace_back(n, static_cast<char>('a' + n % 26));
  std::string bytes;
  std::vector<int32_t> offsets = {0};
  for (const std::string& s : strings) {
    bytes += s;
    offsets.push_back(static_cast<int32_t>(bytes.size()));
  }
  const DeviceArray<char> device_bytes(std::vector<char>(bytes.begin(), bytes.end()));
  const DeviceArray<int32_t> device_offsets(offsets);
  for (const HashKind kind : kHashKinds) {
    SplitBlockBloomFilter host({.capacity = 10'000, .fpr = 0.01, .hash = HashOf(kind, 99)});
    DeviceFilter device(host.Header());
    device.Insert(StringColumn{device_bytes.data(), device_offsets.keys()});
    host.Insert(StringColumn{bytes.data(), offsets});
    SplitBlockBloomFilter copy = host.Clone();
    device.Download(copy);
    EXPECT_EQ(Payload(copy), Payload(host));
  }
}

TEST_F(GpuTest, MergeIsTheUnion) {
  const std::vector<uint64_t> keys = RandomKeys(100'003, 1);
  SplitBlockBloomFilter a = HostFilter(keys);
  SplitBlockBloomFilter b = HostFilter(keys);
  b.Insert(keys);
  DeviceFilter device(a);
  device.Merge(DeviceFilter(b));
  a.Merge(b);
  SplitBlockBloomFilter copy = a.Clone();
  copy.Clear();
  device.Download(copy);
  EXPECT_EQ(Payload(copy), Payload(a));
}

TEST_F(GpuTest, HostKeysComeBackInOrder) {
  const std::vector<uint64_t> keys = RandomKeys(3'000'017, 1);
  const SplitBlockBloomFilter host = HostFilter(keys);
  const DeviceFilter device(host);
  HostPipeline pipeline({}, {.chunk_keys = 1 << 16, .chunks = 4});
  std::vector<uint64_t> want(BitmapWords(keys.size())), bits(BitmapWords(keys.size()));
  const size_t found = host.Contains(keys, Bitmap(want));
  EXPECT_EQ(pipeline.Contains(device, keys, Bitmap(bits)), found);
  EXPECT_EQ(bits, want);
  uint64_t* pinned = nullptr;
  ASSERT_CUDA(cudaMallocHost(&pinned, 8 * keys.size()));
  std::copy(keys.begin(), keys.end(), pinned);
  std::fill(bits.begin(), bits.end(), 0);
  EXPECT_EQ(pipeline.Contains(device, std::span(pinned, keys.size()), Bitmap(bits)), found);
  EXPECT_EQ(bits, want);
  ASSERT_CUDA(cudaFreeHost(pinned));
}

TEST_F(GpuTest, AGraphCanBeCapturedAndReplayed) {
  const std::vector<uint64_t> keys = RandomKeys(100'003, 1);
  SplitBlockBloomFilter host = HostFilter(keys);
  DeviceFilter device(host);
  const DeviceArray<uint64_t> on_device(keys);
  const DeviceArray<uint64_t> bits(BitmapWords(keys.size()));
  const DeviceArray<uint32_t> rows(keys.size());
  const DeviceArray<uint64_t> counts(2);
  const DeviceArray<std::byte> scratch(DeviceFilter::SelectScratchBytes(keys.size()));
  cudaStream_t stream = nullptr;
  ASSERT_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  ASSERT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_TRUE(
      device.ContainsAsync(on_device.keys(), Bitmap(bits.span()), counts.data(), stream).ok());
  EXPECT_TRUE(device.InsertAsync(on_device.keys(), stream).ok());
  EXPECT_TRUE(
      device.SelectAsync(on_device.keys(), rows.span(), counts.data() + 1, scratch.span(), stream)
          .ok());
  cudaGraph_t graph = nullptr;
  ASSERT_CUDA(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t runnable = nullptr;
  ASSERT_CUDA(cudaGraphInstantiate(&runnable, graph, 0));
  const size_t before = host.Count(keys);
  for (const size_t want : {before, keys.size()}) {
    ASSERT_CUDA(cudaGraphLaunch(runnable, stream));
    ASSERT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(counts.vector(), (std::vector<uint64_t>{want, keys.size()}));
  }
  ASSERT_CUDA(cudaGraphExecDestroy(runnable));
  ASSERT_CUDA(cudaGraphDestroy(graph));
  ASSERT_CUDA(cudaStreamDestroy(stream));
}

TEST_F(GpuTest, AKernelOfAUserAsksAndFillsFilters) {
  const std::vector<uint64_t> keys = RandomKeys(100'003, 1);
  const SplitBlockBloomFilter known = HostFilter(keys);
  SplitBlockBloomFilter want({.capacity = keys.size(), .fpr = 0.01});
  uint64_t even = 0;
  for (const uint64_t key : keys) {
    if (known.Contains(key)) continue;
    want.Insert(key);
    even += key % 2 == 0;
  }
  const DeviceFilter device_known(known);
  const DeviceFilter news(want.Header());
  const DeviceArray<uint64_t> on_device(keys);
  const DeviceArray<unsigned long long> count(std::vector<unsigned long long>{0});
  ASSERT_EQ(LaunchExample(device_known.ref<SplitBlockRef>(), news.ref<SplitBlockRef>(),
                          on_device.data(), keys.size(), count.data(), nullptr),
            0);
  ASSERT_CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(count.vector()[0], even);
  SplitBlockBloomFilter copy = want.Clone();
  news.Download(copy);
  EXPECT_EQ(Payload(copy), Payload(want));
}

// Fills a cuckoo filter past its capacity and empties it again. No key is lost or left.
template <int kBits>
void TestCuckoo(size_t capacity) {
  CuckooFilter<kBits> host({.capacity = capacity, .fpr = 0.05});
  const size_t n = host.num_slots() + host.num_slots() / 50;
  const std::vector<uint64_t> keys = RandomKeys(n, capacity);
  DeviceFilter device(host.Header());
  const DeviceArray<uint64_t> on_device(keys);
  const DeviceArray<uint64_t> failed(n);
  const size_t inserted = device.Insert(on_device.keys(), failed.span());
  EXPECT_GT(inserted, host.num_slots() * 95 / 100);
  const std::vector<uint64_t> rejects = failed.vector();
  std::vector<uint64_t> in;
  for (size_t i = 0, next = 0; i < n; ++i) {
    if (next < n - inserted && rejects[next] == i) {
      ++next;
    } else {
      in.push_back(keys[i]);
    }
  }
  ASSERT_EQ(in.size(), inserted);
  const DeviceArray<uint64_t> in_on_device(in);
  EXPECT_EQ(device.Count(in_on_device.keys()), inserted);
  device.Download(host);
  EXPECT_EQ(host.inserted_count(), inserted);
  EXPECT_EQ(host.Count(in), inserted);
  EXPECT_EQ(device.Count(on_device.keys()), host.Count(keys));
  EXPECT_EQ(device.Erase(in_on_device.keys()), inserted);
  device.Download(host);
  EXPECT_EQ(host.inserted_count(), 0u);
}

TEST_F(GpuTest, CuckooSmallLosesNothing) {
  TestCuckoo<8>(1009);
  TestCuckoo<12>(1009);
  TestCuckoo<16>(1009);
}

TEST_F(GpuTest, CuckooLosesNothing) {
  TestCuckoo<8>(3'000'017);
  TestCuckoo<12>(3'000'017);
  TestCuckoo<16>(3'000'017);
}

TEST_F(GpuTest, CuckooTakesItsCapacity) {
  const CuckooFilter<16> host({.capacity = 10'000'019, .fpr = 0.001});
  DeviceFilter device(host.Header());
  const DeviceArray<uint64_t> keys(RandomKeys(host.capacity(), 1));
  EXPECT_EQ(device.Insert(keys.keys()), host.capacity());
}

// Tests filters of one shard and of several shards.
template <int kBits>
void TestFuse() {
  for (const size_t n : {0, 1, 1009, 3'000'017}) {
    const std::vector<uint64_t> keys = RandomKeys(2 * n + 1009, n);
    const auto host = FuseFilter<kBits>::From(std::span(keys).first(n));
    const DeviceFilter device(host);
    const DeviceArray<uint64_t> on_device(keys), bits(BitmapWords(keys.size()));
    std::vector<uint64_t> want(BitmapWords(keys.size()));
    const size_t found = host.Contains(keys, Bitmap(want));
    EXPECT_EQ(device.Contains(on_device.keys(), Bitmap(bits.span())), found);
    ASSERT_EQ(bits.vector(), want) << n;
  }
}

TEST_F(GpuTest, FuseAnswersAsTheHost) {
  TestFuse<8>();
  TestFuse<12>();
  TestFuse<16>();
  TestFuse<32>();
}

// A validity bitmap on the host and on the device; a third of the keys are null.
class Validity {
 public:
  Validity(size_t n, uint64_t first_bit)
      : first_bit_(first_bit), here_(Bytes(n, first_bit)), there_(here_) {}

  Keys OfHost(const Keys& keys) const { return keys.WithValidity(here_.data(), first_bit_); }
  Keys OfDevice(const Keys& keys) const { return keys.WithValidity(there_.data(), first_bit_); }

 private:
  static std::vector<uint8_t> Bytes(size_t n, uint64_t first_bit) {
    std::vector<uint8_t> bytes((first_bit + n + 7) / 8);
    Random random(n);
    for (uint64_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      if (random.Below(3) != 0) bytes[bit / 8] |= static_cast<uint8_t>(1 << (bit % 8));
    }
    return bytes;
  }

  uint64_t first_bit_;
  std::vector<uint8_t> here_;
  DeviceArray<uint8_t> there_;
};

constexpr uint64_t kFirstBits[] = {0, 1, 5, 7, 8, 13, 1003};

// Calls calls(n, first bit) with all sizes, each with one of the first bits.
template <typename Calls>
void ForEachValidity(const Calls& calls) {
  size_t at = 0;
  for (const size_t n : kSizes) {
    const uint64_t first_bit = kFirstBits[at++ % std::size(kFirstBits)];
    SCOPED_TRACE(std::to_string(n) + " keys from bit " + std::to_string(first_bit));
    calls(n, Validity(n, first_bit));
  }
}

TEST_F(GpuTest, NullsAreInNoAnswer) {
  ForEachValidity([](size_t n, const Validity& validity) {
    const std::vector<uint64_t> values = RandomKeys(n, n);
    const std::vector<uint32_t> narrow(values.begin(), values.end());
    const DeviceArray<uint64_t> values_there(values);
    const DeviceArray<uint32_t> narrow_there(narrow);
    SplitBlockBloomFilter host = HostFilter(values);
    host.Insert(std::span(narrow).first(n / 2));
    CuckooFilter<16> cuckoo({.capacity = n + 1});
    cuckoo.Insert(std::span(values).first(n / 2));
    cuckoo.Insert(std::span(narrow).first(n / 2));
    const auto fuse = FuseFilter<12>::From(std::span(values).first(n / 2));
    const std::pair<Keys, Keys> forms[] = {{values, values_there.keys()},
                                           {narrow, narrow_there.keys()},
                                           {Hashes{values}, Hashes{values_there.keys()}}};
    for (const auto& [here, there] : forms) {
      const Keys keys = validity.OfHost(here), on_device = validity.OfDevice(there);
      for (const Filter* const filter :
           std::initializer_list<const Filter*>{&host, &cuckoo, &fuse}) {
        const DeviceFilter device(*filter);
        std::vector<uint64_t> want(BitmapWords(n)), want_rows(n);
        std::vector<uint8_t> want_bytes(n);
        const size_t found = filter->Contains(keys, Bitmap(want));
        filter->Contains(keys, std::span(want_bytes));
        filter->Select(keys, std::span(want_rows));
        want_rows.resize(found);
        const DeviceArray<uint64_t> bits(BitmapWords(n)), rows(n), count(1);
        const DeviceArray<uint8_t> bytes(n);
        EXPECT_EQ(device.Contains(on_device, Bitmap(bits.span())), found);
        ASSERT_EQ(bits.vector(), want);
        EXPECT_EQ(device.Contains(on_device, bytes.span()), found);
        ASSERT_EQ(bytes.vector(), want_bytes);
        EXPECT_EQ(device.Count(on_device), found);
        EXPECT_EQ(device.Select(on_device, rows.span()), found);
        std::vector<uint64_t> got = rows.vector();
        got.resize(found);
        ASSERT_EQ(got, want_rows);
        // The same without a count.
        ASSERT_CUDA(cudaMemset(bits.data(), 0xFF, sizeof(uint64_t) * BitmapWords(n)));
        EXPECT_TRUE(device.ContainsAsync(on_device, Bitmap(bits.span()), nullptr, nullptr).ok());
        ASSERT_CUDA(cudaDeviceSynchronize());
        ASSERT_EQ(bits.vector(), want);
      }
    }
  });
}

TEST_F(GpuTest, NullsAreNotInserted) {
  ForEachValidity([](size_t n, const Validity& validity) {
    const std::vector<uint64_t> values = RandomKeys(n, n);
    const DeviceArray<uint64_t> there(values);
    const Keys keys = validity.OfHost(values), on_device = validity.OfDevice(there.keys());
    SplitBlockBloomFilter host({.capacity = n + 1});
    DeviceFilter device(host), by_stream(host);
    const DeviceArray<uint64_t> failed(n);
    const size_t inserted = host.Insert(keys);
    EXPECT_EQ(device.Insert(on_device, failed.span()), inserted);
    std::vector<uint64_t> nulls = failed.vector();
    nulls.resize(n - inserted);
    for (const uint64_t i : nulls) ASSERT_FALSE(keys.IsValid(i));
    EXPECT_TRUE(std::is_sorted(nulls.begin(), nulls.end(), std::less_equal<uint64_t>()));
    EXPECT_TRUE(by_stream.InsertAsync(on_device, nullptr).ok());
    for (const DeviceFilter* const filter : {&device, &by_stream}) {
      SplitBlockBloomFilter copy = host.Clone();
      copy.Clear();
      filter->Download(copy);
      ASSERT_EQ(Payload(copy), Payload(host));
    }
  });
}

// The GPU and the host put keys into different slots, so the test compares only which keys are
// found.
TEST_F(GpuTest, NullsAreNeitherPutIntoCuckooFiltersNorErased) {
  ForEachValidity([](size_t n, const Validity& validity) {
    const std::vector<uint64_t> values = RandomKeys(n, n);
    const DeviceArray<uint64_t> there(values);
    const Keys keys = validity.OfHost(values), on_device = validity.OfDevice(there.keys());
    CuckooFilter<12> host({.capacity = n + 1});
    DeviceFilter device(host);
    const size_t valid = keys.CountValid();
    EXPECT_EQ(device.Insert(on_device), valid);
    EXPECT_EQ(device.Count(on_device), valid);
    device.Download(host);
    EXPECT_EQ(host.inserted_count(), valid);
    EXPECT_EQ(host.Count(keys), valid);
    EXPECT_EQ(device.Erase(on_device), valid);
    device.Download(host);
    EXPECT_EQ(host.inserted_count(), 0u);
  });
}

// Like AGraphCanBeCapturedAndReplayed, but a lookup waits during the capture.
TEST_F(GpuTest, ALookupThatWaitsSpoilsNoCapture) {
  const std::vector<uint64_t> keys = RandomKeys(100'003, 1);
  const SplitBlockBloomFilter host = HostFilter(keys);
  const DeviceArray<uint64_t> on_device(keys), count(1);
  const DeviceFilter device(host);
  cudaStream_t captured = nullptr, stream = nullptr;
  ASSERT_CUDA(cudaStreamCreateWithFlags(&captured, cudaStreamNonBlocking));
  ASSERT_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  ASSERT_CUDA(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal));
  EXPECT_TRUE(device.CountAsync(on_device.keys(), count.data(), captured).ok());
  const auto look_up = [&] {
    const DeviceFilter other(host, {}, stream);
    EXPECT_EQ(other.Count(on_device.keys(), stream), host.Count(keys));
    HostPipeline pipeline({}, {.chunk_keys = 1 << 14, .chunks = 3});
    std::vector<uint64_t> bits(BitmapWords(keys.size()));
    EXPECT_EQ(pipeline.Contains(device, keys, Bitmap(bits)), host.Count(keys));
  };
  std::thread(look_up).join();
  look_up();
  EXPECT_THROW((void)device.Count(on_device.keys(), captured), Error);
  cudaGraph_t graph = nullptr;
  ASSERT_CUDA(cudaStreamEndCapture(captured, &graph));
  ASSERT_CUDA(cudaGraphDestroy(graph));
  ASSERT_CUDA(cudaStreamDestroy(stream));
  ASSERT_CUDA(cudaStreamDestroy(captured));
}

TEST_F(GpuTest, OutOfMemoryIsAnErrorAndLeavesTheDeviceUsable) {
  FileHeader header = HostFilter({}).Header();
  header.geometry[0] = split_block::kMaxBlocks32;  // 128 GiB
  header.payload_bytes = header.geometry[0] * split_block::kBlockBytes;
  {
    std::vector<DeviceFilter> filters;
    try {
      while (filters.size() < 64) filters.emplace_back(header);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory);
    }
  }
  const std::vector<uint64_t> keys = RandomKeys(100, 1);
  EXPECT_GE(DeviceFilter(HostFilter(keys)).Count(DeviceArray<uint64_t>(keys).keys()), 50u);
}

// Returns keys first, first + 1, ... of a sequence without repetition.
std::vector<uint64_t> KeysFrom(uint64_t first, size_t n) {
  std::vector<uint64_t> keys(n);
  for (size_t i = 0; i < n; ++i) keys[i] = Mix(first + i);
  return keys;
}

TEST_F(GpuTest, SlowNoFalseNegativesAmongABillionKeys) {
  constexpr uint64_t kKeys = 1'000'000'000;
  constexpr uint64_t kBatch = 50'000'000;
  const SplitBlockBloomFilter sized({.capacity = kKeys, .fpr = 0.01});
  if (!HasMemory(sized.bytes() + 16 * kBatch)) GTEST_SKIP() << "too little device memory";
  DeviceFilter device(sized.Header());
  uint64_t negatives = 0;
  const auto for_each_batch = [&](uint64_t first, const auto& act) {
    for (uint64_t begin = 0; begin < kKeys; begin += kBatch) {
      const DeviceArray<uint64_t> keys(KeysFrom(first + begin, kBatch));
      act(keys);
    }
  };
  for_each_batch(0, [&](const auto& keys) { device.Insert(keys.keys()); });
  for_each_batch(0, [&](const auto& keys) { negatives += kBatch - device.Count(keys.keys()); });
  EXPECT_EQ(negatives, 0u);
  // The rate at capacity, on keys that were not inserted.
  const DeviceArray<uint64_t> others(KeysFrom(kKeys, kBatch));
  const double measured = static_cast<double>(device.Count(others.keys())) / kBatch;
  const double expected = SplitBlockFpr(static_cast<double>(kKeys), sized.num_blocks());
  EXPECT_NEAR(measured, expected, 0.02 * expected);
}

TEST_F(GpuTest, SlowFilterBeyond16GiBHasTheBitsOfTheHost) {
  constexpr uint64_t kBlocks = (uint64_t{1} << 29) + 1'000'003;
  constexpr size_t kKeys = 20'000'003;
  SplitBlockBloomFilter tiny({.bytes = 32, .hash = {}});
  FileHeader header = tiny.Header();
  header.geometry[0] = kBlocks;
  header.payload_bytes = kBlocks * split_block::kBlockBytes;
  if (!HasMemory(header.payload_bytes)) GTEST_SKIP() << "too little device memory";
  const std::vector<uint64_t> keys = KeysFrom(0, kKeys);
  DeviceFilter device(header);
  const DeviceArray<uint64_t> on_device(keys);
  device.Insert(on_device.keys());
  EXPECT_EQ(device.Count(on_device.keys()), kKeys);
  // Compares the blocks of some keys, including the last ones, word by word. Few keys share a
  // block.
  const auto* words = static_cast<const uint32_t*>(device.data());
  uint64_t past_32_bits = 0;
  for (size_t i = 0; i < kKeys; i += 9973) {
    const uint64_t hash = HashU64(keys[i]);
    const uint64_t block = split_block::BlockIndex(hash, kBlocks);
    uint32_t got[split_block::kWords];
    ASSERT_CUDA(
        cudaMemcpy(got, words + split_block::kWords * block, sizeof(got), cudaMemcpyDeviceToHost));
    ASSERT_TRUE(split_block::BlockContains(got, hash));
    past_32_bits += split_block::kWords * block >> 32;
  }
  EXPECT_GT(past_32_bits, 0u);
}

}  // namespace tamis::cuda::gpu_test
