// A CUDA runtime without a GPU. Device memory is host memory, and kernels run on emulated warps.
//
// Work on a stream runs only when a call must wait for it, and then in random order among the work
// that may run. So results are right only if the caller orders streams and waits as CUDA requires.
#ifndef TAMIS_TESTS_CUDA_FAKE_RUNTIME_H_
#define TAMIS_TESTS_CUDA_FAKE_RUNTIME_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cuda/src/runtime.h"
#include "tests/test_util.h"

namespace tamis::cuda {

class FakeRuntime final : public Runtime {
 public:
  // Local memory that insertions into cuckoo filters take, for all threads of a device.
  static constexpr uint64_t kInsertLocalBytes = uint64_t{256} * 4 * 2048;

  explicit FakeRuntime(int devices = 1, uint64_t seed = 1);
  ~FakeRuntime() override;

  // Removes all devices. DeviceCount then reports the reason `why`.
  void RemoveDevices(std::string why);
  // Sets the amount of device memory, which the device also reports. Initially unlimited.
  void SetMemory(uint64_t bytes);
  // The n-th call from now on fails with this status, where 0 is the next call. A call that fails
  // does nothing. Undoing calls (Free, Destroy, SetDevice back) are counted but do not fail. -1: no
  // call fails.
  void FailCall(int64_t n, Status status);
  // The n-th piece of work that runs from now on, on any stream, fails. As on a GPU, every later
  // call also fails.
  void FailWork(int64_t n, Status status);
  // From now on kernels cannot use pageable memory. By default they can, as on machines that share
  // page tables between host and device.
  void RefusePageable() { uses_pageable_ = false; }
  // From now on no kernel can run on the devices, which then have compute capability 7.0.
  void RemoveImages();
  // While `capturing`, calls that a CUDA graph cannot capture fail. Other calls are added to a
  // graph. Each call of SetCapturing begins a new graph.
  void SetCapturing(bool capturing);
  // This thread captures the stream in the global mode until EndCapture, as if the default stream
  // waited for it. Work on other streams is done during the capture. A call that cannot be captured
  // fails and invalidates the capture, unless the mode of the calling thread allows it. So does any
  // use of the default stream. Only one capture at a time.
  void BeginCapture(Stream stream);
  // Returns whether the capture is still valid. Replay runs the captured work.
  bool EndCapture();
  // Returns the capture mode of the calling thread.
  CaptureMode capture_mode() const;
  // Puts the work of the graph on a stream, in the order of the capture.
  void Replay(Stream stream) const;

  // Whether no failure has occurred after which work cannot continue.
  bool usable() const { return sticky_.ok(); }
  uint64_t calls() const { return calls_; }
  uint64_t launches() const { return launches_; }
  // Local memory that was reserved. It is not part of live_bytes().
  uint64_t reserved_bytes() const { return reserved_bytes_; }
  // Number of bytes that were copied directly from this memory.
  uint64_t copied_from(const void* memory, uint64_t bytes) const;
  // Amount of work on streams that has not run. Does not count events, which touch no memory.
  uint64_t num_pending() const;
  // Number of blocks of memory, streams and events that are not freed.
  uint64_t num_live() const;
  // Number of blocks that were freed while a device other than theirs was current. Work on the
  // default stream of the current device cannot use such blocks.
  uint64_t freed_elsewhere() const { return freed_elsewhere_; }
  uint64_t live_bytes() const { return device_bytes_; }

