#include "tools/input/bad_lines.h"

#include <tamis/error.h>

#include <algorithm>

#include "tools/output/console.h"
#include "tools/output/format.h"

namespace tamis::tools {

uint64_t MaxBad::Of(uint64_t lines) const {
  if (count) return *count;
  return std::max<uint64_t>(1, static_cast<uint64_t>(share * static_cast<double>(lines)));
}

void LineCounts::Conclude(const Needs& needs) const {
  if (without_key() > 0) {
    const bool all_shown = bad_ <= kShown && empty_ <= kShown;
    Say((bad_ == 0 ? Counted(empty_, "empty line") : Counted(without_key(), "bad line")) +
        " skipped" + (bad_ > 0 && empty_ > 0 ? ", " + WithCommas(empty_) + " of them empty" : "") +
        (all_shown ? "" : Format(" (the first %d are shown)", static_cast<int>(kShown))));
  }
  const auto fail = [&](const std::string& problem) {
    throw Error(ErrorCode::kInvalidArgument, problem + needs.consequence + needs.hint);
  };
  const uint64_t lines = keys_ + bad_;
  if (keys_ == 0 && (bad_ > 0 || needs.some_key)) {
    fail(lines + empty_ == 0 ? "the input is empty"
                             : "none of " + Counted(lines + empty_, "line") + " contains a key");
  }
  const uint64_t allowed = needs.max_bad.Of(lines);
  if (bad_ > allowed) {
    fail(WithCommas(bad_) + " of " + WithCommas(lines) + " lines" +
         (empty_ > 0 ? ", not counting empty lines," : "") + " are bad, and --max-bad allows " +
         WithCommas(allowed));
  }
}

}  // namespace tamis::tools
