// Informs observers, which keep copies of filters elsewhere, when a filter ceases to exist.
#ifndef TAMIS_CORE_SRC_FILTERS_BASE_FILTER_OBSERVERS_H_
#define TAMIS_CORE_SRC_FILTERS_BASE_FILTER_OBSERVERS_H_

#include <cstdint>

namespace tamis::detail {

class FilterObserver {
 public:
  // Called when no filter has this identity (FilterAccess::Version) any more, because the filter
  // was destroyed or another filter was moved into it. Runs on the thread that destroyed or moved
  // the filter. Also called for filters of which the observer has no copy. Must not destroy
  // filters, nor add or remove observers.
  virtual void Gone(uint64_t identity) noexcept = 0;

 protected:
  ~FilterObserver() = default;
};

// Thread-safe. A child of fork does not call the observers of its parent.
void AddFilterObserver(FilterObserver& observer);
// Waits for running calls of Gone.
void RemoveFilterObserver(FilterObserver& observer) noexcept;
// Takes almost no time if there are no observers.
void TellFilterObservers(uint64_t identity) noexcept;

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_BASE_FILTER_OBSERVERS_H_
