#include "tests/cuda/fake_runtime.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <utility>
#include <variant>
#include <vector>

#include "cuda/src/kernel_bodies.h"
#include "cuda/src/launch.h"
#include "tests/cuda/emulator.h"

namespace tamis::cuda {
namespace {

constexpr Status kNoKernelImage{209};             // cudaErrorNoKernelImageForDevice
constexpr Status kStreamCaptureUnsupported{900};  // cudaErrorStreamCaptureUnsupported
constexpr Status kStreamCaptureImplicit{906};     // cudaErrorStreamCaptureImplicit
constexpr Status kInvalidDevice{101};             // cudaErrorInvalidDevice
constexpr Status kInvalidHandle{400};             // cudaErrorInvalidResourceHandle
constexpr Status kIllegalAddress{700};            // cudaErrorIllegalAddress
constexpr std::align_val_t kAlignment{256};       // of cudaMalloc

// So few blocks that each warp takes several rounds.
constexpr uint64_t kMostBlocks = 5;

// Local memory of a kernel, for all threads of the device. Only insertions into cuckoo filters use
// it, which the test of the machine code checks.
template <typename Call>
constexpr uint64_t kLocalBytes = 0;
template <int kBits, typename Column>
constexpr uint64_t kLocalBytes<ChangeCall<CuckooRef<kBits>, Change::kInsert, Column>> =
    FakeRuntime::kInsertLocalBytes;

// Returns memory that a kernel touches, which determines the device that it must run on.
template <typename Call>
const void* MemoryOf(const Call& call) {
  if constexpr (requires { call.filter.table; }) {
    return call.filter.table.slots;
  } else if constexpr (requires { call.filter; }) {
    return call.filter.words;
  } else if constexpr (requires { call.into; }) {
    return call.into;
  } else if constexpr (requires { call.hashes; }) {
    return call.hashes;
  } else if constexpr (requires { call.bits; }) {
    return call.bits;
  } else {
    return call.tile_counts;
  }
}

uint64_t LocalBytesOf(const KernelCall& call) {
  return std::visit([]<typename Call>(const Call&) { return kLocalBytes<Call>; }, call);
}

}  // namespace

FakeRuntime::FakeRuntime(int devices, uint64_t seed) : devices_(devices), random_(seed) {
  streams_[nullptr];
}

FakeRuntime::~FakeRuntime() {
  for (const auto& [memory, block] : blocks_)
    ::operator delete(const_cast<void*>(memory), kAlignment);
}

void FakeRuntime::RemoveDevices(std::string why) {
  devices_ = 0;
  why_none_ = std::move(why);
}

void FakeRuntime::SetMemory(uint64_t bytes) { memory_bytes_ = bytes; }

void FakeRuntime::FailCall(int64_t n, Status status) {
  fail_call_ = n;
  call_status_ = status;
}

void FakeRuntime::FailWork(int64_t n, Status status) {
  fail_work_ = n;
  work_status_ = status;
}

void FakeRuntime::RemoveImages() { has_images_ = false; }

void FakeRuntime::SetCapturing(bool capturing) {
  capturing_ = capturing;
  if (capturing) graph_.clear();
}

void FakeRuntime::BeginCapture(Stream stream) {
  const std::lock_guard lock(mutex_);
  captured_ = stream;
  capturing_thread_ = std::this_thread::get_id();
  spoilt_ = false;
  graph_.clear();
}

bool FakeRuntime::EndCapture() {
  const std::lock_guard lock(mutex_);
  captured_.reset();
  return !spoilt_;
}

CaptureMode FakeRuntime::capture_mode() const {
  const std::lock_guard lock(mutex_);
  const auto mode = modes_.find(std::this_thread::get_id());
  return mode == modes_.end() ? CaptureMode::kGlobal : mode->second;
}

void FakeRuntime::Replay(Stream stream) const {
  for (const Work& work : graph_) streams_.at(stream).push_back(work);
}

uint64_t FakeRuntime::num_live() const {
  return blocks_.size() + (streams_.size() - 1) + events_.size();
}

uint64_t FakeRuntime::num_pending() const {
  uint64_t sum = 0;
  for (const auto& [stream, queue] : streams_) {
    sum += static_cast<uint64_t>(std::count_if(
        queue.begin(), queue.end(), [](const Work& work) { return work.waits_for == nullptr; }));
  }
  return sum;
}

uint64_t FakeRuntime::copied_from(const void* memory, uint64_t bytes) const {
  const auto* begin = static_cast<const char*>(memory);
  uint64_t sum = 0;
  for (const auto& [from, size] : copies_) {
    if (from >= begin && from < begin + bytes) sum += size;
  }
  return sum;
}

Status FakeRuntime::Begin(bool capturable) const {
  ++calls_;
  if (fail_call_ >= 0 && fail_call_-- == 0) return call_status_;
  if (!sticky_.ok()) return sticky_;
  return !capturable && (capturing_ || Forbids()) ? kStreamCaptureUnsupported : kSuccess;
}

Status FakeRuntime::BeginUndoing() const {
  ++calls_;
  if (fail_call_ >= 0) --fail_call_;  // does not fail, because then the fake itself would leak
  return Forbids() ? kStreamCaptureUnsupported : kSuccess;
}

bool FakeRuntime::Forbids() const {
  if (!captured_.has_value()) return false;
  const auto found = modes_.find(std::this_thread::get_id());
  const CaptureMode mode = found == modes_.end() ? CaptureMode::kGlobal : found->second;
  const bool forbids =
      mode == CaptureMode::kGlobal ||
      (mode == CaptureMode::kThreadLocal && capturing_thread_ == std::this_thread::get_id());
  spoilt_ |= forbids;
  return forbids;
}

Status FakeRuntime::UseStream(Stream stream, bool waits) const {
  if (!streams_.contains(stream)) return kInvalidHandle;
  if (!captured_.has_value()) return kSuccess;
  if (stream == nullptr) {
    spoilt_ = true;
    return kStreamCaptureImplicit;
  }
  if (!waits || stream != captured_) return kSuccess;
  spoilt_ = true;
  return kStreamCaptureUnsupported;
}

// A wait fails either because work has failed, after which no work runs any more, or because of a
// capture, which leaves work usable.
Status FakeRuntime::BeginWait() const {
  const Status status = Begin(false);
  if (!status.ok() && status.code < kStreamCaptureUnsupported.code) sticky_ = status;
  return status;
}

int FakeRuntime::DeviceCount(std::string* why) const {
  const std::lock_guard lock(mutex_);
  if (devices_ == 0) *why = why_none_;
  return devices_;
}

Status FakeRuntime::Properties(int device, DeviceProperties* properties) const {
  const std::lock_guard lock(mutex_);
  const Status status = Begin(false);
  if (!status.ok()) return status;
  if (device < 0 || device >= devices_) return kInvalidDevice;
  *properties = {
      "emulated GPU",    has_images_ ? 9 : 7, 0, 4, std::min(memory_bytes_, uint64_t{8} << 30),
      uint64_t{32} << 20};
  return kSuccess;
}

Status FakeRuntime::CurrentDevice(int* device) const noexcept {
  const std::lock_guard lock(mutex_);
  const Status status = Begin(true);
  if (status.ok()) *device = Current();
  return status;
}

Status FakeRuntime::SetDevice(int device) const noexcept {
  const std::lock_guard lock(mutex_);
  const Status status = Begin(true);
  if (!status.ok()) return status;
  if (device < 0 || device >= devices_) return kInvalidDevice;
  current_[std::this_thread::get_id()] = device;
  return kSuccess;
}

Status FakeRuntime::FreeMemory(uint64_t* bytes) const noexcept {
  const std::lock_guard lock(mutex_);
  const Status status = Begin(false);
  if (status.ok()) *bytes = memory_bytes_ - device_bytes_ - reserved_bytes_;
  return status;
}

Status FakeRuntime::NewBlock(void** memory, uint64_t bytes, bool pinned) const {
  void* const block = ::operator new(std::max<uint64_t>(bytes, 1), kAlignment, std::nothrow);
  if (block == nullptr) return kMemoryAllocation;
  std::memset(block, 0xA5, bytes);  // new memory must not have useful contents
  blocks_[block] = {bytes, pinned, Current()};
  if (!pinned) device_bytes_ += bytes;
  *memory = block;
  return kSuccess;
}

Status FakeRuntime::Allocate(void** memory, uint64_t bytes, Stream stream) const noexcept {
  const std::lock_guard lock(mutex_);
  Status status = Begin(false);
  if (status.ok()) status = UseStream(stream);
  if (!status.ok()) return status;
  if (bytes > memory_bytes_ - std::min(device_bytes_ + reserved_bytes_, memory_bytes_)) {
    return kMemoryAllocation;
  }
  return NewBlock(memory, bytes, false);
}

void FakeRuntime::RemoveBlock(void* memory) const {
  const Block& block = blocks_.at(memory);
  if (!block.pinned) {
    freed_elsewhere_ += block.device != Current();
    device_bytes_ -= block.bytes;
  }
  blocks_.erase(memory);
  ::operator delete(memory, kAlignment);
}

Status FakeRuntime::Free(void* memory, Stream stream) const noexcept {
  const std::lock_guard lock(mutex_);
  Status status = BeginUndoing();
  if (status.ok()) status = UseStream(stream);
  if (!status.ok()) return status;
  if (!blocks_.contains(memory)) return kInvalidValue;
  // Frees the memory in the order of the stream.
  (void)RunUntil([&] { return streams_[stream].empty(); });
  RemoveBlock(memory);
  return kSuccess;
}

Status FakeRuntime::FreeIdle(void* memory) const noexcept {
  const std::lock_guard lock(mutex_);
  const Status status = BeginUndoing();
  if (!status.ok()) return status;
  if (!blocks_.contains(memory)) return kInvalidValue;
  RemoveBlock(memory);
  return kSuccess;
}

Status FakeRuntime::AllocatePinned(void** memory, uint64_t bytes) const noexcept {
  const std::lock_guard lock(mutex_);
  const Status status = Begin(false);
  return status.ok() ? NewBlock(memory, bytes, true) : status;
}

Status FakeRuntime::FreePinned(void* memory) const noexcept {
  const std::lock_guard lock(mutex_);
  const Status status = BeginUndoing();
  if (!status.ok()) return status;
  if (!blocks_.contains(memory)) return kInvalidValue;
  // cudaFreeHost waits for the device.
  (void)RunUntil([&] {
    return std::all_of(streams_.begin(), streams_.end(),
                       [](const auto& stream) { return stream.second.empty(); });
  });
  RemoveBlock(memory);
  return kSuccess;
}

Status FakeRuntime::Locate(const void* memory, Location* location) const noexcept {
  const std::lock_guard lock(mutex_);
  const Status status = Begin(false);
  if (!status.ok()) return status;
  if (memory == nullptr) return kInvalidValue;  // CUDA does not specify this case
  *location = {};
  auto block = blocks_.upper_bound(memory);
  if (block == blocks_.begin()) return kSuccess;
  --block;
  if (static_cast<const char*>(memory) <
      static_cast<const char*>(block->first) + block->second.bytes) {
    if (block->second.pinned) {
      location->place = Place::kPinned;
    } else {
      *location = {Place::kDevice, block->second.device};
    }
  }
  return kSuccess;
}

Status FakeRuntime::UsesPageable(int, bool* uses) const noexcept {
  const std::lock_guard lock(mutex_);
  const Status status = Begin(false);
  if (status.ok()) *uses = uses_pageable_;
  return status;
}

void FakeRuntime::Put(Stream stream, Work work) const {
  (capturing_ || captured_ == stream ? graph_ : streams_.at(stream)).push_back(std::move(work));
}

bool FakeRuntime::CanRun(const Work& work) const {
  if (work.waits_for == nullptr) return true;
  const auto event = events_.find(work.waits_for);
  return event == events_.end() || event->second.reached >= work.number;
}

Status FakeRuntime::RunUntil(const std::function<bool()>& done) const {
  while (!done()) {
    std::vector<std::deque<Work>*> ready;
    for (auto& [stream, queue] : streams_) {
      if (!queue.empty() && CanRun(queue.front())) ready.push_back(&queue);
    }
    if (ready.empty()) return sticky_.ok() ? kInvalidHandle : sticky_;  // would wait forever
    std::deque<Work>& queue = *ready[random_.Below(ready.size())];
    const Work work = std::move(queue.front());
    queue.pop_front();
    const bool is_event = work.waits_for != nullptr;
    if (!is_event && fail_work_ >= 0 && fail_work_-- == 0) sticky_ = work_status_;
    // Events are reached even so; otherwise nothing could be waited for any more.
    if (work.run && (sticky_.ok() || is_event)) work.run();
  }
  return sticky_;
}

Status FakeRuntime::Copy(void* to, const void* from, uint64_t bytes, Stream stream) const noexcept {
  const std::lock_guard lock(mutex_);
  Status status = Begin(true);
  if (status.ok()) status = UseStream(stream);
  if (!status.ok()) return status;
  copies_.emplace_back(static_cast<const char*>(from), bytes);
  Put(stream, {[=] { std::memcpy(to, from, bytes); }});
  return kSuccess;
}

Status FakeRuntime::Zero(void* memory, uint64_t bytes, Stream stream) const noexcept {
  const std::lock_guard lock(mutex_);
  Status status = Begin(true);
  if (status.ok()) status = UseStream(stream);
  if (!status.ok()) return status;
  const Status placed = RequireDeviceOf(stream, memory);
  if (!placed.ok()) return placed;
  Put(stream, {[=] { std::memset(memory, 0, bytes); }});
  return kSuccess;
}

Status FakeRuntime::RequireDeviceOf(Stream stream, const void* memory) const {
  // The default stream belongs to the current device.
  const auto on = stream_devices_.find(stream);
  if (on != stream_devices_.end() && on->second != Current()) return kInvalidHandle;
  auto block = blocks_.upper_bound(memory);
  if (block == blocks_.begin()) return kSuccess;
  --block;
  const bool within = static_cast<const char*>(memory) <
                      static_cast<const char*>(block->first) + block->second.bytes;
  return within && !block->second.pinned && block->second.device != Current() ? kIllegalAddress
                                                                              : kSuccess;
}

Status FakeRuntime::Launch(const KernelCall& call, Stream stream) const noexcept {
  const std::lock_guard lock(mutex_);
  Status status = Begin(true);
  if (status.ok()) status = UseStream(stream);
  if (!status.ok()) return status;
  if (!has_images_) return kNoKernelImage;
  const Status placed =
      RequireDeviceOf(stream, std::visit([](const auto& c) { return MemoryOf(c); }, call));
  if (!placed.ok()) return placed;
  const Status reserved = SetAside(LocalBytesOf(call));
  if (!reserved.ok()) return reserved;
  ++launches_;
  Put(stream, {[call] {
        std::visit(
            [](const auto& arguments) {
              const auto work = WorkOf(arguments);
              const uint64_t blocks = std::min(GridFor(work, kMostBlocks).blocks, kMostBlocks);
              // Leaves out warps that have nothing to do in a small batch.
              const uint64_t warps = std::min(kBlockWarps * blocks, work.warps);
              WithKernelOf(arguments, [&](const auto& kernel) {
                RunGrid(warps, [&](const EmulatedLane& lane) { RunLane(lane, kernel); });
              });
            },
            call);
      }});
  return kSuccess;
}

Status FakeRuntime::LocalBytes(const KernelCall& call, uint64_t* bytes) const noexcept {
  const std::lock_guard lock(mutex_);
  const Status status = Begin(false);
  if (!status.ok()) return status;
  if (!has_images_) return kNoKernelImage;
  *bytes = LocalBytesOf(call);
  return kSuccess;
}

// Local memory reserved for one kernel also serves the others, and is never freed.
Status FakeRuntime::SetAside(uint64_t bytes) const {
  const uint64_t more = bytes - std::min(bytes, reserved_bytes_);
  if (more > memory_bytes_ - std::min(device_bytes_ + reserved_bytes_, memory_bytes_)) {
    return kMemoryAllocation;
  }
  reserved_bytes_ += more;
  return kSuccess;
}

Status FakeRuntime::Reserve(const KernelCall& call, Stream stream) const noexcept {
  const std::lock_guard lock(mutex_);
  Status status = Begin(false);
  if (status.ok()) status = UseStream(stream);
  if (!status.ok()) return status;
  return has_images_ ? SetAside(LocalBytesOf(call)) : kNoKernelImage;
}

Status FakeRuntime::CreateStream(Stream* stream) const noexcept {
  const std::lock_guard lock(mutex_);
  const Status status = Begin(false);
  if (!status.ok()) return status;
  *stream = reinterpret_cast<Stream>(next_handle_++);
  streams_[*stream];
  stream_devices_[*stream] = Current();
  return kSuccess;
}

Status FakeRuntime::DestroyStream(Stream stream) const noexcept {
  const std::lock_guard lock(mutex_);
  const Status status = BeginUndoing();
  if (!status.ok()) return status;
  if (!streams_.contains(stream)) return kInvalidHandle;
  (void)RunUntil([&] { return streams_[stream].empty(); });
  streams_.erase(stream);
  return kSuccess;
}

Status FakeRuntime::Wait(Stream stream) const noexcept {
  const std::lock_guard lock(mutex_);
  Status status = BeginWait();
  if (status.ok()) status = UseStream(stream, true);
  if (!status.ok()) return status;
  return RunUntil([&] { return streams_[stream].empty(); });
}

Status FakeRuntime::IsCapturing(Stream stream, bool* capturing) const noexcept {
  const std::lock_guard lock(mutex_);
  const Status status = Begin(true);
  if (!status.ok()) return status;
  if (!streams_.contains(stream)) return kInvalidHandle;
  // This error does not invalidate the capture.
  if (captured_.has_value() && stream == nullptr) return kStreamCaptureImplicit;
  *capturing = capturing_ || captured_ == stream;
  return kSuccess;
}

// Affects only the calling thread, and cannot fail.
Status FakeRuntime::ExchangeCaptureMode(CaptureMode* mode) const noexcept {
  const std::lock_guard lock(mutex_);
  std::swap(modes_[std::this_thread::get_id()], *mode);
  return kSuccess;
}

Status FakeRuntime::CreateEvent(Event* event) const noexcept {
  const std::lock_guard lock(mutex_);
  const Status status = Begin(false);
  if (!status.ok()) return status;
  *event = reinterpret_cast<Event>(next_handle_++);
  events_[*event];
  return kSuccess;
}

Status FakeRuntime::DestroyEvent(Event event) const noexcept {
  const std::lock_guard lock(mutex_);
  const Status status = BeginUndoing();
  if (!status.ok()) return status;
  return events_.erase(event) == 1 ? kSuccess : kInvalidHandle;
}

Status FakeRuntime::Record(Event event, Stream stream) const noexcept {
  const std::lock_guard lock(mutex_);
  Status status = Begin(true);
  if (status.ok()) status = UseStream(stream);
  if (!status.ok()) return status;
  if (!events_.contains(event)) return kInvalidHandle;
  const Status placed = RequireDeviceOf(stream, nullptr);
  if (!placed.ok()) return placed;
  const uint64_t number = ++events_[event].recorded;
  // Does not count for FailWork, and is reached even after a failure. So it "waits" for number 0.
  Put(stream, {[this, event, number] {
                 if (events_.contains(event)) events_[event].reached = number;
               },
               event, 0});
  return kSuccess;
}

Status FakeRuntime::StreamWait(Stream stream, Event event) const noexcept {
  const std::lock_guard lock(mutex_);
  Status status = Begin(true);
  if (status.ok()) status = UseStream(stream);
  if (!status.ok()) return status;
  if (!events_.contains(event)) return kInvalidHandle;
  Put(stream, {nullptr, event, events_[event].recorded});
  return kSuccess;
}

Status FakeRuntime::Wait(Event event) const noexcept {
  const std::lock_guard lock(mutex_);
  const Status status = BeginWait();
  if (!status.ok()) return status;
  if (!events_.contains(event)) return kInvalidHandle;
  const uint64_t number = events_[event].recorded;
  return RunUntil([&] { return events_[event].reached >= number; });
}

}  // namespace tamis::cuda
