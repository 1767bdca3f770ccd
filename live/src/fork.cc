#include "tamis/live/detail/fork.h"

#include "core/src/os/process.h"

namespace tamis::detail {

ForkMark::ForkMark() noexcept : process_(os::ProcessId()) {}

bool ForkMark::IsOfThisProcess() const noexcept { return process_ == os::ProcessId(); }

}  // namespace tamis::detail
