#include "core/src/bulk/outputs.h"

#include <string>

#include "tamis/error.h"

namespace tamis::detail {
namespace {

void RequireSize(const char* what, uint64_t size, uint64_t needed, uint64_t keys) {
  if (size >= needed) return;
  throw Error(ErrorCode::kInvalidArgument, "the output has " + std::to_string(size) + " " + what +
                                               ", and " + std::to_string(keys) + " keys need " +
                                               std::to_string(needed));
}

}  // namespace

void RequireRoom(Bitmap out, uint64_t keys) {
  RequireSize("words", out.words().size(), BitmapWords(keys), keys);
}

void RequireRoom(std::span<uint8_t> out, uint64_t keys) {
  RequireSize("bytes", out.size(), keys, keys);
}

void RequireRoom(std::span<uint32_t> out, uint64_t keys) {
  constexpr uint64_t kMaxKeys = uint64_t{1} << 32;
  if (keys > kMaxKeys) {
    throw Error(ErrorCode::kInvalidArgument,
                std::to_string(keys) +
                    " keys are too many for 32-bit indices; allowed: " + std::to_string(kMaxKeys));
  }
  RequireSize("elements", out.size(), keys, keys);
}

void RequireRoom(std::span<uint64_t> out, uint64_t keys) {
  RequireSize("elements", out.size(), keys, keys);
}

void RequireAllFound(uint64_t found, const Keys& keys) {
  const uint64_t asked = keys.CountValid();
  if (found == asked) return;
  throw Error(ErrorCode::kInvalidArgument, std::to_string(asked - found) + " of " +
                                               std::to_string(asked) +
                                               " keys are not in the filter; nothing was erased");
}

}  // namespace tamis::detail
