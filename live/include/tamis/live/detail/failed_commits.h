// Copies of keys that were inserted into a filter for a commit that then threw.
#ifndef TAMIS_LIVE_DETAIL_FAILED_COMMITS_H_
#define TAMIS_LIVE_DETAIL_FAILED_COMMITS_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

namespace tamis::detail {

// A filter from which keys can be erased has room for few copies of a key. So if a commit fails
// while the filter still has a copy of the key from an earlier failed commit, the caller erases the
// new copy. A successful commit never relies on a copy from another commit, because that copy may
// have been erased. All copies are in one generation of the filter. `before` and `now` are the
// EraseTally counters of the keys: before the insertion, and at the time of the call. Thread-safe.
template <typename Key, typename Hash>
class FailedCommits {
 public:
  bool empty() const noexcept { return empty_; }

  // Counts copies of the keys that were inserted for a commit that threw. Returns the keys that the
  // caller should erase. Counts at most kMostKeys different keys. Copies of all other keys stay in
  // the filter until the next rebuild. Throws std::bad_alloc.
  std::vector<Key> Failed(std::span<const Key> keys, std::span<const uint32_t> before,
                          std::span<const uint32_t> now, uint64_t generation) {
    std::vector<Key> surplus;
    surplus.reserve(keys.size());
    std::unordered_map<Key, uint64_t, Hash> of_this_commit;
    const std::lock_guard lock(mutex_);
    if (generation < generation_) return surplus;
    if (generation > generation_) copies_.clear();
    generation_ = generation;
    for (size_t i = 0; i < keys.size(); ++i) {
      auto found = copies_.find(keys[i]);
      if (found == copies_.end()) {
        if (copies_.size() == kMostKeys) continue;
        found = copies_.emplace(keys[i], Copies{0, now[i]}).first;
        empty_ = false;
      }
      Copies& copies = found->second;
      copies.Erase(now[i]);
      if (before[i] != now[i]) continue;  // this copy may have been erased
      if (++of_this_commit[keys[i]] <= copies.least) {
        surplus.push_back(keys[i]);
      } else {
        ++copies.least;
      }
    }
    return surplus;
  }

  // Counts copies of a successful commit, for keys for which a commit failed earlier.
  void Succeeded(std::span<const Key> keys, std::span<const uint32_t> before,
                 std::span<const uint32_t> now, uint64_t generation) {
    const std::lock_guard lock(mutex_);
    if (generation != generation_) return;
    for (size_t i = 0; i < keys.size(); ++i) {
      const auto found = copies_.find(keys[i]);
      if (found == copies_.end()) continue;
      found->second.Erase(now[i]);
      found->second.least += before[i] == now[i];
    }
  }

 private:
  struct Copies {
    // Lowers `least`, because each erasure since the last call may have removed a copy.
    void Erase(uint32_t now) {
      least -= std::min<uint64_t>(least, now - erasures);
      erasures = now;
    }

    uint64_t least;  // lower bound of the number of copies in the filter
    uint32_t erasures;
  };

  static constexpr size_t kMostKeys = 1 << 16;

  std::atomic<bool> empty_ = true;
  std::mutex mutex_;
  uint64_t generation_ = 0;
  std::unordered_map<Key, Copies, Hash> copies_;
};

}  // namespace tamis::detail

#endif  // TAMIS_LIVE_DETAIL_FAILED_COMMITS_H_
