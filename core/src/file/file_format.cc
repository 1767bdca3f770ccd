// The header of a filter file as bytes, and all checks on it. Input and output are in file.cc.
#include "core/src/file/file_format.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "core/src/file/field_check.h"
#include "core/src/file/file_kind.h"
#include "core/src/file/header_fields.h"
#include "core/src/file/key_tag.h"
#include "core/src/file/shards.h"
#include "core/src/os/path_text.h"
#include "tamis/detail/str_cat.h"
#include "tamis/file/file_checks.h"
#include "tamis/file/filter_kind_name.h"
#include "tamis/hash_kinds.h"

namespace tamis::detail {
namespace {

namespace fs = std::filesystem;

// Files are little-endian, like the memory that they are mapped to. A port to a big-endian machine
// would have to swap words when it loads files, and could not map them.
static_assert(std::endian::native == std::endian::little);

// CR and LF reveal transfers that change line ends. The last character stops DOS from printing the
// rest of the file. Modeled on the signature of PNG files.
constexpr char kMagic[8] = {'t', 'a', 'm', 'i', 's', '\r', '\n', '\x1a'};

uint64_t HeaderChecksum(std::span<const std::byte> header, uint32_t version) {
  return XXH3_64bits(header.data(), offset::HeaderChecksum(version));
}

std::string Hex(uint64_t value) {
  std::string digits = "0x";
  for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[(value >> shift) & 15];
  return digits;
}

void CheckMagic(std::span<const std::byte> start, const FieldCheck& check) {
  const size_t n = std::min(sizeof(kMagic), start.size());
  const std::string_view text(reinterpret_cast<const char*>(start.data()), n);
  if (text == kImportedMagic) {
    check.Fail(
        ErrorCode::kUnsupported, "magic", offset::kMagic,
        "belongs to an imported filter of another library: ForeignFilter opens it, or `tamis "
        "query`, `info` and `export`");
  }
  if (text == kWindowMagic) {
    check.Fail(ErrorCode::kUnsupported, "magic", offset::kMagic,
               "belongs to a window: WindowedFilter opens it, or `tamis dedup --window`");
  }
  if (n != 0 && std::memcmp(start.data(), kMagic, n) != 0) {  // memcmp rejects null pointers
    check.Fail(ErrorCode::kCorrupt, "magic", offset::kMagic,
               "the file does not begin like a tamis file" + ShardHint(check.path));
  }
}

// Decodes the fields that version 1 does not have.
void DecodeNewFields(std::span<const std::byte> start, const FieldCheck& check,
                     FileHeader& header) {
  const auto types = GetField<uint32_t>(start, offset::kKeyTypes);
  check.InRange("key types", offset::kKeyTypes, types, 0, (1u << KeyTypes::kCount) - 1);
  header.key_types = KeyTypes::FromBits(static_cast<uint16_t>(types));
  DecodeSecret(start, check, header);
  check.Equal("page size", offset::kLog2PageBytes,
              GetField<uint32_t>(start, offset::kLog2PageBytes), kLog2PageBytes,
              ErrorCode::kUnsupported);
}

}  // namespace

void CheckHashKind(const FileHeader& header, const FieldCheck& check) {
  const HashKind kind = header.hash.kind;
  if (kind == HashKind::kXxh3 || kind == HashKind::kXxh64) return;
  if (!IsKeyed(kind) || header.version == 1) {
    check.Fail(ErrorCode::kUnsupported, "hash kind", offset::kHashKind,
               StrCat("is ", static_cast<uint32_t>(kind),
                      ", which this version of the library does not support"));
  }
  check.Equal("seed", offset::kSeed, header.hash.seed, 0);
}

constexpr uint32_t kHasSecret = 1;  // a bit of the flags

void DecodeSecret(std::span<const std::byte> start, const FieldCheck& check, FileHeader& header) {
  const bool keyed = IsKeyed(header.hash.kind);
  const auto flags = GetField<uint32_t>(start, offset::kFlags);
  check.InRange("flags", offset::kFlags, flags, 0, keyed ? kHasSecret : 0);
  header.has_secret = flags == kHasSecret;
  header.key_tag = GetField<decltype(header.key_tag)>(start, offset::kKeyTag);
  header.hash.secret = GetField<HashSecret>(start, offset::kSecret);
  if (!header.has_secret && header.hash.secret != HashSecret{}) {
    check.Fail(ErrorCode::kCorrupt, "secret", offset::kSecret,
               "must be 0, because the flags do not announce a secret");
  }
  if (keyed ? header.has_secret && KeyTag(header.hash) != header.key_tag
            : header.key_tag != decltype(header.key_tag){}) {
    check.Fail(ErrorCode::kCorrupt, "key tag", offset::kKeyTag,
               keyed ? "does not match the secret" : "must be 0, because the hash is not keyed");
  }
}

void EncodeSecret(std::span<std::byte> bytes, const FileHeader& header) {
  PutField(bytes, offset::kFlags, header.has_secret ? kHasSecret : 0);
  PutField(bytes, offset::kKeyTag, header.key_tag);
  if (header.has_secret) PutField(bytes, offset::kSecret, header.hash.secret);
}

void EncodeFrame(std::span<std::byte> bytes, uint32_t version) {
  std::memcpy(bytes.data() + offset::kMagic, kMagic, sizeof(kMagic));
  PutField(bytes, offset::kVersion, version);
  PutField(bytes, offset::kHeaderLength, static_cast<uint32_t>(HeaderBytes(version)));
}

void SealHeader(std::span<std::byte> bytes, uint32_t version) {
  PutField(bytes, offset::HeaderChecksum(version), HeaderChecksum(bytes, version));
}

void ThrowFormatError(const fs::path& path, ErrorCode code, const std::string& check,
                      uint64_t offset, const std::string& problem) {
  throw FormatError(code, check, offset,
                    StrCat(os::TextOf(path), ": ", check, " at offset ", offset, ": ", problem));
}

std::vector<std::byte> EncodeHeader(const FileHeader& header) {
  const size_t length = HeaderBytes(header.version);
  std::vector<std::byte> bytes(length);
  EncodeFrame(bytes, header.version);
  PutField(bytes, offset::kFilterKind, header.kind);
  PutField(bytes, offset::kHashKind, header.hash.kind);
  PutField(bytes, offset::kSeed, header.hash.seed);
  PutField(bytes, offset::kGeometry, header.geometry);
  PutField(bytes, offset::kCapacity, header.capacity);
  PutField(bytes, offset::kInserted, header.inserted);
  PutField(bytes, offset::kPayloadOffset, uint64_t{length});
  PutField(bytes, offset::kPayloadLength, header.payload_bytes);
  PutField(bytes, offset::kPayloadChecksum, header.payload_checksum);
  if (header.version != 1) {
    PutField(bytes, offset::kKeyTypes, uint32_t{header.key_types.bits()});
    EncodeSecret(bytes, header);
    PutField(bytes, offset::kLog2PageBytes, uint32_t{kLog2PageBytes});
  }
  SealHeader(bytes, header.version);
  return bytes;
}

FileHeader DecodeHeader(std::span<const std::byte> start, uint64_t file_bytes,
                        const fs::path& path) {
  assert(start.size() == std::min<uint64_t>(file_bytes, kHeaderBytes2));
  const FieldCheck check{path};
  const FileHeader header = DecodeHeaderAt(start, 0, path);
  const uint64_t expected = FileBytes(header);
  if (file_bytes != expected) {
    check.Fail(
        ErrorCode::kCorrupt, "file length", std::min(file_bytes, expected),
        StrCat("the file has ", file_bytes, " bytes, must have ", expected, " by its header"));
  }
  return header;
}

uint64_t FileBytes(const FileHeader& header) noexcept {
  // Cannot overflow, because check_geometry has limited the payload.
  const bool has_pages = FindFileKind(header.kind)->read_layers == nullptr;
  return Extent{header, 0, has_pages}.end();
}

uint32_t CheckFrame(std::span<const std::byte> start, const FieldCheck& check) {
  CheckMagic(start, check);
  const auto require_length = [&](size_t length) {
    if (start.size() >= length) return;
    check.Fail(ErrorCode::kCorrupt, "file length", start.size(),
               StrCat("the file has ", check.start + start.size(),
                      " bytes, too few for a header of ", length));
  };
  require_length(kHeaderBytes1);
  // The version is checked before the checksum, which other versions might have elsewhere.
  const auto version = GetField<uint32_t>(start, offset::kVersion);
  if (version < 1 || version > FileHeader::kVersionOfManyBlocks) {
    check.Fail(ErrorCode::kUnsupported, "version", offset::kVersion,
               StrCat("is ", version, ", and this version of the library reads 1 to ",
                      FileHeader::kVersionOfManyBlocks));
  }
  const size_t length = HeaderBytes(version);
  check.Equal("header length", offset::kHeaderLength,
              GetField<uint32_t>(start, offset::kHeaderLength), length);
  require_length(length);
  const size_t checksum_at = offset::HeaderChecksum(version);
  const uint64_t stored = GetField<uint64_t>(start, checksum_at);
  const uint64_t computed = HeaderChecksum(start, version);
  if (stored != computed) {
    check.Fail(ErrorCode::kCorrupt, "header checksum", checksum_at,
               "is " + Hex(stored) + ", must be " + Hex(computed));
  }
  return version;
}

FileHeader DecodeHeaderAt(std::span<const std::byte> start, uint64_t header_at,
                          const fs::path& path) {
  const FieldCheck check{path, header_at};
  FileHeader header;
  header.version = CheckFrame(start, check);

  // From here on, the header is as its writer made it, and may still be wrong or malicious.
  header.kind = GetField<FilterKind>(start, offset::kFilterKind);
  header.hash.kind = GetField<HashKind>(start, offset::kHashKind);
  header.hash.seed = GetField<uint64_t>(start, offset::kSeed);
  header.geometry = GetField<decltype(header.geometry)>(start, offset::kGeometry);
  header.capacity = GetField<uint64_t>(start, offset::kCapacity);
  header.inserted = GetField<uint64_t>(start, offset::kInserted);
  header.payload_bytes = GetField<uint64_t>(start, offset::kPayloadLength);
  header.payload_checksum =
      GetField<decltype(header.payload_checksum)>(start, offset::kPayloadChecksum);

  const FileKind* const kind = FindFileKind(header.kind);
  if (static_cast<uint32_t>(header.kind) == kBankFileKind) {
    check.Fail(
        ErrorCode::kUnsupported, "filter kind", offset::kFilterKind,
        "belongs to a filter bank, which is not a filter: FilterBank opens it, or `tamis bank`");
  }
  if (kind == nullptr) {
    check.Fail(ErrorCode::kUnsupported, "filter kind", offset::kFilterKind,
               StrCat("is ", static_cast<uint32_t>(header.kind),
                      ", which this version of the library does not support"));
  }
  const uint64_t payload_bytes = kind->check_geometry(header, check);
  check.Equal("version", offset::kVersion, header.version,
              VersionOf(header, std::min(header.version, FileHeader::kNewestVersion)));
  CheckHashKind(header, check);
  check.InRange("capacity", offset::kCapacity, header.capacity, 1, UINT64_MAX);
  check.Equal("payload offset", offset::kPayloadOffset,
              GetField<uint64_t>(start, offset::kPayloadOffset), HeaderBytes(header.version));
  check.Equal("payload length", offset::kPayloadLength, header.payload_bytes, payload_bytes);
  if (header.version != 1) DecodeNewFields(start, check, header);
  for (size_t at = offset::Reserved(header.version); at < offset::HeaderChecksum(header.version);
       at += sizeof(uint32_t)) {
    check.Equal("reserved bytes", at, GetField<uint32_t>(start, at), 0);
  }
  return header;
}

uint32_t VersionOf(const FileHeader& header, uint32_t version) noexcept {
  const auto has_many_blocks = FindFileKind(header.kind)->has_many_blocks;
  return has_many_blocks != nullptr && has_many_blocks(header) ? FileHeader::kVersionOfManyBlocks
                                                               : version;
}

FileHeader HeaderToSave(FileHeader header, const SaveOptions& options) {
  const auto refuse = [](const std::string& problem) {
    throw Error(ErrorCode::kInvalidArgument, problem);
  };
  const bool keyed = IsKeyed(header.hash.kind);
  if (options.version < 1 || options.version > FileHeader::kNewestVersion) {
    refuse(StrCat("version ", options.version, " of the format cannot be chosen; allowed: 1 to ",
                  FileHeader::kNewestVersion));
  }
  if (options.version == 1 && keyed) {
    refuse(std::string("version 1 of the format does not have the hash ") +
           HashKindName(header.hash.kind));
  }
  if (options.with_secret.value_or(false) && !keyed) {
    refuse(std::string("the hash ") + HashKindName(header.hash.kind) + " has no secret to save");
  }
  header.version = VersionOf(header, options.version);
  if (options.version == 1 && header.version != 1) {
    refuse("version 1 of the format does not have split-block filters of more than 128 GiB");
  }
  header.has_secret = options.with_secret.value_or(header.has_secret);
  header.key_tag = KeyTag(header.hash);
  return header;
}

std::span<const std::byte> Padding(uint64_t bytes) noexcept {
  static constexpr std::byte kZeros[kAlignment] = {};
  return std::span(kZeros).first(Padded(bytes) - bytes);
}

void AddParts(const SealedFilter& sealed, std::span<const std::byte> payload,
              std::vector<std::span<const std::byte>>& parts) {
  parts.push_back(sealed.header);
  parts.push_back(payload);
  if (sealed.pages.empty()) return;
  parts.push_back(Padding(payload.size()));
  parts.push_back(std::as_bytes(std::span(sealed.pages)));
}

void FailPageTable(const Extent& extent, const fs::path& path) {
  ThrowFormatError(path, ErrorCode::kCorrupt, "payload checksum",
                   extent.header_at + offset::kPayloadChecksum,
                   StrCat("does not match the checksums of pages, bytes [", extent.pages_at(), ", ",
                          extent.end(), ") of the file"));
}

void FailPage(const Extent& extent, uint64_t page, const fs::path& path) {
  const uint64_t begin = extent.payload_at() + page * kPageBytes;
  ThrowFormatError(path, ErrorCode::kCorrupt, "page checksum", begin,
                   StrCat("page ", page, ", bytes [", begin, ", ",
                          std::min(begin + kPageBytes, extent.payload_end()),
                          ") of the file, does not match its checksum"));
}

void RequireKind(const FileHeader& header, FilterKind kind, const fs::path& path) {
  if (header.kind != kind) {
    ThrowFormatError(path, ErrorCode::kUnsupported, "filter kind", offset::kFilterKind,
                     std::string("the file holds a ") + FilterKindName(header.kind) +
                         " filter, not a " + FilterKindName(kind) + " one");
  }
}

}  // namespace tamis::detail
