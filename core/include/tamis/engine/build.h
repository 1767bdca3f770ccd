// Builds filters of the right size from all their keys.
#ifndef TAMIS_ENGINE_BUILD_H_
#define TAMIS_ENGINE_BUILD_H_

#include <functional>
#include <optional>
#include <utility>

#include "tamis/detail/build_from.h"
#include "tamis/engine/engine.h"
#include "tamis/filters/any_filter.h"
#include "tamis/filters/filter.h"
#include "tamis/keys.h"

namespace tamis {

// Calls visit(keys) for batches of keys, of any sizes and layouts. Build calls the source twice, or
// once for a static filter. A source must pass the same keys both times, in any order.
using RepeatableSource = detail::RepeatableSource;

namespace detail {

class Workers;

// Calls work(workers) with all threads of `engine`. nullptr: with the calling thread.
void WithWorkers(const Engine* engine, const std::function<void(Workers&)>& work);

}  // namespace detail

// Builds a filter of class F, such as SplitBlockBloomFilter, from all keys of a source. Duplicates
// are inserted, nulls are not. Reads the source twice: once to count the keys, and once to insert
// them. The filter is sized for the number of keys at options.fpr. options.capacity and
// options.bytes must be 0. For a static F, such as FuseFilter<8>, reads the source once;
// options.fpr is then 0 or an upper bound for the filter's rate.
//
// Runs on the threads and with the backend of `engine`. If `engine` is nullptr, runs on the calling
// thread.
//
// Throws Error(kInvalidArgument) if the source has a different number of keys the second time, or
// if a key does not fit (a cuckoo filter takes only a few copies of a key). Throws the errors of
// the constructor of F, or of From of a static F, and the errors of the source.
template <typename F>
F Build(const RepeatableSource& source, const FilterOptions& options,
        const Engine* engine = nullptr) {
  if constexpr (requires { &F::BuildBy; }) {
    std::optional<F> filter;
    detail::WithWorkers(engine, [&](detail::Workers& workers) {
      filter.emplace(F::BuildBy(&workers, source, options));
    });
    return *std::move(filter);
  } else {
    return detail::BuildFrom<F>(source, options, [engine](F& filter, const Keys& keys) {
      return engine != nullptr ? engine->Insert(filter, keys) : filter.Insert(keys);
    });
  }
}

// Builds a filter of any kind. Throws Error(kInvalidArgument) for a kind that has layers,
// Error(kUnsupported) for an unknown kind, and the errors of Build.
AnyFilter BuildFilter(FilterKind kind, const RepeatableSource& source, FilterOptions options = {},
                      const Engine* engine = nullptr);

}  // namespace tamis

#endif  // TAMIS_ENGINE_BUILD_H_
