// Filter banks in plain C++: the reference for all other backends.
#include <bit>

#include "bank/src/bit_matrix.h"
#include "core/src/backend/portable.h"
#include "tamis/layout/bank.h"

namespace tamis::detail {
namespace {

void BankLookUp(const BankRows* groups, size_t num_groups, const Batch& batch, uint64_t* bits,
                size_t stride) {
  for (size_t i = 0; i < batch.n; ++i) {
    const uint64_t hash = batch.hasher(batch.values[i]);
    uint64_t* out = bits + i * stride;
    for (size_t g = 0; g < num_groups; ++g) {
      const BankRows& group = groups[g];
      for (int w = 0; w < bank::kRowWords; ++w) {
        *out++ = bank::MembersWith(group.rows, group.num_blocks, hash, w) & group.live[w];
      }
    }
  }
}

void BankCount(const uint64_t* bits, size_t n, size_t stride, size_t words, uint64_t* counts) {
  for (size_t i = 0; i < n; ++i) {
    for (size_t w = 0; w < words; ++w) {
      for (uint64_t rest = bits[i * stride + w]; rest != 0; rest &= rest - 1) {
        ++counts[64 * w + static_cast<size_t>(std::countr_zero(rest))];
      }
    }
  }
}

void BankTranspose(const uint64_t* const* filters, const uint64_t* mask, uint64_t num_blocks,
                   uint64_t* rows) {
  const uint64_t num_words = num_blocks * split_block::kBlockBits / 64;
  for (uint64_t word = 0; word < num_words; ++word) {
    for (int w = 0; w < bank::kRowWords; ++w) {
      if (mask[w] == 0) continue;
      uint64_t square[64];
      for (int c = 0; c < 64; ++c) {
        square[c] = ((mask[w] >> c) & 1) != 0 ? filters[64 * w + c][word] : 0;
      }
      TransposeBits(square);
      uint64_t* row = rows + 64 * word * bank::kRowWords + w;
      for (int r = 0; r < 64; ++r, row += bank::kRowWords) *row = (*row & ~mask[w]) | square[r];
    }
  }
}

}  // namespace

namespace portable {

constexpr BankKernels bank = {
    .look_up = BankLookUp, .count = BankCount, .transpose = BankTranspose};

}  // namespace portable
}  // namespace tamis::detail
