// The `new` of the programs of this folder, which fails when it is told to.
#ifndef TAMIS_TESTS_CORE_NO_MEMORY_FAILING_NEW_H_
#define TAMIS_TESTS_CORE_NO_MEMORY_FAILING_NEW_H_

#include <cstddef>

namespace tamis {

// Of this thread, before the first one that fails; below 0: none does.
extern thread_local int allocations_left;
extern thread_local bool later_ones_fail;
extern thread_local int failures;
extern thread_local size_t allocated_bytes;  // of all, whatever was given back

}  // namespace tamis

#endif  // TAMIS_TESTS_CORE_NO_MEMORY_FAILING_NEW_H_
