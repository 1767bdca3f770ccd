// A filter file that has been opened for reading, and whose headers have passed all checks.
#ifndef TAMIS_CORE_SRC_FILE_INPUT_FILE_H_
#define TAMIS_CORE_SRC_FILE_INPUT_FILE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/src/file/checksum.h"
#include "core/src/file/file_format.h"
#include "core/src/file/file_kind.h"
#include "core/src/file/posix_file.h"

namespace tamis::detail {

// Returns a descriptor, which the caller has to close. Does not wait, as opening a named pipe
// would, for somebody to write. Throws Error(kIo).
int OpenToRead(const std::filesystem::path& path);

class InputFile {
 public:
  // Throws FormatError or Error(kIo). `path` must outlive this.
  explicit InputFile(const std::filesystem::path& path);

  int fd() const noexcept { return fd_.get(); }
  const std::filesystem::path& path() const noexcept { return path_; }
  uint64_t bytes() const noexcept { return bytes_; }
  const FileHeader& header() const noexcept { return header_; }
  // Where the filter is, or each of its layers, oldest first.
  std::span<const Extent> extents() const noexcept { return extents_; }

  // Fills `out` from the file at `offset`.
  void Read(std::span<std::byte> out, uint64_t offset) const;

  // Reads all payloads piece by piece to where room(extent, begin, n) says, and verifies them and
  // what is between them. Throws FormatError or Error(kIo).
  template <typename Room>
  void ReadPayloads(const Room& room) const;

  // The same, to nowhere.
  void VerifyPayloads() const;

 private:
  // Pieces in which payloads are read: one fits a second-level cache, so that copying and checking
  // it cost one pass over memory.
  static constexpr size_t kPieceBytes = size_t{256} << 10;

  // Reads what is between payloads, which is checked elsewhere: at most kMaxBetween bytes.
  static constexpr uint64_t kMaxBetween = 256;
  void ReadBetween(uint64_t begin, uint64_t end, Checksum& checksum) const;
  void CheckPadding(uint64_t begin, uint64_t end) const;
  [[noreturn]] void FailChecksum(uint64_t header_at, uint64_t end) const;

  const std::filesystem::path& path_;
  Descriptor fd_;
  uint64_t bytes_ = 0;
  FileHeader header_;
  const FileKind* kind_ = nullptr;  // of the header
  std::vector<Extent> extents_;
};

template <typename Room>
void InputFile::ReadPayloads(const Room& room) const {
  const bool layered = kind_->read_layers != nullptr;
  Checksum whole;
  std::vector<std::unique_ptr<PayloadCheck>> checks;
  uint64_t at = kHeaderBytes;
  for (size_t i = 0; i < extents_.size(); ++i) {
    const Extent& extent = extents_[i];
    ReadBetween(at, extent.payload_at(), whole);
    Checksum own;
    const FileKind& kind = *FindFileKind(extent.header.kind);
    PayloadCheck* const check =
        checks.emplace_back(kind.make_payload_check ? kind.make_payload_check() : nullptr).get();
    for (uint64_t begin = 0; begin < extent.header.payload_bytes; begin += kPieceBytes) {
      const size_t n = std::min<uint64_t>(kPieceBytes, extent.header.payload_bytes - begin);
      const std::span<std::byte> piece = room(i, begin, n);
      Read(piece, extent.payload_at() + begin);
      whole.Update(piece);
      if (layered) own.Update(piece);
      if (check != nullptr) check->Update(piece, begin);
    }
    at = extent.payload_end();
    if (layered && own.Value() != extent.header.payload_checksum) {
      FailChecksum(extent.header_at, at);
    }
    if (layered) CheckPadding(at, extent.payload_at() + PaddedBytes(extent.header.payload_bytes));
  }
  ReadBetween(at, bytes_, whole);
  if (whole.Value() != header_.payload_checksum) FailChecksum(0, bytes_);
  for (size_t i = 0; i < checks.size(); ++i) {
    if (checks[i]) checks[i]->Finish(extents_[i], path_);
  }
}

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILE_INPUT_FILE_H_
