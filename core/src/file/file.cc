// Filter files on disk.
#include "tamis/file.h"

#include <sys/mman.h>

#include <limits>

#include "core/src/file/atomic_file.h"
#include "core/src/file/checksum.h"
#include "core/src/file/file_format.h"
#include "core/src/file/input_file.h"
#include "core/src/file/posix_file.h"

namespace tamis {
namespace detail {

namespace fs = std::filesystem;

OpenedFile LoadFile(const fs::path& path, FilterKind kind, const MemoryOptions& memory) {
  const InputFile file(path);
  RequireKind(file.header(), kind, path);
  OpenedFile opened{file.header(), Storage::Allocate(file.header().payload_bytes, memory)};
  file.ReadPayloads([&](size_t, uint64_t begin, size_t n) {
    return std::span(opened.storage.data() + begin, n);
  });
  return opened;
}

Storage MapWhole(const InputFile& file, Verify verify, uint64_t payload_bytes) {
  const fs::path& path = file.path();
  // By reads, not through the mapping: a file cut short meanwhile is then an error and no SIGBUS.
  if (verify == Verify::kFull) file.VerifyPayloads();
  if (file.bytes() > std::numeric_limits<size_t>::max()) ThrowIoError(path, "map", EFBIG);
  // Without advice to the kernel. MADV_RANDOM, which stops read-ahead, wins only for the first few
  // keys (3 GiB, cold, on a virtual disk: 1,000 probes take 0.1 s instead of 1.8 s) and then loses
  // by far (100,000: 12 s instead of 3.4 s; 2 million: 110 s instead of 17 s): single pages are
  // slow to read, and many keys need most of the file anyway.
  void* const map = mmap(nullptr, file.bytes(), PROT_READ, MAP_SHARED, file.fd(), 0);
  if (map == MAP_FAILED) ThrowIoError(path, "map");
  Storage storage = Storage::FromMapping(map, file.bytes(), kHeaderBytes, payload_bytes);
  if (verify != Verify::kFull) {
    storage.set_unverified({file.header().payload_checksum, offset::kPayloadChecksum});
  }
  return storage;
}

OpenedFile MapFile(const fs::path& path, FilterKind kind, Verify verify) {
  const InputFile file(path);
  RequireKind(file.header(), kind, path);
  return {file.header(), MapWhole(file, verify, file.header().payload_bytes)};
}

void RequireChecksum(const Storage& storage, const std::array<uint64_t, 2>& checksum) {
  const std::optional<StoredChecksum>& stored = storage.unverified();
  if (stored && stored->value != checksum) {
    ThrowFormatError("the mapped file", ErrorCode::kCorrupt, "payload checksum", stored->at,
                     "does not match, and nothing is made of damaged bytes");
  }
}

void RequireIntact(const Storage& storage) {
  if (!storage.unverified()) return;
  Checksum checksum;
  checksum.Update({storage.data(), storage.size()});
  RequireChecksum(storage, checksum.Value());
}

FileHeader CompleteHeader(const FileHeader& header, const Storage& payload) {
  Checksum checksum;
  checksum.Update({payload.data(), payload.size()});
  FileHeader complete = header;
  complete.payload_bytes = payload.size();
  complete.payload_checksum = checksum.Value();
  RequireChecksum(payload, complete.payload_checksum);
  return complete;
}

void SaveFile(const fs::path& path, const FileHeader& header, const Storage& storage,
              const SaveOptions& options) {
  const HeaderBytes start = EncodeHeader(CompleteHeader(header, storage));
  const std::span<const std::byte> payload(storage.data(), storage.size());
  const std::span<const std::byte> parts[] = {start, payload};
  WriteFileAtomically(path, parts, options);
}

}  // namespace detail

FileHeader ReadHeader(const std::filesystem::path& path) {
  return detail::InputFile(path).header();
}

FileHeader VerifyFile(const std::filesystem::path& path) {
  const detail::InputFile file(path);
  file.VerifyPayloads();
  return file.header();
}

}  // namespace tamis
