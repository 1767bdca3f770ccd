// Counts lines without a key, and decides whether they are too many.
#ifndef TAMIS_TOOLS_INPUT_BAD_LINES_H_
#define TAMIS_TOOLS_INPUT_BAD_LINES_H_

#include <cstdint>
#include <optional>
#include <string>

namespace tamis::tools {

// The number of lines that may be bad.
struct MaxBad {
  std::optional<uint64_t> count;  // this number, if set
  double share = 0.01;            // otherwise this share of the lines, but at least one

  uint64_t Of(uint64_t lines) const;
};

class LineCounts {
 public:
  // Requirements for a command to continue.
  struct Needs {
    MaxBad max_bad;
    bool some_key = false;    // an input without lines is an error, too
    std::string hint;         // added to the error: what may be wrong with the input
    std::string consequence;  // added to the error: what was not done
  };

  void AddKeys(uint64_t keys) { keys_ += keys; }
  // Counts a line. Returns true for the first lines of their sort, which are shown.
  bool AddBad() { return ++bad_ <= kShown; }
  bool AddEmpty() { return ++empty_ <= kShown; }

  // Lines without a key. Empty lines among them are not errors, and `max_bad` does not count them.
  uint64_t without_key() const { return bad_ + empty_; }
  uint64_t empty() const { return empty_; }

  // Prints on standard error how many lines had no key, if any. Throws Error(kInvalidArgument) if
  // no line had a key and either some were bad or `needs.some_key` is set, and if more lines were
  // bad than `needs.max_bad` allows.
  void Conclude(const Needs& needs) const;

 private:
  static constexpr uint64_t kShown = 5;

  uint64_t keys_ = 0;
  uint64_t bad_ = 0;
  uint64_t empty_ = 0;
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_BAD_LINES_H_
