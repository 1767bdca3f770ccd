// The keys that may occur more than once in an input.
#ifndef TAMIS_TOOLS_INPUT_REPEATED_KEYS_H_
#define TAMIS_TOOLS_INPUT_REPEATED_KEYS_H_

#include <tamis/table_hash.h>

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string_view>
#include <unordered_map>

#include "tools/input/key_reader.h"

namespace tamis::tools {

// A table of keys, byte for byte, that is filled in a first pass over an input and queried in a
// second. A key that is not in the table must occur only once in the input.
class RepeatedKeys {
 public:
  // Adds the `i`th key of `batch`. A key that is in the table already changes nothing.
  void Add(const KeyBatch& batch, size_t i);
  // Returns true for a key that is not in the table, and for the first call with a key that is.
  bool IsFirst(const KeyBatch& batch, size_t i);

  size_t size() const { return written_.size(); }
  // Estimated memory.
  uint64_t bytes() const;

 private:
  std::pmr::monotonic_buffer_resource memory_;  // the bytes of the keys
  uint64_t key_bytes_ = 0;
  std::unordered_map<std::string_view, bool, TableHash> written_;  // true: returned by IsFirst
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_REPEATED_KEYS_H_
