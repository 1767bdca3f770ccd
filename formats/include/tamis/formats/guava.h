// The Bloom filters of the Java library Guava: reading, querying, changing and writing them.
#ifndef TAMIS_FORMATS_GUAVA_H_
#define TAMIS_FORMATS_GUAVA_H_

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

// The funnel that turns a key into bytes. A reader must know it, because the bytes of a filter do
// not contain it.
enum class GuavaFunnel : uint8_t {
  kLong,   // Funnels.longFunnel(): a 64-bit integer
  kInt,    // Funnels.integerFunnel(): an integer in [-2^31, 2^31 - 1]
  kBytes,  // Funnels.byteArrayFunnel(): a string of any bytes
  // Funnels.stringFunnel(UTF_8): the bytes of a string in UTF-8. (Java writes "?" for an unpaired
  // surrogate, which UTF-8 does not have.)
  kUtf8,
  // Funnels.unencodedCharsFunnel(): the UTF-16 chars of a string that is passed in UTF-8. A
  // surrogate is a char like any other: its three bytes, ED A0 80 to ED BF BF, stand for the
  // surrogate itself, paired or not. So every Java string can be a key. Strings with other invalid
  // UTF-8 are not keys.
  kUnencodedChars,
};

// "long", "int", "bytes", "utf8" or "unencoded-chars".
const char* GuavaFunnelName(GuavaFunnel funnel) noexcept;

// How the bits of a key follow from its hash. The values of the enumerators are stored in the
// stream.
enum class GuavaStrategy : uint8_t {
  // Written by Guava before version 17, and still read by all versions. Its indices are below 2^31,
  // so in a larger filter the bits from 2^31 on stay 0.
  kMurmur128Mitz32 = 0,
  kMurmur128Mitz64 = 1,
};

// Options of a new filter: set `capacity`, and optionally `fpr`; or set `num_bits` and
// `num_hashes`.
struct GuavaOptions {
  uint64_t capacity = 0;    // keys to be inserted ("expected insertions"), in [1, 2^63 - 1]
  double fpr = 0.03;        // false-positive rate at capacity, between 0 and 1, both excluded
  uint64_t num_bits = 0;    // rounded up to whole words of 64 bits
  uint32_t num_hashes = 0;  // number of bits of a key, in [1, 255]
  GuavaStrategy strategy = GuavaStrategy::kMurmur128Mitz64;  // how bits follow from a key
  MemoryOptions memory = {};                                 // memory of the filter
  const Backend* backend = nullptr;  // hashes integers, makes outputs; nullptr: DefaultBackend()
};

// Options of reading a GuavaBloomFilter.
struct GuavaLoadOptions {
  MemoryOptions memory = {};         // memory of the filter
  const Backend* backend = nullptr;  // as in GuavaOptions
};

// A com.google.common.hash.BloomFilter. Every answer and every bit equals Guava's. writeTo writes
// the same bytes, and readFrom reads them. The bytes are not a tamis file, and FilterKind does not
// include this filter.
//
// For the funnels kLong and kInt, keys are integers. They are signed: a uint64_t above 2^63 - 1 is
// the long with the same bits, and is not a key of kInt. For the other funnels, keys are strings,
// in any key layout for strings. Hashes and keys of the other type throw Error(kInvalidArgument) in
// every function and change nothing. Inserting a key outside the range of the funnel, such as 2^31
// for kInt or invalid UTF-8 for kUnencodedChars, also throws this error. A query for such a key
// returns "no".
class GuavaBloomFilter final : public FormatFilter {
 public:
  // 2^31 - 1, because the stream stores the number of words in a Java int; 16 GiB.
  static constexpr uint64_t kMaxWords = 0x7FFF'FFFF;

  // Computes the size like BloomFilter.create of Guava 31.1: from capacity n and rate p, floor(-n
  // ln p / (ln 2)^2) bits and max(1, round(m/n ln 2)) hashes. Here m is the number of bits before
  // rounding up to words. (Later versions compute round(-log2 p) hashes, which differs only for
  // very few keys or by chance.) Throws
  // - Error(kInvalidArgument) for options out of range, and if Guava would refuse them: no bits,
  //   more than 255 hashes, or too many words;
  // - Error(kOutOfMemory) for more bytes than the machine has;
  // - Error(kUnknownBackend) if TAMIS_BACKEND is not the name of a backend.
  GuavaBloomFilter(GuavaFunnel funnel, const GuavaOptions& options);

