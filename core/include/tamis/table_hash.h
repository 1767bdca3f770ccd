// A hash for tables in memory whose keys an attacker may choose.
#ifndef TAMIS_TABLE_HASH_H_
#define TAMIS_TABLE_HASH_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tamis/hash.h"

namespace tamis {

// SipHash-1-3 with a random secret of this process, for std::unordered_map and similar tables.
// Without the secret, nobody can prepare keys that share a bucket. With std::hash, which returns
// integers unchanged, prepared keys make each lookup as slow as a walk over all keys. Thread-safe.
class TableHash {
 public:
  // The first construction in the process throws the errors of RandomKeyedHash.
  TableHash() : spec_(&SpecOfProcess()) {}

  // Return the hash of a key.
  size_t operator()(uint64_t key) const noexcept {
    return static_cast<size_t>(HashU64(key, *spec_));
  }
  size_t operator()(std::string_view key) const noexcept {
    return static_cast<size_t>(HashBytes(key, *spec_));
  }

 private:
  static const HashSpec& SpecOfProcess();

  const HashSpec* spec_;
};

}  // namespace tamis

#endif  // TAMIS_TABLE_HASH_H_
