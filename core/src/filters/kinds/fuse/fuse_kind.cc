#include "core/src/filters/kinds/fuse/fuse_kind.h"

#include <algorithm>
#include <bit>

#include "core/src/filters/kinds/fuse/fuse_sizing.h"
#include "tamis/detail/str_cat.h"
#include "tamis/filters/fuse_filter.h"

namespace tamis::detail {
namespace {

// With these limits, no payload can make a lookup read outside of the filter.
template <int kBits>
uint64_t CheckGeometry(const FileHeader& header, const FieldCheck& check) {
  const auto& [shards, segments, length] = header.geometry;
  const auto require_power_of_two = [&](const char* field, size_t i) {
    if (std::has_single_bit(header.geometry[i])) return;
    check.Fail(ErrorCode::kCorrupt, field, offset::kGeometry + 8 * i,
               StrCat("is ", header.geometry[i], ", must be a power of two"));
  };
  check.InRange("shards", offset::kGeometry, shards, 1, uint64_t{1} << fuse::kMaxLogShards);
  require_power_of_two("shards", 0);
  check.InRange("segment length", offset::kGeometry + 16, length,
                uint64_t{1} << fuse::kMinLogLength, uint64_t{1} << fuse::kMaxLogLength);
  require_power_of_two("segment length", 2);
  // The last two segments of a shard do not hold first slots.
  const uint64_t most = fuse::kMaxSlots / shards / length;
  if (most < 3) {
    check.Fail(ErrorCode::kCorrupt, "segment length", offset::kGeometry + 16,
               StrCat("is ", length, ", too many for ", shards, " shards"));
  }
  check.InRange("segments", offset::kGeometry + 8, segments, 1,
                std::min(most, UINT32_MAX / length) - 2);
  const fuse::Geometry geometry = {static_cast<uint32_t>(std::countr_zero(shards)),
                                   static_cast<uint32_t>(segments),
                                   static_cast<uint32_t>(std::countr_zero(length))};
  check.InRange("inserted", offset::kInserted, header.inserted, 0, geometry.slots());
  return fuse::FilterBytes<kBits>(geometry);
}

template <int kBits>
uint64_t BytesFor(uint64_t capacity, double fpr) {
  CheckFuseKeys(capacity);
  CheckFuseFpr(kBits, capacity, fpr);
  return fuse::FilterBytes<kBits>(FuseGeometry(capacity));
}

template <int kBits>
double FprOfBytes(double keys, uint64_t) {
  return FuseFpr(kBits, keys);
}

template <int kBits>
double FprWhenFull(const FileHeader& header) {
  return FuseFpr(kBits, static_cast<double>(header.capacity));
}

LookupFacts Facts(uint64_t, uint64_t) {
  return {.cache_lines = 3, .note = "never changes: built from all keys at once"};
}

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMiB = 1024 * kKiB;

// The costs of FuseFilter<8>, which are used for all widths. The cost of insertion is the cost of
// building a filter. The costs were measured together with the costs of CuckooFilter<16>, and
// scaled in the same way.
constexpr CostAtSize kPortableCosts[] = {
    {256 * kKiB, {3.9, 14, 14}}, {kMiB, {5, 15, 15}},       {4 * kMiB, {9.1, 20, 20}},
    {16 * kMiB, {10.4, 20, 20}}, {64 * kMiB, {35, 20, 20}},
};
constexpr CostAtSize kVector128Costs[] = {
    {256 * kKiB, {4, 14, 14}}, {kMiB, {4.9, 15, 15}},     {4 * kMiB, {6.1, 20, 20}},
    {16 * kMiB, {10, 20, 20}}, {64 * kMiB, {10, 20, 20}},
};
constexpr CostAtSize kVector256Costs[] = {
    {256 * kKiB, {1.9, 14, 14}}, {kMiB, {2.8, 15, 15}},    {4 * kMiB, {4.1, 20, 20}},
    {16 * kMiB, {7, 20, 20}},    {64 * kMiB, {7, 20, 20}},
};
constexpr CostAtSize kVector512Costs[] = {
    {256 * kKiB, {1.8, 14, 14}}, {kMiB, {2.3, 15, 15}},      {4 * kMiB, {3.9, 20, 20}},
    {16 * kMiB, {6.9, 20, 20}},  {64 * kMiB, {7.6, 20, 20}},
};

template <int kBits>
constexpr Kind RowOf(const char* name) {
  using F = FuseFilter<kBits>;
  return {
      .info = {.kind = F::kKind,
               .name = name,
               .can = {.parallel_build = true},
               .geometry = {"shards", "segments", "segment_length"},
               .no_merge = "a fuse filter never changes: build one from the keys of both",
               .is_static = true},
      .file = {.check_geometry = CheckGeometry<kBits>},
      .build = BuildAs<F>,
      .load = LoadAs<F>,
      .map = MapAs<F>,
      .clone = CloneAs<F>,
      .bytes_for = BytesFor<kBits>,
      .fpr_of_bytes = FprOfBytes<kBits>,
      .fpr_when_full = FprWhenFull<kBits>,
      .lookup_facts = Facts,
      .calibration = {.costs_as = FilterKind::kFuse8,
                      .max_bytes = 64 * kMiB,  // larger ones take 8 bytes of memory per key
                      .on_device = true,
                      .typical = {kPortableCosts, kVector128Costs, kVector256Costs,
                                  kVector512Costs}},
  };
}

}  // namespace

constexpr Kind kFuse8Kind = RowOf<8>("fuse8");
constexpr Kind kFuse12Kind = RowOf<12>("fuse12");
constexpr Kind kFuse16Kind = RowOf<16>("fuse16");
constexpr Kind kFuse32Kind = RowOf<32>("fuse32");

}  // namespace tamis::detail
