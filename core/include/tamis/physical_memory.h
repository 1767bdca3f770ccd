// The size of the machine's memory.
#ifndef TAMIS_PHYSICAL_MEMORY_H_
#define TAMIS_PHYSICAL_MEMORY_H_

#include <cstdint>

#include "tamis/cpp20.h"

namespace tamis {

// Returns the bytes of physical memory that this process may use: the memory of the machine, or
// less if a control group limits it. Returns 0 if the size is unknown.
uint64_t PhysicalMemory() noexcept;

}  // namespace tamis

#endif  // TAMIS_PHYSICAL_MEMORY_H_
