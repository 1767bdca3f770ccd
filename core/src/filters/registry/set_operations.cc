#include "tamis/filters/set_operations.h"

#include <string>

#include "core/src/filters/base/combine.h"
#include "core/src/filters/registry/kinds.h"
#include "tamis/error.h"
#include "tamis/file/filter_kind_name.h"

namespace tamis {
namespace {

void RequireMergeable(const Filter& a, const Filter& b) {
  const MergeCheck check = CanMerge(a, b);
  if (!check) throw Error(ErrorCode::kIncompatible, check.reason);
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
    return {std::string("filters of kind ") + kind.info.name +
            " cannot be merged: " + kind.info.no_merge};
  }
  return detail::CompareForMerge(kind, x, y);
}

void Merge(Filter& filter, const Filter& other) {
  RequireMergeable(filter, other);
  detail::KindOf(filter.kind()).merge(filter, other);
}

void Intersect(Filter& filter, const Filter& other) {
  const detail::Kind& kind = detail::KindOf(filter.kind());
  if (kind.intersect == nullptr) {
    throw Error(ErrorCode::kUnsupported,
                std::string("filters of kind ") + kind.info.name + " cannot be intersected");
  }
  RequireMergeable(filter, other);
  kind.intersect(filter, other);
}

}  // namespace tamis
