// Views and refused keys allocate nothing. This is a separate program, which counts all
// allocations.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/backend.h"
#include "tamis/backends.h"
#include "tamis/filters/bloom_filter.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tamis/filters/scalable_filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/filters/split_block_view.h"
#include "tests/core/scoped_env.h"
#include "tests/test_util.h"

namespace {

std::atomic<size_t> allocations = 0;

void* Allocate(size_t bytes, size_t alignment) {
  ++allocations;
  void* const p = std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace

// All other forms of new and delete call one of these. If they are inlined, g++ 12 takes free for a
// mismatch.
[[gnu::noinline]] void* operator new(size_t bytes) {
  return Allocate(bytes, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(size_t bytes, std::align_val_t alignment) {
  return Allocate(bytes, static_cast<size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, size_t, std::align_val_t) noexcept { std::free(p); }

namespace tamis {
namespace {

// Makes a view, and calls all its functions with many keys.
void UseAView(std::span<std::byte> blocks, const Backend* backend) {
  const size_t n = 10'000;
  const std::vector<uint64_t> u64 = RandomKeys(n, /*seed=*/1);
  const std::vector<uint32_t> u32(u64.begin(), u64.end());
  const std::vector<std::string> strings = RandomStrings(n, /*seed=*/2);
  const std::vector<std::string_view> views(strings.begin(), strings.end());
  std::vector<uint64_t> words(BitmapWords(n)), rows64(n);
  std::vector<uint32_t> rows32(n);
  std::vector<uint8_t> bytes(n);
  uint64_t inserted = 0;

  const size_t before = allocations;
  const SplitBlockView view(blocks, {HashKind::kXxh64, 1}, &inserted, backend);
  view.Insert(u64[0]);
  view.Insert(views[0]);
  view.InsertHash(1);
  double sum = 0;
  for (const Keys keys : {Keys(u64), Keys(u32), Keys(views), Keys(Hashes{u64})}) {
    view.Insert(keys);
    sum += static_cast<double>(view.Contains(keys, Bitmap(words)) + view.Contains(keys, bytes) +
                               view.Select(keys, rows32) + view.Select(keys, rows64) +
                               view.Count(keys));
  }
  sum += view.estimated_count() + view.expected_fpr();
  sum += view.Contains(u64[0]) + view.Contains(views[0]) + view.ContainsHash(1);
  const ConstSplitBlockView copy = view;
  sum += static_cast<double>(copy.blocks().size());
  EXPECT_EQ(allocations, before);
  EXPECT_EQ(inserted, 4 * n + 3);
  EXPECT_GT(sum, static_cast<double>(20 * n));
}

TEST(ViewAllocationsTest, ViewsAndRefusedKeysAllocateNothing) {
  // Larger than the first-level caches, and at an odd place.
  const GuardedArray<uint32_t> words(8 * 50'000, /*slack=*/3);
  const std::span<std::byte> blocks = std::as_writable_bytes(words.span());
  for (const Backend& backend : Backends()) UseAView(blocks, &backend);
  UseAView(blocks, nullptr);
  const ScopedEnv named("TAMIS_BACKEND", "portable");
  UseAView(blocks, nullptr);
}

// A limit that has refused a key is not checked again for the next ones.
template <typename F>
class ScalableAllocationsTest : public testing::Test {};
using Layers = testing::Types<SplitBlockBloomFilter, BloomFilter, CuckooFilter<16>>;
TYPED_TEST_SUITE(ScalableAllocationsTest, Layers);

TYPED_TEST(ScalableAllocationsTest, Insert_AtTheLimit_AllocatesNothing) {
  const std::vector<uint64_t> keys = RandomKeys(100'000, /*seed=*/3);
  ScalableFilter<TypeParam> filter({.initial_capacity = 100, .max_bytes = 20'000});
  // Until the filter is full, then until it is full again.
  for (const bool again : {false, true}) {
    SCOPED_TRACE(again);
    size_t next = 0, refused = 0;
    while (refused == 0) {
      ASSERT_LT(next, keys.size());
      refused += !filter.Insert(keys[next]) && !filter.Contains(keys[next]);
      ++next;
    }
    const size_t layers = filter.layers().size();
    const size_t before = allocations;
    for (size_t i = 0; i < 1000; ++i) {
      const uint64_t key = keys[next++];
      refused += !filter.Insert(key) && !filter.Contains(key);
      refused += !filter.InsertIfAbsent(key) && !filter.Contains(key);
    }
    EXPECT_EQ(allocations, before);
    EXPECT_GT(refused, 1500u);
    EXPECT_EQ(filter.layers().size(), layers);
    filter.Clear();
    ASSERT_EQ(filter.layers().size(), 1u);
  }
}

TEST(ViewAllocationsTest, WouldBeCounted) {
  const size_t before = allocations;
  ::operator delete(::operator new(1));  // compilers may leave out a new-expression
  EXPECT_EQ(std::vector<uint64_t>(100).size(), 100u);
  EXPECT_GT(allocations, before);
}

}  // namespace
}  // namespace tamis
