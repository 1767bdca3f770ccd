// A line that says what is being measured and how long it will take.
#ifndef TAMIS_BENCH_SUITE_PROGRESS_H_
#define TAMIS_BENCH_SUITE_PROGRESS_H_

#include <string>

namespace tamis::bench {

// Writes to standard error: on a terminal one line over and over, else a line now and then.
class Progress {
 public:
  explicit Progress(bool enabled);
  ~Progress();

  // `seconds_left`: an estimate; negative: there is none.
  void Show(const std::string& what, double seconds_left);
  // A line of its own, which stays.
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
