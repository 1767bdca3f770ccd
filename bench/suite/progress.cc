#include "bench/suite/progress.h"

#include <algorithm>
#include <cstdio>

#include "bench/os/system.h"
#include "bench/timing.h"

namespace tamis::bench {
namespace {

constexpr double kTerminalNs = 0.1e9;  // minimum time between two lines
constexpr double kLogNs = 10e9;

}  // namespace

Progress::Progress(bool enabled) : enabled_(enabled), terminal_(os::StandardErrorIsTerminal()) {}

Progress::~Progress() { Erase(); }

void Progress::Erase() {
  if (shown_ && terminal_) std::fprintf(stderr, "\r\033[K");
  shown_ = false;
}

void Progress::Show(const std::string& what, double seconds_left) {
  const double now = NowNs(Time::kWall);
  if (!enabled_ || now - last_ns_ < (terminal_ ? kTerminalNs : kLogNs)) return;
  last_ns_ = now;
  char left[64] = "";
  if (seconds_left >= 0) {
    const int seconds = static_cast<int>(seconds_left + 0.5);
    std::snprintf(left, sizeof(left), "about %d:%02d left, ", seconds / 60, seconds % 60);
  }
  Erase();
  std::fprintf(stderr, "%s%s%s", left, what.c_str(), terminal_ ? "" : "\n");
  std::fflush(stderr);
  shown_ = true;
}

void Progress::Say(const std::string& line) {
  Erase();
  std::fprintf(stderr, "%s\n", line.c_str());
}

}  // namespace tamis::bench
