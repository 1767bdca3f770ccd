// A filter in the memory of a GPU.
#ifndef TAMIS_CUDA_DEVICE_FILTER_H_
#define TAMIS_CUDA_DEVICE_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "tamis/cuda/cuckoo_ref.cuh"
#include "tamis/cuda/filter_ref.cuh"
#include "tamis/cuda/fuse_ref.cuh"
#include "tamis/cuda/memory_resource.h"
#include "tamis/cuda/status.h"
#include "tamis/cuda/stream.h"
#include "tamis/detail/change.h"
#include "tamis/file/file.h"
#include "tamis/filters/filter.h"
#include "tamis/keys.h"

namespace tamis::cuda {

class HostPipeline;
class Runtime;
enum class Combination : uint8_t;

namespace detail {

// A view of a filter of any kind that has kernels.
using AnyRef = std::variant<SplitBlockRef, CuckooRef<8>, CuckooRef<12>, CuckooRef<16>, FuseRef<8>,
                            FuseRef<12>, FuseRef<16>, FuseRef<32>>;

}  // namespace detail

// Options of a DeviceFilter: the device, and where its memory comes from.
struct DeviceOptions {
  int device = -1;                   // -1: the current device
  MemoryResource* memory = nullptr;  // nullptr: cudaMallocAsync, if the device supports it
  const Runtime* runtime = nullptr;  // set by tests of the library; nullptr: the CUDA runtime
  // Whether keys will be inserted. An insertion into a cuckoo filter needs 256 bytes of local
  // memory for each thread that the device can run: 66 MiB on an H100. If true, the first cuckoo
  // filter reserves that memory, for all filters and until the process ends. If false, the first
  // insertion reserves it, and fails if it is not available.
  bool insertions = true;
};

// Owns a split-block, cuckoo or fuse filter in device memory, or is a view of such a filter.
// Move-only. The bits are equal to the bits of the same filter on the host.
//
// A fuse filter is built on the host. On the device it can be queried, cleared, and replaced by
// Upload. Insert, Erase and Download throw Error(kReadOnly), and the Async forms of Insert and
// Erase return kInvalidValue.
//
// Keys and outputs are in device memory: Keys, Bitmap and std::span hold device pointers here. The
// validity bitmap of keys (Keys::WithValidity, at any address and first bit) is in device memory as
// well. A null is never in the filter, and is neither inserted nor erased. So a validity bitmap can
// also select the keys of a call (a mask, or stencil).
//
// All work runs on a stream, in the order of the calls. Calls whose names end in Async return at
// once. Such calls do not allocate, wait or throw, so a CUDA graph can capture them. Their Status
// only reports whether the work was put on the stream.
//
// All other calls wait for the stream, and allocate scratch memory where this is documented. They
// work even while this or another thread captures other streams into graphs, and are not captured.
// They throw Error with these codes:
// - kOutOfMemory,
// - kInvalidArgument, also for keys and outputs in the memory of another device, or in host memory
//   that the device cannot use,
// - kInvalidArgument, before putting work on the stream, if the stream itself is being captured,
// - kUnsupported, before putting work on the stream, if it is the default stream and waits for a
//   stream that is being captured,
// - kDevice if the device fails.
//
// After a failed change, the contents of the filter are unspecified, and count_is_known() returns
// whether inserted_count() is right.
//
// Any number of threads and streams may query a filter that does not change. A change needs
// exclusive access, so order the streams accordingly. Destroy a filter only when no work on it is
// under way. A moved-from filter can only be destroyed or assigned to.
class DeviceFilter {
 public:
  // The constructors throw Error(kDevice) if the machine lacks a device, or the library lacks code
  // for it.

