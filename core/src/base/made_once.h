// What the first call that needs it makes, for the rest of the process. Not by a static variable of
// a function: a child of fork that another thread forked in the middle of making it would wait for
// a thread that the child does not have. Here threads may make it side by side, and the first that
// is done is kept.
#ifndef TAMIS_CORE_SRC_BASE_MADE_ONCE_H_
#define TAMIS_CORE_SRC_BASE_MADE_ONCE_H_

#include <atomic>
#include <memory>

namespace tamis::detail {

// `kept` is constant-initialized, and nothing else writes to it. What is kept is never destroyed:
// objects of static lifetime may need it after it would be.
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
