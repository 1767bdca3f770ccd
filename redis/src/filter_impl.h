// What SplitBlockFilter is made of.
#ifndef TAMIS_REDIS_SRC_FILTER_IMPL_H_
#define TAMIS_REDIS_SRC_FILTER_IMPL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "redis/src/batch.h"
#include "redis/src/client.h"
#include "redis/src/descriptor.h"
#include "redis/src/layout.h"
#include "redis/src/problem.h"
#include "tamis/redis/split_block_filter.h"

namespace tamis::redis {

class SplitBlockFilter::Impl {
 public:
  Impl(const ServerOptions& servers, std::string_view name, const ClientOptions& options);

  // Finds the descriptor. False if there is none.
  bool Find();
  void RequireExpected(const FilterOptions& expected) const;
  void Create(const CreateOptions& options);
  void Drop();
  Info GetInfo();

  // Bit i of `maybe`, all of which are 0 before: whether key i may be in. Also writes if it throws.
  void Ask(const Keys& keys, std::span<uint64_t> maybe);
  size_t Insert(const Keys& keys);
  RoutePlan PlanFor(Operation operation, uint64_t keys) const;
  SplitBlockBloomFilter Pull(const MemoryOptions& memory);
  void Push(const SplitBlockBloomFilter& filter);
  // An empty filter of the same blocks and hash.
  SplitBlockBloomFilter MakeLocal(const MemoryOptions& memory) const;
  // Adds what segments have whose version is not the one here, and puts theirs here; 0 if it is not
  // known. Gives how many were read. Throws like Pull.
  uint64_t Refresh(SplitBlockBloomFilter& copy, std::span<uint64_t> versions);
  bool IsOver() const;

  const std::string& name() const { return name_; }
  const Descriptor& descriptor() const { return descriptor_; }
  // With the secret.
  const HashSpec& hash() const { return hash_; }

 private:
  // Keys without answer, and the first reason for that.
  struct Unanswered {
    void Add(uint64_t first_key, std::span<const uint32_t> indices, const Problem& why);

    std::vector<uint64_t> keys;
    std::optional<Problem> problem;
  };
  struct SegmentRead {
    uint64_t segment = 0;
    std::string bits;
    std::optional<Problem> problem;
  };
  struct SegmentMerge {
    uint64_t segment = 0;
    std::string bits;
    std::optional<Problem> problem;
  };

  // Throws Error(kUnavailable) for a single command without reply or with an error.
  const Reply& RunOne(Command& command);
  SegmentKey KeyOf(uint64_t segment) const;
  // Gives what is wrong with a segment as the reply to this command shows it, which is the window
  // of its state.
  Command StateCommand(uint64_t segment) const;
  std::optional<Problem> ProblemOfWindow(const Command& command, uint64_t segment) const;
  // A script that changes the segment, with the arguments that all of them have.
  Command WriteCommand(const Script& script, uint64_t segment,
                       std::initializer_list<std::string_view> more_keys, bool odd = true);
  Command ReadCommand(uint64_t segment) const;
  [[noreturn]] void Throw(const Problem& problem) const;
  // Runs such commands, until replicas have what they write if that is asked for.
  void RunWrites(std::span<Command> commands);
  std::optional<Problem> ProblemOfWrite(const Command& command, uint64_t segment) const;
  void RequireNotOver() const;
  [[noreturn]] void Throw(Unanswered& unanswered, size_t keys, const char* what) const;
  // Calls `run` with ranges of 0 to `count` so that the costs in each are at most kWaveBytes.
  void InWaves(size_t count, const std::function<uint64_t(size_t)>& cost,
               const std::function<void(size_t, size_t)>& run) const;

  void AskBlocks(const Batch& batch, uint64_t first_key, std::span<uint64_t> maybe,
                 Unanswered& unanswered);
  void AskSegments(const Batch& batch, uint64_t first_key, std::span<uint64_t> maybe,
                   Unanswered& unanswered);
  void InsertBlocks(const Batch& batch, uint64_t first_key, Unanswered& unanswered);
  void InsertSegments(const Batch& batch, uint64_t first_key, Unanswered& unanswered);
  void Read(std::span<SegmentRead> reads);
  void Merge(std::span<SegmentMerge> merges);
  // Of one attempt: those whose delta was gone before it could be merged are left without a
  // problem, and their indices are given back.
  std::vector<size_t> MergeOnce(std::span<SegmentMerge> merges, std::span<const size_t> which);
  void Unlink();

  ClientOptions options_;
  std::string name_;
  Client client_;
  Descriptor descriptor_;
  HashSpec hash_;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_FILTER_IMPL_H_
