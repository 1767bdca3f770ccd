#include "tamis/detail/batch.h"

namespace tamis::detail {

uint64_t SipOfKey(Source source, uint64_t k0, uint64_t k1, uint64_t key) noexcept {
  return source == Source::kSip13 ? hash::SipOfU64(1, 3, key, k0, k1)
                                  : hash::SipOfU64(2, 4, key, k0, k1);
}

}  // namespace tamis::detail
