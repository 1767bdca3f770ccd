// The stream of BloomFilter.writeTo, big-endian: version (i32), hashes (i32), in version 2 the seed
// (i32), number of words (i32), and the words (i64).
#include <algorithm>
#include <cstring>
#include <string>

#include "core/src/file/file_format.h"
#include "core/src/file/regular_file.h"
#include "formats/src/big_endian.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/formats/spark.h"

namespace tamis {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kSparkVersionAt = 0;
constexpr uint64_t kSparkHashesAt = 4;
constexpr uint64_t kSeedAt = 8;  // in version 2 only
constexpr uint64_t kMaxHeaderBytes = 16;

uint64_t HeaderBytes(SparkVersion version) noexcept {
  return version == SparkVersion::kV1 ? 12 : kMaxHeaderBytes;
}

[[noreturn]] void FailSpark(const fs::path& name, ErrorCode code, const char* check, uint64_t at,
                            const std::string& problem) {
  detail::ThrowFormatError(name, code, check, at, problem);
}

void RequireSparkSize(const fs::path& name, uint64_t size, uint64_t header) {
  if (size >= header) return;
  FailSpark(name, ErrorCode::kCorrupt, "file length", size,
            detail::StrCat("a filter begins with ", header, " bytes, but there are ", size));
}

}  // namespace

uint64_t SparkBloomFilter::serialized_bytes() const noexcept {
  return HeaderBytes(version_) + bytes();
}

// Parses a stream of `size` bytes. read(out, offset) fills `out` from the stream.
template <typename Read>
SparkBloomFilter SparkBloomFilter::Parse(uint64_t size, const fs::path& name, const Read& read,
                                         const SparkLoadOptions& options) {
  RequireSparkSize(name, size, HeaderBytes(SparkVersion::kV1));
  std::byte bytes[kMaxHeaderBytes];
  read(std::span(bytes).first(HeaderBytes(SparkVersion::kV1)), uint64_t{0});
  const uint32_t number = detail::BigEndian32(bytes + kSparkVersionAt);
  if (number != static_cast<uint32_t>(SparkVersion::kV1) &&
      number != static_cast<uint32_t>(SparkVersion::kV2)) {
    FailSpark(name, ErrorCode::kUnsupported, "version", kSparkVersionAt,
              detail::StrCat("is ", static_cast<int32_t>(number), ", allowed: 1 or 2"));
  }
  const auto version = static_cast<SparkVersion>(number);
  const uint64_t header = HeaderBytes(version);
  RequireSparkSize(name, size, header);
  read(std::span(bytes).first(header), uint64_t{0});
  const uint32_t words = detail::BigEndian32(bytes + header - 4);
  if (words == 0 || words > kMaxWords) {
    FailSpark(
        name, ErrorCode::kCorrupt, "words", header - 4,
        detail::StrCat("is ", static_cast<int32_t>(words), ", allowed: [1, ", kMaxWords, "]"));
  }
  const uint32_t hashes = detail::BigEndian32(bytes + kSparkHashesAt);
  const uint32_t max_hashes = MaxHashes(64 * uint64_t{words});
  if (hashes == 0 || hashes > max_hashes) {
    FailSpark(name, ErrorCode::kCorrupt, "hashes", kSparkHashesAt,
              detail::StrCat("is ", static_cast<int32_t>(hashes), ", allowed with ", words,
                             " words: [1, ", max_hashes, "]"));
  }
  const uint64_t end = header + 8 * uint64_t{words};
  if (size != end) {
    FailSpark(name, ErrorCode::kCorrupt, "file length", std::min(size, end),
              detail::StrCat(words, " words make ", end, " bytes, but there are ", size));
  }
  const int32_t seed =
      version == SparkVersion::kV2 ? static_cast<int32_t>(detail::BigEndian32(bytes + kSeedAt)) : 0;
  SparkBloomFilter filter(Geometry{version, seed, hashes, words}, options.memory, options.backend);
  detail::ReadBigEndianWords(read, header, std::span(filter.data(), words));
  return filter;
}

SparkBloomFilter SparkBloomFilter::FromBytes(std::span<const std::byte> bytes,
                                             const SparkLoadOptions& options) {
  const auto read = [&](std::span<std::byte> out, uint64_t offset) {
    std::memcpy(out.data(), bytes.data() + offset, out.size());
  };
  return Parse(bytes.size(), "memory", read, options);
}

SparkBloomFilter SparkBloomFilter::Load(const fs::path& path, const SparkLoadOptions& options) {
  const detail::RegularFile file(path);
  const auto read = [&](std::span<std::byte> out, uint64_t offset) { file.Read(out, offset); };
  return Parse(file.bytes(), path, read, options);
}

void SparkBloomFilter::Write(const ByteSink& write) const {
  std::byte header[kMaxHeaderBytes];
  const uint64_t size = HeaderBytes(version_);
  detail::PutBigEndian32(static_cast<uint32_t>(version_), header + kSparkVersionAt);
  detail::PutBigEndian32(num_hashes_, header + kSparkHashesAt);
  if (version_ == SparkVersion::kV2) {
    detail::PutBigEndian32(static_cast<uint32_t>(seed_), header + kSeedAt);
  }
  detail::PutBigEndian32(static_cast<uint32_t>(num_words_), header + size - 4);
  write(std::span<const std::byte>(header, size));
  detail::WriteBigEndianWords(words(), write);
}

}  // namespace tamis
