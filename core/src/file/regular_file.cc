#include "core/src/file/regular_file.h"

#include <algorithm>

#include "core/src/file/file_format.h"
#include "tamis/detail/str_cat.h"

namespace tamis::detail {

void RegularFile::Read(std::span<std::byte> out, uint64_t offset) const {
  const size_t n = file_.Read(out, offset);
  if (n == out.size()) return;
  ThrowFormatError(
      path(), ErrorCode::kCorrupt, "file length", std::min(file_.Status().bytes, offset + n),
      StrCat("the file had ", bytes_, " bytes when it was opened, and was cut short since"));
}

}  // namespace tamis::detail
