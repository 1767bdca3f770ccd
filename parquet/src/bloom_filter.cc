#include "tamis/parquet/bloom_filter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <new>

#include "parquet/src/filter_header.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis::parquet {
namespace {

constexpr std::align_val_t kAlignment{64};

}  // namespace

FilterPlace FindFilter(const Source& source, const Footer& footer, const ColumnChunk& chunk) {
  if (chunk.other_file) {
    throw Error(ErrorCode::kUnsupported, "the column is in another file");
  }
  const uint64_t offset = *chunk.filter_offset;
  const auto corrupt = [&](const std::string& what) {
    throw FormatError(ErrorCode::kCorrupt, "Bloom filter", offset,
                      detail::StrCat("a Bloom filter at byte ", offset, " of the file ", what));
  };
  if (offset >= footer.offset()) corrupt("begins behind the data");
  const uint64_t room = footer.offset() - offset;
  if (chunk.filter_length && *chunk.filter_length > room) corrupt("ends behind the data");
  std::array<std::byte, kMaxHeaderBytes> header;
  const size_t size =
      static_cast<size_t>(std::min<uint64_t>(header.size(), chunk.filter_length.value_or(room)));
  const auto begin = std::span(header).first(size);
  source.Read(offset, begin);
  const ParsedHeader parsed = ParseFilterHeader(begin, offset);
  const uint64_t bytes = parsed.header_bytes + parsed.bits;
  if (bytes > room) corrupt("ends behind the data");
  if (chunk.filter_length && *chunk.filter_length != bytes) {
    corrupt(detail::StrCat("has ", bytes, " bytes, but the footer states ", *chunk.filter_length));
  }
  return {offset, offset + parsed.header_bytes, parsed.bits};
}

void FilterBuffer::Free::operator()(std::byte* bytes) const noexcept {
  ::operator delete[](bytes, kAlignment);
}

std::span<std::byte> FilterBuffer::Resize(size_t bytes) {
  if (bytes > capacity_) {
    bytes_.reset();
    capacity_ = 0;
    bytes_.reset(static_cast<std::byte*>(::operator new[](bytes, kAlignment)));
    capacity_ = bytes;
  }
  return {bytes_.get(), bytes};
}

ConstSplitBlockView ReadFilter(const Source& source, const FilterPlace& place, FilterBuffer& buffer,
                               const Backend* backend) {
  const std::span<const std::byte> memory = source.Memory();
  if (!memory.empty()) {
    const auto bits = memory.subspan(place.bits_offset, place.bits);
    if (reinterpret_cast<uintptr_t>(bits.data()) % alignof(uint32_t) == 0) {
      return ConstSplitBlockView(bits, kFilterHash, backend);
    }
  }
  const auto bits = buffer.Resize(static_cast<size_t>(place.bits));
  source.Read(place.bits_offset, bits);
  return ConstSplitBlockView(bits, kFilterHash, backend);
}

bool HasNoBits(const ConstSplitBlockView& filter) noexcept {
  return std::ranges::all_of(filter.blocks(), [](std::byte byte) { return byte == std::byte{0}; });
}

void RequireBits(const ConstSplitBlockView& filter, const ColumnChunk& chunk) {
  if (!chunk.MayHaveValues() || !HasNoBits(filter)) return;
  throw Error(ErrorCode::kCorrupt,
              "its Bloom filter has no bits set, although the column may have values");
}

std::string ToParquet(const SplitBlockBloomFilter& filter) {
  if (!(filter.hash() == kFilterHash)) {
    throw Error(
        ErrorCode::kIncompatible,
        "Parquet's Bloom filters have the hash XXH64 with seed 0; this filter has another hash");
  }
  if (filter.bytes() > kMaxFilterBytes) {
    throw Error(ErrorCode::kInvalidArgument,
                detail::StrCat("a Bloom filter of ", filter.bytes(),
                               " bytes; Parquet allows at most ", kMaxFilterBytes));
  }
  std::string bytes = FilterHeader(filter.bytes());
  const std::span<const std::byte> bits = filter.payload();
  bytes.append(reinterpret_cast<const char*>(bits.data()), bits.size());
  return bytes;
}

SplitBlockBloomFilter FromParquet(std::span<const std::byte> bytes, const MemoryOptions& memory) {
  const ParsedHeader header =
      ParseFilterHeader(bytes.first(std::min(bytes.size(), kMaxHeaderBytes)), 0);
  if (header.bits > bytes.size() - header.header_bytes) {
    throw FormatError(ErrorCode::kCorrupt, "Bloom filter", bytes.size(),
                      detail::StrCat("a Bloom filter of ", header.bits, " bytes is cut off at ",
                                     bytes.size() - header.header_bytes));
  }
  SplitBlockBloomFilter filter({.bytes = header.bits, .hash = kFilterHash, .memory = memory});
  const SplitBlockView view = filter.mutable_view();
  std::memcpy(view.mutable_blocks().data(), bytes.data() + header.header_bytes, header.bits);
  // The estimate is infinite if every bit is set.
  const double keys = view.estimated_count();
  if (std::isfinite(keys)) view.AddInserted(static_cast<uint64_t>(std::llround(keys)));
  return filter;
}

}  // namespace tamis::parquet
