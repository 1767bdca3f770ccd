#include "core/src/bulk/valid_keys.h"

#include <bit>
#include <cstring>

namespace tamis::detail {
namespace {

constexpr size_t kWordBits = 64;

}  // namespace

// Reads only bytes that contain bits of these keys.
uint64_t ValidBits(const Keys& keys, size_t begin, size_t n) noexcept {
  const uint64_t bit = keys.first_bit() + begin;
  const uint8_t* const first = keys.validity() + bit / 8;
  const unsigned shift = bit % 8;
  const size_t bytes = (shift + n + 7) / 8;
  uint64_t bits = 0;
  std::memcpy(&bits, first, std::min(bytes, sizeof(bits)));
  bits >>= shift;
  if (bytes > sizeof(bits)) bits |= uint64_t{first[sizeof(bits)]} << (kWordBits - shift);
  return n == kWordBits ? bits : bits & ((uint64_t{1} << n) - 1);
}

size_t CountValid(const Keys& keys, size_t begin, size_t n) noexcept {
  size_t valid = 0;
  for (size_t i = 0; i < n; i += kWordBits) {
    valid +=
        static_cast<size_t>(std::popcount(ValidBits(keys, begin + i, std::min(kWordBits, n - i))));
  }
  return valid;
}

void ClearNulls(const Keys& keys, size_t begin, size_t n, uint64_t* bits) noexcept {
  if (keys.validity() == nullptr) return;
  for (size_t i = 0; i < n; i += kWordBits) {
    bits[i / kWordBits] &= ValidBits(keys, begin + i, std::min(kWordBits, n - i));
  }
}

ValidKeys::ValidKeys(const Keys& keys, const HashSpec& spec) noexcept
    : keys_(keys), spec_(spec), stride_((keys.size() / kMarks / kWordBits + 1) * kWordBits) {
  for (size_t begin = 0; begin < keys.size(); begin += stride_) {
    marks_[num_marks_++] = size_;
    size_ += CountValid(keys, begin, std::min(stride_, keys.size() - begin));
  }
}

size_t ValidKeys::IndexOf(uint64_t rank) const noexcept {
  const uint64_t* const after = std::upper_bound(marks_, marks_ + num_marks_, rank);
  const auto mark = static_cast<size_t>(after - marks_) - 1;
  uint64_t before = rank - marks_[mark];  // valid keys from here to the key of this rank
  for (size_t index = mark * stride_;; index += kWordBits) {
    uint64_t bits = ValidBits(keys_, index, std::min(kWordBits, keys_.size() - index));
    const auto valid = static_cast<uint64_t>(std::popcount(bits));
    if (valid > before) {
      for (; before > 0; --before) bits &= bits - 1;
      return index + static_cast<size_t>(std::countr_zero(bits));
    }
    before -= valid;
  }
}

void ValidKeys::operator()(
    const CommonKernels& kernels, uint64_t begin, uint64_t n,
    FunctionRef<void(const Batch& batch, uint64_t index)> visit) const noexcept {
  if (n == 0) return;
  // Fewer keys than in a batch without nulls, because `visit` uses most of the stack.
  constexpr size_t kPacked = 768;
  alignas(64) uint64_t packed[kPacked];
  uint64_t done = 0;
  for (size_t index = IndexOf(begin); done < n;) {
    const size_t all = std::min(kPacked, keys_.size() - index);
    ForEachBatchAndNulls<kPacked>(
        kernels, keys_.Slice(index, all), spec_, kPacked, [&](const Batch& batch, size_t offset) {
          size_t kept = 0;
          for (size_t i = 0; i < batch.n; i += kWordBits) {
            uint64_t bits = ValidBits(keys_, index + offset + i, std::min(kWordBits, batch.n - i));
            if (bits == ~uint64_t{0}) {  // all valid, a frequent case
              std::copy_n(batch.values + i, kWordBits, packed + kept);
              kept += kWordBits;
              continue;
            }
            for (; bits != 0; bits &= bits - 1) {
              packed[kept++] = batch.values[i + static_cast<size_t>(std::countr_zero(bits))];
            }
          }
          kept = std::min<uint64_t>(kept, n - done);
          if (kept != 0) visit(Batch{batch.hasher, packed, kept}, begin + done);
          done += kept;
        });
    index += all;
  }
}

// Runs from the end, so that no write overtakes the ranks that are still to be read.
void ValidKeys::RanksToIndices(uint64_t* ranks, size_t count) const noexcept {
  uint64_t* out = ranks + count + (keys_.size() - size_);
  uint64_t rank = size_;
  for (size_t index = keys_.size(); index-- > 0;) {
    if (keys_.IsValid(index)) {
      --rank;
      if (count == 0 || ranks[count - 1] != rank) continue;
      --count;
    }
    *--out = index;
  }
}

// Runs from the end, because the bits of a word come from that word or from earlier ones.
void ValidKeys::SpreadBits(uint64_t* bits) const noexcept {
  uint64_t rank = size_;
  for (size_t word = BitmapWords(keys_.size()); word-- > 0;) {
    const size_t begin = word * kWordBits;
    uint64_t valid = ValidBits(keys_, begin, std::min(kWordBits, keys_.size() - begin));
    rank -= static_cast<uint64_t>(std::popcount(valid));
    uint64_t spread = 0;
    for (uint64_t from = rank; valid != 0; valid &= valid - 1, ++from) {
      const uint64_t bit = (bits[from / kWordBits] >> (from % kWordBits)) & 1;
      spread |= bit << std::countr_zero(valid);
    }
    bits[word] = spread;
  }
}

}  // namespace tamis::detail
