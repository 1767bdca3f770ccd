// Filters of other libraries that were found when this was built.
#ifndef TAMIS_BENCH_SUITE_PEERS_H_
#define TAMIS_BENCH_SUITE_PEERS_H_

#include <memory>

#include "bench/suite/subject.h"

namespace tamis::bench {

// Boost.Bloom's fast_multiblock32<8>, with its own hash and with the finalizer of MurmurHash3.
std::unique_ptr<Subject> BoostSubject();
std::unique_ptr<Subject> BoostMurmurSubject();

// The split-block filter of Parquet in Apache Arrow, with XXH64.
std::unique_ptr<Subject> ArrowSubject();

// The binary fuse filter of xor_singleheader, 8 bits.
std::unique_ptr<Subject> BinaryFuseSubject();

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_PEERS_H_
