// The Parquet files that files and folders on a command line stand for.
#ifndef TAMIS_TOOLS_PARQUET_PATHS_H_
#define TAMIS_TOOLS_PARQUET_PATHS_H_

#include <filesystem>
#include <string>
#include <vector>

namespace tamis::tools {

// Files as they are given, and of each folder all below it whose names end in .parquet or .parq, in
// the order of their names; those whose names, or whose folders', begin with a dot are left out.
// Throws Error(kIo) for a folder that cannot be read, and Error(kInvalidArgument) if there is no
// file at all.
std::vector<std::filesystem::path> ParquetPaths(const std::vector<std::string>& given);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_PARQUET_PATHS_H_
