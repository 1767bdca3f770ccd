// 64-bit words as Java writes them: big-endian.
#ifndef TAMIS_FORMATS_SRC_BIG_ENDIAN_H_
#define TAMIS_FORMATS_SRC_BIG_ENDIAN_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "tamis/detail/compiler.h"

namespace tamis::detail {

static_assert(std::endian::native == std::endian::little);

// Number of words that are byte-swapped at a time, so that they stay in a cache.
inline constexpr size_t kPieceWords = 1 << 14;

inline uint32_t BigEndian32(const std::byte* bytes) noexcept {
  uint32_t value;
  std::memcpy(&value, bytes, sizeof(value));
  return ByteSwap(value);
}

inline void PutBigEndian32(uint32_t value, std::byte* bytes) noexcept {
  value = ByteSwap(value);
  std::memcpy(bytes, &value, sizeof(value));
}

// Fills `words` with calls of read(bytes, offset), starting at `offset`.
template <typename Read>
void ReadBigEndianWords(const Read& read, uint64_t offset, std::span<uint64_t> words) {
  for (size_t begin = 0; begin < words.size(); begin += kPieceWords) {
    const std::span piece = words.subspan(begin, std::min(kPieceWords, words.size() - begin));
    read(std::as_writable_bytes(piece), offset + 8 * begin);
    for (uint64_t& word : piece) word = ByteSwap(word);
  }
}

// Calls write(bytes) for the bytes of `words` in pieces.
template <typename Write>
void WriteBigEndianWords(std::span<const uint64_t> words, const Write& write) {
  std::vector<uint64_t> turned(std::min(kPieceWords, words.size()));
  for (size_t begin = 0; begin < words.size(); begin += kPieceWords) {
    const std::span piece = words.subspan(begin, std::min(kPieceWords, words.size() - begin));
    std::ranges::transform(piece, turned.begin(), [](uint64_t word) { return ByteSwap(word); });
    write(std::as_bytes(std::span(turned).first(piece.size())));
  }
}

}  // namespace tamis::detail

#endif  // TAMIS_FORMATS_SRC_BIG_ENDIAN_H_
