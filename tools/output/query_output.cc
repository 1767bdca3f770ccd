#include "tools/output/query_output.h"

#include <nlohmann/json.hpp>

#include "tamis/detail/str_cat.h"
#include "tools/output/json.h"

namespace tamis::tools {

void WriteRecord(std::string_view record, bool raw, Output& out) {
  out.Write(record);
  // The last line of a file may lack its end, and another file may follow.
  if (!raw && !record.ends_with('\n')) out.Write("\n");
}

std::string CountsJson(const std::string& filter, const QueryCounts& counts,
                       const KeyReader& reader) {
  const uint64_t matching = counts.invert ? counts.keys - counts.selected : counts.selected;
  return JsonText(nlohmann::ordered_json{
      {"filter", filter},
      {"keys", counts.keys},
      {"matching", matching},
      {"not_matching", counts.keys - matching},
      {"bad_lines", reader.num_bad()},
      {"empty_lines", reader.num_empty()},
  });
}

std::string CountsText(const QueryCounts& counts) {
  return detail::StrCat(counts.selected, "/", counts.keys, "\n");
}

}  // namespace tamis::tools
