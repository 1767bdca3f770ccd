#include "tamis/detail/build_from.h"

#include "tamis/detail/str_cat.h"

namespace tamis::detail {

void RequireSizedByKeys(const FilterOptions& options) {
  if (options.capacity != 0 || options.bytes != 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "the filter is sized by its keys: capacity and bytes must be 0");
  }
}

uint64_t CountKeys(const RepeatableSource& source, const FilterOptions& options) {
  RequireSizedByKeys(options);
  uint64_t count = 0;
  source([&count](const Keys& keys) { count += keys.CountValid(); });
  return count;
}

void AddCounted(const RepeatableSource& source, uint64_t count,
                const std::function<void(Keys)>& add) {
  uint64_t offered = 0;
  source([&](const Keys& keys) {
    offered += keys.CountValid();
    if (offered <= count) add(keys);
  });
  if (offered != count) {
    throw Error(ErrorCode::kInvalidArgument,
                StrCat("the source had ", count, " keys at first, then ", offered));
  }
}

void RequireAllInserted(uint64_t inserted, uint64_t count) {
  if (inserted != count) {
    throw Error(ErrorCode::kInvalidArgument,
                StrCat(count - inserted, " of ", count, " keys found no room"));
  }
}

}  // namespace tamis::detail
