// The Bloom filters of Guava, the Java library: read, asked, changed and written.
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

// How Guava makes bytes of a key. The bytes of a filter do not say which it was: whoever reads one
// must know.
enum class GuavaFunnel : uint8_t {
  kLong,   // Funnels.longFunnel(): a 64-bit integer
  kInt,    // Funnels.integerFunnel(): an integer in [-2^31, 2^31 - 1]
  kBytes,  // Funnels.byteArrayFunnel(): a string, by its bytes
  // Funnels.stringFunnel(UTF_8): a string in UTF-8, by its bytes as they are. (Java puts "?" for an
  // unpaired surrogate, which UTF-8 does not have.)
  kUtf8,
  // Funnels.unencodedCharsFunnel(): a string in UTF-8, by the chars that Java has for it, which are
  // UTF-16. A surrogate is a char like any other: in its three bytes, ED A0 80 to ED BF BF, it
  // stands for itself, paired or not, so that every string of Java can be a key. Other bytes that
  // are not UTF-8 are no key.
  kUnencodedChars,
};

// "long", "int", "bytes", "utf8" or "unencoded-chars".
const char* GuavaFunnelName(GuavaFunnel funnel) noexcept;

// How bits follow from the hash of a key; the values are those in the stream.
enum class GuavaStrategy : uint8_t {
  // What Guava made before version 17, and reads ever since. Its indices are below 2^31: in a
  // larger filter the bits past them stay 0.
  kMurmur128Mitz32 = 0,
  kMurmur128Mitz64 = 1,
};

// How a filter is made: give capacity, and fpr if not that of Guava, or num_bits and num_hashes.
struct GuavaOptions {
  uint64_t capacity = 0;    // keys to be inserted ("expected insertions"), in [1, 2^63 - 1]
  double fpr = 0.03;        // false-positive rate at capacity, between 0 and 1, both excluded
  uint64_t num_bits = 0;    // rounded up to whole words of 64 bits
  uint32_t num_hashes = 0;  // bits of a key, in [1, 255]
  GuavaStrategy strategy = GuavaStrategy::kMurmur128Mitz64;
  MemoryOptions memory = {};
  const Backend* backend = nullptr;  // nullptr: DefaultBackend(). Hashes integers, makes outputs
};

struct GuavaLoadOptions {
  MemoryOptions memory = {};
  const Backend* backend = nullptr;  // as in GuavaOptions
};

// A com.google.common.hash.BloomFilter: every answer and every bit is that of Guava, and the bytes
// are those of its writeTo and readFrom. Not a tamis file, and no filter of a FilterKind.
//
// Keys are integers for the funnels kLong and kInt (signed ones: a uint64_t above 2^63 - 1 is the
// long with its bits, and no int), and strings, in any form of Keys that has them, for the others.
// Hashes and keys of the other sort throw Error(kInvalidArgument) in every function, with nothing
// changed. So does the insertion of a key that the funnel does not have: 2^31 for kInt, bytes that
// are not UTF-8 for kUnencodedChars. Asked for such a key, a filter says "no".
//
class GuavaBloomFilter final : public FormatFilter {
 public:
  // 2^31 - 1, as the stream has their number in a Java int; 16 GiB.
  static constexpr uint64_t kMaxWords = 0x7FFF'FFFF;

  // Given capacity n and rate p, floor(-n ln p / (ln 2)^2) bits and max(1, round(m/n ln 2)) hashes,
  // m being the bits before they are rounded up: as BloomFilter.create of Guava 31.1. (Later ones
  // compute round(-log2 p), which is another number only for very few keys, or by chance.) Throws
  // Error(kInvalidArgument) for options out of range, and where Guava makes none because there
  // would be no bit, more than 255 hashes or too many words; Error(kOutOfMemory) for more bytes
  // than the machine has; Error(kUnknownBackend) if TAMIS_BACKEND names none.
  GuavaBloomFilter(GuavaFunnel funnel, const GuavaOptions& options);

  // Reads what BloomFilter.writeTo has written, all of it and nothing else. Everything is checked
  // before memory is allocated. Throws FormatError naming the check ("strategy", "hashes", "words"
  // or "file length") and the offset, Error(kIo), and as the constructor for memory and backend.
  static GuavaBloomFilter FromBytes(std::span<const std::byte> bytes, GuavaFunnel funnel,
                                    const GuavaLoadOptions& options = {});
  static GuavaBloomFilter Load(const std::filesystem::path& path, GuavaFunnel funnel,
                               const GuavaLoadOptions& options = {});

  GuavaBloomFilter(GuavaBloomFilter&&) noexcept;
  GuavaBloomFilter& operator=(GuavaBloomFilter&&) noexcept;
  ~GuavaBloomFilter();

  GuavaFunnel funnel() const noexcept { return funnel_; }
  GuavaStrategy strategy() const noexcept { return strategy_; }
  uint32_t num_hashes() const noexcept { return num_hashes_; }
  uint64_t num_bits() const noexcept { return 64 * num_words_; }
  uint64_t bytes() const noexcept override { return 8 * num_words_; }
  // What a stream of it has: 6 bytes and the words.
  uint64_t serialized_bytes() const noexcept override;
  // Word i has bits 64 i to 64 i + 63, the least significant first.
  std::span<const uint64_t> words() const noexcept { return {data(), num_words_}; }

  // -(m/k) ln(1 - B/m) keys for B of m bits set: approximateElementCount, not rounded. Infinite if
  // all are. O(bytes()).
  double estimated_count() const noexcept override;
  // (B/m)^k: expectedFpp. O(bytes()).
  double expected_fpr() const noexcept override;

  // One key. Integers are taken by their value widened to 64 bits.
  bool Contains(uint64_t key) const;
  bool Contains(std::string_view key) const;
  // As `put`: returns whether a bit changed. Then the key was certainly not in.
  bool Insert(uint64_t key);
  bool Insert(std::string_view key);

  // Many keys: see FormatFilter.
  using FormatFilter::Contains;
  using FormatFilter::Insert;
  // A key that the funnel does not have rejects all keys of a call.
  ChangeTraits change_traits() const noexcept override {
    return {.inserts_if_absent = true, .whole_calls = true};
  }
  QueryTraits traits() const noexcept override;
  KeyTypes key_types() const noexcept override;

  // The union. Throws Error(kIncompatible), saying what differs, unless both have the same funnel,
  // strategy, number of hashes and size, as `putAll` wants it; Error(kReadOnly) as Insert. With
  // itself nothing changes.
  void Merge(const GuavaBloomFilter& other);

  // Empties the filter. Throws Error(kReadOnly) as Insert.
  void Clear();

  // Writes what BloomFilter.writeTo writes, in pieces of at most 128 KiB.
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
