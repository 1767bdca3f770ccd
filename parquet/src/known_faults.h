// Writers whose statistics are known to be wrong.
#ifndef TAMIS_PARQUET_SRC_KNOWN_FAULTS_H_
#define TAMIS_PARQUET_SRC_KNOWN_FAULTS_H_

#include <string_view>

#include "tamis/parquet/footer.h"
#include "tamis/parquet/schema.h"

namespace tamis::parquet {

// Removes the statistics that this writer (Footer::created_by) is known to get wrong for columns of
// this type, and adds the reasons to `statistics.ignored`.
void IgnoreKnownFaults(std::string_view created_by, const Column& column, Statistics& statistics);

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_SRC_KNOWN_FAULTS_H_
