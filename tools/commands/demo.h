// The main job, measured: a filter of billions of phone numbers, asked for more.
#ifndef TAMIS_TOOLS_COMMANDS_DEMO_H_
#define TAMIS_TOOLS_COMMANDS_DEMO_H_

#include <tamis/engine/engine.h>
#include <tamis/filters/split_block_filter.h>

#include <cstdint>
#include <vector>

namespace tamis::tools {

// The most numbers, up to `most`, that a filter of `max_bytes` holds at `fpr`: rounded down to
// millions where there are any. 0 if `max_bytes` is less than a block.
uint64_t NumbersThatFit(uint64_t most, double fpr, uint64_t max_bytes);

// Queries, half of them from the first `numbers` of PhoneNumbers and half not, in random order.
struct PhoneQueries {
  PhoneQueries(uint64_t numbers, uint64_t n);

  std::vector<uint64_t> keys;
  std::vector<bool> known;  // the truth, by PhoneNumbers::IndexOf
  uint64_t num_known = 0;
};

struct QueryResult {
  std::vector<double> seconds;  // of each timed run, ascending
  uint64_t found = 0;
  uint64_t false_negatives = 0;
  uint64_t false_positives = 0;

  double median() const { return seconds[seconds.size() / 2]; }
};

// Asks all queries at once: one run to warm up, then seven that are timed.
QueryResult AskAll(Engine& engine, const Filter& filter, const PhoneQueries& queries);

// How many of the numbers [first, first + n) of PhoneNumbers the filter lets pass.
uint64_t CountFound(Engine& engine, const Filter& filter, uint64_t first, uint64_t n);

// The most memory this process has held so far, in bytes.
uint64_t PeakMemory();

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_COMMANDS_DEMO_H_
