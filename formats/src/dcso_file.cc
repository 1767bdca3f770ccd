// The stream of Write in Go, little-endian: flags (u64), n (u64), p (f64), k (u64), m (u64), N
// (u64), ceil(m / 64) words (u64), and free data up to the end.
#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "core/src/file/file_format.h"
#include "core/src/file/regular_file.h"
#include "formats/src/value_text.h"
#include "tamis/backends.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/formats/dcso.h"

namespace tamis {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little);

constexpr uint64_t kDcsoVersionAt = 0;
constexpr uint64_t kDcsoCapacityAt = 8;
constexpr uint64_t kDcsoRateAt = 16;
constexpr uint64_t kDcsoHashesAt = 24;
constexpr uint64_t kDcsoBitsAt = 32;
constexpr uint64_t kDcsoHeaderBytes = 48;

[[noreturn]] void FailDcso(const fs::path& name, ErrorCode code, const char* check, uint64_t at,
                           const std::string& problem) {
  detail::ThrowFormatError(name, code, check, at, problem);
}

void RequireDcsoSize(uint64_t size, const fs::path& name) {
  if (size >= kDcsoHeaderBytes) return;
  FailDcso(
      name, ErrorCode::kCorrupt, "file length", size,
      detail::StrCat("a filter begins with ", kDcsoHeaderBytes, " bytes, but there are ", size));
}

[[noreturn]] void RefuseVersion(uint64_t flags, const fs::path& name) {
  constexpr uint64_t kGzip = 0x8B1F;
  std::string why = detail::StrCat("is ", flags & 0xFF, ", must be 1");
  if ((flags & 0xFFFF) == kGzip) why += ": the file is packed; unpack it with gzip -d first";
  if ((flags & 0xFF) == 2) why += ": version 2 is the own format of poppy, which tamis cannot read";
  FailDcso(name, ErrorCode::kUnsupported, "version", kDcsoVersionAt, why);
}

}  // namespace

uint64_t DcsoBloomFilter::serialized_bytes() const noexcept {
  return kDcsoHeaderBytes + bytes() + free_data().size();
}

// Checks the header of a stream of `size` bytes.
void DcsoBloomFilter::Check(const Header& header, uint64_t size, const fs::path& name) {
  if ((header.flags & 0xFF) != 1) RefuseVersion(header.flags, name);
  const auto require = [&](bool condition, const char* check, uint64_t at,
                           const std::string& problem) {
    if (!condition) FailDcso(name, ErrorCode::kCorrupt, check, at, problem);
  };
  require(header.capacity != 0, "capacity", kDcsoCapacityAt, "is 0, must be 1 or more");
  require(header.fpr > 0 && header.fpr < 1, "rate", kDcsoRateAt,
          detail::StrCat("is ", detail::ValueText(header.fpr),
                         ", must be between 0 and 1, both excluded"));
  require(header.num_hashes != 0 && header.num_hashes <= kMaxHashes, "hashes", kDcsoHashesAt,
          detail::StrCat("is ", header.num_hashes, ", allowed: [1, ", kMaxHashes, "]"));
  require(header.num_bits != 0 && header.num_bits <= kMaxBits, "bits", kDcsoBitsAt,
          detail::StrCat("is ", header.num_bits, ", allowed: [1, ", kMaxBits, "]"));
  const uint64_t end = kDcsoHeaderBytes + (header.num_bits + 63) / 64 * 8;
  require(size >= end, "file length", size,
          detail::StrCat(header.num_bits, " bits need ", end, " bytes, but there are ", size));
}

// The other libraries never set these bits, and a count of the bits must not include them.
void DcsoBloomFilter::CheckLastWord(const DcsoBloomFilter& filter, const fs::path& name) {
  const uint64_t used = filter.num_bits() % 64;
  if (used == 0 || filter.words().back() >> used == 0) return;
  FailDcso(name, ErrorCode::kCorrupt, "last word", kDcsoHeaderBytes + filter.bytes() - 8,
           detail::StrCat("has bits after bit ", filter.num_bits() - 1, ", the last bit"));
}

// Parses a stream of `size` bytes. read(out, offset) fills `out` from the stream.
template <typename Read>
DcsoBloomFilter DcsoBloomFilter::Parse(uint64_t size, const fs::path& name, const Read& read,
                                       const DcsoLoadOptions& options) {
  RequireDcsoSize(size, name);
  Header header;
  read(std::as_writable_bytes(std::span(&header, 1)), uint64_t{0});
  Check(header, size, name);
  const auto load = [&](uint64_t begin, uint64_t bytes) {
    detail::Storage storage = detail::Storage::Allocate(bytes, options.memory);
    if (bytes != 0) read(std::span(storage.data(), bytes), begin);
    return storage;
  };
  const uint64_t bytes = (header.num_bits + 63) / 64 * 8;
  const uint64_t end = kDcsoHeaderBytes + bytes;
  detail::Storage::RequireFits(size - kDcsoHeaderBytes);
  const Backend* const backend = options.backend != nullptr ? options.backend : &DefaultBackend();
  DcsoBloomFilter filter(header, backend, load(kDcsoHeaderBytes, bytes), load(end, size - end));
  CheckLastWord(filter, name);
  return filter;
}

DcsoBloomFilter DcsoBloomFilter::FromBytes(std::span<const std::byte> bytes,
                                           const DcsoLoadOptions& options) {
  const auto read = [&](std::span<std::byte> out, uint64_t offset) {
    std::memcpy(out.data(), bytes.data() + offset, out.size());
  };
  return Parse(bytes.size(), "memory", read, options);
}

DcsoBloomFilter DcsoBloomFilter::Load(const fs::path& path, const DcsoLoadOptions& options) {
  const detail::RegularFile file(path);
  const auto read = [&](std::span<std::byte> out, uint64_t offset) { file.Read(out, offset); };
  return Parse(file.bytes(), path, read, options);
}

DcsoBloomFilter DcsoBloomFilter::Map(const fs::path& path, const DcsoLoadOptions& options) {
  const detail::RegularFile file(path);
  RequireDcsoSize(file.bytes(), path);
  Header header;
  file.Read(std::as_writable_bytes(std::span(&header, 1)), 0);
  Check(header, file.bytes(), path);
  const Backend* const backend = options.backend != nullptr ? options.backend : &DefaultBackend();
  const uint64_t bytes = (header.num_bits + 63) / 64 * 8;
  const uint64_t end = kDcsoHeaderBytes + bytes;
  detail::Storage words =
      detail::Storage::FromMapping(file.Map().Release(), kDcsoHeaderBytes, bytes);
  detail::Storage free_data = words.Part(end, file.bytes() - end);
  DcsoBloomFilter filter(header, backend, std::move(words), std::move(free_data));
  CheckLastWord(filter, path);
  return filter;
}

void DcsoBloomFilter::Write(const ByteSink& write) const {
  write(std::as_bytes(std::span(&header_, 1)));
  write(std::as_bytes(words()));
  if (!free_data().empty()) write(free_data());
}

}  // namespace tamis
