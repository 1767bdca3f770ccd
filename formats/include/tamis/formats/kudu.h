// The block Bloom filters of Apache Kudu: reading, querying, changing and writing them.
#ifndef TAMIS_FORMATS_KUDU_H_
#define TAMIS_FORMATS_KUDU_H_

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
#include "tamis/layout/split_block.h"
#include "tamis/memory.h"

namespace tamis {

// The type of the cells of a column, whose bytes are hashed. A reader must know it, because the
// bytes of a filter do not contain it.
enum class KuduType : uint8_t {
  kInt8,   // INT8: an integer in [-2^7, 2^7 - 1], as its 1 byte
  kInt16,  // INT16: an integer in [-2^15, 2^15 - 1], as its 2 bytes
  kInt32,  // INT32 and DATE: an integer in [-2^31, 2^31 - 1], as its 4 bytes
  kInt64,  // INT64 and UNIXTIME_MICROS: a 64-bit integer, as its 8 bytes
  kBytes,  // STRING, VARCHAR, BINARY: a string; for other types, their bytes in a FixedColumn
};

// "int8", "int16", "int32", "int64" or "bytes".
const char* KuduTypeName(KuduType type) noexcept;

// Options of a new filter: set `capacity`, and optionally `fpr`; or set `log_space_bytes`.
struct KuduOptions {
  uint64_t capacity = 0;             // keys to be inserted, in [1, 2^63 - 1]
  double fpr = 0.01;                 // false-positive rate at capacity, in [kMinFpr, kMaxFpr]
  uint32_t log_space_bytes = 0;      // log2 of the bytes, in [6, 30]
  uint32_t hash_seed = 0;            // seed of the hash
  MemoryOptions memory = {};         // memory of the filter
  const Backend* backend = nullptr;  // for queries and outputs; nullptr: DefaultBackend()
};

// Options of reading a KuduBlockBloomFilter.
struct KuduLoadOptions {
  MemoryOptions memory = {};         // memory of the filter
  const Backend* backend = nullptr;  // as in KuduOptions
};

// A kudu::BlockBloomFilter with the hash FAST_HASH, the only hash with which Kudu makes or reads
// filters. Every answer and every bit equals Kudu's, and the bytes are the message
// BlockBloomFilterPB. They are not a tamis file, and FilterKind does not include this filter. A
// block has the same layout as in tamis::split_block, but Kudu computes the index of a key's block
// differently, from a hash of 32 bits. So the filter is not a SplitBlockBloomFilter.
//
// For the types kInt8 to kInt64, keys are integers. They are signed: a uint64_t above 2^63 - 1 is
// the integer with the same bits. For kBytes, keys are strings, in any key layout for strings. Keys
// of the other type throw Error(kInvalidArgument) in every function and change nothing. Inserting
// an integer outside the range of the type also throws this error. A query for such an integer
// returns "no". Hashes, which have 32 bits in Kudu, are keys for every type; larger hashes are not.
class KuduBlockBloomFilter final : public FormatFilter {
 public:
  // The least size is two blocks. The largest is 1 GiB, because a message has fewer than 2^31
  // bytes.
  static constexpr uint32_t kMinLogSpaceBytes = 6;
  static constexpr uint32_t kMaxLogSpaceBytes = 30;

  // Computes the least power of two bytes that keeps the rate `fpr` at `capacity` keys, like
  // BlockBloomFilter::MinLogSpace. Throws Error(kInvalidArgument) for options out of range,
  // Error(kOutOfMemory) for more bytes than the machine has, and Error(kUnknownBackend) if
  // TAMIS_BACKEND is not the name of a backend.
  KuduBlockBloomFilter(KuduType type, const KuduOptions& options);

  // Reads one BlockBloomFilterPB. Missing or further bytes are an error. Like all protobuf readers,
  // accepts fields in any order and skips unknown fields. Checks everything before it allocates
  // memory. Throws FormatError with the failed check ("file length", "field", "log space", "bloom
  // data", "always false" or "hash algorithm") and the offset, Error(kIo), and the errors of the
  // constructor for memory and backend.
  static KuduBlockBloomFilter FromBytes(std::span<const std::byte> bytes, KuduType type,
                                        const KuduLoadOptions& options = {});
  // Reads a file like FromBytes.
  static KuduBlockBloomFilter Load(const std::filesystem::path& path, KuduType type,
                                   const KuduLoadOptions& options = {});

