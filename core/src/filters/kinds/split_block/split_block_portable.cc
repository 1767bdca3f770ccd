// Split-block filters in plain C++: the reference for all other backends.
#include "core/src/backend/portable.h"
#include "tamis/layout/split_block.h"

namespace tamis::detail {
namespace {

namespace sb = split_block;

bool SplitBlockContainsOne(const uint32_t* words, uint64_t num_blocks, uint64_t hash) {
  return sb::BlockContains(words + sb::kWords * sb::BlockIndex(hash, num_blocks), hash);
}

void SplitBlockInsertOne(uint32_t* words, uint64_t num_blocks, uint64_t hash) {
  sb::BlockInsert(words + sb::kWords * sb::BlockIndex(hash, num_blocks), hash);
}

void SplitBlockContains(const uint32_t* words, uint64_t num_blocks, const Batch& batch,
                        uint64_t* bits) {
  BitOfEach(batch, bits,
            [&](uint64_t hash) { return SplitBlockContainsOne(words, num_blocks, hash); });
}

void SplitBlockInsert(uint32_t* words, uint64_t num_blocks, const Batch& batch) {
  for (size_t i = 0; i < batch.n; ++i) {
    SplitBlockInsertOne(words, num_blocks, batch.hasher(batch.values[i]));
  }
}

void SplitBlockInsertIfAbsent(uint32_t* words, uint64_t num_blocks, const Batch& batch,
                              uint64_t* fresh) {
  BitOfEach(batch, fresh, [&](uint64_t hash) {
    if (SplitBlockContainsOne(words, num_blocks, hash)) return false;
    SplitBlockInsertOne(words, num_blocks, hash);
    return true;
  });
}

}  // namespace

namespace portable {

constexpr SplitBlockKernels split_block = {.contains = SplitBlockContains,
                                           .insert = SplitBlockInsert,
                                           .insert_if_absent = SplitBlockInsertIfAbsent,
                                           .contains_one = SplitBlockContainsOne,
                                           .insert_one = SplitBlockInsertOne};

}  // namespace portable
}  // namespace tamis::detail
