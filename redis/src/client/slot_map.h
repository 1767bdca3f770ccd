// Maps the slots of a cluster to its nodes.
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
  // No slot has an owner.
  SlotMap() : owners_(kSlots, kNobody) {}
  // One server owns all slots.
  static SlotMap OfServer(const Address& server);
  // Parse the reply of the node at `asked` to CLUSTER SHARDS or CLUSTER SLOTS. If the reply names
  // no host for a node, the node has the host of `asked`. `tls`: whether to use the TLS ports.
  // Throw Error(kUnavailable) if the reply has another form.
  static SlotMap OfShards(const Reply& reply, const Address& asked, bool tls);
  static SlotMap OfSlots(const Reply& reply, const Address& asked);

  // Returns nullptr if the master is unknown.
  const Address* MasterOf(uint32_t slot) const;
  // Returns the replicas that can answer queries; nullptr if the master is unknown.
  const std::vector<Address>* ReplicasOf(uint32_t slot) const;
  // Returns the number of replicas that may replace `master` if it fails, or nothing if `master` is
  // not a master. Counts "loading" replicas too: CLUSTER SHARDS shows any replica as "loading"
  // until the answering node has learned how far its replication is.
  std::optional<uint32_t> FollowersOf(const Address& master) const;
  // Applies a MOVED reply.
  void Move(uint32_t slot, const Address& master);

  // Returns all nodes, each once.
  std::vector<Address> Nodes() const;
  // The number of slots of a master, for each master that has any.
  struct Share {
    Address master;
    uint32_t slots = 0;
  };
  std::vector<Share> Shares() const;

 private:
  struct Shard {
    Address master;
    std::vector<Address> replicas;
    uint32_t followers = 0;  // number of replicas, including those that cannot answer yet
  };
  static constexpr uint16_t kNobody = 0xFFFF;

  // Throws Error(kUnavailable) if one of the slots has an owner.
  void Assign(uint64_t first, uint64_t last, uint16_t shard);
  uint16_t Add(Shard shard);

  std::vector<Shard> shards_;
  std::vector<uint16_t> owners_;  // for each slot, an index in shards_ or kNobody
};

// An error with which a node sends its client to another node.
struct Redirect {
  bool ask = false;  // true: ASK, for this command only; false: MOVED
  uint32_t slot = 0;
  Address to;
};
// Returns nothing if the error is not a well-formed MOVED or ASK.
std::optional<Redirect> ParseRedirect(std::string_view error, const Address& from);

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_CLIENT_SLOT_MAP_H_
