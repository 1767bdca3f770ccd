#include "tools/commands/phone_numbers.h"

#include <algorithm>
#include <array>

namespace tamis::tools {

void PhoneNumbers::Fill(uint64_t first, std::span<uint64_t> numbers) {
  // Each lane computes every eighth number, so that the additions of different lanes do not wait
  // for each other.
  constexpr size_t kLanes = 8;
  constexpr uint64_t kStride = kLanes * phone::kStep % kCount;
  std::array<uint64_t, kLanes> lanes = {};
  for (size_t lane = 0; lane < std::min(kLanes, numbers.size()); ++lane) {
    lanes[lane] = At(first + lane) - kFirst;
  }
  size_t i = 0;
  for (; i + kLanes <= numbers.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      numbers[i + lane] = kFirst + lanes[lane];
      const uint64_t next = lanes[lane] + kStride;
      lanes[lane] = std::min(
          next, next - kCount);  // if next < kCount, the difference wraps to a larger value
    }
  }
  for (size_t lane = 0; i < numbers.size(); ++i, ++lane) numbers[i] = kFirst + lanes[lane];
}

}  // namespace tamis::tools
