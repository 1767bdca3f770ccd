#include "redis/src/client/sha1.h"

#include <array>
#include <bit>
#include <cstdint>

namespace tamis::redis {
namespace {

// FIPS 180-4, section 6.1.2, for one block of 64 bytes.
void AddBlock(const uint8_t* block, std::array<uint32_t, 5>& state) {
  std::array<uint32_t, 80> w{};
  for (size_t t = 0; t < 16; ++t) {
    for (size_t i = 0; i < 4; ++i) w[t] = (w[t] << 8) | block[4 * t + i];
  }
  for (size_t t = 16; t < 80; ++t) w[t] = std::rotl(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
  auto [a, b, c, d, e] = state;
  for (size_t t = 0; t < 80; ++t) {
    uint32_t f = b ^ c ^ d;
    uint32_t k = t < 40 ? 0x6ED9EBA1 : 0xCA62C1D6;
    if (t < 20) {
      f = (b & c) | (~b & d);
      k = 0x5A827999;
    } else if (t >= 40 && t < 60) {
      f = (b & c) | (b & d) | (c & d);
      k = 0x8F1BBCDC;
    }
    const uint32_t next = std::rotl(a, 5) + f + e + k + w[t];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d, state[4] + e};
}

}  // namespace

std::string Sha1Text(std::string_view bytes) {
  std::string message(bytes);
  message += '\x80';
  message.append((64 - (message.size() + 8) % 64) % 64, '\0');
  const uint64_t bits = 8 * static_cast<uint64_t>(bytes.size());
  for (int shift = 56; shift >= 0; shift -= 8) message += static_cast<char>(bits >> shift);

  std::array<uint32_t, 5> state = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
  const auto* data = reinterpret_cast<const uint8_t*>(message.data());
  for (size_t i = 0; i < message.size(); i += 64) AddBlock(data + i, state);

  std::string text;
  for (const uint32_t word : state) {
    for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[(word >> shift) & 15];
  }
  return text;
}

}  // namespace tamis::redis
