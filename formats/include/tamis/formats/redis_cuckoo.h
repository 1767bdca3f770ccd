// The cuckoo filters of RedisBloom, the module of Redis: read, asked, changed and written.
#ifndef TAMIS_FORMATS_REDIS_CUCKOO_H_
#define TAMIS_FORMATS_REDIS_CUCKOO_H_

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
}

// How a filter is made: as CF.RESERVE makes one, whose limits and defaults these are.
struct RedisCuckooOptions {
  // Keys of the first layer, in [2 bucket_size, 2^30]; its buckets are rounded up to a power of
  // two.
  uint64_t capacity = 1024;
  uint32_t bucket_size = 2;      // keys of a bucket, in [1, 255]
  uint32_t max_iterations = 20;  // keys that are moved for one, in [1, 65535]
  // Layer i has expansion^i times the buckets of the first; in [0, 32768], 0 for no other layers.
  // Rounded up to a power of two.
  uint32_t expansion = 1;
  // A setting of the server (cf-max-expansions), and not in a dump: with so many layers the filter
  // takes no more keys. In [1, 65536].
  uint32_t max_expansions = 32;
  RedisIntegers integers = RedisIntegers::kSigned;
  MemoryOptions memory = {};
  const Backend* backend = nullptr;  // nullptr: DefaultBackend(). Makes outputs and counts
};

struct RedisCuckooLoadOptions {
  uint32_t max_expansions = 32;  // as in RedisCuckooOptions
  RedisIntegers integers = RedisIntegers::kSigned;
  MemoryOptions memory = {};
  const Backend* backend = nullptr;
};

// A filter of the commands CF.*: every answer, every key that is moved and every byte is that of
// RedisBloom 8, and the chunks are those of CF.SCANDUMP and CF.LOADCHUNK. Not a tamis file, and no
// filter of a FilterKind.
//
// It is a list of layers of buckets. A key is a fingerprint of 1 to 255 in one of two buckets of
// any layer. It goes into the newest that has room for it, and where none has, others of the newest
// are moved, and then a layer is added. The false-positive rate is about 2 bucket_size / 255 of
// each full layer.
//
// A key that was inserted n times is there n times, and can be erased as often. Erase only keys
// that were inserted: another that has the same fingerprint would be missed then.
//
// Keys are strings in any form of Keys, and integers, which are strings as RedisIntegers says.
// Hashes throw Error(kInvalidArgument) in every function.
//
// A filter that was moved from cannot be saved.
class RedisCuckooFilter final : public FormatFilter {
 public:
  static constexpr uint64_t kMaxLayers = 65535;
  // 2^56 - 1, in each layer.
  static constexpr uint64_t kMaxBuckets = (uint64_t{1} << 56) - 1;

  // Throws Error(kInvalidArgument) for options out of range, Error(kOutOfMemory) for more bytes
  // than the machine has, Error(kUnknownBackend) if TAMIS_BACKEND names none.
  explicit RedisCuckooFilter(const RedisCuckooOptions& options);

  // Reads a dump, as RedisBloomFilter does: see there. Throws Error(kInvalidArgument) for
  // max_expansions out of range, too.
  static RedisCuckooFilter FromChunks(std::span<const RedisChunk> chunks,
                                      const RedisCuckooLoadOptions& options = {});
  static RedisCuckooFilter FromBytes(std::span<const std::byte> bytes,
                                     const RedisCuckooLoadOptions& options = {});
  static RedisCuckooFilter Load(const std::filesystem::path& path,
                                const RedisCuckooLoadOptions& options = {});

  // For those who read a dump chunk by chunk, of its header alone: the bytes of each layer. The
  // chunks that follow have these in their order, and none has bytes of two. Throws FormatError as
  // FromChunks.
  static std::vector<uint64_t> PartsOfHeader(std::span<const std::byte> header);

  RedisCuckooFilter(RedisCuckooFilter&&) noexcept;
  RedisCuckooFilter& operator=(RedisCuckooFilter&&) noexcept;
  ~RedisCuckooFilter();

  RedisIntegers integers() const noexcept { return integers_; }
  uint32_t bucket_size() const noexcept { return bucket_size_; }
  uint32_t max_iterations() const noexcept { return max_iterations_; }
  uint32_t expansion() const noexcept { return expansion_; }
  uint64_t size() const noexcept { return size_; }  // inserted and not erased
  // Erased since the last time that layers were emptied into older ones.
  uint64_t erased() const noexcept { return erased_; }
  size_t num_layers() const noexcept { return layers_.size(); }
  uint64_t num_buckets(size_t layer) const noexcept { return layers_[layer].num_buckets; }
  uint64_t bytes() const noexcept override;  // of the fingerprints of all layers
  // What a file of its dump has.
  uint64_t serialized_bytes() const noexcept override;
  // 1 less the product of (1 - 1/255)^(2 s) for s fingerprints in a bucket of each layer, on
  // average (Fan et al. 2014, section 5.1, for fingerprints of 255 values). O(bytes()).
  double expected_fpr() const noexcept override;
  // size(), which the format counts.
  double estimated_count() const noexcept override { return static_cast<double>(size()); }

