// What bulk changes of a filter have in common.
#ifndef TAMIS_DETAIL_CHANGE_H_
#define TAMIS_DETAIL_CHANGE_H_

#include <cstdint>
#include <span>

namespace tamis::detail {

enum class Change : uint8_t { kInsert, kErase };

// Collects the indices of keys that could not be inserted or erased, where somebody asked for them.
class Rejects {
 public:
  Rejects() = default;
  explicit Rejects(std::span<uint64_t> out) : next_(out.data()) {}

  // Whether somebody asked.
  bool wanted() const noexcept { return next_ != nullptr; }
  // Where the next index goes; nullptr if nobody asked.
  uint64_t* next() const noexcept { return next_; }
  void Add(uint64_t index) noexcept {
    if (next_ != nullptr) *next_++ = index;
  }

 private:
  uint64_t* next_ = nullptr;  // nullptr: nobody asked
};

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_CHANGE_H_
