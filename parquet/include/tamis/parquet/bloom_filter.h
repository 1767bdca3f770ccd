// Finds the Bloom filters of Parquet files, queries them in place, and converts them from and to
// filters of this library. Source: BloomFilter.md of Apache Parquet.
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

// The place of a filter in a file.
struct FilterPlace {
  uint64_t header_offset = 0;  // offset of the header in the file
  uint64_t bits_offset = 0;    // offset of the bits in the file
  uint64_t bits = 0;           // size of the bits in bytes, a multiple of 32

  // Returns the size of header and bits.
  uint64_t bytes() const noexcept { return bits_offset - header_offset + bits; }
};

// Reads the header of the chunk's filter. `chunk.filter_offset` must have a value. Throws
// FormatError(kCorrupt) if the header is invalid, or if the filter is not completely in front of
// the footer. Throws Error(kUnsupported) for another algorithm, hash or compression and for a chunk
// in another file. Also throws the exceptions of `source`.
FilterPlace FindFilter(const Source& source, const Footer& footer, const ColumnChunk& chunk);

// Memory for the bits of one filter. It can be reused for other filters.
class FilterBuffer {
 public:
  // Returns `bytes` bytes at an address that is a multiple of 64. Discards the previous contents.
  std::span<std::byte> Resize(size_t bytes);

 private:
  struct Free {
    void operator()(std::byte* bytes) const noexcept;
  };
  std::unique_ptr<std::byte[], Free> bytes_;
  size_t capacity_ = 0;
};

// Returns a view of the filter's bits for queries. If the source is in memory, and the bits are
// aligned to 4 bytes, the view refers to the source. Otherwise the bits are read into `buffer`.
// Both `source` and `buffer` must outlive the view. While the view is used, `buffer` must not be
// used for another filter. Throws the exceptions of `source`, and std::bad_alloc.
ConstSplitBlockView ReadFilter(const Source& source, const FilterPlace& place, FilterBuffer& buffer,
                               const Backend* backend = nullptr);

// Returns whether no bit is set. Some writers add such filters to columns that have values
// (https://github.com/apache/arrow-go/issues/1164).
bool HasNoBits(const ConstSplitBlockView& filter) noexcept;

// Throws Error(kCorrupt) if no bit of the filter is set and its chunk may have values. Such a
// filter would rule out keys that the chunk has.
void RequireBits(const ConstSplitBlockView& filter, const ColumnChunk& chunk);

// Conversion for programs with their own file layer. The bytes are the header and the bits of a
// filter, as they are stored in a file from ColumnMetaData.bloom_filter_offset on. The functions
// are not members of the filter, because core reads only its own format.
//
// ToParquet throws Error(kIncompatible) for a filter whose hash is not kFilterHash, and
// Error(kInvalidArgument) for a filter of more than 2^31 - 32 bytes. All readers accept powers of
// two from 32 B to 128 MiB. For other sizes some readers throw or ignore the filter.
std::string ToParquet(const SplitBlockBloomFilter& filter);
// `bytes` may have more bytes behind the filter. The filter does not contain the number of its
// keys, so inserted_count() is an estimate. Throws FormatError(kCorrupt) if the bytes are not a
// filter or are cut off, and Error(kUnsupported) in the cases of FindFilter.
SplitBlockBloomFilter FromParquet(std::span<const std::byte> bytes,
                                  const MemoryOptions& memory = {});

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_BLOOM_FILTER_H_
