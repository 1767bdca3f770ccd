// Which points on the axes a run measures.
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

// The last three compare speeds on the default backend: of the default kind, the first static kind
// and the peers; of all kinds of this library; and of those that may be changed while others ask,
// beside the plain ones.
enum class Mode : uint8_t { kQuick, kDefault, kFull, kPeers, kKinds, kLive };
inline constexpr Mode kModes[] = {Mode::kQuick, Mode::kDefault, Mode::kFull,
                                  Mode::kPeers, Mode::kKinds,   Mode::kLive};

// "quick", "default", "full", "peers", "kinds", "live".
std::string_view ModeName(Mode mode) noexcept;

constexpr bool ComparesSpeeds(Mode mode) {
  return mode == Mode::kPeers || mode == Mode::kKinds || mode == Mode::kLive;
}

// A regular expression for the names of cases, which leaves out what does not match, or, if it
// begins with "-", what does; an empty one leaves out nothing.
class NameFilter {
 public:
  // Throws std::invalid_argument if it is no regular expression.
  explicit NameFilter(const std::string& filter);
  bool Keeps(const std::string& name) const;

 private:
  bool negative_ = false;
  std::optional<std::regex> pattern_;
};

// What takes turns in the memory of a size class: a subject, in huge pages or not.
struct Contender {
  Subject* subject = nullptr;
  bool huge_pages = true;
  std::vector<Case> builds = {};  // the last leaves the filter for the others
  std::vector<Case> others = {};
  uint64_t bytes = 0;  // of the filter
};

struct ScheduleInput {
  Mode mode = Mode::kDefault;
  std::span<const Backend* const> backends;  // the default one first
  unsigned processors = 1;
  std::string filter;  // for a NameFilter
};

// Numbers of threads to measure: powers of two below the number of processors, and that number.
std::vector<unsigned> ThreadCounts(unsigned processors);

// Quick and default runs vary one axis at a time around one point (one thread, half of the queries
// hits, integers, huge pages, the default backend); a full run measures combinations. At fixed
// sizes each of them measures the first kind alone, at few points. Runs that compare speeds look up
// and build integers in bulk, on two threads, and one key a call. Contenders without a case are
// left out, and of `live` those without a concurrent counterpart. Throws std::invalid_argument if
// the filter is no regular expression.
std::vector<Contender> ContendersFor(const SizeClass& size, const Subjects& subjects,
                                     const ScheduleInput& input);

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_SCHEDULE_H_
