// The `new` of the programs in this folder, which fails on request.
#ifndef TAMIS_TESTS_CORE_NO_MEMORY_FAILING_NEW_H_
#define TAMIS_TESTS_CORE_NO_MEMORY_FAILING_NEW_H_

#include <cstddef>

namespace tamis {

// The allocations of this thread before the first one that fails; below 0: none fails.
extern thread_local int allocations_left;
extern thread_local bool later_ones_fail;
extern thread_local int failures;
extern thread_local size_t allocated_bytes;  // the sum of all allocations, freed or not

}  // namespace tamis

#endif  // TAMIS_TESTS_CORE_NO_MEMORY_FAILING_NEW_H_
