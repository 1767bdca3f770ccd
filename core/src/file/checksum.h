// XXH3-128 of a payload, computed piece by piece while each piece is in cache anyway.
#ifndef TAMIS_CORE_SRC_FILE_CHECKSUM_H_
#define TAMIS_CORE_SRC_FILE_CHECKSUM_H_

#include <xxhash.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

namespace tamis::detail {

class Checksum {
 public:
  Checksum() : state_(XXH3_createState()) {
    if (state_ == nullptr) throw std::bad_alloc();
    XXH3_128bits_reset(state_.get());
  }

  void Update(std::span<const std::byte> piece) noexcept {
    XXH3_128bits_update(state_.get(), piece.data(), piece.size());
  }

  // Returns the checksum as FileHeader has it: low half, high half.
  std::array<uint64_t, 2> Value() const noexcept {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
    return {hash.low64, hash.high64};
  }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const noexcept { XXH3_freeState(state); }
  };

  std::unique_ptr<XXH3_state_t, Free> state_;
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILE_CHECKSUM_H_
