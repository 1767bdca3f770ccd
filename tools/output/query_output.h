// What `tamis query` and `tamis redis query` write.
#ifndef TAMIS_TOOLS_OUTPUT_QUERY_OUTPUT_H_
#define TAMIS_TOOLS_OUTPUT_QUERY_OUTPUT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/input/key_reader.h"
#include "tools/output/console.h"

namespace tamis::tools {

// A line as it was read; `raw`: an integer of 8 bytes.
void WriteRecord(std::string_view record, bool raw, Output& out);

struct QueryCounts {
  uint64_t keys = 0;
  uint64_t selected = 0;  // those that were asked for: with `invert` those that are not in
  bool invert = false;
};

// In JSON, for a filter of that name.
std::string CountsJson(const std::string& filter, const QueryCounts& counts,
                       const KeyReader& reader);
// MATCHES/KEYS.
std::string CountsText(const QueryCounts& counts);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_OUTPUT_QUERY_OUTPUT_H_
