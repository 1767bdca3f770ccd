// Filters of other libraries that were found when this was built.
#ifndef TAMIS_BENCH_SUITE_PEERS_H_
#define TAMIS_BENCH_SUITE_PEERS_H_

#include <memory>

#include "bench/suite/subject.h"

namespace tamis::bench {

// Adds the split-block and the classic filters of Boost.Bloom, each with its own hash and with the
// finalizer of MurmurHash3, and fast_multiblock64<8> with the latter.
void AddBoost(Subjects& peers);

// The block filter of libfilter, with the finalizer of MurmurHash3.
std::unique_ptr<Subject> LibfilterSubject();

// The split-block filter of Parquet in Apache Arrow, with XXH64.
std::unique_ptr<Subject> ArrowSubject();

// The binary fuse filter of xor_singleheader, 8 bits.
std::unique_ptr<Subject> BinaryFuseSubject();

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_PEERS_H_
