// The header of a filter file as bytes, and every check on it. No input or output: that is file.cc.
#include "core/src/file/file_format.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "core/src/file/field_check.h"
#include "core/src/file/file_kind.h"

namespace tamis::detail {
namespace {

namespace fs = std::filesystem;

// Files are little-endian, and so is the memory they are mapped to: a port to a big-endian machine
// would have to swap words when loading and could not map.
static_assert(std::endian::native == std::endian::little);

// A byte above 127 and both kinds of line end show up transfers in text mode; the last character
// ends the output of a file to a DOS terminal. After the signature of PNG files.
constexpr char kMagic[8] = {'t', 'a', 'm', 'i', 's', '\r', '\n', '\x1a'};

template <typename T>
T Get(std::span<const std::byte> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

template <typename T>
void Put(std::span<std::byte> bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

uint64_t HeaderChecksum(std::span<const std::byte> header) {
  return XXH3_64bits(header.data(), offset::kHeaderChecksum);
}

std::string Hex(uint64_t value) {
  std::string digits = "0x";
  for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[(value >> shift) & 15];
  return digits;
}

void CheckMagic(std::span<const std::byte> start, const FieldCheck& check) {
  if (std::memcmp(start.data(), kMagic, std::min(sizeof(kMagic), start.size())) != 0) {
    check.Fail(ErrorCode::kCorrupt, "magic", offset::kMagic,
               "the file does not begin as a tamis file does");
  }
}

}  // namespace

void ThrowFormatError(const fs::path& path, ErrorCode code, const std::string& check,
                      uint64_t offset, const std::string& problem) {
  throw FormatError(
      code, check, offset,
      path.string() + ": " + check + " at offset " + std::to_string(offset) + ": " + problem);
}

HeaderBytes EncodeHeader(const FileHeader& header) {
  HeaderBytes bytes{};
  std::memcpy(bytes.data() + offset::kMagic, kMagic, sizeof(kMagic));
  Put(bytes, offset::kVersion, kFormatVersion);
  Put(bytes, offset::kHeaderLength, static_cast<uint32_t>(kHeaderBytes));
  Put(bytes, offset::kFilterKind, header.kind);
  Put(bytes, offset::kHashKind, header.hash.kind);
  Put(bytes, offset::kSeed, header.hash.seed);
  Put(bytes, offset::kGeometry, header.geometry);
  Put(bytes, offset::kCapacity, header.capacity);
  Put(bytes, offset::kInserted, header.inserted);
  Put(bytes, offset::kPayloadOffset, uint64_t{kHeaderBytes});
  Put(bytes, offset::kPayloadLength, header.payload_bytes);
  Put(bytes, offset::kPayloadChecksum, header.payload_checksum);
  Put(bytes, offset::kHeaderChecksum, HeaderChecksum(bytes));
  return bytes;
}

FileHeader DecodeHeader(std::span<const std::byte> start, uint64_t file_bytes,
                        const fs::path& path) {
  const FieldCheck check{path};
  assert(start.size() == std::min<uint64_t>(file_bytes, kHeaderBytes));
  if (file_bytes > 0) CheckMagic(start, check);
  if (file_bytes < kHeaderBytes) {
    check.Fail(ErrorCode::kCorrupt, "file length", file_bytes,
               "the file has " + std::to_string(file_bytes) + " bytes, fewer than its header of " +
                   std::to_string(kHeaderBytes));
  }
  const FileHeader header = DecodeHeaderAt(start, 0, path);
  // No overflow: check_geometry has bounded the payload.
  const uint64_t expected = kHeaderBytes + header.payload_bytes;
  if (file_bytes != expected) {
    check.Fail(ErrorCode::kCorrupt, "file length", std::min(file_bytes, expected),
               "the file has " + std::to_string(file_bytes) + " bytes, must have " +
                   std::to_string(expected) + " by its header");
  }
  return header;
}

FileHeader DecodeHeaderAt(std::span<const std::byte> start, uint64_t header_at,
                          const fs::path& path) {
  const FieldCheck check{path, header_at};
  CheckMagic(start, check);
  // The version comes before the checksum, which other versions might keep elsewhere.
  FileHeader header;
  header.version = Get<uint32_t>(start, offset::kVersion);
  check.Equal("version", offset::kVersion, header.version, kFormatVersion, ErrorCode::kUnsupported);
  check.Equal("header length", offset::kHeaderLength, Get<uint32_t>(start, offset::kHeaderLength),
              kHeaderBytes);
  const uint64_t stored = Get<uint64_t>(start, offset::kHeaderChecksum);
  const uint64_t computed = HeaderChecksum(start);
  if (stored != computed) {
    check.Fail(ErrorCode::kCorrupt, "header checksum", offset::kHeaderChecksum,
               "is " + Hex(stored) + ", must be " + Hex(computed));
  }

  // From here on the header is what somebody wrote, who may still have been wrong or mean harm.
  header.kind = Get<FilterKind>(start, offset::kFilterKind);
  header.hash.kind = Get<HashKind>(start, offset::kHashKind);
  header.hash.seed = Get<uint64_t>(start, offset::kSeed);
  header.geometry = Get<decltype(header.geometry)>(start, offset::kGeometry);
  header.capacity = Get<uint64_t>(start, offset::kCapacity);
  header.inserted = Get<uint64_t>(start, offset::kInserted);
  header.payload_bytes = Get<uint64_t>(start, offset::kPayloadLength);
  header.payload_checksum = Get<decltype(header.payload_checksum)>(start, offset::kPayloadChecksum);

  const FileKind* const kind = FindFileKind(header.kind);
  if (kind == nullptr) {
    check.Fail(ErrorCode::kUnsupported, "filter kind", offset::kFilterKind,
               "is " + std::to_string(static_cast<uint32_t>(header.kind)) +
                   ", which this version of the library does not know");
  }
  const uint64_t payload_bytes = kind->check_geometry(header, check);
  if (header.hash.kind != HashKind::kXxh3 && header.hash.kind != HashKind::kXxh64) {
    check.Fail(ErrorCode::kUnsupported, "hash kind", offset::kHashKind,
               "is " + std::to_string(static_cast<uint32_t>(header.hash.kind)) +
                   ", which this version of the library does not know");
  }
  check.InRange("capacity", offset::kCapacity, header.capacity, 1, UINT64_MAX);
  check.Equal("payload offset", offset::kPayloadOffset,
              Get<uint64_t>(start, offset::kPayloadOffset), kHeaderBytes);
  check.Equal("payload length", offset::kPayloadLength, header.payload_bytes, payload_bytes);
  for (size_t at = offset::kReserved; at < offset::kHeaderChecksum; at += sizeof(uint64_t)) {
    check.Equal("reserved bytes", at, Get<uint64_t>(start, at), 0);
  }
  return header;
}

void RequireKind(const FileHeader& header, FilterKind kind, const fs::path& path) {
  if (header.kind != kind) {
    ThrowFormatError(path, ErrorCode::kUnsupported, "filter kind", offset::kFilterKind,
                     std::string("the file holds a ") + FilterKindName(header.kind) +
                         " filter, not a " + FilterKindName(kind) + " one");
  }
}

}  // namespace tamis::detail
