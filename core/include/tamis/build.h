// A filter of the right size, from keys that can be read twice: to count them, and to insert them.
#ifndef TAMIS_BUILD_H_
#define TAMIS_BUILD_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

#include "tamis/engine.h"
#include "tamis/error.h"
#include "tamis/filter.h"
#include "tamis/keys.h"

namespace tamis {

// Calls visit(keys) for batches of keys, of any sizes and forms. It is called twice, and must hand
// out the same keys both times, in any order.
using RepeatableSource = std::function<void(const std::function<void(Keys)>& visit)>;

// Builds a filter of class F, such as SplitBlockBloomFilter, from all keys of a source, duplicates
// included, nulls not. It is sized for their number at options.fpr; options.capacity and
// options.bytes must be 0. The same keys and options give the same bytes on any machine, and unless
// F is a cuckoo filter in any order. Runs on the threads and with the backend of `engine`, or, if
// that is nullptr, on the calling thread.
//
// Throws Error(kInvalidArgument) if the source has a different number of keys the second time, or
// if a key finds no room (a cuckoo filter takes only a few copies of it); and what the constructor
// of F and the source throw.
template <typename F>
F Build(const RepeatableSource& source, FilterOptions options, const Engine* engine = nullptr) {
  if (options.capacity != 0 || options.bytes != 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "Build sizes a filter by its keys: capacity and bytes must be 0");
  }
  uint64_t count = 0;
  source([&count](const Keys& keys) { count += keys.CountValid(); });
  options.capacity = std::max<uint64_t>(count, 1);
  F filter(options);
  uint64_t offered = 0, inserted = 0;
  source([&](const Keys& keys) {
    offered += keys.CountValid();
    if (offered <= count) {
      inserted += engine != nullptr ? engine->Insert(filter, keys) : filter.Insert(keys);
    }
  });
  if (offered != count) {
    throw Error(ErrorCode::kInvalidArgument, "the source had " + std::to_string(count) +
                                                 " keys at first, then " + std::to_string(offered));
  }
  if (inserted != count) {
    throw Error(ErrorCode::kInvalidArgument, std::to_string(count - inserted) + " of " +
                                                 std::to_string(count) + " keys found no room");
  }
  return filter;
}

}  // namespace tamis

#endif  // TAMIS_BUILD_H_
