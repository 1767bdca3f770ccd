#include "core/src/filters/kinds/counting/counting_kind.h"

#include "core/src/filters/base/blocks.h"
#include "tamis/filters/counting_filter.h"
#include "tamis/filters/sizing.h"

namespace tamis::detail {
namespace {

uint64_t CheckGeometry(const FileHeader& header, const FieldCheck& check) {
  return CheckBlocks(header, check, counting::kBlockBytes, 1, counting::kMaxBlocks);
}

uint64_t BytesFor(uint64_t capacity, double fpr) {
  return CountingBlocks(capacity, fpr) * counting::kBlockBytes;
}

double FprOfBytes(double keys, uint64_t bytes) {
  return CountingFpr(keys, bytes / counting::kBlockBytes);
}

double FprWhenFull(const FileHeader& header) {
  return CountingFpr(static_cast<double>(header.capacity), header.geometry[0]);
}

LookupFacts Facts(uint64_t, uint64_t) { return {.note = "counts up to 15 copies of a key"}; }

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMiB = 1024 * kKiB;

// These costs were measured like the costs of split-block filters, up to 256 MiB, while other
// programs used the memory as well.
constexpr CostAtSize kPortableCosts[] = {
    {256 * kKiB, {11.6, 14.8, 13.3}}, {kMiB, {13.8, 17.1, 16.5}},
    {4 * kMiB, {17.8, 23.5, 21.5}},   {16 * kMiB, {29.4, 53.4, 25.9}},
    {64 * kMiB, {67.1, 89.2, 27.2}},  {256 * kMiB, {73.2, 101, 32.3}},
};
constexpr CostAtSize kVector128Costs[] = {
    {256 * kKiB, {6.74, 9.14, 9.96}}, {kMiB, {6.74, 9.18, 10.3}},    {4 * kMiB, {6.77, 9.17, 11.8}},
    {16 * kMiB, {7.06, 9.81, 12.2}},  {64 * kMiB, {11, 14.5, 12.1}}, {256 * kMiB, {14, 18.7, 12.4}},
};
constexpr CostAtSize kVector256Costs[] = {
    {256 * kKiB, {2.63, 2.93, 3.97}}, {kMiB, {2.82, 3.24, 4.46}},
    {4 * kMiB, {2.86, 3.11, 5.76}},   {16 * kMiB, {3.93, 4.8, 6.26}},
    {64 * kMiB, {7.59, 9.17, 6.78}},  {256 * kMiB, {7.98, 10.4, 7.25}},
};
constexpr CostAtSize kVector512Costs[] = {
    {256 * kKiB, {1.93, 2.28, 3.41}}, {kMiB, {1.94, 2.17, 3.77}},
    {4 * kMiB, {2.36, 2.66, 5.98}},   {16 * kMiB, {3.42, 3.98, 5.63}},
    {64 * kMiB, {7.52, 8.88, 6.06}},  {256 * kMiB, {7.71, 9.01, 6.58}},
};

}  // namespace

constexpr Kind kCountingKind = {
    .info = {.kind = FilterKind::kCounting,
             .name = "counting",
             .can = {.erase = true, .merge = true, .parallel_build = true},
             .geometry = {"blocks"}},
    .file = {.check_geometry = CheckGeometry},
    .make = MakeAs<CountingBloomFilter>,
    .load = LoadAs<CountingBloomFilter>,
    .map = MapAs<CountingBloomFilter>,
    .clone = CloneAs<CountingBloomFilter>,
    .merge = MergeAs<CountingBloomFilter>,
    .shape = ShapeOfBlocks,
    .bytes_for = BytesFor,
    .fpr_of_bytes = FprOfBytes,
    .fpr_when_full = FprWhenFull,
    .lookup_facts = Facts,
    .calibration = {.costs_as = FilterKind::kCounting,
                    .typical = {kPortableCosts, kVector128Costs, kVector256Costs, kVector512Costs}},
};

}  // namespace tamis::detail
