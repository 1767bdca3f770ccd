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

struct DeviceOptions {
  int device = -1;                   // -1: the current one
  MemoryResource* memory = nullptr;  // nullptr: cudaMallocAsync, where the device has it
  const Runtime* runtime = nullptr;  // for tests of the library; nullptr: the CUDA runtime
  // Whether keys will be inserted. Insertions into cuckoo filters take local memory for each thread
  // that the device can run, 256 bytes: 66 MiB on an H100. The first filter that is made with this
  // sets it aside, for all of them and for the rest of the process. Without, the first insertion
  // does, and it fails where there is not so much.
  bool insertions = true;
};

// Move-only owner of a split-block, cuckoo or fuse filter in device memory, or view of one, with
// the bits that it has on the host.
//
// A fuse filter is built on the host. Here it can be queried, cleared, and replaced by Upload.
// Insert, Erase and Download throw Error(kReadOnly), and their Async forms return kInvalidValue.
//
// Keys and outputs are in device memory: a Keys holds device pointers here, and so do Bitmap and
// std::span. Keys with a validity bitmap (Keys::WithValidity, at any address and first bit) have it
// there, too, and mean what they mean on the host: a null is never in, and neither inserted nor
// erased. A mask of the keys that a call is for, which others call a stencil, is such a bitmap.
// Work is put on a stream, in whose order it runs. Calls whose names end in Async return at once:
// they do not allocate, wait or throw, so a CUDA graph can capture them, and they say only whether
// the work could be put on the stream. The others wait for the stream, allocate scratch memory
// where it is said, and throw Error: kOutOfMemory, kInvalidArgument (also for keys and outputs in
// the memory of another device, or in memory of the host that the device cannot use), kDevice for a
// failure of the device. They work, outside of what is captured, while other streams are captured
// into graphs, by this thread or others. They refuse a stream that is captured itself
// (kInvalidArgument), and the default stream while one that it waits for is (kUnsupported), before
// anything is put on it. After a failure the contents of a filter that was to be changed are
// unspecified, and count_is_known() says whether the count is.
//
// As with a filter on the host, any number of threads and streams may probe one that does not
// change, and a change needs exclusive access; streams have to be ordered accordingly. No work on
// it may be under way when it is destroyed. One that was moved from can be destroyed and assigned
// to, and nothing else.
class DeviceFilter {
 public:
  // Throw Error(kDevice) if there is no device, or one that no code of the library is for.

  // A copy of a filter on the host. If that is mapped from a file that was not verified, it is now:
  // FormatError if it is damaged.
  explicit DeviceFilter(const Filter& host, const DeviceOptions& options = {},
                        StreamRef stream = {});
  // An empty filter of the kind, hash and geometry of a header, such as host.Header().
  explicit DeviceFilter(const FileHeader& header, const DeviceOptions& options = {},
                        StreamRef stream = {});
  // A filter in device memory of another allocator, such as the bytes of an rmm::device_uvector or
  // of a torch tensor. It is a DeviceFilter like any other, but for whose memory it is: that is not
  // freed, and has to stay until no work on the filter is under way. Scratch memory comes from the
  // options. Nothing is written: the bytes have to be those of a filter of this header already, or
  // Clear() or Upload() is the first call. If others change them, ForgetCount().
  //
  // The device is that of the memory, if the options name none. Throws Error(kInvalidArgument) if
  // there are fewer than header.payload_bytes bytes, if they are not aligned to 32, and if they are
  // not all in the memory of the device; managed memory is. What is behind a pointer is not known
  // otherwise: the size is the caller's word.
  static DeviceFilter View(const FileHeader& header, std::span<std::byte> memory,
                           const DeviceOptions& options = {}, StreamRef stream = {});
  DeviceFilter(DeviceFilter&& other) noexcept { Swap(other); }
  DeviceFilter& operator=(DeviceFilter&& other) noexcept {
    DeviceFilter(static_cast<DeviceFilter&&>(other)).Swap(*this);
    return *this;
  }
  ~DeviceFilter();

