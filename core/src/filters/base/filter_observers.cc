#include "core/src/filters/base/filter_observers.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "core/src/os/process.h"

namespace tamis::detail {
namespace {

// The observers of one process. A child process of fork makes a new list, because another thread of
// the parent may hold this lock at the time of the fork.
struct Observers {
  explicit Observers(Observers* before) : of_parent(before) {}

  const os::ProcessMark mark;
  Observers* const of_parent;  // never used again, nor freed
  std::atomic<size_t> number = 0;
  std::mutex mutex;
  std::vector<FilterObserver*> list;
};

// Never destroyed, because filters of static lifetime may be destroyed later.
constinit std::atomic<Observers*> kept_observers = nullptr;

// Returns nullptr if this process has not added an observer.
Observers* Known() noexcept {
  Observers* const known = kept_observers.load(std::memory_order_acquire);
  return known != nullptr && known->mark.IsOfThisProcess() ? known : nullptr;
}

Observers& Made() {
  while (true) {
    if (Observers* const known = Known()) return *known;
    Observers* before = kept_observers.load(std::memory_order_acquire);
    auto fresh = std::make_unique<Observers>(before);
    if (kept_observers.compare_exchange_strong(before, fresh.get(), std::memory_order_acq_rel)) {
      return *fresh.release();
    }
  }
}

}  // namespace

void AddFilterObserver(FilterObserver& observer) {
  Observers& observers = Made();
  const std::lock_guard lock(observers.mutex);
  observers.list.push_back(&observer);
  observers.number.store(observers.list.size(), std::memory_order_relaxed);
}

void RemoveFilterObserver(FilterObserver& observer) noexcept {
  Observers* const observers = Known();
  if (observers == nullptr) return;
  const std::lock_guard lock(observers->mutex);
  std::erase(observers->list, &observer);
  observers->number.store(observers->list.size(), std::memory_order_relaxed);
}

void TellFilterObservers(uint64_t identity) noexcept {
  // An observer that has a copy of this filter was added before the filter was destroyed. The
  // program has already synchronized the two threads.
  Observers* const known = kept_observers.load(std::memory_order_acquire);
  if (known == nullptr || known->number.load(std::memory_order_relaxed) == 0) return;
  if (!known->mark.IsOfThisProcess()) return;
  const std::lock_guard lock(known->mutex);
  for (FilterObserver* const observer : known->list) observer->Gone(identity);
}

}  // namespace tamis::detail
