#include "core/src/os/temporary_file.h"

#include "core/src/os/path_text.h"
#include "tamis/error.h"

namespace tamis::os {

void TemporaryFile::ThrowTargetExists(const std::filesystem::path& target) {
  throw Error(ErrorCode::kBusy,
              TextOf(target) + ": it has been made in the meantime; nothing was saved");
}

}  // namespace tamis::os
