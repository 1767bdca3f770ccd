// Remembers which process made an object. A child of fork has a copy of the object, but not of the
// threads or GPUs that it uses.
#ifndef TAMIS_CORE_SRC_BASE_PROCESS_MARK_H_
#define TAMIS_CORE_SRC_BASE_PROCESS_MARK_H_

#include <unistd.h>

namespace tamis::detail {

class ProcessMark {
 public:
  bool IsOfThisProcess() const noexcept { return process_ == getpid(); }

 private:
  pid_t process_ = getpid();
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BASE_PROCESS_MARK_H_
