// A check of hash kinds, because callers can convert any number to one.
#ifndef TAMIS_CORE_SRC_BASE_HASH_CHECK_H_
#define TAMIS_CORE_SRC_BASE_HASH_CHECK_H_

#include "tamis/hash.h"

namespace tamis::detail {

// Returns `spec`. Throws Error(kInvalidArgument) if its kind is unknown.
const HashSpec& CheckedHash(const HashSpec& spec);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BASE_HASH_CHECK_H_
