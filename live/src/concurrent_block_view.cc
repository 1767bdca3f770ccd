#include "tamis/live/concurrent_block_view.h"

#include <atomic>

#include "live/src/shared_bits.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis {
namespace {

void RequireAlignment(const void* address, size_t bytes) {
  if (const size_t rest = reinterpret_cast<uintptr_t>(address) % bytes; rest != 0) {
    throw Error(ErrorCode::kInvalidArgument,
                detail::StrCat("an address that leaves ", rest, " when divided by ", bytes,
                               "; it must be a multiple"));
  }
}

}  // namespace

ConcurrentSplitBlockView::ConcurrentSplitBlockView(std::span<std::byte> blocks,
                                                   const HashSpec& hash, uint64_t* inserted,
                                                   const Backend* backend)
    : view_(blocks, hash, backend),
      words_(reinterpret_cast<uint64_t*>(blocks.data())),
      inserted_(inserted) {
  RequireAlignment(words_, split_block::kBlockBytes);
  RequireAlignment(inserted_, sizeof(uint64_t));
}

uint64_t ConcurrentSplitBlockView::inserted_count() const noexcept {
  if (inserted_ == nullptr) return 0;
  return std::atomic_ref<uint64_t>(*inserted_).load(std::memory_order_relaxed);
}

size_t ConcurrentSplitBlockView::InsertIfAbsent(const Keys& keys, Bitmap fresh) const {
  const detail::SharedBlocks shared(*view_.backend().kernels, words_, view_.num_blocks());
  const uint64_t inserted =
      detail::InsertAbsentShared(shared, keys, view_.hash(), detail::BitsFor(keys.size(), fresh));
  if (inserted_ != nullptr && inserted > 0) {
    std::atomic_ref<uint64_t>(*inserted_).fetch_add(inserted, std::memory_order_relaxed);
  }
  return inserted;
}

}  // namespace tamis
