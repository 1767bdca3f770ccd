// Maps a kind to its class of filters.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_CLASSES_FOR_CLASS_H_
#define TAMIS_BINDINGS_PYTHON_SRC_CLASSES_FOR_CLASS_H_

#include <tamis/tamis.h>

#include <cstdint>

#include "tamis/detail/str_cat.h"

namespace tamis::python {

// Returns work.operator()<F>() for the class F of the list whose kind is `kind`. Returns
// otherwise() if no class has this kind.
template <typename F, typename... More, typename Work, typename Otherwise>
auto ForClass(FilterKind kind, const Work& work, const Otherwise& otherwise) {
  if (kind == F::kKind) return work.template operator()<F>();
  if constexpr (sizeof...(More) > 0) {
    return ForClass<More...>(kind, work, otherwise);
  } else {
    return otherwise();
  }
}

// Returns work.operator()<F, kKind>(), where F is the C++ class of the kind. F is Filter for
// scalable filters, which have several classes. Throws Error(kUnsupported) for a kind without a
// class.
template <typename Work>
auto ForKind(FilterKind kind, const Work& work) {
  return ForClass<SplitBlockBloomFilter, CuckooFilter<8>, CuckooFilter<12>, CuckooFilter<16>,
                  BloomFilter, CountingBloomFilter, FuseFilter<8>, FuseFilter<12>, FuseFilter<16>,
                  FuseFilter<32>>(
      kind, [&]<typename F>() { return work.template operator()<F, F::kKind>(); },
      [&] {
        if (kind == FilterKind::kScalable) {
          return work.template operator()<Filter, FilterKind::kScalable>();
        }
        throw Error(ErrorCode::kUnsupported,
                    tamis::detail::StrCat("filters of kind ", static_cast<uint32_t>(kind),
                                          " do not have a class"));
      });
}

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_CLASSES_FOR_CLASS_H_
