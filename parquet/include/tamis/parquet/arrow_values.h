// The values of Parquet files, decoded by Apache Arrow: tamis::parquet_arrow, which is there where
// tamis was built with it.
#ifndef TAMIS_PARQUET_ARROW_VALUES_H_
#define TAMIS_PARQUET_ARROW_VALUES_H_

#include <filesystem>
#include <memory>
#include <string>

#include "tamis/parquet/add.h"

namespace tamis::parquet {

// Of the file as it is now. Checksums of pages are verified where the file has them. Not for
// several threads at a time. Throws Error(kCorrupt) with Arrow's words for a file that it cannot
// read, here and where values are read.
std::unique_ptr<ColumnValues> OpenArrowValues(const std::filesystem::path& path);

// "26.0.1"
std::string ArrowVersion();

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_ARROW_VALUES_H_
