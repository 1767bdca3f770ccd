// The class of filters that goes with a kind.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_CLASSES_FOR_CLASS_H_
#define TAMIS_BINDINGS_PYTHON_SRC_CLASSES_FOR_CLASS_H_

#include <tamis/tamis.h>

namespace tamis::python {

// Returns work.operator()<F>() for the first class F of the list whose kind it is, or otherwise().
template <typename F, typename... More, typename Work, typename Otherwise>
auto ForClass(FilterKind kind, const Work& work, const Otherwise& otherwise) {
  if (kind == F::kKind) return work.template operator()<F>();
  if constexpr (sizeof...(More) > 0) {
    return ForClass<More...>(kind, work, otherwise);
  } else {
    return otherwise();
  }
}

// Returns work.operator()<F, kKind>(). Scalable filters are of many classes: F is Filter.
template <typename Work>
auto ForKind(FilterKind kind, const Work& work) {
  return ForClass<SplitBlockBloomFilter, CuckooFilter<8>, CuckooFilter<12>, CuckooFilter<16>,
                  BloomFilter, CountingBloomFilter>(
      kind, [&]<typename F>() { return work.template operator()<F, F::kKind>(); },
      [&] { return work.template operator()<Filter, FilterKind::kScalable>(); });
}

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_CLASSES_FOR_CLASS_H_
