// The hashes of keys.
#ifndef TAMIS_HASH_KEYS_H_
#define TAMIS_HASH_KEYS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "tamis/hash.h"
#include "tamis/keys.h"

namespace tamis {

// Writes the hashes of the keys that are not null, in order, and returns their number. A program
// that inserts keys later can store their hashes instead of the keys, and pass them as Hashes. If
// `keys` are already hashes, copies them. `out` needs keys.CountValid() elements. Throws
// Error(kInvalidArgument), with nothing written, if `out` is too small or the kind of `hash` is
// unknown.
size_t HashKeys(const Keys& keys, const HashSpec& hash, std::span<uint64_t> out);

}  // namespace tamis

#endif  // TAMIS_HASH_KEYS_H_
