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

}  // namespace

namespace portable {

constexpr BloomKernels bloom = {.contains = BloomContains,
                                .insert = BloomInsert,
                                .insert_if_absent = BloomInsertIfAbsent,
                                .contains_one = tamis::bloom::Contains,
                                .insert_one = tamis::bloom::Insert};

}  // namespace portable
}  // namespace tamis::detail
