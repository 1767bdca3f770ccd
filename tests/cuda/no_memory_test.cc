// Device memory does not leak if the host has no memory for an error message.
#include <gtest/gtest.h>

#include <cstddef>
#include <new>
#include <string>

#include "cuda/src/scoped.h"
#include "tamis/error.h"
#include "tests/core/no_memory/failing_new.h"
#include "tests/cuda/fake_runtime.h"

namespace tamis::cuda::no_memory_test {

// Allocates no memory on the host.
class OneBlock final : public MemoryResource {
 public:
  void* Allocate(uint64_t, cudaStream_t) noexcept override {
    if (empty) return nullptr;
    ++live;
    return block_;
  }
  void Free(void*, uint64_t, cudaStream_t) noexcept override { --live; }

  bool empty = false;
  int live = 0;

 private:
  alignas(32) std::byte block_[32];
};

TEST(CudaNoMemory, AllocatedMemoryIsFreed) {
  const FakeRuntime runtime;
  OneBlock resource;
  for (const bool empty : {false, true}) {
    resource.empty = empty;
    failures = 0;
    int at = 0;
    for (bool over = false; !over; ++at) {
      const int failures_before = failures;
      std::string message;
      allocations_left = at;
      try {
        const ScopedMemory memory(runtime, &resource, 32, nullptr);
        allocations_left = -1;
        EXPECT_FALSE(empty);
        EXPECT_NE(memory.as<void>(), nullptr);
      } catch (const std::bad_alloc&) {
      } catch (const Error& error) {
        allocations_left = -1;
        EXPECT_TRUE(empty);
        EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory);
        message = error.what();
        EXPECT_NE(message.find("allocating 32 bytes"), std::string::npos) << message;
      }
      allocations_left = -1;
      EXPECT_EQ(resource.live, 0) << "after allocation " << at << " of the host failed";
      over = failures == failures_before;
    }
    EXPECT_EQ(failures == 0, !empty) << "words are made for errors only";
  }
}

}  // namespace tamis::cuda::no_memory_test
