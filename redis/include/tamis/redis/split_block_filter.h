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
  Unavailable unavailable = Unavailable::kThrow;  // how queries treat unanswered keys
  // The secret of a keyed hash, which the servers do not have: see LoadOptions::secret.
  std::optional<HashSecret> secret = {};
  // Overrides the choice of PlanRoute.
  std::optional<Route> route = {};
  // Number of replicas of each master that must confirm the keys of Insert and Push; 0: none. The
  // call waits for at most half of command_timeout. If fewer replicas confirm, the call throws
  // kNotDurable. After kNotDurable, all keys are in the filter: if keys may be missing, the error
  // has another code. If a master has one replica, a key that the replica has confirmed survives
  // the failure of the master, unless the slot of the key moves at the same time.
  uint32_t durable_replicas = 0;
};

// How to create a filter.
struct CreateOptions {
  // Uses capacity, fpr, bytes and hash, as SplitBlockBloomFilter does.
  FilterOptions filter;
  // From this time on, measured by the clock of each client, keys are unanswered and insertions
  // throw. One hour later, the keys on the servers expire, and the name of the filter is free
  // again. Drop frees the name at once.
  std::optional<std::chrono::system_clock::time_point> deadline = {};
};

// Whether a filter is being rebuilt: tamis/redis/rebuild.h.
enum class RebuildState : uint8_t {
  kNone,
  kRunning,
  // The rebuild has not ended, but its lease has expired. Insertions go to two generations until
  // Rebuild or EndAbandonedRebuild ends it.
  kAbandoned,
  kUnknown,  // servers returned no usable reply
};
// Returns "none", "running", "abandoned" or "unknown".
const char* RebuildStateName(RebuildState state) noexcept;

// The state of a filter on its servers.
struct Info {
  uint64_t blocks = 0;                         // number of blocks
  uint64_t bytes = 0;                          // size of the blocks
  uint64_t capacity = 0;                       // number of keys that the filter was sized for
  double fpr = 0;                              // false-positive rate at `capacity`
  HashSpec hash;                               // the hash, without its secret
  uint64_t generation = 0;                     // random; changes with each rebuild
  RebuildState rebuild = RebuildState::kNone;  // whether the filter is being rebuilt
  // The deadline in CreateOptions, or the last time of the clock if the clock ends before it.
  std::optional<std::chrono::system_clock::time_point> deadline;
  uint64_t segments = 0;       // number of segments
  uint64_t segment_bytes = 0;  // size of a segment
  // Number of segments that are missing, damaged or could not be read, and the problem of the first
  // such segment.
  uint64_t bad_segments = 0;
  std::string problem;  // see `bad_segments`
  // Memory of the segments on the masters (MEMORY USAGE), and the number of segments in that sum.
  // The sum does not include segments whose master did not answer.
  uint64_t server_bytes = 0;
  uint64_t measured_segments = 0;  // see `server_bytes`
  // A server that has segments of the filter.
  struct Node {
    std::string address;    // address of the server
    uint64_t segments = 0;  // number of its segments
  };
  std::vector<Node> nodes;  // masters
};

