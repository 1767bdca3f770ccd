#include "tools/commands/foreign_info.h"

#include <tamis/key_types_text.h>
#include <tamis/units.h>

#include <algorithm>
#include <cmath>
#include <variant>

#include "tools/output/format.h"

namespace tamis::tools {
namespace {

std::string FieldRow(const FormatField& field) {
  std::string label = field.name;
  std::replace(label.begin(), label.end(), '_', ' ');
  if (const auto* const number = std::get_if<uint64_t>(&field.value)) {
    return Row(label, WithCommas(*number));
  }
  if (const auto* const rate = std::get_if<double>(&field.value)) {
    return Row(label, PercentText(*rate));
  }
  const auto& text = std::get<std::string>(field.value);
  return text.empty() ? "" : Row(label, Quoted(text));
}

}  // namespace

nlohmann::ordered_json ForeignInfo(const ForeignFilter& filter, const std::string& path) {
  nlohmann::ordered_json json = {
      {"file", path},
      {"format", filter.format().name},
      {"library", filter.format().what},
      {"key_types", KeyTypesText(filter.format().key_types)},
      {"bytes", filter.bytes()},
      {"estimated_count", filter.estimated_count()},  // infinite (null) if every bit is set
      {"expected_fpr", filter.expected_fpr()},
  };
  for (const FormatField& field : filter.fields()) {
    std::visit([&](const auto& value) { json[field.name] = value; }, field.value);
  }
  return json;
}

std::string ForeignInfoText(const ForeignFilter& filter, const std::string& path, bool imported) {
  const nlohmann::ordered_json json = ForeignInfo(filter, path);
  std::string fields;
  for (const FormatField& field : filter.fields()) fields += FieldRow(field);
  const auto text = [&](const char* key) { return json[key].get<std::string>(); };
  const auto bytes = json["bytes"].get<uint64_t>();
  const double estimate = json["estimated_count"].get<double>();
  return Printable(text("file")) + "\n" +
         Row("format",
             text("format") + " (" + text("library") + ")" + (imported ? ", imported" : "")) +
         Row("bytes", WithCommas(bytes) + " (" + BytesText(static_cast<double>(bytes)) + ")") +
         Row("keys", text("key_types")) + fields +
         Row("estimated count",
             estimate < 1e18
                 ? Counted(static_cast<uint64_t>(std::llround(estimate)), "distinct key")
                 : "unknown: every bit is set") +
         Row("expected FPR", PercentText(json["expected_fpr"].get<double>()) + " at this fill");
}

}  // namespace tamis::tools
