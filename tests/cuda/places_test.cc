// Memory of other devices is refused before a kernel that would access it is launched, because such
// a kernel makes CUDA unusable for the process. On request, calls wait for work on other streams.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tamis/cuda/device_filter.h"
#include "tamis/cuda/host_pipeline.h"
#include "tamis/error.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/cuda/fake_runtime.h"
#include "tests/test_util.h"

namespace tamis::cuda::places_test {

constexpr size_t kKeys = 300;

// An array on a device, or in pinned memory.
template <typename T>
class Array {
 public:
  Array(const FakeRuntime& runtime, int device, const std::vector<T>& values)
      : runtime_(runtime), device_(device), size_(values.size()) {
    On([&](void** memory) { return runtime.Allocate(memory, size_ * sizeof(T), nullptr); });
    std::copy(values.begin(), values.end(), span().begin());
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { (void)runtime_.Free(memory_, nullptr); }

  std::span<T> span() const { return {static_cast<T*>(memory_), size_}; }

 private:
  template <typename Allocate>
  void On(const Allocate& allocate) {
    int before = 0;
    (void)runtime_.CurrentDevice(&before);
    (void)runtime_.SetDevice(device_);
    EXPECT_TRUE(allocate(&memory_).ok());
    (void)runtime_.SetDevice(before);
  }

  const FakeRuntime& runtime_;
  int device_;
  size_t size_;
  void* memory_ = nullptr;
};

template <typename Call>
void ExpectRefused(const FakeRuntime& runtime, const Call& call, const std::string& says) {
  const uint64_t launches = runtime.launches();
  try {
    call();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
  }
  EXPECT_EQ(runtime.launches(), launches);
  int current = -1;
  EXPECT_TRUE(runtime.CurrentDevice(&current).ok());
  EXPECT_EQ(current, 0);
}

TEST(CudaPlaces, FiltersRefuseTheMemoryOfAnotherDevice) {
  FakeRuntime runtime(2);
  SplitBlockBloomFilter host({.capacity = kKeys});
  const std::vector<uint64_t> keys = RandomKeys(kKeys, 1);
  host.Insert(keys);
  const Array<uint64_t> here(runtime, 1, keys), there(runtime, 0, keys);
  const Array<uint64_t> bits(runtime, 1, std::vector<uint64_t>(kKeys));
  const Array<uint64_t> far_bits(runtime, 0, std::vector<uint64_t>(kKeys));
  const Array<uint8_t> far_bytes(runtime, 0, std::vector<uint8_t>(kKeys));
  DeviceFilter device(host, {.device = 1, .runtime = &runtime});

  EXPECT_EQ(device.Count(here.span()), kKeys);
  EXPECT_EQ(device.Contains(here.span(), Bitmap(bits.span())), kKeys);
  const std::string says = "on device 0 for a filter on device 1";
  ExpectRefused(
      runtime, [&] { device.Count(there.span()); }, says);
  ExpectRefused(
      runtime, [&] { device.Insert(there.span()); }, says);
  ExpectRefused(
      runtime, [&] { device.Contains(there.span(), Bitmap(bits.span())); }, says);
  ExpectRefused(
      runtime, [&] { device.Contains(here.span(), Bitmap(far_bits.span())); }, says);
  ExpectRefused(
      runtime, [&] { device.Contains(here.span(), far_bytes.span()); }, says);
  ExpectRefused(
      runtime, [&] { device.Select(here.span(), far_bits.span()); }, says);
  const Array<char> far_text(runtime, 0, {'a', 'b'});
  const Array<int32_t> offsets(runtime, 1, {0, 1, 2});
  const StringColumn column{far_text.span().data(), offsets.span()};
  ExpectRefused(
      runtime, [&] { device.Count(column); }, says);

  DeviceFilter cuckoo(CuckooFilter<16>({.capacity = 2 * kKeys}).Header(),
                      {.device = 1, .runtime = &runtime});
  ExpectRefused(
      runtime, [&] { cuckoo.Insert(there.span()); }, says);
  ExpectRefused(
      runtime, [&] { cuckoo.Insert(here.span(), far_bits.span()); }, says);
  EXPECT_EQ(cuckoo.Insert(here.span()), kKeys);
}

TEST(CudaPlaces, APipelineRefusesTheMemoryOfAnotherDeviceAndStringsOnAny) {
  FakeRuntime runtime(2);
  const SplitBlockBloomFilter host({.capacity = kKeys});
  const std::vector<uint64_t> keys = RandomKeys(kKeys, 1);
  const Array<uint64_t> here(runtime, 1, keys), there(runtime, 0, keys);
  DeviceFilter device(host, {.device = 1, .runtime = &runtime});
  HostPipeline pipeline({.device = 1, .runtime = &runtime}, {.chunk_keys = 64, .chunks = 3});
  std::vector<uint64_t> bits(BitmapWords(kKeys));
  ExpectRefused(
      runtime, [&] { pipeline.Insert(device, there.span()); }, "on device 0");
  EXPECT_EQ(pipeline.Insert(device, here.span()), kKeys);
  EXPECT_EQ(pipeline.Contains(device, keys, Bitmap(bits)), kKeys);

  const std::vector<char> text = {'a', 'b'};
  const std::vector<int32_t> offsets = {0, 1, 2};
  const Array<char> far_text(runtime, 1, text);
  const Array<int32_t> far_offsets(runtime, 1, offsets);
  for (const StringColumn& column : {StringColumn{far_text.span().data(), offsets},
                                     StringColumn{text.data(), far_offsets.span()}}) {
    ExpectRefused(
        runtime, [&] { pipeline.Contains(device, column, Bitmap(bits)); }, "strings in device");
  }

  // The host writes the answers.
  const Array<uint64_t> far_bits(runtime, 1, std::vector<uint64_t>(BitmapWords(kKeys)));
  ExpectRefused(
      runtime, [&] { pipeline.Contains(device, keys, Bitmap(far_bits.span())); },
      "an output in device memory");
  EXPECT_EQ(pipeline.Contains(device, Keys(keys).Slice(0, 0), Bitmap({})), 0u);
  // Empty strings have no bytes, so no memory is touched.
  const std::vector<int32_t> empty = {0, 0, 0};
  EXPECT_EQ(pipeline.Insert(device, StringColumn{nullptr, empty}), 2u);
  EXPECT_EQ(pipeline.Contains(device, StringColumn{nullptr, empty}, Bitmap(bits)), 2u);
}

// On most systems, a kernel that uses such memory makes CUDA unusable for the process.
TEST(CudaPlaces, FiltersRefuseMemoryOfTheHostThatTheDeviceCannotUse) {
  FakeRuntime runtime;
  runtime.RefusePageable();
  const SplitBlockBloomFilter host({.capacity = kKeys});
  const std::vector<uint64_t> pageable = RandomKeys(kKeys, 1);
  const Array<uint64_t> keys(runtime, 0, pageable), out(runtime, 0, pageable);
  std::vector<uint64_t> words(kKeys);
  std::vector<uint8_t> bytes(kKeys);
  DeviceFilter device(host, {.runtime = &runtime});
  DeviceFilter cuckoo(CuckooFilter<16>({.capacity = 2 * kKeys}).Header(), {.runtime = &runtime});
  const std::string says = "in memory that device 0 cannot use";
  const Keys nowhere = std::span(static_cast<const uint64_t*>(nullptr), kKeys);
  const Array<int32_t> offsets(runtime, 0, {0, 1, 2});
  for (const Keys& refused : {Keys(pageable), nowhere, Keys(StringColumn{"ab", offsets.span()})}) {
    ExpectRefused(
        runtime, [&] { device.Insert(refused); }, says);
    ExpectRefused(
        runtime, [&] { device.Count(refused); }, says);
    ExpectRefused(
        runtime, [&] { cuckoo.Insert(refused); }, says);
    ExpectRefused(
        runtime, [&] { cuckoo.Erase(refused); }, says);
  }
  ExpectRefused(
      runtime, [&] { device.Contains(keys.span(), Bitmap(words)); }, says);
  ExpectRefused(
      runtime, [&] { device.Contains(keys.span(), std::span(bytes)); }, says);
  ExpectRefused(
      runtime, [&] { device.Select(keys.span(), std::span(words)); }, says);
  ExpectRefused(
      runtime, [&] { cuckoo.Insert(keys.span(), words); }, says);
  EXPECT_TRUE(cuckoo.count_is_known());
  EXPECT_EQ(device.Insert(keys.span()), kKeys);
  EXPECT_EQ(device.Select(keys.span(), out.span()), kKeys);

  // Pinned memory can be used, and empty strings have no bytes.
  void* pinned = nullptr;
  ASSERT_TRUE(runtime.AllocatePinned(&pinned, kKeys * sizeof(uint64_t)).ok());
  std::copy(pageable.begin(), pageable.end(), static_cast<uint64_t*>(pinned));
  EXPECT_EQ(device.Count(std::span(static_cast<const uint64_t*>(pinned), kKeys)), kKeys);
  ASSERT_TRUE(runtime.FreePinned(pinned).ok());
  const Array<int32_t> empty(runtime, 0, {0, 0, 0});
  EXPECT_EQ(device.Insert(StringColumn{nullptr, empty.span()}), 2u);
}

// Every call runs on a device that is not current, and leaves the current device unchanged.
TEST(CudaPlaces, CallsRunOnTheDeviceOfTheFilter) {
  FakeRuntime runtime(2);
  const std::vector<uint64_t> values = RandomKeys(kKeys, 1);
  const Array<uint64_t> keys(runtime, 1, values), hashes(runtime, 1, values);
  const Array<char> text(runtime, 1, {'a', 'b'});
  const Array<int32_t> offsets(runtime, 1, {0, 1, 2});
  const StringColumn column{text.span().data(), offsets.span()};
  std::vector<uint64_t> bits(BitmapWords(kKeys)), rows(kKeys);
  std::vector<uint32_t> rows32(kKeys);
  std::vector<uint8_t> bytes(kKeys);
  std::vector<uint64_t> scratch(DeviceFilter::SelectScratchBytes(kKeys) / 8);
  const std::span scratch_bytes = std::as_writable_bytes(std::span(scratch));
  const Array<uint64_t> count(runtime, 1, {0});
  uint64_t* const counted = count.span().data();
  ASSERT_TRUE(runtime.SetDevice(1).ok());
  Stream stream = nullptr;
  ASSERT_TRUE(runtime.CreateStream(&stream).ok());
  ASSERT_TRUE(runtime.SetDevice(0).ok());
  const auto is_current = [&](int device) {
    int current = -1;
    return runtime.CurrentDevice(&current).ok() && current == device;
  };
  {
    const DeviceOptions second{.device = 1, .runtime = &runtime};
    SplitBlockBloomFilter host({.capacity = kKeys});
    DeviceFilter device(host, second);
    DeviceFilter other(host.Header(), second);
    CuckooFilter<16> host_cuckoo({.capacity = 2 * kKeys});
    DeviceFilter cuckoo(host_cuckoo, second);
    HostPipeline pipeline(second, {.chunk_keys = 64, .chunks = 3});
    for (const Stream on : {Stream{nullptr}, stream}) {
      const Status calls[] = {
          device.InsertAsync(keys.span(), on),
          device.ContainsAsync(keys.span(), Bitmap(bits), counted, on),
          device.ContainsAsync(keys.span(), std::span(bytes), counted, on),
          device.CountAsync(keys.span(), counted, on),
          device.SelectAsync(keys.span(), std::span(rows), counted, scratch_bytes, on),
          device.SelectAsync(keys.span(), std::span(rows32), counted, scratch_bytes, on),
          device.MergeAsync(other, on),
          device.HashAsync(column, hashes.span(), on),
          other.ClearAsync(on),
          cuckoo.InsertAsync(keys.span(), Bitmap(bits), counted, {}, on),
          cuckoo.EraseAsync(keys.span(), Bitmap(bits), counted, on),
      };
      for (const Status& status : calls) EXPECT_EQ(status, kSuccess) << (&status - calls);
      EXPECT_TRUE(is_current(0));
      ASSERT_TRUE(runtime.Wait(on).ok());
      EXPECT_EQ(device.Count(keys.span(), on), kKeys);
      EXPECT_EQ(device.Count(column, on), 0u);
      device.Merge(other, on);
      EXPECT_EQ(cuckoo.Insert(keys.span(), on), kKeys);
      EXPECT_EQ(cuckoo.Erase(keys.span(), on), kKeys);
      cuckoo.Clear(on);
      cuckoo.Upload(host_cuckoo, on);
      cuckoo.Download(host_cuckoo, on);
      EXPECT_TRUE(is_current(0));
    }
    EXPECT_EQ(pipeline.Insert(other, values), kKeys);
    EXPECT_EQ(pipeline.Contains(other, keys.span(), Bitmap(bits)), kKeys);
    EXPECT_TRUE(is_current(0));

    // A filter does not merge with a filter of another device, and a pipeline does not accept one.
    DeviceFilter first(host, {.runtime = &runtime});
    EXPECT_EQ(device.MergeAsync(first, stream), kInvalidValue);
    EXPECT_THROW(device.Merge(first), Error);
    EXPECT_THROW(pipeline.Insert(first, values), Error);
  }
  EXPECT_TRUE(is_current(0));
  EXPECT_EQ(runtime.freed_elsewhere(), 0u);
  EXPECT_TRUE(runtime.DestroyStream(stream).ok());
}

TEST(CudaPlaces, ScratchMemoryHasToBeAligned) {
  FakeRuntime runtime;
  const DeviceFilter device(SplitBlockBloomFilter({.capacity = kKeys}), {.runtime = &runtime});
  const std::vector<uint64_t> keys = RandomKeys(65, 1);
  std::vector<uint32_t> rows(65);
  std::vector<uint64_t> rows64(65), scratch(DeviceFilter::SelectScratchBytes(65) / 8 + 1), bits(2);
  const std::span bytes = std::as_writable_bytes(std::span(scratch)).subspan(4);
  EXPECT_EQ(device.SelectAsync(keys, std::span(rows), nullptr, bytes, nullptr), kInvalidValue);
  EXPECT_EQ(device.SelectAsync(keys, std::span(rows64), nullptr, bytes, nullptr), kInvalidValue);
  DeviceFilter cuckoo(CuckooFilter<16>({.capacity = 100}), {.runtime = &runtime});
  std::vector<uint32_t> nodes(DeviceFilter::kInsertScratchBytes / 4 + 1);
  uint64_t failed = 0;
  const std::span node_bytes = std::as_writable_bytes(std::span(nodes));
  for (const size_t offset : {1, 2, 3}) {
    EXPECT_EQ(cuckoo.InsertAsync(keys, Bitmap(bits), &failed, node_bytes.subspan(offset), nullptr),
              kInvalidValue);
  }
  EXPECT_TRUE(cuckoo.count_is_known());
  EXPECT_EQ(cuckoo.InsertAsync(keys, Bitmap(bits), &failed, node_bytes.subspan(4), nullptr),
            kSuccess);
  ASSERT_TRUE(runtime.Wait(Stream{nullptr}).ok());
}

// The spans claim this size, but the memory is small, so no call may access it.
TEST(CudaPlaces, IndicesOf32BitsAreForAsManyKeys) {
  FakeRuntime runtime;
  const DeviceFilter device(SplitBlockBloomFilter({.capacity = kKeys}), {.runtime = &runtime});
  alignas(64) uint64_t word = 0;
  auto* const memory = &word;
  const uint64_t launches = runtime.launches();
  constexpr uint64_t kMost = uint64_t{1} << 32;
  for (const uint64_t n : {kMost - 1, kMost, kMost + 1}) {
    const std::span<const uint64_t> keys(memory, n);
    const std::span<uint32_t> rows(reinterpret_cast<uint32_t*>(memory), n);
    const std::span<std::byte> scratch(reinterpret_cast<std::byte*>(memory),
                                       DeviceFilter::SelectScratchBytes(n));
    EXPECT_EQ(scratch.size(), BitmapWords(n) * 8 + (BitmapWords(n) * 2 + 1023) / 1024 * 8);
    EXPECT_EQ(device.SelectAsync(keys, rows, nullptr, scratch.first(scratch.size() - 1), nullptr),
              kInvalidValue);
    EXPECT_EQ(device.SelectAsync(keys, rows.first(n - 1), nullptr, scratch, nullptr),
              kInvalidValue);
    if (n <= kMost) continue;
    EXPECT_EQ(device.SelectAsync(keys, rows, nullptr, scratch, nullptr), kInvalidValue);
    ExpectRefused(
        runtime, [&] { device.Select(keys, rows); }, "too many for 32-bit indices");
  }
  EXPECT_EQ(runtime.launches(), launches);
  EXPECT_EQ(runtime.num_pending(), 0u);
}

// Work on a stream delivers the keys, and more work inserts them into the filter.
TEST(CudaPlaces, APipelineWaitsForTheStreamItIsGiven) {
  int early = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    for (const bool waits : {false, true}) {
      FakeRuntime runtime(1, seed);
      const SplitBlockBloomFilter host({.capacity = kKeys});
      const std::vector<uint64_t> keys = RandomKeys(kKeys, 1);
      const Array<uint64_t> arrived(runtime, 0, std::vector<uint64_t>(kKeys));
      DeviceFilter device(host, {.runtime = &runtime});
      HostPipeline pipeline({.runtime = &runtime}, {.chunk_keys = 64, .chunks = 3});
      Stream stream = nullptr;
      ASSERT_TRUE(runtime.CreateStream(&stream).ok());
      ASSERT_TRUE(
          runtime.Copy(arrived.span().data(), keys.data(), kKeys * sizeof(uint64_t), stream).ok());
      ASSERT_TRUE(device.InsertAsync(arrived.span(), stream).ok());
      std::vector<uint64_t> bits(BitmapWords(kKeys));
      const HostPipeline::After after = waits ? HostPipeline::After(stream) : HostPipeline::After();
      const size_t found = pipeline.Contains(device, arrived.span(), Bitmap(bits), {}, after);
      if (waits) {
        ASSERT_EQ(found, kKeys) << "order " << seed;
      }
      early += found < kKeys;
      if (waits) {
        // The same for keys that arrive in pinned memory.
        void* pinned = nullptr;
        ASSERT_TRUE(runtime.AllocatePinned(&pinned, kKeys * sizeof(uint64_t)).ok());
        ASSERT_TRUE(runtime.Copy(pinned, keys.data(), kKeys * sizeof(uint64_t), stream).ok());
        const std::span<const uint64_t> there(static_cast<const uint64_t*>(pinned), kKeys);
        ASSERT_EQ(pipeline.Contains(device, there, Bitmap(bits), {}, after), kKeys);
        ASSERT_TRUE(runtime.FreePinned(pinned).ok());
        // The same for an insertion of keys and nulls that arrive in device memory.
        const Array<uint64_t> late(runtime, 0, std::vector<uint64_t>(kKeys));
        const Array<uint8_t> validity(runtime, 0, std::vector<uint8_t>(kKeys / 8 + 1));
        const std::vector<uint8_t> all(kKeys / 8 + 1, 0xFF);
        ASSERT_TRUE(
            runtime.Copy(late.span().data(), keys.data(), kKeys * sizeof(uint64_t), stream).ok());
        ASSERT_TRUE(runtime.Copy(validity.span().data(), all.data(), all.size(), stream).ok());
        DeviceFilter into(host, {.runtime = &runtime});
        ASSERT_EQ(pipeline.Insert(into, Keys(late.span()).WithValidity(validity.span().data()), {},
                                  after),
                  kKeys);
        ASSERT_EQ(into.Count(keys), kKeys);
      }
      ASSERT_TRUE(runtime.DestroyStream(stream).ok());
    }
  }
  EXPECT_GT(early, 0) << "without it some orders are too early, or this test shows nothing";
}

// If the buckets of a key contain only copies of it, the insertion of another copy does not search.
TEST(CudaCuckoo, CopiesThatCannotGoInAreRefusedAtOnce) {
  CuckooFilter<8> host({.capacity = 1000});
  std::vector<std::byte> contents(host.bytes());
  const CuckooRef<8> ref = {reinterpret_cast<uint32_t*>(contents.data()),
                            {static_cast<uint32_t>(host.Header().geometry[0]),
                             static_cast<uint32_t>(host.Header().geometry[1])},
                            tamis::detail::KeyHasher(host.hash())};
  for (uint64_t key = 0; key < 50; ++key) {
    const uint64_t hash = HashU64(key, host.hash());
    int copies = 0;
    while (copies < 8 && ref.InsertHash(hash)) ++copies;
    std::vector<uint32_t> nodes(CuckooRef<8>::kManyNodes, 0xABCDABCD);
    if (copies == 8) {
      EXPECT_FALSE(ref.InsertHash(hash, nodes.data(), CuckooRef<8>::kManyNodes));
      EXPECT_EQ(nodes[0], 0xABCDABCD) << "there was a search";
    }
  }
}

}  // namespace tamis::cuda::places_test
