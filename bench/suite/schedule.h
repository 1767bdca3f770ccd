// Chooses the points on the axes that a run measures.
#ifndef TAMIS_BENCH_SUITE_SCHEDULE_H_
#define TAMIS_BENCH_SUITE_SCHEDULE_H_

#include <optional>
#include <regex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/suite/axes.h"
#include "bench/suite/subject.h"

namespace tamis::bench {

// The last three compare speeds on the default backend. kPeers: the peers, and the kinds that
// they have. kKinds: all kinds of this library. kLive: concurrent kinds beside the plain ones.
enum class Mode : uint8_t { kQuick, kDefault, kFull, kPeers, kKinds, kLive };
inline constexpr Mode kModes[] = {Mode::kQuick, Mode::kDefault, Mode::kFull,
                                  Mode::kPeers, Mode::kKinds,   Mode::kLive};

// Returns "quick", "default", "full", "peers", "kinds" or "live".
std::string_view ModeName(Mode mode) noexcept;

constexpr bool ComparesSpeeds(Mode mode) {
  return mode == Mode::kPeers || mode == Mode::kKinds || mode == Mode::kLive;
}

// A regular expression that selects the names that match. If it begins with "-", it selects the
// names that do not match the rest of the expression. An empty expression selects all names.
class NameFilter {
 public:
  // Throws std::invalid_argument if `filter` is not a valid regular expression.
  explicit NameFilter(const std::string& filter);
  bool Keeps(const std::string& name) const;

 private:
  bool negative_ = false;
  std::optional<std::regex> pattern_;
};

// A subject that takes turns in the memory of a size class, with huge pages or without.
struct Contender {
  Subject* subject = nullptr;
  bool huge_pages = true;
  std::vector<Case> builds = {};  // the last one builds the filter for `others`
  std::vector<Case> others = {};
  uint64_t bytes = 0;  // size of the filter
};

struct ScheduleInput {
  Mode mode = Mode::kDefault;
  std::span<const Backend* const> backends;  // the default one first
  unsigned processors = 1;
  std::string filter;  // the text of a NameFilter
};

// Returns the numbers of threads to measure: the powers of two below the number of processors, and
// that number.
std::vector<unsigned> ThreadCounts(unsigned processors);

// Returns the contenders of a run at one size. Quick and default runs vary one axis at a time
// around one point: one thread, half of the queries hits, integers, huge pages, the default
// backend. A full run measures combinations. At fixed sizes all three measure only the first kind,
// at few points. Runs that compare speeds measure bulk queries and builds of integers, also on two
// threads, and calls of one key. Leaves out contenders without a case. In mode kLive, also leaves
// out kinds without a concurrent counterpart. Throws std::invalid_argument if the filter is not a
// valid regular expression.
std::vector<Contender> ContendersFor(const SizeClass& size, const Subjects& subjects,
                                     const ScheduleInput& input);

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_SCHEDULE_H_
