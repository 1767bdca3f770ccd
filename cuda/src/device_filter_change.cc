// Changes that can fail for some keys: changes of cuckoo filters, and insertions of keys with
// nulls.
#include <algorithm>
#include <string>
#include <type_traits>

#include "cuda/src/device_filter_parts.h"
#include "cuda/src/kernel_calls.h"
#include "cuda/src/runtime.h"
#include "tamis/cuda/device_filter.h"
#include "tamis/error.h"

namespace tamis::cuda {

static_assert(DeviceFilter::kInsertScratchBytes ==
              kRetryWarps * kWarpLanes * CuckooRef<16>::kManyNodes * sizeof(uint32_t));

Status DeviceFilter::Alter(Change change, const Keys& keys, uint64_t* failed, uint64_t* num_failed,
                           uint32_t* nodes, cudaStream_t stream) noexcept {
  constexpr auto kInsert = Change::kInsert;
  constexpr auto kErase = Change::kErase;
  if (change == kInsert && !keys.empty()) header_.key_types.Add(keys.key_type());
  auto* const bits = reinterpret_cast<uint32_t*>(failed);
  const auto launch = [&]<typename Ref, typename Column>(const Ref& ref, const Column& column) {
    if constexpr (requires { ref.EraseHash(0); }) {
      if (change == kErase) {
        return runtime_->Launch(ChangeCall<Ref, kErase, Column>{ref, column, bits, num_failed},
                                stream);
      }
      const Status inserted =
          runtime_->Launch(ChangeCall<Ref, kInsert, Column>{ref, column, bits, num_failed}, stream);
      if (!inserted.ok() || nodes == nullptr) return inserted;
      return runtime_->Launch(RetryCall<Ref, Column>{ref, column, bits, num_failed, nodes}, stream);
    } else if constexpr (std::is_same_v<Ref, SplitBlockRef> &&
                         std::is_same_v<Column, MaskedColumn>) {
      return runtime_->Launch(MaskedInsertCall<Ref>{ref, column, bits, num_failed}, stream);
    } else {
      return kInvalidValue;  // no other changes can fail for a key
    }
  };
  return ForColumn(keys, hash(), [&](const auto& column) {
    return std::visit([&](const auto& ref) { return launch(ref, column); }, ref_);
  });
}

Status DeviceFilter::ChangeAsync(Change change, const Keys& keys, Bitmap failed,
                                 uint64_t* num_failed, uint32_t* nodes,
                                 cudaStream_t stream) noexcept {
  if (failed.words().size() < BitmapWords(keys.size()) || num_failed == nullptr ||
      !KindInfo(kind()).can.erase || !IsForKernels(keys)) {
    return kInvalidValue;
  }
  const ScopedDevice current(*runtime_, device_);
  Status status = current.status();
  bool capturing = false;
  if (status.ok()) status = runtime_->IsCapturing(stream, &capturing);
  if (status.ok()) status = runtime_->Zero(num_failed, sizeof(*num_failed), stream);
  if (!status.ok()) return status;
  uncounted_ |= !keys.empty();
  changed_by_others_ |= capturing;
  return Alter(change, keys, failed.words().data(), num_failed, nodes, stream);
}

Status DeviceFilter::InsertAsync(Keys keys, Bitmap failed, uint64_t* num_failed,
                                 std::span<std::byte> scratch, StreamRef stream) noexcept {
  if (!scratch.empty() && (scratch.size() < kInsertScratchBytes ||
                           reinterpret_cast<uintptr_t>(scratch.data()) % sizeof(uint32_t) != 0)) {
    return kInvalidValue;
  }
  auto* const nodes = reinterpret_cast<uint32_t*>(scratch.data());
  return ChangeAsync(Change::kInsert, keys, failed, num_failed, nodes, stream);
}

Status DeviceFilter::EraseAsync(Keys keys, Bitmap missing, uint64_t* num_missing,
                                StreamRef stream) noexcept {
  return ChangeAsync(Change::kErase, keys, missing, num_missing, nullptr, stream);
}

size_t DeviceFilter::Erase(Keys keys, std::span<uint64_t> missing, StreamRef stream) {
  RequireChangeable(kind());
  if (kind() == FilterKind::kSplitBlock) {
    throw Error(ErrorCode::kUnsupported, "no key can be erased from a split-block filter");
  }
  return ChangeAndWait(Change::kErase, keys, missing, stream);
}

size_t DeviceFilter::ChangeAndWait(Change change, const Keys& keys, std::span<uint64_t> failed,
                                   cudaStream_t stream) {
  if (!failed.empty()) RequireSize("elements", failed.size(), keys.size(), keys.size());
  if (keys.empty()) return 0;
  if (!failed.empty()) RequireOn(*runtime_, device_, failed.data(), "an output");
  const Current current(*this, stream);
  const Scratch scratch(*this, SelectScratchBytes(keys.size()), stream);
  const Scratch counter(*this, sizeof(uint64_t), stream);
  const bool insert = change == Change::kInsert;
  const bool searches = insert && kind() != FilterKind::kSplitBlock;
  const Scratch memory(*this, searches ? kInsertScratchBytes : sizeof(uint32_t), stream);
  auto* const nodes = searches ? memory.as<uint32_t>() : nullptr;
  auto* const num_failed = counter.as<uint64_t>();
  KeyTypes types = header_.key_types;
  const bool was_uncounted = uncounted_;
  runtime_->Zero(num_failed, sizeof(uint64_t), stream).ThrowIfFailed("clearing a count");
  ForEachPiece(keys, stream, [&](const Keys& piece, uint64_t begin) {
    uncounted_ = true;  // stays true if the change fails
    Alter(change, piece, scratch.as<uint64_t>() + begin / 64, num_failed, nodes, stream)
        .ThrowIfFailed("launching a change");
  });
  if (!failed.empty()) {
    ListOnes(keys.size(), failed, num_failed, scratch.as<std::byte>(), stream)
        .ThrowIfFailed("listing the failed keys");
  }
  uint64_t count = 0;
  const Status copied = runtime_->Copy(&count, num_failed, sizeof(count), stream);
  // Waits even if the copy failed, because nothing may write to `count` after this function.
  const Status waited = runtime_->Wait(stream);
  copied.ThrowIfFailed("copying a count");
  waited.ThrowIfFailed("changing a filter");
  const uint64_t done = keys.size() - count;
  if (insert && done != 0) types.Add(keys.key_type());  // strings were inserted as hashes
  set_key_types(types);
  uncounted_ = was_uncounted;
  // Erased keys may not have been counted when they were inserted.
  if (insert) {
    header_.inserted += done;
  } else {
    header_.inserted -= std::min(header_.inserted, done);
  }
  return done;
}

}  // namespace tamis::cuda
