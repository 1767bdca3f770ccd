// The exact forms of join filters in plain C++: the reference for all other backends.
#include <algorithm>

#include "core/src/backend/portable.h"

namespace tamis::detail {
namespace {

// Sets bit i to in(value i).
template <typename In>
void InEach(const uint64_t* values, size_t n, uint64_t* bits, const In& in) {
  BitOfEach(HashBatch(values, n), bits, in);
}

void InRange(const ValueRange& range, const uint64_t* values, size_t n, uint64_t* bits) {
  InEach(values, n, bits, [&](uint64_t value) { return value - range.low <= range.span; });
}

void InBitmap(const uint64_t* words, const ValueRange& range, const uint64_t* values, size_t n,
              uint64_t* bits) {
  InEach(values, n, bits, [&](uint64_t value) {
    const uint64_t bit = std::min(value - range.low, range.span + 1);
    return ((words[bit / 64] >> (bit % 64)) & 1) != 0;
  });
}

void InList(const ValueList& list, const uint64_t* values, size_t n, uint64_t* bits) {
  InEach(values, n, bits, [&](uint64_t value) {
    return list.slots[(value * list.multiplier) >> list.shift] == value;
  });
}

}  // namespace

namespace portable {

constexpr JoinKernels join = {.in_range = InRange, .in_bitmap = InBitmap, .in_list = InList};

}  // namespace portable
}  // namespace tamis::detail
