// The stream of BloomFilter.writeTo, big-endian: strategy (i8), hashes (u8), number of words (i32),
// and the words (i64).
#include <algorithm>
#include <cstring>
#include <string>

#include "core/src/file/file_format.h"
#include "core/src/file/regular_file.h"
#include "tamis/detail/compiler.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/formats/guava.h"

namespace tamis {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kStrategyAt = 0;
constexpr uint64_t kGuavaHashesAt = 1;
constexpr uint64_t kWordsAt = 2;
constexpr uint64_t kGuavaHeaderBytes = 6;
// Number of words that are byte-swapped at a time, so that they stay in a cache.
constexpr uint64_t kPieceWords = 1 << 14;

[[noreturn]] void FailGuava(const fs::path& name, ErrorCode code, const char* check, uint64_t at,
                            const std::string& problem) {
  detail::ThrowFormatError(name, code, check, at, problem);
}

void TurnAround(const uint64_t* from, uint64_t* to, size_t n) noexcept {
  for (size_t i = 0; i < n; ++i) to[i] = detail::ByteSwap(from[i]);
}

}  // namespace

uint64_t GuavaBloomFilter::serialized_bytes() const noexcept { return kGuavaHeaderBytes + bytes(); }

// Parses a stream of `size` bytes. read(out, offset) fills `out` from the stream.
template <typename Read>
GuavaBloomFilter GuavaBloomFilter::Parse(uint64_t size, const fs::path& name, const Read& read,
                                         GuavaFunnel funnel, const GuavaLoadOptions& options) {
  if (size < kGuavaHeaderBytes) {
    FailGuava(
        name, ErrorCode::kCorrupt, "file length", size,
        detail::StrCat("a filter begins with ", kGuavaHeaderBytes, " bytes, but there are ", size));
  }
  std::byte header[kGuavaHeaderBytes];
  read(std::span(header), uint64_t{0});
  const auto strategy = static_cast<uint8_t>(header[kStrategyAt]);
  if (strategy > static_cast<uint8_t>(GuavaStrategy::kMurmur128Mitz64)) {
    FailGuava(name, ErrorCode::kUnsupported, "strategy", kStrategyAt,
              detail::StrCat("is ", strategy, ", allowed: 0 or 1"));
  }
  const auto hashes = static_cast<uint8_t>(header[kGuavaHashesAt]);
  if (hashes == 0)
    FailGuava(name, ErrorCode::kCorrupt, "hashes", kGuavaHashesAt, "is 0, allowed: [1, 255]");
  uint32_t words = 0;
  std::memcpy(&words, header + kWordsAt, sizeof(words));
  words = detail::ByteSwap(words);
  if (words == 0 || words > kMaxWords) {
    FailGuava(
        name, ErrorCode::kCorrupt, "words", kWordsAt,
        detail::StrCat("is ", static_cast<int32_t>(words), ", allowed: [1, ", kMaxWords, "]"));
  }
  const uint64_t end = kGuavaHeaderBytes + 8 * uint64_t{words};
  if (size != end) {
    FailGuava(name, ErrorCode::kCorrupt, "file length", std::min(size, end),
              detail::StrCat(words, " words make ", end, " bytes, but there are ", size));
  }
  GuavaBloomFilter filter(funnel, Geometry{GuavaStrategy{strategy}, hashes, words}, options.memory,
                          options.backend);
  for (uint64_t begin = 0; begin < words; begin += kPieceWords) {
    const std::span piece(filter.data() + begin, std::min<uint64_t>(kPieceWords, words - begin));
    read(std::as_writable_bytes(piece), kGuavaHeaderBytes + 8 * begin);
    TurnAround(piece.data(), piece.data(), piece.size());
  }
  return filter;
}

GuavaBloomFilter GuavaBloomFilter::FromBytes(std::span<const std::byte> bytes, GuavaFunnel funnel,
                                             const GuavaLoadOptions& options) {
  const auto read = [&](std::span<std::byte> out, uint64_t offset) {
    std::memcpy(out.data(), bytes.data() + offset, out.size());
  };
  return Parse(bytes.size(), "memory", read, funnel, options);
}

GuavaBloomFilter GuavaBloomFilter::Load(const fs::path& path, GuavaFunnel funnel,
                                        const GuavaLoadOptions& options) {
  const detail::RegularFile file(path);
  const auto read = [&](std::span<std::byte> out, uint64_t offset) { file.Read(out, offset); };
  return Parse(file.bytes(), path, read, funnel, options);
}

void GuavaBloomFilter::Write(const ByteSink& write) const {
  std::byte header[kGuavaHeaderBytes] = {static_cast<std::byte>(strategy_),
                                         static_cast<std::byte>(num_hashes_)};
  const uint32_t turned_count = detail::ByteSwap(static_cast<uint32_t>(num_words_));
  std::memcpy(header + kWordsAt, &turned_count, sizeof(turned_count));
  write(header);
  std::vector<uint64_t> turned(std::min(kPieceWords, num_words_));
  for (uint64_t begin = 0; begin < num_words_; begin += kPieceWords) {
    const size_t n = std::min(kPieceWords, num_words_ - begin);
    TurnAround(data() + begin, turned.data(), n);
    write(std::as_bytes(std::span(turned).first(n)));
  }
}

}  // namespace tamis
