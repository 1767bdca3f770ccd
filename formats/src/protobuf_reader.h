// Reads the fields of one untrusted protobuf message (protobuf.dev, "Encoding").
#ifndef TAMIS_FORMATS_SRC_PROTOBUF_READER_H_
#define TAMIS_FORMATS_SRC_PROTOBUF_READER_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "core/src/base/function_ref.h"

namespace tamis::detail {

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct ProtobufField {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t at = 0;           // offset of its tag
  uint64_t value = 0;        // value of kVarint; number of bytes of kBytes
  uint64_t contents_at = 0;  // offset of its bytes
};

class ProtobufReader {
 public:
  // read(out, offset) fills `out` from the message of `size` bytes. `name` is used in error
  // messages. Both must outlive this object.
  using Read = FunctionRef<void(std::span<std::byte> out, uint64_t offset)>;
  ProtobufReader(uint64_t size, Read read, const std::filesystem::path& name) noexcept
      : size_(size), read_(read), name_(name) {}

  // Reads the next field and skips the contents of the previous one. Checks that the message has
  // all bytes of the field. Returns false at the end. Throws FormatError ("field", "file length"),
  // also for groups, which protobuf has deprecated, and the errors of read.
  bool Next(ProtobufField& field);

 private:
  uint64_t ReadVarint();
  std::byte ReadByte();
  [[noreturn]] void Fail(const char* check, uint64_t at, const char* problem) const;

  // Bytes that are read at a time, so that small fields do not cause many reads of a file.
  static constexpr uint64_t kWindowBytes = 512;

  uint64_t size_;
  Read read_;
  const std::filesystem::path& name_;
  uint64_t at_ = 0;
  uint64_t window_at_ = 0;
  uint64_t window_bytes_ = 0;
  std::byte window_[kWindowBytes];
};

}  // namespace tamis::detail

#endif  // TAMIS_FORMATS_SRC_PROTOBUF_READER_H_
