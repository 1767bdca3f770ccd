// The commands of `tamis parquet`.
#ifndef TAMIS_TOOLS_COMMANDS_PARQUET_H_
#define TAMIS_TOOLS_COMMANDS_PARQUET_H_

#include "tools/commands/commands.h"

namespace tamis::tools {

Command AddParquetInfo(const CommandLine& parquet);
Command AddParquetPrune(const CommandLine& parquet);
Command AddParquetAdd(const CommandLine& parquet);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_COMMANDS_PARQUET_H_
