#include "redis/src/filter/segment_transfer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "redis/src/filter/segment_state.h"
#include "redis/src/filter/waves.h"
#include "tamis/detail/str_cat.h"

namespace tamis::redis {
namespace {

// Sets the problems of segments that were not done. The text of each problem names the segment.
void SetProblems(std::span<SegmentBits> segments, std::span<Undone> undone) {
  for (Undone& one : undone) {
    SegmentBits& segment = segments[one.index];
    one.problem.text.insert(0, InSegment(segment.segment));
    segment.problem = std::move(one.problem);
  }
}

void Unite(std::span<std::byte> blocks, std::string_view bits) {
  for (size_t at = 0; at < bits.size(); at += sizeof(uint64_t)) {
    uint64_t a = 0, b = 0;
    std::memcpy(&a, blocks.data() + at, sizeof(a));
    std::memcpy(&b, bits.data() + at, sizeof(b));
    a |= b;
    std::memcpy(blocks.data() + at, &a, sizeof(a));
  }
}

}  // namespace

void SegmentTransfer::Read(std::span<SegmentBits> reads) {
  std::vector<Undone> undone = retry_.Run(
      0, reads.size(), [&](std::span<const size_t> which) { return ReadOnce(reads, which); });
  SetProblems(reads, undone);
}

std::vector<Undone> SegmentTransfer::ReadOnce(std::span<SegmentBits> reads,
                                              std::span<const size_t> which) {
  std::vector<Command> commands;
  commands.reserve(which.size());
  for (const size_t i : which) commands.push_back(commands_.ReadSegment(reads[i].segment));
  commands_.Run(commands);
  std::vector<Undone> undone;
  for (size_t c = 0; c < which.size(); ++c) {
    SegmentBits& read = reads[which[c]];
    if (std::optional<Problem> problem = commands_.ProblemOfSegment(commands[c], read.segment)) {
      undone.push_back({which[c], std::move(*problem)});
    } else {
      read.bits = std::move(commands[c].reply.text);
      read.bits.resize(state_.layout().BytesOf(read.segment));
    }
  }
  return undone;
}

void SegmentTransfer::Merge(std::span<SegmentBits> merges) {
  std::vector<Undone> undone = retry_.Run(
      0, merges.size(), [&](std::span<const size_t> which) { return MergeOnce(merges, which); });
  SetProblems(merges, undone);
}

std::vector<Undone> SegmentTransfer::MergeOnce(std::span<const SegmentBits> merges,
                                               std::span<const size_t> which) {
  std::vector<std::string> deltas(which.size());
  std::vector<Command> commands;
  commands.reserve(which.size());
  for (size_t c = 0; c < which.size(); ++c) {
    const SegmentBits& merge = merges[which[c]];
    commands.push_back(commands_.WriteDelta(merge.segment, merge.bits, deltas[c]));
  }
  commands_.Run(commands);
  std::vector<Undone> undone;
  std::vector<size_t> written;
  for (size_t c = 0; c < which.size(); ++c) {
    if (std::optional<Problem> problem = ProblemOf(commands[c])) {
      undone.push_back({which[c], std::move(*problem)});
    } else {
      written.push_back(c);
    }
  }

  commands.clear();
  for (const size_t c : written) {
    const uint64_t segment = merges[which[c]].segment;
    commands.push_back(
        commands_.Write(AllScripts().merge, AllScripts().merge_both, segment, {deltas[c]}));
    commands.back().Append(ExpiryText(state_.descriptor()));
    commands.back().work = state_.layout().BytesOf(segment);
    if (state_.MarkOf(segment) == 0) continue;
    commands.back().work *= 2;
    commands.back().Append(kBoth);
  }
  commands_.RunWrites(commands);
  std::vector<Command> removals;
  for (size_t k = 0; k < written.size(); ++k) {
    const size_t i = which[written[k]];
    const Reply& reply = commands[k].reply;
    // If the delta was merged, but the reply was lost, the repeated merge finds no delta. Then the
    // same bits are merged again, which changes nothing.
    if (commands[k].answered && reply.IsInteger() && reply.integer == kNoDelta) {
      undone.push_back({i, Problem{ErrorCode::kUnavailable,
                                   "the bits to merge disappear again and again", Remedy::kAgain}});
    } else if (std::optional<Problem> problem =
                   commands_.ProblemOfWrite(commands[k], merges[i].segment)) {
      undone.push_back({i, std::move(*problem)});
      if (commands[k].answered) {
        removals.push_back(Command(commands[k].slot(), {"UNLINK", deltas[written[k]]}, 0));
      }
    }
  }
  // Removes deltas that were not merged. If that fails, they expire.
  if (!removals.empty()) commands_.Run(removals);
  return undone;
}

SplitBlockBloomFilter SegmentTransfer::Pull(const MemoryOptions& memory) {
  state_.RequireNotOver();
  const Layout& layout = state_.layout();
  SplitBlockBloomFilter filter = state_.MakeLocal(memory);
  const std::span<std::byte> blocks = filter.mutable_view().mutable_blocks();
  const auto cost = [&](size_t s) { return layout.BytesOf(s); };
  for (Patience patience = retry_.NewPatience();;) {
    const uint64_t generation = state_.generation();
    InWaves(layout.segments(), cost, [&](size_t begin, size_t end) {
      std::vector<SegmentBits> reads;
      for (size_t s = begin; s < end; ++s) reads.push_back({s, {}, {}});
      if (generation == state_.generation()) Read(reads);
      for (const SegmentBits& read : reads) {
        if (read.problem) state_.Throw(*read.problem);
      }
      if (generation != state_.generation()) return;
      for (const SegmentBits& read : reads) {
        const uint64_t offset = layout.FirstBlock(read.segment) * split_block::kBlockBytes;
        std::memcpy(blocks.data() + offset, read.bits.data(), read.bits.size());
      }
    });
    if (generation == state_.generation()) return filter;
    if (!patience.OnceMore(1)) state_.Throw(RebuiltAgainAndAgain());
  }
}

void SegmentTransfer::Push(const SplitBlockBloomFilter& filter) {
  state_.RequireNotOver();
  const Layout& layout = state_.layout();
  if (filter.num_blocks() != layout.blocks || filter.hash() != state_.hash()) {
    throw Error(ErrorCode::kIncompatible,
                detail::StrCat("the filter \"", state_.name(), "\" has ", layout.blocks,
                               " blocks, and the filter to add has ", filter.num_blocks(),
                               "; blocks and hash must be equal"));
  }
  const std::span<const std::byte> blocks = filter.view().blocks();
  const auto cost = [&](size_t s) { return 2 * layout.BytesOf(s); };
  // This problem is thrown at the end, when all bits are in the filter, but maybe not on enough
  // replicas.
  std::optional<Problem> not_durable;
  InWaves(layout.segments(), cost, [&](size_t begin, size_t end) {
    std::vector<SegmentBits> merges;
    for (size_t s = begin; s < end; ++s) {
      const auto bytes =
          blocks.subspan(layout.FirstBlock(s) * split_block::kBlockBytes, layout.BytesOf(s));
      const bool empty =
          std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
      if (empty) continue;
      merges.push_back(
          {s, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), {}});
    }
    Merge(merges);
    for (const SegmentBits& merge : merges) {
      if (!merge.problem) continue;
      if (merge.problem->code != ErrorCode::kNotDurable) state_.Throw(*merge.problem);
      if (!not_durable) not_durable = merge.problem;
    }
  });
  if (not_durable) state_.Throw(*not_durable);
}

