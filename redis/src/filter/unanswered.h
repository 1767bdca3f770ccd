// The unanswered keys of a call.
#ifndef TAMIS_REDIS_SRC_FILTER_UNANSWERED_H_
#define TAMIS_REDIS_SRC_FILTER_UNANSWERED_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "redis/src/client/batch.h"
#include "redis/src/client/problem.h"
#include "redis/src/filter/filter_state.h"
#include "redis/src/filter/retry_across_rebuilds.h"

namespace tamis::redis {

// Collects the unanswered keys, and the first of the worst reasons.
class Unanswered {
 public:
  // Adds the keys of one segment: segment `i` of a batch that begins at key `first_key`.
  void Add(const Batch& batch, size_t i, uint64_t first_key, const Problem& why);
  // Adds the keys of segments that were not done. Their index is the position of the segment in the
  // batch.
  void Add(const Batch& batch, std::span<Undone> undone, uint64_t first_key);

  const std::vector<uint64_t>& keys() const { return keys_; }
  // Has a value if keys were added.
  const std::optional<Problem>& problem() const { return problem_; }

  // Throws an UnansweredError. `keys`: number of keys of the call. `what`: what happened to the
  // unanswered keys, such as "have no answer".
  [[noreturn]] void Throw(const FilterState& state, size_t keys, const char* what);

 private:
  std::vector<uint64_t> keys_;  // indices in the call
  std::optional<Problem> problem_;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_FILTER_UNANSWERED_H_