  KuduBlockBloomFilter(KuduBlockBloomFilter&&) noexcept;
  KuduBlockBloomFilter& operator=(KuduBlockBloomFilter&&) noexcept;
  ~KuduBlockBloomFilter();

  // Return the properties of the filter, as in its stream.
  KuduType type() const noexcept { return type_; }
  uint32_t hash_seed() const noexcept { return hash_seed_; }
  uint32_t log_space_bytes() const noexcept { return log_space_bytes_; }
  uint64_t num_blocks() const noexcept { return bytes() / split_block::kBlockBytes; }
  uint64_t bytes() const noexcept override { return uint64_t{1} << log_space_bytes_; }
  // The length of the message.
  uint64_t serialized_bytes() const noexcept override;
  // Whether the filter answers "no" to every key, whatever its blocks contain. True for an empty
  // filter.
  bool always_false() const noexcept { return always_false_; }
  std::span<const std::byte> blocks() const noexcept { return {storage_.data(), bytes()}; }

  // The number of distinct keys inserted, estimated from the contents: 0 if always_false(),
  // infinite if every bit is set. O(bytes()).
  double estimated_count() const noexcept override;
  // The false-positive rate at estimated_count() keys, by SplitBlockFpr. O(bytes()).
  double expected_fpr() const noexcept override;

  // Query one key. Integers are widened to 64 bits by value.
  bool Contains(uint64_t key) const;
  bool Contains(std::string_view key) const;
  // Returns whether the key was certainly absent.
  bool Insert(uint64_t key);
  bool Insert(std::string_view key);
  // Query and insert one key by its hash. Impala computes hashes with its own FastHash, and uses
  // filters through such functions.
  bool ContainsHash(uint32_t hash) const noexcept;
  bool InsertHash(uint32_t hash) noexcept;

  // For functions of many keys see FormatFilter.
  using FormatFilter::Contains;
  using FormatFilter::Insert;
  // If one key is outside the range of the type, no key of the call is inserted.
  ChangeTraits change_traits() const noexcept override {
    return {.inserts_if_absent = true, .whole_calls = true};
  }
  QueryTraits traits() const noexcept override;
  KeyTypes key_types() const noexcept override;

  // Adds the keys of `other`. Unless both filters have the same key type, seed and size, throws
  // Error(kIncompatible), which names the difference. Throws Error(kReadOnly) like Insert. Merging
  // a filter with itself, or with a filter that is always_false(), changes nothing.
  void Merge(const KuduBlockBloomFilter& other);

  // Empties the filter. Throws Error(kReadOnly) like Insert.
  void Clear();

  // Writes the output of CopyToPB and SerializeToString, in pieces. One of the pieces is blocks().
  void Write(const ByteSink& write) const override;

 private:
  struct Message;  // the decoded fields

  KuduBlockBloomFilter(KuduType type, uint32_t log_space_bytes, uint32_t hash_seed,
                       const MemoryOptions& memory, const Backend* backend);

  static uint32_t LogSpaceFor(const KuduOptions& options);
  static KuduBlockBloomFilter FromMessage(const Message& message, KuduType type,
                                          const KuduLoadOptions& options);
  void Query(const Keys& keys, uint64_t* bits) const override;
  size_t Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) override;
  void MergeFrom(const FormatFilter& other) override {
    Merge(static_cast<const KuduBlockBloomFilter&>(other));
  }
  void RequireWritable() const;

  uint32_t* words() const noexcept { return reinterpret_cast<uint32_t*>(storage_.data()); }

  KuduType type_;
  bool always_false_ = true;
  uint32_t log_space_bytes_;
  uint32_t hash_seed_;
  const Backend* backend_;
  detail::Storage storage_;
};

}  // namespace tamis

#endif  // TAMIS_FORMATS_KUDU_H_
