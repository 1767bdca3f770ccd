// A child of fork while another thread makes the first engine of the process: the child does not
// wait for that thread, wherever it was. This is a separate program, because it stops that thread
// at each allocation in turn, and because the first call happens only once in a process.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <new>
#include <semaphore>
#include <thread>
#include <vector>

#include "tamis/engine/engine.h"
#include "tamis/filters/filter_kinds.h"
#include "tamis/filters/split_block_filter.h"

namespace {

// The allocations of this thread before the one at which it stops; 0: it does not stop.
thread_local int allocations_left = 0;
std::binary_semaphore stopped(0);
std::binary_semaphore goes_on(0);

void* Allocate(size_t bytes, size_t alignment) {
  if (allocations_left > 0 && --allocations_left == 0) {
    stopped.release();
    goes_on.acquire();
  }
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

bool UsesAll() {
  const Engine engine({.threads = 1});
  SplitBlockBloomFilter filter({.capacity = 100});
  const std::vector<uint64_t> keys = {1, 2, 3};
  filter.Insert(keys);
  return engine.Count(filter, keys) == keys.size() && !FilterKinds().empty();
}

// Returns the result of `child` in a child, or 1000 plus the signal that ended it. The child has 10
// seconds.
template <typename Child>
int InChild(const Child& child) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(10);
    _exit(child());
  }
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

constexpr int kNoSuchAllocation = 100;

// In a process that has not used the library: forks a child while a thread stops at its n-th
// allocation, and returns the result of the child.
int ForkAtAllocation(int n) {
  bool ended = false;
  std::thread first([&] {
    allocations_left = n;
    const bool good = UsesAll();
    if (allocations_left == 0) return;
    allocations_left = 0;
    ended = good;
    stopped.release();
  });
  stopped.acquire();
  const int result = ended ? kNoSuchAllocation : InChild([] { return UsesAll() ? 0 : 1; });
  goes_on.release();
  first.join();
  return result;
}

TEST(FirstCallTest, AChildDoesNotWaitForIt) {
  int n = 1;
  for (;; ++n) {
    const int result = InChild([&] { return ForkAtAllocation(n); });
    if (result == kNoSuchAllocation) break;
    ASSERT_EQ(result, 0) << "allocation " << n;
  }
  EXPECT_GT(n, 10);
}

}  // namespace
}  // namespace tamis
