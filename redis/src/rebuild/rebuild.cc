#include "tamis/redis/rebuild.h"

#include <algorithm>
#include <utility>

#include "redis/src/rebuild/rebuilder.h"

namespace tamis::redis {
namespace {

// Number of keys between two reports of progress. Their insertion takes about 10 ms.
constexpr size_t kKeysAtOnce = size_t{1} << 20;

}  // namespace

RebuildInserter::RebuildInserter(Rebuilder& rebuilder, SplitBlockBloomFilter& filter,
                                 std::stop_token stop)
    : rebuilder_(rebuilder), filter_(filter), stop_(std::move(stop)) {}

size_t RebuildInserter::Insert(Keys keys) {
  size_t inserted = 0;
  for (const Keys& some : keys.Chunks(kKeysAtOnce)) {
    const size_t n = filter_.Insert(some);
    inserted += n;
    keys_ += n;
    KeepAlive();
  }
  return inserted;
}

void RebuildInserter::Add(const SplitBlockBloomFilter& filter) {
  filter_.Merge(filter);
  KeepAlive();
}

void RebuildInserter::KeepAlive() { rebuilder_.GoOn(keys_, total_); }

RebuildResult Rebuild(SplitBlockFilter& filter, const RebuildSource& source,
                      const RebuildOptions& options, const std::stop_token& stop) {
  return Rebuilder(filter, options, stop).Run(source);
}

bool EndAbandonedRebuild(SplitBlockFilter& filter, const RebuildOptions& options) {
  return Rebuilder(filter, options, {}).EndAbandoned();
}

}  // namespace tamis::redis
