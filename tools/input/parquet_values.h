// Values of Parquet files, where tamis was built with Apache Arrow.
#ifndef TAMIS_TOOLS_INPUT_PARQUET_VALUES_H_
#define TAMIS_TOOLS_INPUT_PARQUET_VALUES_H_

#include <tamis/parquet/add.h>

#include <filesystem>
#include <memory>

namespace tamis::tools {

// Throws Error(kUnsupported), with a word on how to get it, if tamis was built without Arrow; else
// as parquet::OpenArrowValues.
std::unique_ptr<parquet::ColumnValues> OpenColumnValues(const std::filesystem::path& path);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_PARQUET_VALUES_H_
