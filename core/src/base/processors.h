#ifndef TAMIS_CORE_SRC_BASE_PROCESSORS_H_
#define TAMIS_CORE_SRC_BASE_PROCESSORS_H_

namespace tamis::detail {

// Those that this process may run on, as far as is known; at least 1.
unsigned AvailableProcessors() noexcept;

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BASE_PROCESSORS_H_
