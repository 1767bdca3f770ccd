// The Bloom filters of Apache Spark: reading, querying, changing and writing them.
#ifndef TAMIS_FORMATS_SPARK_H_
#define TAMIS_FORMATS_SPARK_H_

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

// How the bits of a key follow from its hashes, and the layout of the header. The values of the
// enumerators are stored in the stream.
enum class SparkVersion : uint8_t {
  // Written by Spark before 4.1, and still read by all versions. Its indices are below 2^31, so in
  // a larger filter the bits from 2^31 on stay 0.
  kV1 = 1,
  // Written by Spark since 4.1, and not readable by older versions. It has a seed.
  kV2 = 2,
};

// Options of a new filter: set `capacity`, and optionally `fpr`; or `capacity` and `num_bits`; or
// `num_bits` and `num_hashes`.
struct SparkOptions {
  uint64_t capacity = 0;    // keys to be inserted ("expectedNumItems"), in [1, 2^63 - 1]
  double fpr = 0.03;        // false-positive rate at capacity, between 0 and 1, both excluded;
                            // ignored if num_bits is set
  uint64_t num_bits = 0;    // rounded up to whole words of 64 bits
  uint32_t num_hashes = 0;  // number of bits of a key, in [1, MaxHashes(the rounded bits)]
  SparkVersion version = SparkVersion::kV2;  // see SparkVersion
  int32_t seed = 0;                          // for kV2 only
  MemoryOptions memory = {};                 // memory of the filter
  const Backend* backend = nullptr;  // hashes integers, makes outputs; nullptr: DefaultBackend()
};

// Options of reading a SparkBloomFilter.
struct SparkLoadOptions {
  MemoryOptions memory = {};         // memory of the filter
  const Backend* backend = nullptr;  // as in SparkOptions
};

// An org.apache.spark.util.sketch.BloomFilter. Every answer and every bit equals Spark's. writeTo
// and the aggregate bloom_filter_agg produce the same bytes, and readFrom reads them. The bytes are
// not a tamis file, and FilterKind does not include this filter.
//
// Keys are the same as for `put`. Integers of any width are longs: a uint64_t above 2^63 - 1 is the
// long with the same bits. Strings, in any key layout for strings, are binary values: their bytes.
// A Java string is the binary value of its UTF-8. (Java writes "?" for an unpaired surrogate, which
// UTF-8 does not have.) One filter may have both types. Hashes throw Error(kInvalidArgument) in
// every function and change nothing.
class SparkBloomFilter final : public FormatFilter {
 public:
  // 2^31 - 1, because the stream stores the number of words in a Java int; 16 GiB.
  static constexpr uint64_t kMaxWords = 0x7FFF'FFFF;
  // max(1, round(num_bits ln 2)), but at most 2^31 - 1: the number of hashes that Spark uses if all
  // `num_bits` are for one key. Spark never writes a larger number. More hashes could make a query
  // arbitrarily slow.
  static uint32_t MaxHashes(uint64_t num_bits) noexcept;

  // Computes trunc(-n ln p / (ln 2)^2) bits from capacity n and rate p. From n and m, the number of
  // bits before rounding up to words, computes max(1, round(m/n ln 2)) hashes, like
  // BloomFilter.create. Throws
  // - Error(kInvalidArgument) for options out of range, if there would be no bits, too many hashes
  //   or too many words, and for a seed in kV1;
  // - Error(kOutOfMemory) for more bytes than the machine has;
  // - Error(kUnknownBackend) if TAMIS_BACKEND is not the name of a backend.
  explicit SparkBloomFilter(const SparkOptions& options);

  // Reads the output of BloomFilter.writeTo. Missing or further bytes are an error. Checks
  // everything before it allocates memory. Throws FormatError with the failed check ("version",
  // "hashes", "words" or "file length") and the offset, Error(kIo), and the errors of the
  // constructor for memory and backend.
  static SparkBloomFilter FromBytes(std::span<const std::byte> bytes,
                                    const SparkLoadOptions& options = {});
  // Reads a file like FromBytes.
  static SparkBloomFilter Load(const std::filesystem::path& path,
                               const SparkLoadOptions& options = {});

  SparkBloomFilter(SparkBloomFilter&&) noexcept;
  SparkBloomFilter& operator=(SparkBloomFilter&&) noexcept;
  ~SparkBloomFilter();

  // Returns the version of the layout.
  SparkVersion version() const noexcept { return version_; }
  int32_t seed() const noexcept { return seed_; }  // 0 for kV1
  // Returns the number of bits of a key.
  uint32_t num_hashes() const noexcept { return num_hashes_; }
  // Returns the number of bits of the filter.
  uint64_t num_bits() const noexcept { return 64 * num_words_; }
  uint64_t bytes() const noexcept override { return 8 * num_words_; }
  // The length of the stream: 12 bytes for kV1 or 16 bytes for kV2, and the words.
  uint64_t serialized_bytes() const noexcept override;
  // Word i has the bits 64 i to 64 i + 63, the least significant first.
  std::span<const uint64_t> words() const noexcept { return {data(), num_words_}; }

  // -(m/k) ln(1 - B/m) keys for B of m bits set (Swamidass and Baldi 2007). Infinite if all bits
  // are set. O(bytes()).
  double estimated_count() const noexcept override;
  // (B/m)^k: expectedFpp. O(bytes()).
  double expected_fpr() const noexcept override;

  // Query one key. Integers are widened to 64 bits by value.
  bool Contains(uint64_t key) const noexcept;
  bool Contains(std::string_view key) const noexcept;
  // Like `put`: returns whether a bit changed. If so, the key was certainly absent.
  bool Insert(uint64_t key) noexcept;
  bool Insert(std::string_view key) noexcept;

  // For functions of many keys see FormatFilter.
  using FormatFilter::Contains;
  using FormatFilter::Insert;
  QueryTraits traits() const noexcept override;
  KeyTypes key_types() const noexcept override;

  // Adds the keys of `other`. Unless both filters have the same version, seed, number of hashes and
  // size, throws Error(kIncompatible), which names the difference, like `mergeInPlace`. Throws
  // Error(kReadOnly) like Insert. Merging a filter with itself changes nothing.
  void Merge(const SparkBloomFilter& other);

  // Empties the filter. Throws Error(kReadOnly) like Insert.
  void Clear();

  // Writes the output of BloomFilter.writeTo, in pieces of at most 128 KiB.
  void Write(const ByteSink& write) const override;

 private:
  struct Geometry {
    SparkVersion version;
    int32_t seed;
    uint32_t num_hashes;
    uint64_t num_words;
  };
  static Geometry GeometryFor(const SparkOptions& options);

  SparkBloomFilter(const Geometry& geometry, const MemoryOptions& memory, const Backend* backend);

  void Query(const Keys& keys, uint64_t* bits) const override;
  size_t Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) override;
  void MergeFrom(const FormatFilter& other) override {
    Merge(static_cast<const SparkBloomFilter&>(other));
  }
  template <typename Read>
  static SparkBloomFilter Parse(uint64_t size, const std::filesystem::path& name, const Read& read,
                                const SparkLoadOptions& options);
  void RequireWritable() const;
  uint64_t BitsSet() const noexcept;

  uint64_t* data() const noexcept { return reinterpret_cast<uint64_t*>(storage_.data()); }

  SparkVersion version_;
  int32_t seed_;
  uint32_t num_hashes_;
  uint64_t num_words_;
  const Backend* backend_;
  detail::Storage storage_;
};

}  // namespace tamis

#endif  // TAMIS_FORMATS_SPARK_H_
