// Reads the schema of a footer.
#ifndef TAMIS_PARQUET_SRC_SCHEMA_READER_H_
#define TAMIS_PARQUET_SRC_SCHEMA_READER_H_

#include "parquet/src/thrift_walker.h"
#include "tamis/parquet/schema.h"

namespace tamis::parquet {

// The list of SchemaElement where the walker is: a tree, each group in front of its columns. Throws
// FormatError(kCorrupt) if it is none.
Schema ReadSchema(ThriftWalker& walker);

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_SRC_SCHEMA_READER_H_
