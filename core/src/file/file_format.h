// Reading and writing of filter files, for all kinds; core/FORMAT.md is the specification.
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

// Takes the parts of a file, which follow one another.
class PartsWriter {
 public:
  virtual ~PartsWriter() = default;
  virtual void Write(std::span<const std::span<const std::byte>> parts) const = 0;
};

// How files of imported filters begin (formats/src/foreign_file.cc).
inline constexpr std::string_view kImportedMagic("tamis\r\n\x07", 8);

// Of the header, which is also the offset of the payload.
inline constexpr size_t kHeaderBytes1 = 128;
inline constexpr size_t kHeaderBytes2 = 192;
constexpr size_t HeaderBytes(uint32_t version) {
  return version == 1 ? kHeaderBytes1 : kHeaderBytes2;
}

// Where the fields are, in bytes from the start of the file.
namespace offset {
inline constexpr size_t kMagic = 0;
inline constexpr size_t kVersion = 8;
inline constexpr size_t kHeaderLength = 12;
inline constexpr size_t kFilterKind = 16;
inline constexpr size_t kHashKind = 20;
inline constexpr size_t kSeed = 24;
inline constexpr size_t kGeometry = 32;  // three of 8 bytes
inline constexpr size_t kCapacity = 56;
inline constexpr size_t kInserted = 64;
inline constexpr size_t kPayloadOffset = 72;
inline constexpr size_t kPayloadLength = 80;
inline constexpr size_t kPayloadChecksum = 88;  // low 8 bytes, high 8 bytes
// From here on, version 2 ...
inline constexpr size_t kKeyTypes = 104;
inline constexpr size_t kFlags = 108;
inline constexpr size_t kKeyTag = 112;  // two of 8 bytes
inline constexpr size_t kSecret = 128;  // two of 8 bytes
inline constexpr size_t kLog2PageBytes = 144;
// ... but for these two, which differ.
constexpr size_t Reserved(uint32_t version) { return version == 1 ? 104 : 148; }
constexpr size_t HeaderChecksum(uint32_t version) { return HeaderBytes(version) - 8; }
}  // namespace offset

// The header as it is in a file, with its checksum. `header` has the payload's length and checksum.
std::vector<std::byte> EncodeHeader(const FileHeader& header);

// The first bytes of a file of `file_bytes` bytes, checked in full: every field, against the others
// and against the length. `start` is the first kHeaderBytes2 bytes, or all if the file is shorter.
// Throws FormatError; `path` is for the message only.
FileHeader DecodeHeader(std::span<const std::byte> start, uint64_t file_bytes,
                        const std::filesystem::path& path);

// The header of a filter `header_at` bytes from the start of a file: the same checks but for the
// length of the file. `start` is kHeaderBytes2 bytes, or all up to the end of the file.
FileHeader DecodeHeaderAt(std::span<const std::byte> start, uint64_t header_at,
                          const std::filesystem::path& path);

// Throws FormatError saying path, check, offset, and `problem`.
[[noreturn]] void ThrowFormatError(const std::filesystem::path& path, ErrorCode code,
                                   const std::string& check, uint64_t offset,
                                   const std::string& problem);

// All that follows in a file, or another filter in it, is at a multiple of this.
inline constexpr uint64_t kAlignment = 64;
constexpr uint64_t Padded(uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// A filter in a file: its header, its payload, and in version 2, after zeros up to a multiple of
// kAlignment, the checksums of its pages.
struct Extent {
  FileHeader header;
  uint64_t header_at = 0;  // in bytes from the start of the file
  // False for filters made of others, whose payload has none of its own.
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

// The errors of a table of pages that is not what the header vouches for, and of a page that is not
// what the table says.
[[noreturn]] void FailPageTable(const Extent& extent, const std::filesystem::path& path);
[[noreturn]] void FailPage(const Extent& extent, uint64_t page, const std::filesystem::path& path);

// The header with the version and the secret, or none, that `options` say. Throws
// Error(kInvalidArgument) for options that do not go with the filter.
FileHeader HeaderToSave(FileHeader header, const SaveOptions& options);

// What is written of a filter: all but its payload.
struct SealedFilter {
  std::vector<std::byte> header;
  std::vector<uint64_t> pages;  // none in version 1
};
// Throws as HeaderToSave and RequireIntact.
SealedFilter Seal(FileHeader header, const Storage& storage, const SaveOptions& options);
// The parts in which it is written, which refer to both.
void AddParts(const SealedFilter& sealed, std::span<const std::byte> payload,
              std::vector<std::span<const std::byte>>& parts);
// Zeros up to the next multiple of kAlignment.
std::span<const std::byte> Padding(uint64_t bytes) noexcept;

// Reads a whole file of that kind, without layers, into memory of its own and verifies all of it.
// Nothing is allocated before the header has been found right, so a file cannot ask for more memory
// than it has bytes itself.
OpenedFile LoadFile(const InputFile& file, FilterKind kind, const LoadOptions& options);
OpenedFile LoadFile(const std::filesystem::path& path, FilterKind kind, const LoadOptions& options);

// Maps a file of that kind, without layers, read-only. A file that is cut short while it is mapped
// raises SIGBUS where its missing pages are probed, and nothing but not doing so helps: SaveFile
// replaces files, never shortens them.
OpenedFile MapFile(const InputFile& file, FilterKind kind, const MapOptions& options);
OpenedFile MapFile(const std::filesystem::path& path, FilterKind kind, const MapOptions& options);

// The same for a file of any kind that has been opened. What is mapped is all of it, and what the
// storage shows the first so many bytes of its payload: none, where filters are to be parts of it.
// Of bytes in memory it shows these themselves, and throws Error(kInvalidArgument) unless they
// begin at a multiple of kAlignment. Verifies nothing.
Storage MapWhole(const InputFile& file, uint64_t payload_bytes);

// Writes a filter without layers. Throws as Seal and `writer`.
void WriteFilter(const FileHeader& header, const Storage& storage, const SaveOptions& options,
                 const PartsWriter& writer);

// Throws FormatError(kUnsupported) unless the file is of that kind.
void RequireKind(const FileHeader& header, FilterKind kind, const std::filesystem::path& path);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILE_FILE_FORMAT_H_
