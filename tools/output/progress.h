// A bar on standard error that shows how far a long job has come.
#ifndef TAMIS_TOOLS_OUTPUT_PROGRESS_H_
#define TAMIS_TOOLS_OUTPUT_PROGRESS_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace tamis::tools {

// A progress bar. It is drawn at most ten times a second, and only if standard error is a terminal.
// Any number of threads may call Advance. All other functions must be called by one thread.
class Progress {
 public:
  enum class Unit { kBytes, kKeys };

  // `total` is 0 if it is unknown. The line then has a rate, but no bar and no time left.
  Progress(std::string label, Unit unit, uint64_t total, bool quiet);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // Erases the bar.
  ~Progress();

  void Advance(uint64_t amount);

  // Returns the bar as it looks after `seconds`, without control characters.
  std::string Line(uint64_t done, double seconds) const;

  // Returns the characters that erase a bar, which must be written before a message. Returns ""
  // without a bar.
  static std::string Erasure();

 private:
  using Clock = std::chrono::steady_clock;

  const std::string label_;
  const Unit unit_;
  const uint64_t total_;
  const bool enabled_;
  const Clock::time_point start_ = Clock::now();
  std::atomic<uint64_t> done_ = 0;
  std::atomic<int64_t> next_draw_ms_ = 200;  // short jobs show no bar
};

// A line on a terminal, for jobs whose progress is unknown. It is shown as long as the object
// lives.
class Notice {
 public:
  Notice(const std::string& text, bool quiet);
  Notice(const Notice&) = delete;
  Notice& operator=(const Notice&) = delete;
  ~Notice();
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_OUTPUT_PROGRESS_H_
