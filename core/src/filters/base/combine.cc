#include "core/src/filters/base/combine.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "core/src/filters/registry/kinds.h"
#include "tamis/error.h"
#include "tamis/set_operations.h"

namespace tamis {
namespace {

// Never of the secret, which goes where errors go.
std::string HashText(const HashSpec& hash) {
  const std::string name = HashKindName(hash.kind);
  return IsKeyed(hash.kind) ? name : name + " with seed " + std::to_string(hash.seed);
}

}  // namespace

MergeCheck CanMerge(const Filter& a, const Filter& b) {
  const FileHeader x = a.Header();
  const FileHeader y = b.Header();
  if (x.kind != y.kind) {
    return {std::string("filters of kinds ") + FilterKindName(x.kind) + " and " +
            FilterKindName(y.kind) + " cannot be merged"};
  }
  const detail::Kind& kind = detail::KindOf(x.kind);
  if (kind.info.no_merge != nullptr) {
    return {std::string("filters of kind ") + FilterKindName(x.kind) + " cannot be merged"};
  }
  if (x.geometry != y.geometry) {
    return {"filters of " + kind.shape(x) + " and " + kind.shape(y) + " cannot be merged"};
  }
  if (x.hash != y.hash) {
    const bool same = IsKeyed(x.hash.kind) && x.hash.kind == y.hash.kind;
    return {"filters of hash " + HashText(x.hash) + " and " + HashText(y.hash) +
            (same ? " with another secret cannot be merged" : " cannot be merged")};
  }
  return {};
}

void Merge(Filter& filter, const Filter& other) {
  detail::RequireMergeable(filter, other);
  detail::KindOf(filter.kind()).merge(filter, other);
}

void Intersect(Filter& filter, const Filter& other) {
  const detail::Kind& kind = detail::KindOf(filter.kind());
  if (kind.intersect == nullptr) {
    throw Error(ErrorCode::kUnsupported,
                std::string("filters of kind ") + kind.info.name + " cannot be intersected");
  }
  detail::RequireMergeable(filter, other);
  kind.intersect(filter, other);
}

namespace detail {

void RequireMergeable(const Filter& a, const Filter& b) {
  const MergeCheck check = CanMerge(a, b);
  if (!check) throw Error(ErrorCode::kIncompatible, check.reason);
}

uint64_t UnionPopCount(const Kernels& kernels, std::span<const std::byte> a,
                       std::span<const std::byte> b) noexcept {
  constexpr size_t kWords = 512;
  alignas(64) uint64_t both[kWords];
  uint64_t sum = 0;
  for (size_t begin = 0; begin < a.size(); begin += sizeof(both)) {
    const size_t bytes = std::min(sizeof(both), a.size() - begin);
    std::memcpy(both, a.data() + begin, bytes);
    kernels.merge(both, reinterpret_cast<const uint64_t*>(b.data() + begin),
                  bytes / sizeof(uint64_t));
    sum += kernels.popcount(both, bytes / sizeof(uint64_t));
  }
  return sum;
}

}  // namespace detail
}  // namespace tamis
