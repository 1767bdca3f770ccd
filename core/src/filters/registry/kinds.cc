#include "core/src/filters/registry/kinds.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <optional>
#include <sstream>
#include <string>

#include "core/src/base/made_once.h"
#include "core/src/bulk/batches.h"
#include "core/src/bulk/regions.h"
#include "core/src/filters/kinds/bloom/bloom_kind.h"
#include "core/src/filters/kinds/counting/counting_kind.h"
#include "core/src/filters/kinds/cuckoo/cuckoo_kind.h"
#include "core/src/filters/kinds/fuse/fuse_kind.h"
#include "core/src/filters/kinds/scalable/scalable_kind.h"
#include "core/src/filters/kinds/split_block/split_block_kind.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/file/filter_kind_name.h"
#include "tamis/filters/any_scalable_filter.h"
#include "tamis/filters/scalable_filter.h"
#include "tamis/filters/sizing.h"

namespace tamis {
namespace detail {
namespace {

constexpr const Kind* kKinds[] = {
    &kSplitBlockKind, &kCuckoo8Kind, &kCuckoo12Kind, &kCuckoo16Kind, &kBloomKind,  &kCountingKind,
    &kScalableKind,   &kFuse8Kind,   &kFuse12Kind,   &kFuse16Kind,   &kFuse32Kind,
};

}  // namespace

std::span<const Kind* const> Kinds() noexcept { return kKinds; }

const Kind* FindKind(FilterKind kind) noexcept {
  const auto* const found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                         [=](const Kind* k) { return k->info.kind == kind; });
  return found != std::end(kKinds) ? *found : nullptr;
}

const Kind& KindOf(FilterKind kind) noexcept { return *FindKind(kind); }

const FileKind* FindFileKind(FilterKind kind) noexcept {
  const Kind* const found = FindKind(kind);
  return found != nullptr ? &found->file : nullptr;
}

double FprAtCapacity(const FileHeader& header) { return KindOf(header.kind).fpr_when_full(header); }
double OldFprAtCapacity(const FileHeader& header) {
  const Kind& kind = KindOf(header.kind);
  return (kind.old_fpr_when_full != nullptr ? kind.old_fpr_when_full : kind.fpr_when_full)(header);
}

std::span<const CostAtSize> TypicalCostsOf(const Kind& kind, std::string_view backend) noexcept {
  const TypicalCosts& costs = KindOf(kind.calibration.costs_as).calibration.typical;
  if (backend == "portable") return costs.portable;
  if (backend.starts_with("AVX3") || backend.starts_with("AVX10")) return costs.vector512;
  if (backend == "AVX2" || backend == "SVE_256") return costs.vector256;
  return costs.vector128;
}

bool PartitioningPays(FilterKind kind, std::string_view backend, uint64_t filter_bytes,
                      uint64_t keys) noexcept {
  if (keys < kBatchKeys) return false;  // an estimate would slow down small calls
  const Kind& row = KindOf(kind);
  if (!row.info.can.parallel_build) return false;
  const Cost cost = CostOfSize(TypicalCostsOf(row, backend), filter_bytes);
  const auto n = static_cast<double>(keys);
  return PartitionedSeconds(cost, filter_bytes, n) < DirectSeconds(cost, n);
}

}  // namespace detail

namespace {

constexpr size_t kNumKinds = std::size(detail::kKinds);

using Infos = std::array<FilterKindInfo, kNumKinds>;

Infos MakeInfos() {
  Infos made{};
  for (size_t i = 0; i < kNumKinds; ++i) made[i] = detail::kKinds[i]->info;
  return made;
}

const detail::Kind& RequireKind(FilterKind kind) {
  const detail::Kind* const found = detail::FindKind(kind);
  if (found == nullptr) {
    throw Error(ErrorCode::kUnsupported,
                detail::StrCat("filter kind ", static_cast<uint32_t>(kind), " does not exist"));
  }
  return *found;
}

const detail::Kind& RequireOneSize(FilterKind kind) {
  const detail::Kind& found = RequireKind(kind);
  if (found.bytes_for == nullptr) {
    throw Error(ErrorCode::kInvalidArgument,
                std::string("filters of kind ") + found.info.name + " have no fixed size");
  }
  return found;
}

}  // namespace

std::span<const FilterKindInfo> FilterKinds() {
  static constinit std::atomic<const Infos*> kept = nullptr;
  return detail::MadeOnce(kept, MakeInfos);
}

const FilterKindInfo& KindInfo(FilterKind kind) { return RequireKind(kind).info; }

const char* FilterKindName(FilterKind kind) noexcept {
  const detail::Kind* const found = detail::FindKind(kind);
  return found != nullptr ? found->info.name : "unknown";
}

bool ParseFilterKind(std::string_view name, FilterKind& kind) noexcept {
  for (const detail::Kind* known : detail::kKinds) {
    if (name != known->info.name) continue;
    kind = known->info.kind;
    return true;
  }
  return false;
}

AnyFilter MakeFilter(FilterKind kind, const FilterOptions& options) {
  const detail::Kind& found = RequireKind(kind);
  if (found.info.is_static) {
    throw Error(ErrorCode::kInvalidArgument, std::string("a ") + found.info.name +
                                                 " filter never changes: BuildFilter builds it "
                                                 "from all its keys");
  }
  if (found.make == nullptr) {
    throw Error(ErrorCode::kInvalidArgument, std::string("a ") + found.info.name +
                                                 " filter has layers of another kind: "
                                                 "MakeScalableFilter makes it");
  }
  return found.make(options);
}

uint64_t FilterBytes(FilterKind kind, uint64_t capacity, double fpr) {
  return RequireOneSize(kind).bytes_for(capacity, fpr);
}

double FilterFpr(FilterKind kind, double keys, uint64_t bytes) {
  const detail::Kind& found = RequireOneSize(kind);
  if (!(keys >= 0 && keys < 0x1p64)) {  // also true for NaN
    std::ostringstream message;
    message << keys << " keys are out of range [0, 2^64)";
    throw Error(ErrorCode::kInvalidArgument, message.str());
  }
  return found.fpr_of_bytes(keys, bytes);
}

double FprByCount(const Filter& filter) {
  if (const std::optional<ScalableView> scalable = ViewScalable(filter)) {
    double log_of_none = 0;
    for (const Filter* layer : scalable->layers) log_of_none += std::log1p(-FprByCount(*layer));
    return std::max(0.0, -std::expm1(log_of_none));  // never -0
  }
  FileHeader header = filter.Header();
  header.capacity = filter.inserted_count();
  return detail::FprAtCapacity(header);
}

}  // namespace tamis
