// What Guava hashes of a key, by funnel.
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

// Each returns false if the funnel does not have the key. Throw Error(kInvalidArgument) if it has
// no keys of this sort.
bool HashGuavaKey(GuavaFunnel funnel, uint64_t key, Hash128& hash);
bool HashGuavaKey(GuavaFunnel funnel, std::string_view key, Hash128& hash);

// Throws Error(kInvalidArgument) unless the funnel has keys of this form.
void RequireGuavaForm(GuavaFunnel funnel, const Keys& keys);
// The same unless it has all of these that are not null, too; the error names the first.
void RequireGuavaKeys(const FormatHashKernels& kernels, GuavaFunnel funnel, const Keys& keys);

// The hashes of keys [begin, begin + n), which are of a form that the funnel has; n is at most 64.
// Returns a bit for each that is not null and that the funnel has; the hashes of others are
// unspecified.
uint64_t HashGuavaKeys(const FormatHashKernels& kernels, GuavaFunnel funnel, const Keys& keys,
                       size_t begin, size_t n, Hash128* hashes) noexcept;

}  // namespace tamis::detail

#endif  // TAMIS_FORMATS_SRC_GUAVA_KEYS_H_
