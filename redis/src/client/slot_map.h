// Which node of a cluster has which slots.
#ifndef TAMIS_REDIS_SRC_CLIENT_SLOT_MAP_H_
#define TAMIS_REDIS_SRC_CLIENT_SLOT_MAP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "redis/src/client/reply.h"
#include "redis/src/client/slot.h"
#include "redis/src/client/url.h"

namespace tamis::redis {

class SlotMap {
 public:
  // Of no slot an owner is known.
  SlotMap() : owners_(kSlots, kNobody) {}
  // All slots are one server's.
  static SlotMap OfServer(const Address& server);
  // Replies to CLUSTER SHARDS and CLUSTER SLOTS from the node at `asked`, whose host is meant by a
  // node that has none. `tls`: which of the ports of a node. Throw Error(kUnavailable) for a reply
  // that is not what those commands give.
  static SlotMap OfShards(const Reply& reply, const Address& asked, bool tls);
  static SlotMap OfSlots(const Reply& reply, const Address& asked);

  // nullptr if nobody is known to have it.
  const Address* MasterOf(uint32_t slot) const;
  // Replicas of the slot's master that can be asked; nullptr if its master is not known.
  const std::vector<Address>* ReplicasOf(uint32_t slot) const;
  // How many replicas may take the place of that master when it fails; nothing if it is none.
  // CLUSTER SHARDS shows as "loading" also those of which the node that answers does not know yet
  // how far they are.
  std::optional<uint32_t> FollowersOf(const Address& master) const;
  // What a MOVED says.
  void Move(uint32_t slot, const Address& master);

  // All nodes, each once.
  std::vector<Address> Nodes() const;
  // For each master that has slots, how many of these.
  struct Share {
    Address master;
    uint32_t slots = 0;
  };
  std::vector<Share> Shares() const;

 private:
  struct Shard {
    Address master;
    std::vector<Address> replicas;
    uint32_t followers = 0;  // these, and those that cannot be asked yet
  };
  static constexpr uint16_t kNobody = 0xFFFF;

  // Throws Error(kUnavailable) if one of them has an owner.
  void Assign(uint64_t first, uint64_t last, uint16_t shard);
  uint16_t Add(Shard shard);

  std::vector<Shard> shards_;
  std::vector<uint16_t> owners_;  // for each slot, of shards_
};

// An error by which a node sends its client to another one.
struct Redirect {
  bool ask = false;  // ASK: for this command alone; else MOVED
  uint32_t slot = 0;
  Address to;
};
// None if the error is neither, or not one that a node writes.
std::optional<Redirect> ParseRedirect(std::string_view error, const Address& from);

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_CLIENT_SLOT_MAP_H_
