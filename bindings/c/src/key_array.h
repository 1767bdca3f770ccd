// Checks the keys of a caller, and converts them in runs to layouts of the library.
#ifndef TAMIS_BINDINGS_C_SRC_KEY_ARRAY_H_
#define TAMIS_BINDINGS_C_SRC_KEY_ARRAY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tamis/c/keys.h"
#include "tamis/keys.h"
#include "tamis/time_keys.h"

namespace tamis::c {

class KeyArray {
 public:
  static constexpr size_t kRunKeys = size_t{1} << 16;
  static constexpr size_t kOneRun = size_t{1} << 62;  // all keys of a call

  // Throws Error(kInvalidArgument) if `keys` is invalid. Checks everything except whether the
  // memory is accessible. O(count) for strings. If the keys are converted, a run has at most
  // `run_keys` keys. Some filters are faster with longer runs than the default.
  explicit KeyArray(const tamis_keys* keys, size_t run_keys = kRunKeys);

  size_t size() const noexcept { return size_; }

  // Calls run(keys, first) for runs of consecutive keys, in order. `first` is the index of the
  // first key of the run. `first` is a multiple of 64 and of the library's batch size, so results
  // do not depend on the runs. Keys that are not converted, and zero keys, are one run.
  template <typename Run>
  void ForRuns(const Run& run) const {
    if (!converts_) return run(whole_, size_t{0});
    Buffer buffer;
    size_t begin = 0;
    do {
      const size_t n = std::min(run_keys_, size_ - begin);
      run(Convert(begin, n, buffer), begin);
      begin += n;
    } while (begin < size_);
  }

 private:
  struct Buffer {
    std::vector<int32_t> integers;
    std::vector<std::string_view> strings;
    std::optional<TimeKeys> times;
  };

  template <typename T>
  const T* Elements(uint64_t more = 0);
  template <typename T>
  void TakeIntegers();
  template <typename Column>
  void TakeColumn();
  void TakePointers();
  void TakeViews();
  void TakeFixed(uint32_t width, KeyType type);
  template <typename T>
  void Widen(size_t begin, size_t n, std::vector<int32_t>& out) const;
  bool IsValid(size_t i) const noexcept;
  // Requires a valid key of TAMIS_KEYS_POINTERS or TAMIS_KEYS_VIEWS.
  std::string_view StringAt(size_t i) const noexcept;
  Keys Convert(size_t begin, size_t n, Buffer& buffer) const;

  const tamis_keys& keys_;
  size_t size_;
  size_t run_keys_;
  bool converts_ = false;
  Keys whole_;  // if `converts_` is false
};

}  // namespace tamis::c

#endif  // TAMIS_BINDINGS_C_SRC_KEY_ARRAY_H_
