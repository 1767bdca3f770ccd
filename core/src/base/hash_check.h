// Hash kinds come from callers, who can make any number one.
#ifndef TAMIS_CORE_SRC_BASE_HASH_CHECK_H_
#define TAMIS_CORE_SRC_BASE_HASH_CHECK_H_

#include "tamis/hash.h"

namespace tamis::detail {

// Returns the same. Throws Error(kInvalidArgument) for a kind that is none.
const HashSpec& CheckedHash(const HashSpec& spec);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BASE_HASH_CHECK_H_
