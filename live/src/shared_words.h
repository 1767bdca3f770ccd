// Words in which threads set bits while others read them.
//
// The code here, and the vector kernels that read such words, rely on these facts:
// - Bits are only ever set, by one atomic operation for each word. If a thread loaded a word, set
//   bits and stored the word, it would undo changes that other threads make in between.
// - For each aligned lane of 4 bytes, a vector load returns a value that the lane had at some time
//   since the load began. No processor for which the library has vector kernels tears such a lane
//   in a load that begins at a multiple of 16 bytes, and the memory of a filter is aligned that
//   way. (The C++ standard has no atomic vector loads, and calls this a data race. So the vector
//   kernels are compiled without ThreadSanitizer, and tests/live/tsan.supp names the other readers
//   of such words.)
// - A mix of older and newer words is harmless. Words only gain bits, so a query finds no bit that
//   no thread has set. If the threads are synchronized so that the insertion of a key ends before
//   the query begins, the query reads all bits of the key. The order among words does not matter,
//   so all operations are relaxed.
#ifndef TAMIS_LIVE_SRC_SHARED_WORDS_H_
#define TAMIS_LIVE_SRC_SHARED_WORDS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tamis::detail {

// Sets bits in `word`. Returns whether any of them was 0 just before. If several threads set the
// same bits at the same time, all of them may return true. Does not write to a word that has all
// the bits, so that with many repeated keys its cache line stays shared.
inline bool OrWord(uint64_t& word, uint64_t bits) noexcept {
  const std::atomic_ref<uint64_t> shared(word);
  if ((bits & ~shared.load(std::memory_order_relaxed)) == 0) return false;
  shared.fetch_or(bits, std::memory_order_relaxed);  // its result would take a loop on x86-64
  return true;
}

// Sets the bits of `n` words. Other threads may set bits in `from` at the same time.
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
