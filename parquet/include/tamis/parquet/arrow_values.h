// Decodes the values of Parquet files with Apache Arrow. Part of the library tamis::parquet_arrow,
// which exists if tamis was built with Arrow.
#ifndef TAMIS_PARQUET_ARROW_VALUES_H_
#define TAMIS_PARQUET_ARROW_VALUES_H_

#include <filesystem>
#include <memory>
#include <string>

#include "tamis/parquet/add.h"

namespace tamis::parquet {

// Opens the file. If the file has checksums of pages, Read verifies them. Only one thread at a time
// may use the result. Throws Error(kCorrupt) with Arrow's message for a file that Arrow cannot
// read. ColumnValues::Read throws the same error.
std::unique_ptr<ColumnValues> OpenArrowValues(const std::filesystem::path& path);

// Returns the version of Arrow, such as "26.0.1".
std::string ArrowVersion();

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_ARROW_VALUES_H_
