#include "tamis/cuda/device_filter.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>

#include "core/src/filters/base/filter_access.h"
#include "cuda/src/device_check.h"
#include "cuda/src/device_filter_parts.h"
#include "cuda/src/geometry.h"
#include "cuda/src/kernel_calls.h"
#include "cuda/src/runtime.h"
#include "cuda/src/scoped.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/file/filter_kind_name.h"

namespace tamis::cuda {
namespace {

constexpr uint64_t kAlignment = 32;  // makes a block of a filter one sector of memory
constexpr uint64_t kMax32BitKeys = uint64_t{1} << 32;

// Whether two ranges of `bytes` each overlap, but are not the same. A kernel that combines such
// ranges would read words that another of its threads may have changed.
bool OverlapInPart(const void* a, const void* b, uint64_t bytes) {
  const auto x = reinterpret_cast<uintptr_t>(a);
  const auto y = reinterpret_cast<uintptr_t>(b);
  return x != y && (x < y ? y - x : x - y) < bytes;
}

// Returns the capacity if the filter is full, where the estimate is infinite.
uint64_t EstimatedCount(const Filter& filter) {
  constexpr double kMax = 1e18;  // more than any filter takes before it is full
  const double estimate = filter.estimated_count();
  return estimate < kMax ? static_cast<uint64_t>(std::llround(estimate)) : filter.capacity();
}

}  // namespace

struct DeviceFilter::Outputs {
  uint64_t* bits = nullptr;
  uint8_t* bytes = nullptr;
  uint64_t* count = nullptr;
};

DeviceFilter::DeviceFilter(const FileHeader& header, const DeviceOptions& options, StreamRef stream)
    : header_(header) {
  Allocate(options, stream);
  try {
    Clear(stream);
  } catch (...) {
    DeviceFilter(std::move(*this));  // frees the memory
    throw;
  }
}

DeviceFilter::DeviceFilter(const Filter& host, const DeviceOptions& options, StreamRef stream)
    : header_(host.Header()) {
  Allocate(options, stream);
  try {
    Upload(host, stream);
  } catch (...) {
    DeviceFilter(std::move(*this));
    throw;
  }
}

DeviceFilter::~DeviceFilter() {
  if (data_ == nullptr || is_view_) return;
  const OutsideCaptures outside(*runtime_);
  const ScopedDevice current(*runtime_, device_);
  // Does not use the default stream, because that fails while a stream that the default stream
  // waits for is captured.
  if (memory_ == nullptr) {
    (void)runtime_->FreeIdle(data_);
  } else {
    memory_->Free(data_, bytes(), nullptr);
  }
}

void DeviceFilter::Open(const DeviceOptions& options) {
  RequireGeometry(header_);
  runtime_ = options.runtime != nullptr ? options.runtime : &CudaRuntime();
  memory_ = options.memory;
  const OutsideCaptures outside(*runtime_);
  std::string why;
  const int devices = runtime_->DeviceCount(&why);
  if (devices == 0) throw Error(ErrorCode::kDevice, "CUDA: " + why);
  device_ = options.device;
  if (device_ < 0) runtime_->CurrentDevice(&device_).ThrowIfFailed("asking for the device");
  RequireDevice(device_, devices);
}

void DeviceFilter::Allocate(const DeviceOptions& options, cudaStream_t stream) {
  Open(options);
  const Current current(*this, stream);
  RequireKernels(*runtime_, device_);
  if (options.insertions) ReserveForInsertions(*runtime_, kind(), stream);
  void* const data = AllocateOrThrow(*runtime_, memory_, bytes(), stream, "a filter of ");
  if (reinterpret_cast<uintptr_t>(data) % kAlignment != 0) {
    FreeTo(*runtime_, memory_, data, bytes(), stream);
    throw Error(ErrorCode::kInvalidArgument,
                "the memory resource gave memory that is not aligned to 32 bytes");
  }
  data_ = data;
  ref_ = RefOf(header_, data_);
}

DeviceFilter DeviceFilter::View(const FileHeader& header, std::span<std::byte> memory,
                                const DeviceOptions& options, StreamRef stream) {
  DeviceFilter view;
  view.header_ = header;
  view.is_view_ = true;
  view.Open(options);
  if (memory.size() < view.bytes()) {
    throw Error(ErrorCode::kInvalidArgument,
                tamis::detail::StrCat(memory.size(), " bytes for a filter of ", view.bytes()));
  }
  if (reinterpret_cast<uintptr_t>(memory.data()) % kAlignment != 0) {
    throw Error(ErrorCode::kInvalidArgument, "the memory is not aligned to 32 bytes");
  }
  const OutsideCaptures outside(*view.runtime_);
  Location first;
  view.runtime_->Locate(memory.data(), &first).ThrowIfFailed("asking where memory is");
  if (options.device < 0 && first.device >= 0) view.device_ = first.device;
  for (const std::byte* const byte : {memory.data(), memory.data() + (view.bytes() - 1)}) {
    Location at;
    view.runtime_->Locate(byte, &at).ThrowIfFailed("asking where memory is");
    if (at.place != Place::kDevice) {
      throw Error(ErrorCode::kInvalidArgument, "the memory is not device memory");
    }
    RequireOn(*view.runtime_, view.device_, byte, "memory");
  }
  const Current current(view, stream);
  RequireKernels(*view.runtime_, view.device_);
  if (options.insertions) ReserveForInsertions(*view.runtime_, view.kind(), stream);
  view.data_ = memory.data();
  view.ref_ = RefOf(view.header_, view.data_);
  return view;
}

void DeviceFilter::Swap(DeviceFilter& other) noexcept {
  std::swap(runtime_, other.runtime_);
  std::swap(memory_, other.memory_);
  std::swap(device_, other.device_);
  std::swap(header_, other.header_);
  std::swap(uncounted_, other.uncounted_);
  std::swap(changed_by_others_, other.changed_by_others_);
  std::swap(data_, other.data_);
  std::swap(is_view_, other.is_view_);
  std::swap(ref_, other.ref_);
}

void DeviceFilter::RequireSame(const FileHeader& header) const {
  if (header.kind == header_.kind && header.hash == header_.hash &&
      header.geometry == header_.geometry && header.payload_bytes == header_.payload_bytes) {
    return;
  }
  throw Error(ErrorCode::kIncompatible,
              tamis::detail::StrCat("filters of different kind, hash or size: ",
                                    FilterKindName(kind()), " of ", bytes(), " bytes, and ",
                                    FilterKindName(header.kind), " of ", header.payload_bytes));
}

void DeviceFilter::Upload(const Filter& host, StreamRef stream) {
  const FileHeader header = host.Header();
  RequireSame(header);
  tamis::detail::FilterAccess::RequireIntact(host);
  const Current current(*this, stream);
  uncounted_ = true;  // stays true if the copy fails
  runtime_->Copy(data_, host.payload().data(), bytes(), stream).ThrowIfFailed("uploading");
  runtime_->Wait(stream).ThrowIfFailed("uploading");
  header_ = header;
  uncounted_ = false;
}

void DeviceFilter::Download(Filter& host, StreamRef stream) const {
  RequireSame(host.Header());
  RequireChangeable(kind());
  const std::span<std::byte> into = tamis::detail::FilterAccess::WritablePayload(host);
  const Current current(*this, stream);
  const Status status = runtime_->Copy(into.data(), data_, bytes(), stream);
  // Waits even if the copy failed, because nothing may write to the filter after this function.
  const Status waited = runtime_->Wait(stream);
  status.ThrowIfFailed("downloading");
  waited.ThrowIfFailed("downloading");
  tamis::detail::FilterAccess::SetInserted(
      host, kind() == FilterKind::kSplitBlock && !count_is_known() ? EstimatedCount(host)
                                                                   : CountInserted(header_, into));
  host.set_key_types(header_.key_types);
}

Status DeviceFilter::Probe(const Keys& keys, const Outputs& out,
                           cudaStream_t stream) const noexcept {
  return ForColumn(keys, hash(), [&]<typename Column>(const Column& column) {
    return std::visit(
        [&]<typename Ref>(const Ref& ref) {
          return runtime_->Launch(
              ContainsCall<Ref, Column>{ref, column, reinterpret_cast<uint32_t*>(out.bits),
                                        out.bytes, out.count},
              stream);
        },
        ref_);
  });
}

Status DeviceFilter::ContainsAsync(Keys keys, Bitmap out, uint64_t* count,
                                   StreamRef stream) const noexcept {
  if (out.words().size() < BitmapWords(keys.size()) || !IsForKernels(keys)) return kInvalidValue;
  const ScopedDevice current(*runtime_, device_);
  Status status = current.status();
  if (status.ok() && count != nullptr) status = runtime_->Zero(count, sizeof(*count), stream);
  return status.ok() ? Probe(keys, {.bits = out.words().data(), .count = count}, stream) : status;
}

Status DeviceFilter::ContainsAsync(Keys keys, std::span<uint8_t> out, uint64_t* count,
                                   StreamRef stream) const noexcept {
  if (out.size() < keys.size() || !IsForKernels(keys)) return kInvalidValue;
  const ScopedDevice current(*runtime_, device_);
  Status status = current.status();
  if (status.ok() && count != nullptr) status = runtime_->Zero(count, sizeof(*count), stream);
  return status.ok() ? Probe(keys, {.bytes = out.data(), .count = count}, stream) : status;
}

Status DeviceFilter::CountAsync(Keys keys, uint64_t* count, StreamRef stream) const noexcept {
  if (count == nullptr || !IsForKernels(keys)) return kInvalidValue;
  const ScopedDevice current(*runtime_, device_);
  Status status = current.status();
  if (status.ok()) status = runtime_->Zero(count, sizeof(*count), stream);
  return status.ok() ? Probe(keys, {.count = count}, stream) : status;
}

uint64_t DeviceFilter::SelectScratchBytes(uint64_t n) noexcept {
  return BitmapBytes(n) + sizeof(uint64_t) * WarpsFor(HalfWords(n), kTileWords);
}

template <typename Index>
Status DeviceFilter::SelectAny(const Keys& keys, std::span<Index> out, uint64_t* count,
                               std::span<std::byte> scratch, cudaStream_t stream) const noexcept {
  if (out.size() < keys.size() || scratch.size() < SelectScratchBytes(keys.size()) ||
      reinterpret_cast<uintptr_t>(scratch.data()) % sizeof(uint64_t) != 0 ||
      (sizeof(Index) == 4 && keys.size() > kMax32BitKeys) || !IsForKernels(keys)) {
    return kInvalidValue;
  }
  const ScopedDevice current(*runtime_, device_);
  Status status = current.status();
  if (!status.ok()) return status;
  if (keys.empty()) {
    return count == nullptr ? kSuccess : runtime_->Zero(count, sizeof(*count), stream);
  }
  status = Probe(keys, {.bits = reinterpret_cast<uint64_t*>(scratch.data())}, stream);
  return status.ok() ? ListOnes(keys.size(), out, count, scratch.data(), stream) : status;
}

Status DeviceFilter::SelectAsync(Keys keys, std::span<uint32_t> out, uint64_t* count,
                                 std::span<std::byte> scratch, StreamRef stream) const noexcept {
  return SelectAny(keys, out, count, scratch, stream);
}

Status DeviceFilter::SelectAsync(Keys keys, std::span<uint64_t> out, uint64_t* count,
                                 std::span<std::byte> scratch, StreamRef stream) const noexcept {
  return SelectAny(keys, out, count, scratch, stream);
}

Status DeviceFilter::InsertAsync(Keys keys, StreamRef stream) noexcept {
  std::optional<uint64_t> valid;
  if (keys.validity() == nullptr) valid = keys.size();
  return InsertCounted(keys, valid, stream);
}

Status DeviceFilter::InsertCounted(const Keys& keys, std::optional<uint64_t> valid,
                                   cudaStream_t stream) noexcept {
  const auto* ref = std::get_if<SplitBlockRef>(&ref_);
  if (ref == nullptr || !IsForKernels(keys)) return kInvalidValue;
  if (keys.empty()) return kSuccess;
  const ScopedDevice current(*runtime_, device_);
  Status status = current.status();
  if (!status.ok()) return status;
  bool capturing = false;
  status = runtime_->IsCapturing(stream, &capturing);
  if (!status.ok()) return status;
  status = ForColumn(keys, hash(), [&]<typename Column>(const Column& column) {
    if constexpr (std::is_same_v<Column, MaskedColumn>) {
      return runtime_->Launch(MaskedInsertCall<SplitBlockRef>{*ref, column, nullptr, nullptr},
                              stream);
    } else {
      return runtime_->Launch(InsertCall<SplitBlockRef>{*ref, column}, stream);
    }
  });
  if (!status.ok()) return status;
  if (valid != uint64_t{0}) header_.key_types.Add(keys.key_type());
  changed_by_others_ |= capturing;
  uncounted_ |= !valid.has_value();
  if (!capturing) header_.inserted += valid.value_or(0);
  return status;
}

Status DeviceFilter::CombineAsync(Combination how, const DeviceFilter& other,
                                  cudaStream_t stream) noexcept {
  if (kind() != FilterKind::kSplitBlock || other.kind() != kind() || other.hash() != hash() ||
      other.header_.geometry != header_.geometry || other.device_ != device_ ||
      OverlapInPart(data_, other.data_, bytes())) {
    return kInvalidValue;
  }
  if (data_ == other.data_) {  // the union or intersection with itself
    header_.key_types.Add(other.header_.key_types);
    return kSuccess;
  }
  const ScopedDevice current(*runtime_, device_);
  Status status = current.status();
  bool capturing = false;
  if (status.ok()) status = runtime_->IsCapturing(stream, &capturing);
  if (!status.ok()) return status;
  const auto launch = [&]<Combination kHow>(CombineCall<kHow> call) {
    return runtime_->Launch(call, stream);
  };
  auto* const into = static_cast<uint64_t*>(data_);
  const auto* const from = static_cast<const uint64_t*>(other.data_);
  const uint64_t words = bytes() / sizeof(uint64_t);
  status = how == Combination::kUnion
               ? launch(CombineCall<Combination::kUnion>{into, from, words})
               : launch(CombineCall<Combination::kIntersection>{into, from, words});
  if (!status.ok()) return status;
  header_.key_types.Add(other.header_.key_types);
  changed_by_others_ |= capturing;
  uncounted_ |= !other.count_is_known();
  if (capturing) return status;
  header_.inserted = how == Combination::kUnion
                         ? header_.inserted + other.header_.inserted
                         : std::min(header_.inserted, other.header_.inserted);
  return status;
}

Status DeviceFilter::MergeAsync(const DeviceFilter& other, StreamRef stream) noexcept {
  return CombineAsync(Combination::kUnion, other, stream);
}

Status DeviceFilter::IntersectAsync(const DeviceFilter& other, StreamRef stream) noexcept {
  return CombineAsync(Combination::kIntersection, other, stream);
}

Status DeviceFilter::ClearAsync(StreamRef stream) noexcept {
  const ScopedDevice current(*runtime_, device_);
  Status status = current.status();
  bool capturing = false;
  if (status.ok()) status = runtime_->IsCapturing(stream, &capturing);
  if (status.ok()) status = runtime_->Zero(data_, bytes(), stream);
  if (!status.ok()) return status;
  changed_by_others_ |= capturing;
  // The graph may clear the filter later, or never.
  if (capturing) return status;
  uncounted_ = false;
  header_.inserted = 0;
  header_.key_types = {};
  return status;
}

Status DeviceFilter::HashAsync(Keys keys, std::span<uint64_t> hashes,
                               StreamRef stream) const noexcept {
  if (!IsColumn(keys) || hashes.size() < keys.size()) return kInvalidValue;
  if (keys.empty()) return kSuccess;
  const ScopedDevice current(*runtime_, device_);
  if (!current.status().ok()) return current.status();
  if (keys.layout() == KeyLayout::kColumn) {
    return runtime_->Launch(HashColumnCall<int32_t>{keys.bytes(), keys.data<int32_t>(), keys.size(),
                                                    hash(), hashes.data()},
                            stream);
  }
  return runtime_->Launch(HashColumnCall<int64_t>{keys.bytes(), keys.data<int64_t>(), keys.size(),
                                                  hash(), hashes.data()},
                          stream);
}

size_t DeviceFilter::ProbeAndWait(const Keys& keys, Outputs out, cudaStream_t stream) const {
  const Current current(*this, stream);
  const Scratch counter(*this, sizeof(uint64_t), stream);
  out.count = counter.as<uint64_t>();
  runtime_->Zero(out.count, sizeof(uint64_t), stream).ThrowIfFailed("clearing a count");
  ForEachPiece(keys, stream, [&](const Keys& piece, uint64_t begin) {
    Outputs at = out;
    if (at.bits != nullptr) at.bits += begin / 64;
    if (at.bytes != nullptr) at.bytes += begin;
    Probe(piece, at, stream).ThrowIfFailed("launching a lookup");
  });
  uint64_t found = 0;
  const Status copied = runtime_->Copy(&found, out.count, sizeof(found), stream);
  // Waits even if the copy failed, because nothing may write to `found` after this function.
  const Status waited = runtime_->Wait(stream);
  copied.ThrowIfFailed("copying a count");
  waited.ThrowIfFailed("looking up keys");
  return found;
}

size_t DeviceFilter::Contains(Keys keys, Bitmap out, StreamRef stream) const {
  RequireSize("words", out.words().size(), BitmapWords(keys.size()), keys.size());
  if (!keys.empty()) RequireOn(*runtime_, device_, out.words().data(), "an output");
  return ProbeAndWait(keys, {.bits = out.words().data()}, stream);
}

size_t DeviceFilter::Contains(Keys keys, std::span<uint8_t> out, StreamRef stream) const {
  RequireSize("bytes", out.size(), keys.size(), keys.size());
  if (!keys.empty()) RequireOn(*runtime_, device_, out.data(), "an output");
  return ProbeAndWait(keys, {.bytes = out.data()}, stream);
}

size_t DeviceFilter::Count(Keys keys, StreamRef stream) const {
  return ProbeAndWait(keys, {}, stream);
}

template <typename Index>
size_t DeviceFilter::SelectAndWait(const Keys& keys, std::span<Index> out,
                                   cudaStream_t stream) const {
  RequireSize("elements", out.size(), keys.size(), keys.size());
  if (sizeof(Index) == 4 && keys.size() > kMax32BitKeys) {
    throw Error(
        ErrorCode::kInvalidArgument,
        tamis::detail::StrCat(keys.size(),
                              " keys are too many for 32-bit indices; allowed: ", kMax32BitKeys));
  }
  if (keys.empty()) return 0;
  RequireOn(*runtime_, device_, out.data(), "an output");
  const Current current(*this, stream);
  const Scratch scratch(*this, SelectScratchBytes(keys.size()), stream);
  const size_t found = ProbeAndWait(keys, {.bits = scratch.as<uint64_t>()}, stream);
  ListOnes(keys.size(), out, nullptr, scratch.as<std::byte>(), stream)
      .ThrowIfFailed("listing the hits");
  runtime_->Wait(stream).ThrowIfFailed("listing the hits");
  return found;
}

size_t DeviceFilter::Select(Keys keys, std::span<uint32_t> out, StreamRef stream) const {
  return SelectAndWait(keys, out, stream);
}

size_t DeviceFilter::Select(Keys keys, std::span<uint64_t> out, StreamRef stream) const {
  return SelectAndWait(keys, out, stream);
}

size_t DeviceFilter::Insert(Keys keys, std::span<uint64_t> failed, StreamRef stream) {
  RequireChangeable(kind());
  if (kind() != FilterKind::kSplitBlock || keys.validity() != nullptr) {
    return ChangeAndWait(Change::kInsert, keys, failed, stream);
  }
  if (!failed.empty()) RequireSize("elements", failed.size(), keys.size(), keys.size());
  const Current current(*this, stream);
  KeyTypes types = header_.key_types;
  ForEachPiece(keys, stream, [&](const Keys& piece, uint64_t) {
    InsertAsync(piece, stream).ThrowIfFailed("launching an insertion");
  });
  if (!keys.empty()) types.Add(keys.key_type());  // strings were inserted as hashes
  set_key_types(types);
  runtime_->Wait(stream).ThrowIfFailed("inserting keys");
  return keys.size();
}

void DeviceFilter::CombineAndWait(Combination how, const DeviceFilter& other, cudaStream_t stream) {
  RequireSame(other.header_);
  const std::string done = how == Combination::kUnion ? "merged" : "intersected";
  if (kind() != FilterKind::kSplitBlock) {
    throw Error(ErrorCode::kIncompatible,
                tamis::detail::StrCat(FilterKindName(kind()), " filters cannot be ", done));
  }
  if (other.device_ != device_) {
    throw Error(ErrorCode::kIncompatible,
                tamis::detail::StrCat("filters on devices ", device_, " and ", other.device_,
                                      " cannot be ", done));
  }
  if (OverlapInPart(data_, other.data_, bytes())) {
    throw Error(ErrorCode::kInvalidArgument, "filters in memory that overlaps in part cannot be " +
                                                 done +
                                                 "; allowed: memory of their own, or the same");
  }
  const Current current(*this, stream);
  CombineAsync(how, other, stream).ThrowIfFailed("launching the combination of filters");
  runtime_->Wait(stream).ThrowIfFailed("combining filters");
}

void DeviceFilter::Merge(const DeviceFilter& other, StreamRef stream) {
  CombineAndWait(Combination::kUnion, other, stream);
}

void DeviceFilter::Intersect(const DeviceFilter& other, StreamRef stream) {
  CombineAndWait(Combination::kIntersection, other, stream);
}

void DeviceFilter::Clear(StreamRef stream) {
  const Current current(*this, stream);
  ClearAsync(stream).ThrowIfFailed("clearing a filter");
  runtime_->Wait(stream).ThrowIfFailed("clearing a filter");
}

}  // namespace tamis::cuda
