// What rooms of the library may do with a Queryable that users may not.
#ifndef TAMIS_CORE_SRC_BULK_QUERYABLE_ACCESS_H_
#define TAMIS_CORE_SRC_BULK_QUERYABLE_ACCESS_H_

#include <cstdint>

#include "tamis/queryable.h"

namespace tamis::detail {

struct QueryableAccess {
  static void Query(const Queryable& queryable, const Keys& keys, uint64_t* bits) {
    queryable.Query(keys, bits);
  }
  static const Filter* EngineFilter(const Queryable& queryable) noexcept {
    return queryable.engine_filter();
  }
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_QUERYABLE_ACCESS_H_
