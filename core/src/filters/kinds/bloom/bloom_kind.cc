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

// These costs were measured like the costs of split-block filters, for 7 hashes per key, up to 256
// MiB, while other programs used the memory as well.
constexpr CostAtSize kPortableCosts[] = {
    {256 * kKiB, {14.2, 11.7, 11.7}}, {kMiB, {15.8, 12.1, 12.1}},    {4 * kMiB, {23.4, 22.3, 22.3}},
    {16 * kMiB, {46.4, 61.2, 61.2}},  {64 * kMiB, {84.9, 113, 113}}, {256 * kMiB, {100, 120, 120}},
};
constexpr CostAtSize kVector128Costs[] = {
    {256 * kKiB, {17.2, 18.7, 18.7}}, {kMiB, {18, 19.9, 19.9}},
    {4 * kMiB, {21.3, 24.3, 24.3}},   {16 * kMiB, {30.7, 33, 33}},
    {64 * kMiB, {59.2, 75.4, 75.4}},  {256 * kMiB, {68.8, 94.4, 94.4}},
};
constexpr CostAtSize kVector256Costs[] = {
    {256 * kKiB, {12.2, 13.2, 13.2}}, {kMiB, {13, 14.5, 14.5}},
    {4 * kMiB, {14.3, 18.8, 18.8}},   {16 * kMiB, {23.3, 27.7, 27.7}},
    {64 * kMiB, {49.6, 64.7, 64.7}},  {256 * kMiB, {62.3, 90.3, 90.3}},
};
constexpr CostAtSize kVector512Costs[] = {
    {256 * kKiB, {7.43, 12.3, 12.3}}, {kMiB, {8.49, 13.4, 13.4}},
    {4 * kMiB, {10.4, 20.3, 20.3}},   {16 * kMiB, {19.9, 27.9, 27.9}},
    {64 * kMiB, {46.3, 62.8, 62.8}},  {256 * kMiB, {62.4, 91.3, 91.3}},
};

}  // namespace

constexpr Kind kBloomKind = {
    .info = {.kind = FilterKind::kBloom,
             .name = "bloom",
             .can = {.merge = true, .intersect = true},
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
    .calibration = {.costs_as = FilterKind::kBloom,
                    .fill = Fill,
                    .typical = {kPortableCosts, kVector128Costs, kVector256Costs, kVector512Costs}},
};

}  // namespace tamis::detail
