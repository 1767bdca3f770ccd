// Hashes of integer keys for filters of other libraries, in plain C++: the reference for all other
// backends.
#include "core/src/backend/portable.h"
#include "formats/src/integer_hash.h"

namespace tamis::detail::portable {

constexpr FormatHashKernels format_hash = {
    .redis = HashEachForRedis, .guava = HashEachForGuava, .spark = HashEachForSpark};

}  // namespace tamis::detail::portable