// Stores the blocks of a tamis::SplitBlockBloomFilter with the same options, cut into segments of
// 64 KiB to 8 MiB that are spread evenly over the slots of a cluster (redis/FORMAT.md). Clients
// hash the keys. Servers see block numbers and bits.
//
// If a segment is missing or damaged, its keys are unanswered, and insertions of its keys throw. A
// missing segment never counts as empty: "no" always comes from a block that was read. A master
// replies to a write before it replicates the write. If the master fails in between, acknowledged
// keys are lost and answered with "no": see ClientOptions::durable_replicas.
//
// One thread at a time may use an object. Any number of objects, on any machines, may query and
// insert at the same time, and no bit is lost. One object may rebuild the filter
// (tamis/redis/rebuild.h) while others query and insert. A child of fork may use an object of its
// parent. The child makes its own connections.
//
// Functions block until they are done. They give up when no command of the call has succeeded for
// the time in ServerOptions::retry_for. All except the destructor throw Error(kUnavailable) if
// servers cannot be reached or refuse the client, Error(kInvalidArgument) if the object was moved
// from, and std::bad_alloc.
class SplitBlockFilter final : public Queryable, public Changeable {
 public:
  // Creates a filter. A name has 1 to 200 bytes, without braces and control characters. Throws
  // Error(kInvalidArgument) for an invalid name, for options out of range, for a deadline that has
  // passed, and if a filter of that name exists. Throws Error(kOutOfMemory) if a server lacks
  // memory (maxmemory). After an exception, no part of the new filter stays on servers that can be
  // reached.
  static SplitBlockFilter Create(const ServerOptions& servers, std::string_view name,
                                 const CreateOptions& options, const ClientOptions& client = {});
  // Opens the filter of that name. Throws Error(kInvalidArgument) if it does not exist,
  // Error(kCorrupt) if its descriptor is damaged, Error(kUnsupported) if its version or kind is
  // unknown, and Error(kSecret) if the secret is missing, wrong or not needed. With `expected`,
  // throws Error(kIncompatible) unless a filter with these options has the same blocks and hash.
  static SplitBlockFilter Open(const ServerOptions& servers, std::string_view name,
                               const ClientOptions& client = {});
  static SplitBlockFilter Open(const ServerOptions& servers, std::string_view name,
                               const FilterOptions& expected, const ClientOptions& client = {});

  SplitBlockFilter(SplitBlockFilter&&) noexcept;
  SplitBlockFilter& operator=(SplitBlockFilter&&) noexcept;
  ~SplitBlockFilter();

  // Return the properties of the filter, as in Info.
  const std::string& name() const;
  uint64_t num_blocks() const;
  uint64_t capacity() const;
  double fpr() const;
  const HashSpec& hash() const;

  // To query, call the functions of Queryable. If keys are unanswered, queries with
  // Unavailable::kThrow throw UnansweredError. This includes queries of one key.
  QueryTraits traits() const noexcept override;
  KeyTypes key_types() const override { return KeyType::kUnknown; }  // servers do not store them
  // Size of the blocks on the servers.
  uint64_t bytes() const override { return split_block::kBlockBytes * num_blocks(); }

  // Inserts keys as Changeable does, and rejects only nulls. Throws UnansweredError if some keys
  // may not be in the filter, or may not be on ClientOptions::durable_replicas replicas. The error
  // names these keys, and they can be inserted again. `rejected` does not contain them. All other
  // keys are in the filter. The code of the error is kOutOfMemory if a server lacks memory.
  using Changeable::Insert;
  void Insert(uint64_t key) { Insert(Keys(std::span(&key, 1))); }
  void Insert(std::string_view key) { Insert(Keys(std::span(&key, 1))); }
  template <detail::NoKey T>
  void Insert(T) = delete;
  ChangeTraits change_traits() const noexcept override { return {.whole_calls = true}; }

  // Returns the route of a call with `keys` keys, and the reason for it.
  RoutePlan PlanRoute(Operation operation, uint64_t keys) const;

  // Returns a local copy with the same bits. Reads segment by segment, so the copy may have keys
  // that are inserted during the call. Its inserted_count() is 0, and its key types are unknown,
  // because servers do not store them. Throws Error(kOutOfMemory) if the copy does not fit into
  // memory. Even with Unavailable::kMaybe, throws Error(kUnavailable) or Error(kCorrupt) if a
  // segment cannot be read.
  SplitBlockBloomFilter Pull(const MemoryOptions& memory = {});
  // Adds all keys of a local filter. Throws Error(kIncompatible) if blocks or hash differ, and
  // Error(kUnavailable), Error(kCorrupt) or Error(kOutOfMemory) if a segment was not changed. Other
  // segments may have been changed, and the call can be repeated.
  void Push(const SplitBlockBloomFilter& filter);

  // Reads the state of all segments. Reports bad segments in the result, and does not throw for
  // them.
  Info GetInfo();

  // Removes the filter from the servers. In clients that have the filter open, all keys are
  // unanswered. If a server with segments cannot be reached, these segments stay on it, and the
  // call does not throw.
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
