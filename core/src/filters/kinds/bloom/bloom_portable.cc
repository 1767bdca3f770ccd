// Classic filters in plain C++: the reference for all other backends.
#include "core/src/backend/portable.h"
#include "tamis/layout/bloom.h"

namespace tamis::detail {
namespace {

void BloomContains(const uint64_t* words, uint64_t num_bits, uint32_t num_hashes,
                   const Batch& batch, uint64_t* bits) {
  BitOfEach(batch, bits,
            [&](uint64_t hash) { return bloom::Contains(words, num_bits, num_hashes, hash); });
}

void BloomInsert(uint64_t* words, uint64_t num_bits, uint32_t num_hashes, const Batch& batch) {
  for (size_t i = 0; i < batch.n; ++i) {
    bloom::Insert(words, num_bits, num_hashes, batch.hasher(batch.values[i]));
  }
}

void BloomInsertIfAbsent(uint64_t* words, uint64_t num_bits, uint32_t num_hashes,
                         const Batch& batch, uint64_t* fresh) {
  BitOfEach(batch, fresh, [&](uint64_t hash) {
    if (tamis::bloom::Contains(words, num_bits, num_hashes, hash)) return false;
    tamis::bloom::Insert(words, num_bits, num_hashes, hash);
    return true;
  });
}

void BloomScatter(uint64_t num_bits, uint32_t num_hashes, const Batch& batch, unsigned shift,
                  uint32_t** ends) {
  for (size_t i = 0; i < batch.n; ++i) {
    tamis::bloom::Walk walk = tamis::bloom::Start(batch.hasher(batch.values[i]), num_bits);
    for (uint32_t j = 1;; ++j) {
      *ends[walk.position >> shift]++ = static_cast<uint32_t>(walk.position);
      if (j == num_hashes) break;
      walk = tamis::bloom::Next(walk, j, num_bits);
    }
  }
}

}  // namespace

namespace portable {

constexpr BloomKernels bloom = {.contains = BloomContains,
                                .insert = BloomInsert,
                                .insert_if_absent = BloomInsertIfAbsent,
                                .scatter = BloomScatter};

}  // namespace portable
}  // namespace tamis::detail
