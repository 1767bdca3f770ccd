// The hashes of keys in Guava, by funnel.
#ifndef TAMIS_FORMATS_SRC_GUAVA_KEYS_H_
#define TAMIS_FORMATS_SRC_GUAVA_KEYS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "formats/src/murmur3.h"
#include "tamis/detail/format_hash_kernels.h"
#include "tamis/formats/guava.h"
#include "tamis/keys.h"

namespace tamis::detail {

// Both return false if the key is outside the range of the funnel, and throw
// Error(kInvalidArgument) if the funnel has another key type.
bool HashGuavaKey(GuavaFunnel funnel, uint64_t key, Hash128& hash);
bool HashGuavaKey(GuavaFunnel funnel, std::string_view key, Hash128& hash);

// Throws Error(kInvalidArgument) unless the funnel has keys of this type.
void RequireGuavaForm(GuavaFunnel funnel, const Keys& keys);
// Like RequireGuavaForm. Also throws if a key that is not null is outside the range of the funnel;
// the error names the first.
void RequireGuavaKeys(const FormatHashKernels& kernels, GuavaFunnel funnel, const Keys& keys);

// Computes the hashes of the keys [begin, begin + n), whose type the funnel must have; n is at most
// 64. Returns one bit for each key that is not null and in the range of the funnel. The hashes of
// all other keys are unspecified.
uint64_t HashGuavaKeys(const FormatHashKernels& kernels, GuavaFunnel funnel, const Keys& keys,
                       size_t begin, size_t n, Hash128* hashes) noexcept;

}  // namespace tamis::detail

#endif  // TAMIS_FORMATS_SRC_GUAVA_KEYS_H_
