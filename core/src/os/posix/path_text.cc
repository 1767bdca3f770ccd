#include "core/src/os/path_text.h"

namespace tamis::os {

std::string TextOf(const std::filesystem::path& path) { return path.native(); }

}  // namespace tamis::os
