// A concurrent filter that Python objects, live filters and their readers share.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_LIVE_ANY_CONCURRENT_H_
#define TAMIS_BINDINGS_PYTHON_SRC_LIVE_ANY_CONCURRENT_H_

#include <tamis/changes.h>
#include <tamis/filters/any_filter.h>
#include <tamis/live/concurrent_filter.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

namespace tamis::python {

// A pointer to a concurrent filter, never nullptr. Copies refer to the same filter. Defines the
// functions that Live calls. Erase does nothing for a filter that cannot erase keys.
class AnyConcurrent {
 public:
  static constexpr bool kConcurrentChanges = true;

  explicit AnyConcurrent(std::unique_ptr<ConcurrentFilter> filter) : filter_(std::move(filter)) {}

  // Reads a file, and checks all of it. Throws the exceptions of MakeConcurrent and tamis::Load.
  static AnyConcurrent Load(const std::filesystem::path& path, const LoadOptions& options) {
    return AnyConcurrent(MakeConcurrent(tamis::Load(path, options)));
  }

  ConcurrentFilter& operator*() const noexcept { return *filter_; }
  ConcurrentFilter* operator->() const noexcept { return filter_.get(); }

  bool erases() const noexcept { return filter_->change_traits().erases; }
  HashSpec hash() const { return filter_->hash(); }
  KeyTypes key_types() const { return filter_->key_types(); }
  void set_key_types(KeyTypes types) { filter_->set_key_types(types); }

  bool Contains(uint64_t key) const { return filter_->Contains(key); }
  bool Contains(std::string_view key) const { return filter_->Contains(key); }
  size_t Contains(const Keys& keys, Bitmap out) const { return filter_->Contains(keys, out); }
  size_t Insert(const Keys& keys) { return filter_->Insert(keys); }
  bool InsertHash(uint64_t hash) { return filter_->InsertHash(hash); }
  size_t Erase(const Keys& keys) { return erases() ? tamis::Erase(*filter_, keys) : 0; }
  bool EraseHash(uint64_t hash) { return erases() && tamis::EraseHash(*filter_, hash); }

 private:
  std::shared_ptr<ConcurrentFilter> filter_;
};

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_LIVE_ANY_CONCURRENT_H_
