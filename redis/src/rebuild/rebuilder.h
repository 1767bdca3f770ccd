// The client that rebuilds a filter: FORMAT.md, "Rebuilding".
#ifndef TAMIS_REDIS_SRC_REBUILD_REBUILDER_H_
#define TAMIS_REDIS_SRC_REBUILD_REBUILDER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "redis/src/filter/filter_impl.h"
#include "redis/src/rebuild/rebuild_record.h"
#include "tamis/redis/rebuild.h"

namespace tamis::redis {

class Rebuilder {
 public:
  // Throws Error(kInvalidArgument) for options out of range.
  Rebuilder(SplitBlockFilter& filter, const RebuildOptions& options, const std::stop_token& stop);

  RebuildResult Run(const RebuildSource& source);
  bool EndAbandoned();

  // Of the source: throws if it should stop, and sees to it that others know that it goes on.
  void GoOn(uint64_t keys, uint64_t total);

 private:
  using Time = std::chrono::steady_clock::time_point;
  // Does a part of a step for these segments, and gives those for which it has to be done again as
  // replicas may not have it, or as they were not as expected.
  using Part = std::function<std::vector<size_t>(std::span<const size_t>)>;
  enum class Taken : uint8_t { kYes, kLost };

  // Of segments, at most so many and so many bytes.
  static constexpr uint64_t kMaxPortion = 16;
  static constexpr uint64_t kPortionBytes = uint64_t{32} << 20;

  // ---- Ownership ----

  // Makes this the owner of a rebuild, and ends what another has left first. False if none is to
  // be begun and there is none.
  bool Acquire(bool begin_one);
  // `found`: the text that is there.
  Taken Take(const std::string& found, const RebuildRecord& mine, uint64_t my_former_owner = 0);
  // The text of the record on the servers, "" if there is none.
  std::string ReadRecord();
  // That on the servers, which may be another filter's; none if it was removed. Throws if it cannot
  // be had.
  std::optional<Descriptor> ReadDescriptor();
  void Renew();
  void RenewIfDue();
  void EndRecord();
  // What there is of the rebuild whose owner this has just become.
  void EndTaken();
  // After a failure before the switch: as it was before, as far as that can be reached.
  void GiveUp();
  void Release();

  // ---- Steps ----

  void MakeNext();
  void MarkOld();
  void Merge(const SplitBlockBloomFilter& local);
  std::vector<size_t> MergePart(const SplitBlockBloomFilter& local, std::span<const size_t> which);
  // Makes the next generation that of the descriptor.
  void Switch();
  // All that follows the switch.
  void Finish();
  void AwaitGrace();
  void RollBack();
  // Of the old generation: whether one of the segments is closed.
  bool SomeAreClosed();

  // Calls `part` for portions of all segments until all of it is done.
  void InPortions(RebuildStep step, const Part& part);
  void UntilDone(size_t begin, size_t end, const Part& part);
  // Runs them, and waits for all replicas that the cluster shows, and those that the client wants.
  void RunDurably(std::span<Command> commands);
  void Report(RebuildStep step, uint64_t done, uint64_t total);

  uint64_t segments() const { return impl_.descriptor().layout.segments(); }
  uint64_t LengthOf(uint64_t segment) const { return impl_.descriptor().layout.BytesOf(segment); }
  std::string Mine() const { return RecordText(record_); }
  uint64_t NewGeneration();
  // Of a segment of a generation. `removed`: the generation whose segment goes with that, or 0.
  Command MarkCommand(uint64_t segment, uint64_t generation, uint64_t from, uint64_t to,
                      uint64_t removed) const;
  // Throws as Impl::RunOne.
  int64_t RunForNumber(Command command);
  [[noreturn]] void ThrowIn(uint64_t segment, const Problem& problem) const;
  [[noreturn]] void ThrowTakenOver() const;
  [[noreturn]] void ThrowInPlace(const Error& error) const;

  SplitBlockFilter::Impl& impl_;
  const RebuildOptions& options_;
  const std::stop_token stop_;
  RebuildRecord record_;  // of which this is the owner
  Time renewed_{};
  bool switched_ = false;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_REBUILD_REBUILDER_H_
