#include "redis/src/filter/key_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "redis/src/filter/cost.h"
#include "redis/src/filter/waves.h"

namespace tamis::redis {
namespace {

// Memory for one GETRANGE of a block with its reply, in bytes.
constexpr uint64_t kRangeBytes = 512;

// Maximum number of keys in a batch if the caller has chosen Route::kBlocks. That route sends a
// command for each key, even if all keys are in one segment. Without that choice, PlanRoute takes
// Route::kSegments for such keys.
constexpr size_t kMaxBlocksBatch = size_t{1} << 16;

bool BlockOfBytesContains(const char* bytes, uint64_t hash) {
  uint32_t block[split_block::kWords];
  std::memcpy(block, bytes, sizeof(block));
  return split_block::BlockContains(block, hash);
}

void SetBit(std::span<uint64_t> bits, uint64_t i) { bits[i / 64] |= uint64_t{1} << (i % 64); }

}  // namespace

void KeyReader::Query(const Keys& keys, std::span<uint64_t> maybe) {
  Unanswered unanswered;
  const size_t most = options_.route == Route::kBlocks ? kMaxBlocksBatch : kMaxBatch;
  for (size_t first = 0; first < keys.size(); first += most) {
    const Keys some = keys.Slice(first, std::min(most, keys.size() - first));
    const Batch batch(some, state_.hash(), state_.layout());
    if (state_.IsOver()) {
      const Problem over{ErrorCode::kUnavailable, "the filter has reached its deadline"};
      for (size_t i = 0; i < batch.segments().size(); ++i) unanswered.Add(batch, i, first, over);
    } else if (PlanRoute(state_.layout(), Operation::kContains, batch.size(), options_.route)
                   .route == Route::kBlocks) {
      ReadBlocks(batch, first, maybe, unanswered);
    } else {
      ReadSegments(batch, first, maybe, unanswered);
    }
  }
  for (const uint64_t key : unanswered.keys()) SetBit(maybe, key);
  if (unanswered.keys().empty() || options_.unavailable == Unavailable::kMaybe) return;
  unanswered.Throw(state_, keys.size(), "have no answer");
}

void KeyReader::ReadBlocks(const Batch& batch, uint64_t first_key, std::span<uint64_t> maybe,
                           Unanswered& unanswered) {
  const auto cost = [&](size_t i) { return (batch.Hashes(i).size() + 1) * kRangeBytes; };
  InWaves(batch.segments().size(), cost, [&](size_t begin, size_t end) {
    std::vector<Undone> undone = retry_.Run(begin, end, [&](std::span<const size_t> which) {
      return ReadBlocksOnce(batch, which, first_key, maybe);
    });
    unanswered.Add(batch, undone, first_key);
  });
}

// Sends the commands for the blocks of a segment first, and then the command for its state.
std::vector<Undone> KeyReader::ReadBlocksOnce(const Batch& batch, std::span<const size_t> which,
                                              uint64_t first_key, std::span<uint64_t> maybe) {
  const Layout& layout = state_.layout();
  const std::vector<uint64_t>& segments = batch.segments();
  std::vector<Command> commands;
  for (const size_t i : which) {
    const SegmentKey key = state_.KeyOf(segments[i]);
    const uint64_t first_block = layout.FirstBlock(segments[i]);
    for (const uint64_t h : batch.Hashes(i)) {
      const uint64_t block = split_block::BlockIndex32(h, layout.blocks) - first_block;
      commands.push_back(commands_.ReadBlock(key, block));
    }
    commands.push_back(commands_.ReadState(segments[i]));
  }
  commands_.Run(commands);
  std::vector<Undone> undone;
  std::span<const Command> left = commands;
  for (const size_t i : which) {
    const auto hashes = batch.Hashes(i);
    const auto indices = batch.Indices(i);
    const auto blocks = left.first(hashes.size());
    std::optional<Problem> problem = commands_.ProblemOfState(left[hashes.size()], segments[i]);
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

void KeyReader::ReadSegments(const Batch& batch, uint64_t first_key, std::span<uint64_t> maybe,
                             Unanswered& unanswered) {
  const Layout& layout = state_.layout();
  const std::vector<uint64_t>& segments = batch.segments();
  const auto cost = [&](size_t i) { return layout.BytesOf(segments[i]); };
  InWaves(segments.size(), cost, [&](size_t begin, size_t end) {
    std::vector<SegmentBits> reads;
    for (size_t i = begin; i < end; ++i) reads.push_back({segments[i], {}, {}});
    transfer_.Read(reads);
    for (size_t i = begin; i < end; ++i) {
      const SegmentBits& read = reads[i - begin];
      if (read.problem) {
        unanswered.Add(batch, i, first_key, *read.problem);
        continue;
      }
      const auto indices = batch.Indices(i);
      const auto hashes = batch.Hashes(i);
      const uint64_t first_block = layout.FirstBlock(read.segment);
      for (size_t k = 0; k < hashes.size(); ++k) {
        const uint64_t block = split_block::BlockIndex32(hashes[k], layout.blocks) - first_block;
        if (BlockOfBytesContains(read.bits.data() + block * split_block::kBlockBytes, hashes[k])) {
          SetBit(maybe, first_key + indices[k]);
        }
      }
    }
  });
}

}  // namespace tamis::redis
