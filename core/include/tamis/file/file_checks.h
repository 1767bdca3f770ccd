// Reads and checks files without making a filter of them.
#ifndef TAMIS_FILE_FILE_CHECKS_H_
#define TAMIS_FILE_FILE_CHECKS_H_

#include <cstdint>
#include <filesystem>

#include "tamis/file/file.h"

namespace tamis {

// The kind in the header of a file of a FilterBank. Such a file holds no single filter.
inline constexpr uint32_t kBankFileKind = 32;

// Reads and checks the header of a file, and that the file has the length that the header says.
// Throws FormatError naming the check and the offset, or Error(kIo).
FileHeader ReadHeader(const std::filesystem::path& path);

// Checks all of a file: header, length, payload. Returns the header; throws as ReadHeader.
FileHeader VerifyFile(const std::filesystem::path& path);

}  // namespace tamis

#endif  // TAMIS_FILE_FILE_CHECKS_H_
