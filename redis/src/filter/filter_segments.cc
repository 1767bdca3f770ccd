// Whole segments: read, merged, and all of them from and into a local filter.
#include <algorithm>
#include <cstring>
#include <utility>

#include "redis/src/client/patience.h"
#include "redis/src/filter/filter_impl.h"
#include "redis/src/filter/scripts.h"
#include "redis/src/filter/segment_state.h"
#include "tamis/detail/str_cat.h"

namespace tamis::redis {
namespace {

using Words = std::initializer_list<std::string_view>;

// How long bits that wait to be merged stay on a server, if whoever wrote them is gone.
constexpr const char* kDeltaSeconds = "120";

}  // namespace

Command SplitBlockFilter::Impl::ReadCommand(uint64_t segment) const {
  const SegmentKey key = KeyOf(segment);
  const uint64_t length = descriptor_.layout.BytesOf(segment);
  return Command(key.slot, {"GETRANGE", key.text, "0", StateOffsets(length).end},
                 length + kStateWindow);
}

void SplitBlockFilter::Impl::Throw(const Problem& problem) const {
  throw Error(problem.code, "the filter \"" + name_ + "\": " + problem.text);
}

void SplitBlockFilter::Impl::Read(std::span<SegmentRead> reads) {
  for (Undone& undone : Follow(0, reads.size(), [&](std::span<const size_t> which) {
         return ReadOnce(reads, which);
       })) {
    SegmentRead& read = reads[undone.index];
    undone.problem.text.insert(0, InSegment(read.segment));
    read.problem = std::move(undone.problem);
  }
}

std::vector<SplitBlockFilter::Impl::Undone> SplitBlockFilter::Impl::ReadOnce(
    std::span<SegmentRead> reads, std::span<const size_t> which) {
  std::vector<Command> commands;
  commands.reserve(which.size());
  for (const size_t i : which) {
    commands.push_back(ReadCommand(reads[i].segment));
    commands.back().reads = !masters_only_;
  }
  client_.Run(commands);
  std::vector<Undone> undone;
  for (size_t c = 0; c < which.size(); ++c) {
    SegmentRead& read = reads[which[c]];
    const uint64_t length = descriptor_.layout.BytesOf(read.segment);
    std::optional<Problem> problem = ProblemOf(commands[c]);
    Reply& reply = commands[c].reply;
    if (!problem && !reply.IsString()) {
      problem = Problem{ErrorCode::kCorrupt, "the server gives " + ReplyText(reply)};
    }
    if (!problem) {
      const std::string_view text = reply.text;
      const std::string_view window = text.size() < length ? "" : text.substr(length);
      problem = ProblemOfState(window, descriptor_.generation, length);
    }
    if (problem) {
      undone.push_back({which[c], std::move(*problem)});
    } else {
      read.bits = std::move(reply.text);
      read.bits.resize(length);
    }
  }
  return undone;
}

void SplitBlockFilter::Impl::Merge(std::span<SegmentMerge> merges) {
  for (Undone& undone : Follow(0, merges.size(), [&](std::span<const size_t> which) {
         return MergeOnce(merges, which);
       })) {
    SegmentMerge& merge = merges[undone.index];
    undone.problem.text.insert(0, InSegment(merge.segment));
    merge.problem = std::move(undone.problem);
  }
}

std::vector<SplitBlockFilter::Impl::Undone> SplitBlockFilter::Impl::MergeOnce(
    std::span<const SegmentMerge> merges, std::span<const size_t> which) {
  std::vector<std::string> deltas;
  std::vector<Command> commands;
  commands.reserve(which.size());
  for (const size_t i : which) {
    const uint32_t slot = descriptor_.layout.SlotOf(merges[i].segment);
    deltas.push_back(DeltaKey(name_, slot, client_.RandomNumber()));
    commands.emplace_back(slot, Words{"SET", deltas.back(), merges[i].bits, "EX", kDeltaSeconds},
                          0);
  }
  client_.Run(commands);
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
        WriteCommand(AllScripts().merge, AllScripts().merge_both, segment, {deltas[c]}));
    commands.back().Append(ExpiryText(descriptor_));
    commands.back().work = descriptor_.layout.BytesOf(segment);
    if (MarkOf(segment) == 0) continue;
    commands.back().work *= 2;
    commands.back().Append(kBoth);
  }
  RunWrites(commands);
  std::vector<Command> removals;
  for (size_t k = 0; k < written.size(); ++k) {
    const size_t i = which[written[k]];
    const Reply& reply = commands[k].reply;
    // Also if it was merged and the reply lost: then it is merged twice, which changes nothing.
    if (commands[k].answered && reply.IsInteger() && reply.integer == kNoDelta) {
      undone.push_back(
          {i, Problem{ErrorCode::kUnavailable, "what was to be merged is gone again and again",
                      Remedy::kAgain}});
    } else if (std::optional<Problem> problem = ProblemOfWrite(commands[k], merges[i].segment)) {
      undone.push_back({i, std::move(*problem)});
      if (commands[k].answered) {
        removals.emplace_back(commands[k].slot(), Words{"UNLINK", deltas[written[k]]}, 0);
      }
    }
  }
  // Of segments that take nothing. Those that cannot be removed end by themselves.
  if (!removals.empty()) client_.Run(removals);
  return undone;
}

