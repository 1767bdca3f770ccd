// Estimates the number of keys of an input before it is read.
#ifndef TAMIS_TOOLS_COMMANDS_ESTIMATE_KEYS_H_
#define TAMIS_TOOLS_COMMANDS_ESTIMATE_KEYS_H_

#include <tamis/filters/filter.h>

#include <cstdint>

#include "tools/commands/text_units.h"
#include "tools/input/input.h"

namespace tamis::tools {

struct KeyEstimate {
  uint64_t keys = 0;
  // The share of different keys in the sample that the filter lacks, times `keys`. These keys may
  // still be equal to keys outside of the sample, so this is an upper bound for the new keys, if
  // the sample is like the rest.
  uint64_t fresh = 0;
  uint64_t sample_bytes = 0;  // of the files, which may be packed
  uint64_t total_bytes = 0;
};

// Reads 16 to 32 MiB: small files, or the beginnings of four. The keys are records, or the keys of
// `text`. Keys in the filter `known` are not new; it may be nullptr. The inputs are regular
// files of `total_bytes` bytes. Restores the position of standard input. Throws the errors of
// KeyReader.
KeyEstimate EstimateKeys(const InputOptions& input, const TextOptions& text, uint64_t total_bytes,
                         const Filter* known);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_COMMANDS_ESTIMATE_KEYS_H_