  // Reads the output of BloomFilter.writeTo. Missing or further bytes are an error. Checks
  // everything before it allocates memory. Throws FormatError with the failed check ("strategy",
  // "hashes", "words" or "file length") and the offset, Error(kIo), and the errors of the
  // constructor for memory and backend.
  static GuavaBloomFilter FromBytes(std::span<const std::byte> bytes, GuavaFunnel funnel,
                                    const GuavaLoadOptions& options = {});
  // Reads a file like FromBytes.
  static GuavaBloomFilter Load(const std::filesystem::path& path, GuavaFunnel funnel,
                               const GuavaLoadOptions& options = {});

  GuavaBloomFilter(GuavaBloomFilter&&) noexcept;
  GuavaBloomFilter& operator=(GuavaBloomFilter&&) noexcept;
  ~GuavaBloomFilter();

  // Return the properties of the filter, as in GuavaOptions.
  GuavaFunnel funnel() const noexcept { return funnel_; }
  GuavaStrategy strategy() const noexcept { return strategy_; }
  uint32_t num_hashes() const noexcept { return num_hashes_; }
  uint64_t num_bits() const noexcept { return 64 * num_words_; }
  uint64_t bytes() const noexcept override { return 8 * num_words_; }
  // The length of the stream: 6 bytes and the words.
  uint64_t serialized_bytes() const noexcept override;
  // Word i has the bits 64 i to 64 i + 63, the least significant first.
  std::span<const uint64_t> words() const noexcept { return {data(), num_words_}; }

  // -(m/k) ln(1 - B/m) keys for B of m bits set: approximateElementCount without rounding. Infinite
  // if all bits are set. O(bytes()).
  double estimated_count() const noexcept override;
  // (B/m)^k: expectedFpp. O(bytes()).
  double expected_fpr() const noexcept override;

  // Query one key. Integers are widened to 64 bits by value.
  bool Contains(uint64_t key) const;
  bool Contains(std::string_view key) const;
  // Like `put`: returns whether a bit changed. If so, the key was certainly absent.
  bool Insert(uint64_t key);
  bool Insert(std::string_view key);

  // For functions of many keys see FormatFilter.
  using FormatFilter::Contains;
  using FormatFilter::Insert;
  // If one key is outside the range of the funnel, no key of the call is inserted.
  ChangeTraits change_traits() const noexcept override {
    return {.inserts_if_absent = true, .whole_calls = true};
  }
  QueryTraits traits() const noexcept override;
  KeyTypes key_types() const noexcept override;

  // Adds the keys of `other`. Unless both filters have the same funnel, strategy, number of hashes
  // and size, throws Error(kIncompatible), which names the difference, like `putAll`. Throws
  // Error(kReadOnly) like Insert. Merging a filter with itself changes nothing.
  void Merge(const GuavaBloomFilter& other);

  // Empties the filter. Throws Error(kReadOnly) like Insert.
  void Clear();

  // Writes the output of BloomFilter.writeTo, in pieces of at most 128 KiB.
  void Write(const ByteSink& write) const override;

 private:
  struct Geometry {
    GuavaStrategy strategy;
    uint32_t num_hashes;
    uint64_t num_words;
  };
  static Geometry GeometryFor(const GuavaOptions& options);

  GuavaBloomFilter(GuavaFunnel funnel, const Geometry& geometry, const MemoryOptions& memory,
                   const Backend* backend);

  void Query(const Keys& keys, uint64_t* bits) const override;
  size_t Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) override;
  void MergeFrom(const FormatFilter& other) override {
    Merge(static_cast<const GuavaBloomFilter&>(other));
  }
  template <typename Read>
  static GuavaBloomFilter Parse(uint64_t size, const std::filesystem::path& name, const Read& read,
                                GuavaFunnel funnel, const GuavaLoadOptions& options);
  void RequireWritable() const;
  uint64_t BitsSet() const noexcept;

  uint64_t* data() const noexcept { return reinterpret_cast<uint64_t*>(storage_.data()); }

  GuavaFunnel funnel_;
  GuavaStrategy strategy_;
  uint32_t num_hashes_;
  uint64_t num_words_;
  const Backend* backend_;
  detail::Storage storage_;
};

}  // namespace tamis

#endif  // TAMIS_FORMATS_GUAVA_H_
