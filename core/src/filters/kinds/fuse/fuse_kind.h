#ifndef TAMIS_CORE_SRC_FILTERS_KINDS_FUSE_FUSE_KIND_H_
#define TAMIS_CORE_SRC_FILTERS_KINDS_FUSE_FUSE_KIND_H_

#include "core/src/filters/base/kind.h"

namespace tamis::detail {

extern const Kind kFuse8Kind;
extern const Kind kFuse12Kind;
extern const Kind kFuse16Kind;
extern const Kind kFuse32Kind;

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_KINDS_FUSE_FUSE_KIND_H_
