#include "tests/cuda/emulator.h"

#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "cuda/src/kernel_calls.h"

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace tamis::cuda {
namespace {

constexpr size_t kStackBytes = size_t{128} << 10;

// A thread of execution of its own on this thread of the system. The sanitizers have to be told of
// every switch.
class Fiber {
 public:
  Fiber() {
    getcontext(&context_);
#if defined(__SANITIZE_THREAD__)
    tsan_ = __tsan_create_fiber(0);
#endif
  }
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber() {
#if defined(__SANITIZE_THREAD__)
    __tsan_destroy_fiber(tsan_);
#endif
  }

  // Makes the next Resume() begin `entry`.
  void Start(void (*entry)()) {
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack_.get();
    context_.uc_stack.ss_size = kStackBytes;
    context_.uc_link = nullptr;
    makecontext(&context_, entry, 0);
  }

  // From the thread into the fiber, until it calls Yield().
  void Resume() {
#if defined(__SANITIZE_THREAD__)
    tsan_caller_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(tsan_, 0);
#endif
#if defined(__SANITIZE_ADDRESS__)
    void* fake_stack = nullptr;
    __sanitizer_start_switch_fiber(&fake_stack, stack_.get(), kStackBytes);
#endif
    swapcontext(&caller_, &context_);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
  }

  // The first thing that a started fiber does.
  void Entered() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, &caller_stack_, &caller_stack_bytes_);
#endif
  }

  void Yield() {
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(tsan_caller_, 0);
#endif
#if defined(__SANITIZE_ADDRESS__)
    void* fake_stack = nullptr;
    __sanitizer_start_switch_fiber(&fake_stack, caller_stack_, caller_stack_bytes_);
#endif
    swapcontext(&context_, &caller_);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake_stack, &caller_stack_, &caller_stack_bytes_);
#endif
  }

 private:
  ucontext_t context_{};
  ucontext_t caller_{};
  std::unique_ptr<std::byte[]> stack_{new std::byte[kStackBytes]};
#if defined(__SANITIZE_THREAD__)
  void* tsan_ = nullptr;
  void* tsan_caller_ = nullptr;
#endif
#if defined(__SANITIZE_ADDRESS__)
  const void* caller_stack_ = nullptr;
  size_t caller_stack_bytes_ = 0;
#endif
};

enum class Step : uint8_t { kNone, kBallot, kShuffle, kEnd };

[[noreturn]] void Fail(const char* what) {
  std::fprintf(stderr, "emulated warp: %s\n", what);
  std::abort();
}

}  // namespace

class EmulatedWarp {
 public:
  EmulatedWarp() {
    for (Fiber& fiber : fibers_) fiber.Start(Enter);
  }

  void Run(uint64_t warp, uint64_t num_warps,
           const std::function<void(const EmulatedLane&)>& body) {
    warp_ = warp;
    num_warps_ = num_warps;
    body_ = &body;
    current_ = this;
    do {
      for (lane_ = 0; lane_ < kWarpLanes; ++lane_) fibers_[lane_].Resume();
      for (const Step step : steps_) {
        if (step != steps_[0]) Fail("the lanes have come to different steps");
      }
      arrived_ = values_;
    } while (steps_[0] != Step::kEnd);
  }

  // Called by the lane that runs. Returns what all lanes have brought to this step.
  const std::array<uint32_t, kWarpLanes>& Meet(Step step, uint32_t value) {
    steps_[lane_] = step;
    values_[lane_] = value;
    fibers_[lane_].Yield();
    return arrived_;
  }

 private:
  static void Enter() {
    EmulatedWarp& warp = *current_;
    const uint32_t lane = warp.lane_;
    warp.fibers_[lane].Entered();
    // A fiber is never left and started anew: ThreadSanitizer counts the calls that do not return.
    while (true) {
      (*warp.body_)(EmulatedLane(warp, lane, warp.warp_, warp.num_warps_));
      warp.Meet(Step::kEnd, 0);
    }
  }

  static thread_local EmulatedWarp* current_;

  std::array<Fiber, kWarpLanes> fibers_;
  std::array<Step, kWarpLanes> steps_{};
  std::array<uint32_t, kWarpLanes> values_{};
  std::array<uint32_t, kWarpLanes> arrived_{};
  uint32_t lane_ = 0;
  uint64_t warp_ = 0;
  uint64_t num_warps_ = 0;
  const std::function<void(const EmulatedLane&)>* body_ = nullptr;
};

thread_local EmulatedWarp* EmulatedWarp::current_ = nullptr;

uint32_t EmulatedLane::Ballot(bool flag) const {
  uint32_t bits = 0;
  const auto& flags = warp_->Meet(Step::kBallot, flag);
  for (uint32_t lane = 0; lane < kWarpLanes; ++lane) bits |= flags[lane] << lane;
  return bits;
}

uint32_t EmulatedLane::Shuffle(uint32_t value, uint32_t from) const {
  if (from >= kWarpLanes) Fail("a shuffle from a lane that is not there");
  return warp_->Meet(Step::kShuffle, value)[from];
}

void RunWarp(uint64_t warp, uint64_t num_warps,
             const std::function<void(const EmulatedLane&)>& body) {
  thread_local EmulatedWarp emulated;
  emulated.Run(warp, num_warps, body);
}

}  // namespace tamis::cuda
