// Access to the protected functions of a Queryable, for the library itself.
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
