// Filters of the right size, built from all their keys.
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

// Calls visit(keys) for batches of keys, of any sizes and layouts. It is called twice, or once for
// a static filter, and must pass the same keys both times, in any order.
using RepeatableSource = detail::RepeatableSource;

namespace detail {

class Workers;

// Calls work(workers) with all threads of `engine`, or with the calling thread if that is nullptr.
void WithWorkers(const Engine* engine, const std::function<void(Workers&)>& work);

}  // namespace detail

// Builds a filter of class F, such as SplitBlockBloomFilter, from all keys of a source, duplicates
// included, nulls not. options.capacity and options.bytes must be 0. The same keys and options give
// the same bytes on any machine, and unless F is a cuckoo filter in any order. Runs on the threads
// and with the backend of `engine`, or, if that is nullptr, on the calling thread.
//
// Reads the source twice, and sizes the filter for the number of keys at options.fpr. A static F,
// such as FuseFilter<8>, is built from one reading, and options.fpr is the most that its rate may
// be.
//
// Throws Error(kInvalidArgument) if the source has a different number of keys the second time, or
// if a key finds no room (a cuckoo filter takes only a few copies of it). Throws what the
// constructor of F, or From of a static F, and the source throw.
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

// Build for a filter of any kind but one that has layers, which is Error(kInvalidArgument). Throws
// Error(kUnsupported) for a number that is not a kind.
AnyFilter BuildFilter(FilterKind kind, const RepeatableSource& source, FilterOptions options = {},
                      const Engine* engine = nullptr);

}  // namespace tamis

#endif  // TAMIS_ENGINE_BUILD_H_
