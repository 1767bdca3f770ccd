// Filter files on disk.
#include "tamis/file.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "core/src/atomic_file.h"
#include "core/src/checksum.h"
#include "core/src/file_format.h"
#include "core/src/payload_check.h"
#include "core/src/posix_file.h"

namespace tamis {
namespace detail {
namespace {

namespace fs = std::filesystem;

// Pieces in which payloads are read: one fits a second-level cache, so that copying and checking it
// cost one pass over memory.
constexpr size_t kPieceBytes = size_t{256} << 10;

// O_NONBLOCK, which regular files ignore: opening a named pipe would wait for somebody to write.
int OpenToRead(const fs::path& path) {
  const int fd = Retry([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); });
  if (fd < 0) ThrowIoError(path, "open");
  return fd;
}

// A file that has been opened and whose header has passed all checks.
class InputFile {
 public:
  explicit InputFile(const fs::path& path) : path_(path), fd_(OpenToRead(path)) {
    struct stat status;
    if (fstat(fd(), &status) != 0) ThrowIoError(path, "read its status");
    if (S_ISDIR(status.st_mode)) ThrowIoError(path, "read", EISDIR);
    if (!S_ISREG(status.st_mode)) {
      throw Error(ErrorCode::kIo, path.string() + ": cannot read: not a regular file");
    }
    bytes_ = static_cast<uint64_t>(status.st_size);
    HeaderBytes start;
    const std::span have = std::span(start).first(std::min<uint64_t>(bytes_, kHeaderBytes));
    Read(have, 0);
    header_ = DecodeHeader(have, bytes_, path);
  }

  int fd() const noexcept { return fd_.get(); }
  uint64_t bytes() const noexcept { return bytes_; }
  const FileHeader& header() const noexcept { return header_; }

  // Fills `out` from the file at `offset`.
  void Read(std::span<std::byte> out, uint64_t offset) const {
    while (!out.empty()) {
      const ssize_t n =
          Retry([&] { return pread(fd(), out.data(), out.size(), static_cast<off_t>(offset)); });
      if (n < 0) ThrowIoError(path_, "read");
      if (n == 0) {
        ThrowFormatError(path_, ErrorCode::kCorrupt, "file length", offset,
                         "the file had " + std::to_string(bytes_) +
                             " bytes when it was opened, and was cut short since");
      }
      out = out.subspan(static_cast<size_t>(n));
      offset += static_cast<uint64_t>(n);
    }
  }

  // Reads the payload into `out`, of its size, and verifies it.
  void ReadPayload(std::span<std::byte> out) const {
    VerifyPieces([&](uint64_t begin, size_t n) { return out.subspan(begin, n); });
  }

  void VerifyPayload() const {
    std::vector<std::byte> buffer(std::min<uint64_t>(kPieceBytes, header_.payload_bytes));
    VerifyPieces([&](uint64_t, size_t n) { return std::span(buffer).first(n); });
  }

 private:
  // Reads the payload piece by piece to where room(begin, n) says.
  template <typename Room>
  void VerifyPieces(const Room& room) const {
    Checksum checksum;
    PayloadCheck check(header_, path_);
    for (uint64_t begin = 0; begin < header_.payload_bytes; begin += kPieceBytes) {
      const size_t n = std::min<uint64_t>(kPieceBytes, header_.payload_bytes - begin);
      const std::span<std::byte> piece = room(begin, n);
      Read(piece, kHeaderBytes + begin);
      checksum.Update(piece);
      check.Update(piece, begin);
    }
    if (checksum.Value() != header_.payload_checksum) {
      ThrowFormatError(path_, ErrorCode::kCorrupt, "payload checksum", offset::kPayloadChecksum,
                       "does not match bytes [" + std::to_string(kHeaderBytes) + ", " +
                           std::to_string(bytes_) + ") of the file");
    }
    check.Finish();
  }

  const fs::path& path_;
  Descriptor fd_;
  uint64_t bytes_ = 0;
  FileHeader header_;
};

}  // namespace

OpenedFile LoadFile(const fs::path& path, const MemoryOptions& memory) {
  const InputFile file(path);
  OpenedFile opened{file.header(), Storage::Allocate(file.header().payload_bytes, memory)};
  file.ReadPayload({opened.storage.data(), opened.storage.size()});
  return opened;
}

OpenedFile MapFile(const fs::path& path, Verify verify) {
  const InputFile file(path);
  // By reads, not through the mapping: a file cut short meanwhile is then an error and no SIGBUS.
  if (verify == Verify::kFull) file.VerifyPayload();
  if (file.bytes() > std::numeric_limits<size_t>::max()) ThrowIoError(path, "map", EFBIG);
  // Without advice to the kernel. MADV_RANDOM, which stops read-ahead, wins only for the first few
  // keys (3 GiB, cold, on a virtual disk: 1,000 probes take 0.1 s instead of 1.8 s) and then loses
  // by far (100,000: 12 s instead of 3.4 s; 2 million: 110 s instead of 17 s): single pages are
  // slow to read, and many keys need most of the file anyway.
  void* const map = mmap(nullptr, file.bytes(), PROT_READ, MAP_SHARED, file.fd(), 0);
  if (map == MAP_FAILED) ThrowIoError(path, "map");
  return {file.header(),
          Storage::FromMapping(map, file.bytes(), kHeaderBytes, file.header().payload_bytes)};
}

void SaveFile(const fs::path& path, const FileHeader& header, std::span<const std::byte> payload) {
  Checksum checksum;
  checksum.Update(payload);
  FileHeader complete = header;
  complete.payload_bytes = payload.size();
  complete.payload_checksum = checksum.Value();
  const HeaderBytes start = EncodeHeader(complete);
  const std::span<const std::byte> parts[] = {start, payload};
  WriteFileAtomically(path, parts);
}

}  // namespace detail

FileHeader ReadHeader(const std::filesystem::path& path) {
  return detail::InputFile(path).header();
}

FileHeader VerifyFile(const std::filesystem::path& path) {
  const detail::InputFile file(path);
  file.VerifyPayload();
  return file.header();
}

}  // namespace tamis
