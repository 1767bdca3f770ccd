#include "tools/options/signals.h"

#include <tamis/file/saving.h>

#include <atomic>
#include <optional>
#include <string_view>

#include "tools/os/file.h"
#include "tools/os/interrupt.h"
#include "tools/output/console.h"
#include "tools/output/format.h"
#include "tools/output/output_file.h"

namespace tamis::tools {
namespace {

// The file that a job will replace, and the messages to print before and after it has.
struct Watched {
  std::string path;
  std::optional<os::FileStatus> status;  // std::nullopt if the file does not exist
  std::string unchanged;
  std::string saved;

  // A signal handler may call it.
  bool Unchanged() const { return os::StatusOf(path) == status; }
};

std::atomic<const Watched*> watched = nullptr;
static_assert(std::atomic<const Watched*>::is_always_lock_free);

// A signal handler calls it.
void RemoveAndTell() {
  RemoveTemporaryFiles();
  Output::DiscardUnfinished();
  const Watched* const output = watched.load();
  if (output == nullptr) return;
  std::string_view message;
  if (output->Unchanged()) message = output->unchanged;
  if (IsOutputSaved()) message = output->saved;
  if (!message.empty()) os::WriteMessageBeforeEnd(message);
}

}  // namespace

void RemoveTemporaryFilesOnSignals() { os::CallBeforeEnd(RemoveAndTell); }

void EndIfStopped() {
  if (!os::IsInputStopped()) return;
  watched = nullptr;  // the job is done and reported
  os::EndByRequest();
}

void SayIfSavedOnSignals(const std::string& path) {
  static Watched output;
  output.path = path;
  output.status = os::StatusOf(path);
  // Erases a progress bar, which only a terminal shows.
  const std::string before =
      std::string(os::IsTerminal(os::kStandardError) ? "\r\033[K" : "") + "tamis: interrupted; ";
  const std::string unchanged = output.status ? " is unchanged\n" : " was not written\n";
  std::string name = Printable(path);
  const size_t most =
      os::kMaxEndMessageBytes - before.size() - unchanged.size();  // longer than " is saved\n"
  if (name.size() > most) {
    size_t cut = name.size() - most + 3;
    while (cut < name.size() && (name[cut] & 0xC0) == 0x80) ++cut;  // inside a character of UTF-8
    name.replace(0, cut, "...");
  }
  output.unchanged = before + name + unchanged;
  output.saved = before + name + " is saved\n";
  watched = &output;
}

}  // namespace tamis::tools
