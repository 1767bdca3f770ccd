// Queries while another thread changes the filter.
#ifndef TAMIS_BENCH_SUITE_BESIDE_WRITER_H_
#define TAMIS_BENCH_SUITE_BESIDE_WRITER_H_

#include <functional>

#include "bench/suite/keys.h"
#include "bench/suite/subject.h"

namespace tamis::bench {

// Returns a function that measures Operation::kContainsBesideWriter once, and returns the
// nanoseconds for the number of keys in `asked`. If keys can be inserted again, the filter contains
// half of its integers when the writer begins to insert the other half. (In a full filter, the
// writer would change no bit.) Otherwise the filter is full, and the writer erases and inserts a
// batch of its keys. In both cases the filter contains all its integers at the end.
std::function<double()> BesideWriter(Subject& subject, SuiteKeys& keys, const Keys& asked, Way way,
                                     Answers& answers);

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_BESIDE_WRITER_H_
