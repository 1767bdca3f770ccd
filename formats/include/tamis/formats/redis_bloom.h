// The Bloom filters of RedisBloom, the module of Redis: read, asked, changed and written.
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

// How a filter is made: as BF.RESERVE makes one, whose limits and defaults these are.
struct RedisBloomOptions {
  uint64_t capacity = 100;   // keys of the first link, in [1, 2^30]
  double error_rate = 0.01;  // between 0 and 1, both excluded; above 0.25 it is taken as 0.25
  // Each link has so many times the capacity of the one before; in [0, 32768], 0 for non_scaling.
  uint32_t expansion = 2;
  bool non_scaling = false;  // one link, and no key more than its capacity
  // Filters of older versions: bits are a power of two, and what that adds is capacity.
  bool power_of_two = false;
  // Filters of the first versions: MurmurHash2 of 32 bits, which a filter of many keys suffers
  // from.
  bool hash32 = false;
  RedisIntegers integers = RedisIntegers::kSigned;
  MemoryOptions memory = {};
  const Backend* backend = nullptr;  // nullptr: DefaultBackend(). Hashes integers, makes outputs
};

struct RedisBloomLoadOptions {
  RedisIntegers integers = RedisIntegers::kSigned;
  MemoryOptions memory = {};
  const Backend* backend = nullptr;  // as in RedisBloomOptions
};

// A Bloom filter of its own in a chain of them, as the header of a dump has it.
struct RedisBloomLink {
  uint64_t bytes = 0;
  uint64_t size = 0;        // keys that were inserted into it
  uint64_t capacity = 0;    // keys from which on the next link is begun
  double error_rate = 0;    // at the capacity
  double bits_per_key = 0;  // that the rate takes: -ln(error_rate) / (ln 2)^2
  uint32_t num_hashes = 0;
  uint8_t log2_bits = 0;  // if not 0, bits from 2^log2_bits on are not used

  friend bool operator==(const RedisBloomLink&, const RedisBloomLink&) = default;
};

// A filter of the commands BF.*: every answer and every bit is that of RedisBloom 8, and the chunks
// are those of BF.SCANDUMP and BF.LOADCHUNK. Not a tamis file, and no filter of a FilterKind.
//
// It is a chain of links. A key is in if one of them has it, and goes into the newest one; when
// that has its capacity a larger one is begun, of half its error rate. (The first has half of that
// which was asked for, unless the filter is non_scaling.)
//
// Keys are strings in any form of Keys, and integers, which are strings as RedisIntegers says.
// Hashes throw Error(kInvalidArgument) in every function.
//
// A filter that was moved from cannot be saved.
class RedisBloomFilter final : public FormatFilter {
 public:
  // No error rate of a double needs more.
  static constexpr uint32_t kMaxHashes = 1075;
  // 2^60, of all links.
  static constexpr uint64_t kMaxBytes = uint64_t{1} << 60;
  // As each has half the error rate of the one before, or less, and the least double above 0 is
  // 2^-1074. More are not of RedisBloom, and could make a lookup arbitrarily slow.
  static constexpr uint32_t kMaxLinks = 1075;

  // Throws Error(kInvalidArgument) for options out of range, Error(kOutOfMemory) for more bytes
  // than the machine has, Error(kUnknownBackend) if TAMIS_BACKEND names none.
  explicit RedisBloomFilter(const RedisBloomOptions& options);

  // Reads a dump, all of it and nothing else: its chunks, or the bytes or the path of a file of
  // them. Chunks may be of any length, but come in order, and none has bytes of two links. All is
  // checked before memory is allocated, as BF.LOADCHUNK does, and more strictly: every byte has to
  // be there. Throws FormatError naming the check and the offset, which in chunks is that of the
  // file that they would make, Error(kIo), and as the constructor for memory and backend.
  static RedisBloomFilter FromChunks(std::span<const RedisChunk> chunks,
                                     const RedisBloomLoadOptions& options = {});
  static RedisBloomFilter FromBytes(std::span<const std::byte> bytes,
                                    const RedisBloomLoadOptions& options = {});
  static RedisBloomFilter Load(const std::filesystem::path& path,
                               const RedisBloomLoadOptions& options = {});

