// What has changed on the servers, for a copy.
#include <cstring>
#include <utility>

#include "redis/src/filter_impl.h"
#include "redis/src/scripts.h"
#include "redis/src/segment_state.h"

namespace tamis::redis {
namespace {

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

// Replicas are not asked: they may have less than what the version says.
uint64_t SplitBlockFilter::Impl::Refresh(SplitBlockBloomFilter& copy,
                                         std::span<uint64_t> versions) {
  RequireNotOver();
  const Layout& layout = descriptor_.layout;
  const auto require = [&](std::optional<Problem> problem, uint64_t segment) {
    if (!problem) return;
    problem->text.insert(0, InSegment(segment));
    Throw(*problem);
  };
  std::vector<Command> states;
  for (uint64_t s = 0; s < layout.segments(); ++s) {
    states.push_back(StateCommand(s));
    states.back().reads = false;
  }
  client_.Run(states);
  std::vector<uint64_t> changed;
  for (uint64_t s = 0; s < layout.segments(); ++s) {
    require(ProblemOfWindow(states[s], s), s);
    // Odd ones are never kept.
    if (ParseState(states[s].reply.text)->version != versions[s]) changed.push_back(s);
  }

  const std::span<std::byte> blocks = copy.mutable_view().mutable_blocks();
  const auto cost = [&](size_t i) { return layout.BytesOf(changed[i]); };
  InWaves(changed.size(), cost, [&](size_t begin, size_t end) {
    std::vector<Command> settles, reads;
    for (size_t i = begin; i < end; ++i) {
      settles.push_back(WriteCommand(AllScripts().settle, changed[i], {}, /*odd=*/false));
      reads.push_back(ReadCommand(changed[i]));
    }
    client_.Run(settles);
    client_.Run(reads);
    for (size_t i = begin; i < end; ++i) {
      const uint64_t segment = changed[i];
      // Of a marked segment the bits are read, and its version stays what it is.
      const Command& read = reads[i - begin];
      require(ProblemOfWindow(settles[i - begin], segment), segment);
      require(ProblemOf(read), segment);
      const std::string_view text = read.reply.text;
      const uint64_t length = layout.BytesOf(segment);
      const std::string_view window = text.size() < length ? "" : text.substr(length);
      require(ProblemOfState(window, descriptor_.generation, length), segment);
      Unite(blocks.subspan(layout.FirstBlock(segment) * split_block::kBlockBytes, length),
            text.substr(0, length));
      // That of the very bits, which may have changed again.
      const uint64_t version = ParseState(window)->version;
      versions[segment] = version % 2 == 0 ? version : 0;
    }
  });
  return changed.size();
}

}  // namespace tamis::redis