  // Copies a filter from the host. If the filter is mapped from a file that was not verified,
  // verifies the file first, and throws FormatError if the file is damaged.
  explicit DeviceFilter(const Filter& host, const DeviceOptions& options = {},
                        StreamRef stream = {});
  // Makes an empty filter with the kind, hash and geometry of `header`, such as host.Header().
  explicit DeviceFilter(const FileHeader& header, const DeviceOptions& options = {},
                        StreamRef stream = {});
  // Makes a filter in device memory of another allocator, such as the bytes of an
  // rmm::device_uvector or of a torch tensor. The result is like any other DeviceFilter, but does
  // not own `memory`, which must outlive all work on the filter. Scratch memory comes from
  // `options`. View writes nothing to `memory`. If `memory` does not contain the bits of a filter
  // with this header, call Clear() or Upload() first. If other code changes the bits, call
  // ForgetCount().
  //
  // If `options` names no device, the device that owns `memory` is used. Throws
  // Error(kInvalidArgument) if `memory` has fewer than header.payload_bytes bytes, is not aligned
  // to 32 bytes, or is not completely in the memory of the device. Managed memory counts as memory
  // of the device. Only the first and the last byte can be checked, so the caller is responsible
  // for the size.
  static DeviceFilter View(const FileHeader& header, std::span<std::byte> memory,
                           const DeviceOptions& options = {}, StreamRef stream = {});
  DeviceFilter(DeviceFilter&& other) noexcept { Swap(other); }
  DeviceFilter& operator=(DeviceFilter&& other) noexcept {
    DeviceFilter(static_cast<DeviceFilter&&>(other)).Swap(*this);
    return *this;
  }
  ~DeviceFilter();

  // The kind of the filter.
  FilterKind kind() const noexcept { return header_.kind; }
  // The hash of the filter.
  const HashSpec& hash() const noexcept { return header_.hash; }
  // Size of the filter itself, in bytes.
  uint64_t bytes() const noexcept { return header_.payload_bytes; }
  // Like Filter::inserted_count(). If count_is_known() is false, some changes are not counted.
  uint64_t inserted_count() const noexcept { return header_.inserted; }
  // Whether inserted_count() is right. An Async call that changes a cuckoo filter, or inserts keys
  // with a validity bitmap, makes the result false until the next Clear or Upload, because the
  // number of keys that succeed is unknown. The result is false forever after a change was captured
  // into a graph, because the graph may run any number of times. Download() then sets the count of
  // the host's filter: for a cuckoo filter to the number of fingerprints, for a split-block filter
  // to estimated_count(), a number of distinct keys.
  bool count_is_known() const noexcept { return !uncounted_ && !changed_by_others_; }
  // Makes count_is_known() return false from now on. Call it if your own kernels insert keys by
  // ref(), because these are not counted.
  void ForgetCount() noexcept { changed_by_others_ = true; }
  // Returns the header of the filter, as in a file.
  const FileHeader& Header() const noexcept { return header_; }
  // Like Filter::set_key_types. InsertAsync takes strings as hashes, whose key type is unknown.
  void set_key_types(KeyTypes forms) noexcept { header_.key_types = forms; }
  // Returns the device that has the filter.
  int device() const noexcept { return device_; }
  // The contents, as in a file. Aligned to 32 bytes.
  void* data() const noexcept { return data_; }
  // Returns a view for your own kernels. Throws std::bad_variant_access if the filter is of another
  // kind.
  template <typename Ref>
  Ref ref() const {
    return std::get<Ref>(ref_);
  }

  // These functions copy between host and device. The filter on the host must have the same kind,
  // hash and geometry, otherwise they throw Error(kIncompatible). Upload throws FormatError as the
  // constructor does. Download throws Error(kReadOnly) if `host` is read_only().
  void Upload(const Filter& host, StreamRef stream = {});
  void Download(Filter& host, StreamRef stream = {}) const;

