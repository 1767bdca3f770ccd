// Files of imported filters: a header that names the format, the stream of the other library, and
// its checksum. core/FORMAT.md describes the bytes.
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "core/src/file/atomic_file.h"
#include "core/src/file/checksum.h"
#include "core/src/file/file_format.h"
#include "core/src/file/regular_file.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/formats/foreign_filter.h"

namespace tamis {
namespace {

namespace fs = std::filesystem;
using detail::kImportedMagic;

constexpr uint32_t kForeignVersion = 1;
constexpr size_t kForeignVersionAt = 8;
constexpr size_t kHeaderLengthAt = 12;
constexpr size_t kFormatAt = 16;
constexpr size_t kFormatBytes = 32;
constexpr size_t kReservedAt = 48;
constexpr size_t kHeaderChecksumAt = 56;
constexpr size_t kHeaderBytes = 64;
constexpr size_t kChecksumBytes = 16;  // the checksum is at the end of the file

using Header = std::array<std::byte, kHeaderBytes>;

template <typename T>
void Put(Header& header, size_t at, T value) {
  std::memcpy(header.data() + at, &value, sizeof(value));
}

template <typename T>
T Get(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

uint64_t HeaderChecksum(const Header& header) {
  return XXH3_64bits(header.data(), kHeaderChecksumAt);
}

Header HeaderFor(std::string_view format) {
  Header header{};
  std::memcpy(header.data(), kImportedMagic.data(), kImportedMagic.size());
  Put(header, kForeignVersionAt, kForeignVersion);
  Put(header, kHeaderLengthAt, static_cast<uint32_t>(kHeaderBytes));
  std::memcpy(header.data() + kFormatAt, format.data(), format.size());
  Put(header, kHeaderChecksumAt, HeaderChecksum(header));
  return header;
}

bool HasMagic(const Header& header) {
  return std::memcmp(header.data(), kImportedMagic.data(), kImportedMagic.size()) == 0;
}

// Checks the whole header and returns the name of the format.
std::string FormatOf(const Header& header, const fs::path& path) {
  const auto require = [&](bool good, const char* check, size_t at, const std::string& problem) {
    if (good) return;
    detail::ThrowFormatError(path, ErrorCode::kCorrupt, check, at, problem);
  };
  require(HasMagic(header), "magic", 0, "is not the magic number of an imported filter");
  const auto version = Get<uint32_t>(header.data() + kForeignVersionAt);
  if (version != kForeignVersion) {
    detail::ThrowFormatError(path, ErrorCode::kUnsupported, "version", kForeignVersionAt,
                             detail::StrCat("is ", version, ", must be 1"));
  }
  require(Get<uint64_t>(header.data() + kHeaderChecksumAt) == HeaderChecksum(header),
          "header checksum", kHeaderChecksumAt, "does not match the header");
  require(Get<uint32_t>(header.data() + kHeaderLengthAt) == kHeaderBytes, "header length",
          kHeaderLengthAt, "is not 64");
  require(Get<uint64_t>(header.data() + kReservedAt) == 0, "reserved", kReservedAt, "is not 0");
  const auto* const text = reinterpret_cast<const char*>(header.data() + kFormatAt);
  const std::string name(text, std::find(text, text + kFormatBytes, '\0'));
  require(std::all_of(text + name.size(), text + kFormatBytes, [](char c) { return c == '\0'; }),
          "format", kFormatAt, "is not a valid name");
  const auto known = [&](const ForeignFormat& format) { return name == format.name; };
  if (std::ranges::none_of(ForeignFormats(), known)) {
    detail::ThrowFormatError(path, ErrorCode::kUnsupported, "format", kFormatAt,
                             "is unknown to this version of tamis");
  }
  return name;
}

// Rethrows an error of FromBytes as an error of the file at `path`, which contains the stream.
[[noreturn]] void ThrowInFile(const FormatError& error, const fs::path& path) {
  const std::string before =
      detail::StrCat("memory: ", error.check(), " at offset ", error.offset(), ": ");
  std::string problem = error.what();
  if (problem.starts_with(before)) problem.erase(0, before.size());
  detail::ThrowFormatError(path, error.code(), error.check(), kHeaderBytes + error.offset(),
                           problem);
}

}  // namespace

void ForeignFilter::SaveImported(const fs::path& path, const SaveOptions& options) const {
  const auto write = [&](os::TemporaryFile& file) {
    detail::Checksum checksum;
    file.Write(HeaderFor(format().name));
    Write([&](std::span<const std::byte> piece) {
      checksum.Update(piece);
      file.Write(piece);
    });
    const std::array<uint64_t, 2> sum = checksum.Value();
    file.Write(std::as_bytes(std::span(sum)));
  };
  detail::WriteFileAtomicallyBy(path, write, options);
}

bool ForeignFilter::IsImported(const fs::path& path) {
  const detail::RegularFile file(path);
  if (file.bytes() < kImportedMagic.size()) return false;
  Header header{};
  file.Read(std::span(header).first(kImportedMagic.size()), 0);
  return HasMagic(header);
}

ForeignFilter ForeignFilter::Open(const fs::path& path, const ForeignLoadOptions& options) {
  const detail::RegularFile file(path);
  const uint64_t size = file.bytes();
  if (size < kHeaderBytes + kChecksumBytes) {
    detail::ThrowFormatError(
        path, ErrorCode::kCorrupt, "file length", size,
        detail::StrCat("an imported filter has at least ", kHeaderBytes + kChecksumBytes,
                       " bytes, but the file has ", size));
  }
  Header header;
  file.Read(header, 0);
  const std::string format = FormatOf(header, path);
  const os::Mapping mapped = file.Map();
  mapped.AdviseSequential();
  const std::span<const std::byte> stream =
      mapped.bytes().subspan(kHeaderBytes, size - kHeaderBytes - kChecksumBytes);
  const XXH128_hash_t sum = XXH3_128bits(stream.data(), stream.size());
  const std::byte* const end = stream.data() + stream.size();
  if (sum.low64 != Get<uint64_t>(end) || sum.high64 != Get<uint64_t>(end + 8)) {
    detail::ThrowFormatError(path, ErrorCode::kCorrupt, "payload checksum", size - kChecksumBytes,
                             "does not match the filter: some of its bytes have changed");
  }
  try {
    return FromBytes(stream, format, options);
  } catch (const FormatError& error) {
    ThrowInFile(error, path);
  }
}

}  // namespace tamis
