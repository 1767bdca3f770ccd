// The fields of one protobuf message, which nobody trusts: protobuf.dev, "Encoding".
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
  uint64_t at = 0;           // where its tag is
  uint64_t value = 0;        // of kVarint; of kBytes, their number
  uint64_t contents_at = 0;  // where its bytes are
};

class ProtobufReader {
 public:
  // read(out, offset) fills `out` from the message of `size` bytes; `name` is for messages of
  // errors. Both must outlive this.
  using Read = FunctionRef<void(std::span<std::byte> out, uint64_t offset)>;
  ProtobufReader(uint64_t size, Read read, const std::filesystem::path& name) noexcept
      : size_(size), read_(read), name_(name) {}

  // The next field, which lies in the message with all its bytes; false at the end. Skips what the
  // field before has. Throws FormatError ("field", "file length"), and what read throws. Groups,
  // which protobuf has given up, are errors.
  bool Next(ProtobufField& field);

 private:
  uint64_t ReadVarint();
  std::byte ReadByte();
  [[noreturn]] void Fail(const char* check, uint64_t at, const char* problem) const;

  // Read at once, so that small fields are not read from a file one by one.
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
