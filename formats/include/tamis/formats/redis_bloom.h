// The Bloom filters of RedisBloom, a module of Redis: reading, querying, changing and writing them.
#ifndef TAMIS_FORMATS_REDIS_BLOOM_H_
#define TAMIS_FORMATS_REDIS_BLOOM_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "tamis/backend.h"
#include "tamis/detail/storage.h"
#include "tamis/formats/format_filter.h"
#include "tamis/formats/redis_dump.h"
#include "tamis/keys.h"
#include "tamis/memory.h"

namespace tamis {

namespace detail {
class RedisDump;
struct Hash128;
}  // namespace detail

// Options of a new filter, with the limits and defaults of BF.RESERVE.
struct RedisBloomOptions {
  uint64_t capacity = 100;   // keys of the first link, in [1, 2^30]
  double error_rate = 0.01;  // rate between 0 and 1, both excluded; above 0.25, it becomes 0.25
  // Ratio of the capacities of consecutive links, in [0, 32768]; 0 for `non_scaling`.
  uint32_t expansion = 2;
  bool non_scaling = false;  // only one link, and no more keys than its capacity
  // Whether to round the number of bits up to a power of two, which raises the capacity, like older
  // versions of RedisBloom.
  bool power_of_two = false;
  // Whether to use the 32-bit MurmurHash2, like the first versions of RedisBloom. Its hashes are
  // too short for large filters.
  bool hash32 = false;
  RedisIntegers integers = RedisIntegers::kSigned;  // how integers become strings
  MemoryOptions memory = {};                        // memory of the filter
  const Backend* backend = nullptr;  // hashes integers, makes outputs; nullptr: DefaultBackend()
};

// Options of reading a RedisBloomFilter.
struct RedisBloomLoadOptions {
  RedisIntegers integers = RedisIntegers::kSigned;  // how integers become strings
  MemoryOptions memory = {};                        // memory of the filter
  const Backend* backend = nullptr;                 // as in RedisBloomOptions
};

// One Bloom filter in a chain, as in the header of a dump.
struct RedisBloomLink {
  uint64_t bytes = 0;       // size of its bits
  uint64_t size = 0;        // keys inserted into it
  uint64_t capacity = 0;    // number of keys after which the next link begins
  double error_rate = 0;    // rate at the capacity
  double bits_per_key = 0;  // bits needed for the rate: -ln(error_rate) / (ln 2)^2
  uint32_t num_hashes = 0;  // number of bits of a key
  uint8_t log2_bits = 0;    // if not 0, bits from 2^log2_bits on are unused

  friend bool operator==(const RedisBloomLink&, const RedisBloomLink&) = default;
};

// A filter of the commands BF.*. Every answer and every bit equals RedisBloom 8's. BF.SCANDUMP
// replies the same chunks, and BF.LOADCHUNK accepts them. A dump is not a tamis file, and
// FilterKind does not include this filter.
//
// The filter is a chain of links. It contains a key if one of its links does. Keys are inserted
// into the newest link. When the newest link is full, a new link with half its error rate and
// `expansion` times its capacity is added. (The first link has half of the requested rate, unless
// the filter is non_scaling.)
//
// Keys are strings in any key layout, and integers, which are converted to strings as RedisIntegers
// states. Hashes throw Error(kInvalidArgument) in every function.
//
// A moved-from filter cannot be saved.
class RedisBloomFilter final : public FormatFilter {
 public:
  // Upper bound: no error rate that a double can represent requires more hashes.
  static constexpr uint32_t kMaxHashes = 1075;
  // 2^60, for all links together.
  static constexpr uint64_t kMaxBytes = uint64_t{1} << 60;
  // Each link has at most half the error rate of the link before, and the least double above 0 is
  // 2^-1074. RedisBloom never makes more links. A dump with more links could make a query
  // arbitrarily slow.
  static constexpr uint32_t kMaxLinks = 1075;

  // Throws Error(kInvalidArgument) for options out of range, Error(kOutOfMemory) for more bytes
  // than the machine has, and Error(kUnknownBackend) if TAMIS_BACKEND is not the name of a backend.
  explicit RedisBloomFilter(const RedisBloomOptions& options);

  // Reads a complete dump: its chunks, or the bytes or the path of a file that contains the chunks.
  // Missing or further bytes are an error. Chunks may have any length, but must be in order, and no
  // chunk may have bytes of two links. Before it allocates memory, checks everything that
  // BF.LOADCHUNK checks, and that no byte is missing. Throws FormatError with the failed check and
  // the offset (for chunks, the offset in the file of these chunks), Error(kIo), and the errors of
  // the constructor for memory and backend.
  static RedisBloomFilter FromChunks(std::span<const RedisChunk> chunks,
                                     const RedisBloomLoadOptions& options = {});
  static RedisBloomFilter FromBytes(std::span<const std::byte> bytes,
                                    const RedisBloomLoadOptions& options = {});
  // Reads a file like FromBytes.
  static RedisBloomFilter Load(const std::filesystem::path& path,
                               const RedisBloomLoadOptions& options = {});

  // For code that reads a dump chunk by chunk: returns the number of bytes of each link, from the
  // header. The chunks after the header have these bytes in order, and no chunk has bytes of two
  // links. Throws FormatError like FromChunks.
  static std::vector<uint64_t> PartsOfHeader(std::span<const std::byte> header);
  // Returns whether insertions can turn the header `before` into the header `after`: `after` has
  // the same links, none with fewer keys, and possibly new links. If so, bits that were read
  // between the two headers include the bits of every key that was inserted before `before` was
  // read. Throws like PartsOfHeader.
  static bool HasGrown(std::span<const std::byte> before, std::span<const std::byte> after);

