// Thrift's compact protocol as it lies in a file: a walk over the bytes that checks each of them,
// allocates nothing, and says where everything is, so that fields can be added between what is
// there. Source: the Thrift specification, "Thrift Compact protocol encoding".
#ifndef TAMIS_PARQUET_SRC_THRIFT_WALKER_H_
#define TAMIS_PARQUET_SRC_THRIFT_WALKER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tamis::parquet {

// As in the lower four bits of a field's header. In lists a boolean is a byte of its own.
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

// A field of a struct. Offsets are counted from the first byte that the walker was given.
struct ThriftField {
  int16_t id = 0;
  ThriftType type = ThriftType::kStop;
  size_t header_at = 0;
  size_t value_at = 0;  // the byte after the header; of a boolean, whose value is its type, too

  bool boolean() const { return type == ThriftType::kTrue || type == ThriftType::kFalse; }
};

// The header of a list or set, behind which its elements are.
struct ThriftList {
  ThriftType element = ThriftType::kStop;
  uint32_t size = 0;  // at most the bytes that are left, as no element has none
};

// A place in the bytes. What does not fit the protocol, or is not all there, is a
// FormatError(kCorrupt) that names its offset in the file. The bytes must outlive the walker.
class ThriftWalker {
 public:
  static constexpr int kMaxDepth = 32;  // of structs, lists and maps; Parquet has 8

  // `base` is where the bytes begin in the file, `at` where the walk begins in the bytes.
  explicit ThriftWalker(std::span<const std::byte> bytes, uint64_t base = 0, size_t at = 0)
      : bytes_(bytes), base_(base), at_(at) {}

  size_t at() const { return at_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  [[noreturn]] void Fail(size_t at, const std::string& what) const;

  // Values; each moves to the byte behind it. An integer that its type cannot hold is an error.
  int64_t Integer(ThriftType type);
  double Double();
  std::string_view Binary();
  ThriftList List();
  // One element of a list, or the value of a field.
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

// Walks the fields of the struct that begins where the walker is.
class ThriftStruct {
 public:
  explicit ThriftStruct(ThriftWalker& walker);
  ~ThriftStruct() { --walker_.depth_; }
  ThriftStruct(const ThriftStruct&) = delete;
  ThriftStruct& operator=(const ThriftStruct&) = delete;

  // The next field, with the walker at its value; nothing at the end, with the walker behind the
  // stop byte. A value that has not been read is skipped. A field that is there twice, of those
  // numbered 1 to 63, is an error: readers would differ in which one they take.
  std::optional<ThriftField> Next();

  // After Next has given nothing: where the stop byte is, and the id that a field put there would
  // count its own from.
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
