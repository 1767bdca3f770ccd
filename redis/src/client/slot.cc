#include "redis/src/client/slot.h"

#include <array>
#include <string>
#include <vector>

namespace tamis::redis {
namespace {

constexpr std::array<uint16_t, 256> MakeCrcTable() {
  std::array<uint16_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc << 1) ^ ((crc & 0x8000) != 0 ? 0x1021 : 0);
    table[byte] = static_cast<uint16_t>(crc);
  }
  return table;
}

std::vector<uint32_t> MakeTags() {
  constexpr uint32_t kNone = 0xFFFFFFFF;
  std::vector<uint32_t> tags(kSlots, kNone);
  uint32_t missing = kSlots;
  for (uint32_t number = 0; missing > 0; ++number) {
    uint32_t& tag = tags[Crc16(std::to_string(number)) % kSlots];
    if (tag != kNone) continue;
    tag = number;
    --missing;
  }
  return tags;
}

}  // namespace

uint16_t Crc16(std::string_view bytes) {
  static constexpr std::array<uint16_t, 256> kTable = MakeCrcTable();
  uint32_t crc = 0;
  for (const char c : bytes) {
    crc = ((crc << 8) ^ kTable[((crc >> 8) ^ static_cast<uint8_t>(c)) & 0xFF]) & 0xFFFF;
  }
  return static_cast<uint16_t>(crc);
}

uint32_t SlotOfKey(std::string_view key) {
  const size_t open = key.find('{');
  if (open != std::string_view::npos) {
    const size_t close = key.find('}', open + 1);
    if (close != std::string_view::npos && close > open + 1) {
      key = key.substr(open + 1, close - open - 1);
    }
  }
  return Crc16(key) % kSlots;
}

uint32_t TagOfSlot(uint32_t slot) {
  static const std::vector<uint32_t> tags = MakeTags();
  return tags[slot];
}

}  // namespace tamis::redis