  RedisBloomFilter(RedisBloomFilter&&) noexcept;
  RedisBloomFilter& operator=(RedisBloomFilter&&) noexcept;
  ~RedisBloomFilter();

  // Returns how integers become strings.
  RedisIntegers integers() const noexcept { return integers_; }
  // Returns true if hashes have 32 bits instead of 64.
  bool hash32() const noexcept { return (flags_ & kForce64) == 0; }
  // Returns true if the filter never gets a second link.
  bool non_scaling() const noexcept { return (flags_ & kNoScaling) != 0; }
  // The expansion stored in the header, even if the filter does not scale.
  uint32_t expansion() const noexcept { return growth_; }
  // The flags in the header: 1 for NOROUND, 2 for ENTS_IS_BITS, 4 for FORCE64, 8 for NO_SCALING.
  uint32_t flags() const noexcept { return flags_; }
  // Number of keys inserted that were new: BF.CARD.
  uint64_t size() const noexcept { return size_; }
  uint64_t capacity() const noexcept;        // capacity of all links
  uint64_t bytes() const noexcept override;  // size of the bits of all links
  // The length of a file of its dump.
  uint64_t serialized_bytes() const noexcept override;
  // Returns the number of links.
  size_t num_links() const noexcept { return links_.size(); }
  // i < num_links(); 0 is the oldest.
  const RedisBloomLink& link(size_t i) const noexcept { return links_[i].info; }
  // 1 minus the product of 1 - (B/m)^k over all links, where B of m bits are set. O(bytes()).
  double expected_fpr() const noexcept override;
  // size(), which is part of the format.
  double estimated_count() const noexcept override { return static_cast<double>(size()); }

  // BF.EXISTS: query one key. Integers are widened to 64 bits by value.
  bool Contains(uint64_t key) const;
  bool Contains(std::string_view key) const;
  // BF.ADD: inserts one key. Returns whether the key was new; if so, it was certainly absent.
  // Throws these errors, and then changes nothing:
  // - Error(kOutOfMemory) if the filter is full and does not scale, or for more bytes than the
  //   machine has;
  // - Error(kInvalidArgument) if RedisBloom could not add the next link, or if flags() has
  //   ENTS_IS_BITS, for which RedisBloom would add a link of 2^(capacity * expansion) bits.
  bool Insert(uint64_t key);
  bool Insert(std::string_view key);

  // For functions of many keys see FormatFilter. Insert throws like Insert of one key. The keys
  // before the key that failed stay inserted: size() counts them.
  using FormatFilter::Contains;
  using FormatFilter::Insert;
  QueryTraits traits() const noexcept override;
  KeyTypes key_types() const noexcept override;

  // Adds the keys of `other`. Both must have the same flags, expansion and links, except for the
  // sizes of the links, which are added. So a key in both filters counts twice. (RedisBloom itself
  // cannot merge filters.) Throws Error(kIncompatible), which names the difference, and
  // Error(kReadOnly) like Insert. Merging a filter with itself changes nothing.
  void Merge(const RedisBloomFilter& other);

  // Empties the first link and removes the others. Throws Error(kReadOnly) like Insert.
  void Clear();

  // Returns the exact replies of BF.SCANDUMP, without the last one. Throws Error(kReadOnly) for a
  // moved-from filter.
  std::vector<RedisChunk> ToChunks() const;
  // Writes a file of these chunks, in pieces of at most 16 MiB. Large pieces point into the memory
  // of the filter. Throws Error(kReadOnly) for a moved-from filter.
  void Write(const ByteSink& write) const override;

 private:
  static constexpr uint32_t kNoRound = 1;
  static constexpr uint32_t kCapacityIsLog2 = 2;
  static constexpr uint32_t kForce64 = 4;
  static constexpr uint32_t kNoScaling = 8;
  static constexpr uint32_t kAllFlags = 15;

  struct Link {
    RedisBloomLink info;
    detail::Storage storage;  // whole words, the last one with zeros past the bytes

    uint64_t* words() const noexcept { return reinterpret_cast<uint64_t*>(storage.data()); }
    uint64_t num_words() const noexcept { return storage.size() / sizeof(uint64_t); }
  };

  RedisBloomFilter(RedisIntegers integers, const MemoryOptions& memory, const Backend* backend);

  static RedisBloomLink Geometry(uint64_t capacity, double error_rate, uint32_t flags);
  Link MakeLink(const RedisBloomLink& info) const;
  static RedisBloomFilter Parse(const detail::RedisDump& dump,
                                const RedisBloomLoadOptions& options);
  std::vector<std::byte> Header() const;
  std::vector<std::span<const std::byte>> Parts() const;

  bool ContainsHash(const detail::Hash128& hash) const noexcept;
  bool InsertHash(const detail::Hash128& hash);
  void Prefetch(const detail::Hash128& hash) const noexcept;
  void Query(const Keys& keys, uint64_t* bits) const override;
  size_t Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) override;
  void MergeFrom(const FormatFilter& other) override {
    Merge(static_cast<const RedisBloomFilter&>(other));
  }
  void RequireWritable() const;

  RedisIntegers integers_;
  uint32_t flags_ = 0;
  uint32_t growth_ = 0;
  uint64_t size_ = 0;
  const Backend* backend_;
  MemoryOptions memory_;
  std::vector<Link> links_;  // empty: moved-from
};

}  // namespace tamis

#endif  // TAMIS_FORMATS_REDIS_BLOOM_H_
