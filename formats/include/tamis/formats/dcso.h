// The Bloom filters of DCSO's `bloom` and `flor`, version 1: reading, mapping, querying, changing
// and writing them.
#ifndef TAMIS_FORMATS_DCSO_H_
#define TAMIS_FORMATS_DCSO_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "tamis/backend.h"
#include "tamis/detail/storage.h"
#include "tamis/formats/format_filter.h"
#include "tamis/keys.h"
#include "tamis/memory.h"

namespace tamis {

// Options of a new filter.
struct DcsoOptions {
  uint64_t capacity = 0;             // keys to be inserted ("n"), at least 1
  double fpr = 0.001;                // requested rate ("p"), between 0 and 1, both excluded
  MemoryOptions memory = {};         // memory of the filter
  const Backend* backend = nullptr;  // makes outputs; nullptr: DefaultBackend()
};

// Options of reading a DcsoBloomFilter.
struct DcsoLoadOptions {
  MemoryOptions memory = {};         // memory of the filter
  const Backend* backend = nullptr;  // as in DcsoOptions
};

// A filter of github.com/DCSO/bloom (Go) and github.com/DCSO/flor (Python), which
// github.com/hashlookup/poppy (Rust) calls version 1. Every answer and every bit equals theirs. The
// bytes are not a tamis file, and FilterKind does not include this filter.
//
// Keys are strings of bytes, in any key layout for strings. The hash is FNV-1 of 64 bits. Bit i of
// a key is h(i) mod num_bits(), where h(i) = (h(i - 1) G mod 2^64) mod M, h(0) is the hash mod M, M
// = 2^64 - 59 and G = 2^64 - 1469. Integers and ready hashes throw Error(kInvalidArgument) in every
// function and change nothing.
class DcsoBloomFilter final : public FormatFilter {
 public:
  static constexpr uint64_t kMaxBits = uint64_t{1} << 53;  // most bits of a filter: 1 PiB
  // No rate that a double can express leads to more hashes. More hashes could make a query
  // arbitrarily slow.
  static constexpr uint32_t kMaxHashes = 1075;

  // Computes floor(n |ln p| / (ln 2)^2) bits from capacity n and rate p, and ceil(ln 2 m / n)
  // hashes from n and m bits, like Initialize in Go. Throws
  // - Error(kInvalidArgument) for options out of range, no bits, or more than kMaxBits;
  // - Error(kOutOfMemory) for more bytes than the machine has;
  // - Error(kUnknownBackend) if TAMIS_BACKEND is not the name of a backend.
  explicit DcsoBloomFilter(const DcsoOptions& options);

  // Reads the output of Write in Go. Checks everything before it allocates memory. Throws
  // FormatError with the failed check ("version", "capacity", "rate", "hashes", "bits", "file
  // length" or "last word") and the offset, Error(kIo), and the errors of the constructor for
  // memory and backend. The number of insertions in the header is not checked.
  static DcsoBloomFilter FromBytes(std::span<const std::byte> bytes,
                                   const DcsoLoadOptions& options = {});
  // Reads a file like FromBytes.
  static DcsoBloomFilter Load(const std::filesystem::path& path,
                              const DcsoLoadOptions& options = {});
  // Maps a file instead of reading it, with the same checks and errors. The filter is read-only,
  // and pages are read when they are first used. The file must not be changed while it is mapped.
  // `options.memory` is ignored.
  static DcsoBloomFilter Map(const std::filesystem::path& path,
                             const DcsoLoadOptions& options = {});

  DcsoBloomFilter(DcsoBloomFilter&&) noexcept;
  DcsoBloomFilter& operator=(DcsoBloomFilter&&) noexcept;
  ~DcsoBloomFilter();

