#include "formats/src/protobuf_reader.h"

#include <algorithm>

#include "core/src/file/file_format.h"
#include "tamis/error.h"

namespace tamis::detail {

void ProtobufReader::Fail(const char* check, uint64_t at, const char* problem) const {
  ThrowFormatError(name_, ErrorCode::kCorrupt, check, at, problem);
}

std::byte ProtobufReader::ReadByte() {
  if (at_ == size_) Fail("file length", size_, "the message is cut off in a field");
  if (at_ - window_at_ >= window_bytes_) {
    window_at_ = at_;
    window_bytes_ = std::min(kWindowBytes, size_ - at_);
    read_(std::span(window_).first(window_bytes_), at_);
  }
  return window_[at_++ - window_at_];
}

// Drops bits after the 64th, like protobuf.
uint64_t ProtobufReader::ReadVarint() {
  const uint64_t begin = at_;
  uint64_t value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    const auto byte = static_cast<uint64_t>(ReadByte());
    value |= (byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  Fail("field", begin, "a number has more than 10 bytes");
}

bool ProtobufReader::Next(ProtobufField& field) {
  if (at_ == size_) return false;
  field = {};
  field.at = at_;
  const uint64_t tag = ReadVarint();
  const uint64_t number = tag >> 3;
  constexpr uint64_t kMaxNumber = (1 << 29) - 1;
  if (number == 0 || number > kMaxNumber)
    Fail("field", field.at, "its number is not in [1, 2^29 - 1]");
  field.number = static_cast<uint32_t>(number);
  uint64_t skipped = 0;
  switch (tag & 7) {
    case 0:
      field.type = WireType::kVarint;
      field.value = ReadVarint();
      break;
    case 1:
      field.type = WireType::kFixed64;
      skipped = 8;
      break;
    case 2:
      field.type = WireType::kBytes;
      field.value = skipped = ReadVarint();
      break;
    case 5:
      field.type = WireType::kFixed32;
      skipped = 4;
      break;
    default:
      Fail("field", field.at, "it is a group, or its type is unknown");
  }
  field.contents_at = at_;
  if (skipped > size_ - at_) Fail("file length", size_, "the message is cut off in a field");
  at_ += skipped;
  return true;
}

}  // namespace tamis::detail
