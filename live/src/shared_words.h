// Words that threads set bits in while others read them.
//
// What is relied on, here and by the vector kernels that read such words:
// - Bits are only ever set, and by one atomic operation for each word. To load a word, set bits and
//   store it would take back what others set in between.
// - A reader that uses vectors sees in each aligned lane of 4 bytes what was in it at some time
//   since: no processor that the library has vector kernels for tears such a lane in a load of
//   memory that begins at a multiple of 16 bytes, aligned as a filter's own memory is. (The C++
//   standard has no word for vector loads; to it this is a race. For ThreadSanitizer the vector
//   kernels are compiled without it, and tests/live/tsan.supp names what else reads such words.)
// - A mix of older and newer words is harmless: words only gain bits, so that what a reader finds
//   set was set; and a key whose insertion ended before the lookup began, as threads can know by
//   any means that orders them, has all its bits in whatever is read. Order among words plays no
//   part, so operations are relaxed.
#ifndef TAMIS_LIVE_SRC_SHARED_WORDS_H_
#define TAMIS_LIVE_SRC_SHARED_WORDS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tamis::detail {

// Returns whether a bit was missing. A word that has all the bits is not written to: with many
// repeated keys its cache line then stays shared.
inline bool OrWord(uint64_t& word, uint64_t bits) noexcept {
  const std::atomic_ref<uint64_t> shared(word);
  if ((bits & ~shared.load(std::memory_order_relaxed)) == 0) return false;
  return (bits & ~shared.fetch_or(bits, std::memory_order_relaxed)) != 0;
}

// The same for n words, of which others may set bits in `from`, too.
inline void OrWords(uint64_t* to, const uint64_t* from, size_t n) noexcept {
  for (size_t i = 0; i < n; ++i) {
    // atomic_ref takes no const before C++26.
    const std::atomic_ref<uint64_t> source(const_cast<uint64_t&>(from[i]));
    const uint64_t bits = source.load(std::memory_order_relaxed);
    if (bits != 0) OrWord(to[i], bits);
  }
}

}  // namespace tamis::detail

#endif  // TAMIS_LIVE_SRC_SHARED_WORDS_H_