  // Like the functions of Filter, with outputs of the same sizes. Throw Error(kInvalidArgument) for
  // strings that are not a column. They allocate scratch memory:
  // - for integers and hashes, 8 bytes;
  // - for a column of strings, 8 bytes for each string, at most kMaxScratchKeys at a time;
  // - for Select, SelectScratchBytes(n) more.
  size_t Contains(Keys keys, Bitmap out, StreamRef stream = {}) const;
  size_t Contains(Keys keys, std::span<uint8_t> out, StreamRef stream = {}) const;
  size_t Select(Keys keys, std::span<uint32_t> out, StreamRef stream = {}) const;
  size_t Select(Keys keys, std::span<uint64_t> out, StreamRef stream = {}) const;
  size_t Count(Keys keys, StreamRef stream = {}) const;
  // Inserts all keys except nulls and keys that do not fit in a cuckoo filter, and returns the
  // number of inserted keys. Writes the indices of the other keys, including nulls, in ascending
  // order to failed[0 .. n - result). `failed` is in device memory, and has n elements or is empty.
  // A key that could not be inserted changes nothing, and all other keys are still found. Keys with
  // a validity bitmap need SelectScratchBytes(n) more bytes of scratch memory. Cuckoo filters need
  // kInsertScratchBytes in addition.
  size_t Insert(Keys keys, StreamRef stream = {}) { return Insert(keys, {}, stream); }
  size_t Insert(Keys keys, std::span<uint64_t> failed, StreamRef stream = {});
  // Like the functions of ErasableFilter. Throw Error(kUnsupported) for a split-block filter.
  size_t Erase(Keys keys, StreamRef stream = {}) { return Erase(keys, {}, stream); }
  size_t Erase(Keys keys, std::span<uint64_t> missing, StreamRef stream = {});
  // Adds all keys of `other`, which must be on the same device. Throws Error(kIncompatible) if the
  // filters differ, and for cuckoo and fuse filters, which cannot be merged. Throws
  // Error(kInvalidArgument) if the memory of both filters overlaps in part. Merging a filter with
  // itself, or with a view of the same memory, changes neither its bits nor its count.
  void Merge(const DeviceFilter& other, StreamRef stream = {});
  // Keeps the bits that both filters have, like SplitBlockBloomFilter::Intersect. Throws the errors
  // of Merge.
  void Intersect(const DeviceFilter& other, StreamRef stream = {});
  void Clear(StreamRef stream = {});

  // These functions do the same as the functions above, for integers and hashes. Strings must be
  // hashed first, by HashAsync. Counts are written to device memory; in Contains and Select,
  // `count` may be nullptr. Return kInvalidValue for outputs that are too small, and for unsuitable
  // types of keys. The current device stays the same.
  Status ContainsAsync(Keys keys, Bitmap out, uint64_t* count, StreamRef stream) const noexcept;
  Status ContainsAsync(Keys keys, std::span<uint8_t> out, uint64_t* count,
                       StreamRef stream) const noexcept;
  Status CountAsync(Keys keys, uint64_t* count, StreamRef stream) const noexcept;
  // `scratch` must have SelectScratchBytes(n) bytes, aligned to 8.
  Status SelectAsync(Keys keys, std::span<uint32_t> out, uint64_t* count,
                     std::span<std::byte> scratch, StreamRef stream) const noexcept;
  Status SelectAsync(Keys keys, std::span<uint64_t> out, uint64_t* count,
                     std::span<std::byte> scratch, StreamRef stream) const noexcept;
  // For split-block filters only, because this function does not report which keys failed. Returns
  // kInvalidValue for other filters.
  Status InsertAsync(Keys keys, StreamRef stream) noexcept;
  // For cuckoo filters only. Sets a bit for each key that was not inserted (or not found and
  // erased), including nulls, and writes their number. Both outputs are in device memory. `scratch`
  // has kInsertScratchBytes, aligned to 4, or is empty. Without `scratch`, searches for room are
  // shorter, and near capacity about one key in 10,000 fails.
  Status InsertAsync(Keys keys, Bitmap failed, uint64_t* num_failed, std::span<std::byte> scratch,
                     StreamRef stream) noexcept;
  Status EraseAsync(Keys keys, Bitmap missing, uint64_t* num_missing, StreamRef stream) noexcept;
  Status MergeAsync(const DeviceFilter& other, StreamRef stream) noexcept;
  Status IntersectAsync(const DeviceFilter& other, StreamRef stream) noexcept;
  Status ClearAsync(StreamRef stream) noexcept;
  // Hashes the strings of a column as this filter does, and writes n hashes. The hashes of nulls
  // are unspecified, so give the validity bitmap to the hashes again (WithValidity).
  Status HashAsync(Keys keys, std::span<uint64_t> hashes, StreamRef stream) const noexcept;

