// Seeds for hashes that are not keyed.
#ifndef TAMIS_RANDOM_SEED_H_
#define TAMIS_RANDOM_SEED_H_

#include <cstdint>

#include "tamis/cpp20.h"

namespace tamis {

// Returns a seed from the operating system's entropy source. Keys that collide by chance under one
// seed do not under another, so filters of different seeds err for different keys. It is not a
// defence against an attacker who chooses keys: the hashes that have a seed are not made for that,
// and strings can be prepared that collide under every seed of XXH64. RandomKeyedHash is the
// defence. Throws std::exception if there is no such source.
uint64_t RandomSeed();

}  // namespace tamis

#endif  // TAMIS_RANDOM_SEED_H_