SplitBlockBloomFilter SplitBlockFilter::Impl::MakeLocal(const MemoryOptions& memory) const {
  return SplitBlockBloomFilter({.capacity = descriptor_.capacity,
                                .fpr = descriptor_.fpr,
                                .bytes = descriptor_.layout.bytes(),
                                .hash = hash_,
                                .memory = memory});
}

SplitBlockBloomFilter SplitBlockFilter::Impl::Pull(const MemoryOptions& memory) {
  RequireNotOver();
  const Layout& layout = descriptor_.layout;
  SplitBlockBloomFilter filter = MakeLocal(memory);
  const std::span<std::byte> blocks = filter.mutable_view().mutable_blocks();
  const auto cost = [&](size_t s) { return layout.BytesOf(s); };
  for (Patience patience(client_);;) {
    const uint64_t generation = descriptor_.generation;
    InWaves(layout.segments(), cost, [&](size_t begin, size_t end) {
      std::vector<SegmentRead> reads;
      for (size_t s = begin; s < end; ++s) reads.push_back({s, {}, {}});
      if (generation == descriptor_.generation) Read(reads);
      for (const SegmentRead& read : reads) {
        if (read.problem) Throw(*read.problem);
      }
      if (generation != descriptor_.generation) return;
      for (const SegmentRead& read : reads) {
        const uint64_t offset = layout.FirstBlock(read.segment) * split_block::kBlockBytes;
        std::memcpy(blocks.data() + offset, read.bits.data(), read.bits.size());
      }
    });
    if (generation == descriptor_.generation) return filter;
    if (!patience.OnceMore(1)) Throw(RebuiltAgainAndAgain());
  }
}

void SplitBlockFilter::Impl::Push(const SplitBlockBloomFilter& filter) {
  RequireNotOver();
  const Layout& layout = descriptor_.layout;
  if (filter.num_blocks() != layout.blocks || filter.hash() != hash_) {
    throw Error(ErrorCode::kIncompatible,
                detail::StrCat("the filter \"", name_, "\" has ", layout.blocks,
                               " blocks, and the one to be added ", filter.num_blocks(),
                               "; blocks and hash have to be equal"));
  }
  const std::span<const std::byte> blocks = filter.view().blocks();
  const auto cost = [&](size_t s) { return 2 * layout.BytesOf(s); };
  // Thrown when all is in: what it says is no more than that.
  std::optional<Problem> not_durable;
  InWaves(layout.segments(), cost, [&](size_t begin, size_t end) {
    std::vector<SegmentMerge> merges;
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
    for (const SegmentMerge& merge : merges) {
      if (!merge.problem) continue;
      if (merge.problem->code != ErrorCode::kNotDurable) Throw(*merge.problem);
      if (!not_durable) not_durable = merge.problem;
    }
  });
  if (not_durable) Throw(*not_durable);
}

}  // namespace tamis::redis
