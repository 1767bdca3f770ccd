// Counts lines without a key, and compares their number with the limit of --max-bad.
#ifndef TAMIS_TOOLS_INPUT_BAD_LINES_H_
#define TAMIS_TOOLS_INPUT_BAD_LINES_H_

#include <cstdint>
#include <optional>
#include <string>

namespace tamis::tools {

// The number of lines that may be bad: `count` if set, otherwise `share` of the lines, at least 1.
struct MaxBad {
  std::optional<uint64_t> count;
  double share = 0.01;

  uint64_t Of(uint64_t lines) const;
};

class LineCounts {
 public:
  // Requirements for a command to continue.
  struct Needs {
    MaxBad max_bad;
    bool some_key = false;    // an input without keys is an error even if no line is bad
    std::string hint;         // added to the error: what may be wrong with the input
    std::string consequence;  // added to the error, such as "; nothing was saved"
  };

  void AddKeys(uint64_t keys) { keys_ += keys; }
  // Count a line. Return true for the first kShown lines, which the caller reports.
  bool AddBad() { return ++bad_ <= kShown; }
  bool AddEmpty() { return ++empty_ <= kShown; }

  // Returns the number of bad lines and empty lines. Only bad lines count for `max_bad`.
  uint64_t without_key() const { return bad_ + empty_; }
  uint64_t empty() const { return empty_; }

  // If lines had no key, prints their number on standard error. Throws Error(kInvalidArgument)
  // - if no line had a key, and either some lines were bad or `needs.some_key` is set
  // - if more lines were bad than `needs.max_bad` allows
  void Conclude(const Needs& needs) const;

 private:
  static constexpr uint64_t kShown = 5;

  uint64_t keys_ = 0;
  uint64_t bad_ = 0;
  uint64_t empty_ = 0;
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_BAD_LINES_H_
