// Words in which threads set bits while others read them.
//
// The code here, and the vector kernels that read such words, rely on these facts:
// - Bits are only ever set, by one atomic operation for each word. Loading a word, setting bits and
//   storing it would undo changes that other threads make in between.
// - A reader that uses vectors sees in each aligned lane of 4 bytes a value that the lane had at
//   some time since the read began. No processor for which the library has vector kernels tears
//   such a lane in a load that begins at a multiple of 16 bytes, and the memory of a filter is
//   aligned that way. (By the C++ standard this is a data race, as it has no atomic vector loads.
//   The vector kernels are therefore compiled without ThreadSanitizer, and tests/live/tsan.supp
//   names the other readers of such words.)
// - A mix of older and newer words is harmless. Words only gain bits, so a bit that a reader finds
//   set was set. If the insertion of a key ended before the query began, by any ordering between
//   the threads, all bits of the key are in the words that are read. The order among words does not
//   matter, so all operations are relaxed.
#ifndef TAMIS_LIVE_SRC_SHARED_WORDS_H_
#define TAMIS_LIVE_SRC_SHARED_WORDS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tamis::detail {

// Sets bits in `word`. Returns whether any of them was missing. Does not write to a word that has
// all the bits: with many repeated keys its cache line then stays shared.
inline bool OrWord(uint64_t& word, uint64_t bits) noexcept {
  const std::atomic_ref<uint64_t> shared(word);
  if ((bits & ~shared.load(std::memory_order_relaxed)) == 0) return false;
  return (bits & ~shared.fetch_or(bits, std::memory_order_relaxed)) != 0;
}

// The same for n words. Other threads may meanwhile also set bits in `from`.
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
