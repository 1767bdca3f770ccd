#ifndef TAMIS_CORE_SRC_BASE_PROCESSORS_H_
#define TAMIS_CORE_SRC_BASE_PROCESSORS_H_

namespace tamis::detail {

// Returns the number of processors that this process may run on, as far as it is known; at least 1.
unsigned AvailableProcessors() noexcept;

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BASE_PROCESSORS_H_
