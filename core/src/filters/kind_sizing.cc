// FilterBytes and FilterFpr: the sizing functions of all kinds under one name.
#include <algorithm>
#include <string>

#include "tamis/counting.h"
#include "tamis/error.h"
#include "tamis/plan.h"
#include "tamis/sizing.h"
#include "tamis/split_block.h"

namespace tamis {
namespace {

template <int kBits>
uint64_t CuckooBytes(uint64_t capacity, double fpr) {
  return CuckooGeometry(kBits, capacity, fpr).buckets() * sizeof(cuckoo::Word<kBits>);
}

template <int kBits>
double CuckooFprOfBytes(double keys, uint64_t bytes) {
  return CuckooFpr(kBits, keys, bytes / sizeof(cuckoo::Word<kBits>));
}

[[noreturn]] void RefuseKind(FilterKind kind) {
  throw Error(ErrorCode::kInvalidArgument,
              std::string("there is no one size of filters of kind ") + FilterKindName(kind));
}

}  // namespace

uint64_t FilterBytes(FilterKind kind, uint64_t capacity, double fpr) {
  switch (kind) {
    case FilterKind::kSplitBlock:
      return SplitBlockBlocks(capacity, fpr) * split_block::kBlockBytes;
    case FilterKind::kCuckoo8:
      return CuckooBytes<8>(capacity, fpr);
    case FilterKind::kCuckoo12:
      return CuckooBytes<12>(capacity, fpr);
    case FilterKind::kCuckoo16:
      return CuckooBytes<16>(capacity, fpr);
    case FilterKind::kBloom:
      return BloomBits(capacity, fpr) / 8;
    case FilterKind::kCounting:
      return CountingBlocks(capacity, fpr) * counting::kBlockBytes;
    case FilterKind::kScalable:
      break;
  }
  RefuseKind(kind);
}

double FilterFpr(FilterKind kind, double keys, uint64_t bytes) {
  switch (kind) {
    case FilterKind::kSplitBlock:
      return SplitBlockFpr(keys, bytes / split_block::kBlockBytes);
    case FilterKind::kCuckoo8:
      return CuckooFprOfBytes<8>(keys, bytes);
    case FilterKind::kCuckoo12:
      return CuckooFprOfBytes<12>(keys, bytes);
    case FilterKind::kCuckoo16:
      return CuckooFprOfBytes<16>(keys, bytes);
    case FilterKind::kBloom: {
      const auto capacity = static_cast<uint64_t>(std::max(keys, 1.0));
      return BloomFpr(keys, 8 * bytes, BloomHashes(8 * bytes, capacity));
    }
    case FilterKind::kCounting:
      return CountingFpr(keys, bytes / counting::kBlockBytes);
    case FilterKind::kScalable:
      break;
  }
  RefuseKind(kind);
}

}  // namespace tamis
