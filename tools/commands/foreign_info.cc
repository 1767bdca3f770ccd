#include "tools/commands/foreign_info.h"

#include <tamis/key_types_text.h>
#include <tamis/units.h>

#include <cmath>

#include "tools/output/format.h"

namespace tamis::tools {

nlohmann::ordered_json ForeignInfo(const ForeignFilter& filter, const std::string& path) {
  return {
      {"file", path},
      {"format", filter.format().name},
      {"library", filter.format().what},
      {"key_types", KeyTypesText(filter.format().key_types)},
      {"bytes", filter.bytes()},
      {"estimated_count", filter.estimated_count()},  // infinite (null) if every bit is set
      {"expected_fpr", filter.expected_fpr()},
  };
}

std::string ForeignInfoText(const nlohmann::ordered_json& json) {
  const auto text = [&](const char* key) { return json[key].get<std::string>(); };
  const auto bytes = json["bytes"].get<uint64_t>();
  const double estimate = json["estimated_count"].get<double>();
  return Printable(text("file")) + "\n" +
         Row("format", text("format") + " (" + text("library") + "), imported") +
         Row("bytes", WithCommas(bytes) + " (" + BytesText(static_cast<double>(bytes)) + ")") +
         Row("keys", text("key_types")) +
         Row("estimated count",
             estimate < 1e18
                 ? Counted(static_cast<uint64_t>(std::llround(estimate)), "distinct key")
                 : "unknown: every bit is set") +
         Row("expected FPR", PercentText(json["expected_fpr"].get<double>()) + " at this fill");
}

}  // namespace tamis::tools
