// Lookups while another thread changes the filter.
#ifndef TAMIS_BENCH_SUITE_BESIDE_WRITER_H_
#define TAMIS_BENCH_SUITE_BESIDE_WRITER_H_

#include <functional>

#include "bench/suite/keys.h"
#include "bench/suite/subject.h"

namespace tamis::bench {

// A function that measures Operation::kContainsBesideWriter once, in nanoseconds for as many keys
// as `asked`. A filter that takes keys again has half of its integers in when the writer begins
// with the others, as where all bits are set there is nothing to write; one that does not is full,
// and a batch of its keys goes and comes. Either has all its integers in the end.
std::function<double()> BesideWriter(Subject& subject, SuiteKeys& keys, const Keys& asked, Way way,
                                     Answers& answers);

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_BESIDE_WRITER_H_
