// tamis parquet: Bloom filters in Parquet files, if tamis was built with what that needs.
#include "tools/commands.h"
#if TAMIS_TOOLS_PARQUET
#include "tools/command_parquet.h"
#endif

namespace tamis::tools {

std::vector<Command> AddParquet([[maybe_unused]] const CommandLine& program) {
#if TAMIS_TOOLS_PARQUET
  const CommandLine parquet =
      program.AddCommand("parquet", "Use the Bloom filters in Parquet files, and add some.");
  parquet.RequireCommand();
  parquet.Footer(
      "Examples:\n"
      "  tamis parquet add --column id old.parquet -o new.parquet\n");
  return {AddParquetAdd(parquet)};
#else
  return {};
#endif
}

}  // namespace tamis::tools
