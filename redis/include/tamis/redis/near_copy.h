// A filter on Redis servers with a copy in the memory of this machine.
#ifndef TAMIS_REDIS_NEAR_COPY_H_
#define TAMIS_REDIS_NEAR_COPY_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tamis/filter.h"
#include "tamis/keys.h"
#include "tamis/redis/split_block_filter.h"
#include "tamis/split_block_filter.h"

namespace tamis::redis {

struct NearCopyOptions {
  // How old a copy may be whose "no" is given without a question to the servers; an older one is
  // refreshed first. Without it every "no" is confirmed by the servers.
  std::optional<std::chrono::milliseconds> staleness = {};
  MemoryOptions memory = {};
};

// Answers "maybe" at the speed of memory, as keys are never taken out of a filter. A "no" is the
// servers' or, where that is accepted, one of a copy that was not older than `staleness` when the
// call began: a key whose insertion was over so long before the call is found.
//
// A copy is refreshed by segment: those that have not changed since are not read again. When the
// filter has been rebuilt it is read anew.
//
// One thread at a time may use an object. Functions throw what those of SplitBlockFilter do.
class NearCopy {
 public:
  // Reads all of it. Throws as SplitBlockFilter::Pull, and Error(kInvalidArgument) for a staleness
  // below 1 ms.
  explicit NearCopy(SplitBlockFilter filter, const NearCopyOptions& options = {});

  // As those of SplitBlockFilter. If the servers cannot be reached and the copy is too old, keys
  // that it does not have are without an answer, which is dealt with as the filter's
  // ClientOptions::unavailable says, after up to twice ServerOptions::retry_for.
  size_t Contains(Keys keys, Bitmap out);
  size_t Contains(Keys keys, std::span<uint8_t> out);
  size_t Select(Keys keys, std::span<uint32_t> out);
  size_t Select(Keys keys, std::span<uint64_t> out);
  size_t Count(Keys keys);
  bool Contains(uint64_t key) { return Count(Keys(std::span(&key, 1))) == 1; }
  bool Contains(std::string_view key) { return Count(Keys(std::span(&key, 1))) == 1; }
  template <detail::NoKey T>
  bool Contains(T) = delete;

  // Inserts on the servers, and then here.
  size_t Insert(Keys keys);

  // Reads what has changed. Gives how many segments were read. If it throws, what was read is kept,
  // and, if it was of a new generation, "no" is confirmed by the servers until a refresh succeeds.
  uint64_t Refresh();
  // The copy has all that was inserted before; the clock's epoch while it lacks a part of a new
  // generation.
  std::chrono::steady_clock::time_point refreshed_at() const { return refreshed_at_; }

  const SplitBlockBloomFilter& copy() const { return copy_; }
  SplitBlockFilter& filter() { return filter_; }

 private:
  void Ask(const Keys& keys, std::span<uint64_t> maybe);
  // Of the keys that are not in `maybe`, those that the servers have.
  void Confirm(const Keys& keys, std::span<uint64_t> maybe);

  SplitBlockFilter filter_;
  NearCopyOptions options_;
  SplitBlockBloomFilter copy_;
  // What of the filter it has.
  uint64_t generation_ = 0;
  std::vector<uint64_t> versions_;  // of segments; 0: not known
  bool complete_ = false;           // false while it lacks a part of a new generation
  std::chrono::steady_clock::time_point refreshed_at_{};
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_NEAR_COPY_H_
