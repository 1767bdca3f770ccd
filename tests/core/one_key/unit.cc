// TAMIS_UNIT is the name of the Unit that this file is compiled as.
#include "tests/core/one_key/unit.h"

namespace tamis::one_key {
namespace {

template <typename Asked, typename Changed>
constexpr Calls<Asked, Changed> kCalls = {
    .contains = [](const Asked& asked, uint64_t key) { return asked.Contains(key); },
    .contains_string = [](const Asked& asked, std::string_view key) { return asked.Contains(key); },
    .contains_hash = [](const Asked& asked, uint64_t hash) { return asked.ContainsHash(hash); },
    .insert = [](Changed& changed, uint64_t key) { changed.Insert(key); },
    .insert_string = [](Changed& changed, std::string_view key) { changed.Insert(key); },
    .insert_hash = [](Changed& changed, uint64_t hash) { changed.InsertHash(hash); },
};

SplitBlockView MakeView(std::span<std::byte> blocks, const HashSpec& hash, const Backend& backend) {
  return SplitBlockView(blocks, hash, nullptr, &backend);
}

uint64_t IndexOfBlock(uint64_t hash, uint64_t num_blocks) {
#if TAMIS_BLOCK_VECTORS
  return detail::InlineBlockIndex(hash, num_blocks);
#else
  return split_block::BlockIndex(hash, num_blocks);
#endif
}

}  // namespace

const Unit TAMIS_UNIT = {
    .filter = kCalls<SplitBlockBloomFilter, SplitBlockBloomFilter>,
    .view = kCalls<ConstSplitBlockView, const SplitBlockView>,
    .make_view = MakeView,
    .contains_hash = &ConstSplitBlockView::ContainsHash,
    .insert_hash = &SplitBlockView::InsertHash,
    .hash = HashU64,
    .block_index = IndexOfBlock,
};

}  // namespace tamis::one_key
