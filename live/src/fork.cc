#include "tamis/live/detail/fork.h"

#include <unistd.h>

namespace tamis::detail {

ForkMark::ForkMark() noexcept : process_(getpid()) {}

bool ForkMark::IsOfThisProcess() const noexcept { return process_ == getpid(); }

}  // namespace tamis::detail
