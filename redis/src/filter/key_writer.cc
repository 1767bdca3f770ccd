#include "redis/src/filter/key_writer.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "redis/src/filter/cost.h"
#include "redis/src/filter/scripts.h"
#include "redis/src/filter/waves.h"

namespace tamis::redis {
namespace {

// Maximum number of blocks in one script. A server runs nothing else during a script: about 2 ms.
constexpr size_t kBlocksOfScript = 1024;

}  // namespace

size_t KeyWriter::Insert(const Keys& keys) {
  state_.RequireNotOver();
  Unanswered unanswered;
  size_t inserted = 0;
  for (size_t first = 0; first < keys.size(); first += kMaxBatch) {
    const Keys some = keys.Slice(first, std::min(kMaxBatch, keys.size() - first));
    const Batch batch(some, state_.hash(), state_.layout());
    if (PlanRoute(state_.layout(), Operation::kInsert, batch.size(), options_.route).route ==
        Route::kBlocks) {
      WriteBlocks(batch, first, unanswered);
    } else {
      WriteSegments(batch, first, unanswered);
    }
    inserted += batch.size();
  }
  if (unanswered.keys().empty()) return inserted;
  unanswered.Throw(state_, keys.size(),
                   unanswered.problem()->code == ErrorCode::kNotDurable
                       ? "may be lost if a master fails"
                       : "may not have been inserted");
}

void KeyWriter::WriteBlocks(const Batch& batch, uint64_t first_key, Unanswered& unanswered) {
  const auto cost = [&](size_t i) { return batch.Hashes(i).size() * sizeof(BlockMask); };
  InWaves(batch.segments().size(), cost, [&](size_t begin, size_t end) {
    std::vector<Undone> undone = retry_.Run(
        begin, end, [&](std::span<const size_t> which) { return WriteBlocksOnce(batch, which); });
    unanswered.Add(batch, undone, first_key);
  });
}

std::vector<Undone> KeyWriter::WriteBlocksOnce(const Batch& batch, std::span<const size_t> which) {
  const Layout& layout = state_.layout();
  const std::vector<uint64_t>& segments = batch.segments();
  std::vector<size_t> parts;  // for each command, the index of its segment
  std::vector<Command> commands;
  for (const size_t i : which) {
    const std::vector<BlockMask> masks =
        MasksOf(batch.Hashes(i), layout, layout.FirstBlock(segments[i]));
    for (size_t first = 0; first < masks.size(); first += kBlocksOfScript) {
      const Scripts& all = AllScripts();
      commands.push_back(
          options_.durable_replicas == 0
              ? commands_.Write(all.insert, all.insert_both, segments[i], {})
              : commands_.Write(all.durable_insert, all.durable_insert_both, segments[i], {}));
      for (size_t m = first; m < std::min(masks.size(), first + kBlocksOfScript); ++m) {
        const uint64_t at = uint64_t{masks[m].number} * split_block::kBlockBytes;
        commands.back().Append(std::to_string(at));
        commands.back().Append(std::to_string(at + split_block::kBlockBytes - 1));
        commands.back().Append(masks[m].Bytes());
      }
      parts.push_back(i);
    }
  }
  commands_.RunWrites(commands);
  std::vector<Undone> undone;
  for (size_t c = 0; c < commands.size(); ++c) {
    std::optional<Problem> problem = commands_.ProblemOfWrite(commands[c], segments[parts[c]]);
    if (!problem) continue;
    // One entry for all scripts of a segment, with the worst of their problems.
    if (undone.empty() || undone.back().index != parts[c]) {
      undone.push_back({parts[c], std::move(*problem)});
    } else if (IsWorse(*problem, undone.back().problem)) {
      undone.back().problem = std::move(*problem);
    }
  }
  return undone;
}

void KeyWriter::WriteSegments(const Batch& batch, uint64_t first_key, Unanswered& unanswered) {
  const Layout& layout = state_.layout();
  const std::vector<uint64_t>& segments = batch.segments();
  // The bits are in memory twice: here and in the command.
  const auto cost = [&](size_t i) { return 2 * layout.BytesOf(segments[i]); };
  InWaves(segments.size(), cost, [&](size_t begin, size_t end) {
    std::vector<SegmentBits> merges;
    for (size_t i = begin; i < end; ++i) {
      SegmentBits merge{segments[i], std::string(layout.BytesOf(segments[i]), '\0'), {}};
      const uint64_t first_block = layout.FirstBlock(segments[i]);
      for (const uint64_t h : batch.Hashes(i)) {
        char* const bytes =
            merge.bits.data() +
            split_block::kBlockBytes * (split_block::BlockIndex32(h, layout.blocks) - first_block);
        uint32_t block[split_block::kWords];
        std::memcpy(block, bytes, sizeof(block));
        split_block::BlockInsert(block, h);
        std::memcpy(bytes, block, sizeof(block));
      }
      merges.push_back(std::move(merge));
    }
    transfer_.Merge(merges);
    for (size_t i = begin; i < end; ++i) {
      const std::optional<Problem>& problem = merges[i - begin].problem;
      if (problem) unanswered.Add(batch, i, first_key, *problem);
    }
  });
}

}  // namespace tamis::redis
