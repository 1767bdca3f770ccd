#include "tamis/detail/batch.h"

namespace tamis::detail {

uint64_t UncommonHash(Source source, uint64_t seed_term, uint64_t second_term,
                      uint64_t key) noexcept {
  switch (source) {
    case Source::kXxh3Of4:
      return hash::Xxh3Of4(static_cast<uint32_t>(key), seed_term);
    case Source::kXxh64Of4:
      return hash::Xxh64Of4(static_cast<uint32_t>(key), seed_term);
    case Source::kSip13:
      return hash::SipOfU64(1, 3, key, seed_term, second_term);
    default:
      return hash::SipOfU64(2, 4, key, seed_term, second_term);
  }
}

}  // namespace tamis::detail
