// Reads and checks files without making filters.
#ifndef TAMIS_FILE_FILE_CHECKS_H_
#define TAMIS_FILE_FILE_CHECKS_H_

#include <cstdint>
#include <filesystem>
#include <vector>

#include "tamis/file/file.h"

namespace tamis {

// The kind in the header of a FilterBank file. Such a file does not contain a single filter.
inline constexpr uint32_t kBankFileKind = 32;

// Reads and checks the header of a file, and checks the length of the file against it. Throws
// FormatError, with the check and the offset, or Error(kIo).
FileHeader ReadHeader(const std::filesystem::path& path);

// Returns the files of the filter or bank at `path`: `path`, and if it leads to the first of
// several shards (core/FORMAT.md, "Shards of a file"), the other shards in order, which may be
// missing. Returns only `path` for any other file, and if the file does not exist or cannot be
// read.
std::vector<std::filesystem::path> ShardsOf(const std::filesystem::path& path);

// Checks a whole file: header, length, payload. Returns the header. Throws the errors of
// ReadHeader.
FileHeader VerifyFile(const std::filesystem::path& path);

}  // namespace tamis

#endif  // TAMIS_FILE_FILE_CHECKS_H_
