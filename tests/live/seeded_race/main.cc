// Threads set bits in words by loading, changing and storing them, while kernels read.
// ThreadSanitizer must report this mistake: the suppressions must not hide it.
#include <cstdint>
#include <thread>
#include <vector>

#include "tamis/filters/split_block_filter.h"

namespace {

[[gnu::noinline]] void OrWordWithoutAtomicOperation(uint64_t& word, uint64_t bits) {
  if ((word & bits) != bits) word = word | bits;
}

}  // namespace

int main() {
  tamis::SplitBlockBloomFilter filter({.capacity = 100});
  const auto set_bits = [&](uint64_t bits) {
    auto* const words =
        const_cast<uint64_t*>(reinterpret_cast<const uint64_t*>(filter.payload().data()));
    for (size_t i = 0; i < filter.bytes() / sizeof(uint64_t); ++i) {
      OrWordWithoutAtomicOperation(words[i], bits);
    }
  };
  std::thread a(set_bits, 1), b(set_bits, 2), reader([&] { filter.Contains(uint64_t{1}); });
  a.join();
  b.join();
  reader.join();
}
