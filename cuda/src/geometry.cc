#include "cuda/src/geometry.h"

#include <bit>
#include <string>

#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/file/filter_kind_name.h"
#include "tamis/layout/cuckoo.h"
#include "tamis/layout/fuse.h"
#include "tamis/layout/split_block.h"

namespace tamis::cuda {
namespace {

template <int kBits>
bool IsCuckoo(const FileHeader& header) {
  const uint64_t chunks = header.geometry[0];
  const uint64_t buckets = header.geometry[1];
  return chunks >= 1 && chunks <= cuckoo::kMaxChunks && buckets >= 2 && buckets % 2 == 0 &&
         buckets <= cuckoo::kMaxChunkBuckets<kBits> &&
         header.payload_bytes == chunks * buckets * sizeof(cuckoo::Word<kBits>);
}

bool IsSplitBlock(const FileHeader& header) {
  return header.geometry[0] >= 1 && header.geometry[0] <= split_block::kMaxBlocks &&
         header.payload_bytes == header.geometry[0] * split_block::kBlockBytes;
}

fuse::Geometry FuseGeometryOf(const FileHeader& header) {
  return {static_cast<uint32_t>(std::countr_zero(header.geometry[0])),
          static_cast<uint32_t>(header.geometry[1]),
          static_cast<uint32_t>(std::countr_zero(header.geometry[2]))};
}

template <int kBits>
bool IsFuse(const FileHeader& header) {
  const auto& [shards, segments, length] = header.geometry;
  return std::has_single_bit(shards) && shards <= uint64_t{1} << fuse::kMaxLogShards &&
         std::has_single_bit(length) && length >= uint64_t{1} << fuse::kMinLogLength &&
         length <= uint64_t{1} << fuse::kMaxLogLength && segments >= 1 &&
         segments <= UINT32_MAX / length - 2 && segments + 2 <= fuse::kMaxSlots / shards / length &&
         header.payload_bytes == fuse::FilterBytes<kBits>(FuseGeometryOf(header));
}

bool HasGeometry(const FileHeader& header) {
  switch (header.kind) {
    case FilterKind::kCuckoo8:
      return IsCuckoo<8>(header);
    case FilterKind::kCuckoo12:
      return IsCuckoo<12>(header);
    case FilterKind::kCuckoo16:
      return IsCuckoo<16>(header);
    case FilterKind::kFuse8:
      return IsFuse<8>(header);
    case FilterKind::kFuse12:
      return IsFuse<12>(header);
    case FilterKind::kFuse16:
      return IsFuse<16>(header);
    case FilterKind::kFuse32:
      return IsFuse<32>(header);
    default:
      return IsSplitBlock(header);
  }
}

template <int kBits>
detail::AnyRef CuckooRefOf(const FileHeader& header, void* data) {
  const cuckoo::Geometry geometry = {static_cast<uint32_t>(header.geometry[0]),
                                     static_cast<uint32_t>(header.geometry[1])};
  return CuckooRef<kBits>{static_cast<cuckoo::Word<kBits>*>(data), geometry,
                          tamis::detail::KeyHasher(header.hash)};
}

template <int kBits>
detail::AnyRef FuseRefOf(const FileHeader& header, const void* data) {
  return FuseRef<kBits>{fuse::TableAt<kBits>(data, FuseGeometryOf(header)),
                        tamis::detail::KeyHasher(header.hash)};
}

template <int kBits>
uint64_t CountFingerprints(std::span<const std::byte> payload) {
  const auto* words = reinterpret_cast<const cuckoo::Word<kBits>*>(payload.data());
  uint64_t sum = 0;
  for (size_t i = 0; i < payload.size() / sizeof(*words); ++i) {
    sum += static_cast<uint64_t>(cuckoo::NumUsed<kBits>(words[i]));
  }
  return sum;
}

}  // namespace

bool HasKernels(FilterKind kind, uint64_t bytes) noexcept {
  using enum FilterKind;
  if (kind == kSplitBlock) return bytes / split_block::kBlockBytes <= split_block::kMaxBlocks32;
  return kind == kCuckoo8 || kind == kCuckoo12 || kind == kCuckoo16 || kind == kFuse8 ||
         kind == kFuse12 || kind == kFuse16 || kind == kFuse32;
}

void RequireGeometry(const FileHeader& header) {
  if (!HasKernels(header.kind, header.payload_bytes)) {
    throw Error(ErrorCode::kUnsupported,
                tamis::detail::StrCat("a filter of kind ", FilterKindName(header.kind), " and ",
                                      header.payload_bytes, " bytes is not for devices"));
  }
  if (HasGeometry(header)) return;
  throw Error(
      ErrorCode::kInvalidArgument,
      tamis::detail::StrCat("not the geometry of a filter of kind ", FilterKindName(header.kind),
                            ": ", header.geometry[0], " by ", header.geometry[1], " by ",
                            header.geometry[2], ", of ", header.payload_bytes, " bytes"));
}

detail::AnyRef RefOf(const FileHeader& header, void* data) noexcept {
  switch (header.kind) {
    case FilterKind::kCuckoo8:
      return CuckooRefOf<8>(header, data);
    case FilterKind::kCuckoo12:
      return CuckooRefOf<12>(header, data);
    case FilterKind::kCuckoo16:
      return CuckooRefOf<16>(header, data);
    case FilterKind::kFuse8:
      return FuseRefOf<8>(header, data);
    case FilterKind::kFuse12:
      return FuseRefOf<12>(header, data);
    case FilterKind::kFuse16:
      return FuseRefOf<16>(header, data);
    case FilterKind::kFuse32:
      return FuseRefOf<32>(header, data);
    default:
      return SplitBlockRef{static_cast<uint32_t*>(data), header.geometry[0],
                           tamis::detail::KeyHasher(header.hash)};
  }
}

uint64_t CountInserted(const FileHeader& header, std::span<const std::byte> payload) noexcept {
  switch (header.kind) {
    case FilterKind::kCuckoo8:
      return CountFingerprints<8>(payload);
    case FilterKind::kCuckoo12:
      return CountFingerprints<12>(payload);
    case FilterKind::kCuckoo16:
      return CountFingerprints<16>(payload);
    default:
      return header.inserted;
  }
}

}  // namespace tamis::cuda