  // Returns the capacity, as in DcsoOptions. It need not fit the number of bits and hashes of a
  // filter that was read.
  uint64_t capacity() const noexcept { return header_.capacity; }
  // Returns the requested rate, as in DcsoOptions. It need not fit either.
  double fpr() const noexcept { return header_.fpr; }
  // Number of insertions that changed the filter ("N"), as the header states it. A merge adds the
  // numbers of both filters. Stays at 2^64 - 1 if it would be larger.
  uint64_t inserted_count() const noexcept { return header_.inserted; }
  // Returns the number of bits of a key.
  uint32_t num_hashes() const noexcept { return static_cast<uint32_t>(header_.num_hashes); }
  // Returns the number of bits of the filter.
  uint64_t num_bits() const noexcept { return header_.num_bits; }
  uint64_t bytes() const noexcept override { return 8 * num_words(); }
  // The length of the stream: 48 bytes, the words, and the free data.
  uint64_t serialized_bytes() const noexcept override;
  // Word i has the bits 64 i to 64 i + 63, the least significant first. Bits from num_bits() on are
  // 0.
  std::span<const uint64_t> words() const noexcept { return {data(), num_words()}; }
  // Bytes after the filter, of any meaning. Programs use them for descriptions.
  std::span<const std::byte> free_data() const noexcept;
  // Replaces the free data. Throws Error(kReadOnly) like Insert, and Error(kOutOfMemory).
  void SetFreeData(std::span<const std::byte> bytes);

  // -(m/k) ln(1 - B/m) keys for B of m bits set (Swamidass and Baldi 2007). Infinite if all bits
  // are set. O(bytes()).
  double estimated_count() const noexcept override;
  // (B/m)^k. O(bytes()). If num_bits() is a multiple of a large power of two, the true rate is
  // higher, because the bits of a key then depend on each other: see docs/formats.md.
  double expected_fpr() const noexcept override;
  // Includes at most the first 4,096 bytes of the free data.
  std::vector<FormatField> fields() const override;

  // Queries one key.
  bool Contains(std::string_view key) const noexcept;
  // Like Add: returns whether a bit changed. If so, the key was certainly absent. The number of
  // keys is not limited, as in Go.
  bool Insert(std::string_view key) noexcept;

  // For functions of many keys see FormatFilter.
  using FormatFilter::Contains;
  using FormatFilter::Insert;
  QueryTraits traits() const noexcept override;
  KeyTypes key_types() const noexcept override;

  // Adds the keys of `other`, like Join. Unless both filters have the same capacity, rate, number
  // of hashes and size, throws Error(kIncompatible), which names the difference. Throws
  // Error(kReadOnly) like Insert. Merging a filter with itself changes nothing. Keeps the free data
  // of this filter.
  void Merge(const DcsoBloomFilter& other);

  // Removes all keys, like Reset. Throws Error(kReadOnly) like Insert.
  void Clear();

  // Writes the output of Write in Go.
  void Write(const ByteSink& write) const override;

 private:
  // The first 48 bytes of the stream, little-endian.
  struct Header {
    uint64_t flags = 1;  // the version in the low byte; the other bits are kept as they are
    uint64_t capacity = 0;
    double fpr = 0;
    uint64_t num_hashes = 0;
    uint64_t num_bits = 0;
    uint64_t inserted = 0;
  };
  static_assert(sizeof(Header) == 48);
  static Header HeaderFor(const DcsoOptions& options);
  static void Check(const Header& header, uint64_t size, const std::filesystem::path& name);

  DcsoBloomFilter(const Header& header, const Backend* backend, detail::Storage words,
                  detail::Storage free_data) noexcept;

  void Query(const Keys& keys, uint64_t* bits) const override;
  size_t Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) override;
  void MergeFrom(const FormatFilter& other) override {
    Merge(static_cast<const DcsoBloomFilter&>(other));
  }
  template <typename Read>
  static DcsoBloomFilter Parse(uint64_t size, const std::filesystem::path& name, const Read& read,
                               const DcsoLoadOptions& options);
  static void CheckLastWord(const DcsoBloomFilter& filter, const std::filesystem::path& name);
  void RequireWritable() const;
  void AddInserted(uint64_t n) noexcept;
  uint64_t BitsSet() const noexcept;

  uint64_t num_words() const noexcept { return (header_.num_bits + 63) / 64; }
  uint64_t* data() const noexcept { return reinterpret_cast<uint64_t*>(storage_.data()); }

  Header header_;
  const Backend* backend_;
  detail::Storage storage_;
  detail::Storage free_data_;  // in the mapping of storage_ if this is mapped
};

}  // namespace tamis

#endif  // TAMIS_FORMATS_DCSO_H_