  // One key: CF.EXISTS. Integers are taken by their value widened to 64 bits.
  bool Contains(uint64_t key) const;
  bool Contains(std::string_view key) const;
  // CF.COUNT: how often the key was inserted, or more. (A fingerprint whose two buckets are the
  // same counts twice there, too.)
  uint64_t Occurrences(uint64_t key) const;
  uint64_t Occurrences(std::string_view key) const;
  // CF.ADD. Returns whether there was room: not with max_expansions layers; nor if no key can be
  // moved, and expansion is 0. Throws Error(kOutOfMemory), with nothing changed, for another layer
  // of more bytes than the machine has.
  bool Insert(uint64_t key);
  bool Insert(std::string_view key);
  // CF.ADDNX: the same of a key that is not in yet. Returns whether it was inserted.
  bool InsertIfAbsent(uint64_t key);
  bool InsertIfAbsent(std::string_view key);
  // CF.DEL, once. Returns whether the key was found. When more than a tenth as many keys were
  // erased as are in, layers are emptied into older ones, as far as there is room.
  bool Erase(uint64_t key);
  bool Erase(std::string_view key);
  template <detail::NoKey T>
  uint64_t Occurrences(T) const = delete;
  template <detail::NoKey T>
  bool InsertIfAbsent(T) = delete;
  template <detail::NoKey T>
  bool Erase(T) = delete;

  // Many keys: see FormatFilter. The keys that Insert rejects are those that it has no room for. It
  // throws as that of one key, with the keys before it inserted.
  using Changeable::Erase;
  using FormatFilter::Contains;
  using FormatFilter::Insert;
  using FormatFilter::InsertIfAbsent;
  ChangeTraits change_traits() const noexcept override {
    return {.inserts_if_absent = true, .erases = true};
  }
  QueryTraits traits() const noexcept override;
  KeyTypes key_types() const noexcept override;
  // How often each key was inserted, or more; 0 for nulls. Throws Error(kInvalidArgument), with
  // nothing written, if `out` has no room for all.
  void Occurrences(Keys keys, std::span<uint64_t> out) const;

  // CF.COMPACT: moves keys to older layers with room for them, and drops the newest as long as it
  // is empty. Throws Error(kReadOnly) as Insert.
  void Compact();

  // Leaves the first layer alone, empty. Throws Error(kReadOnly) as Insert.
  void Clear();

  // What CF.SCANDUMP replies, byte for byte, without the last reply. (For a filter without keys it
  // replies nothing, and this what the server writes of it into its append-only file.) Throw
  // Error(kReadOnly) for a filter that was moved from.
  std::vector<RedisChunk> ToChunks() const;
  // Writes the file of these chunks, in pieces of at most 16 MiB, which are parts of the filter
  // where they are large.
  void Write(const ByteSink& write) const override;

 private:
  // Where a key may be.
  struct Place {
    uint64_t first;   // the hash, of which any layer takes the bits that it needs
    uint64_t second;  // that of the other bucket
    uint8_t fingerprint;
  };
  struct Layer {
    uint64_t num_buckets;     // a power of two
    detail::Storage storage;  // fingerprints, 0 for none, bucket after bucket; then kSlack

    uint8_t* slots() const noexcept { return reinterpret_cast<uint8_t*>(storage.data()); }
  };
  // Bytes that are read past a bucket, as 8 at a time are compared.
  static constexpr uint64_t kSlack = 8;

  RedisCuckooFilter(RedisIntegers integers, uint32_t max_expansions, const MemoryOptions& memory,
                    const Backend* backend);

  static Place PlaceOf(uint64_t hash) noexcept;
  Layer MakeLayer(uint64_t num_buckets) const;
  static RedisCuckooFilter Parse(const detail::RedisDump& dump,
                                 const RedisCuckooLoadOptions& options);
  std::vector<std::byte> Header() const;
  std::vector<std::span<const std::byte>> Parts() const;

  uint8_t* BucketAt(const Layer& layer, uint64_t hash) const noexcept;
  uint8_t* FindInBucket(uint8_t* bucket, uint8_t fingerprint) const noexcept;
  uint8_t* Find(const Layer& layer, const Place& place, uint8_t fingerprint) const noexcept;
  bool ContainsPlace(const Place& place) const noexcept;
  uint64_t CountPlace(const Place& place) const noexcept;
  bool InsertPlace(const Place& place);
  bool InsertPlaceIfAbsent(const Place& place);
  bool ErasePlace(const Place& place);
  bool InsertByMoving(Layer& layer, const Place& place) noexcept;
  bool Grow();
  bool EmptyLayer(size_t index);
  void EmptyLayers(bool all);
  void Prefetch(const Place& place) const noexcept;

  void Query(const Keys& keys, uint64_t* bits) const override;
  size_t Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) override;
  void RequireWritable() const;

  RedisIntegers integers_;
  uint32_t bucket_size_ = 0;
  uint32_t max_iterations_ = 0;
  uint32_t expansion_ = 0;
  uint32_t max_expansions_;
  uint64_t size_ = 0;
  uint64_t erased_ = 0;
  const Backend* backend_;
  MemoryOptions memory_;
  std::vector<Layer> layers_;  // the oldest first; none: moved from
};

}  // namespace tamis

#endif  // TAMIS_FORMATS_REDIS_CUCKOO_H_
