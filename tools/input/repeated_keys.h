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

// An exact table of keys. The first pass over an input adds keys, and the second pass queries them.
// A key that is not in the table must occur only once in the input.
class RepeatedKeys {
 public:
  // Adds the `i`th key of `batch`, if the table does not contain it.
  void Add(const KeyBatch& batch, size_t i);
  // Returns true for keys outside the table, and in the first call with a key of the table.
  bool IsFirst(const KeyBatch& batch, size_t i);

  size_t size() const { return written_.size(); }
  // Returns an estimate of the memory of the table.
  uint64_t bytes() const;

 private:
  std::pmr::monotonic_buffer_resource memory_;  // the bytes of the keys
  uint64_t key_bytes_ = 0;
  // The keys, and whether IsFirst has returned true for them.
  std::unordered_map<std::string_view, bool, TableHash> written_;
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_REPEATED_KEYS_H_
