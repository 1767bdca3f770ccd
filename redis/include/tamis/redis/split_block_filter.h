// A split-block Bloom filter on a Redis server or cluster, which any number of clients share.
#ifndef TAMIS_REDIS_SPLIT_BLOCK_FILTER_H_
#define TAMIS_REDIS_SPLIT_BLOCK_FILTER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/changeable.h"
#include "tamis/error.h"
#include "tamis/filters/filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/keys.h"
#include "tamis/layout/split_block.h"
#include "tamis/queryable.h"
#include "tamis/redis/route_plan.h"
#include "tamis/redis/server_options.h"

namespace tamis::redis {

// How queries treat unanswered keys.
enum class Unavailable : uint8_t {
  kThrow,  // write "maybe" for them, write the other answers, and throw UnansweredError
  kMaybe,  // answer "maybe"
};

// How one client uses a filter. The servers do not store these options.
struct ClientOptions {
  Unavailable unavailable = Unavailable::kThrow;
  // The secret of a keyed hash, which the servers do not have. As in LoadOptions.
  std::optional<HashSecret> secret = {};
  // Overrides the choice of PlanRoute.
  std::optional<Route> route = {};
  // Number of replicas of each master that Insert and Push wait for. If they are not known to have
  // the keys within half of command_timeout, the call throws kNotDurable. All keys are in then: if
  // some may not be in, the error has another code. A key on one replica survives the failure of a
  // master with a single replica, unless its slot moves at the same time. 0: does not wait.
  uint32_t durable_replicas = 0;
};

// How to create a filter.
struct CreateOptions {
  // Uses capacity, fpr, bytes and hash, as SplitBlockBloomFilter does.
  FilterOptions filter;
  // From this time on, by the clock of each client, keys are unanswered and insertions throw. An
  // hour later the keys on the servers expire, and the name is free again. Drop frees it at once.
  std::optional<std::chrono::system_clock::time_point> deadline = {};
};

// Whether a filter is being rebuilt: tamis/redis/rebuild.h.
enum class RebuildState : uint8_t {
  kNone,
  kRunning,
  // Its client has let the lease expire. Insertions go to two generations until another rebuild
  // ends it.
  kAbandoned,
  kUnknown,  // servers gave no usable reply
};
// Returns "none", "running", "abandoned" or "unknown".
const char* RebuildStateName(RebuildState state) noexcept;

struct Info {
  uint64_t blocks = 0;
  uint64_t bytes = 0;
  uint64_t capacity = 0;
  double fpr = 0;
  HashSpec hash;            // without the secret
  uint64_t generation = 0;  // random; changes with each rebuild
  RebuildState rebuild = RebuildState::kNone;
  // As in CreateOptions. A time beyond the range of the clock is cut to its last time.
  std::optional<std::chrono::system_clock::time_point> deadline;
  uint64_t segments = 0;
  uint64_t segment_bytes = 0;
  // Number of segments that are missing, damaged or could not be read, and the problem of the
  // first.
  uint64_t bad_segments = 0;
  std::string problem;
  // Memory of the segments on the masters (MEMORY USAGE), and the number of segments in that sum.
  // Segments whose master did not answer are not in it.
  uint64_t server_bytes = 0;
  uint64_t measured_segments = 0;
  struct Node {
    std::string address;
    uint64_t segments = 0;
  };
  std::vector<Node> nodes;  // masters
};

// Stores the blocks of a tamis::SplitBlockBloomFilter with the same options, cut into segments of
// 64 KiB to 8 MiB that are spread evenly over the slots of a cluster (redis/FORMAT.md). Clients
// hash the keys. Servers see block numbers and bits.
//
// A segment that is missing or damaged gives no answers and takes no keys. It never counts as
// empty: "no" always comes from a block that was read. Redis replicates after it has answered. If a
// master fails before that, keys whose insertion was acknowledged are lost and answered with "no".
//
// One thread at a time may use an object. Any number of objects, on any machines, may query and
// insert at the same time, and no bit is lost. One of them may rebuild the filter
// (tamis/redis/rebuild.h) while the others go on. A child of fork may use an object of its parent.
// It makes its own connections.
//
// Functions block until they are done, or until no command has succeeded for
// ServerOptions::retry_for. All except the destructor throw Error(kUnavailable) if servers cannot
// be reached or refuse, Error(kInvalidArgument) if the object was moved from, and std::bad_alloc.
class SplitBlockFilter final : public Queryable, public Changeable {
 public:
  // Creates a filter. Names have 1 to 200 bytes without braces and control characters. Throws
  // Error(kInvalidArgument) for options out of range, for a deadline that has passed, and if a
  // filter of that name exists, and Error(kOutOfMemory) if a server lacks memory (maxmemory).
  // After an exception no part of the new filter is left, unless servers fail as well.
  static SplitBlockFilter Create(const ServerOptions& servers, std::string_view name,
                                 const CreateOptions& options, const ClientOptions& client = {});
  // Opens the filter of that name. Throws Error(kInvalidArgument) if it does not exist,
  // Error(kCorrupt) if its descriptor is damaged, Error(kUnsupported) if its version or kind is
  // unknown, and Error(kSecret) if the secret is missing, wrong or not needed. With `expected`,
  // throws Error(kIncompatible) unless a filter of these options has the same blocks and hash.
  static SplitBlockFilter Open(const ServerOptions& servers, std::string_view name,
                               const ClientOptions& client = {});
  static SplitBlockFilter Open(const ServerOptions& servers, std::string_view name,
                               const FilterOptions& expected, const ClientOptions& client = {});

