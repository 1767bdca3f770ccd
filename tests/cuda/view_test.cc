// A filter in device memory that it does not own.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tamis/cuda/device_filter.h"
#include "tamis/error.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/cuda/fake_runtime.h"
#include "tests/test_util.h"

namespace tamis::cuda::view_test {

constexpr size_t kKeys = 1000;

// Memory of another allocator.
class Buffer {
 public:
  Buffer(const FakeRuntime& runtime, uint64_t bytes, int device = 0, bool pinned = false)
      : runtime_(runtime), bytes_(bytes), pinned_(pinned) {
    EXPECT_TRUE(runtime.SetDevice(device).ok());
    EXPECT_TRUE((pinned ? runtime.AllocatePinned(&memory_, bytes)
                        : runtime.Allocate(&memory_, bytes, nullptr))
                    .ok());
    EXPECT_TRUE(runtime.SetDevice(0).ok());
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    EXPECT_TRUE((pinned_ ? runtime_.FreePinned(memory_) : runtime_.Free(memory_, nullptr)).ok());
  }

  std::span<std::byte> span() const { return {static_cast<std::byte*>(memory_), bytes_}; }

 private:
  const FakeRuntime& runtime_;
  uint64_t bytes_;
  bool pinned_;
  void* memory_ = nullptr;
};

TEST(CudaView, IsAFilterInMemoryThatItDoesNotOwn) {
  FakeRuntime runtime(2);
  const std::vector<uint64_t> keys = RandomKeys(2 * kKeys, 1);
  SplitBlockBloomFilter host({.capacity = 2 * kKeys});
  host.Insert(std::span(keys).first(kKeys));
  // In the middle of a larger block, on a device that is not current.
  const uint64_t offset = 96;
  const Buffer buffer(runtime, host.bytes() + offset + 100, 1);
  const std::vector<std::byte> around(buffer.span().begin(), buffer.span().end());
  const std::span<std::byte> memory = buffer.span().subspan(offset);
  std::memcpy(memory.data(), host.payload().data(), host.bytes());
  const uint64_t live = runtime.num_live();
  {
    DeviceFilter view = DeviceFilter::View(host.Header(), memory, {.runtime = &runtime});
    EXPECT_EQ(view.device(), 1);
    EXPECT_EQ(view.data(), memory.data());
    EXPECT_EQ(view.inserted_count(), kKeys);
    EXPECT_EQ(view.Count(keys), host.Count(keys));
    view.Insert(std::span(keys).subspan(kKeys));
    host.Insert(std::span(keys).subspan(kKeys));
    EXPECT_EQ(std::memcmp(memory.data(), host.payload().data(), host.bytes()), 0);
    EXPECT_EQ(view.ref<SplitBlockRef>().words, static_cast<void*>(memory.data()));
    DeviceFilter moved = std::move(view);
    EXPECT_EQ(moved.Count(keys), keys.size());
    SplitBlockBloomFilter copy = host.Clone();
    copy.Clear();
    moved.Download(copy);
    EXPECT_EQ(copy.Count(keys), keys.size());
    EXPECT_EQ(copy.inserted_count(), keys.size());
    moved.Clear();
    EXPECT_EQ(moved.Count(keys), 0u);
  }
  EXPECT_EQ(runtime.num_live(), live) << "the memory is still its owner's";
  // The memory around it is unchanged.
  EXPECT_EQ(std::memcmp(buffer.span().data(), around.data(), offset), 0);
  EXPECT_EQ(std::memcmp(memory.data() + host.bytes(), around.data() + offset + host.bytes(), 100),
            0);
}

TEST(CudaView, TakesCuckooFilters) {
  FakeRuntime runtime;
  const CuckooFilter<16> host({.capacity = kKeys});
  const std::vector<uint64_t> keys = RandomKeys(kKeys, 1);
  const Buffer buffer(runtime, host.bytes());
  DeviceFilter view = DeviceFilter::View(host.Header(), buffer.span(), {.runtime = &runtime});
  EXPECT_EQ(runtime.reserved_bytes(), FakeRuntime::kInsertLocalBytes);
  view.Clear();
  EXPECT_EQ(view.Insert(keys), kKeys);
  // Another view of the same memory finds the keys.
  const DeviceFilter other =
      DeviceFilter::View(host.Header(), buffer.span(), {.runtime = &runtime});
  EXPECT_EQ(other.Count(keys), kKeys);
  EXPECT_EQ(view.Erase(keys), kKeys);
  EXPECT_EQ(view.inserted_count(), 0u);
}

// A kernel could read words that another thread of it has already written.
TEST(CudaView, PartlyOverlappingViewsAreNotCombined) {
  FakeRuntime runtime;
  SplitBlockBloomFilter host({.capacity = kKeys});
  host.Insert(RandomKeys(kKeys, 1));
  const uint64_t bytes = host.bytes();
  const Buffer buffer(runtime, 2 * bytes);
  const auto view = [&](uint64_t offset) {
    return DeviceFilter::View(host.Header(), buffer.span().subspan(offset), {.runtime = &runtime});
  };
  DeviceFilter first = view(0);
  DeviceFilter same = view(0);
  DeviceFilter beside = view(bytes);
  first.Upload(host);
  beside.Upload(host);
  const std::vector<std::byte> before(buffer.span().begin(), buffer.span().end());
  const uint64_t launches = runtime.launches();
  for (const uint64_t offset : {uint64_t{32}, bytes / 64 * 32, bytes - 32}) {
    DeviceFilter overlapping = view(offset);
    for (const auto& [into, from] : {std::pair(&first, &overlapping), {&overlapping, &first}}) {
      for (const bool merges : {false, true}) {
        try {
          merges ? into->Merge(*from) : into->Intersect(*from);
          ADD_FAILURE() << offset;
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
          EXPECT_NE(std::string(error.what()).find("overlaps in part"), std::string::npos);
        }
        EXPECT_EQ(merges ? into->MergeAsync(*from, nullptr) : into->IntersectAsync(*from, nullptr),
                  kInvalidValue);
      }
    }
  }
  // Combined with itself a filter does not change.
  for (DeviceFilter* const filter : {&first, &same}) {
    filter->Merge(first);
    EXPECT_TRUE(filter->IntersectAsync(first, nullptr).ok());
  }
  EXPECT_TRUE(first.MergeAsync(same, nullptr).ok());
  EXPECT_EQ(first.inserted_count(), host.inserted_count());
  EXPECT_TRUE(first.count_is_known());
  EXPECT_EQ(runtime.launches(), launches);
  EXPECT_EQ(std::memcmp(buffer.span().data(), before.data(), before.size()), 0);
  // Adjacent memory belongs to another filter.
  first.Merge(beside);
  beside.Intersect(first);
  EXPECT_EQ(runtime.launches(), launches + 2);
}

TEST(CudaView, RefusesMemoryThatCannotBeAFilter) {
  FakeRuntime runtime(2);
  const SplitBlockBloomFilter host({.capacity = kKeys});
  const uint64_t bytes = host.bytes();
  const Buffer buffer(runtime, bytes + 32), small(runtime, bytes - 32);
  const Buffer pinned(runtime, bytes, 0, true);
  std::vector<std::byte> pageable(bytes + 32);
  const uint64_t misaligned = reinterpret_cast<uintptr_t>(pageable.data()) % 32;
  const std::span<std::byte> host_memory =
      std::span(pageable).subspan(misaligned == 0 ? 0 : 32 - misaligned, bytes);
  FileHeader odd = host.Header();
  odd.payload_bytes -= 32;
  const FileHeader header = host.Header();
  const struct {
    FileHeader header;
    std::span<std::byte> memory;
    int device;
    std::string says;
  } cases[] = {
      {header, small.span(), -1, "bytes for a filter of"},
      {header, {}, -1, "0 bytes for a filter of"},
      {header, buffer.span().subspan(16), -1, "not aligned to 32"},
      {header, pinned.span(), -1, "not device memory"},
      {header, host_memory, -1, "not device memory"},
      // A wrong size.
      {header, {small.span().data(), bytes}, -1, "not device memory"},
      {header, buffer.span(), 1, "memory on device 0 for a filter on device 1"},
      {header, buffer.span(), 2, "allowed: 0 to 1"},
      {odd, buffer.span(), -1, "not the geometry"},
  };
  const uint64_t live = runtime.num_live();
  for (const auto& refused : cases) {
    try {
      DeviceFilter::View(refused.header, refused.memory,
                         {.device = refused.device, .runtime = &runtime});
      ADD_FAILURE() << refused.says;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_NE(std::string(error.what()).find(refused.says), std::string::npos) << error.what();
    }
  }
  EXPECT_EQ(runtime.launches(), 0u);
  EXPECT_EQ(runtime.num_live(), live);
}

}  // namespace tamis::cuda::view_test
