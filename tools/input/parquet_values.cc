#include "tools/input/parquet_values.h"

#include <tamis/error.h>
#if TAMIS_TOOLS_ARROW
#include <tamis/parquet/arrow_values.h>
#endif

namespace tamis::tools {

std::unique_ptr<parquet::ColumnValues> OpenColumnValues(const std::filesystem::path& path) {
#if TAMIS_TOOLS_ARROW
  return parquet::OpenArrowValues(path);
#else
  throw Error(ErrorCode::kUnsupported,
              path.string() +
                  ": this tamis was built without Apache Arrow, which decodes the values of files. "
                  "To get it: pip install pyarrow, and build tamis with cmake "
                  "-DTAMIS_PYARROW=$(python3 -c 'import pyarrow; print(pyarrow.__path__[0])')");
#endif
}

}  // namespace tamis::tools
