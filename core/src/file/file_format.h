// Reads and writes filter files of all kinds; core/FORMAT.md is the specification.
#ifndef TAMIS_CORE_SRC_FILE_FILE_FORMAT_H_
#define TAMIS_CORE_SRC_FILE_FILE_FORMAT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/src/file/page_table.h"
#include "tamis/detail/storage.h"
#include "tamis/error.h"
#include "tamis/file/file.h"

namespace tamis::detail {

class InputFile;

// Writes the parts of a file, which follow one another.
class PartsWriter {
 public:
  virtual ~PartsWriter() = default;
  virtual void Write(std::span<const std::span<const std::byte>> parts) const = 0;
};

// The first bytes of files of imported filters (formats/src/foreign_file.cc).
inline constexpr std::string_view kImportedMagic("tamis\r\n\x07", 8);
// The first bytes of files of windows (core/src/engine/windowed_filter.cc).
inline constexpr std::string_view kWindowMagic("tamis\r\n\x17", 8);

// The length of the header, which is also the offset of the payload.
inline constexpr size_t kHeaderBytes1 = 128;
inline constexpr size_t kHeaderBytes2 = 192;
constexpr size_t HeaderBytes(uint32_t version) {
  return version == 1 ? kHeaderBytes1 : kHeaderBytes2;
}

// The offsets of the fields, in bytes from the start of the file.
namespace offset {
inline constexpr size_t kMagic = 0;
inline constexpr size_t kVersion = 8;
inline constexpr size_t kHeaderLength = 12;
inline constexpr size_t kFilterKind = 16;
inline constexpr size_t kHashKind = 20;
inline constexpr size_t kSeed = 24;
inline constexpr size_t kGeometry = 32;  // three fields of 8 bytes
inline constexpr size_t kCapacity = 56;
inline constexpr size_t kInserted = 64;
inline constexpr size_t kBankDirectoryLength = kCapacity;  // in files of banks
inline constexpr size_t kPayloadOffset = 72;
inline constexpr size_t kPayloadLength = 80;
inline constexpr size_t kPayloadChecksum = 88;  // low 8 bytes, high 8 bytes
// The fields from here to kLog2PageBytes are in version 2 only.
inline constexpr size_t kKeyTypes = 104;
inline constexpr size_t kFlags = 108;
inline constexpr size_t kKeyTag = 112;  // two fields of 8 bytes
inline constexpr size_t kSecret = 128;  // two fields of 8 bytes
inline constexpr size_t kLog2PageBytes = 144;
// These two fields are in both versions, at different offsets.
constexpr size_t Reserved(uint32_t version) { return version == 1 ? 104 : 148; }
constexpr size_t HeaderChecksum(uint32_t version) { return HeaderBytes(version) - 8; }
}  // namespace offset

// Returns the header as it is in a file, with its checksum. `header` must have the length and the
// checksum of the payload.
std::vector<std::byte> EncodeHeader(const FileHeader& header);

// Decodes and checks the header of a file of `file_bytes` bytes: every field, against the other
// fields and the length. `start` must be the first kHeaderBytes2 bytes of the file, or all bytes if
// the file is shorter. Throws FormatError; `path` is only for the message.
FileHeader DecodeHeader(std::span<const std::byte> start, uint64_t file_bytes,
                        const std::filesystem::path& path);

// Decodes the header of a filter that begins `header_at` bytes from the start of a file. Makes the
// same checks, except for the length of the file. `start` must be kHeaderBytes2 bytes, or all bytes
// up to the end of the file.
FileHeader DecodeHeaderAt(std::span<const std::byte> start, uint64_t header_at,
                          const std::filesystem::path& path);

// Returns the number of bytes of the file of a filter. `header` must have passed its checks.
uint64_t FileBytes(const FileHeader& header) noexcept;

// The offset of the payload of a bank, and the size of its pages.
inline constexpr uint64_t kBankPayloadAt = uint64_t{1} << 14;
// Returns the number of bytes of the file of a bank: payload, checksum of each page, directory.
constexpr uint64_t BankEnd(uint64_t payload_bytes, uint64_t directory_bytes) noexcept {
  const uint64_t pages = payload_bytes / kBankPayloadAt;
  return kBankPayloadAt + payload_bytes + pages * sizeof(uint64_t) + directory_bytes;
}

// Throws a FormatError with the path, check, offset and `problem`.
[[noreturn]] void ThrowFormatError(const std::filesystem::path& path, ErrorCode code,
                                   const std::string& check, uint64_t offset,
                                   const std::string& problem);

// The page checksums after a payload and each further filter in a file begin at a multiple of this.
inline constexpr uint64_t kAlignment = 64;
constexpr uint64_t Padded(uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// A filter in a file: its header, its payload, and in version 2 the checksums of its pages, after
// zeros up to a multiple of kAlignment.
struct Extent {
  FileHeader header;
  uint64_t header_at = 0;  // in bytes from the start of the file
  // False for filters made of other filters, which have no page checksums of their own.
  bool has_pages = true;

  constexpr uint64_t payload_at() const noexcept { return header_at + HeaderBytes(header.version); }
  constexpr uint64_t payload_end() const noexcept { return payload_at() + header.payload_bytes; }
  constexpr bool paged() const noexcept { return header.version != 1 && has_pages; }
  constexpr uint64_t pages_at() const noexcept {
    return payload_at() + Padded(header.payload_bytes);
  }
  constexpr uint64_t end() const noexcept {
    return paged() ? pages_at() + PageTableBytes(header.payload_bytes) : payload_end();
  }
};

struct OpenedFile {
  FileHeader header;
  Storage storage;
};

// Throw FormatError: for a table of pages that does not match its checksum in the header, or for a
// page that does not match its checksum in the table.
[[noreturn]] void FailPageTable(const Extent& extent, const std::filesystem::path& path);
[[noreturn]] void FailPage(const Extent& extent, uint64_t page, const std::filesystem::path& path);

// Returns the version that Save writes for this header if its options request `version`. The kind
// must be known.
uint32_t VersionOf(const FileHeader& header, uint32_t version) noexcept;

// Returns the header with the version that `options` request, and with or without the secret.
// Throws Error(kInvalidArgument) if the options do not fit the filter.
FileHeader HeaderToSave(FileHeader header, const SaveOptions& options);

// The parts of a file of a filter, except for its payload.
struct SealedFilter {
  std::vector<std::byte> header;
  std::vector<uint64_t> pages;  // empty in version 1
};
// Throws the errors of HeaderToSave and RequireIntact.
SealedFilter Seal(FileHeader header, const Storage& storage, const SaveOptions& options);
// Appends the parts of the file in order. The parts refer to `sealed` and `payload`.
void AddParts(const SealedFilter& sealed, std::span<const std::byte> payload,
              std::vector<std::span<const std::byte>>& parts);
// Returns zeros from `bytes` up to the next multiple of kAlignment.
std::span<const std::byte> Padding(uint64_t bytes) noexcept;

// Reads and verifies a whole file of this kind, without layers, into new memory. Allocates nothing
// before the header has passed its checks, so a file cannot request more memory than it has bytes.
OpenedFile LoadFile(const InputFile& file, FilterKind kind, const LoadOptions& options);
OpenedFile LoadFile(const std::filesystem::path& path, FilterKind kind, const LoadOptions& options);

// Maps a file of this kind, without layers, read-only. If the file is cut short while it is mapped,
// probing the missing pages raises SIGBUS, which cannot be prevented here. SaveFile replaces files
// and never shortens them.
OpenedFile MapFile(const InputFile& file, FilterKind kind, const MapOptions& options);
OpenedFile MapFile(const std::filesystem::path& path, FilterKind kind, const MapOptions& options);

// Maps an open file of any kind. Maps the whole file; the storage shows the first `payload_bytes`
// bytes of its payload. For a file with layers, this is 0. If the file is in memory, the storage
// shows that memory; throws Error(kInvalidArgument) if its address is not a multiple of kAlignment.
// Verifies nothing.
Storage MapWhole(const InputFile& file, uint64_t payload_bytes);

// Writes a filter without layers. Throws the errors of Seal and `writer`.
void WriteFilter(const FileHeader& header, const Storage& storage, const SaveOptions& options,
                 const PartsWriter& writer);

// Throws FormatError(kUnsupported) unless the file has this kind.
void RequireKind(const FileHeader& header, FilterKind kind, const std::filesystem::path& path);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILE_FILE_FORMAT_H_
