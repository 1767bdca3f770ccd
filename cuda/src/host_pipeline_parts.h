// How keys travel through a pipeline, and the lock of a pipeline.
#ifndef TAMIS_CUDA_SRC_HOST_PIPELINE_PARTS_H_
#define TAMIS_CUDA_SRC_HOST_PIPELINE_PARTS_H_

#include <atomic>
#include <cstdint>
#include <span>

#include "tamis/error.h"
#include "tamis/keys.h"

namespace tamis::cuda {

// Bytes of an element on its way to the device. Integers and hashes travel unchanged, strings as
// hashes.
inline uint64_t ElementBytes(KeyLayout form) {
  return form == KeyLayout::kU32 || form == KeyLayout::kI32 ? 4 : 8;
}

// Whether keys are hashed before they travel.
inline bool IsStrings(KeyLayout form) {
  switch (form) {
    case KeyLayout::kU64:
    case KeyLayout::kU32:
    case KeyLayout::kI32:
    case KeyLayout::kHashes:
      return false;
    default:
      return true;
  }
}

inline Keys KeysOf(KeyLayout form, const void* values, uint64_t n) {
  switch (form) {
    case KeyLayout::kU32:
      return std::span(static_cast<const uint32_t*>(values), n);
    case KeyLayout::kI32:
      return std::span(static_cast<const int32_t*>(values), n);
    case KeyLayout::kU64:
      return std::span(static_cast<const uint64_t*>(values), n);
    default:
      return Hashes{{static_cast<const uint64_t*>(values), n}};
  }
}

// Reserves the ring for one call. Throws Error(kInvalidArgument) if another call has it.
class Turn {
 public:
  explicit Turn(std::atomic<bool>& taken) : taken_(taken) {
    if (!taken.exchange(true, std::memory_order_acquire)) return;
    throw Error(ErrorCode::kInvalidArgument,
                "the pipeline is busy with another call, possibly the call that runs this "
                "callback; allowed: one call at a time");
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool>& taken_;
};

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_SRC_HOST_PIPELINE_PARTS_H_
