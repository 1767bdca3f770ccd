// The outputs of questions, made of a word for 64 keys.
#ifndef TAMIS_REDIS_SRC_ANSWERS_H_
#define TAMIS_REDIS_SRC_ANSWERS_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tamis/error.h"
#include "tamis/filter.h"
#include "tamis/redis/split_block_filter.h"

namespace tamis::redis {

inline void RequireSize(size_t have, size_t need) {
  if (have >= need) return;
  throw Error(ErrorCode::kInvalidArgument, "the output has " + std::to_string(have) +
                                               " elements, and needs " + std::to_string(need));
}

inline size_t Ones(std::span<const uint64_t> words) {
  size_t ones = 0;
  for (const uint64_t word : words) ones += static_cast<size_t>(std::popcount(word));
  return ones;
}

// Calls `ask` with words for its answers, and `write` with these also if it throws.
template <typename Ask, typename Write>
size_t WithAnswers(size_t keys, const Ask& ask, const Write& write) {
  std::vector<uint64_t> words(BitmapWords(keys));
  try {
    ask(words);
  } catch (const UnansweredError&) {
    write(words);
    throw;
  }
  write(words);
  return Ones(words);
}

template <typename Index>
void WriteIndices(std::span<const uint64_t> words, std::span<Index> out) {
  size_t count = 0;
  for (size_t w = 0; w < words.size(); ++w) {
    for (uint64_t word = words[w]; word != 0; word &= word - 1) {
      out[count++] = static_cast<Index>(64 * w + static_cast<size_t>(std::countr_zero(word)));
    }
  }
}

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_ANSWERS_H_
