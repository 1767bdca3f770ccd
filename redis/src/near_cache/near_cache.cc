#include "tamis/redis/near_cache.h"

#include <algorithm>
#include <utility>

#include "redis/src/filter/filter_impl.h"
#include "redis/src/near_cache/near_cache_state.h"
#include "tamis/hash_keys.h"
#include "tamis/unanswered_error.h"

namespace tamis::redis {

using std::chrono::steady_clock;

NearCache::NearCache(SplitBlockFilter filter, const NearCacheOptions& options)
    : state_(std::make_unique<State>(std::move(filter), options)) {}
NearCache::NearCache(NearCache&&) noexcept = default;

NearCache& NearCache::operator=(NearCache&& other) noexcept {
  State::End(std::move(state_));
  state_ = std::move(other.state_);
  return *this;
}

NearCache::~NearCache() { State::End(std::move(state_)); }

NearCache::State& NearCache::state() const {
  if (state_ == nullptr) {
    throw Error(ErrorCode::kInvalidArgument, "a near cache that was moved from cannot be used");
  }
  state_->RequireThisProcess();
  return *state_;
}

uint64_t NearCache::Refresh() { return state().Refresh(); }
steady_clock::time_point NearCache::refreshed_at() const { return state().refreshed_at(); }
NearCacheStats NearCache::stats() const { return state().stats(); }
const SplitBlockBloomFilter& NearCache::copy() const { return state().copy(); }
SplitBlockFilter& NearCache::filter() { return state().filter(); }

QueryTraits NearCache::traits() const noexcept {
  return {.thread_safety = QueryTraits::ThreadSafety::kOneThread,
          .slice_keys = QueryTraits::kAllKeys,
          .waits = true};
}

void NearCache::Query(const Keys& keys, uint64_t* bits) const {
  const std::span<uint64_t> maybe(bits, BitmapWords(keys.size()));
  std::fill(maybe.begin(), maybe.end(), 0);
  State& state = this->state();
  SplitBlockFilter::Impl& impl = state.filter().impl();
  if (impl.state.IsOver()) return impl.reader.Query(keys, maybe);  // throws or answers "maybe"
  const auto now = steady_clock::now();
  if (state.AskIfFresh(keys, maybe, now)) return;
  if (state.accepts_staleness()) {
    try {
      state.RefreshIfOld(now);
      if (state.AskIfFresh(keys, maybe, now)) return;
    } catch (const Error&) {
      // The servers may still answer these keys. Otherwise Confirm throws the reason.
    }
  }
  state.AskAnyhow(keys, maybe);
  Confirm(keys, maybe);
}

void NearCache::Confirm(const Keys& keys, std::span<uint64_t> maybe) const {
  const Bitmap known(maybe);
  std::vector<uint64_t> hashes(keys.CountValid());
  SplitBlockFilter::Impl& impl = state_->filter().impl();
  HashKeys(keys, impl.state.hash(), hashes);
  std::vector<uint64_t> open;     // hashes of the keys that the copy lacks
  std::vector<uint64_t> indices;  // indices of these keys
  size_t next = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!keys.IsValid(i)) continue;
    const uint64_t hash = hashes[next++];
    if (known.Test(i)) continue;
    open.push_back(hash);
    indices.push_back(i);
  }
  if (open.empty()) return;
  std::vector<uint64_t> answers(BitmapWords(open.size()));
  const auto write = [&] {
    for (size_t k = 0; k < open.size(); ++k) {
      if (Bitmap(answers).Test(k)) maybe[indices[k] / 64] |= uint64_t{1} << (indices[k] % 64);
    }
  };
  try {
    impl.reader.Query(Keys(Hashes{open}), answers);
  } catch (const UnansweredError& error) {
    write();
    std::vector<uint64_t> unanswered;
    for (const uint64_t k : error.keys()) unanswered.push_back(indices[k]);
    throw UnansweredError(error.code(), error.what(), std::move(unanswered));
  }
  write();
}

size_t NearCache::Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) {
  State& state = this->state();
  const size_t inserted = state.filter().Apply(change, keys, outputs);
  state.Insert(keys);
  return inserted;
}

}  // namespace tamis::redis
