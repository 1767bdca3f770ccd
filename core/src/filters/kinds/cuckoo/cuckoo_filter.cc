#include "tamis/filters/cuckoo_filter.h"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <utility>

#include "core/src/bulk/batches.h"
#include "core/src/file/file_format.h"
#include "core/src/filters/base/sizing_checks.h"
#include "core/src/filters/kinds/cuckoo/cuckoo_chunk.h"
#include "core/src/filters/kinds/cuckoo/cuckoo_writer.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/filters/sizing.h"

namespace tamis {

using detail::Batch;
using detail::BulkWriter;
using detail::CuckooKernels;
using detail::Kernels;
using detail::Outcomes;

namespace {

template <int kBits>
cuckoo::Geometry GeometryFor(const FilterOptions& options) {
  if (options.fpr != 0) detail::CheckFpr(options.fpr);
  if (options.bytes != 0) return CuckooGeometryOfBytes(kBits, options.bytes);
  if (options.capacity == 0) {
    throw Error(ErrorCode::kInvalidArgument, "a filter needs a capacity of at least 1, or bytes");
  }
  return CuckooGeometry(kBits, options.capacity, options.fpr);
}

template <int kBits>
constexpr cuckoo::Geometry kMovedGeometry = {1, detail::kMovedBytes / sizeof(cuckoo::Word<kBits>)};

template <int kBits>
uint64_t CapacityFor(const FilterOptions& options, const cuckoo::Geometry& geometry) {
  const uint64_t most = CuckooCapacity(kBits, geometry, options.fpr);
  if (options.capacity > most) {
    throw Error(ErrorCode::kInvalidArgument,
                detail::StrCat(options.capacity, " keys do not fit in ", options.bytes,
                               " bytes: a cuckoo filter of ", kBits,
                               "-bit fingerprints has room for ", most, " there"));
  }
  const uint64_t capacity = options.capacity != 0 ? options.capacity : most;
  // CuckooCapacity returns at least 1 for any rate, so the rate still has to be checked.
  const double fpr = CuckooFpr(kBits, static_cast<double>(capacity), geometry.buckets());
  if (options.fpr != 0 && fpr > options.fpr * (1 + 1e-9)) {
    std::ostringstream message;
    message << "a false-positive rate of " << options.fpr << " is out of reach of " << options.bytes
            << " bytes of " << kBits << "-bit fingerprints: with one key it is " << fpr;
    throw Error(ErrorCode::kInvalidArgument, message.str());
  }
  return capacity;
}

}  // namespace

template <int kBits>
CuckooFilter<kBits>::CuckooFilter(const FilterOptions& options)
    : CuckooFilter(options, GeometryFor<kBits>(options)) {}

template <int kBits>
CuckooFilter<kBits>::CuckooFilter(const FilterOptions& options, const cuckoo::Geometry& geometry)
    : ErasableFilter(CapacityFor<kBits>(options, geometry), options.hash,
                     detail::Storage::Allocate(geometry.buckets() * sizeof(Word), options.memory),
                     options.backend),
      geometry_(geometry) {}

template <int kBits>
CuckooFilter<kBits>::CuckooFilter(const FileHeader& header, detail::Storage storage,
                                  const Backend* backend)
    : ErasableFilter(header, std::move(storage), backend),
      geometry_{static_cast<uint32_t>(header.geometry[0]),
                static_cast<uint32_t>(header.geometry[1])} {}

template <int kBits>
CuckooFilter<kBits>::CuckooFilter(CuckooFilter&& other) noexcept
    : ErasableFilter(std::move(other)),
      geometry_(std::exchange(other.geometry_, kMovedGeometry<kBits>)) {}

template <int kBits>
CuckooFilter<kBits>& CuckooFilter<kBits>::operator=(CuckooFilter&& other) noexcept {
  ErasableFilter::operator=(std::move(other));
  geometry_ = std::exchange(other.geometry_, kMovedGeometry<kBits>);
  return *this;
}

template <int kBits>
CuckooFilter<kBits>::~CuckooFilter() = default;

template <int kBits>
CuckooFilter<kBits> CuckooFilter<kBits>::Load(const std::filesystem::path& path,
                                              const LoadOptions& options) {
  detail::OpenedFile file = detail::LoadFile(path, kKind, options);
  return CuckooFilter(file.header, std::move(file.storage), options.backend);
}

template <int kBits>
CuckooFilter<kBits> CuckooFilter<kBits>::Map(const std::filesystem::path& path,
                                             const MapOptions& options) {
  detail::OpenedFile file = detail::MapFile(path, kKind, options);
  return CuckooFilter(file.header, std::move(file.storage), options.backend);
}

template <int kBits>
FileHeader CuckooFilter<kBits>::Header() const noexcept {
  return HeaderOf({geometry_.chunks, geometry_.chunk_buckets, 0});
}

template <int kBits>
double CuckooFilter<kBits>::expected_fpr() const noexcept {
  return CuckooFpr(kBits, static_cast<double>(size()), geometry_.buckets());
}

template <int kBits>
bool CuckooFilter<kBits>::InsertOne(uint64_t hash) noexcept {
  if (read_only()) return false;
  const cuckoo::Place place = cuckoo::Locate<kBits>(hash, geometry_);
  detail::CuckooChunk<kBits> buckets(chunk(place.chunk), geometry_.chunk_buckets);
  const bool inserted = buckets.Insert(place.bucket, place.fingerprint);
  inserted_ += inserted;
  Changed();
  return inserted;
}

template <int kBits>
uint64_t CuckooFilter<kBits>::IdentityOfHash(uint64_t hash) const noexcept {
  const cuckoo::Place place = cuckoo::Locate<kBits>(hash, geometry_);
  const uint32_t alternate =
      cuckoo::AlternateBucket(place.bucket, place.fingerprint, geometry_.chunk_buckets);
  return (uint64_t{place.chunk} << 32) | (uint64_t{std::min(place.bucket, alternate)} << 16) |
         place.fingerprint;
}

template <int kBits>
uint64_t CuckooFilter<kBits>::CopiesOfHash(uint64_t hash) const noexcept {
  const cuckoo::Place place = cuckoo::Locate<kBits>(hash, geometry_);
  const detail::CuckooChunk<kBits> buckets(chunk(place.chunk), geometry_.chunk_buckets);
  return static_cast<uint64_t>(buckets.Copies(place.bucket, place.fingerprint));
}

template <int kBits>
bool CuckooFilter<kBits>::EraseHash(uint64_t hash) noexcept {
  if (read_only()) return false;
  const cuckoo::Place place = cuckoo::Locate<kBits>(hash, geometry_);
  detail::CuckooChunk<kBits> buckets(chunk(place.chunk), geometry_.chunk_buckets);
  const bool erased = buckets.Erase(place.bucket, place.fingerprint);
  inserted_ -= erased;
  Changed();
  return erased;
}

template <int kBits>
CuckooFilter<kBits> CuckooFilter<kBits>::Clone(const MemoryOptions& memory) const {
  RequireIntact();
  CuckooFilter copy(Header(), detail::Storage::Allocate(bytes(), memory), backend_);
  std::memcpy(copy.storage_.data(), storage_.data(), bytes());
  return copy;
}

template <int kBits>
bool CuckooFilter<kBits>::ProbeOne(uint64_t hash) const noexcept {
  return ContainsHash(hash);
}

template <int kBits>
bool CuckooFilter<kBits>::ChangeOne(Change change, uint64_t hash) noexcept {
  if (change == Change::kErase) return EraseHash(hash);
  if (change == Change::kInsertIfAbsent && ContainsHash(hash)) return false;
  return InsertOne(hash);
}

template <int kBits>
void CuckooFilter<kBits>::Probe(const Kernels& kernels, const Batch& batch,
                                uint64_t* bits) const noexcept {
  kernels.cuckoo<kBits>().contains(storage_.data(), geometry_, batch, bits);
}

template <int kBits>
size_t CuckooFilter<kBits>::ChangeBatch(Change change, const Kernels& kernels, const Batch& batch,
                                        uint64_t first, Outcomes& outcomes) noexcept {
  const CuckooKernels& cuckoo = kernels.cuckoo<kBits>();
  alignas(64) uint64_t places[detail::kBatchKeys];
  size_t done = 0;
  detail::ForEachSlice(batch, [&](const Batch& slice, size_t begin) {
    cuckoo.locate(geometry_, slice, places);
    const size_t possible =
        cuckoo.change_table(change, chunk(0), geometry_.chunk_buckets, places, slice.n);
    done += possible;
    if (change == Change::kInsertIfAbsent) {
      for (size_t i = 0; i < slice.n; ++i) TellPlace(places[i], first + begin + i, outcomes);
      return;
    }
    if (possible == slice.n) return;
    for (size_t i = 0; i < slice.n; ++i) {
      if (cuckoo::Unpack(places[i]).fingerprint == 0) outcomes.Reject(first + begin + i);
    }
  });
  return done;
}

template <int kBits>
std::unique_ptr<BulkWriter> CuckooFilter<kBits>::MakeWriter(Change change, const Kernels& kernels,
                                                            uint64_t n, unsigned threads) {
  return std::make_unique<detail::CuckooWriter<kBits>>(change, kernels, chunk(0), geometry_, n,
                                                       threads);
}

template class CuckooFilter<8>;
template class CuckooFilter<12>;
template class CuckooFilter<16>;

}  // namespace tamis
