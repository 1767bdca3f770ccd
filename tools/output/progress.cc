#include "tools/output/progress.h"

#include <tamis/units.h>

#include <algorithm>
#include <utility>

#include "tools/os/file.h"
#include "tools/output/format.h"

namespace tamis::tools {
namespace {

constexpr int64_t kDrawEveryMs = 100;
constexpr size_t kBarWidth = 24;

// Whether a Progress shows a bar on the terminal.
std::atomic<bool> visible = false;

void WriteError(const std::string& text) {
  os::Write(os::kStandardError, text.data(), text.size());
}

void Draw(const std::string& line) {
  WriteError("\r" + line + "\033[K");
  visible = true;
}

bool IsWatched(bool quiet) { return !quiet && os::IsTerminal(os::kStandardError); }

}  // namespace

Progress::Progress(std::string label, Unit unit, uint64_t total, bool quiet)
    : label_(std::move(label)), unit_(unit), total_(total), enabled_(IsWatched(quiet)) {}

Progress::~Progress() { WriteError(Erasure()); }

std::string Progress::Erasure() { return visible.exchange(false) ? "\r\033[K" : ""; }

void Progress::Advance(uint64_t amount) {
  const uint64_t done = done_.fetch_add(amount, std::memory_order_relaxed) + amount;
  if (!enabled_) return;
  const Clock::duration elapsed = Clock::now() - start_;
  const int64_t ms = std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count();
  int64_t due = next_draw_ms_.load(std::memory_order_relaxed);
  // The thread that sets the next time draws. The others continue to work.
  if (ms < due || !next_draw_ms_.compare_exchange_strong(due, ms + kDrawEveryMs)) return;
  Draw(Line(done, std::chrono::duration<double>(elapsed).count()));
}

std::string Progress::Line(uint64_t done, double seconds) const {
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  const std::string speed =
      unit_ == Unit::kBytes ? BytesText(rate) + "/s" : ShortCountText(rate) + " keys/s";
  if (total_ == 0) {
    const auto amount = static_cast<double>(done);
    return label_ + "  " +
           (unit_ == Unit::kBytes ? BytesText(amount) : ShortCountText(amount) + " keys") + "  " +
           speed;
  }
  // A file may have grown since its size was taken.
  const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
  const auto full = static_cast<size_t>(part * kBarWidth);
  std::string line = label_ + "  [" + std::string(full, '#') + std::string(kBarWidth - full, '.') +
                     Format("] %3.0f%%  ", 100 * part) + speed;
  if (rate > 0 && done < total_) {
    line += "  " + DurationText(static_cast<double>(total_ - done) / rate) + " left";
  }
  return line;
}

Notice::Notice(const std::string& text, bool quiet) {
  if (IsWatched(quiet)) Draw(Printable(text));
}

Notice::~Notice() { WriteError(Progress::Erasure()); }

}  // namespace tamis::tools
