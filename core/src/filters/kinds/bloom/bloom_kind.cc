#include "core/src/filters/kinds/bloom/bloom_kind.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "core/src/filters/base/filter_access.h"
#include "core/src/filters/base/sizing_checks.h"
#include "tamis/detail/str_cat.h"
#include "tamis/filters/bloom_filter.h"
#include "tamis/filters/sizing.h"

namespace tamis::detail {
namespace {

uint64_t CheckGeometry(const FileHeader& header, const FieldCheck& check) {
  const auto& [bits, hashes, unused] = header.geometry;
  check.InRange("bits", offset::kGeometry, bits, bloom::kWordBits, bloom::kMaxBits);
  if (bits % bloom::kWordBits != 0) {
    check.Fail(ErrorCode::kCorrupt, "bits", offset::kGeometry,
               StrCat("is ", bits, ", must be a multiple of ", bloom::kWordBits));
  }
  check.InRange("hashes", offset::kGeometry + 8, hashes, 1, bloom::kMaxHashes);
  check.UnusedGeometry(header, 2);
  return bits / 8;
}

std::string Shape(const FileHeader& header) {
  return StrCat(header.geometry[0], " bits with ", header.geometry[1], " hashes");
}

uint64_t BytesFor(uint64_t capacity, double fpr) { return BloomBits(capacity, fpr) / 8; }

double FprOfBytes(double keys, uint64_t bytes) {
  const auto capacity = static_cast<uint64_t>(std::max(keys, 1.0));
  return BloomFpr(keys, 8 * bytes, BloomHashes(8 * bytes, capacity));
}

double OldFprWhenFull(const FileHeader& header) {
  return detail::OldBloomFpr(static_cast<double>(header.capacity), header.geometry[0],
                             static_cast<uint32_t>(header.geometry[1]));
}

double FprWhenFull(const FileHeader& header) {
  return BloomFpr(static_cast<double>(header.capacity), header.geometry[0],
                  static_cast<uint32_t>(header.geometry[1]));
}

// Returns the average number of bits that a lookup tests in a full filter with `hashes` bits per
// key, if half of the queried keys are in the filter. A present key tests all of its bits. Half of
// all bits are set, so an absent key tests 1 + 1/2 + 1/4 ... bits, up to the first 0.
double Reads(double hashes) { return 0.5 * hashes + 0.5 * 2 * (1 - std::exp2(-hashes)); }

// Returns the costs relative to the calibrated filters, which have 7 hashes per key (kDefaultFpr).
RelativeCost CostOf(double hashes) {
  constexpr double kCalibratedHashes = 7;
  return {Reads(hashes) / Reads(kCalibratedHashes), hashes / kCalibratedHashes};
}

RelativeCost CostOfHeader(const FileHeader& header) {
  return CostOf(static_cast<double>(header.geometry[1]));
}

LookupFacts Facts(uint64_t bytes, uint64_t keys) {
  const uint32_t hashes = BloomHashes(8 * bytes, keys);
  return {.cache_lines = Reads(hashes),
          .cost = CostOf(hashes),
          .note = StrCat(hashes, " bits per key, each in a line of its own")};
}

// A lookup ends at the first bit that is not set, so half of the bits must be set for measuring.
// Large filters get random bits, because inserting enough keys would take seconds.
void Fill(ChangeableFilter& filter, uint64_t keys) {
  if (filter.capacity() < 16 * keys) {
    std::vector<uint64_t> numbers(std::min<uint64_t>(filter.capacity(), uint64_t{1} << 16));
    for (uint64_t first = 0; first < filter.capacity(); first += numbers.size()) {
      for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = first + i;
      filter.Insert(
          Keys(numbers).Slice(0, std::min<uint64_t>(numbers.size(), filter.capacity() - first)));
    }
    return;
  }
  std::mt19937_64 random(1);
  const std::span<std::byte> payload = FilterAccess::WritablePayload(filter);
  for (size_t i = 0; i + sizeof(uint64_t) <= payload.size(); i += sizeof(uint64_t)) {
    const uint64_t word = random();
    std::memcpy(payload.data() + i, &word, sizeof(word));
  }
}

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMiB = 1024 * kKiB;

// These costs were measured as Calibration::Measure does, for 7 hashes per key, on an AMD EPYC
// (family 26) with nothing else running. The backends were portable, SSE4, AVX2 and AVX3_DL.
constexpr CostAtSize kPortableCosts[] = {
    {256 * kKiB, {12.8, 8.6, 23.8}}, {kMiB, {14.9, 9.7, 24.7}},
    {4 * kMiB, {16.8, 10.1, 14}},    {16 * kMiB, {23.4, 22.3, 14.8}},
    {64 * kMiB, {67.9, 85, 15.8}},   {256 * kMiB, {79.6, 93.6, 16.9}},
};
constexpr CostAtSize kVector128Costs[] = {
    {256 * kKiB, {12.6, 9.56, 14.6}}, {kMiB, {13.2, 10.3, 17.4}},
    {4 * kMiB, {12.9, 10.8, 15.2}},   {16 * kMiB, {13.5, 13.5, 15.2}},
    {64 * kMiB, {21.4, 27.7, 15.5}},  {256 * kMiB, {25.4, 33.4, 16.9}},
};
constexpr CostAtSize kVector256Costs[] = {
    {256 * kKiB, {12.3, 5.83, 9.51}}, {kMiB, {12.8, 6.53, 13.6}},
    {4 * kMiB, {12, 7.12, 11.7}},     {16 * kMiB, {12.4, 10.7, 11.7}},
    {64 * kMiB, {19.7, 28.3, 12.1}},  {256 * kMiB, {23.3, 32.1, 13.4}},
};
constexpr CostAtSize kVector512Costs[] = {
    {256 * kKiB, {5.22, 3.66, 7.36}}, {kMiB, {5.65, 4.38, 11.4}},
    {4 * kMiB, {5.76, 5.02, 9.58}},   {16 * kMiB, {7.1, 9.8, 9.65}},
    {64 * kMiB, {16.1, 22.6, 9.88}},  {256 * kMiB, {19.6, 28.1, 11.1}},
};

}  // namespace

constexpr Kind kBloomKind = {
    .info = {.kind = FilterKind::kBloom,
             .name = "bloom",
             .can = {.merge = true, .intersect = true, .parallel_build = true},
             .geometry = {"bits", "hashes"},
             .can_be_layer = true},
    .file = {.check_geometry = CheckGeometry},
    .make = MakeAs<BloomFilter>,
    .load = LoadAs<BloomFilter>,
    .map = MapAs<BloomFilter>,
    .clone = CloneAs<BloomFilter>,
    .merge = MergeAs<BloomFilter>,
    .intersect = IntersectAs<BloomFilter>,
    .shape = Shape,
    .bytes_for = BytesFor,
    .fpr_of_bytes = FprOfBytes,
    .fpr_when_full = FprWhenFull,
    .old_fpr_when_full = OldFprWhenFull,
    .lookup_facts = Facts,
    .relative_cost = CostOfHeader,
    .has_union_writer = true,
    .calibration = {.costs_as = FilterKind::kBloom,
                    .fill = Fill,
                    .typical = {kPortableCosts, kVector128Costs, kVector256Costs, kVector512Costs}},
};

}  // namespace tamis::detail
