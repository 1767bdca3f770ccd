#include "parquet/src/filter_header.h"

#include <optional>

#include "parquet/src/fields.h"
#include "parquet/src/thrift_walker.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/layout/split_block.h"

namespace tamis::parquet {
namespace {

namespace id = fields::bloom_filter_header;

// Reads a union whose only member is an empty struct.
void RequireOnlyMember(ThriftWalker& walker, const char* what) {
  ThriftStruct fields(walker);
  bool known = false;
  bool others = false;
  while (const auto field = fields.Next()) {
    (field->id == id::kOnlyMember && field->type == ThriftType::kStruct ? known : others) = true;
  }
  if (!known || others) {
    throw Error(ErrorCode::kUnsupported,
                std::string("a Bloom filter of another ") + what + " than this library knows");
  }
}

}  // namespace

std::string FilterHeader(uint64_t bytes) {
  constexpr char kI32 = static_cast<char>(ThriftType::kI32);
  constexpr char kStruct = static_cast<char>(ThriftType::kStruct);
  constexpr char kNext = 0x10;  // the number of the field is the previous one plus 1
  constexpr char kStop = 0;
  std::string header = {kNext | kI32};
  uint64_t zigzag = 2 * bytes;
  for (; zigzag >= 0x80; zigzag >>= 7) header += static_cast<char>((zigzag & 0x7F) | 0x80);
  header += static_cast<char>(zigzag);
  for (int i = 0; i < 3; ++i) {  // algorithm, hash, compression
    header += {kNext | kStruct, kNext | kStruct, kStop, kStop};
  }
  return header + kStop;
}

ParsedHeader ParseFilterHeader(std::span<const std::byte> bytes, uint64_t offset) {
  ThriftWalker walker(bytes, offset);
  std::optional<int64_t> bits;
  bool algorithm = false;
  bool hash = false;
  bool compression = false;
  ThriftStruct fields(walker);
  while (const auto field = fields.Next()) {
    if (field->id == id::kNumBytes && field->type == ThriftType::kI32) {
      bits = walker.Integer(field->type);
    } else if (field->type != ThriftType::kStruct) {
      continue;
    } else if (field->id == id::kAlgorithm) {
      RequireOnlyMember(walker, "algorithm");
      algorithm = true;
    } else if (field->id == id::kHash) {
      RequireOnlyMember(walker, "hash");
      hash = true;
    } else if (field->id == id::kCompression) {
      RequireOnlyMember(walker, "compression");
      compression = true;
    }
  }
  if (!bits || !algorithm || !hash || !compression) {
    walker.Fail(0, "an incomplete header of a Bloom filter");
  }
  if (*bits <= 0 || *bits % split_block::kBlockBytes != 0) {
    walker.Fail(
        0, detail::StrCat("a Bloom filter of ", *bits, " bytes, which is not a multiple of 32,"));
  }
  return {walker.at(), static_cast<uint64_t>(*bits)};
}

}  // namespace tamis::parquet
