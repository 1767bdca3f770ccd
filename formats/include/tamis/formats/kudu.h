// The block Bloom filters of Apache Kudu: read, asked, changed and written.
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

// The type of the cells of a column, whose bytes are hashed. The bytes of a filter do not say which
// it was: whoever reads one must know.
enum class KuduType : uint8_t {
  kInt8,   // INT8: an integer in [-2^7, 2^7 - 1], as its 1 byte
  kInt16,  // INT16: an integer in [-2^15, 2^15 - 1], as its 2 bytes
  kInt32,  // INT32 and DATE: an integer in [-2^31, 2^31 - 1], as its 4 bytes
  kInt64,  // INT64 and UNIXTIME_MICROS: a 64-bit integer, as its 8 bytes
  kBytes,  // STRING, VARCHAR, BINARY: a string; other types by their bytes in a FixedColumn
};

// "int8", "int16", "int32", "int64" or "bytes".
const char* KuduTypeName(KuduType type) noexcept;

// How a filter is made: give capacity, and fpr if not that of Kudu's client, or log_space_bytes.
struct KuduOptions {
  uint64_t capacity = 0;         // keys to be inserted, in [1, 2^63 - 1]
  double fpr = 0.01;             // false-positive rate at capacity, in [kMinFpr, kMaxFpr]
  uint32_t log_space_bytes = 0;  // log2 of the bytes, in [6, 30]
  uint32_t hash_seed = 0;
  MemoryOptions memory = {};
  const Backend* backend = nullptr;  // nullptr: DefaultBackend(). Asks, and makes outputs
};

struct KuduLoadOptions {
  MemoryOptions memory = {};
  const Backend* backend = nullptr;  // as in KuduOptions
};

// A kudu::BlockBloomFilter with the hash FAST_HASH, the only one with which Kudu makes or reads
// any: every answer and every bit is Kudu's, and the bytes are those of its message
// BlockBloomFilterPB. Not a tamis file, and no filter of a FilterKind. The blocks are those of
// tamis::split_block, but which one a key falls into follows from 32 bits of hash in a way of its
// own, so they are no SplitBlockBloomFilter.
//
// Keys are integers for the types kInt8 to kInt64 (signed ones: a uint64_t above 2^63 - 1 is the
// integer with its bits), and strings, in any form of Keys that has them, for kBytes. Keys of the
// other sort throw Error(kInvalidArgument) in every function, with nothing changed. So does the
// insertion of an integer that the type does not have. Asked for such a one, a filter says "no".
// Ready hashes, of which Kudu has 32 bits, are keys of every type; larger ones are none.
//
class KuduBlockBloomFilter final : public FormatFilter {
 public:
  // Two blocks, and 1 GiB, as the length of a message is below 2^31 bytes.
  static constexpr uint32_t kMinLogSpaceBytes = 6;
  static constexpr uint32_t kMaxLogSpaceBytes = 30;

  // Given capacity and rate, the least power of two bytes at which the rate is kept, as
  // BlockBloomFilter::MinLogSpace. Throws Error(kInvalidArgument) for options out of range,
  // Error(kOutOfMemory) for more bytes than the machine has, Error(kUnknownBackend) if
  // TAMIS_BACKEND names none.
  KuduBlockBloomFilter(KuduType type, const KuduOptions& options);

  // Reads a BlockBloomFilterPB, all of it and nothing else: fields in any order, and fields that
  // are not known here are skipped, as everywhere in protobuf. Everything is checked before memory
  // is allocated. Throws FormatError naming the check ("file length", "field", "log space",
  // "bloom data", "always false" or "hash algorithm") and the offset, Error(kIo), and as the
  // constructor for memory and backend.
  static KuduBlockBloomFilter FromBytes(std::span<const std::byte> bytes, KuduType type,
                                        const KuduLoadOptions& options = {});
  static KuduBlockBloomFilter Load(const std::filesystem::path& path, KuduType type,
                                   const KuduLoadOptions& options = {});

  KuduBlockBloomFilter(KuduBlockBloomFilter&&) noexcept;
  KuduBlockBloomFilter& operator=(KuduBlockBloomFilter&&) noexcept;
  ~KuduBlockBloomFilter();

  KuduType type() const noexcept { return type_; }
  uint32_t hash_seed() const noexcept { return hash_seed_; }
  uint32_t log_space_bytes() const noexcept { return log_space_bytes_; }
  uint64_t num_blocks() const noexcept { return bytes() / split_block::kBlockBytes; }
  uint64_t bytes() const noexcept override { return uint64_t{1} << log_space_bytes_; }
  // What its message has.
  uint64_t serialized_bytes() const noexcept override;
  // Whether it is one that says "no" to every key, whatever its blocks have: so is an empty filter.
  bool always_false() const noexcept { return always_false_; }
  std::span<const std::byte> blocks() const noexcept { return {storage_.data(), bytes()}; }

  // The number of distinct keys inserted, estimated from the contents; 0 if always_false(),
  // infinite if every bit is set. O(bytes()).
  double estimated_count() const noexcept override;
  // The false-positive rate at that number of keys, by SplitBlockFpr. O(bytes()).
  double expected_fpr() const noexcept override;

  // One key. Integers are taken by their value widened to 64 bits.
  bool Contains(uint64_t key) const;
  bool Contains(std::string_view key) const;
  // Returns whether the key was certainly not in.
  bool Insert(uint64_t key);
  bool Insert(std::string_view key);
  // One key by its hash, as Impala, which has a FastHash of its own, asks and fills such filters.
  bool ContainsHash(uint32_t hash) const noexcept;
  bool InsertHash(uint32_t hash) noexcept;

  // Many keys: see FormatFilter.
  using FormatFilter::Contains;
  using FormatFilter::Insert;
  // A key that the type does not have rejects all keys of a call.
  ChangeTraits change_traits() const noexcept override {
    return {.inserts_if_absent = true, .whole_calls = true};
  }
  QueryTraits traits() const noexcept override;
  KeyTypes key_types() const noexcept override;

  // The union. Throws Error(kIncompatible), saying what differs, unless both have the same type of
  // keys, seed and size; Error(kReadOnly) as Insert. With itself nothing changes, and nothing comes
  // from a filter that is always_false().
  void Merge(const KuduBlockBloomFilter& other);

  // Empties the filter. Throws Error(kReadOnly) as Insert.
  void Clear();

  // Writes what CopyToPB and SerializeToString make of it, in pieces, one of which is blocks().
  void Write(const ByteSink& write) const override;

 private:
  struct Message;  // what the fields say

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
