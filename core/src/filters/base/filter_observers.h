// Tells those who keep copies of filters elsewhere when a filter is gone.
#ifndef TAMIS_CORE_SRC_FILTERS_BASE_FILTER_OBSERVERS_H_
#define TAMIS_CORE_SRC_FILTERS_BASE_FILTER_OBSERVERS_H_

#include <cstdint>

namespace tamis::detail {

class FilterObserver {
 public:
  // No filter has this identity (FilterAccess::Version) any more: the last one was destroyed, or
  // another was moved into it. Called by the thread that does so, for filters that the observer
  // has never heard of, too. Must not destroy filters, nor add or remove observers.
  virtual void Gone(uint64_t identity) noexcept = 0;

 protected:
  ~FilterObserver() = default;
};

// Thread-safe. An observer that a child of fork got with the rest is told nothing there.
void AddFilterObserver(FilterObserver& observer);
// Waits for calls of Gone that are under way.
void RemoveFilterObserver(FilterObserver& observer) noexcept;
// Costs next to nothing where there are no observers.
void TellFilterObservers(uint64_t identity) noexcept;

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_BASE_FILTER_OBSERVERS_H_
