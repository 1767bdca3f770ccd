#ifndef TAMIS_CORE_SRC_FILTERS_KINDS_CUCKOO_CUCKOO_KIND_H_
#define TAMIS_CORE_SRC_FILTERS_KINDS_CUCKOO_CUCKOO_KIND_H_

#include "core/src/filters/base/kind.h"

namespace tamis::detail {

extern const Kind kCuckoo8Kind;
extern const Kind kCuckoo12Kind;
extern const Kind kCuckoo16Kind;

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_KINDS_CUCKOO_CUCKOO_KIND_H_
