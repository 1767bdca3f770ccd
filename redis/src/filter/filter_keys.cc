// Calls with keys: by blocks or by whole segments.
#include <algorithm>
#include <cstring>
#include <utility>

#include "redis/src/filter/filter_impl.h"
#include "redis/src/filter/scripts.h"
#include "redis/src/filter/segment_state.h"
#include "tamis/detail/str_cat.h"
#include "tamis/unanswered_error.h"

namespace tamis::redis {
namespace {

using Words = std::initializer_list<std::string_view>;

// A server does nothing else while it runs a script: of so many blocks, for about 2 ms.
constexpr size_t kBlocksOfScript = 1024;

// Of a GETRANGE with its answer, in memory.
constexpr uint64_t kRangeBytes = 512;

// Keys of a batch whose blocks are read whatever that costs: there is a command for each of them,
// also if they are all in one segment. Else so many keys of a segment go by the segment.
constexpr size_t kMaxBlocksBatch = size_t{1} << 16;

bool BlockOfBytesContains(const char* bytes, uint64_t hash) {
  uint32_t block[split_block::kWords];
  std::memcpy(block, bytes, sizeof(block));
  return split_block::BlockContains(block, hash);
}

void SetBit(std::span<uint64_t> bits, uint64_t i) { bits[i / 64] |= uint64_t{1} << (i % 64); }

}  // namespace

void SplitBlockFilter::Impl::Unanswered::Add(uint64_t first_key, std::span<const uint32_t> indices,
                                             const Problem& why) {
  for (const uint32_t i : indices) keys.push_back(first_key + i);
  // Keys that may be missing on replicas alone do not hide those that may not be in.
  if (!problem || IsWorse(why, *problem)) problem = why;
}

void SplitBlockFilter::Impl::Throw(Unanswered& unanswered, size_t keys, const char* what) const {
  std::sort(unanswered.keys.begin(), unanswered.keys.end());
  const std::string message =
      detail::StrCat("the filter \"", name_, "\": ", unanswered.keys.size(), " of ", keys, " keys ",
                     what, ": ", unanswered.problem->text);
  throw UnansweredError(unanswered.problem->code, message, std::move(unanswered.keys));
}

void SplitBlockFilter::Impl::Ask(const Keys& keys, std::span<uint64_t> maybe) {
  Unanswered unanswered;
  const size_t most = options_.route == Route::kBlocks ? kMaxBlocksBatch : kMaxBatch;
  for (size_t first = 0; first < keys.size(); first += most) {
    const Keys some = keys.Slice(first, std::min(most, keys.size() - first));
    const Batch batch(some, hash_, descriptor_.layout);
    if (IsOver()) {
      const Problem over{ErrorCode::kUnavailable, "it has reached its deadline"};
      for (size_t i = 0; i < batch.segments().size(); ++i) {
        unanswered.Add(first, batch.Indices(i), over);
      }
    } else if (PlanRoute(Operation::kContains, batch.size()).route == Route::kBlocks) {
      AskBlocks(batch, first, maybe, unanswered);
    } else {
      AskSegments(batch, first, maybe, unanswered);
    }
  }
  for (const uint64_t key : unanswered.keys) SetBit(maybe, key);
  if (unanswered.keys.empty() || options_.unavailable == Unavailable::kMaybe) return;
  Throw(unanswered, keys.size(), "have no answer");
}

// Blocks, and after those of a segment its state, on the same way.
void SplitBlockFilter::Impl::AskBlocks(const Batch& batch, uint64_t first_key,
                                       std::span<uint64_t> maybe, Unanswered& unanswered) {
  const std::vector<uint64_t>& segments = batch.segments();
  const auto cost = [&](size_t i) { return (batch.Hashes(i).size() + 1) * kRangeBytes; };
  InWaves(segments.size(), cost, [&](size_t begin, size_t end) {
    std::vector<Undone> undone = Follow(begin, end, [&](std::span<const size_t> which) {
      return AskBlocksOnce(batch, which, first_key, maybe);
    });
    AddUndone(batch, first_key, undone, unanswered);
  });
}

std::vector<SplitBlockFilter::Impl::Undone> SplitBlockFilter::Impl::AskBlocksOnce(
    const Batch& batch, std::span<const size_t> which, uint64_t first_key,
    std::span<uint64_t> maybe) {
  const Layout& layout = descriptor_.layout;
  const std::vector<uint64_t>& segments = batch.segments();
  std::vector<Command> commands;
  for (const size_t i : which) {
    const SegmentKey key = KeyOf(segments[i]);
    const uint64_t first_block = layout.FirstBlock(segments[i]);
    for (const uint64_t h : batch.Hashes(i)) {
      const uint64_t at =
          (split_block::BlockIndex(h, layout.blocks) - first_block) * split_block::kBlockBytes;
      commands.emplace_back(key.slot,
                            Words{"GETRANGE", key.text, std::to_string(at),
                                  std::to_string(at + split_block::kBlockBytes - 1)},
                            split_block::kBlockBytes);
      commands.back().reads = !masters_only_;
    }
    commands.push_back(StateCommand(segments[i]));
  }
  client_.Run(commands);
  std::vector<Undone> undone;
  std::span<const Command> left = commands;
  for (const size_t i : which) {
    const auto hashes = batch.Hashes(i);
    const auto indices = batch.Indices(i);
    const auto blocks = left.first(hashes.size());
    std::optional<Problem> problem = ProblemOfWindow(left[hashes.size()], segments[i]);
    left = left.subspan(hashes.size() + 1);
    for (size_t k = 0; k < blocks.size() && !problem; ++k) {
      problem = ProblemOfString(blocks[k], split_block::kBlockBytes);
    }
    if (problem) {
      undone.push_back({i, std::move(*problem)});
      continue;
    }
    for (size_t k = 0; k < blocks.size(); ++k) {
      if (BlockOfBytesContains(blocks[k].reply.text.data(), hashes[k])) {
        SetBit(maybe, first_key + indices[k]);
      }
    }
  }
  return undone;
}

void SplitBlockFilter::Impl::AskSegments(const Batch& batch, uint64_t first_key,
                                         std::span<uint64_t> maybe, Unanswered& unanswered) {
  const Layout& layout = descriptor_.layout;
  const std::vector<uint64_t>& segments = batch.segments();
  const auto cost = [&](size_t i) { return layout.BytesOf(segments[i]); };
  InWaves(segments.size(), cost, [&](size_t begin, size_t end) {
    std::vector<SegmentRead> reads;
    for (size_t i = begin; i < end; ++i) reads.push_back({segments[i], {}, {}});
    Read(reads);
    for (size_t i = begin; i < end; ++i) {
      const SegmentRead& read = reads[i - begin];
      const auto indices = batch.Indices(i);
      const auto hashes = batch.Hashes(i);
      if (read.problem) {
        unanswered.Add(first_key, indices, *read.problem);
        continue;
      }
      const uint64_t first_block = layout.FirstBlock(read.segment);
      for (size_t k = 0; k < hashes.size(); ++k) {
        const uint64_t block = split_block::BlockIndex(hashes[k], layout.blocks) - first_block;
        if (BlockOfBytesContains(read.bits.data() + block * split_block::kBlockBytes, hashes[k])) {
          SetBit(maybe, first_key + indices[k]);
        }
      }
    }
  });
}

size_t SplitBlockFilter::Impl::Insert(const Keys& keys) {
  RequireNotOver();
  Unanswered unanswered;
  size_t inserted = 0;
  for (size_t first = 0; first < keys.size(); first += kMaxBatch) {
    const Keys some = keys.Slice(first, std::min(kMaxBatch, keys.size() - first));
    const Batch batch(some, hash_, descriptor_.layout);
    if (PlanRoute(Operation::kInsert, batch.size()).route == Route::kBlocks) {
      InsertBlocks(batch, first, unanswered);
    } else {
      InsertSegments(batch, first, unanswered);
    }
    inserted += batch.size();
  }
  if (!unanswered.keys.empty())
    Throw(unanswered, keys.size(),
          unanswered.problem->code == ErrorCode::kNotDurable ? "may be lost if a master fails"
                                                             : "may not have been inserted");
  return inserted;
}

void SplitBlockFilter::Impl::InsertBlocks(const Batch& batch, uint64_t first_key,
                                          Unanswered& unanswered) {
  const std::vector<uint64_t>& segments = batch.segments();
  const auto cost = [&](size_t i) { return batch.Hashes(i).size() * sizeof(BlockMask); };
  InWaves(segments.size(), cost, [&](size_t begin, size_t end) {
    std::vector<Undone> undone = Follow(
        begin, end, [&](std::span<const size_t> which) { return InsertBlocksOnce(batch, which); });
    AddUndone(batch, first_key, undone, unanswered);
  });
}

std::vector<SplitBlockFilter::Impl::Undone> SplitBlockFilter::Impl::InsertBlocksOnce(
    const Batch& batch, std::span<const size_t> which) {
  const Layout& layout = descriptor_.layout;
  const std::vector<uint64_t>& segments = batch.segments();
  std::vector<size_t> parts;
  std::vector<Command> commands;
  for (const size_t i : which) {
    const std::vector<BlockMask> masks =
        MasksOf(batch.Hashes(i), layout, layout.FirstBlock(segments[i]));
    for (size_t first = 0; first < masks.size(); first += kBlocksOfScript) {
      commands.push_back(
          WriteCommand(AllScripts().insert, AllScripts().insert_both, segments[i], {}));
      for (size_t m = first; m < std::min(masks.size(), first + kBlocksOfScript); ++m) {
        const uint64_t at = uint64_t{masks[m].number} * split_block::kBlockBytes;
        commands.back().Append(std::to_string(at));
        commands.back().Append(std::to_string(at + split_block::kBlockBytes - 1));
        commands.back().Append(masks[m].Bytes());
      }
      parts.push_back(i);
    }
  }
  RunWrites(commands);
  std::vector<Undone> undone;
  for (size_t c = 0; c < commands.size(); ++c) {
    std::optional<Problem> problem = ProblemOfWrite(commands[c], segments[parts[c]]);
    if (!problem) continue;
    // Of all scripts of a segment together.
    if (undone.empty() || undone.back().index != parts[c]) {
      undone.push_back({parts[c], std::move(*problem)});
    } else if (IsWorse(*problem, undone.back().problem)) {
      undone.back().problem = std::move(*problem);
    }
  }
  return undone;
}

void SplitBlockFilter::Impl::InsertSegments(const Batch& batch, uint64_t first_key,
                                            Unanswered& unanswered) {
  const Layout& layout = descriptor_.layout;
  const std::vector<uint64_t>& segments = batch.segments();
  // Once here and once in the command.
  const auto cost = [&](size_t i) { return 2 * layout.BytesOf(segments[i]); };
  InWaves(segments.size(), cost, [&](size_t begin, size_t end) {
    std::vector<SegmentMerge> merges;
    for (size_t i = begin; i < end; ++i) {
      SegmentMerge merge{segments[i], std::string(layout.BytesOf(segments[i]), '\0'), {}};
      const uint64_t first_block = layout.FirstBlock(segments[i]);
      for (const uint64_t h : batch.Hashes(i)) {
        char* const bytes =
            merge.bits.data() +
            split_block::kBlockBytes * (split_block::BlockIndex(h, layout.blocks) - first_block);
        uint32_t block[split_block::kWords];
        std::memcpy(block, bytes, sizeof(block));
        split_block::BlockInsert(block, h);
        std::memcpy(bytes, block, sizeof(block));
      }
      merges.push_back(std::move(merge));
    }
    Merge(merges);
    for (size_t i = begin; i < end; ++i) {
      const std::optional<Problem>& problem = merges[i - begin].problem;
      if (problem) unanswered.Add(first_key, batch.Indices(i), *problem);
    }
  });
}

}  // namespace tamis::redis
