// tamis parquet: uses Bloom filters in Parquet files, if tamis was built with tamis::parquet.
#include "tools/commands/commands.h"
#if TAMIS_TOOLS_PARQUET
#include "tools/commands/parquet.h"
#endif

namespace tamis::tools {

std::vector<Command> AddParquet([[maybe_unused]] const CommandLine& program) {
#if TAMIS_TOOLS_PARQUET
  const CommandLine parquet = program.AddCommand("parquet", "Use Bloom filters in Parquet files.");
  parquet.RequireCommand();
  parquet.Footer(
      "Examples:\n"
      "  tamis parquet info events.parquet\n"
      "  tamis parquet prune --column user_id --keys users.txt lake/ | xargs cat_them\n"
      "  tamis parquet add --column user_id events.parquet -o filtered.parquet\n");
  return {AddParquetInfo(parquet), AddParquetPrune(parquet), AddParquetAdd(parquet)};
#else
  return {};
#endif
}

}  // namespace tamis::tools