  // For those who read a dump chunk by chunk, of its header alone: the bytes of each link. The
  // chunks that follow have these in their order, and none has bytes of two. Throws FormatError as
  // FromChunks.
  static std::vector<uint64_t> PartsOfHeader(std::span<const std::byte> header);
  // Whether a filter with the header `before` can have `after` once keys were inserted: the same
  // links, none with fewer keys, and maybe more of them. Bits that are read between the two are
  // then those of every key that was in before. Throws as PartsOfHeader.
  static bool HasGrown(std::span<const std::byte> before, std::span<const std::byte> after);

  RedisBloomFilter(RedisBloomFilter&&) noexcept;
  RedisBloomFilter& operator=(RedisBloomFilter&&) noexcept;
  ~RedisBloomFilter();

  RedisIntegers integers() const noexcept { return integers_; }
  bool hash32() const noexcept { return (flags_ & kForce64) == 0; }
  bool non_scaling() const noexcept { return (flags_ & kNoScaling) != 0; }
  // The growth in the header, also of a filter that does not scale.
  uint32_t expansion() const noexcept { return growth_; }
  // The options in the header: 1 for NOROUND, 2 for ENTS_IS_BITS, 4 for FORCE64, 8 for NO_SCALING.
  uint32_t flags() const noexcept { return flags_; }
  // Keys that were inserted and were new: BF.CARD.
  uint64_t size() const noexcept { return size_; }
  uint64_t capacity() const noexcept;        // of all links
  uint64_t bytes() const noexcept override;  // the bits of all links
  // What a file of its dump has.
  uint64_t serialized_bytes() const noexcept override;
  size_t num_links() const noexcept { return links_.size(); }
  // i < num_links(); 0 is the oldest.
  const RedisBloomLink& link(size_t i) const noexcept { return links_[i].info; }
  // 1 less the product of 1 - (B/m)^k for B of the m bits of each link set. O(bytes()).
  double expected_fpr() const noexcept override;
  // size(), which the format counts.
  double estimated_count() const noexcept override { return static_cast<double>(size()); }

  // One key: BF.EXISTS. Integers are taken by their value widened to 64 bits.
  bool Contains(uint64_t key) const;
  bool Contains(std::string_view key) const;
  // BF.ADD: returns whether the key was new, and then certainly was not in. Throws, with nothing
  // changed, Error(kOutOfMemory) if the filter does not scale and is full, or for more bytes than
  // the machine has; Error(kInvalidArgument) where RedisBloom can make no next link, or one of
  // 2^(capacity * expansion) bits, as it does for flags with ENTS_IS_BITS.
  bool Insert(uint64_t key);
  bool Insert(std::string_view key);

  // Many keys: see FormatFilter. Insertion throws as that of one key, with the keys before it
  // inserted, as size() shows.
  using FormatFilter::Contains;
  using FormatFilter::Insert;
  QueryTraits traits() const noexcept override;
  KeyTypes key_types() const noexcept override;

  // The union of two filters with the same flags, expansion and links, but for their sizes, which
  // are added: a key that is in both counts twice. (RedisBloom itself merges none.) Throws
  // Error(kIncompatible), saying what differs; Error(kReadOnly) as Insert. With itself nothing
  // changes.
  void Merge(const RedisBloomFilter& other);

  // Leaves the first link alone, empty. Throws Error(kReadOnly) as Insert.
  void Clear();

  // What BF.SCANDUMP replies, byte for byte, without the last reply. Throw Error(kReadOnly) for a
  // filter that was moved from.
  std::vector<RedisChunk> ToChunks() const;
  // Writes the file of these chunks, in pieces of at most 16 MiB, which are parts of the filter
  // where they are large.
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
  std::vector<Link> links_;  // none: moved from
};

}  // namespace tamis

#endif  // TAMIS_FORMATS_REDIS_BLOOM_H_
