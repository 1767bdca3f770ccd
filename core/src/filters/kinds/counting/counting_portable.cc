// Counting filters in plain C++: the reference for all other backends.
#include "core/src/backend/portable.h"
#include "tamis/layout/counting.h"

namespace tamis::detail {
namespace {

bool CountingContainsOne(const uint64_t* words, uint64_t num_blocks, uint64_t hash) {
  return counting::BlockContains(words + counting::kWords * counting::BlockIndex(hash, num_blocks),
                                 hash);
}

void CountingInsertOne(uint64_t* words, uint64_t num_blocks, uint64_t hash) {
  counting::BlockInsert(words + counting::kWords * counting::BlockIndex(hash, num_blocks), hash);
}

bool CountingEraseOne(uint64_t* words, uint64_t num_blocks, uint64_t hash) {
  return counting::BlockErase(words + counting::kWords * counting::BlockIndex(hash, num_blocks),
                              hash);
}

void CountingContains(const uint64_t* words, uint64_t num_blocks, const Batch& batch,
                      uint64_t* bits) {
  BitOfEach(batch, bits,
            [&](uint64_t hash) { return CountingContainsOne(words, num_blocks, hash); });
}

void CountingInsert(uint64_t* words, uint64_t num_blocks, const Batch& batch) {
  for (size_t i = 0; i < batch.n; ++i) {
    CountingInsertOne(words, num_blocks, batch.hasher(batch.values[i]));
  }
}

}  // namespace

namespace portable {

constexpr CountingKernels counting = {.contains = CountingContains,
                                      .insert = CountingInsert,
                                      .contains_one = CountingContainsOne,
                                      .insert_one = CountingInsertOne,
                                      .erase_one = CountingEraseOne};

}  // namespace portable
}  // namespace tamis::detail
