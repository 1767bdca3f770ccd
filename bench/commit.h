// The commit that the program was built from. If files were changed since, "-dirty" is appended.
#ifndef TAMIS_BENCH_COMMIT_H_
#define TAMIS_BENCH_COMMIT_H_

namespace tamis::bench {

extern const char* const kCommit;  // empty if unknown

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_COMMIT_H_
