#include "tamis/cuda/host_pipeline.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/src/backend/providers.h"
#include "core/src/bulk/valid_keys.h"
#include "core/src/engine/thread_pool.h"
#include "core/src/filters/base/filter_access.h"
#include "cuda/src/device_filter_parts.h"
#include "cuda/src/host_pipeline_parts.h"
#include "cuda/src/runtime.h"
#include "cuda/src/scoped.h"
#include "cuda/src/staging.h"
#include "tamis/detail/kernels.h"
#include "tamis/detail/str_cat.h"
#include "tamis/engine/engine_threads.h"
#include "tamis/error.h"

namespace tamis::cuda {
namespace {

constexpr uint64_t kMaxChunkKeys = uint64_t{1} << 30;
constexpr int kMinChunks = 3;
constexpr int kMaxChunks = 64;
constexpr unsigned kMaxStagingThreads = 16;          // more than any bus needs
constexpr uint64_t kPieceKeys = uint64_t{16} << 10;  // keys that a thread stages at a time

void RequireRange(const char* what, uint64_t value, uint64_t low, uint64_t high) {
  if (value >= low && value <= high) return;
  throw Error(ErrorCode::kInvalidArgument,
              tamis::detail::StrCat(what, " is ", value, "; allowed: ", low, " to ", high));
}

}  // namespace

class HostPipeline::Impl {
 public:
  Impl(const DeviceOptions& device, const PipelineOptions& options);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { Release(); }

  void ForEachBits(const DeviceFilter& filter, const Keys& keys, const Deliver& deliver,
                   After after);
  uint64_t Insert(DeviceFilter& filter, const Keys& keys, const Progress& progress, After after);
  void Upload(DeviceFilter& filter, const Filter& host, After after);
  // Throws Error(kInvalidArgument) if the host cannot write to the output.
  void RequireOnHost(const void* out) const;

 private:
  struct Slot {
    void* staged = nullptr;           // in pinned host memory
    uint64_t* bits = nullptr;         // in pinned host memory
    void* keys = nullptr;             // on the device
    uint64_t* device_bits = nullptr;  // on the device
    Event copied_in = nullptr;
    Event computed = nullptr;
    Event done = nullptr;
    uint64_t begin = 0;
    uint64_t n = 0;  // 0: free
  };

  void Acquire();
  void Release() noexcept;
  // Puts the next chunk on the streams. compute(slot, keys) puts the kernel on compute_. For keys
  // in host memory, the validity bitmap is not part of `keys` there.
  template <typename Compute>
  void Put(Slot& slot, const Keys& keys, const HashSpec& spec, Place place, bool copy_out,
           const Compute& compute);
  void Stage(const Keys& keys, const HashSpec& spec, void* to);
  // Copies bytes on all threads.
  void StageBytes(std::span<const std::byte> from, void* to);
  // Copies the validity bitmap of a slot's keys to the slot's device memory for answers, and
  // returns it.
  const uint8_t* SendValidity(const Slot& slot, const Keys& keys);
  // Runs all chunks through the ring. Calls finish(slot, place) for each chunk that is done, in
  // order.
  template <typename Compute, typename Finish>
  void Run(const DeviceFilter& filter, const Keys& keys, bool copy_out, After after,
           const Compute& compute, const Finish& finish);
  // Inserts keys with nulls in device memory, a chunk at a time. Returns the number of inserted
  // keys.
  uint64_t InsertFromDevice(DeviceFilter& filter, const Keys& keys, const Progress& progress,
                            After after);
  // Throws Error(kInvalidArgument) if the keys cannot be streamed from their memory.
  Place PlaceOf(const Keys& keys) const;
  void RequireOwn(const DeviceFilter& filter) const;
  // Makes later work on the pipeline's streams wait for the work that is on `stream` now.
  void WaitFor(Stream stream);

