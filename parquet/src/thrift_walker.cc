#include "parquet/src/thrift_walker.h"

#include <bit>
#include <limits>

#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis::parquet {
namespace {

constexpr uint8_t kLastType = static_cast<uint8_t>(ThriftType::kUuid);

int64_t ZigZag(uint64_t value) { return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1)); }

}  // namespace

void ThriftWalker::Fail(size_t at, const std::string& what) const {
  const uint64_t offset = base_ + at;
  throw FormatError(ErrorCode::kCorrupt, "Thrift", offset,
                    detail::StrCat(what, " at byte ", offset, " of the file"));
}

uint8_t ThriftWalker::Byte() {
  if (at_ >= bytes_.size()) Fail(bytes_.size(), "a structure is cut off");
  return static_cast<uint8_t>(bytes_[at_++]);
}

// Reads at most `bits` bits, in groups of seven, the lowest first.
uint64_t ThriftWalker::Varint(int bits) {
  const size_t begin = at_;
  uint64_t value = 0;
  for (int shift = 0; shift < bits; shift += 7) {
    const uint64_t byte = Byte();
    const uint64_t group = byte & 0x7F;
    if (bits - shift < 7 && group >> (bits - shift) != 0) break;
    value |= group << shift;
    if (byte < 0x80) return value;
  }
  Fail(begin, detail::StrCat("a number has more than ", bits, " bits"));
}

void ThriftWalker::Advance(uint64_t bytes) {
  if (bytes > bytes_.size() - at_) {
    Fail(at_, detail::StrCat("a value of ", bytes, " bytes is cut off"));
  }
  at_ += static_cast<size_t>(bytes);
}

int64_t ThriftWalker::Integer(ThriftType type) {
  switch (type) {
    case ThriftType::kByte:
      return static_cast<int8_t>(Byte());
    case ThriftType::kI16:
      return ZigZag(Varint(16));
    case ThriftType::kI32:
      return ZigZag(Varint(32));
    case ThriftType::kI64:
      return ZigZag(Varint(64));
    default:
      Fail(at_, "a value that must be an integer");
  }
}

double ThriftWalker::Double() {
  uint64_t bits = 0;
  for (int i = 0; i < 8; ++i) bits |= uint64_t{Byte()} << (8 * i);
  return std::bit_cast<double>(bits);
}

std::string_view ThriftWalker::Binary() {
  const uint64_t size = Varint(32);
  const size_t begin = at_;
  Advance(size);
  return {reinterpret_cast<const char*>(bytes_.data()) + begin, static_cast<size_t>(size)};
}

ThriftList ThriftWalker::List() {
  const size_t begin = at_;
  const uint8_t head = Byte();
  const uint64_t size = head >> 4 == 15 ? Varint(32) : head >> 4;
  const uint8_t element = head & 15;
  if (size > bytes_.size() - at_) {
    Fail(begin, detail::StrCat("a list of ", size, " elements is cut off"));
  }
  if (size > 0 && (element == 0 || element > kLastType)) {
    Fail(begin, detail::StrCat("a list of type ", element));
  }
  return {static_cast<ThriftType>(element), static_cast<uint32_t>(size)};
}

void ThriftWalker::SkipElements(ThriftType type, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) Skip(type);
}

void ThriftWalker::Skip(ThriftType type) {
  switch (type) {
    case ThriftType::kTrue:
    case ThriftType::kFalse:
    case ThriftType::kByte:
      return Advance(1);
    case ThriftType::kI16:
    case ThriftType::kI32:
    case ThriftType::kI64:
      Integer(type);
      return;
    case ThriftType::kDouble:
      return Advance(8);
    case ThriftType::kUuid:
      return Advance(16);
    case ThriftType::kBinary:
      Binary();
      return;
    case ThriftType::kStruct: {
      ThriftStruct fields(*this);
      while (fields.Next()) {
      }
      return;
    }
    case ThriftType::kList:
    case ThriftType::kSet:
    case ThriftType::kMap:
      break;
    case ThriftType::kStop:
      Fail(at_, "a value without a type");
  }
  if (depth_ == kMaxDepth) Fail(at_, "structures nested too deep");
  ++depth_;
  if (type != ThriftType::kMap) {
    const ThriftList list = List();
    SkipElements(list.element, list.size);
  } else if (const uint64_t size = Varint(32); size > 0) {
    const size_t begin = at_;
    const uint8_t types = Byte();
    const uint8_t key = types >> 4;
    const uint8_t value = types & 15;
    if (key == 0 || key > kLastType || value == 0 || value > kLastType) {
      Fail(begin, detail::StrCat("a map of types ", key, " and ", value));
    }
    for (uint64_t i = 0; i < size; ++i) {
      Skip(static_cast<ThriftType>(key));
      Skip(static_cast<ThriftType>(value));
    }
  }
  --depth_;  // not restored after an error, which ends the walk
}

ThriftStruct::ThriftStruct(ThriftWalker& walker) : walker_(walker) {
  if (walker_.depth_ == ThriftWalker::kMaxDepth) {
    walker_.Fail(walker_.at_, "structures nested too deep");
  }
  ++walker_.depth_;
}

std::optional<ThriftField> ThriftStruct::Next() {
  // Skips the value if it was not read. The value of a boolean field has no bytes, so skipping it
  // changes nothing.
  if (field_.type != ThriftType::kStop && walker_.at_ == field_.value_at) {
    walker_.SkipValue(field_);
  }
  const size_t begin = walker_.at_;
  const uint8_t head = walker_.Byte();
  const uint8_t type = head & 15;
  if (type == 0) {
    if (head != 0) walker_.Fail(begin, "a field without a type");
    stop_at_ = begin;
    return std::nullopt;
  }
  if (type > kLastType) walker_.Fail(begin, detail::StrCat("a field of type ", type));
  const int64_t id = head >> 4 != 0 ? field_.id + (head >> 4) : walker_.Integer(ThriftType::kI16);
  if (id < std::numeric_limits<int16_t>::min() || id > std::numeric_limits<int16_t>::max()) {
    walker_.Fail(begin, detail::StrCat("a field of number ", id));
  }
  if (id > 0 && id < 64) {
    const uint64_t bit = uint64_t{1} << id;
    if ((seen_ & bit) != 0) walker_.Fail(begin, detail::StrCat("field ", id, " appears again"));
    seen_ |= bit;
  }
  field_ = {static_cast<int16_t>(id), static_cast<ThriftType>(type), begin, walker_.at_};
  return field_;
}

}  // namespace tamis::parquet
