#include "join/src/join_choice.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "join/src/join_part.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/layout/split_block.h"

namespace tamis {

const char* JoinFormName(JoinForm form) noexcept {
  switch (form) {
    case JoinForm::kNothing:
      return "nothing";
    case JoinForm::kList:
      return "list";
    case JoinForm::kBitmap:
      return "bitmap";
    case JoinForm::kBlocks:
      return "blocks";
  }
  return "unknown";
}

const char* JoinPlaceName(JoinPlace place) noexcept {
  switch (place) {
    case JoinPlace::kL2:
      return "L2";
    case JoinPlace::kL3:
      return "L3";
    case JoinPlace::kMemory:
      return "memory";
  }
  return "unknown";
}

namespace detail {
namespace {

// The time of a lookup in a list or bitmap, as a share of the time of a split-block lookup in a
// filter of the same size (bench/NOTES_JOIN.md).
constexpr double kListShare = 0.5;
constexpr double kBitmapShare = 0.6;

std::string Described(const JoinCandidate& candidate) {
  const bool blocks = candidate.form == JoinForm::kBlocks;
  return StrCat("a ", blocks ? "split-block filter" : JoinFormName(candidate.form), " of ",
                candidate.bytes, " bytes");
}

const char* PlaceName(JoinPlace place) noexcept {
  switch (place) {
    case JoinPlace::kL2:
      return "the second-level cache";
    case JoinPlace::kL3:
      return "the third-level cache";
    case JoinPlace::kMemory:
      return "memory";
  }
  return "memory";
}

JoinCandidate Candidate(const JoinLimits& limits, JoinForm form, uint64_t bytes, double share) {
  JoinCandidate candidate{.form = form, .bytes = bytes};
  candidate.place = bytes <= limits.l2_bytes   ? JoinPlace::kL2
                    : bytes <= limits.l3_bytes ? JoinPlace::kL3
                                               : JoinPlace::kMemory;
  candidate.ns_per_row = share * CostOfSize(limits.costs, bytes).contains_ns;
  if (bytes > limits.max_bytes) {
    candidate.error = StrCat("needs ", bytes, " bytes; max_bytes is ", limits.max_bytes);
  }
  return candidate;
}

JoinCandidate Impossible(JoinForm form, std::string_view why) {
  return {.form = form, .error = std::string(why)};
}

JoinCandidate BlocksFor(const JoinLimits& limits, uint64_t keys) {
  try {
    const uint64_t blocks = SplitBlockBlocks(std::max<uint64_t>(keys, 1), limits.fpr);
    if (blocks > split_block::kMaxBlocks32) {
      return Impossible(JoinForm::kBlocks, "needs more blocks than a part can have");
    }
    return Candidate(limits, JoinForm::kBlocks, blocks * split_block::kBlockBytes, 1);
  } catch (const Error& error) {  // more blocks than a filter can have
    return Impossible(JoinForm::kBlocks, error.what());
  }
}

JoinCandidate BitmapFor(const JoinLimits& limits, const std::optional<uint64_t>& span) {
  if (!span) return Impossible(JoinForm::kBitmap, "the range of the keys is unknown");
  // Avoids an overflow; no filter has that many bytes.
  const uint64_t words = *span >> 62 == 0 ? JoinBitmapWords(*span) : uint64_t{1} << 60;
  return Candidate(limits, JoinForm::kBitmap, words * sizeof(uint64_t), kBitmapShare);
}

JoinCandidate ListFor(const JoinLimits& limits, const JoinFacts& facts) {
  if (!facts.no_list.empty()) return Impossible(JoinForm::kList, facts.no_list);
  const uint64_t slots = limits.list_tables * FirstListSlots(facts.keys);
  return Candidate(limits, JoinForm::kList, slots * sizeof(uint64_t), kListShare);
}

bool Better(const JoinCandidate& a, const JoinCandidate& b) {
  if (a.possible() != b.possible()) return a.possible();
  if (a.place != b.place) return a.place < b.place;
  if (a.ns_per_row != b.ns_per_row) return a.ns_per_row < b.ns_per_row;
  return a.bytes < b.bytes;
}

}  // namespace

JoinLimits LimitsOf(const JoinFilterOptions& options, const Backend& backend) {
  JoinLimits limits = {.max_bytes = options.max_bytes,
                       .l2_bytes = options.l2_bytes,
                       .l3_bytes = options.l3_bytes,
                       .fpr = options.fpr,
                       .list_tables = options.key_type == JoinKeyType::kIntegers ? 2u : 1u,
                       .costs = {}};
  if (options.calibration != nullptr) {
    for (const Calibration::Point& point : options.calibration->points) {
      if (point.backend != backend.name || point.kind != SplitBlockBloomFilter::kKind) continue;
      limits.costs.push_back({point.filter_bytes, {.contains_ns = point.contains_ns}});
    }
  }
  // A typical machine. The same on all machines, so that their parts have the same layout.
  if (limits.costs.empty()) {
    limits.costs = {{uint64_t{256} << 10, {.contains_ns = 1}},
                    {uint64_t{16} << 20, {.contains_ns = 2.5}},
                    {uint64_t{256} << 20, {.contains_ns = 8}}};
  }
  return limits;
}

JoinChoice ChooseJoinForm(const JoinLimits& limits, const JoinFacts& facts) {
  JoinChoice choice;
  choice.candidates = {ListFor(limits, facts), BitmapFor(limits, facts.span),
                       BlocksFor(limits, facts.keys)};
  std::stable_sort(choice.candidates.begin(), choice.candidates.end(), Better);
  const JoinCandidate& best = choice.candidates.front();
  if (!best.possible()) {
    choice.reason =
        StrCat("no structure for ", facts.keys, " keys fits ", limits.max_bytes, " bytes");
    return choice;
  }
  choice.form = best.form;
  choice.reason = StrCat(Described(best), " fits ", PlaceName(best.place));
  const JoinCandidate& next = choice.candidates[1];
  if (next.possible() && next.place != best.place) {
    choice.reason += StrCat(", and ", Described(next), " does not");
  } else if (next.possible()) {
    choice.reason += StrCat(", and takes less time per row than ", Described(next));
  }
  return choice;
}

}  // namespace detail
}  // namespace tamis
