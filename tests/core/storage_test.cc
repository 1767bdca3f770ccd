// The memory of filters: alignment, zeros, its source, and refusals before memory is allocated.
#include "tamis/detail/storage.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory_resource>
#include <string>
#include <utility>
#include <vector>

#include "tamis/error.h"
#include "tamis/physical_memory.h"
#include "tests/core/file_test_util.h"

namespace tamis::storage_test {

using detail::Storage;

constexpr uint64_t kMiB = uint64_t{1} << 20;

// A resource that counts, and fills the memory that it gives out with junk.
class CountingResource : public std::pmr::memory_resource {
 public:
  uint64_t bytes = 0;      // currently given out
  size_t allocations = 0;  // in total
  size_t alignment = 0;    // of the last request

 private:
  void* do_allocate(size_t n, size_t align) override {
    void* const p = std::pmr::new_delete_resource()->allocate(n, align);
    std::memset(p, 0xAB, n);
    bytes += n;
    alignment = align;
    ++allocations;
    return p;
  }
  void do_deallocate(void* p, size_t n, size_t align) override {
    bytes -= n;
    std::pmr::new_delete_resource()->deallocate(p, n, align);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

bool AllZero(const Storage& storage) {
  return std::all_of(storage.data(), storage.data() + storage.size(),
                     [](std::byte b) { return b == std::byte{0}; });
}

// Returns the flags that the kernel keeps for the mapping of `address`, or "" if it does not report
// them.
std::string VmFlags(const void* address) {
  std::ifstream in("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    unsigned long long begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx ", &begin, &end) == 2) {
      const auto at = reinterpret_cast<uintptr_t>(address);
      inside = begin <= at && at < end;
    } else if (inside && line.rfind("VmFlags:", 0) == 0) {
      return line + " ";
    }
  }
  return "";
}

TEST(StorageTest, IsAlignedZeroedAndWritable) {
  for (const bool huge : {true, false}) {
    for (const uint64_t bytes : {uint64_t{1}, uint64_t{32}, uint64_t{100}, 4 * kMiB - 32, 4 * kMiB,
                                 4 * kMiB + 32, 7 * kMiB + 4096}) {
      SCOPED_TRACE(bytes);
      const Storage storage = Storage::Allocate(bytes, {.huge_pages = huge});
      ASSERT_NE(storage.data(), nullptr);
      EXPECT_EQ(storage.size(), bytes);
      EXPECT_FALSE(storage.read_only());
      const auto address = reinterpret_cast<uintptr_t>(storage.data());
      EXPECT_EQ(address % (bytes >= 4 * kMiB ? 2 * kMiB : 64), 0u);
      EXPECT_TRUE(AllZero(storage));
      std::memset(storage.data(), 0xFF, bytes);
    }
  }
}

TEST(StorageTest, NothingIsHeldForNoBytes) {
  CountingResource resource;
  const Storage storage = Storage::Allocate(0, {.resource = &resource});
  EXPECT_EQ(storage.data(), nullptr);
  EXPECT_EQ(storage.size(), 0u);
  EXPECT_EQ(resource.allocations, 0u);
}

TEST(StorageTest, UsesTheResourceForEverySizeAndFreesIt) {
  CountingResource resource;
  for (const uint64_t bytes : {uint64_t{1}, uint64_t{4096}, 4 * kMiB, 9 * kMiB + 1}) {
    {
      const Storage storage = Storage::Allocate(bytes, {.resource = &resource});
      EXPECT_EQ(resource.bytes, bytes);
      EXPECT_EQ(resource.alignment, 64u);
      EXPECT_TRUE(AllZero(storage));
    }
    EXPECT_EQ(resource.bytes, 0u);
  }
  EXPECT_EQ(resource.allocations, 4u);
}

TEST(StorageTest, MovesWithoutMovingTheBytes) {
  CountingResource resource;
  {
    Storage a = Storage::Allocate(100, {.resource = &resource});
    std::byte* const data = a.data();
    Storage b = std::move(a);
    EXPECT_EQ(b.data(), data);
    EXPECT_EQ(b.size(), 100u);
    ASSERT_EQ(a.size(), detail::kMovedBytes);
    EXPECT_TRUE(
        std::all_of(a.data(), a.data() + a.size(), [](std::byte x) { return x == std::byte(); }));
    EXPECT_TRUE(a.read_only());

    Storage c = Storage::Allocate(200, {.resource = &resource});
    c = std::move(b);
    EXPECT_EQ(c.data(), data);
    EXPECT_EQ(resource.bytes, 100u);  // the earlier memory of c has been freed

    Storage& self = c;
    c = std::move(self);
    EXPECT_EQ(c.data(), data);
  }
  EXPECT_EQ(resource.bytes, 0u);
}

TEST(StorageTest, FromMappingIsReadOnlyAndUnmaps) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* const map = mmap(nullptr, 2 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(map, MAP_FAILED);
  {
    const Storage storage =
        Storage::FromMapping({static_cast<std::byte*>(map), 2 * page}, 128, 1000);
    EXPECT_EQ(storage.data(), static_cast<std::byte*>(map) + 128);
    EXPECT_EQ(storage.size(), 1000u);
    EXPECT_TRUE(storage.read_only());
  }
  EXPECT_NE(msync(map, 2 * page, MS_ASYNC), 0);  // ENOMEM: no longer mapped
}

// Sizes that no machine can have are refused without a request to the system or the resource.
TEST(StorageTest, RefusesMoreThanThereIs) {
  CountingResource resource;
  const uint64_t memory = PhysicalMemory();
  ASSERT_GT(memory, 0u);
  for (const uint64_t bytes :
       {memory + 1, uint64_t{1} << 48, std::numeric_limits<uint64_t>::max()}) {
    for (std::pmr::memory_resource* from : {&resource, static_cast<CountingResource*>(nullptr)}) {
      ExpectError([&] { Storage::Allocate(bytes, {.resource = from}); }, ErrorCode::kOutOfMemory,
                  "cannot allocate " + std::to_string(bytes) +
                      " bytes for a filter: this process may "
                      "use " +
                      std::to_string(memory) + " bytes");
    }
  }
  EXPECT_EQ(resource.allocations, 0u);
}

TEST(StorageTest, AResourceThatHasNoMoreIsAnError) {
  for (const uint64_t bytes : {uint64_t{64}, 5 * kMiB}) {
    ExpectError([&] { Storage::Allocate(bytes, {.resource = std::pmr::null_memory_resource()}); },
                ErrorCode::kOutOfMemory, "the memory resource has none left");
  }
}

#ifdef __linux__
TEST(StorageTest, AsksForHugePagesFrom4MiB) {
  const auto flags = [](uint64_t bytes, const MemoryOptions& options, uint64_t at) {
    const Storage storage = Storage::Allocate(bytes, options);
    return VmFlags(storage.data() + at);
  };
  const std::string huge = flags(8 * kMiB, {}, 0);
  // A kernel without huge pages, or an emulator, never has this flag.
  if (huge.find(" hg ") == std::string::npos) {
    void* const map = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const bool supported =
        madvise(map, 4096, MADV_HUGEPAGE) == 0 && VmFlags(map).find(" hg ") != std::string::npos;
    munmap(map, 4096);
    if (!supported) GTEST_SKIP() << "no huge pages here";
  }
  EXPECT_NE(huge.find(" hg "), std::string::npos) << huge;
  EXPECT_NE(flags(8 * kMiB, {.huge_pages = false}, 0).find(" nh "), std::string::npos);

  // Uses fresh memory for a resource, because memory from malloc may have been advised before.
  for (const bool wanted : {true, false}) {
    void* const map =
        mmap(nullptr, 9 * kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(map, MAP_FAILED);
    std::pmr::monotonic_buffer_resource resource(map, 9 * kMiB, std::pmr::null_memory_resource());
    const std::string got =
        flags(8 * kMiB, {.huge_pages = wanted, .resource = &resource}, 4 * kMiB);
    EXPECT_EQ(got.find(" hg ") != std::string::npos, wanted) << got;
    munmap(map, 9 * kMiB);
  }
}

#if defined(SYS_mbind) && defined(SYS_get_mempolicy)
// Returns the memory policy of an address, or -1 if the system does not return it.
int PolicyAt(const void* address) {
  constexpr unsigned long kOfAddress = 2;  // MPOL_F_ADDR
  int policy = -1;
  syscall(SYS_get_mempolicy, &policy, nullptr, 0UL, address, kOfAddress);
  return policy;
}

TEST(StorageTest, Interleaves_From4MiBOn) {
  constexpr int kInterleave = 3;  // MPOL_INTERLEAVE
  const unsigned long nodes = 1;
  void* const map =
      mmap(nullptr, 9 * kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(map, MAP_FAILED);
  const int before = PolicyAt(map);
  const bool allowed = syscall(SYS_mbind, map, 4096UL, kInterleave, &nodes, 64UL, 0U) == 0 &&
                       PolicyAt(map) == kInterleave;
  for (const bool wanted : {true, false}) {
    for (const bool huge : {true, false}) {
      const Storage storage =
          Storage::Allocate(8 * kMiB, {.huge_pages = huge, .interleave = wanted});
      EXPECT_TRUE(AllZero(storage));  // also if the system refuses
      if (!allowed) continue;
      for (const uint64_t at : {uint64_t{0}, 5 * kMiB, 8 * kMiB - 1}) {
        EXPECT_EQ(PolicyAt(storage.data() + at), wanted ? kInterleave : before) << at;
      }
    }
    std::pmr::monotonic_buffer_resource resource(static_cast<char*>(map) + kMiB, 8 * kMiB,
                                                 std::pmr::null_memory_resource());
    const Storage storage =
        Storage::Allocate(7 * kMiB, {.interleave = !wanted, .resource = &resource});
    if (allowed) {
      EXPECT_EQ(PolicyAt(storage.data() + 4 * kMiB), wanted ? before : kInterleave);
    }
  }
  munmap(map, 9 * kMiB);
  if (!allowed) GTEST_SKIP() << "the system does not let this process set memory policies";
  const Storage small = Storage::Allocate(kMiB, {.interleave = true});
  EXPECT_EQ(PolicyAt(small.data()), before);
}
#endif
#endif

}  // namespace tamis::storage_test
