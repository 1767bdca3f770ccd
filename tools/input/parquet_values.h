// Reads values of Parquet files, if tamis was built with Apache Arrow.
#ifndef TAMIS_TOOLS_INPUT_PARQUET_VALUES_H_
#define TAMIS_TOOLS_INPUT_PARQUET_VALUES_H_

#include <tamis/parquet/add.h>

#include <filesystem>
#include <memory>

namespace tamis::tools {

// Opens the values of a file. If tamis was built without Arrow, throws Error(kUnsupported) with a
// message that describes how to install Arrow. Throws the errors of parquet::OpenArrowValues.
std::unique_ptr<parquet::ColumnValues> OpenColumnValues(const std::filesystem::path& path);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_PARQUET_VALUES_H_
