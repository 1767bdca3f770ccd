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

std::string NameOf(const std::unique_ptr<JoinFilter>&) { return "a join filter"; }

std::string NameOf(const tamis_filter& filter) {
  return std::visit([](const auto& object) { return NameOf(object); }, filter.object);
}

}  // namespace

void RefuseAction(const tamis_filter& filter, const char* action) {
  Refuse(NameOf(filter) + " cannot be " + action, ErrorCode::kUnsupported);
}

JoinFilter& JoinOf(const tamis_filter* filter) {
  const auto* const found =
      std::get_if<std::unique_ptr<JoinFilter>>(&Required(filter, "filter").object);
  if (found != nullptr) return **found;
  Refuse(NameOf(*filter) + " is not a join filter", ErrorCode::kUnsupported);
}

void RefuseJoinChange() {
  Refuse("a join filter cannot be changed: tamis_join_part_insert inserts keys into its parts",
         ErrorCode::kUnsupported);
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
