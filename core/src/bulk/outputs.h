// The check on the outputs of bulk functions: one for each call, the same everywhere.
#ifndef TAMIS_CORE_SRC_BULK_OUTPUTS_H_
#define TAMIS_CORE_SRC_BULK_OUTPUTS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "tamis/keys.h"

namespace tamis::detail {

// Each throws Error(kInvalidArgument) if the output is too small for the results of `keys` keys, or
// cannot hold them at all, as 32-bit indices of more than 2^32 keys.
void RequireRoom(Bitmap out, uint64_t keys);
void RequireRoom(std::span<uint8_t> out, uint64_t keys);
void RequireRoom(std::span<uint32_t> out, uint64_t keys);
void RequireRoom(std::span<uint64_t> out, uint64_t keys);

// Throws Error(kInvalidArgument) unless `found` is the number of keys that are not null.
void RequireAllFound(uint64_t found, const Keys& keys);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_OUTPUTS_H_
