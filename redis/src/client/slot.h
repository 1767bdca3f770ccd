// The slots of a Redis Cluster: which one a key is in, and a tag for each.
#ifndef TAMIS_REDIS_SRC_CLIENT_SLOT_H_
#define TAMIS_REDIS_SRC_CLIENT_SLOT_H_

#include <cstdint>
#include <string_view>

namespace tamis::redis {

inline constexpr uint32_t kSlots = 16384;

// CRC-16/XMODEM: polynomial 0x1021, initial value 0, most significant bit first.
uint16_t Crc16(std::string_view bytes);

// The slot of a key: that of what is between the first { and the first } after it, if there is
// something, else of the whole key (Redis Cluster Specification, "Hash tags").
uint32_t SlotOfKey(std::string_view key);

// The smallest number whose decimal text is in the slot, below kSlots.
uint32_t TagOfSlot(uint32_t slot);

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_CLIENT_SLOT_H_
