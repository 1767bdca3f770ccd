// Formats reports in JSON.
#ifndef TAMIS_TOOLS_OUTPUT_JSON_H_
#define TAMIS_TOOLS_OUTPUT_JSON_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tamis::tools {

// Returns `json` as lines. Every line ends with a newline. Bytes that are not UTF-8, such as in
// file names, become U+FFFD.
std::string JsonText(const nlohmann::ordered_json& json);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_OUTPUT_JSON_H_
