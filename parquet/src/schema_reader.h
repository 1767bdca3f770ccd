// Reads the schema of a footer.
#ifndef TAMIS_PARQUET_SRC_SCHEMA_READER_H_
#define TAMIS_PARQUET_SRC_SCHEMA_READER_H_

#include "parquet/src/thrift_walker.h"
#include "tamis/parquet/schema.h"

namespace tamis::parquet {

// Reads the list of SchemaElement at the walker: a tree, each group in front of its columns. Throws
// FormatError(kCorrupt) if the list is not such a tree.
Schema ReadSchema(ThriftWalker& walker);

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_SRC_SCHEMA_READER_H_
