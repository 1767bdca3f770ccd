// The slots of a Redis Cluster: the slot of a key, and a tag for each slot.
#ifndef TAMIS_REDIS_SRC_CLIENT_SLOT_H_
#define TAMIS_REDIS_SRC_CLIENT_SLOT_H_

#include <cstdint>
#include <string_view>

namespace tamis::redis {

inline constexpr uint32_t kSlots = 16384;

// CRC-16/XMODEM: polynomial 0x1021, initial value 0, most significant bit first.
uint16_t Crc16(std::string_view bytes);

// Returns the slot of a key. Only the text between the first { and the first } after it counts, or
// the whole key if that text is empty or missing (Redis Cluster Specification, "Hash tags").
uint32_t SlotOfKey(std::string_view key);

// Returns the smallest number whose decimal text is in `slot`, which must be below kSlots.
uint32_t TagOfSlot(uint32_t slot);

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_CLIENT_SLOT_H_
