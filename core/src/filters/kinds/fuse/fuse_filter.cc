#include "tamis/filters/fuse_filter.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/src/file/file_format.h"
#include "core/src/filters/kinds/fuse/fuse_builder.h"
#include "core/src/filters/kinds/fuse/fuse_sizing.h"
#include "tamis/backends.h"
#include "tamis/detail/kernels.h"
#include "tamis/error.h"

namespace tamis {

using detail::Batch;
using detail::Kernels;

namespace {

fuse::Geometry GeometryOf(const FileHeader& header) {
  return {static_cast<uint32_t>(std::countr_zero(header.geometry[0])),
          static_cast<uint32_t>(header.geometry[1]),
          static_cast<uint32_t>(std::countr_zero(header.geometry[2]))};
}

std::array<uint64_t, 3> FieldsOf(const fuse::Geometry& geometry) {
  return {geometry.shards(), geometry.segments, geometry.length()};
}

}  // namespace

template <int kBits>
FuseFilter<kBits> FuseFilter<kBits>::BuildBy(detail::Workers* workers,
                                             const detail::RepeatableSource& source,
                                             const FilterOptions& options) {
  if (options.fpr != 0) detail::CheckFuseFpr(kBits, 1, options.fpr);
  detail::RequireSizedByKeys(options);
  const Backend& backend = options.backend != nullptr ? *options.backend : DefaultBackend();
  detail::CallingThread alone;
  detail::FuseBuilder builder(options.hash, *backend.kernels,
                              workers != nullptr ? *workers : alone);
  FileHeader header;
  header.key_types = {};
  source([&](const Keys& keys) {
    builder.Add(keys);
    if (keys.CountValid() != 0) header.key_types.Add(keys.key_type());
  });
  detail::BuiltFuse built = builder.Build<kBits>(options.memory);
  if (options.fpr != 0) detail::CheckFuseFpr(kBits, built.keys, options.fpr);
  header.hash = options.hash;
  header.geometry = FieldsOf(built.geometry);
  header.capacity = std::max<uint64_t>(built.keys, 1);
  header.inserted = built.keys;
  return FuseFilter(header, std::move(built.storage), &backend);
}

template <int kBits>
FuseFilter<kBits>::FuseFilter(const FileHeader& header, detail::Storage storage,
                              const Backend* backend)
    : FilterBase(header, std::move(storage), backend),
      geometry_(GeometryOf(header)),
      table_(fuse::TableAt<kBits>(storage_.data(), geometry_)) {}

// Moved-from memory is a filter without keys: one shard with the multiplier 0.
template <int kBits>
FuseFilter<kBits>::FuseFilter(FuseFilter&& other) noexcept
    : FilterBase(std::move(other)),
      geometry_(std::exchange(other.geometry_, {})),
      table_(std::exchange(other.table_, fuse::TableAt<kBits>(other.storage_.data(), {}))) {
  static_assert(fuse::FilterBytes<kBits>({}) <= detail::kMovedBytes);
  other.storage_.ShortenMoved(fuse::FilterBytes<kBits>({}));
}

template <int kBits>
FuseFilter<kBits>& FuseFilter<kBits>::operator=(FuseFilter&& other) noexcept {
  FilterBase::operator=(std::move(other));
  geometry_ = std::exchange(other.geometry_, {});
  table_ = std::exchange(other.table_, fuse::TableAt<kBits>(other.storage_.data(), {}));
  other.storage_.ShortenMoved(fuse::FilterBytes<kBits>({}));
  return *this;
}

template <int kBits>
FuseFilter<kBits>::~FuseFilter() = default;

template <int kBits>
FuseFilter<kBits> FuseFilter<kBits>::Load(const std::filesystem::path& path,
                                          const LoadOptions& options) {
  detail::OpenedFile file = detail::LoadFile(path, kKind, options);
  return FuseFilter(file.header, std::move(file.storage), options.backend);
}

template <int kBits>
FuseFilter<kBits> FuseFilter<kBits>::Map(const std::filesystem::path& path,
                                         const MapOptions& options) {
  detail::OpenedFile file = detail::MapFile(path, kKind, options);
  return FuseFilter(file.header, std::move(file.storage), options.backend);
}

template <int kBits>
double FuseFilter<kBits>::estimated_count() const noexcept {
  return static_cast<double>(inserted_);
}

template <int kBits>
double FuseFilter<kBits>::expected_fpr() const noexcept {
  return detail::FuseFpr(kBits, static_cast<double>(inserted_));
}

template <int kBits>
FileHeader FuseFilter<kBits>::Header() const noexcept {
  return HeaderOf(FieldsOf(geometry_));
}

template <int kBits>
FuseFilter<kBits> FuseFilter<kBits>::Clone(const MemoryOptions& memory) const {
  RequireIntact();
  FuseFilter copy(Header(), detail::Storage::Allocate(bytes(), memory), backend_);
  backend_->kernels->merge(reinterpret_cast<uint64_t*>(copy.storage_.data()),
                           reinterpret_cast<const uint64_t*>(storage_.data()),
                           bytes() / sizeof(uint64_t));
  return copy;
}

template <int kBits>
void FuseFilter<kBits>::Probe(const Kernels& kernels, const Batch& batch,
                              uint64_t* bits) const noexcept {
  kernels.fuse<kBits>().contains(table_, batch, bits);
}

template <int kBits>
bool FuseFilter<kBits>::ProbeOne(uint64_t hash) const noexcept {
  return ContainsHash(hash);
}

template class FuseFilter<8>;
template class FuseFilter<12>;
template class FuseFilter<16>;
template class FuseFilter<32>;

}  // namespace tamis
