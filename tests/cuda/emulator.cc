#include "tests/cuda/emulator.h"

#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "cuda/src/launch.h"
#include "tamis/cuda/device_memory.cuh"
#include "tests/test_util.h"

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace tamis::cuda {
namespace {

constexpr size_t kStackBytes = size_t{128} << 10;

// A thread of execution on the current system thread. The sanitizers must be informed of every
// switch.
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

  // Makes the next Resume() call `entry`.
  void Start(void (*entry)()) {
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack_.get();
    context_.uc_stack.ss_size = kStackBytes;
    context_.uc_link = nullptr;
    makecontext(&context_, entry, 0);
  }

  // Switches from the thread into the fiber, until the fiber calls Yield().
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

  // Must be the first call of a started fiber.
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

// kRunning: the lane is not at a step.
enum class Step : uint8_t { kRunning, kBallot, kShuffle, kBlockAdd, kEnd };

[[noreturn]] void Fail(const char* what) {
  std::fprintf(stderr, "emulated warp: %s\n", what);
  std::abort();
}

}  // namespace

// The lanes of some warps. Their fibers are reused for the next warps.
class EmulatedLanes {
 public:
  // Runs warps [first, first + count) of a grid, in blocks of kBlockWarps from the first warp on.
  // With a seed the lanes run in random order, otherwise one lane after the other, from step to
  // step.
  void Run(uint64_t first, uint64_t count, uint64_t num_warps, std::optional<uint64_t> seed,
           const LaneBody& body) {
    first_ = first;
    num_warps_ = num_warps;
    body_ = &body;
    current_ = this;
    random_.reset();
    if (seed.has_value()) random_.emplace(*seed);
    Prepare(count);
    const auto before = detail::before_shared_access;
    if (seed.has_value()) detail::before_shared_access = MayYield;
    while (!ready_.empty()) RunSome();
    detail::before_shared_access = before;
    for (const Warp& warp : warps_) {
      if (!warp.ended) Fail("the warps of a block have come to different steps");
    }
  }

  // Called by the running lane. Returns the values that all lanes of its warp brought to this step.
  const std::array<uint32_t, kWarpLanes>& Meet(Step step, uint32_t value, uint64_t* sum = nullptr) {
    const uint32_t lane = running_;
    Warp& warp = warps_[lane / kWarpLanes];
    warp.steps[lane % kWarpLanes] = step;
    warp.values[lane % kWarpLanes] = value;
    warp.sum = sum;
    fibers_[lane]->Yield();
    return warps_[lane / kWarpLanes].arrived;
  }

 private:
  struct Warp {
    std::array<Step, kWarpLanes> steps{};
    std::array<uint32_t, kWarpLanes> values{};
    std::array<uint32_t, kWarpLanes> arrived{};
    uint32_t waiting = 0;
    uint64_t* sum = nullptr;  // output of BlockAdd
    bool at_block_step = false;
    bool ended = false;
  };

  void Prepare(uint64_t count) {
    warps_.assign(count, Warp());
    ready_.clear();
    for (uint32_t lane = 0; lane < kWarpLanes * count; ++lane) {
      if (lane == fibers_.size()) {
        fibers_.push_back(std::make_unique<Fiber>());
        fibers_[lane]->Start(Enter);
      }
      ready_.push_back(lane);
    }
  }

  // Runs one lane, or all lanes that can run, in order.
  void RunSome() {
    if (random_.has_value()) {
      std::swap(ready_[random_->Below(ready_.size())], ready_.back());
      const uint32_t lane = ready_.back();
      ready_.pop_back();
      RunOne(lane);
      return;
    }
    std::vector<uint32_t> lanes;
    lanes.swap(ready_);
    for (const uint32_t lane : lanes) RunOne(lane);
  }

  void RunOne(uint32_t lane) {
    Warp& warp = warps_[lane / kWarpLanes];
    Step& step = warp.steps[lane % kWarpLanes];
    running_ = lane;
    step = Step::kRunning;
    fibers_[lane]->Resume();
    if (step == Step::kRunning) {
      ready_.push_back(lane);  // it only lets others run
    } else if (++warp.waiting == kWarpLanes) {
      AllHaveCome(lane / uint32_t{kWarpLanes});
    }
  }

  void AllHaveCome(uint32_t index) {
    Warp& warp = warps_[index];
    for (const Step step : warp.steps) {
      if (step != warp.steps[0]) Fail("the lanes have come to different steps");
    }
    warp.arrived = warp.values;
    switch (warp.steps[0]) {
      case Step::kEnd:
        warp.ended = true;
        return;
      case Step::kBlockAdd:
        warp.at_block_step = true;
        BlockAdd(index);
        return;
      default:
        GoOn(index);
    }
  }

  void GoOn(uint32_t index) {
    const auto first = static_cast<uint32_t>(kWarpLanes * index);
    warps_[index].waiting = 0;
    for (uint32_t lane = 0; lane < kWarpLanes; ++lane) ready_.push_back(first + lane);
  }

  // Completes the step if the other warps of the block are also there.
  void BlockAdd(uint32_t index) {
    const auto begin = static_cast<uint32_t>(index / kBlockWarps * kBlockWarps);
    const auto end = static_cast<uint32_t>(std::min(begin + kBlockWarps, warps_.size()));
    uint64_t sum = 0;
    for (uint32_t i = begin; i < end; ++i) {
      if (!warps_[i].at_block_step) return;
      for (const uint32_t value : warps_[i].arrived) sum += value;
    }
    if (sum >> 32 != 0) Fail("a block adds more than 32 bits hold");
    running_ = kNone;  // no lane adds the sum
    if (sum != 0) detail::AtomicAdd(warps_[index].sum, sum);
    for (uint32_t i = begin; i < end; ++i) {
      warps_[i].at_block_step = false;
      GoOn(i);
    }
  }

  static void MayYield() {
    EmulatedLanes& lanes = *current_;
    if (lanes.running_ == kNone || lanes.random_->Below(2) == 0) return;
    lanes.fibers_[lanes.running_]->Yield();
  }

  static void Enter() {
    EmulatedLanes& lanes = *current_;
    const uint32_t lane = lanes.running_;
    lanes.fibers_[lane]->Entered();
    // A fiber is never left and restarted, because ThreadSanitizer counts calls that do not return.
    while (true) {
      (*lanes.body_)(EmulatedLane(lanes, lane % kWarpLanes, lanes.first_ + lane / kWarpLanes,
                                  lanes.num_warps_));
      lanes.Meet(Step::kEnd, 0);
    }
  }

  static thread_local EmulatedLanes* current_;
  static constexpr uint32_t kNone = ~uint32_t{0};

  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Warp> warps_;
  std::vector<uint32_t> ready_;
  uint32_t running_ = kNone;
  uint64_t first_ = 0;
  uint64_t num_warps_ = 0;
  std::optional<Random> random_;
  const LaneBody* body_ = nullptr;
};

thread_local EmulatedLanes* EmulatedLanes::current_ = nullptr;

namespace {

EmulatedLanes& LanesOfThisThread() {
  thread_local EmulatedLanes lanes;
  return lanes;
}

}  // namespace

uint32_t EmulatedLane::Ballot(bool flag) const {
  uint32_t bits = 0;
  const auto& flags = lanes_->Meet(Step::kBallot, flag);
  for (uint32_t lane = 0; lane < kWarpLanes; ++lane) bits |= flags[lane] << lane;
  return bits;
}

uint32_t EmulatedLane::Shuffle(uint32_t value, uint32_t from) const {
  if (from >= kWarpLanes) Fail("a shuffle from a lane that is not there");
  return lanes_->Meet(Step::kShuffle, value)[from];
}

void EmulatedLane::BlockAdd(uint64_t* sum, uint32_t value) const {
  lanes_->Meet(Step::kBlockAdd, value, sum);
}

void RunWarp(uint64_t warp, uint64_t num_warps, const LaneBody& body) {
  LanesOfThisThread().Run(warp, 1, num_warps, std::nullopt, body);
}

void RunGrid(uint64_t num_warps, const LaneBody& body) {
  for (uint64_t warp = 0; warp < num_warps; warp += kBlockWarps) {
    LanesOfThisThread().Run(warp, std::min(kBlockWarps, num_warps - warp), num_warps, std::nullopt,
                            body);
  }
}

void RunGridShuffled(uint64_t num_warps, uint64_t seed, const LaneBody& body) {
  LanesOfThisThread().Run(0, num_warps, num_warps, seed, body);
}

}  // namespace tamis::cuda
