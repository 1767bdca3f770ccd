// Shared helpers for tests of rebuilds.
#ifndef TAMIS_TESTS_REDIS_REBUILD_TEST_UTIL_H_
#define TAMIS_TESTS_REDIS_REBUILD_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "redis/src/filter/descriptor.h"
#include "redis/src/filter/layout.h"
#include "redis/src/filter/segment_state.h"
#include "tamis/redis/rebuild.h"
#include "tests/redis/servers.h"

namespace tamis::redis {

// A database with the keys. Tests add keys to the database before they insert them into the filter,
// and a rebuild reads the database.
class Database {
 public:
  void Add(std::span<const uint64_t> keys) {
    const std::lock_guard lock(mutex_);
    keys_.insert(keys_.end(), keys.begin(), keys.end());
  }
  std::vector<uint64_t> All() const {
    const std::lock_guard lock(mutex_);
    return keys_;
  }
  RebuildSource Source() const {
    return [this](RebuildInserter& to) { to.Insert(All()); };
  }

 private:
  mutable std::mutex mutex_;
  std::vector<uint64_t> keys_;
};

inline bool SameBlocks(const SplitBlockBloomFilter& a, const SplitBlockBloomFilter& b) {
  const auto x = a.payload(), y = b.payload();
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size()) == 0;
}

// Expects that the filter on the servers has these keys, and nothing else.
inline void ExpectHasJust(const ServerOptions& options, const std::string& name,
                          const std::vector<uint64_t>& keys) {
  SplitBlockFilter filter = SplitBlockFilter::Open(options, name);
  SplitBlockBloomFilter local({.bytes = 32 * filter.num_blocks(), .hash = filter.hash()});
  local.Insert(keys);
  EXPECT_EQ(filter.Count(keys), keys.size());
  EXPECT_TRUE(SameBlocks(filter.Pull(), local));
}

inline Descriptor DescriptorNow(const Servers& servers, const std::string& name) {
  const std::string key = DescriptorKey(name);
  return ParseDescriptor(SayToOwner(servers, key, {"GET", key}));
}

// Expects that the servers have the segments of the descriptor, without marks, and nothing else
// under the name.
inline void ExpectOneGeneration(const Servers& servers, const std::string& name) {
  const Descriptor descriptor = DescriptorNow(servers, name);
  EXPECT_EQ(KeysLike(servers, "tamis:{" + name + "}*").size(), 1u);
  EXPECT_EQ(KeysLike(servers, "*:" + name).size(), descriptor.layout.segments());
  for (uint64_t s = 0; s < descriptor.layout.segments(); ++s) {
    const SegmentKey key = KeyOfSegment(name, descriptor.layout, descriptor.generation, s);
    const StateOffsets at(descriptor.layout.BytesOf(s));
    const auto state =
        ParseState(SayToOwner(servers, key.text, {"GETRANGE", key.text, at.begin, at.end}));
    ASSERT_TRUE(state) << s;
    EXPECT_EQ(state->generation, descriptor.generation) << s;
    EXPECT_EQ(state->mark, 0u) << s;
  }
}

// A client that rebuilds a filter. At the first report for which `stop` returns true, the client
// blocks until GoOn.
class StoppingOwner {
 public:
  using When = std::function<bool(const RebuildProgress&)>;

  StoppingOwner(const ServerOptions& servers, const std::string& name, RebuildSource source,
                When stop, RebuildOptions options = {})
      : thread_([=, this, source = std::move(source), stop = std::move(stop)]() mutable {
          options.on_progress = [&](const RebuildProgress& progress) {
            if (!stop(progress)) return;
            std::unique_lock lock(mutex_);
            stopped_ = true;
            changed_.notify_all();
            changed_.wait(lock, [&] { return go_on_; });
          };
          std::exception_ptr error;
          try {
            SplitBlockFilter filter = SplitBlockFilter::Open(servers, name);
            Rebuild(filter, source, options);
          } catch (...) {
            error = std::current_exception();
          }
          const std::lock_guard lock(mutex_);
          error_ = error;
          ended_ = true;
          changed_.notify_all();
        }) {}
  ~StoppingOwner() {
    if (!thread_.joinable()) return;
    Wake();
    thread_.join();
  }

  // Waits until the rebuild blocks. Returns false if the rebuild ended without blocking.
  bool AwaitStop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || ended_; });
    return stopped_;
  }
  // Lets the rebuild continue and waits for its end. Throws the exception with which it ended.
  void GoOn() {
    Wake();
    thread_.join();
    if (error_) std::rethrow_exception(error_);
  }
  // Like GoOn, but returns the code of an Error.
  std::optional<ErrorCode> Outcome() {
    try {
      GoOn();
      return {};
    } catch (const Error& error) {
      return error.code();
    }
  }

 private:
  void Wake() {
    const std::lock_guard lock(mutex_);
    go_on_ = true;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false, go_on_ = false, ended_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

// True for the n-th report, counted from 0.
inline StoppingOwner::When AtReport(size_t n) {
  return [n, count = size_t{0}](const RebuildProgress&) mutable { return count++ == n; };
}
// True for the first report of a step.
inline StoppingOwner::When AtStep(RebuildStep step) {
  return [step, done = false](const RebuildProgress& progress) mutable {
    return progress.step == step && !std::exchange(done, true);
  };
}

}  // namespace tamis::redis

#endif  // TAMIS_TESTS_REDIS_REBUILD_TEST_UTIL_H_
