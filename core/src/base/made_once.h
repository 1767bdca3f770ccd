// Makes an object at its first use, for the rest of the process. A static variable of a function
// would not work: if a thread forks while another thread initializes the variable, the child would
// wait for that other thread, which it does not have. Here several threads may make the object at
// the same time, and the first object that is complete is kept.
#ifndef TAMIS_CORE_SRC_BASE_MADE_ONCE_H_
#define TAMIS_CORE_SRC_BASE_MADE_ONCE_H_

#include <atomic>
#include <memory>

namespace tamis::detail {

// Returns the object that `kept` points at. If no object exists yet, calls make() and keeps its
// result. `kept` must be constant-initialized, and nothing else may write to it. The object is
// never destroyed, because objects of static lifetime may use it until the process ends.
template <typename T, typename Make>
const T& MadeOnce(std::atomic<const T*>& kept, const Make& make) {
  const T* made = kept.load(std::memory_order_acquire);
  if (made != nullptr) return *made;
  std::unique_ptr<const T> fresh(new T(make()));
  if (!kept.compare_exchange_strong(made, fresh.get(), std::memory_order_acq_rel)) return *made;
  return *fresh.release();
}

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BASE_MADE_ONCE_H_
