// The cuckoo filters of RedisBloom, a module of Redis: reading, querying, changing and writing
// them.
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

// Options of a new filter, with the limits and defaults of CF.RESERVE.
struct RedisCuckooOptions {
  // Keys of the first layer, in [2 bucket_size, 2^30]. The number of its buckets is rounded up to a
  // power of two.
  uint64_t capacity = 1024;
  uint32_t bucket_size = 2;      // slots of a bucket, in [1, 255]
  uint32_t max_iterations = 20;  // keys moved to make room for one key, in [1, 65535]
  // Layer i has expansion^i times the buckets of the first layer. In [0, 32768], rounded up to a
  // power of two; 0: only one layer.
  uint32_t expansion = 1;
  // A filter with this many layers takes no more keys. In [1, 65536]. This is a setting of the
  // server (cf-max-expansions) and not part of a dump.
  uint32_t max_expansions = 32;
  RedisIntegers integers = RedisIntegers::kSigned;  // how integers become strings
  MemoryOptions memory = {};                        // memory of the filter
  const Backend* backend = nullptr;  // makes outputs and counts; nullptr: DefaultBackend()
};

// Options of reading a RedisCuckooFilter.
struct RedisCuckooLoadOptions {
  uint32_t max_expansions = 32;                     // as in RedisCuckooOptions
  RedisIntegers integers = RedisIntegers::kSigned;  // how integers become strings
  MemoryOptions memory = {};                        // memory of the filter
  const Backend* backend = nullptr;                 // as in RedisCuckooOptions
};

// A filter of the commands CF.*. Every answer, every moved key and every byte equals RedisBloom
// 8's. CF.SCANDUMP replies the same chunks, and CF.LOADCHUNK accepts them. A dump is not a tamis
// file, and FilterKind does not include this filter.
//
// The filter is a list of layers of buckets. A key is stored as a fingerprint from 1 to 255, in one
// of its two buckets of one layer: the newest layer with a free slot in one of these buckets. If no
// layer has a free slot there, keys of the newest layer are moved. If this fails, a layer is added.
// Each full layer adds about 2 bucket_size / 255 to the false-positive rate.
//
// A key that was inserted n times is in the filter n times, and can be erased n times. Erase only
// keys that were inserted: otherwise a key with the same fingerprint may be lost.
//
// Keys are strings in any key layout, and integers, which are converted to strings as RedisIntegers
// states. Hashes throw Error(kInvalidArgument) in every function.
//
// A moved-from filter cannot be saved.
class RedisCuckooFilter final : public FormatFilter {
 public:
  static constexpr uint64_t kMaxLayers = 65535;
  // 2^56 - 1 in each layer.
  static constexpr uint64_t kMaxBuckets = (uint64_t{1} << 56) - 1;

  // Throws Error(kInvalidArgument) for options out of range, Error(kOutOfMemory) for more bytes
  // than the machine has, and Error(kUnknownBackend) if TAMIS_BACKEND is not the name of a backend.
  explicit RedisCuckooFilter(const RedisCuckooOptions& options);

  // Reads a dump like RedisBloomFilter::FromChunks. Also throws Error(kInvalidArgument) if
  // `max_expansions` is out of range.
  static RedisCuckooFilter FromChunks(std::span<const RedisChunk> chunks,
                                      const RedisCuckooLoadOptions& options = {});
  static RedisCuckooFilter FromBytes(std::span<const std::byte> bytes,
                                     const RedisCuckooLoadOptions& options = {});
  // Reads a file like FromBytes.
  static RedisCuckooFilter Load(const std::filesystem::path& path,
                                const RedisCuckooLoadOptions& options = {});

  // For code that reads a dump chunk by chunk: returns the number of bytes of each layer, from the
  // header. The chunks after the header have these bytes in order, and no chunk has bytes of two
  // layers. Throws FormatError like FromChunks.
  static std::vector<uint64_t> PartsOfHeader(std::span<const std::byte> header);

  RedisCuckooFilter(RedisCuckooFilter&&) noexcept;
  RedisCuckooFilter& operator=(RedisCuckooFilter&&) noexcept;
  ~RedisCuckooFilter();

