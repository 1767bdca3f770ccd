// Describes a filter of another library, for `tamis info`, `import` and `export`.
#ifndef TAMIS_TOOLS_COMMANDS_FOREIGN_INFO_H_
#define TAMIS_TOOLS_COMMANDS_FOREIGN_INFO_H_

#include <tamis/formats/foreign_filter.h>

#include <nlohmann/json.hpp>
#include <string>

namespace tamis::tools {

// Describes the filter of the file at `path`, whose properties of its format come last. O(bytes).
nlohmann::ordered_json ForeignInfo(const ForeignFilter& filter, const std::string& path);
// Returns the description as text.
std::string ForeignInfoText(const ForeignFilter& filter, const std::string& path, bool imported);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_COMMANDS_FOREIGN_INFO_H_
