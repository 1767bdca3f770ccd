// Parts that the sources of DeviceFilter share.
#ifndef TAMIS_CUDA_SRC_DEVICE_FILTER_PARTS_H_
#define TAMIS_CUDA_SRC_DEVICE_FILTER_PARTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>

#include "cuda/src/kernel_calls.h"
#include "cuda/src/runtime.h"
#include "cuda/src/scoped.h"
#include "tamis/cuda/device_filter.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/file/filter_kind_name.h"
#include "tamis/filters/filter_kinds.h"

namespace tamis::cuda {

// Bytes of the bitmap in the scratch memory of Select. The counts of its tiles follow.
inline uint64_t BitmapBytes(uint64_t n) { return sizeof(uint64_t) * BitmapWords(n); }

inline uint64_t HalfWords(uint64_t n) { return 2 * BitmapWords(n); }

inline bool IsColumn(const Keys& keys) {
  return keys.layout() == KeyLayout::kColumn || keys.layout() == KeyLayout::kLargeColumn;
}

// Makes a column without the validity bitmap, which ForColumn adds.
inline Status MakeColumn(const Keys& keys, const HashSpec& spec, KeyColumn* column) {
  switch (keys.layout()) {
    case KeyLayout::kU64:
      *column = {keys.data<uint64_t>(), keys.size(), Width::kU64, tamis::detail::KeyHasher(spec)};
      return kSuccess;
    case KeyLayout::kU32:
      *column = {keys.data<uint32_t>(), keys.size(), Width::kU32, tamis::detail::KeyHasher(spec)};
      return kSuccess;
    case KeyLayout::kI32:
      *column = {keys.data<int32_t>(), keys.size(), Width::kI32, tamis::detail::KeyHasher(spec)};
      return kSuccess;
    case KeyLayout::kHashes:
      *column = {keys.data<uint64_t>(), keys.size(), Width::kU64, tamis::detail::KeyHasher()};
      return kSuccess;
    case KeyLayout::kStringViews:
    case KeyLayout::kStrings:
    case KeyLayout::kColumn:
    case KeyLayout::kLargeColumn:
    case KeyLayout::kFixedColumn:
      break;
  }
  return kInvalidValue;
}

// Calls act(column) with a KeyColumn, or with a MaskedColumn for keys with a validity bitmap. Does
// nothing if there are no keys.
template <typename Act>
Status ForColumn(const Keys& keys, const HashSpec& spec, const Act& act) {
  KeyColumn column;
  const Status status = MakeColumn(keys, spec, &column);
  if (!status.ok() || column.n == 0) return status;
  if (keys.validity() == nullptr) return act(column);
  constexpr uint64_t kByte = 8;
  return act(MaskedColumn{column, keys.validity() + keys.first_bit() / kByte,
                          static_cast<uint32_t>(keys.first_bit() % kByte)});
}

// Whether kernels can take keys of this layout. Checked before anything is put on a stream, because
// refused calls must not touch it.
inline bool IsForKernels(const Keys& keys) {
  KeyColumn column;
  return MakeColumn(keys, {}, &column).ok();
}

// Throws Error(kReadOnly) for a static kind.
inline void RequireChangeable(FilterKind kind) {
  if (!KindInfo(kind).is_static) return;
  throw Error(ErrorCode::kReadOnly,
              tamis::detail::StrCat("a ", FilterKindName(kind),
                                    " filter never changes: build another one of all keys"));
}

inline void RequireSize(const char* what, uint64_t size, uint64_t needed, uint64_t keys) {
  if (size >= needed) return;
  throw Error(ErrorCode::kInvalidArgument,
              tamis::detail::StrCat("the output has ", size, " ", what, ", and ", keys,
                                    " keys need ", needed));
}

inline void RequireDevice(int device, int devices) {
  if (device < devices) return;
  throw Error(
      ErrorCode::kInvalidArgument,
      tamis::detail::StrCat("device ", device, " of the GPUs; allowed: 0 to ", devices - 1));
}

// Throws Error(kInvalidArgument) if kernels of the device cannot use the memory. Such memory is
// memory of another device and, on most systems, host memory that is not pinned. A kernel that
// accessed it would make CUDA unusable for the whole process.
inline void RequireOn(const Runtime& runtime, int device, const void* memory, const char* what) {
  const OutsideCaptures outside(runtime);
  Location at;
  if (memory != nullptr) runtime.Locate(memory, &at).ThrowIfFailed("asking where memory is");
  if (at.place == Place::kPageable) {
    bool uses = false;
    if (memory != nullptr) {
      runtime.UsesPageable(device, &uses).ThrowIfFailed("asking what a device can use");
    }
    if (uses) return;
    throw Error(ErrorCode::kInvalidArgument,
                tamis::detail::StrCat(what, " in memory that device ", device,
                                      " cannot use; allowed: its own, managed and pinned memory"));
  }
  if (at.place != Place::kDevice || at.device < 0 || at.device == device) return;
  throw Error(
      ErrorCode::kInvalidArgument,
      tamis::detail::StrCat(what, " on device ", at.device, " for a filter on device ", device));
}

// Does the same for keys and their validity bitmap. `keys` must not be empty.
inline void RequireKeysOn(const Runtime& runtime, int device, const Keys& keys) {
  RequireOn(runtime, device, keys.data<void>(), "keys");
  if (keys.validity() != nullptr) {
    RequireOn(runtime, device, keys.validity() + keys.first_bit() / 8,
              "the validity bitmap of keys");
  }
}

inline void RequireDeviceForm(const Keys& keys) {
  const KeyLayout form = keys.layout();
  if (form != KeyLayout::kStringViews && form != KeyLayout::kStrings &&
      form != KeyLayout::kFixedColumn) {
    return;
  }
  throw Error(
      ErrorCode::kInvalidArgument,
      "strings and fixed columns in device memory cannot be keys; allowed: integers, hashes, "
      "columns of strings");
}

// Makes the device of the filter current for the scope of a call that waits. If an exception ends
// the scope, waits for the stream, because the caller may then free the arguments.
class DeviceFilter::Current {
 public:
  Current(const DeviceFilter& filter, cudaStream_t stream)
      : runtime_(*filter.runtime_),
        outside_(runtime_),
        device_(runtime_, filter.device_),
        stream_(stream),
        exceptions_(std::uncaught_exceptions()) {
    device_.status().ThrowIfFailed("choosing the device");
    RequireNotCaptured(runtime_, stream);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current() {
    if (std::uncaught_exceptions() > exceptions_) (void)runtime_.Wait(stream_);
  }

 private:
  const Runtime& runtime_;
  const OutsideCaptures outside_;
  const ScopedDevice device_;
  cudaStream_t stream_;
  int exceptions_;
};

class DeviceFilter::Scratch : public ScopedMemory {
 public:
  Scratch(const DeviceFilter& filter, uint64_t bytes, cudaStream_t stream)
      : ScopedMemory(*filter.runtime_, filter.memory_, bytes, stream) {}
};

template <typename Index>
Status DeviceFilter::ListOnes(uint64_t n, std::span<Index> out, uint64_t* count, std::byte* scratch,
                              cudaStream_t stream) const noexcept {
  const auto* bits = reinterpret_cast<const uint32_t*>(scratch);
  auto* const tiles = reinterpret_cast<uint64_t*>(scratch + BitmapBytes(n));
  const uint64_t words = HalfWords(n);
  Status status = runtime_->Launch(CountTilesCall{bits, words, tiles}, stream);
  if (status.ok()) {
    status = runtime_->Launch(ScanTilesCall{tiles, WarpsFor(words, kTileWords), count}, stream);
  }
  if (!status.ok()) return status;
  return runtime_->Launch(ListOnesCall<Index>{bits, words, tiles, out.data()}, stream);
}

template <typename Act>
void DeviceFilter::ForEachPiece(const Keys& keys, cudaStream_t stream, const Act& act) const {
  RequireDeviceForm(keys);
  if (keys.empty()) return;
  RequireKeysOn(*runtime_, device_, keys);
  if (!IsColumn(keys)) {
    act(keys, 0);
    return;
  }
  // The pointer may be nullptr if all strings are empty.
  if (keys.bytes() != nullptr) {
    RequireOn(*runtime_, device_, keys.bytes(), "the bytes of keys");
  }
  const uint64_t piece = std::min<uint64_t>(keys.size(), kMaxScratchKeys);
  const Scratch scratch(*this, sizeof(uint64_t) * piece, stream);
  for (uint64_t begin = 0; begin < keys.size(); begin += piece) {
    const std::span hashes(scratch.as<uint64_t>(), std::min(piece, keys.size() - begin));
    HashAsync(keys.Slice(begin, hashes.size()), hashes, stream).ThrowIfFailed("hashing strings");
    act(Keys(Hashes{hashes}).WithValidity(keys.validity(), keys.first_bit() + begin), begin);
  }
}

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_SRC_DEVICE_FILTER_PARTS_H_
