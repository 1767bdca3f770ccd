#include "core/src/filters/kinds/split_block/split_block_kind.h"

#include "core/src/filters/base/blocks.h"
#include "core/src/filters/base/sizing_checks.h"
#include "tamis/filters/sizing.h"
#include "tamis/filters/split_block_filter.h"

namespace tamis::detail {
namespace {

namespace sb = split_block;

bool HasManyBlocks(const FileHeader& header) noexcept {
  return header.geometry[0] > sb::kMaxBlocks32;
}

uint64_t CheckGeometry(const FileHeader& header, const FieldCheck& check) {
  return header.version == FileHeader::kVersionOfManyBlocks
             ? CheckBlocks(header, check, sb::kBlockBytes, sb::kMaxBlocks32 + 1, sb::kMaxBlocks)
             : CheckBlocks(header, check, sb::kBlockBytes, 1, sb::kMaxBlocks32);
}

uint64_t BytesFor(uint64_t capacity, double fpr) {
  return SplitBlockBlocks(capacity, fpr) * sb::kBlockBytes;
}

double FprOfBytes(double keys, uint64_t bytes) {
  return SplitBlockFpr(keys, bytes / sb::kBlockBytes);
}

double OldFprWhenFull(const FileHeader& header) {
  return detail::PoissonSplitBlockFpr(static_cast<double>(header.capacity), header.geometry[0]);
}

double FprWhenFull(const FileHeader& header) {
  return SplitBlockFpr(static_cast<double>(header.capacity), header.geometry[0]);
}

LookupFacts Facts(uint64_t, uint64_t) {
  return {.note = "one cache line per key; Parquet's bits with XXH64, seed 0 (INT32: 4-byte keys)"};
}

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMiB = 1024 * kKiB;
constexpr uint64_t kGiB = 1024 * kMiB;

// The results of Calibration::Measure(4 GiB) for portable, SSE4, AVX2 and AVX3, on one core of a
// virtual machine with an Intel Xeon (family 6, model 167; 2 MiB of second-level cache) and huge
// pages.
constexpr CostAtSize kPortableCosts[] = {
    {256 * kKiB, {8.1, 6, 5.5}}, {kMiB, {9.2, 6.6, 6.3}},     {4 * kMiB, {13.5, 9.7, 8.9}},
    {16 * kMiB, {16.9, 14, 11}}, {64 * kMiB, {49, 39, 13.5}}, {256 * kMiB, {56, 45, 15.7}},
    {kGiB, {64, 49, 24}},        {4 * kGiB, {85, 68, 36}},
};
constexpr CostAtSize kVector128Costs[] = {
    {256 * kKiB, {3.5, 2.9, 3.7}}, {kMiB, {3.5, 2.9, 3.9}},      {4 * kMiB, {3.5, 3, 5}},
    {16 * kMiB, {4.5, 4, 5.4}},    {64 * kMiB, {8.2, 8.2, 6.7}}, {256 * kMiB, {9.9, 9.1, 8.7}},
    {kGiB, {14.6, 12.1, 11.6}},    {4 * kGiB, {18.5, 16, 13.1}},
};
constexpr CostAtSize kVector256Costs[] = {
    {256 * kKiB, {1.73, 1.37, 2.6}}, {kMiB, {1.66, 1.37, 2.8}},      {4 * kMiB, {1.93, 1.8, 4}},
    {16 * kMiB, {3.1, 3.2, 4.1}},    {64 * kMiB, {5.6, 6.1, 5.4}},   {256 * kMiB, {7, 7.7, 7.6}},
    {kGiB, {10.7, 11.3, 9.9}},       {4 * kGiB, {14.1, 15.2, 11.4}},
};
constexpr CostAtSize kVector512Costs[] = {
    {256 * kKiB, {1.02, 1.06, 2.2}}, {kMiB, {1.14, 1.16, 2.4}},      {4 * kMiB, {1.6, 1.66, 3.9}},
    {16 * kMiB, {2.95, 3.1, 4}},     {64 * kMiB, {5.2, 5.7, 5.2}},   {256 * kMiB, {7.5, 8.2, 7.2}},
    {kGiB, {11.3, 11.8, 9.9}},       {4 * kGiB, {14.3, 15.8, 11.4}},
};

}  // namespace

constexpr Kind kSplitBlockKind = {
    .info = {.kind = FilterKind::kSplitBlock,
             .name = "split-block",
             .can = {.merge = true, .intersect = true, .parallel_build = true, .parquet = true},
             .geometry = {"blocks"},
             .can_be_layer = true},
    .file = {.check_geometry = CheckGeometry, .has_many_blocks = HasManyBlocks},
    .make = MakeAs<SplitBlockBloomFilter>,
    .load = LoadAs<SplitBlockBloomFilter>,
    .map = MapAs<SplitBlockBloomFilter>,
    .clone = CloneAs<SplitBlockBloomFilter>,
    .merge = MergeAs<SplitBlockBloomFilter>,
    .intersect = IntersectAs<SplitBlockBloomFilter>,
    .shape = ShapeOfBlocks,
    .bytes_for = BytesFor,
    .fpr_of_bytes = FprOfBytes,
    .fpr_when_full = FprWhenFull,
    .old_fpr_when_full = OldFprWhenFull,
    .lookup_facts = Facts,
    .calibration = {.costs_as = FilterKind::kSplitBlock,
                    .on_device = true,
                    .typical = {kPortableCosts, kVector128Costs, kVector256Costs, kVector512Costs}},
};

}  // namespace tamis::detail
