// Copies of keys that are in a filter although the commit that they were inserted for threw.
#ifndef TAMIS_LIVE_DETAIL_SPARE_COPIES_H_
#define TAMIS_LIVE_DETAIL_SPARE_COPIES_H_

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

namespace tamis::detail {

// A filter from which keys can be erased holds few copies of a key. So the next commit of a key
// uses a spare copy, and no other one is inserted. Copies are those of one generation of a filter.
// Thread-safe.
template <typename Key, typename Hash>
class SpareCopies {
 public:
  struct Split {
    std::vector<Key> spared;  // a spare copy of these is used up
    std::vector<Key> others;
  };

  Split Use(std::span<const Key> keys, uint64_t generation) {
    const std::lock_guard lock(mutex_);
    Split split;
    split.spared.reserve(keys.size());
    split.others.reserve(keys.size());
    for (const Key& key : keys) {
      const auto found = generation == generation_ ? copies_.find(key) : copies_.end();
      if (found == copies_.end()) {
        split.others.push_back(key);
        continue;
      }
      split.spared.push_back(key);
      if (--found->second == 0) copies_.erase(found);
    }
    return split;
  }

  // One of each key. Copies that are not noted, without memory or for too many keys, stay in the
  // filter until the next rebuild.
  void Add(std::span<const Key> keys, uint64_t generation) noexcept {
    const std::lock_guard lock(mutex_);
    if (generation < generation_) return;
    if (generation > generation_) copies_.clear();
    generation_ = generation;
    try {
      for (const Key& key : keys) {
        if (copies_.size() < kMostKeys || copies_.count(key) != 0) ++copies_[key];
      }
    } catch (...) {
    }
  }

 private:
  static constexpr size_t kMostKeys = 1 << 16;

  std::mutex mutex_;
  uint64_t generation_ = 0;
  std::unordered_map<Key, uint64_t, Hash> copies_;
};

}  // namespace tamis::detail

#endif  // TAMIS_LIVE_DETAIL_SPARE_COPIES_H_
