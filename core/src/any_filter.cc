#include "tamis/any_filter.h"

#include "core/src/file_format.h"
#include "tamis/bloom_filter.h"
#include "tamis/counting_filter.h"
#include "tamis/cuckoo_filter.h"
#include "tamis/split_block_filter.h"

namespace tamis {
namespace {

// Calls open_as<F>() for the class F of the filter in the file.
template <typename OpenAs>
AnyFilter Dispatch(const std::filesystem::path& path, const OpenAs& open_as) {
  const FileHeader header = ReadHeader(path);
  switch (header.kind) {
    case FilterKind::kSplitBlock:
      return open_as.template operator()<SplitBlockBloomFilter>();
    case FilterKind::kCuckoo8:
      return open_as.template operator()<CuckooFilter<8>>();
    case FilterKind::kCuckoo12:
      return open_as.template operator()<CuckooFilter<12>>();
    case FilterKind::kCuckoo16:
      return open_as.template operator()<CuckooFilter<16>>();
    case FilterKind::kBloom:
      return open_as.template operator()<BloomFilter>();
    case FilterKind::kCounting:
      return open_as.template operator()<CountingBloomFilter>();
    case FilterKind::kScalable:
      break;
  }
  // ReadHeader has refused all others.
  detail::ThrowFormatError(path, ErrorCode::kUnsupported, "filter kind",
                           detail::offset::kFilterKind, "cannot be opened");
}

}  // namespace

AnyFilter Open(const std::filesystem::path& path, const LoadOptions& options) {
  return Dispatch(path, [&]<typename F>() -> AnyFilter { return F::Load(path, options); });
}

AnyFilter OpenMapped(const std::filesystem::path& path, const MapOptions& options) {
  return Dispatch(path, [&]<typename F>() -> AnyFilter { return F::Map(path, options); });
}

}  // namespace tamis
