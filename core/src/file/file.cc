// Filter files on disk.
#include "tamis/file/file.h"

#include <cstdint>
#include <vector>

#include "core/src/file/checksum.h"
#include "core/src/file/file_format.h"
#include "core/src/file/input_file.h"
#include "core/src/file/key_tag.h"
#include "core/src/file/mapped_from.h"
#include "core/src/os/path_text.h"
#include "tamis/detail/str_cat.h"
#include "tamis/file/file_checks.h"

namespace tamis {
namespace detail {

namespace fs = std::filesystem;

OpenedFile LoadFile(const fs::path& path, FilterKind kind, const LoadOptions& options) {
  return LoadFile(InputFile(path), kind, options);
}

OpenedFile LoadFile(const InputFile& file, FilterKind kind, const LoadOptions& options) {
  RequireKind(file.header(), kind, file.path());
  FileHeader header = file.header();
  header.hash = HashOf(header, options.secret, file.path());
  OpenedFile opened{header, Storage::Allocate(header.payload_bytes, options.memory)};
  file.ReadPayloads([&](size_t, uint64_t begin, size_t n) {
    return std::span(opened.storage.data() + begin, n);
  });
  return opened;
}

Storage MapWhole(const InputFile& file, uint64_t payload_bytes) {
  const fs::path& path = file.path();
  const size_t payload_at = HeaderBytes(file.header().version);
  if (const auto& memory = file.memory()) {
    if (reinterpret_cast<uintptr_t>(memory->data()) % kAlignment != 0) {
      throw Error(
          ErrorCode::kInvalidArgument,
          StrCat(os::TextOf(path), ": a filter can be mapped only from bytes at a multiple of ",
                 kAlignment, "; Load copies other bytes"));
    }
    return Storage::FromMemory(*memory, payload_at, payload_bytes);
  }
  // Gives the kernel no advice. MADV_RANDOM, which stops read-ahead, is faster only for the first
  // few keys (3 GiB, cold, on a virtual disk: 0.1 s instead of 1.8 s for 1,000 probes). For more
  // keys it is much slower (12 s instead of 3.4 s for 100,000; 110 s instead of 17 s for 2
  // million): single pages are slow to read, and many keys need most of the file anyway.
  return Storage::FromMapping(file.Map().Release(), payload_at, payload_bytes);
}

OpenedFile MapFile(const fs::path& path, FilterKind kind, const MapOptions& options) {
  return MapFile(InputFile(path), kind, options);
}

OpenedFile MapFile(const InputFile& file, FilterKind kind, const MapOptions& options) {
  RequireKind(file.header(), kind, file.path());
  FileHeader header = file.header();
  header.hash = HashOf(header, options.secret, file.path());
  // Verifies by reading the file instead of the mapping. So if the file is cut short meanwhile,
  // this is an error instead of a SIGBUS.
  if (options.verify == Verify::kFull) file.VerifyPayloads();
  OpenedFile opened{header, MapWhole(file, header.payload_bytes)};
  if (options.verify != Verify::kFull) {
    SetUnverified(opened.storage, file.extents()[0], file.path());
  }
  return opened;
}

SealedFilter Seal(FileHeader header, const Storage& storage, const SaveOptions& options) {
  const std::span<const std::byte> payload(storage.data(), storage.size());
  SealedFilter sealed;
  header = HeaderToSave(header, options);
  header.payload_bytes = payload.size();
  if (header.version == 1) {
    Checksum checksum;
    checksum.Update(payload);
    header.payload_checksum = checksum.Value();
  } else {
    sealed.pages = PageTable(payload);
    header.payload_checksum = TableChecksum(sealed.pages);
  }
  // If the file has another version, the checksums always differ, and the storage is verified.
  const MappedFrom* const from = storage.unverified();
  if (from != nullptr && from->extent.header.payload_checksum != header.payload_checksum) {
    RequireIntact(storage);
  }
  sealed.header = EncodeHeader(header);
  return sealed;
}

void WriteFilter(const FileHeader& header, const Storage& storage, const SaveOptions& options,
                 const PartsWriter& writer) {
  const SealedFilter sealed = Seal(header, storage, options);
  std::vector<std::span<const std::byte>> parts;
  AddParts(sealed, {storage.data(), storage.size()}, parts);
  writer.Write(parts);
}

}  // namespace detail

namespace {

FileHeader WithoutSecret(FileHeader header) {
  header.hash.secret = {};
  return header;
}

}  // namespace

FileHeader ReadHeader(const std::filesystem::path& path) {
  return WithoutSecret(detail::InputFile(path).header());
}

FileHeader VerifyFile(const std::filesystem::path& path) {
  const detail::InputFile file(path);
  file.VerifyPayloads();
  return WithoutSecret(file.header());
}

}  // namespace tamis
