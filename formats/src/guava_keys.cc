#include "formats/src/guava_keys.h"

#include <algorithm>
#include <bit>
#include <string>

#include "formats/src/key_visit.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis::detail {
namespace {

bool TakesIntegers(GuavaFunnel funnel) noexcept {
  return funnel == GuavaFunnel::kLong || funnel == GuavaFunnel::kInt;
}

[[noreturn]] void ThrowForm(GuavaFunnel funnel, const char* form) {
  throw Error(ErrorCode::kInvalidArgument,
              std::string("the funnel ") + GuavaFunnelName(funnel) + " has keys that are " +
                  (TakesIntegers(funnel) ? "integers" : "strings") + ", and not " + form);
}

bool HashInteger(GuavaFunnel funnel, uint64_t key, Hash128& hash) noexcept {
  if (funnel == GuavaFunnel::kLong) {
    hash = Murmur3OfU64(key);
    return true;
  }
  hash = Murmur3OfU32(static_cast<uint32_t>(key));
  return static_cast<uint64_t>(int64_t{static_cast<int32_t>(key)}) == key;
}

// Hashes the bytes of UTF-16 chars, little-endian.
class CharHasher {
 public:
  void Take(uint16_t unit) noexcept {
    lanes_[units_ / 4 % 2] |= uint64_t{unit} << (16 * (units_ % 4));
    if (++units_ % 8 != 0) return;
    state_.Take(lanes_[0], lanes_[1]);
    lanes_[0] = lanes_[1] = 0;
  }
  Hash128 Finish() const noexcept { return state_.Finish(lanes_[0], lanes_[1], 2 * units_); }

 private:
  Murmur3 state_;
  uint64_t lanes_[2] = {0, 0};
  size_t units_ = 0;
};

// The byte ranges are those of the Unicode Standard, table 3-7, except that 80 to BF may also
// follow ED: these are surrogates.
bool HashChars(std::string_view text, Hash128& hash) noexcept {
  CharHasher hasher;
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<uint8_t>(text[i++]);
    if (lead < 0x80) {
      hasher.Take(lead);
      continue;
    }
    if (lead < 0xC2 || lead > 0xF4) return false;
    const size_t more = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    if (text.size() - i < more) return false;
    uint32_t point = lead & (0x3Fu >> more);
    for (size_t end = i + more; i < end; ++i) {
      const auto byte = static_cast<uint8_t>(text[i]);
      if ((byte & 0xC0) != 0x80) return false;
      point = point << 6 | (byte & 0x3Fu);
    }
    if (more == 2 && point < 0x800) return false;  // longer than necessary
    if (more < 3) {
      hasher.Take(static_cast<uint16_t>(point));
      continue;
    }
    if (point < 0x10000 || point > 0x10FFFF) return false;
    hasher.Take(static_cast<uint16_t>(0xD7C0 + (point >> 10)));
    hasher.Take(static_cast<uint16_t>(0xDC00 | (point & 0x3FF)));
  }
  hash = hasher.Finish();
  return true;
}

bool HashString(GuavaFunnel funnel, std::string_view key, Hash128& hash) noexcept {
  if (funnel == GuavaFunnel::kUnencodedChars) return HashChars(key, hash);
  hash = Murmur3OfBytes(key.data(), key.size());
  return true;
}

bool Hash(GuavaFunnel funnel, uint64_t key, Hash128& hash) noexcept {
  return HashInteger(funnel, key, hash);
}
bool Hash(GuavaFunnel funnel, std::string_view key, Hash128& hash) noexcept {
  return HashString(funnel, key, hash);
}

}  // namespace

bool HashGuavaKey(GuavaFunnel funnel, uint64_t key, Hash128& hash) {
  if (!TakesIntegers(funnel)) ThrowForm(funnel, "integers");
  return HashInteger(funnel, key, hash);
}

bool HashGuavaKey(GuavaFunnel funnel, std::string_view key, Hash128& hash) {
  if (TakesIntegers(funnel)) ThrowForm(funnel, "strings");
  return HashString(funnel, key, hash);
}

void RequireGuavaForm(GuavaFunnel funnel, const Keys& keys) {
  switch (keys.layout()) {
    case KeyLayout::kU64:
    case KeyLayout::kU32:
    case KeyLayout::kI32:
      // An empty batch without a type also has this layout.
      if (!TakesIntegers(funnel) && !keys.empty()) ThrowForm(funnel, "integers");
      return;
    case KeyLayout::kHashes:
      ThrowForm(funnel, "hashes");
    default:
      if (TakesIntegers(funnel)) ThrowForm(funnel, "strings");
  }
}

void RequireGuavaKeys(const FormatHashKernels& kernels, GuavaFunnel funnel, const Keys& keys) {
  RequireGuavaForm(funnel, keys);
  if (funnel != GuavaFunnel::kInt && funnel != GuavaFunnel::kUnencodedChars) return;
  Hash128 hashes[64];
  for (size_t begin = 0; begin < keys.size(); begin += 64) {
    const size_t n = std::min<size_t>(64, keys.size() - begin);
    const uint64_t foreign =
        NotNull(keys, begin, n) & ~HashGuavaKeys(kernels, funnel, keys, begin, n, hashes);
    if (foreign == 0) continue;
    throw Error(
        ErrorCode::kInvalidArgument,
        StrCat("key ", begin + static_cast<size_t>(std::countr_zero(foreign)),
               funnel == GuavaFunnel::kInt ? " is not an int; allowed: [-2147483648, 2147483647]"
                                           : " is not text in UTF-8"));
  }
}

uint64_t HashGuavaKeys(const FormatHashKernels& kernels, GuavaFunnel funnel, const Keys& keys,
                       size_t begin, size_t n, Hash128* hashes) noexcept {
  if (funnel == GuavaFunnel::kLong) {
    uint64_t room[64];
    kernels.guava(IntegersOf(keys, begin, n, room), n, hashes);
    return NotNull(keys, begin, n);
  }
  return VisitKeys(keys, [&](const auto& of) {
    uint64_t known = 0;
    // The entry of a null may not be a valid string.
    for (uint64_t rest = NotNull(keys, begin, n); rest != 0; rest &= rest - 1) {
      const auto i = static_cast<size_t>(std::countr_zero(rest));
      known |= uint64_t{Hash(funnel, of(begin + i), hashes[i])} << i;
    }
    return known;
  });
}

}  // namespace tamis::detail
