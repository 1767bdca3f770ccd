// What SplitBlockFilter is made of.
#ifndef TAMIS_REDIS_SRC_FILTER_FILTER_IMPL_H_
#define TAMIS_REDIS_SRC_FILTER_FILTER_IMPL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "redis/src/client/batch.h"
#include "redis/src/client/client.h"
#include "redis/src/client/problem.h"
#include "redis/src/filter/descriptor.h"
#include "redis/src/filter/layout.h"
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
  RoutePlan PlanRoute(Operation operation, uint64_t keys) const;
  SplitBlockBloomFilter Pull(const MemoryOptions& memory);
  void Push(const SplitBlockBloomFilter& filter);
  // An empty filter of the same blocks and hash.
  SplitBlockBloomFilter MakeLocal(const MemoryOptions& memory) const;
  // A local copy of the filter, which other threads may use meanwhile.
  struct CopyOf {
    SplitBlockBloomFilter& blocks;
    // What it has of the filter.
    uint64_t& generation;
    std::vector<uint64_t>& versions;  // of segments; 0: not known
    uint64_t& read;                   // how many segments were read
    // Before it is emptied, in such a change.
    std::function<void()> begin_anew;
    // Calls what changes its blocks.
    std::function<void(const std::function<void()>&)> change;
  };
  // Adds what segments have whose version is not the one seen. Throws like Pull.
  void Refresh(const CopyOf& copy);
  // One of the same filter, with connections of its own.
  std::unique_ptr<Impl> Another() const;
  // For good: from then on calls fail, also those that have begun.
  void StopWhen(std::stop_token stop) { client_.StopWhen(std::move(stop)); }
  const ServerOptions& servers() const { return client_.options(); }
  bool IsOver() const;

  const std::string& name() const { return name_; }
  const Descriptor& descriptor() const { return descriptor_; }
  // With the secret.
  const HashSpec& hash() const { return hash_; }

 private:
  friend class Rebuilder;

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

  // What was not done for the i-th of some segments, and why.
  struct Undone {
    size_t index = 0;
    Problem problem;
  };
  using Once = std::function<std::vector<Undone>(std::span<const size_t> which)>;

  // Calls `once` for begin to end, and again for what it has not done for the reason that the
  // filter is, or has been, rebuilt. Gives what is left.
  std::vector<Undone> Follow(size_t begin, size_t end, const Once& once);
  // True if the filter has another generation now, which is then the one here. Throws what is wrong
  // if that cannot be read.
  bool ReadDescriptorAgain();
  // The same, with what is wrong then in `unread`.
  bool ReadDescriptorAgain(std::optional<Problem>& unread);
  void Adopt(const Descriptor& descriptor);
  bool IsRebuiltFrom(const Descriptor& other) const;
  uint64_t MarkOf(uint64_t segment) const { return marks_.empty() ? 0 : marks_[segment]; }
  void LearnMark(uint64_t segment, uint64_t mark);
  void AddUndone(const Batch& batch, uint64_t first_key, std::span<Undone> undone,
                 Unanswered& unanswered) const;

  // Throws Error(kUnavailable) for a single command without reply or with an error.
  const Reply& RunOne(Command& command);
  SegmentKey KeyOf(uint64_t segment) const { return KeyOf(segment, descriptor_.generation); }
  SegmentKey KeyOf(uint64_t segment, uint64_t generation) const {
    return KeyOfSegment(name_, descriptor_.layout, generation, segment);
  }
  // Gives what is wrong with a segment as the reply to this command shows it, which is the window
  // of its state.
  Command StateCommand(uint64_t segment) const;
  std::optional<Problem> ProblemOfWindow(const Command& command, uint64_t segment) const;
  // The first script, or the second if the segment has a mark, with the arguments that all such
  // scripts have.
  Command WriteCommand(const Script& script, const Script& both, uint64_t segment,
                       std::initializer_list<std::string_view> more_keys);
  Command SettleCommand(uint64_t segment);
  // The state without the version.
  std::string Fields(uint64_t generation, uint64_t segment, uint64_t mark) const;
  Command ReadCommand(uint64_t segment) const;
  [[noreturn]] void Throw(const Problem& problem) const;
  // Runs such commands, until replicas have what they write if that is asked for.
  void RunWrites(std::span<Command> commands);
  // Learns the mark, if it was that.
  std::optional<Problem> ProblemOfWrite(const Command& command, uint64_t segment);
  void RequireNotOver() const;
  [[noreturn]] void Throw(Unanswered& unanswered, size_t keys, const char* what) const;
  // Calls `run` with ranges of 0 to `count` so that the costs in each are at most kWaveBytes.
  void InWaves(size_t count, const std::function<uint64_t(size_t)>& cost,
               const std::function<void(size_t, size_t)>& run) const;

  void AskBlocks(const Batch& batch, uint64_t first_key, std::span<uint64_t> maybe,
                 Unanswered& unanswered);
  std::vector<Undone> AskBlocksOnce(const Batch& batch, std::span<const size_t> which,
                                    uint64_t first_key, std::span<uint64_t> maybe);
  void AskSegments(const Batch& batch, uint64_t first_key, std::span<uint64_t> maybe,
                   Unanswered& unanswered);
  void InsertBlocks(const Batch& batch, uint64_t first_key, Unanswered& unanswered);
  std::vector<Undone> InsertBlocksOnce(const Batch& batch, std::span<const size_t> which);
  void InsertSegments(const Batch& batch, uint64_t first_key, Unanswered& unanswered);
  void Read(std::span<SegmentRead> reads);
  std::vector<Undone> ReadOnce(std::span<SegmentRead> reads, std::span<const size_t> which);
  void Merge(std::span<SegmentMerge> merges);
  std::vector<Undone> MergeOnce(std::span<const SegmentMerge> merges,
                                std::span<const size_t> which);
  std::optional<Problem> RefreshOnce(const CopyOf& copy);
  Command GetCommand(const std::string& key) const;
  RebuildState RebuildStateOf(const Command& record);  // `record`: GET of it, as it was answered
  // One look; `problem`: the first that may be over with another descriptor.
  Info LookAtAll(std::optional<Problem>& problem);
  void Unlink(uint64_t generation);

  ClientOptions options_;
  std::string name_;
  Client client_;
  Descriptor descriptor_;
  HashSpec hash_;
  bool masters_only_ = false;    // what a replica has is no answer: its master is asked
  std::vector<uint64_t> marks_;  // of segments, as far as they are known; empty: 0
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_FILTER_FILTER_IMPL_H_
