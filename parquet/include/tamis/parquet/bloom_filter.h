// The Bloom filters of Parquet files: where they are, to be asked in place, and as filters of this
// library. Source: BloomFilter.md of Apache Parquet.
#ifndef TAMIS_PARQUET_BLOOM_FILTER_H_
#define TAMIS_PARQUET_BLOOM_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "tamis/filters/split_block_filter.h"
#include "tamis/filters/split_block_view.h"
#include "tamis/hash.h"
#include "tamis/parquet/footer.h"
#include "tamis/parquet/source.h"

namespace tamis::parquet {

// XXH64, seed 0: the hash of all filters in Parquet files.
inline constexpr HashSpec kFilterHash = {HashKind::kXxh64, 0};

// Where the bits of a filter are in a file.
struct FilterPlace {
  uint64_t header_offset = 0;
  uint64_t bits_offset = 0;
  uint64_t bits = 0;  // in bytes, a multiple of 32

  // Header and bits.
  uint64_t bytes() const noexcept { return bits_offset - header_offset + bits; }
};

// Reads the header of the chunk's filter, which there must be (ColumnChunk::filter_offset), and
// checks that all of it is in front of the footer. Throws FormatError(kCorrupt),
// Error(kUnsupported) for another algorithm, hash or compression and for a chunk in another file,
// and what the source throws.
FilterPlace FindFilter(const Source& source, const Footer& footer, const ColumnChunk& chunk);

// Memory for the bits of one filter after the other.
class FilterBuffer {
 public:
  // `bytes` at a multiple of 64. What was there before is gone.
  std::span<std::byte> Resize(size_t bytes);

 private:
  struct Free {
    void operator()(std::byte* bytes) const noexcept;
  };
  std::unique_ptr<std::byte[], Free> bytes_;
  size_t capacity_ = 0;
};

// The bits of a filter, to be asked. Where the source is memory, and they are at a multiple of 4
// bytes there, they are asked where they are; otherwise they are read into `buffer`, which, as the
// source, must outlive the view and not be used for another filter meanwhile. Throws what the
// source throws, and std::bad_alloc.
ConstSplitBlockView ReadFilter(const Source& source, const FilterPlace& place, FilterBuffer& buffer,
                               const Backend* backend = nullptr);

// Whether no bit is set. Some writers leave filters like this in columns that have values
// (https://github.com/apache/arrow-go/issues/1164).
bool HasNoBits(const ConstSplitBlockView& filter) noexcept;

// Throws Error(kCorrupt) for a filter without bits whose chunk may have values: it would rule out
// keys that are there.
void RequireBits(const ConstSplitBlockView& filter, const ColumnChunk& chunk);

// For those who have a file layer of their own: a filter with its header, as it is in a file, from
// ColumnMetaData.bloom_filter_offset on. They are functions of this library, and no members of the
// filter, so that core reads no format but its own.
//
// ToParquet throws Error(kIncompatible) for a filter by another hash than kFilterHash, and
// Error(kInvalidArgument) for one of more than 2^31 - 32 bytes. Readers take powers of two from 32
// B to 128 MiB; of other sizes some throw, or leave the filter unused.
std::string ToParquet(const SplitBlockBloomFilter& filter);
// `bytes` may go on behind the filter. inserted_count() is an estimate, as the file does not say
// it. Throws FormatError(kCorrupt) if the bytes are no filter or are cut off, and
// Error(kUnsupported) as FindFilter.
SplitBlockBloomFilter FromParquet(std::span<const std::byte> bytes,
                                  const MemoryOptions& memory = {});

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_BLOOM_FILTER_H_
