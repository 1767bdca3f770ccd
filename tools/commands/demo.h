// Measures the main job: builds a filter of billions of phone numbers, and queries it.
#ifndef TAMIS_TOOLS_COMMANDS_DEMO_H_
#define TAMIS_TOOLS_COMMANDS_DEMO_H_

#include <tamis/engine/engine.h>
#include <tamis/filters/split_block_filter.h>

#include <cstdint>
#include <vector>

namespace tamis::tools {

// Returns the number of keys, at most `most`, that fit a filter of `max_bytes` at the rate `fpr`.
// If the result is less than `most` and at least a million, it is rounded down to a multiple of a
// million. Returns 0 if `max_bytes` is less than a block.
uint64_t NumbersThatFit(uint64_t most, double fpr, uint64_t max_bytes);

// Queries in random order. Half of them are among the first `numbers` of PhoneNumbers, the other
// half is not.
struct PhoneQueries {
  PhoneQueries(uint64_t numbers, uint64_t n);

  std::vector<uint64_t> keys;
  std::vector<bool> known;  // whether each key is among the first `numbers`
  uint64_t num_known = 0;
};

struct QueryResult {
  std::vector<double> seconds;  // times of the timed runs, ascending
  uint64_t found = 0;
  uint64_t false_negatives = 0;
  uint64_t false_positives = 0;

  double median() const { return seconds[seconds.size() / 2]; }
};

// Runs all queries in one call: once to warm up, then in seven timed runs.
QueryResult AskAll(Engine& engine, const Filter& filter, const PhoneQueries& queries);

// Returns how many of the numbers [first, first + n) of PhoneNumbers may be in the filter.
uint64_t CountFound(Engine& engine, const Filter& filter, uint64_t first, uint64_t n);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_COMMANDS_DEMO_H_