  FilterKind kind() const noexcept { return header_.kind; }
  const HashSpec& hash() const noexcept { return header_.hash; }
  uint64_t bytes() const noexcept { return header_.payload_bytes; }
  // As that of Filter, unless count_is_known() is false: then it is without what is not counted.
  uint64_t inserted_count() const noexcept { return header_.inserted; }
  // Not after Async calls that change a cuckoo filter, or insert keys with a validity bitmap, as
  // nobody knows yet how many succeed, until the next Clear or Upload; and never again once a
  // change was captured into a graph, which may run any number of times. Download() finds out: for
  // cuckoo filters it counts what is there, for split-block filters it sets the host's count to its
  // estimated_count(), which is of distinct keys.
  bool count_is_known() const noexcept { return !uncounted_ && !changed_by_others_; }
  // For programs whose own kernels insert by ref(), which nobody counts: the count is not known
  // from now on.
  void ForgetCount() noexcept { changed_by_others_ = true; }
  const FileHeader& Header() const noexcept { return header_; }
  // As Filter::set_key_types: InsertAsync takes strings as their hashes, whose form is unknown.
  void set_key_types(KeyTypes forms) noexcept { header_.key_types = forms; }
  int device() const noexcept { return device_; }
  // The contents, as they are in a file; aligned to 32 bytes.
  void* data() const noexcept { return data_; }
  // A view for kernels of yours. Throws std::bad_variant_access if the filter is of another kind.
  template <typename Ref>
  Ref ref() const {
    return std::get<Ref>(ref_);
  }

  // Copy between host and device. The filter on the host must have the same kind, hash and
  // geometry, else Error(kIncompatible). Upload throws FormatError as the constructor does,
  // Download throws Error(kReadOnly) if it is read_only().
  void Upload(const Filter& host, StreamRef stream = {});
  void Download(Filter& host, StreamRef stream = {}) const;

  // As the functions of Filter, with outputs of the same sizes. They allocate scratch memory: 8
  // bytes for integers and hashes; for columns of strings 8 bytes for each string, at most
  // kMaxScratchKeys at a time; and SelectScratchBytes(n) more for Select. KeyLayout::kStringViews
  // is not for devices.
  size_t Contains(Keys keys, Bitmap out, StreamRef stream = {}) const;
  size_t Contains(Keys keys, std::span<uint8_t> out, StreamRef stream = {}) const;
  size_t Select(Keys keys, std::span<uint32_t> out, StreamRef stream = {}) const;
  size_t Select(Keys keys, std::span<uint64_t> out, StreamRef stream = {}) const;
  size_t Count(Keys keys, StreamRef stream = {}) const;
  // Returns how many were inserted: all but nulls and what cuckoo filters have no room for. The
  // indices of the others, nulls included, are written, ascending, to failed[0 .. n - result), in
  // device memory, which has n elements or none. A key that could not be inserted changes nothing,
  // and all others are still found. Cuckoo filters and keys with a validity bitmap need
  // SelectScratchBytes(n) more of scratch memory, and cuckoo filters kInsertScratchBytes.
  size_t Insert(Keys keys, StreamRef stream = {}) { return Insert(keys, {}, stream); }
  size_t Insert(Keys keys, std::span<uint64_t> failed, StreamRef stream = {});
  // As the functions of ErasableFilter. Error(kUnsupported) if keys cannot be erased.
  size_t Erase(Keys keys, StreamRef stream = {}) { return Erase(keys, {}, stream); }
  size_t Erase(Keys keys, std::span<uint64_t> missing, StreamRef stream = {});
  // Adds all keys of `other`, which is on the same device. Throws Error(kIncompatible), also for
  // cuckoo and fuse filters, which cannot be merged, and Error(kInvalidArgument) if both are in
  // memory that overlaps in part. With itself, or a view of the same memory, a filter is what it
  // was, and its count, too.
  void Merge(const DeviceFilter& other, StreamRef stream = {});
  // Keeps what both have, as SplitBlockBloomFilter::Intersect, and throws as Merge.
  void Intersect(const DeviceFilter& other, StreamRef stream = {});
  void Clear(StreamRef stream = {});