void SegmentTransfer::Refresh(const LocalCopy& copy) {
  state_.RequireNotOver();
  for (Patience patience = retry_.NewPatience();;) {
    if (copy.generation != state_.generation()) {
      copy.change([&] {
        copy.begin_generation();
        const std::span<std::byte> blocks = copy.blocks.mutable_view().mutable_blocks();
        std::fill(blocks.begin(), blocks.end(), std::byte{0});
      });
      copy.versions.assign(state_.layout().segments(), 0);
      copy.generation = state_.generation();
    }
    const std::optional<Problem> problem = RefreshOnce(copy);
    if (!problem) return;
    if (problem->remedy != Remedy::kDescriptor) state_.Throw(*problem);
    const bool once_more = patience.OnceMore(1);
    if (!retry_.ReadDescriptorAgain()) state_.Throw(*problem);
    if (!once_more) state_.Throw(RebuiltAgainAndAgain());
  }
}

// Reads from masters only: the copy must have all keys that were inserted before the refresh began,
// and a replica may lack some of them.
std::optional<Problem> SegmentTransfer::RefreshOnce(const LocalCopy& copy) {
  const Layout& layout = state_.layout();
  std::optional<Problem> first;
  const auto is_good = [&](std::optional<Problem> problem, uint64_t segment) {
    if (!problem) return true;
    problem->text.insert(0, InSegment(segment));
    if (!first) first = std::move(problem);
    return false;
  };
  std::vector<Command> states;
  for (uint64_t s = 0; s < layout.segments(); ++s) {
    states.push_back(commands_.ReadState(s));
    states.back().reads = false;
  }
  commands_.Run(states);
  std::vector<uint64_t> changed;
  for (uint64_t s = 0; s < layout.segments(); ++s) {
    if (!is_good(commands_.ProblemOfState(states[s], s), s)) return first;
    const SegmentState state = *ParseState(states[s].reply.text);
    state_.SetMark(s, state.mark);
    // An odd version always differs, because the copy stores only even ones.
    if (state.version != copy.versions[s]) changed.push_back(s);
  }

  const auto cost = [&](size_t i) { return layout.BytesOf(changed[i]); };
  InWaves(changed.size(), cost, [&](size_t begin, size_t end) {
    if (first) return;
    std::vector<Command> settles, reads;
    for (size_t i = begin; i < end; ++i) {
      settles.push_back(commands_.Settle(changed[i]));
      reads.push_back(commands_.ReadSegment(changed[i]));
      reads.back().reads = false;
    }
    commands_.Run(settles);
    commands_.Run(reads);
    for (size_t i = begin; i < end; ++i) {
      const uint64_t segment = changed[i];
      const Command& read = reads[i - begin];
      // If the mark has changed, Settle did nothing, and the version is unchanged. The bits are
      // still valid.
      if (!is_good(commands_.ProblemOfState(settles[i - begin], segment), segment)) return;
      if (!is_good(commands_.ProblemOfSegment(read, segment), segment)) return;
      const uint64_t length = layout.BytesOf(segment);
      copy.change([&] {
        const std::span<std::byte> blocks = copy.blocks.mutable_view().mutable_blocks();
        Unite(blocks.subspan(layout.FirstBlock(segment) * split_block::kBlockBytes, length),
              std::string_view(read.reply.text).substr(0, length));
      });
      // The version that was read with these bits. It is odd if bits may have changed since Settle.
      const uint64_t version = ParseState(commands_.StateOf(read, segment))->version;
      copy.versions[segment] = version % 2 == 0 ? version : 0;
      ++copy.read;
    }
  });
  return first;
}

}  // namespace tamis::redis
