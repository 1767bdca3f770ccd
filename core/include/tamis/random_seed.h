// Seeds for hashes that are not keyed.
#ifndef TAMIS_RANDOM_SEED_H_
#define TAMIS_RANDOM_SEED_H_

#include <cstdint>

#include "tamis/cpp20.h"

namespace tamis {

// Returns a seed from the operating system's entropy source. Throws std::exception if it fails.
//
// Keys that collide by chance under one seed do not collide under another, so filters with
// different seeds have false positives for different keys. A seed does not protect against an
// attacker who chooses keys: strings can be prepared that collide under every seed of XXH64. Use
// RandomKeyedHash against such attackers.
uint64_t RandomSeed();

}  // namespace tamis

#endif  // TAMIS_RANDOM_SEED_H_
