#include "tools/output/json.h"

#include <nlohmann/json.hpp>

namespace tamis::tools {

std::string JsonText(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace tamis::tools
