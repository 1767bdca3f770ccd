// The commit that this was built from. "-dirty" follows if files were changed since.
#ifndef TAMIS_BENCH_COMMIT_H_
#define TAMIS_BENCH_COMMIT_H_

namespace tamis::bench {

extern const char* const kCommit;  // empty if unknown

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_COMMIT_H_