  SplitBlockFilter(SplitBlockFilter&&) noexcept;
  SplitBlockFilter& operator=(SplitBlockFilter&&) noexcept;
  ~SplitBlockFilter();

  const std::string& name() const;
  uint64_t num_blocks() const;
  uint64_t capacity() const;
  double fpr() const;
  const HashSpec& hash() const;

  // Queries are those of Queryable. With Unavailable::kThrow they throw UnansweredError, also for
  // one key.
  QueryTraits traits() const noexcept override;
  KeyTypes key_types() const override { return KeyType::kUnknown; }  // servers do not store them
  // Size of the blocks on the servers.
  uint64_t bytes() const override { return split_block::kBlockBytes * num_blocks(); }

  // Bulk insertion is that of Changeable, and rejects only nulls. Throws UnansweredError if some
  // keys may not be in, or may not be on ClientOptions::durable_replicas replicas. The error names
  // these keys, `rejected` does not, and they can be inserted again. All other keys are in. The
  // code of the error is kOutOfMemory if a server lacks memory.
  using Changeable::Insert;
  void Insert(uint64_t key) { Insert(Keys(std::span(&key, 1))); }
  void Insert(std::string_view key) { Insert(Keys(std::span(&key, 1))); }
  template <detail::NoKey T>
  void Insert(T) = delete;
  ChangeTraits change_traits() const noexcept override { return {.whole_calls = true}; }

  // Returns the route of a call with `keys` keys, and the reason for it.
  RoutePlan PlanRoute(Operation operation, uint64_t keys) const;

  // Returns a local copy with the same bits. Reads segment by segment, so it may have keys that are
  // inserted during the call. Servers do not store inserted_count() and the key types: the copy has
  // 0 and unknown. Throws Error(kOutOfMemory) if the copy does not fit into memory, and, even with
  // Unavailable::kMaybe, Error(kUnavailable) or Error(kCorrupt) if a segment cannot be read.
  SplitBlockBloomFilter Pull(const MemoryOptions& memory = {});
  // Adds all keys of a local filter. Throws Error(kIncompatible) unless blocks and hash are equal,
  // and Error(kUnavailable), Error(kCorrupt) or Error(kOutOfMemory) if a segment was not changed.
  // Other segments may have been changed, and the call can be repeated.
  void Push(const SplitBlockBloomFilter& filter);

  // Looks at all segments, and reports bad ones in the result instead of by an exception.
  Info GetInfo();

  // Removes the filter from the servers. Clients that have it open get no more answers. If servers
  // cannot be reached, some of its keys stay on them.
  void Drop();

 private:
  friend class NearCache;
  friend class Rebuilder;
  struct Impl;

  explicit SplitBlockFilter(std::unique_ptr<Impl> impl);
  void Query(const Keys& keys, uint64_t* bits) const override;
  size_t Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) override;
  // Throws Error(kInvalidArgument) if the object was moved from.
  Impl& impl() const;

  std::unique_ptr<Impl> impl_;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SPLIT_BLOCK_FILTER_H_
