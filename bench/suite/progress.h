// A line that shows the current measurement and the estimated time left.
#ifndef TAMIS_BENCH_SUITE_PROGRESS_H_
#define TAMIS_BENCH_SUITE_PROGRESS_H_

#include <string>

namespace tamis::bench {

// Writes to standard error. On a terminal it rewrites one line. Otherwise it prints a line at
// intervals.
class Progress {
 public:
  explicit Progress(bool enabled);
  ~Progress();

  // `seconds_left` is an estimate, or negative if unknown.
  void Show(const std::string& what, double seconds_left);
  // Prints a permanent line.
  void Say(const std::string& line);

 private:
  void Erase();

  bool enabled_;
  bool terminal_;
  bool shown_ = false;
  double last_ns_ = 0;
};

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_PROGRESS_H_