  const Runtime& runtime_;
  MemoryResource* const memory_;
  int device_ = 0;
  const uint64_t chunk_keys_;
  unsigned threads_;
  Stream in_ = nullptr;
  Stream compute_ = nullptr;
  Stream out_ = nullptr;
  Event before_ = nullptr;
  std::vector<Slot> slots_;
  tamis::detail::ThreadPool pool_;
  std::atomic<bool> taken_ = false;
};

HostPipeline::Impl::Impl(const DeviceOptions& device, const PipelineOptions& options)
    : runtime_(device.runtime != nullptr ? *device.runtime : CudaRuntime()),
      memory_(device.memory),
      chunk_keys_(options.chunk_keys),
      threads_(options.threads) {
  RequireRange("chunk_keys", chunk_keys_, 64, kMaxChunkKeys);
  if (chunk_keys_ % 64 != 0) {
    throw Error(ErrorCode::kInvalidArgument,
                tamis::detail::StrCat("chunk_keys is ", chunk_keys_, "; allowed: multiples of 64"));
  }
  RequireRange("chunks", static_cast<uint64_t>(std::max(options.chunks, 0)), kMinChunks,
               kMaxChunks);
  RequireRange("threads", threads_, 0, kMaxThreads);
  if (threads_ == 0) {
    threads_ = std::clamp(std::thread::hardware_concurrency(), 1u, kMaxStagingThreads);
  }
  const OutsideCaptures outside(runtime_);
  std::string why;
  const int devices = runtime_.DeviceCount(&why);
  if (devices == 0) throw Error(ErrorCode::kDevice, "CUDA: " + why);
  device_ = device.device;
  if (device_ < 0) runtime_.CurrentDevice(&device_).ThrowIfFailed("asking for the device");
  RequireDevice(device_, devices);
  slots_.resize(static_cast<size_t>(options.chunks));
  try {
    Acquire();
  } catch (...) {
    Release();
    throw;
  }
}

void HostPipeline::Impl::Acquire() {
  const ScopedDevice current(runtime_, device_);
  current.status().ThrowIfFailed("choosing the device");
  for (Stream* stream : {&in_, &compute_, &out_}) {
    runtime_.CreateStream(stream).ThrowIfFailed("creating a stream");
  }
  runtime_.CreateEvent(&before_).ThrowIfFailed("creating an event");
  const uint64_t key_bytes = sizeof(uint64_t) * chunk_keys_;
  const uint64_t bit_bytes = sizeof(uint64_t) * BitmapWords(chunk_keys_);
  for (Slot& slot : slots_) {
    for (Event* event : {&slot.copied_in, &slot.computed, &slot.done}) {
      runtime_.CreateEvent(event).ThrowIfFailed("creating an event");
    }
    void* bits = nullptr;
    void* device_bits = nullptr;
    runtime_.AllocatePinned(&slot.staged, key_bytes).ThrowIfFailed("allocating pinned memory");
    runtime_.AllocatePinned(&bits, bit_bytes).ThrowIfFailed("allocating pinned memory");
    slot.bits = static_cast<uint64_t*>(bits);
    AllocateFrom(runtime_, memory_, key_bytes, compute_, &slot.keys)
        .ThrowIfFailed("allocating chunks of keys");
    AllocateFrom(runtime_, memory_, bit_bytes, compute_, &device_bits)
        .ThrowIfFailed("allocating chunks of bits");
    slot.device_bits = static_cast<uint64_t*>(device_bits);
  }
  // The memory was allocated on one stream and is used on all streams.
  runtime_.Wait(compute_).ThrowIfFailed("allocating chunks");
}

void HostPipeline::Impl::Release() noexcept {
  const OutsideCaptures outside(runtime_);
  const ScopedDevice current(runtime_, device_);
  const uint64_t key_bytes = sizeof(uint64_t) * chunk_keys_;
  const uint64_t bit_bytes = sizeof(uint64_t) * BitmapWords(chunk_keys_);
  for (Slot& slot : slots_) {
    FreeTo(runtime_, memory_, slot.device_bits, bit_bytes, compute_);
    FreeTo(runtime_, memory_, slot.keys, key_bytes, compute_);
    if (slot.bits != nullptr) (void)runtime_.FreePinned(slot.bits);
    if (slot.staged != nullptr) (void)runtime_.FreePinned(slot.staged);
    for (Event event : {slot.copied_in, slot.computed, slot.done}) {
      if (event != nullptr) (void)runtime_.DestroyEvent(event);
    }
  }
  if (before_ != nullptr) (void)runtime_.DestroyEvent(before_);
  for (Stream stream : {in_, compute_, out_}) {
    if (stream != nullptr) (void)runtime_.DestroyStream(stream);
  }
}

void HostPipeline::Impl::Stage(const Keys& keys, const HashSpec& spec, void* to) {
  const uint64_t bytes = ElementBytes(keys.layout());
  const uint64_t pieces = (keys.size() + kPieceKeys - 1) / kPieceKeys;
  pool_.ParallelFor(pieces, threads_, [&](size_t piece, unsigned) noexcept {
    const uint64_t begin = kPieceKeys * piece;
    const uint64_t n = std::min(kPieceKeys, keys.size() - begin);
    if (IsStrings(keys.layout())) {
      tamis::detail::ForEachBatchAndNulls(
          *tamis::detail::HostBackends().front().kernels, keys.Slice(begin, n), spec,
          tamis::detail::kBatchKeys, [&](const tamis::detail::Batch& batch, size_t offset) {
            std::copy_n(batch.values, batch.n, static_cast<uint64_t*>(to) + begin + offset);
          });
    } else {
      StageCopy(static_cast<std::byte*>(to) + bytes * begin, keys.data<std::byte>() + bytes * begin,
                bytes * n);
    }
  });
}

void HostPipeline::Impl::StageBytes(std::span<const std::byte> from, void* to) {
  constexpr uint64_t kPieceBytes = sizeof(uint64_t) * kPieceKeys;
  const uint64_t pieces = (from.size() + kPieceBytes - 1) / kPieceBytes;
  pool_.ParallelFor(pieces, threads_, [&](size_t piece, unsigned) noexcept {
    const uint64_t begin = kPieceBytes * piece;
    StageCopy(static_cast<std::byte*>(to) + begin, from.data() + begin,
              std::min(kPieceBytes, from.size() - begin));
  });
}

template <typename Compute>
void HostPipeline::Impl::Put(Slot& slot, const Keys& keys, const HashSpec& spec, Place place,
                             bool copy_out, const Compute& compute) {
  const void* from = keys.data<void>();
  Keys chunk = keys;
  if (place != Place::kDevice) {
    if (place == Place::kPageable) {
      Stage(keys, spec, slot.staged);
      from = slot.staged;
    }
    runtime_.Copy(slot.keys, from, ElementBytes(keys.layout()) * slot.n, in_)
        .ThrowIfFailed("copying keys to the device");
    runtime_.Record(slot.copied_in, in_).ThrowIfFailed("recording an event");
    runtime_.StreamWait(compute_, slot.copied_in).ThrowIfFailed("ordering streams");
    chunk = KeysOf(keys.layout(), slot.keys, slot.n);
  }
  compute(slot, chunk).ThrowIfFailed("launching a kernel");
  if (!copy_out) {
    runtime_.Record(slot.done, compute_).ThrowIfFailed("recording an event");
    return;
  }
  runtime_.Record(slot.computed, compute_).ThrowIfFailed("recording an event");
  runtime_.StreamWait(out_, slot.computed).ThrowIfFailed("ordering streams");
  runtime_.Copy(slot.bits, slot.device_bits, sizeof(uint64_t) * BitmapWords(slot.n), out_)
      .ThrowIfFailed("copying bits to the host");
  runtime_.Record(slot.done, out_).ThrowIfFailed("recording an event");
}

const uint8_t* HostPipeline::Impl::SendValidity(const Slot& slot, const Keys& keys) {
  constexpr uint64_t kWordBits = 64;
  for (uint64_t i = 0; i < slot.n; i += kWordBits) {
    slot.bits[i / kWordBits] =
        tamis::detail::ValidBits(keys, slot.begin + i, std::min(kWordBits, slot.n - i));
  }
  runtime_.Copy(slot.device_bits, slot.bits, sizeof(uint64_t) * BitmapWords(slot.n), compute_)
      .ThrowIfFailed("copying a validity bitmap to the device");
  return reinterpret_cast<const uint8_t*>(slot.device_bits);
}

Place HostPipeline::Impl::PlaceOf(const Keys& keys) const {
  Location at;
  runtime_.Locate(keys.data<void>(), &at).ThrowIfFailed("asking where the keys are");
  if (keys.validity() != nullptr && (at.place != Place::kDevice || IsStrings(keys.layout()))) {
    Location nulls;
    runtime_.Locate(keys.validity() + keys.first_bit() / 8, &nulls)
        .ThrowIfFailed("asking where a validity bitmap is");
    // The host can use managed memory.
    if (nulls.place == Place::kDevice && nulls.device >= 0) {
      throw Error(ErrorCode::kInvalidArgument,
                  "keys in host memory with a validity bitmap in device memory; allowed: both in "
                  "the same");
    }
  }
  if (IsStrings(keys.layout())) {
    // The host hashes strings, and cannot read device memory.
    Location bytes;
    if (keys.bytes() != nullptr) {  // a column with a string that is not empty
      runtime_.Locate(keys.bytes(), &bytes).ThrowIfFailed("asking where the keys are");
    }
    if (at.place == Place::kDevice || bytes.place == Place::kDevice) {
      throw Error(ErrorCode::kInvalidArgument,
                  "strings in device memory cannot be streamed; a DeviceFilter takes columns of "
                  "them");
    }
    return Place::kPageable;
  }
  if (at.place != Place::kDevice) return at.place;
  RequireDeviceForm(keys);
  RequireKeysOn(runtime_, device_, keys);
  return at.place;
}

void HostPipeline::Impl::RequireOwn(const DeviceFilter& filter) const {
  if (filter.device() == device_) return;
  throw Error(ErrorCode::kInvalidArgument,
              tamis::detail::StrCat("a filter on device ", filter.device(),
                                    " for a pipeline of device ", device_));
}

void HostPipeline::Impl::RequireOnHost(const void* out) const {
  const OutsideCaptures outside(runtime_);
  Location at;
  runtime_.Locate(out, &at).ThrowIfFailed("asking where memory is");
  // The host can use managed memory.
  if (at.place != Place::kDevice || at.device < 0) return;
  throw Error(ErrorCode::kInvalidArgument,
              "an output in device memory; allowed: memory of the host, to which a pipeline brings "
              "the answers");
}

void HostPipeline::Impl::WaitFor(Stream stream) {
  RequireNotCaptured(runtime_, stream);
  runtime_.Record(before_, stream).ThrowIfFailed("recording an event");
  // Work on out_ already waits for work on compute_.
  for (Stream later : {in_, compute_}) {
    runtime_.StreamWait(later, before_).ThrowIfFailed("ordering streams");
  }
}

template <typename Compute, typename Finish>
void HostPipeline::Impl::Run(const DeviceFilter& filter, const Keys& keys, bool copy_out,
                             After after, const Compute& compute, const Finish& finish) {
  RequireOwn(filter);
  if (keys.empty()) return;
  const OutsideCaptures outside(runtime_);
  const ScopedDevice current(runtime_, device_);
  current.status().ThrowIfFailed("choosing the device");
  const Place place = PlaceOf(keys);
  const auto complete = [&](Slot& slot) {
    if (slot.n == 0) return;
    runtime_.Wait(slot.done).ThrowIfFailed("streaming keys");
    finish(slot, place);
    slot.n = 0;
  };
  try {
    if (after) WaitFor(*after);
    size_t next = 0;
    for (uint64_t begin = 0; begin < keys.size(); begin += chunk_keys_) {
      Slot& slot = slots_[next++ % slots_.size()];
      complete(slot);
      slot.begin = begin;
      slot.n = std::min(chunk_keys_, keys.size() - begin);
      Put(slot, keys.Slice(begin, slot.n), filter.hash(), place, copy_out, compute);
    }
    for (size_t i = 0; i < slots_.size(); ++i) complete(slots_[next++ % slots_.size()]);
  } catch (...) {
    // Work in flight may still read the keys.
    for (Stream stream : {in_, compute_, out_}) (void)runtime_.Wait(stream);
    for (Slot& slot : slots_) slot.n = 0;
    throw;
  }
}

void HostPipeline::Impl::Upload(DeviceFilter& filter, const Filter& host, After after) {
  const FileHeader header = host.Header();
  filter.RequireSame(header);
  RequireOwn(filter);
  tamis::detail::FilterAccess::RequireIntact(host);
  const Turn turn(taken_);
  const OutsideCaptures outside(runtime_);
  const ScopedDevice current(runtime_, device_);
  current.status().ThrowIfFailed("choosing the device");
  const std::span<const std::byte> payload = host.payload();
  const uint64_t chunk_bytes = sizeof(uint64_t) * chunk_keys_;
  try {
    if (after) WaitFor(*after);
    filter.uncounted_ = true;  // stays true if the upload fails
    size_t next = 0;
    for (uint64_t begin = 0; begin < payload.size(); begin += chunk_bytes) {
      Slot& slot = slots_[next++ % slots_.size()];
      if (slot.n != 0) runtime_.Wait(slot.copied_in).ThrowIfFailed("uploading");
      slot.n = std::min(chunk_bytes, payload.size() - begin);
      StageBytes(payload.subspan(begin, slot.n), slot.staged);
      runtime_.Copy(static_cast<std::byte*>(filter.data_) + begin, slot.staged, slot.n, in_)
          .ThrowIfFailed("uploading");
      runtime_.Record(slot.copied_in, in_).ThrowIfFailed("recording an event");
    }
    runtime_.Wait(in_).ThrowIfFailed("uploading");
  } catch (...) {
    (void)runtime_.Wait(in_);
    for (Slot& slot : slots_) slot.n = 0;
    throw;
  }
  for (Slot& slot : slots_) slot.n = 0;
  filter.header_ = header;
  filter.uncounted_ = false;
}

void HostPipeline::Impl::ForEachBits(const DeviceFilter& filter, const Keys& keys,
                                     const Deliver& deliver, After after) {
  const Turn turn(taken_);
  Run(
      filter, keys, true, after,
      [&](const Slot& slot, const Keys& chunk) {
        const Bitmap out({slot.device_bits, BitmapWords(slot.n)});
        return filter.ContainsAsync(chunk, out, nullptr, compute_);
      },
      [&](const Slot& slot, Place place) {
        if (place != Place::kDevice) {
          tamis::detail::ClearNulls(keys, slot.begin, slot.n, slot.bits);
        }
        deliver(slot.bits, slot.n, slot.begin);
      });
}

uint64_t HostPipeline::Impl::InsertFromDevice(DeviceFilter& filter, const Keys& keys,
                                              const Progress& progress, After after) {
  uint64_t inserted = 0;
  {
    const ScopedDevice current(runtime_, device_);
    current.status().ThrowIfFailed("choosing the device");
    if (after) WaitFor(*after);
  }
  for (uint64_t begin = 0; begin < keys.size(); begin += chunk_keys_) {
    const uint64_t n = std::min(chunk_keys_, keys.size() - begin);
    inserted += filter.Insert(keys.Slice(begin, n), compute_);
    if (progress) progress(begin + n);
  }
  return inserted;
}

uint64_t HostPipeline::Impl::Insert(DeviceFilter& filter, const Keys& keys,
                                    const Progress& progress, After after) {
  RequireChangeable(filter.kind());
  if (filter.kind() != FilterKind::kSplitBlock) {
    throw Error(ErrorCode::kUnsupported,
                "a pipeline cannot report the keys that did not fit in a cuckoo filter; allowed: "
                "split-block filters");
  }
  RequireOwn(filter);
  if (keys.empty()) return 0;
  const Turn turn(taken_);
  const OutsideCaptures outside(runtime_);
  const bool has_nulls = keys.validity() != nullptr;
  if (has_nulls && PlaceOf(keys) == Place::kDevice) {
    return InsertFromDevice(filter, keys, progress, after);
  }
  uint64_t inserted = 0;
  Run(
      filter, keys, false, after,
      [&](const Slot& slot, const Keys& chunk) {
        uint64_t valid = slot.n;
        Keys sent = chunk;
        if (has_nulls) {
          valid = tamis::detail::CountValid(keys, slot.begin, slot.n);
          sent = chunk.WithValidity(SendValidity(slot, keys));
        }
        inserted += valid;
        return filter.InsertCounted(sent, valid, compute_);
      },
      [&](const Slot& slot, Place) {
        if (progress) progress(slot.begin + slot.n);
      });
  return inserted;
}

HostPipeline::HostPipeline(const DeviceOptions& device, const PipelineOptions& options)
    : impl_(std::make_unique<Impl>(device, options)) {}
HostPipeline::HostPipeline(HostPipeline&&) noexcept = default;
HostPipeline& HostPipeline::operator=(HostPipeline&&) noexcept = default;
HostPipeline::~HostPipeline() = default;

void HostPipeline::ForEachBits(const DeviceFilter& filter, Keys keys, const Deliver& deliver,
                               After after) {
  impl_->ForEachBits(filter, keys, deliver, after);
}

size_t HostPipeline::Contains(const DeviceFilter& filter, Keys keys, Bitmap out,
                              const Progress& progress, After after) {
  if (out.words().size() < BitmapWords(keys.size())) {
    throw Error(ErrorCode::kInvalidArgument,
                tamis::detail::StrCat("the output has ", out.words().size(), " words, and ",
                                      keys.size(), " keys need ", BitmapWords(keys.size())));
  }
  if (!keys.empty()) impl_->RequireOnHost(out.words().data());
  const tamis::detail::Kernels& kernels = *tamis::detail::HostBackends().front().kernels;
  size_t found = 0;
  const auto deliver = [&](const uint64_t* bits, size_t n, uint64_t begin) {
    const size_t words = BitmapWords(n);
    std::memcpy(out.words().data() + begin / 64, bits, sizeof(uint64_t) * words);
    found += kernels.popcount(bits, words);
    if (progress) progress(begin + n);
  };
  impl_->ForEachBits(filter, keys, deliver, after);
  return found;
}

void HostPipeline::Upload(DeviceFilter& filter, const Filter& host, After after) {
  impl_->Upload(filter, host, after);
}

size_t HostPipeline::Insert(DeviceFilter& filter, Keys keys, const Progress& progress,
                            After after) {
  KeyTypes types = filter.Header().key_types;
  const uint64_t inserted = impl_->Insert(filter, keys, progress, after);
  if (inserted != 0) types.Add(keys.key_type());  // strings were inserted as hashes
  filter.set_key_types(types);
  return inserted;
}

}  // namespace tamis::cuda
