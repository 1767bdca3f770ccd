// Calls run on threads with small stacks, as musl makes them: 128 KiB.
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "tamis/backends.h"
#include "tamis/changeable.h"
#include "tamis/engine/engine.h"
#include "tests/core/contract.h"

namespace tamis::small_stack_test {

// Runs the function on a thread of its own. Returns how many bytes of its stack were written.
size_t StackBytes(const std::function<void()>& function) {
  constexpr size_t kAlign = 4096;
  constexpr std::byte kUnused{0xA5};
  std::vector<std::byte> memory((size_t{1} << 20) + kAlign, kUnused);
  const size_t skipped = kAlign - reinterpret_cast<uintptr_t>(memory.data()) % kAlign;
  std::byte* const stack = memory.data() + skipped;
  const size_t size = memory.size() - kAlign;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  EXPECT_EQ(pthread_attr_setstack(&attributes, stack, size), 0);
  const auto run = [](void* called) -> void* {
    (*static_cast<const std::function<void()>*>(called))();
    return nullptr;
  };
  pthread_t thread;
  EXPECT_EQ(
      pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&function)), 0);
  EXPECT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&attributes);
  const auto is_used = [](std::byte byte) { return byte != kUnused; };
  return size - static_cast<size_t>(std::find_if(stack, stack + size, is_used) - stack);
}

using SmallStackContractTest = ContractTest;

TEST_P(SmallStackContractTest, EveryCallFits) {
#if !defined(NDEBUG) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "applies to optimized builds without sanitizers";
#endif
  constexpr size_t kKeys = 6000;
  constexpr size_t kMostBytes = size_t{112} << 10;  // the rest is for callers
  const AllLayouts layouts(kKeys, /*seed=*/1);
  std::vector<uint8_t> validity(kKeys / 8 + 1, 0xF7);
  for (const AllLayouts::Set& set : layouts.sets()) {
    for (const bool nulls : {false, true}) {
      SCOPED_TRACE(std::string(set.name) + (nulls ? " with nulls" : ""));
      const Keys keys = nulls ? set.keys.WithValidity(validity.data()) : set.keys;
      std::vector<uint64_t> rows(kKeys), bits(BitmapWords(kKeys)), rejected(BitmapWords(kKeys));
      const AnyFilter filter = Make(kKeys), other = Make(kKeys);
      const auto expect_fits = [&](const char* call, const std::function<void()>& function) {
        const size_t used = StackBytes(function);
        EXPECT_LE(used, kMostBytes) << call;
      };
      expect_fits("Insert", [&] { RequireChangeable(*filter).Insert(keys, rows); });
      expect_fits("InsertIfAbsent", [&] {
        RequireChangeable(*other).InsertIfAbsent(keys, Bitmap(bits), Bitmap(rejected));
      });
      expect_fits("InsertIfAbsent again", [&] {
        RequireChangeable(*other).InsertIfAbsent(keys, Bitmap(bits), Bitmap(rejected));
      });
      expect_fits("Insert again", [&] { RequireChangeable(*filter).Insert(keys, rows); });
      expect_fits("Contains", [&] { filter->Contains(keys, Bitmap(bits)); });
      expect_fits("Select", [&] { filter->Select(keys, std::span(rows)); });
      expect_fits("Count", [&] { filter->Count(keys); });
      for (const bool partitioned : {false, true}) {
        const Engine engine = PinnedEngine(Backends().front(), 1, partitioned);
        expect_fits("Engine::Insert", [&] { engine.Insert(RequireChangeable(*other), keys); });
        expect_fits("Engine::Contains", [&] { engine.Contains(*filter, keys, Bitmap(bits)); });
      }
      if (auto* const erasable = dynamic_cast<ErasableFilter*>(&*filter)) {
        expect_fits("Erase", [&] { erasable->Erase(keys, rows); });
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, SmallStackContractTest, testing::ValuesIn(Subjects()),
                         SubjectName());

}  // namespace tamis::small_stack_test