  static constexpr uint64_t kMaxScratchKeys = uint64_t{64} << 20;
  static uint64_t SelectScratchBytes(uint64_t n) noexcept;
  static constexpr uint64_t kInsertScratchBytes = uint64_t{16} << 20;

 private:
  friend class HostPipeline;
  struct Outputs;
  class Scratch;
  class Current;

  DeviceFilter() = default;
  // Chooses the runtime and the device, and checks them.
  void Open(const DeviceOptions& options);
  void Allocate(const DeviceOptions& options, cudaStream_t stream);
  void Swap(DeviceFilter& other) noexcept;
  void RequireSame(const FileHeader& header) const;
  Status Probe(const Keys& keys, const Outputs& out, cudaStream_t stream) const noexcept;
  // Does the same as Probe, but accepts columns of strings, which it hashes in pieces in scratch
  // memory. Waits for the results.
  size_t ProbeAndWait(const Keys& keys, Outputs out, cudaStream_t stream) const;
  // Calls act(piece, begin) for pieces of a batch. Pieces are integers or hashes: strings are
  // hashed first.
  template <typename Act>
  void ForEachPiece(const Keys& keys, cudaStream_t stream, const Act& act) const;
  template <typename Index>
  Status ListOnes(uint64_t n, std::span<Index> out, uint64_t* count, std::byte* scratch,
                  cudaStream_t stream) const noexcept;
  template <typename Index>
  Status SelectAny(const Keys& keys, std::span<Index> out, uint64_t* count,
                   std::span<std::byte> scratch, cudaStream_t stream) const noexcept;
  template <typename Index>
  size_t SelectAndWait(const Keys& keys, std::span<Index> out, cudaStream_t stream) const;

  // Inserts keys. `valid` is the number of keys that are not null, if it is known.
  Status InsertCounted(const Keys& keys, std::optional<uint64_t> valid,
                       cudaStream_t stream) noexcept;
  // `nodes` is memory for longer searches, or nullptr.
  Status ChangeAsync(Change change, const Keys& keys, Bitmap failed, uint64_t* num_failed,
                     uint32_t* nodes, cudaStream_t stream) noexcept;
  Status Alter(Change change, const Keys& keys, uint64_t* failed, uint64_t* num_failed,
               uint32_t* nodes, cudaStream_t stream) noexcept;
  // Returns kInvalidValue if `other` has another kind, hash, size or device.
  Status CombineAsync(Combination how, const DeviceFilter& other, cudaStream_t stream) noexcept;
  void CombineAndWait(Combination how, const DeviceFilter& other, cudaStream_t stream);
  size_t ChangeAndWait(Change change, const Keys& keys, std::span<uint64_t> failed,
                       cudaStream_t stream);

  const Runtime* runtime_ = nullptr;
  MemoryResource* memory_ = nullptr;
  int device_ = 0;
  FileHeader header_;
  bool uncounted_ = false;          // header_.inserted lacks some changes
  bool changed_by_others_ = false;  // graphs or users' kernels may change the filter at any time
  void* data_ = nullptr;
  bool is_view_ = false;  // data_ is not owned
  detail::AnyRef ref_;
};

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_DEVICE_FILTER_H_
