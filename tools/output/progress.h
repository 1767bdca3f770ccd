// A bar on standard error that shows how far a long job has come.
#ifndef TAMIS_TOOLS_OUTPUT_PROGRESS_H_
#define TAMIS_TOOLS_OUTPUT_PROGRESS_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace tamis::tools {

// Drawn ten times a second at most, and only where standard error is a terminal. Advance may be
// called by any number of threads; everything else belongs to one.
class Progress {
 public:
  enum class Unit { kBytes, kKeys };

  // `total` is 0 if it is not known: then there is a rate, and no bar and no time left.
  Progress(std::string label, Unit unit, uint64_t total, bool quiet);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // Erases the bar.
  ~Progress();

  void Advance(uint64_t amount);

  // The bar as it looks after `seconds`, without control characters.
  std::string Line(uint64_t done, double seconds) const;

  // What takes a bar off the terminal, to be written before a message; empty when there is none.
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

// A line on a terminal for as long as a job takes of which nothing more can be told.
class Notice {
 public:
  Notice(const std::string& text, bool quiet);
  Notice(const Notice&) = delete;
  Notice& operator=(const Notice&) = delete;
  ~Notice();
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_OUTPUT_PROGRESS_H_
