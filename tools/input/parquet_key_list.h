// Reads the keys of `tamis parquet prune` from a text file or a column of another Parquet file.
#ifndef TAMIS_TOOLS_INPUT_PARQUET_KEY_LIST_H_
#define TAMIS_TOOLS_INPUT_PARQUET_KEY_LIST_H_

#include <tamis/parquet/column_keys.h>
#include <tamis/parquet/key_column.h>

#include "tools/input/key_list_file.h"

namespace tamis::tools {

// All keys, in memory.
class PruneKeys {
 public:
  // If `quiet` is false, prints how many different keys a column contains. Throws the errors of
  // ReadKeyList, OpenColumnValues and parquet::ReadKeyColumn. Throws Error(kInvalidArgument) if the
  // column has only nulls, and if the file is a Parquet file although --parquet is not given.
  PruneKeys(const KeyListOptions& options, bool quiet);
  PruneKeys(const PruneKeys&) = delete;
  PruneKeys& operator=(const PruneKeys&) = delete;

  const parquet::KeyList& keys() const { return keys_; }

 private:
  parquet::KeyList ReadColumn(const KeyListOptions& options, bool quiet);
  parquet::KeyList Read(const KeyListOptions& options, bool quiet);

  KeyListFile file_;
  parquet::KeyColumn column_;
  parquet::KeyList keys_;  // points into file_ or column_
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_PARQUET_KEY_LIST_H_
