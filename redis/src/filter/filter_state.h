// The state of one filter in one client.
#ifndef TAMIS_REDIS_SRC_FILTER_FILTER_STATE_H_
#define TAMIS_REDIS_SRC_FILTER_FILTER_STATE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "redis/src/client/client.h"
#include "redis/src/client/problem.h"
#include "redis/src/filter/descriptor.h"
#include "redis/src/filter/layout.h"
#include "tamis/filters/split_block_filter.h"

namespace tamis::redis {

// The name, descriptor and hash of a filter, and the marks that a rebuild has set on its segments.
class FilterState {
 public:
  // Throws the errors of RequireName.
  explicit FilterState(std::string_view name);

  const std::string& name() const { return name_; }
  const Descriptor& descriptor() const { return descriptor_; }
  const Layout& layout() const { return descriptor_.layout; }
  uint64_t generation() const { return descriptor_.generation; }
  // Includes the secret of a keyed hash.
  const HashSpec& hash() const { return hash_; }
  void set_hash(const HashSpec& hash) { hash_ = hash; }

  // Replaces the descriptor and forgets the marks.
  void Adopt(const Descriptor& descriptor);
  // Returns true if `other` describes this filter, in any generation.
  bool IsRebuiltFrom(const Descriptor& other) const;

  // Returns the mark of a segment in the last reply that has shown it; 0 if no reply has.
  uint64_t MarkOf(uint64_t segment) const { return marks_.empty() ? 0 : marks_[segment]; }
  void SetMark(uint64_t segment, uint64_t mark);

  SegmentKey KeyOf(uint64_t segment) const { return KeyOf(segment, generation()); }
  SegmentKey KeyOf(uint64_t segment, uint64_t generation) const {
    return KeyOfSegment(name_, layout(), generation, segment);
  }
  // The expected state of a segment, without its version.
  std::string Fields(uint64_t generation, uint64_t segment, uint64_t mark) const;

  bool IsOver() const;
  // Throws Error(kUnavailable) if the deadline has passed.
  void RequireNotOver() const;

  // Returns an empty filter in memory with the same blocks and hash.
  SplitBlockBloomFilter MakeLocal(const MemoryOptions& memory) const;

  // Throws an Error that names the filter.
  [[noreturn]] void Throw(const Problem& problem) const;
  // Runs one command. Throws as Throw if the reply is missing or an error.
  const Reply& RunOne(Client& client, Command& command) const;

 private:
  std::string name_;
  Descriptor descriptor_;
  HashSpec hash_;
  std::vector<uint64_t> marks_;  // one for each segment; empty: all are 0
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_FILTER_FILTER_STATE_H_
