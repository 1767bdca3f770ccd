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
  // If the job may save shards: the path of the second shard, which does not exist, and the message
  // to print if it then exists without the first. Otherwise both are empty.
  std::string second_shard;
  std::string incomplete;

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
  if (output->Unchanged()) {
    const bool incomplete = !output->incomplete.empty() && os::StatusOf(output->second_shard);
    message = incomplete ? output->incomplete : output->unchanged;
  }
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
  const auto message = [&](const std::string& after) {
    std::string name = Printable(path);
    const size_t most = os::kMaxEndMessageBytes - before.size() - after.size() - 1;
    if (name.size() > most) {
      size_t cut = name.size() - most + 3;
      while (cut < name.size() && (name[cut] & 0xC0) == 0x80) ++cut;  // inside a character of UTF-8
      name.replace(0, cut, "...");
    }
    return before + name + after + "\n";
  };
  output.unchanged = message(output.status ? " is unchanged" : " was not written");
  output.saved = message(" is saved");
  output.second_shard = output.incomplete = "";
  if (!output.status && path.ends_with(".0000")) {
    output.second_shard = path.substr(0, path.size() - 1) + '1';
    if (!os::StatusOf(output.second_shard)) {
      output.incomplete = message(" was not written; remove .0001 and all other shards");
    }
  }
  watched = &output;
}

}  // namespace tamis::tools
