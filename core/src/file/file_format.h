// Reading and writing of filter files, for all kinds; core/FORMAT.md is the specification.
#ifndef TAMIS_CORE_SRC_FILE_FILE_FORMAT_H_
#define TAMIS_CORE_SRC_FILE_FILE_FORMAT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "tamis/detail/storage.h"
#include "tamis/error.h"
#include "tamis/file.h"

namespace tamis::detail {

class InputFile;

inline constexpr uint32_t kFormatVersion = 1;
inline constexpr size_t kHeaderBytes = 128;  // also the offset of the payload
using HeaderBytes = std::array<std::byte, kHeaderBytes>;

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
inline constexpr size_t kReserved = 104;        // two of 8 bytes
inline constexpr size_t kHeaderChecksum = 120;
}  // namespace offset

// The header as it is in a file, with its checksum. `header` has the payload's length and checksum.
HeaderBytes EncodeHeader(const FileHeader& header);

// The first bytes of a file of `file_bytes` bytes, checked in full: every field, against the others
// and against the length. `start` is the first kHeaderBytes bytes, or all if the file is shorter.
// Throws FormatError; `path` is for the message only.
FileHeader DecodeHeader(std::span<const std::byte> start, uint64_t file_bytes,
                        const std::filesystem::path& path);

// The header of a filter `header_at` bytes from the start of a file: the same checks but for the
// length of the file. `start` is kHeaderBytes bytes.
FileHeader DecodeHeaderAt(std::span<const std::byte> start, uint64_t header_at,
                          const std::filesystem::path& path);

// Throws FormatError saying path, check, offset, and `problem`.
[[noreturn]] void ThrowFormatError(const std::filesystem::path& path, ErrorCode code,
                                   const std::string& check, uint64_t offset,
                                   const std::string& problem);

// A payload in a file.
struct Extent {
  FileHeader header;
  uint64_t header_at = 0;  // in bytes from the start of the file

  uint64_t payload_at() const noexcept { return header_at + kHeaderBytes; }
  uint64_t payload_end() const noexcept { return payload_at() + header.payload_bytes; }
};

// The bytes of a payload that another filter follows: the next header is at a multiple of 64.
constexpr uint64_t PaddedBytes(uint64_t payload_bytes) { return (payload_bytes + 63) / 64 * 64; }

struct OpenedFile {
  FileHeader header;
  Storage storage;
};

// The header that SaveFile writes for this payload. Throws as RequireIntact.
FileHeader CompleteHeader(const FileHeader& header, const Storage& payload);

// Throws FormatError unless what is mapped has the checksum of its file: to be called before it is
// copied into what would be saved with a new one. Reads all of it, unless it has been verified.
void RequireIntact(const Storage& storage);
// The same, for whoever has computed the checksum.
void RequireChecksum(const Storage& storage, const std::array<uint64_t, 2>& checksum);

// Reads a whole file of that kind, without layers, into memory of its own and verifies all of it.
// Nothing is allocated before the header has been found right, so a file cannot ask for more memory
// than it has bytes itself.
OpenedFile LoadFile(const std::filesystem::path& path, FilterKind kind,
                    const MemoryOptions& memory);

// Maps a file of that kind, without layers, read-only. A file that is cut short while it is mapped
// raises SIGBUS where its missing pages are probed, and nothing but not doing so helps: SaveFile
// replaces files, never shortens them.
OpenedFile MapFile(const std::filesystem::path& path, FilterKind kind, Verify verify);

// The same for a file of any kind that has been opened. What is mapped is all of it, and what the
// storage shows the first so many bytes of its payload: none, where filters are to be parts of it.
Storage MapWhole(const InputFile& file, Verify verify, uint64_t payload_bytes);

// Writes a file atomically; computes length and checksums of the payload. Throws as RequireIntact.
void SaveFile(const std::filesystem::path& path, const FileHeader& header, const Storage& storage,
              const SaveOptions& options);

// Throws FormatError(kUnsupported) unless the file is of that kind.
void RequireKind(const FileHeader& header, FilterKind kind, const std::filesystem::path& path);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILE_FILE_FORMAT_H_
