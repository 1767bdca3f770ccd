#include "core/src/os/temporary_file.h"

#include "tamis/error.h"

namespace tamis::os {

void TemporaryFile::ThrowTargetExists(const std::filesystem::path& target) {
  throw Error(ErrorCode::kBusy,
              target.string() + ": it has been made in the meantime; nothing was saved");
}

}  // namespace tamis::os
