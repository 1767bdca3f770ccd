#include "bindings/c/src/handles.h"

#include "tamis/file/filter_kind_name.h"
#include "tamis/filters/blocks_queryable.h"

namespace tamis::c {
namespace {

std::string NameOf(const AnyFilter& filter) {
  return std::string("a filter of kind ") + FilterKindName(filter->kind());
}
std::string NameOf(const BlocksQueryable&) { return "a view"; }
std::string NameOf(const ForeignFilter& filter) {
  return std::string("a filter of format ") + filter.format().name;
}

}  // namespace

void RefuseAction(const tamis_filter& filter, const char* action) {
  const auto name = [](const auto& object) { return NameOf(object); };
  Refuse(std::visit(name, filter.object) + " cannot be " + action, ErrorCode::kUnsupported);
}

ErasableFilter& RequireErasable(ChangeableFilter& filter) {
  auto* const found = dynamic_cast<ErasableFilter*>(&filter);
  if (found != nullptr) return *found;
  Refuse(std::string("this ") + FilterKindName(filter.kind()) +
             " filter cannot erase keys: counting and cuckoo filters can, and scalable ones with "
             "layers of these",
         ErrorCode::kUnsupported);
}

}  // namespace tamis::c
