// Reads values of Parquet files, if tamis was built with Apache Arrow.
#ifndef TAMIS_TOOLS_INPUT_PARQUET_VALUES_H_
#define TAMIS_TOOLS_INPUT_PARQUET_VALUES_H_

#include <tamis/parquet/add.h>

#include <filesystem>
#include <memory>

namespace tamis::tools {

// Opens the values of a file. Throws Error(kUnsupported), with the way to get Arrow, if tamis was
// built without it, and the errors of parquet::OpenArrowValues.
std::unique_ptr<parquet::ColumnValues> OpenColumnValues(const std::filesystem::path& path);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_PARQUET_VALUES_H_