  int DeviceCount(std::string* why) const override;
  Status Properties(int device, DeviceProperties* properties) const override;
  Status CurrentDevice(int* device) const noexcept override;
  Status SetDevice(int device) const noexcept override;
  Status FreeMemory(uint64_t* bytes) const noexcept override;
  Status Allocate(void** memory, uint64_t bytes, Stream stream) const noexcept override;
  Status Free(void* memory, Stream stream) const noexcept override;
  Status FreeIdle(void* memory) const noexcept override;
  Status AllocatePinned(void** memory, uint64_t bytes) const noexcept override;
  Status FreePinned(void* memory) const noexcept override;
  Status Locate(const void* memory, Location* location) const noexcept override;
  Status UsesPageable(int device, bool* uses) const noexcept override;
  Status Copy(void* to, const void* from, uint64_t bytes, Stream stream) const noexcept override;
  Status Zero(void* memory, uint64_t bytes, Stream stream) const noexcept override;
  Status Launch(const KernelCall& call, Stream stream) const noexcept override;
  Status LocalBytes(const KernelCall& call, uint64_t* bytes) const noexcept override;
  Status Reserve(const KernelCall& call, Stream stream) const noexcept override;
  Status CreateStream(Stream* stream) const noexcept override;
  Status DestroyStream(Stream stream) const noexcept override;
  Status Wait(Stream stream) const noexcept override;
  Status IsCapturing(Stream stream, bool* capturing) const noexcept override;
  Status ExchangeCaptureMode(CaptureMode* mode) const noexcept override;
  Status CreateEvent(Event* event) const noexcept override;
  Status DestroyEvent(Event event) const noexcept override;
  Status Record(Event event, Stream stream) const noexcept override;
  Status StreamWait(Stream stream, Event event) const noexcept override;
  Status Wait(Event event) const noexcept override;

 private:
  struct Work {
    std::function<void()> run;
    Event waits_for = nullptr;  // does not run before the record `number` of this event has
    uint64_t number = 0;
  };
  struct EventState {
    uint64_t recorded = 0;  // records put on streams
    uint64_t reached = 0;   // records that have run
  };
  struct Block {
    uint64_t bytes;
    bool pinned;
    int device;
  };

  // Begins a call. Fails if FailCall chose this call, if earlier work has failed, or if the call
  // cannot be captured.
  Status Begin(bool capturable) const;
  Status BeginWait() const;
  // The same for calls that undo others. These are only counted.
  Status BeginUndoing() const;
  // Whether the thread's mode forbids calls that cannot be captured. If so, the capture becomes
  // invalid.
  bool Forbids() const;
  // Whether work may be put on a stream, or, for a call that waits, whether it may wait for the
  // stream.
  Status UseStream(Stream stream, bool waits = false) const;
  void RemoveBlock(void* memory) const;
  void Put(Stream stream, Work work) const;
  bool CanRun(const Work& work) const;
  // Runs work of random streams until done() is true.
  Status RunUntil(const std::function<bool()>& done) const;
  int Current() const { return current_[std::this_thread::get_id()]; }
  // Whether the current device is the device of the stream and of the filter's memory. Otherwise a
  // launch fails.
  Status RequireDeviceOf(Stream stream, const void* memory) const;
  Status SetAside(uint64_t bytes) const;
  Status NewBlock(void** memory, uint64_t bytes, bool pinned) const;

  mutable std::recursive_mutex mutex_;
  mutable int devices_;
  mutable std::string why_none_;
  mutable std::map<std::thread::id, int> current_;  // device 0 for other threads
  mutable std::map<Stream, int> stream_devices_;
  mutable Random random_;
  mutable uint64_t memory_bytes_ = ~uint64_t{0};
  mutable uint64_t device_bytes_ = 0;
  mutable uint64_t calls_ = 0;
  mutable uint64_t launches_ = 0;
  mutable uint64_t freed_elsewhere_ = 0;
  mutable uint64_t reserved_bytes_ = 0;
  bool has_images_ = true;
  bool uses_pageable_ = true;
  mutable std::vector<std::pair<const char*, uint64_t>> copies_;
  mutable int64_t fail_call_ = -1;
  mutable Status call_status_;
  mutable int64_t fail_work_ = -1;
  mutable Status work_status_;
  mutable Status sticky_;
  mutable bool capturing_ = false;
  mutable std::optional<Stream> captured_;
  mutable std::thread::id capturing_thread_;
  mutable bool spoilt_ = false;
  mutable std::map<std::thread::id, CaptureMode> modes_;  // kGlobal for other threads
  mutable std::deque<Work> graph_;
  mutable std::map<Stream, std::deque<Work>> streams_;
  mutable std::map<Event, EventState> events_;
  mutable std::map<const void*, Block> blocks_;
  mutable uint64_t next_handle_ = 1;
};

}  // namespace tamis::cuda

#endif  // TAMIS_TESTS_CUDA_FAKE_RUNTIME_H_
