#include "core/src/filters/base/combine.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/hash_kinds.h"

namespace tamis::detail {
namespace {

// Leaves the secret out, because error texts end up in logs.
std::string HashText(const HashSpec& hash) {
  const std::string name = HashKindName(hash.kind);
  return IsKeyed(hash.kind) ? name : StrCat(name, " with seed ", hash.seed);
}

}  // namespace

MergeCheck CompareForMerge(const Kind& kind, const FileHeader& a, const FileHeader& b) {
  if (a.geometry != b.geometry) {
    return {"filters of " + kind.shape(a) + " and " + kind.shape(b) + " cannot be merged"};
  }
  if (a.hash != b.hash) {
    const bool same = IsKeyed(a.hash.kind) && a.hash.kind == b.hash.kind;
    return {"filters of hash " + HashText(a.hash) + " and " + HashText(b.hash) +
            (same ? " with another secret cannot be merged" : " cannot be merged")};
  }
  return {};
}

void RequireMergeable(const Kind& kind, const Filter& a, const Filter& b) {
  const MergeCheck check = CompareForMerge(kind, a.Header(), b.Header());
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

}  // namespace tamis::detail
