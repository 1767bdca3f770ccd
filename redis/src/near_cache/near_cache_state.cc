#include "redis/src/near_cache/near_cache_state.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "tamis/detail/str_cat.h"

namespace tamis::redis {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kMaxEvery = std::chrono::hours(24);

const NearCacheOptions& Checked(const NearCacheOptions& options) {
  const auto require = [](const std::optional<milliseconds>& value, milliseconds max,
                          const char* name) {
    if (!value || (value->count() >= 1 && *value <= max)) return;
    throw Error(ErrorCode::kInvalidArgument,
                detail::StrCat(name, " is ", value->count(), " ms, must be at least 1",
                               max == kMaxEvery ? " and at most a day" : ""));
  };
  require(options.staleness, milliseconds::max(), "staleness");
  require(options.refresh_every, kMaxEvery, "refresh_every");
  return options;
}

// Calls `act` with all signals blocked, so that the new thread handles no signals of the program.
template <typename Act>
void WithoutSignals(const Act& act) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    act();
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

void NearCache::State::FairMutex::lock() {
  const std::lock_guard next(next_);
  mutex_.lock();
}

NearCache::State::State(SplitBlockFilter filter, const NearCacheOptions& options)
    : options_(Checked(options)),
      process_(getpid()),
      filter_(std::move(filter)),
      copy_(filter_.impl().state.MakeLocal(options.memory)) {
  Refresh();
  if (!options_.refresh_every) return;
  of_thread_ = filter_.impl().Another();
  try {
    WithoutSignals(
        [&] { thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); }); });
  } catch (const std::system_error& error) {
    throw Error(ErrorCode::kOutOfMemory,
                std::string("cannot start the thread of a near cache: ") + error.what());
  }
}

void NearCache::State::End(std::unique_ptr<State> state) noexcept {
  if (state == nullptr) return;
  if (state->thread_.joinable() && state->process_ != getpid()) (void)state.release();
}

void NearCache::State::RequireThisProcess() const {
  if (!thread_.joinable() || process_ == getpid()) return;
  throw Error(ErrorCode::kInvalidArgument,
              "a child of fork cannot use a near cache that has a thread in its parent");
}

NearCache::State::Time NearCache::State::refreshed_at() const {
  const Lock lock(mutex_);
  return refreshed_at_;
}

NearCacheStats NearCache::State::stats() const {
  const Lock lock(mutex_);
  return stats_;
}

bool NearCache::State::IsFresh(Time call) const {
  return options_.staleness && complete_ &&
         std::chrono::ceil<milliseconds>(call - refreshed_at_) <= *options_.staleness;
}

bool NearCache::State::AskIfFresh(const Keys& keys, std::span<uint64_t> maybe, Time call) const {
  const Lock lock(mutex_);
  if (!IsFresh(call)) return false;
  copy_.Contains(keys, Bitmap(maybe));
  return true;
}

void NearCache::State::AskAnyhow(const Keys& keys, std::span<uint64_t> maybe) const {
  const Lock lock(mutex_);
  copy_.Contains(keys, Bitmap(maybe));
}

void NearCache::State::Insert(const Keys& keys) {
  const Lock lock(mutex_);
  copy_.Insert(keys);
}

uint64_t NearCache::State::RefreshBy(SplitBlockFilter::Impl& impl,
                                     std::optional<Time> unless_fresh_at) {
  const Lock one_at_a_time(refreshing_);
  if (unless_fresh_at) {
    const Lock lock(mutex_);
    if (IsFresh(*unless_fresh_at)) return 0;
  }
  const Time begin = steady_clock::now();
  uint64_t read = 0;
  LocalCopy to{copy_, generation_, versions_, read, {}, {}};
  to.begin_generation = [this] {
    complete_ = false;
    refreshed_at_ = {};
  };
  to.change = [this](const std::function<void()>& change) {
    const Lock lock(mutex_);
    change();
  };
  const auto count = [&] { stats_.segments += read; };
  try {
    impl.transfer.Refresh(to);
  } catch (...) {
    const Lock lock(mutex_);
    count();
    throw;
  }
  const Lock lock(mutex_);
  count();
  ++stats_.refreshes;
  complete_ = true;
  refreshed_at_ = begin;
  return read;
}

void NearCache::State::Run(const std::stop_token& stop) {
  of_thread_->client.StopWhen(stop);
  Time next = steady_clock::now() + *options_.refresh_every;
  for (;;) {
    {
      std::unique_lock lock(sleeping_);
      woken_.wait_until(lock, stop, next, [] { return false; });
    }
    if (stop.stop_requested()) return;
    next = steady_clock::now();
    next += RefreshOfThread();
  }
}

std::chrono::nanoseconds NearCache::State::RefreshOfThread() noexcept {
  const milliseconds every = *options_.refresh_every;
  try {
    RefreshBy(*of_thread_, {});
    const Lock lock(mutex_);
    stats_.failures_in_a_row = 0;
    return every;
  } catch (const std::exception& error) {
    Failed(error.what());
  } catch (...) {
    Failed("an unknown exception");
  }
  const Lock lock(mutex_);
  const auto doublings = std::min<uint64_t>(stats_.failures_in_a_row - 1, 20);
  return std::max(
      every, std::min(of_thread_->client.options().max_backoff, every * (int64_t{1} << doublings)));
}

void NearCache::State::Failed(const char* why) noexcept {
  const Lock lock(mutex_);
  ++stats_.failures;
  ++stats_.failures_in_a_row;
  try {
    stats_.last_error = why;
  } catch (const std::bad_alloc&) {
    stats_.last_error.clear();  // the counters still include the failure
  }
}

}  // namespace tamis::redis
