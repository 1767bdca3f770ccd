// What has changed on the servers, for a copy.
#include <algorithm>
#include <cstring>
#include <utility>

#include "redis/src/client/patience.h"
#include "redis/src/filter/filter_impl.h"
#include "redis/src/filter/scripts.h"
#include "redis/src/filter/segment_state.h"

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

std::unique_ptr<SplitBlockFilter::Impl> SplitBlockFilter::Impl::Another() const {
  auto another = std::make_unique<Impl>(servers(), name_, options_);
  another->Adopt(descriptor_);
  another->hash_ = hash_;
  return another;
}

void SplitBlockFilter::Impl::Refresh(const CopyOf& copy) {
  RequireNotOver();
  for (Patience patience(client_);;) {
    if (copy.generation != descriptor_.generation) {
      copy.change([&] {
        copy.begin_anew();
        const std::span<std::byte> blocks = copy.blocks.mutable_view().mutable_blocks();
        std::fill(blocks.begin(), blocks.end(), std::byte{0});
      });
      copy.versions.assign(descriptor_.layout.segments(), 0);
      copy.generation = descriptor_.generation;
    }
    const std::optional<Problem> problem = RefreshOnce(copy);
    if (!problem) return;
    if (problem->remedy != Remedy::kDescriptor) Throw(*problem);
    const bool once_more = patience.OnceMore(1);
    if (!ReadDescriptorAgain()) Throw(*problem);
    if (!once_more) Throw(RebuiltAgainAndAgain());
  }
}

// Replicas are not asked: they may have less than what the version says.
std::optional<Problem> SplitBlockFilter::Impl::RefreshOnce(const CopyOf& copy) {
  const Layout& layout = descriptor_.layout;
  std::optional<Problem> first;
  const auto is_good = [&](std::optional<Problem> problem, uint64_t segment) {
    if (!problem) return true;
    problem->text.insert(0, InSegment(segment));
    if (!first) first = std::move(problem);
    return false;
  };
  std::vector<Command> states;
  for (uint64_t s = 0; s < layout.segments(); ++s) {
    states.push_back(StateCommand(s));
    states.back().reads = false;
  }
  client_.Run(states);
  std::vector<uint64_t> changed;
  for (uint64_t s = 0; s < layout.segments(); ++s) {
    if (!is_good(ProblemOfWindow(states[s], s), s)) return first;
    const SegmentState state = *ParseState(states[s].reply.text);
    LearnMark(s, state.mark);
    // Odd ones are never kept.
    if (state.version != copy.versions[s]) changed.push_back(s);
  }

  const auto cost = [&](size_t i) { return layout.BytesOf(changed[i]); };
  InWaves(changed.size(), cost, [&](size_t begin, size_t end) {
    if (first) return;
    std::vector<Command> settles, reads;
    for (size_t i = begin; i < end; ++i) {
      settles.push_back(SettleCommand(changed[i]));
      reads.push_back(ReadCommand(changed[i]));
    }
    client_.Run(settles);
    client_.Run(reads);
    for (size_t i = begin; i < end; ++i) {
      const uint64_t segment = changed[i];
      // Of one that got another mark the bits are read, and its version stays what it is.
      const Command& command = reads[i - begin];
      const uint64_t length = layout.BytesOf(segment);
      if (!is_good(ProblemOfWindow(settles[i - begin], segment), segment)) return;
      if (!is_good(ProblemOf(command), segment)) return;
      const std::string_view text = command.reply.text;
      const std::string_view window = text.size() < length ? "" : text.substr(length);
      if (!is_good(ProblemOfState(window, descriptor_.generation, length), segment)) return;
      copy.change([&] {
        const std::span<std::byte> blocks = copy.blocks.mutable_view().mutable_blocks();
        Unite(blocks.subspan(layout.FirstBlock(segment) * split_block::kBlockBytes, length),
              text.substr(0, length));
      });
      // That of the very bits, which may have changed again.
      const uint64_t version = ParseState(window)->version;
      copy.versions[segment] = version % 2 == 0 ? version : 0;
      ++copy.read;
    }
  });
  return first;
}

}  // namespace tamis::redis
