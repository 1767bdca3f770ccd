#include "core/src/file/regular_file.h"

#include <algorithm>

#include "core/src/file/file_format.h"
#include "tamis/detail/str_cat.h"

namespace tamis::detail {

void RegularFile::Read(std::span<std::byte> out, uint64_t offset) const {
  while (!out.empty()) {
    const size_t n = file_.ReadSome(out, offset);
    if (n == 0) {
      ThrowFormatError(
          path(), ErrorCode::kCorrupt, "file length", std::min(file_.Status().bytes, offset),
          StrCat("the file had ", bytes_, " bytes when it was opened, and was cut short since"));
    }
    out = out.subspan(n);
    offset += n;
  }
}

}  // namespace tamis::detail
