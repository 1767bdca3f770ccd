// A CUDA runtime without a GPU. Device memory is host memory, kernels run on emulated warps.
//
// Work that is put on a stream does not run before somebody has to wait for it, and then, among
// what may run, in random order: so the results are right only if the caller ordered the streams,
// and waited, as it has to.
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
  // Of local memory, for all threads of a device, that insertions into cuckoo filters take.
  static constexpr uint64_t kInsertLocalBytes = uint64_t{256} * 4 * 2048;

  explicit FakeRuntime(int devices = 1, uint64_t seed = 1);
  ~FakeRuntime() override;

  // No device from now on, for this reason.
  void RemoveDevices(std::string why);
  // Device memory that can be had, and that the device says it has; without a limit at first.
  void SetMemory(uint64_t bytes);
  // The n-th call from now on, 0 being the next one, fails with this status: one that fails does
  // nothing. Undoing calls (Free, Destroy, SetDevice back) count, too. -1: none.
  void FailCall(int64_t n, Status status);
  // The n-th piece of work on any stream that runs from now on fails, and with it, as on a GPU,
  // every later call.
  void FailWork(int64_t n, Status status);
  // Kernels cannot use pageable memory. By default they can, as where host and device share their
  // page tables.
  void RefusePageable() { uses_pageable_ = false; }
  // No kernel can run on the devices, which are of compute capability 7.0.
  void RemoveImages();
  // While capturing, calls that a CUDA graph cannot capture fail, and the others are put into a
  // graph, a new one each time that this is called.
  void SetCapturing(bool capturing);
  // This thread captures the stream in the global mode, as if it were one that the default stream
  // waits for, until EndCapture. Work on other streams is done meanwhile; calls that cannot be
  // captured fail and spoil the capture, unless the mode of the calling thread allows them, and so
  // does any use of the default stream. One capture at a time.
  void BeginCapture(Stream stream);
  // Returns whether the capture was not spoilt. What was captured is for Replay.
  bool EndCapture();
  // The mode of the calling thread.
  CaptureMode capture_mode() const;
  // Puts the work of the graph on a stream, in the order in which it was captured.
  void Replay(Stream stream) const;

  // Whether nothing has failed that work cannot go on after.
  bool usable() const { return sticky_.ok(); }
  uint64_t calls() const { return calls_; }
  uint64_t launches() const { return launches_; }
  // Local memory that was reserved, which is none of live_bytes().
  uint64_t reserved_bytes() const { return reserved_bytes_; }
  // Bytes that were copied straight from this memory.
  uint64_t copied_from(const void* memory, uint64_t bytes) const;
  // Work that is on a stream and has not run; without the events, which touch no memory.
  uint64_t num_pending() const;
  // Memory, streams and events that are not given back.
  uint64_t num_live() const;
  // Memory that was freed while another device was the current one, on whose default stream no work
  // that uses it can be.
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

  // Begins a call: it fails if it was told to, if earlier work has failed, or if it cannot be
  // captured.
  Status Begin(bool capturable) const;
  Status BeginWait() const;
  // The same for calls that are always undone, and counted only.
  Status BeginUndoing() const;
  // Whether a thread's mode forbids what cannot be captured; then the capture is spoilt.
  bool Forbids() const;
  // Whether work may be put on a stream, or, for a call that waits, waited for there.
  Status UseStream(Stream stream, bool waits = false) const;
  void RemoveBlock(void* memory) const;
  void Put(Stream stream, Work work) const;
  bool CanRun(const Work& work) const;
  // Runs work of random streams until done() is true.
  Status RunUntil(const std::function<bool()>& done) const;
  int Current() const { return current_[std::this_thread::get_id()]; }
  // Whether the current device is that of a stream, and of a filter's memory: else a launch fails.
  Status RequireDeviceOf(Stream stream, const void* memory) const;
  Status SetAside(uint64_t bytes) const;
  Status NewBlock(void** memory, uint64_t bytes, bool pinned) const;

  mutable std::recursive_mutex mutex_;
  mutable int devices_;
  mutable std::string why_none_;
  mutable std::map<std::thread::id, int> current_;  // device 0, where there is none
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
  mutable std::map<std::thread::id, CaptureMode> modes_;  // kGlobal, where there is none
  mutable std::deque<Work> graph_;
  mutable std::map<Stream, std::deque<Work>> streams_;
  mutable std::map<Event, EventState> events_;
  mutable std::map<const void*, Block> blocks_;
  mutable uint64_t next_handle_ = 1;
};

}  // namespace tamis::cuda

#endif  // TAMIS_TESTS_CUDA_FAKE_RUNTIME_H_
