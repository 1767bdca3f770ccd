#ifndef TAMIS_CORE_SRC_FILTERS_KINDS_SCALABLE_SCALABLE_KIND_H_
#define TAMIS_CORE_SRC_FILTERS_KINDS_SCALABLE_SCALABLE_KIND_H_

#include "core/src/filters/base/kind.h"

namespace tamis::detail {

extern const Kind kScalableKind;

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_KINDS_SCALABLE_SCALABLE_KIND_H_
