// A split-block Bloom filter that lies on a Redis server or cluster, where any number of clients
// ask it and insert into it.
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

// What questions do about keys that have no answer.
enum class Unavailable : uint8_t {
  kThrow,  // they throw UnansweredError, after they have written the other answers and "maybe"
  kMaybe,  // the answer is "maybe"
};

// How a filter is used by one client: nothing of it is kept on the servers.
struct ClientOptions {
  Unavailable unavailable = Unavailable::kThrow;
  // The secret of a keyed hash, which the servers do not have. As in LoadOptions.
  std::optional<HashSecret> secret = {};
  // In place of the cheaper route. See PlanRoute.
  std::optional<Route> route = {};
  // Insert and Push wait until so many replicas of each master have what they have written, and
  // throw with the code kNotDurable if that is not known within half of command_timeout: then all
  // is in. If some may not be in the code is that of these. A key that one replica has is not lost
  // if a master fails that has no other, unless its slot moves at the same time. 0: nothing is
  // waited for.
  uint32_t durable_replicas = 0;
};

// What a filter is made as: capacity, fpr, bytes and hash of `filter` count, as for
// SplitBlockBloomFilter.
struct CreateOptions {
  FilterOptions filter;
  // From then on, by the clocks of its clients, nobody gets an answer from it; an hour later its
  // keys expire, and the name is free again. Drop removes it at once.
  std::optional<std::chrono::system_clock::time_point> deadline = {};
};

// Whether a filter is being rebuilt: tamis/redis/rebuild.h.
enum class RebuildState : uint8_t {
  kNone,
  kRunning,
  // Whoever did it has not been heard of for the time of its lease. Insertions go to two
  // generations until another rebuild ends it.
  kAbandoned,
  kUnknown,  // no server has said
};
// "none", "running", "abandoned" or "unknown".
const char* RebuildStateName(RebuildState state) noexcept;

struct Info {
  uint64_t blocks = 0;
  uint64_t bytes = 0;
  uint64_t capacity = 0;
  double fpr = 0;
  HashSpec hash;            // without a secret
  uint64_t generation = 0;  // random; another one after each rebuild
  RebuildState rebuild = RebuildState::kNone;
  // As in CreateOptions. Of one that the clock cannot show, the last that it can.
  std::optional<std::chrono::system_clock::time_point> deadline;
  uint64_t segments = 0;
  uint64_t segment_bytes = 0;
  // Segments that are missing or damaged, and what is wrong with one of them.
  uint64_t bad_segments = 0;
  std::string problem;
  // What the segments take in the memory of the masters (MEMORY USAGE), and of how many of them
  // that is: those of which a server has said it.
  uint64_t server_bytes = 0;
  uint64_t measured_segments = 0;
  struct Node {
    std::string address;
    uint64_t segments = 0;
  };
  std::vector<Node> nodes;  // masters
};

// The same blocks as those of a tamis::SplitBlockBloomFilter of these options, cut into segments of
// 64 KiB to 8 MiB that are spread evenly over the slots of a cluster (redis/FORMAT.md). Keys are
// hashed here; servers see block numbers and bits.
//
// It is never taken for empty: a segment that is missing, or not as it was made, has no answers and
// takes no keys. So is the answer "no" only given by blocks that have been read. Redis replicates
// to its replicas after it has answered: keys whose insertion was acknowledged are lost, and
// answered by "no", if a master fails before it has sent them on.
//
// One thread at a time may use an object; open one for each thread. Whatever number of them, here
// and on other machines, may insert and ask at the same time, and no bit is lost. One of them may
// rebuild the filter (tamis/redis/rebuild.h), and the others go on. A child of fork may go on with
// an object of its parent: it connects anew.
//
// Functions block until they are done, or, for ServerOptions::retry_for, nothing of it succeeds.
// All but the destructor throw Error(kUnavailable) for servers that cannot be reached or refuse,
// Error(kInvalidArgument) if the filter was moved from, and std::bad_alloc.
class SplitBlockFilter final : public Queryable, public Changeable {
 public:
  // Makes a filter. Names are 1 to 200 bytes without braces and control characters. Throws
  // Error(kInvalidArgument) for options out of range, a deadline that is over and if there is a
  // filter of that name,
  // Error(kOutOfMemory) if a server has not enough memory (maxmemory); then nothing is left of it,
  // unless the servers fail as well.
  static SplitBlockFilter Create(const ServerOptions& servers, std::string_view name,
                                 const CreateOptions& options, const ClientOptions& client = {});
  // Opens the filter of that name. Throws Error(kInvalidArgument) if there is none, Error(kCorrupt)
  // if its description is damaged, Error(kUnsupported) if it is of a version or kind that this
  // library does not know, Error(kSecret) as LoadOptions says. With `expected`, throws
  // Error(kIncompatible) unless it has the blocks and the hash that a filter of these options has.
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

  // Lookups are those of Queryable, also of one key. They throw UnansweredError as Unavailable
  // says.
  QueryTraits traits() const noexcept override;
  KeyTypes key_types() const override { return KeyType::kUnknown; }  // which servers do not know
  // On the servers.
  uint64_t bytes() const override { return split_block::kBlockBytes * num_blocks(); }

  // Bulk insertion is that of Changeable, and rejects only nulls. Throws UnansweredError if some
  // keys may not be in, or not on ClientOptions::durable_replicas replicas. These keys are named by
  // the error, not by `rejected`, and can be inserted again. All other keys are in. The code of the
  // error is kOutOfMemory if a server has no memory left.
  using Changeable::Insert;
  void Insert(uint64_t key) { Insert(Keys(std::span(&key, 1))); }
  void Insert(std::string_view key) { Insert(Keys(std::span(&key, 1))); }
  template <detail::NoKey T>
  void Insert(T) = delete;
  ChangeTraits change_traits() const noexcept override { return {.whole_calls = true}; }

  // What a call with so many keys would do, and why.
  RoutePlan PlanRoute(Operation operation, uint64_t keys) const;

  // The filter as it is on the servers, bit for bit; segment after segment, so keys that are
  // inserted meanwhile are in or not. Its inserted_count() is 0, which servers do not know, and its
  // key types are unknown. Throws Error(kOutOfMemory) for more bytes than this machine has, and,
  // whatever ClientOptions say, Error(kUnavailable) or Error(kCorrupt) if a segment cannot be had.
  SplitBlockBloomFilter Pull(const MemoryOptions& memory = {});
  // Adds all keys of a local filter: the union. Throws Error(kIncompatible) unless blocks and hash
  // are equal, and Error(kUnavailable) or Error(kCorrupt) if a segment could not be reached; others
  // may have been, and it can be done again.
  void Push(const SplitBlockBloomFilter& filter);

  // Looks at all segments. Throws nothing for bad ones.
  Info GetInfo();

  // Removes the filter from the servers, for all clients. Those that have it open get no answers
  // any more. If servers cannot be reached some of its keys stay.
  void Drop();

 private:
  friend class NearCache;
  friend class Rebuilder;
  struct Impl;

  explicit SplitBlockFilter(std::unique_ptr<Impl> impl);
  void Query(const Keys& keys, uint64_t* bits) const override;
  size_t Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) override;
  // Throws Error(kInvalidArgument) if it was moved from.
  Impl& impl() const;

  std::unique_ptr<Impl> impl_;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SPLIT_BLOCK_FILTER_H_
