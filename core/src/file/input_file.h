// A filter file that is open for reading, or the bytes of a file in memory, whose headers have
// passed all checks.
#ifndef TAMIS_CORE_SRC_FILE_INPUT_FILE_H_
#define TAMIS_CORE_SRC_FILE_INPUT_FILE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/src/file/checksum.h"
#include "core/src/file/file_format.h"
#include "core/src/file/file_kind.h"
#include "core/src/file/page_table.h"
#include "core/src/file/regular_file.h"

namespace tamis::detail {

// The payload checks of all kinds in a file.
class PayloadChecks {
 public:
  explicit PayloadChecks(std::span<const Extent> extents);
  void Update(size_t i, std::span<const std::byte> piece, uint64_t begin) {
    if (checks_[i]) checks_[i]->Update(piece, begin);
  }
  void Finish(std::span<const Extent> extents, const std::filesystem::path& path) const;

 private:
  std::vector<std::unique_ptr<PayloadCheck>> checks_;
};

class InputFile {
 public:
  // Throws FormatError or Error(kIo). `path` must outlive this.
  explicit InputFile(const std::filesystem::path& path);
  // Opens the bytes of a file in memory. `name` replaces the path in messages. The memory and
  // `name` must outlive this object. Headers are copied before they are checked, so writes to the
  // memory by others cannot change a checked header.
  InputFile(std::span<const std::byte> memory, const std::filesystem::path& name);

  // Returns nullopt for a file.
  const std::optional<std::span<const std::byte>>& memory() const noexcept { return memory_; }
  // Maps the file. Throws Error(kIo). Must not be called for bytes in memory.
  os::Mapping Map() const { return file_->Map(); }
  const std::filesystem::path& path() const noexcept { return path_; }
  uint64_t bytes() const noexcept { return bytes_; }
  const FileHeader& header() const noexcept { return header_; }
  // Returns the header of a filter in the file, decoded by DecodeHeaderAt.
  FileHeader ReadHeaderAt(uint64_t header_at) const;
  // Returns the position of the filter, or the positions of its layers, oldest first.
  std::span<const Extent> extents() const noexcept { return extents_; }

  // Fills `out` from the file at `offset`.
  void Read(std::span<std::byte> out, uint64_t offset) const;

  // Reads all payloads piece by piece into the memory that room(extent, begin, n) returns, and
  // verifies them and the bytes between them. Throws FormatError or Error(kIo).
  template <typename Room>
  void ReadPayloads(const Room& room) const;

  // Verifies all payloads without keeping them.
  void VerifyPayloads() const;

 private:
  // The size of the pieces in which payloads are read, a whole number of pages. A piece fits in a
  // second-level cache, so that copying and checking it cost one pass over memory.
  static constexpr size_t kPieceBytes = 4 * kPageBytes;

  // Calls on_piece(piece, begin) for the pieces of a payload.
  template <typename Room, typename OnPiece>
  void ReadPayload(size_t i, const Room& room, const OnPiece& on_piece) const;
  // Verifies a checksum of each payload, and one of all bytes after the header of the file.
  template <typename Room>
  void ReadPayloads1(const Room& room) const;
  // Verifies pages. Bytes between payloads are covered by headers, which have been checked.
  template <typename Room>
  void ReadPayloads2(const Room& room) const;

  // Reads the bytes between payloads, at most kMaxBetween, which are checked elsewhere.
  static constexpr uint64_t kMaxBetween = 256;
  void ReadBetween(uint64_t begin, uint64_t end, Checksum& checksum) const;
  void CheckPadding(uint64_t begin, uint64_t end) const;
  // Returns the checksums of the pages of a payload, verified by the checksum in its header.
  std::vector<uint64_t> ReadPageTable(const Extent& extent) const;
  void CheckPages(const Extent& extent, std::span<const uint64_t> pages,
                  std::span<const std::byte> piece, uint64_t begin) const;
  [[noreturn]] void FailChecksum(const Extent& extent, uint64_t end) const;

  void ReadHeaders();

  const std::filesystem::path& path_;
  std::optional<std::span<const std::byte>> memory_;
  std::optional<RegularFile> file_;  // nothing if the bytes are in memory
  uint64_t bytes_ = 0;
  FileHeader header_;
  const FileKind* kind_ = nullptr;  // the kind in the header
  std::vector<Extent> extents_;
};

template <typename Room>
void InputFile::ReadPayloads(const Room& room) const {
  if (header_.version == 1) return ReadPayloads1(room);
  ReadPayloads2(room);
}

template <typename Room, typename OnPiece>
void InputFile::ReadPayload(size_t i, const Room& room, const OnPiece& on_piece) const {
  const Extent& extent = extents_[i];
  for (uint64_t begin = 0; begin < extent.header.payload_bytes; begin += kPieceBytes) {
    const size_t n = std::min<uint64_t>(kPieceBytes, extent.header.payload_bytes - begin);
    const std::span<std::byte> piece = room(i, begin, n);
    Read(piece, extent.payload_at() + begin);
    on_piece(piece, begin);
  }
}

template <typename Room>
void InputFile::ReadPayloads1(const Room& room) const {
  const bool layered = kind_->read_layers != nullptr;
  Checksum whole;
  PayloadChecks checks(extents_);
  uint64_t at = kHeaderBytes1;
  for (size_t i = 0; i < extents_.size(); ++i) {
    const Extent& extent = extents_[i];
    ReadBetween(at, extent.payload_at(), whole);
    Checksum own;
    ReadPayload(i, room, [&](std::span<const std::byte> piece, uint64_t begin) {
      whole.Update(piece);
      if (layered) own.Update(piece);
      checks.Update(i, piece, begin);
    });
    at = extent.end();
    if (layered && own.Value() != extent.header.payload_checksum) FailChecksum(extent, at);
    if (layered) CheckPadding(at, Padded(at));
  }
  ReadBetween(at, bytes_, whole);
  if (whole.Value() != header_.payload_checksum) FailChecksum({header_}, bytes_);
  checks.Finish(extents_, path_);
}

template <typename Room>
void InputFile::ReadPayloads2(const Room& room) const {
  PayloadChecks checks(extents_);
  for (size_t i = 0; i < extents_.size(); ++i) {
    const Extent& extent = extents_[i];
    const std::vector<uint64_t> pages = ReadPageTable(extent);
    ReadPayload(i, room, [&](std::span<const std::byte> piece, uint64_t begin) {
      CheckPages(extent, pages, piece, begin);
      checks.Update(i, piece, begin);
    });
    CheckPadding(extent.payload_end(), extent.pages_at());
    CheckPadding(extent.end(), std::min(bytes_, Padded(extent.end())));
  }
  checks.Finish(extents_, path_);
}

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILE_INPUT_FILE_H_
