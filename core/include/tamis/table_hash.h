// The hash for tables in memory whose keys a stranger may choose.
#ifndef TAMIS_TABLE_HASH_H_
#define TAMIS_TABLE_HASH_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tamis/hash.h"

namespace tamis {

// SipHash-1-3 under a secret of this process, for std::unordered_map and the like: nobody can
// choose keys that share a bucket. With std::hash, which leaves integers as they are, a list of
// chosen keys makes each lookup as slow as a walk over all keys. Thread-safe.
class TableHash {
 public:
  // Throws as RandomKeyedHash, when the first one in the process is made.
  TableHash() : spec_(&SpecOfProcess()) {}

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
