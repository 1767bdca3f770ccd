// Walks Thrift's compact protocol as stored in a file. Checks every byte, allocates nothing, and
// reports offsets, so that fields can be added between existing fields. Source: the Thrift
// specification, "Thrift Compact protocol encoding".
#ifndef TAMIS_PARQUET_SRC_THRIFT_WALKER_H_
#define TAMIS_PARQUET_SRC_THRIFT_WALKER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tamis::parquet {

// The types of values, as encoded in the lower four bits of a field's header. In lists a boolean is
// one byte.
enum class ThriftType : uint8_t {
  kStop = 0,
  kTrue = 1,
  kFalse = 2,
  kByte = 3,
  kI16 = 4,
  kI32 = 5,
  kI64 = 6,
  kDouble = 7,
  kBinary = 8,
  kList = 9,
  kSet = 10,
  kMap = 11,
  kStruct = 12,
  kUuid = 13,
};

// A field of a struct. Offsets count from the first byte of the walker.
struct ThriftField {
  int16_t id = 0;
  ThriftType type = ThriftType::kStop;
  size_t header_at = 0;
  size_t value_at = 0;  // the byte after the header; also for a boolean, whose type is its value

  bool boolean() const { return type == ThriftType::kTrue || type == ThriftType::kFalse; }
};

// The header of a list or set. The elements follow it.
struct ThriftList {
  ThriftType element = ThriftType::kStop;
  uint32_t size = 0;  // at most the number of bytes left, because every element has a byte
};

// A position in the bytes. Throws FormatError(kCorrupt) with the offset in the file if the bytes
// violate the protocol or end early. The bytes must outlive the walker.
class ThriftWalker {
 public:
  static constexpr int kMaxDepth = 32;  // limit for nested structs, lists and maps; Parquet uses 8

  // `base` is the offset of `bytes` in the file, `at` the start of the walk in `bytes`.
  explicit ThriftWalker(std::span<const std::byte> bytes, uint64_t base = 0, size_t at = 0)
      : bytes_(bytes), base_(base), at_(at) {}

  size_t at() const { return at_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  [[noreturn]] void Fail(size_t at, const std::string& what) const;

  // Read a value and move behind it. An integer out of the range of its type is an error.
  int64_t Integer(ThriftType type);
  double Double();
  std::string_view Binary();
  ThriftList List();
  // Skips an element of a list, or the value of a field.
  void Skip(ThriftType type);
  void SkipValue(const ThriftField& field) {
    if (!field.boolean()) Skip(field.type);
  }

 private:
  friend class ThriftStruct;

  uint8_t Byte();
  uint64_t Varint(int bits);
  void Advance(uint64_t bytes);
  void SkipElements(ThriftType type, uint64_t count);

  std::span<const std::byte> bytes_;
  uint64_t base_;
  size_t at_;
  int depth_ = 0;
};

// Walks the fields of the struct at the walker.
class ThriftStruct {
 public:
  explicit ThriftStruct(ThriftWalker& walker);
  ~ThriftStruct() { --walker_.depth_; }
  ThriftStruct(const ThriftStruct&) = delete;
  ThriftStruct& operator=(const ThriftStruct&) = delete;

  // Returns the next field, with the walker at its value. Returns nothing at the end, with the
  // walker behind the stop byte. Skips a value that has not been read. If a field with a number
  // from 1 to 63 is repeated, throws, because some readers would use the first value and others the
  // last.
  std::optional<ThriftField> Next();

  // Must be called after Next has returned nothing. Return the offset of the stop byte, and the
  // number of the last field. The header of a field that is added there states its number relative
  // to the number of the last field.
  size_t stop_at() const { return stop_at_; }
  int16_t last_id() const { return field_.id; }

 private:
  ThriftWalker& walker_;
  ThriftField field_;
  uint64_t seen_ = 0;
  size_t stop_at_ = 0;
};

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_SRC_THRIFT_WALKER_H_
