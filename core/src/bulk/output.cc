#include "core/src/bulk/output.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/src/backend/providers.h"
#include "core/src/bulk/selected_keys.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/unanswered_error.h"

namespace tamis::detail {
namespace {

void RequireSize(const char* what, uint64_t size, uint64_t needed, uint64_t keys) {
  if (size >= needed) return;
  throw Error(ErrorCode::kInvalidArgument,
              StrCat("the output has ", size, " ", what, ", and ", keys, " keys need ", needed));
}

}  // namespace

void RequireRoom(Bitmap out, uint64_t keys) {
  RequireSize("words", out.words().size(), BitmapWords(keys), keys);
}

void RequireRoom(std::span<uint8_t> out, uint64_t keys) {
  RequireSize("bytes", out.size(), keys, keys);
}

void RequireRoom(std::span<uint32_t> out, uint64_t keys) {
  constexpr uint64_t kMaxKeys = uint64_t{1} << 32;
  if (keys > kMaxKeys) {
    throw Error(ErrorCode::kInvalidArgument,
                StrCat(keys, " keys are too many for 32-bit indices; allowed: ", kMaxKeys));
  }
  RequireSize("elements", out.size(), keys, keys);
}

void RequireRoom(std::span<uint64_t> out, uint64_t keys) {
  RequireSize("elements", out.size(), keys, keys);
}

void Output::RequireRoom(uint64_t keys) const {
  switch (type_) {
    case Type::kBits:
      return detail::RequireRoom(Bitmap({elements<uint64_t>(), size_}), keys);
    case Type::kBytes:
      return detail::RequireRoom(std::span(elements<uint8_t>(), size_), keys);
    case Type::kRows32:
      return detail::RequireRoom(std::span(elements<uint32_t>(), size_), keys);
    case Type::kRows64:
      return detail::RequireRoom(std::span(elements<uint64_t>(), size_), keys);
    case Type::kCount:
      return;
  }
}

size_t Output::ElementBytes() const noexcept {
  return type_ == Type::kRows64 ? sizeof(uint64_t) : type_ == Type::kRows32 ? sizeof(uint32_t) : 1;
}

Output Output::From(uint64_t begin) const noexcept {
  Output part = *this;
  part.first_ += begin;
  if (type_ != Type::kCount) {
    const uint64_t bytes = type_ == Type::kBits ? begin / 8 : begin * ElementBytes();
    part.out_ = static_cast<std::byte*>(out_) + bytes;
  }
  return part;
}

size_t Output::Write(const CommonKernels& kernels, const uint64_t* bits, size_t n,
                     uint64_t begin) noexcept {
  size_t found = 0;
  switch (type_) {
    case Type::kRows32:
      found = kernels.bits_to_indices32(bits, n, first_ + begin, elements<uint32_t>() + written_);
      break;
    case Type::kRows64:
      found = kernels.bits_to_indices64(bits, n, first_ + begin, elements<uint64_t>() + written_);
      break;
    case Type::kBytes:
      kernels.bits_to_bytes(bits, n, elements<uint8_t>() + begin);
      return kernels.popcount(bits, BitmapWords(n));
    case Type::kBits:
      if (bits != elements<uint64_t>() + begin / 64) {
        std::copy_n(bits, BitmapWords(n), elements<uint64_t>() + begin / 64);
      }
      return kernels.popcount(bits, BitmapWords(n));
    case Type::kCount:
      return kernels.popcount(bits, BitmapWords(n));
  }
  written_ += found;
  return found;
}

void Output::Close(std::span<const size_t> found, uint64_t part_keys) const noexcept {
  if (!has_rows()) return;
  const size_t bytes = ElementBytes();
  auto* const out = static_cast<std::byte*>(out_);
  size_t total = 0;
  for (size_t part = 0; part < found.size(); ++part) {
    const size_t from = part * part_keys;
    if (found[part] != 0 && total != from) {
      std::memmove(out + total * bytes, out + from * bytes, found[part] * bytes);
    }
    total += found[part];
  }
}

void UnansweredKeys::Add(const UnansweredError& error) {
  if (!first_) first_ = error;
  keys_.insert(keys_.end(), error.keys().begin(), error.keys().end());
}

void UnansweredKeys::Throw(uint64_t done) {
  if (!first_) return;
  UnansweredError error(first_->code(), first_->what(), std::move(keys_));
  error.set_done(done);
  throw error;
}

namespace {

size_t AnswerAtOnce(QueryFunction query, const CommonKernels& kernels, const Keys& keys,
                    Output& output, uint64_t* bits) {
  try {
    query(keys, bits);
  } catch (UnansweredError& error) {
    error.set_done(output.Write(kernels, bits, keys.size(), 0));
    throw;
  }
  return output.Write(kernels, bits, keys.size(), 0);
}

size_t AnswerInSlices(QueryFunction query, const CommonKernels& kernels, const Keys& keys,
                      size_t slice_keys, Output& output, uint64_t* bits) {
  UnansweredKeys unanswered;
  size_t found = 0;
  for (size_t begin = 0; begin < keys.size(); begin += slice_keys) {
    const Keys some = keys.Slice(begin, slice_keys);
    unanswered.Catch([&] { query(some, bits); }, begin);
    found += output.Write(kernels, bits, some.size(), begin);
  }
  unanswered.Throw(found);
  return found;
}

}  // namespace

size_t Answer(QueryFunction query, const QueryTraits& traits, const Keys& keys, Output output) {
  output.RequireRoom(keys.size());
  if (keys.empty()) return 0;
  const Kernels& kernels =
      *(traits.backend != nullptr ? *traits.backend : HostBackends().front()).kernels;
  if (uint64_t* const bits = output.bits()) {
    return AnswerAtOnce(query, kernels, keys, output, bits);
  }
  uint64_t few_bits[QueryTraits::kSlice / 64];
  std::vector<uint64_t> many_bits;
  const size_t slice_keys = std::min(keys.size(), traits.slice_keys);
  uint64_t* bits = few_bits;
  if (slice_keys > QueryTraits::kSlice) {
    many_bits.resize(BitmapWords(slice_keys));
    bits = many_bits.data();
  }
  if (slice_keys == keys.size()) return AnswerAtOnce(query, kernels, keys, output, bits);
  return AnswerInSlices(query, kernels, keys, slice_keys, output, bits);
}

namespace {

template <typename Index>
void RequireBelow(std::span<const Index> selection, uint64_t keys) {
  Index largest = 0;
  for (const Index index : selection) largest = std::max(largest, index);
  if (largest < keys || selection.empty()) return;
  throw Error(
      ErrorCode::kInvalidArgument,
      StrCat("index ", largest, " of the selection must be below ", keys, ", the number of keys"));
}

// Copies selection[i] to the output for each bit i that is set. `out` may be the memory of
// `selection` or of indices before it. Returns the number of bits set.
template <typename Index>
size_t KeepSet(std::span<const Index> selection, const uint64_t* bits, Index* out) noexcept {
  size_t kept = 0;
  for (size_t i = 0; i < selection.size(); ++i) {
    out[kept] = selection[i];
    kept += (bits[i / 64] >> (i % 64)) & 1;
  }
  return kept;
}

}  // namespace

template <typename Index>
size_t AnswerFrom(QueryFunction query, const QueryTraits& traits, const Keys& keys,
                  std::span<const Index> selection, std::span<Index> out) {
  RequireSize("elements", out.size(), selection.size(), selection.size());
  RequireBelow(selection, keys.size());
  if (selection.empty()) return 0;
  uint64_t few_bits[QueryTraits::kSlice / 64];
  std::vector<uint64_t> many_bits;
  const size_t slice_keys = std::min(selection.size(), traits.slice_keys);
  uint64_t* bits = few_bits;
  if (slice_keys > QueryTraits::kSlice) {
    many_bits.resize(BitmapWords(slice_keys));
    bits = many_bits.data();
  }
  SelectedKeys selected;
  UnansweredKeys unanswered;
  size_t found = 0;
  for (size_t begin = 0; begin < selection.size(); begin += slice_keys) {
    const auto some = selection.subspan(begin, std::min(slice_keys, selection.size() - begin));
    unanswered.Catch([&] { query(selected.Of(keys, some), bits); }, begin);
    found += KeepSet(some, bits, out.data() + found);
  }
  unanswered.Throw(found);
  return found;
}

template size_t AnswerFrom(QueryFunction query, const QueryTraits& traits, const Keys& keys,
                           std::span<const uint32_t> selection, std::span<uint32_t> out);
template size_t AnswerFrom(QueryFunction query, const QueryTraits& traits, const Keys& keys,
                           std::span<const uint64_t> selection, std::span<uint64_t> out);

}  // namespace tamis::detail
