// The ownership of a rebuild: its record and its lease on the servers. FORMAT.md, "Rebuilding".
#ifndef TAMIS_REDIS_SRC_REBUILD_REBUILD_LEASE_H_
#define TAMIS_REDIS_SRC_REBUILD_REBUILD_LEASE_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "redis/src/client/client.h"
#include "redis/src/filter/filter_state.h"
#include "redis/src/rebuild/rebuild_record.h"
#include "redis/src/rebuild/replicated_writes.h"

namespace tamis::redis {

// Functions throw Error(kUnavailable) for servers that cannot be reached or refuse the client, and
// Error(kBusy) if another client has taken over.
class RebuildLease {
 public:
  RebuildLease(FilterState& state, Client& client, ReplicatedWrites& writes,
               std::chrono::milliseconds duration)
      : state_(state), client_(client), writes_(writes), duration_(duration) {}

  // Returns the record `mine` of the last call of Take.
  const RebuildRecord& record() const { return record_; }

  // Replaces the record whose text is `found` by `mine`, takes the lease, and adopts the
  // descriptor. `found` is "" if there is no record. `former_owner`: an owner whose lease counts as
  // expired; 0: none. Returns false if the record on the servers is not `found`. Throws
  // Error(kBusy) if another client has the lease, and Error(kInvalidArgument) if the filter was
  // removed.
  bool Take(const std::string& found, const RebuildRecord& mine, uint64_t former_owner = 0);
  void Renew();
  // Renews the lease if a third of its duration has passed.
  void RenewIfDue();
  // Makes `next` the descriptor of the filter.
  void ReplaceDescriptor(const Descriptor& next);
  // Removes the record and the lease.
  void EndRecord();
  // Removes the lease of the owner in `record`, or of another owner. If that fails, the lease
  // expires by itself.
  void Release() { Release(record_.owner); }
  void Release(uint64_t owner);

  // Returns the text of the record on the servers; "": it does not exist.
  std::string ReadRecord();
  // Returns the descriptor on the servers, which may belong to another filter of the same name, or
  // nothing if it was removed.
  std::optional<Descriptor> ReadDescriptor();

 private:
  int64_t RunForNumber(Command command);
  [[noreturn]] void ThrowTakenOver() const;

  FilterState& state_;
  Client& client_;
  ReplicatedWrites& writes_;
  const std::chrono::milliseconds duration_;
  RebuildRecord record_;
  Time renewed_{};
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_REBUILD_REBUILD_LEASE_H_
