#include "cuda/src/geometry.h"

#include <string>

#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/file/filter_kind_name.h"
#include "tamis/layout/cuckoo.h"
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

template <int kBits>
AnyRef CuckooRefOf(const FileHeader& header, void* data) {
  const cuckoo::Geometry geometry = {static_cast<uint32_t>(header.geometry[0]),
                                     static_cast<uint32_t>(header.geometry[1])};
  return CuckooRef<kBits>{static_cast<cuckoo::Word<kBits>*>(data), geometry,
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

bool HasKernels(FilterKind kind) noexcept {
  return kind == FilterKind::kSplitBlock || kind == FilterKind::kCuckoo8 ||
         kind == FilterKind::kCuckoo12 || kind == FilterKind::kCuckoo16;
}

void RequireGeometry(const FileHeader& header) {
  if (!HasKernels(header.kind)) {
    throw Error(ErrorCode::kUnsupported, std::string("a filter of kind ") +
                                             FilterKindName(header.kind) + " is not for devices");
  }
  const bool fits = header.kind == FilterKind::kSplitBlock ? IsSplitBlock(header)
                    : header.kind == FilterKind::kCuckoo8  ? IsCuckoo<8>(header)
                    : header.kind == FilterKind::kCuckoo12 ? IsCuckoo<12>(header)
                                                           : IsCuckoo<16>(header);
  if (fits) return;
  throw Error(ErrorCode::kInvalidArgument,
              tamis::detail::StrCat("not the geometry of a filter of kind ",
                                    FilterKindName(header.kind), ": ", header.geometry[0], " by ",
                                    header.geometry[1], ", of ", header.payload_bytes, " bytes"));
}

AnyRef RefOf(const FileHeader& header, void* data) noexcept {
  switch (header.kind) {
    case FilterKind::kCuckoo8:
      return CuckooRefOf<8>(header, data);
    case FilterKind::kCuckoo12:
      return CuckooRefOf<12>(header, data);
    case FilterKind::kCuckoo16:
      return CuckooRefOf<16>(header, data);
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
