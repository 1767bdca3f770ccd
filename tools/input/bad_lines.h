// Lines that hold no key: how many there are, and whether they are too many.
#ifndef TAMIS_TOOLS_INPUT_BAD_LINES_H_
#define TAMIS_TOOLS_INPUT_BAD_LINES_H_

#include <cstdint>
#include <optional>
#include <string>

namespace tamis::tools {

// How many lines may be bad.
struct MaxBad {
  std::optional<uint64_t> count;  // so many, or ...
  double share = 0.01;            // ... this share of the lines, and one in any case

  uint64_t Of(uint64_t lines) const;
};

class LineCounts {
 public:
  // What must be so for a command to go on.
  struct Needs {
    MaxBad max_bad;
    bool some_key = false;    // an input without any line will not do either
    std::string hint;         // to be told if not: what may be wrong with the input
    std::string consequence;  // and what follows
  };

  void AddKeys(uint64_t keys) { keys_ += keys; }
  // Whether it is one of the first of its sort, which are shown.
  bool AddBad() { return ++bad_ <= kShown; }
  bool AddEmpty() { return ++empty_ <= kShown; }

  // Lines without a key, and how many of these are empty: no error, and none that max_bad counts.
  uint64_t without_key() const { return bad_ + empty_; }
  uint64_t empty() const { return empty_; }

  // Says on standard error how many lines there were without a key, if there were any. Throws
  // Error(kInvalidArgument) if too many were bad, or none gave a key.
  void Conclude(const Needs& needs) const;

 private:
  static constexpr uint64_t kShown = 5;

  uint64_t keys_ = 0;
  uint64_t bad_ = 0;
  uint64_t empty_ = 0;
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_BAD_LINES_H_