  // The same for integers and hashes; strings have to be hashed first, by HashAsync. Counts are
  // written to device memory; Contains and Select take nullptr for none. Outputs that are too
  // small, and types of keys that do not fit, give kInvalidValue. The current device is left as it
  // was.
  Status ContainsAsync(Keys keys, Bitmap out, uint64_t* count, StreamRef stream) const noexcept;
  Status ContainsAsync(Keys keys, std::span<uint8_t> out, uint64_t* count,
                       StreamRef stream) const noexcept;
  Status CountAsync(Keys keys, uint64_t* count, StreamRef stream) const noexcept;
  // `scratch` has SelectScratchBytes(n) bytes, aligned to 8.
  Status SelectAsync(Keys keys, std::span<uint32_t> out, uint64_t* count,
                     std::span<std::byte> scratch, StreamRef stream) const noexcept;
  Status SelectAsync(Keys keys, std::span<uint64_t> out, uint64_t* count,
                     std::span<std::byte> scratch, StreamRef stream) const noexcept;
  // Only for filters that take every key, as it does not say which ones failed.
  Status InsertAsync(Keys keys, StreamRef stream) noexcept;
  // For cuckoo filters: a bit for each key, 1 if it was not inserted, or not found and erased, as
  // nulls never are, and the number of these, both in device memory. `scratch` has
  // kInsertScratchBytes, aligned to 4, or none: then searches are shorter, and near capacity a key
  // in 10,000 fails.
  Status InsertAsync(Keys keys, Bitmap failed, uint64_t* num_failed, std::span<std::byte> scratch,
                     StreamRef stream) noexcept;
  Status EraseAsync(Keys keys, Bitmap missing, uint64_t* num_missing, StreamRef stream) noexcept;
  Status MergeAsync(const DeviceFilter& other, StreamRef stream) noexcept;
  Status IntersectAsync(const DeviceFilter& other, StreamRef stream) noexcept;
  Status ClearAsync(StreamRef stream) noexcept;
  // Hashes the strings of a column as this filter does, into n elements. Those of nulls are
  // unspecified: WithValidity is for the hashes, too.
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
  // Chooses the runtime and the device, after their checks.
  void Open(const DeviceOptions& options);
  void Allocate(const DeviceOptions& options, cudaStream_t stream);
  void Swap(DeviceFilter& other) noexcept;
  void RequireSame(const FileHeader& header) const;
  Status Probe(const Keys& keys, const Outputs& out, cudaStream_t stream) const noexcept;
  // The same for columns of strings too, in pieces through scratch memory; waits.
  size_t ProbeAndWait(const Keys& keys, Outputs out, cudaStream_t stream) const;
  // Calls act(piece) for pieces of a batch that are integers or hashes, after their hashing if they
  // were strings.
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

  // Inserts keys of which so many are not null, if that is known.
  Status InsertCounted(const Keys& keys, std::optional<uint64_t> valid,
                       cudaStream_t stream) noexcept;
  // `nodes` is memory for longer searches, or nullptr.
  Status ChangeAsync(Change change, const Keys& keys, Bitmap failed, uint64_t* num_failed,
                     uint32_t* nodes, cudaStream_t stream) noexcept;
  Status Alter(Change change, const Keys& keys, uint64_t* failed, uint64_t* num_failed,
               uint32_t* nodes, cudaStream_t stream) noexcept;
  // `other` is one of the same kind, hash, size and device, or kInvalidValue.
  Status CombineAsync(Combination how, const DeviceFilter& other, cudaStream_t stream) noexcept;
  void CombineAndWait(Combination how, const DeviceFilter& other, cudaStream_t stream);
  size_t ChangeAndWait(Change change, const Keys& keys, std::span<uint64_t> failed,
                       cudaStream_t stream);

  const Runtime* runtime_ = nullptr;
  MemoryResource* memory_ = nullptr;
  int device_ = 0;
  FileHeader header_;
  bool uncounted_ = false;          // changes that header_.inserted is without
  bool changed_by_others_ = false;  // at any time: by graphs, by kernels of users
  void* data_ = nullptr;
  bool is_view_ = false;  // of memory that is somebody else's
  detail::AnyRef ref_;
};

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_DEVICE_FILTER_H_
