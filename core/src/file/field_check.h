// Checks on the fields of a header. Every error contains the offset of the field.
#ifndef TAMIS_CORE_SRC_FILE_FIELD_CHECK_H_
#define TAMIS_CORE_SRC_FILE_FIELD_CHECK_H_

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/src/file/file_format.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis::detail {

struct FieldCheck {
  const std::filesystem::path& path;
  uint64_t start = 0;  // offset of the header in the file

  // `at` is the offset of the field from the start of the header, in bytes.
  [[noreturn]] void Fail(ErrorCode code, const std::string& field, uint64_t at,
                         const std::string& problem) const {
    ThrowFormatError(path, code, field, start + at, problem);
  }

  void Equal(const std::string& field, uint64_t at, uint64_t value, uint64_t wanted,
             ErrorCode code = ErrorCode::kCorrupt) const {
    if (value != wanted) {
      Fail(code, field, at, StrCat("is ", value, ", must be ", wanted));
    }
  }

  void InRange(const std::string& field, uint64_t at, uint64_t value, uint64_t min,
               uint64_t max) const {
    if (value < min || value > max) {
      Fail(ErrorCode::kCorrupt, field, at,
           StrCat("is ", value, ", out of range [", min, ", ", max, "]"));
    }
  }

  // Checks that the fields of the geometry from number `first` on, which the kind does not use, are
  // 0.
  void UnusedGeometry(const FileHeader& header, size_t first) const {
    for (size_t i = first; i < header.geometry.size(); ++i) {
      Equal(StrCat("geometry[", i, "]"), offset::kGeometry + 8 * i, header.geometry[i], 0);
    }
  }
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILE_FIELD_CHECK_H_
