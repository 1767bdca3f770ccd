#include "tamis/filters/split_block_view.h"

#include <algorithm>
#include <cstring>

#include "core/src/base/hash_check.h"
#include "core/src/bulk/output.h"
#include "core/src/bulk/query.h"
#include "core/src/bulk/valid_keys.h"
#include "tamis/backends.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/filters/blocks_queryable.h"
#include "tamis/filters/sizing.h"

namespace tamis {

using detail::Batch;

namespace {

uint64_t CheckedBlocks(std::span<const std::byte> blocks) {
  const uint64_t num_blocks = blocks.size() / split_block::kBlockBytes;
  if (blocks.size() % split_block::kBlockBytes != 0 || num_blocks < 1 ||
      num_blocks > split_block::kMaxBlocks) {
    throw Error(ErrorCode::kInvalidArgument,
                detail::StrCat("a view of ", blocks.size(), " bytes; allowed: multiples of ",
                               split_block::kBlockBytes, " from ", split_block::kBlockBytes, " to ",
                               split_block::kMaxBlocks * split_block::kBlockBytes));
  }
  if (blocks.data() == nullptr) {
    throw Error(ErrorCode::kInvalidArgument, "a view of bytes at a null address");
  }
  const auto address = reinterpret_cast<uintptr_t>(blocks.data());
  if (address % alignof(uint32_t) != 0) {
    throw Error(
        ErrorCode::kInvalidArgument,
        detail::StrCat("a view of bytes at an address that leaves ", address % alignof(uint32_t),
                       " when divided by 4; it must be a multiple"));
  }
  return num_blocks;
}

// Returns the words of blocks that the view does not write to.
uint32_t* Words(std::span<const std::byte> blocks) {
  return reinterpret_cast<uint32_t*>(const_cast<std::byte*>(blocks.data()));
}

}  // namespace

ConstSplitBlockView::ConstSplitBlockView(std::span<const std::byte> blocks, const HashSpec& hash,
                                         const Backend* backend)
    : ConstSplitBlockView(Words(blocks), CheckedBlocks(blocks), detail::CheckedHash(hash),
                          detail::KeyHasher(hash),
                          backend != nullptr ? *backend : DefaultBackend()) {}

ConstSplitBlockView::ConstSplitBlockView(uint32_t* words, uint64_t num_blocks, const HashSpec& hash,
                                         const detail::KeyHasher& hasher,
                                         const Backend& backend) noexcept
    : words_(words), num_blocks_(num_blocks), hash_(hash), hasher_(hasher), backend_(&backend) {}

void ConstSplitBlockView::Probe(const Batch& batch, uint64_t* bits) const noexcept {
  backend_->kernels->split_block.contains(words_, num_blocks_, batch, bits);
}

size_t ConstSplitBlockView::LookUp(const Keys& keys, const detail::Output& output) const {
  const auto query = [this](const Keys& some, uint64_t* bits) { Query(some, bits); };
  return detail::Answer(query, {.backend = backend_}, keys, output);
}

void ConstSplitBlockView::Query(const Keys& keys, uint64_t* bits) const noexcept {
  const auto probe = [this](const Batch& batch, uint64_t* out) { Probe(batch, out); };
  detail::QueryBits(*backend_->kernels, hash_, probe, keys, bits);
}

size_t ConstSplitBlockView::Contains(Keys keys, Bitmap out) const { return LookUp(keys, out); }

size_t ConstSplitBlockView::Contains(Keys keys, std::span<uint8_t> out) const {
  return LookUp(keys, out);
}

size_t ConstSplitBlockView::Select(Keys keys, std::span<uint32_t> out) const {
  return LookUp(keys, out);
}

size_t ConstSplitBlockView::Select(Keys keys, std::span<uint64_t> out) const {
  return LookUp(keys, out);
}

size_t ConstSplitBlockView::Count(Keys keys) const noexcept {
  return LookUp(keys, detail::Output::Count());
}

// Copies the blocks, because the kernel reads aligned 64-bit words, and blocks may not be aligned.
uint64_t ConstSplitBlockView::PopCount() const noexcept {
  constexpr size_t kWords = 512;
  alignas(64) uint64_t words[kWords];
  uint64_t sum = 0;
  const std::span<const std::byte> all = blocks();
  for (size_t begin = 0; begin < all.size(); begin += sizeof(words)) {
    const size_t bytes = std::min(sizeof(words), all.size() - begin);
    std::memcpy(words, all.data() + begin, bytes);
    sum += backend_->kernels->popcount(words, bytes / sizeof(uint64_t));
  }
  return sum;
}

double ConstSplitBlockView::estimated_count() const noexcept {
  return SplitBlockEstimatedCount(PopCount(), num_blocks_);
}

double ConstSplitBlockView::expected_fpr() const noexcept {
  return SplitBlockFpr(estimated_count(), num_blocks_);
}

SplitBlockView::SplitBlockView(std::span<std::byte> blocks, const HashSpec& hash,
                               uint64_t* inserted, const Backend* backend)
    : ConstSplitBlockView(blocks, hash, backend), inserted_(inserted) {}

SplitBlockView::SplitBlockView(const ConstSplitBlockView& view, uint64_t* inserted) noexcept
    : ConstSplitBlockView(view), inserted_(inserted) {}

size_t SplitBlockView::InsertKeys(const Keys& keys, const ChangeOutputs& outputs) const noexcept {
  const detail::Kernels& kernels = *backend_->kernels;
  const auto insert = [&](const Batch& batch, uint64_t) {
    kernels.split_block.insert(words_, num_blocks_, batch);
  };
  const uint64_t inserted = detail::ForValidKeys(
      keys, hash_, outputs,
      [&](uint64_t n, const detail::BatchSource& source, const detail::Outcomes&) {
        source(kernels, 0, n, insert);
        return n;
      });
  if (inserted_ != nullptr) *inserted_ += inserted;
  return inserted;
}

BlocksQueryable::BlocksQueryable(const ConstSplitBlockView& view, KeyTypes key_types) noexcept
    : view_(view, nullptr), read_only_(true), key_types_(key_types) {}

BlocksQueryable::BlocksQueryable(const SplitBlockView& view, KeyTypes key_types) noexcept
    : view_(view), read_only_(false), key_types_(key_types) {}

const SplitBlockView& BlocksQueryable::writable_view() const {
  if (!read_only_) return view_;
  throw Error(ErrorCode::kReadOnly, "the view is of constant blocks, and cannot be changed");
}

uint64_t BlocksQueryable::inserted_count() const noexcept {
  return view_.inserted_ != nullptr ? *view_.inserted_ : 0;
}

QueryTraits BlocksQueryable::traits() const noexcept { return {.backend = &view_.backend()}; }

void BlocksQueryable::Query(const Keys& keys, uint64_t* bits) const { view_.Query(keys, bits); }

size_t BlocksQueryable::Apply(Change, const Keys& keys, const ChangeOutputs& outputs) {
  return writable_view().InsertKeys(keys, outputs);
}

}  // namespace tamis