  // Return the properties of the filter, as in RedisCuckooOptions.
  RedisIntegers integers() const noexcept { return integers_; }
  uint32_t bucket_size() const noexcept { return bucket_size_; }
  uint32_t max_iterations() const noexcept { return max_iterations_; }
  uint32_t expansion() const noexcept { return expansion_; }
  uint64_t size() const noexcept { return size_; }  // keys inserted and not erased
  // Keys erased since keys were last moved to older layers.
  uint64_t erased() const noexcept { return erased_; }
  // Returns the number of layers.
  size_t num_layers() const noexcept { return layers_.size(); }
  uint64_t num_buckets(size_t layer) const noexcept { return layers_[layer].num_buckets; }
  uint64_t bytes() const noexcept override;  // size of the fingerprints of all layers
  // The length of a file of its dump.
  uint64_t serialized_bytes() const noexcept override;
  // 1 minus the product of (1 - 1/255)^(2 s) over all layers, where s is the average number of
  // fingerprints in a bucket (Fan et al. 2014, section 5.1, for fingerprints of 255 values).
  // O(bytes()).
  double expected_fpr() const noexcept override;
  // size(), which is part of the format.
  double estimated_count() const noexcept override { return static_cast<double>(size()); }

  // CF.EXISTS: query one key. Integers are widened to 64 bits by value.
  bool Contains(uint64_t key) const;
  bool Contains(std::string_view key) const;
  // CF.COUNT: how often the key was inserted, or more. (A fingerprint whose two buckets are the
  // same counts twice, as in RedisBloom.)
  uint64_t Occurrences(uint64_t key) const;
  uint64_t Occurrences(std::string_view key) const;
  // CF.ADD: inserts one key. Returns false if the filter has RedisCuckooOptions::max_expansions
  // layers, even if they have room. Also returns false if there is no room for the key and no layer
  // can be added, for example with an expansion of 0. If a new layer would need more bytes than the
  // machine has, throws Error(kOutOfMemory) and changes nothing.
  bool Insert(uint64_t key);
  bool Insert(std::string_view key);
  // CF.ADDNX: inserts the key if it is absent. Returns whether it was inserted.
  bool InsertIfAbsent(uint64_t key);
  bool InsertIfAbsent(std::string_view key);
  // CF.DEL: erases one copy of a key. Returns whether the key was found. If erased() then exceeds a
  // tenth of size(), moves keys to older layers that have room.
  bool Erase(uint64_t key);
  bool Erase(std::string_view key);
  template <detail::NoKey T>
  uint64_t Occurrences(T) const = delete;
  template <detail::NoKey T>
  bool InsertIfAbsent(T) = delete;
  template <detail::NoKey T>
  bool Erase(T) = delete;

  // For functions of many keys see FormatFilter. Insert rejects the keys for which Insert of one
  // key returns false. It throws like Insert of one key, and the keys before the key that failed
  // stay inserted.
  using Changeable::Erase;
  using FormatFilter::Contains;
  using FormatFilter::Insert;
  using FormatFilter::InsertIfAbsent;
  ChangeTraits change_traits() const noexcept override {
    return {.inserts_if_absent = true, .erases = true};
  }
  QueryTraits traits() const noexcept override;
  KeyTypes key_types() const noexcept override;
  // Writes to `out` how often each key was inserted, or more; 0 for nulls. Throws
  // Error(kInvalidArgument), and then writes nothing, if `out` is too short.
  void Occurrences(Keys keys, std::span<uint64_t> out) const;

  // CF.COMPACT: moves keys to older layers that have room, and then drops the newest layers that
  // are empty. Throws Error(kReadOnly) like Insert.
  void Compact();

  // Empties the first layer and removes the others. Throws Error(kReadOnly) like Insert.
  void Clear();

  // Returns the exact replies of CF.SCANDUMP, without the last one. (For a filter without keys,
  // CF.SCANDUMP replies nothing. This function then returns the chunks that the server writes to
  // its append-only file.) Throws Error(kReadOnly) for a moved-from filter.
  std::vector<RedisChunk> ToChunks() const;
  // Writes a file of these chunks, in pieces of at most 16 MiB. Large pieces point into the memory
  // of the filter. Throws Error(kReadOnly) for a moved-from filter.
  void Write(const ByteSink& write) const override;

 private:
  // The two buckets of a key, and its fingerprint.
  struct Place {
    uint64_t first;   // hash of the first bucket; a layer uses its low bits as the index
    uint64_t second;  // hash of the second bucket
    uint8_t fingerprint;
  };
  struct Layer {
    uint64_t num_buckets;     // a power of two
    detail::Storage storage;  // fingerprints, 0 for none, bucket after bucket; then kSlack bytes

    uint8_t* slots() const noexcept { return reinterpret_cast<uint8_t*>(storage.data()); }
  };
  // Bytes that may be read past the last bucket, because 8 are compared at a time.
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
  std::vector<Layer> layers_;  // the oldest first; empty: moved-from
};

}  // namespace tamis

#endif  // TAMIS_FORMATS_REDIS_CUCKOO_H_
