// The `tamis` command: runs its sub-commands and turns their failures into exit statuses.
#include <tamis/error.h>
#include <tamis/version.h>

#include <cstdlib>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/commands/commands.h"
#include "tools/input/json_field.h"
#include "tools/input/unpacker.h"
#include "tools/options/exit_codes.h"
#include "tools/options/signals.h"
#include "tools/os/file.h"
#include "tools/os/process.h"
#include "tools/output/console.h"
#include "tools/output/output_file.h"

namespace tamis::tools {
namespace {

constexpr char kFooter[] =
    "Examples:\n"
    "  tamis demo phones                             billions of phone numbers, from nothing\n"
    "  tamis build -o seen.tamis urls.txt            a filter from a file of lines\n"
    "  tamis query seen.tamis new.txt > known.txt    which of these lines may be in it?\n"
    "  tamis dedup urls.txt > unique.txt             each line once; loses 1 new line in 10^6\n"
    "  tamis plan --n 5e9 --fpr 0.01                 how large would a filter be?\n"
    "`tamis COMMAND --help` describes a command, with examples.\n"
    "\n"
    "Environment:\n"
    "  TAMIS_BACKEND         kernels to use: a name that `tamis backends` lists\n"
    "  TAMIS_THREADS         number of threads\n"
    "  TAMIS_REDIS_URL       URL of the servers of `tamis redis`\n"
    "  TAMIS_REDIS_PASSWORD  password of these servers\n"
    "\n"
    "Exit status:\n"
    "  0  done\n"
    "  1  no match (query --any)\n"
    "  2  wrong usage or bad input\n"
    "  3  input or output failed, or a file is corrupt\n"
    "  4  saved, but a power cut may undo it, or the report on it failed\n";

// Lists which inputs this build can read with optional libraries.
std::string VersionText() {
  const auto by = [](const std::string& library) {
    return library.empty() ? "no (built without its library)" : "with " + library;
  };
  return "tamis " TAMIS_VERSION_STRING "\nunpacks gzip: " + by(GzipLibrary()) +
         "\nunpacks zstd: " + by(ZstdLibrary()) + "\nreads JSON lines: " + by(JsonLibrary());
}

int Run(int argc, char** argv) {
  const CommandLine program(
      "tamis",
      "tamis: is this key in that set? Approximate-membership filters for sets of billions\n"
      "of keys. They never answer \"no\" for a key that is in the set.",
      VersionText());
  program.Footer(kFooter);
  std::vector<Command> commands = {
      AddBuild(program),    AddQuery(program),      AddDedup(program),  AddErase(program),
      AddInfo(program),     AddVerify(program),     AddMerge(program),  AddPlan(program),
      AddBackends(program), AddDemoPhones(program), AddImport(program), AddExport(program),
  };
  for (Command& command : AddBank(program)) commands.push_back(std::move(command));
  for (Command& command : AddParquet(program)) commands.push_back(std::move(command));
  for (Command& command : AddRedis(program)) commands.push_back(std::move(command));
  if (const std::optional<int> status = program.Parse(argc, argv)) return *status;
  for (const Command& command : commands) {
    if (command.line.given()) return command.run();
  }
  Say("give a command, such as `tamis demo phones` (see `tamis --help`)");
  return kUsage;
}

// Returns the exit status of a command that failed with `failure`.
ExitCode StatusOf(ExitCode failure) { return IsOutputSaved() ? kSaved : failure; }

int RunAndReport(int argc, char** argv) {
  try {
    return Run(argc, argv);
  } catch (const OutputClosed&) {
    return StatusOf(kFailure);
  } catch (const Error& error) {
    Say(error.what());
    return StatusOf(ExitCodeFor(error.code()));
  } catch (const std::bad_alloc&) {
    Say("out of memory");
    return StatusOf(kUsage);
  } catch (const std::exception& error) {
    Say(error.what());
    return StatusOf(kFailure);
  }
}

std::terminate_handler terminate_by_default = nullptr;

// A terminate handler. Some destructors allocate memory, for example the destructor of JSON values.
// Destructors cannot throw, so the program ends here if they run out of memory.
[[noreturn]] void SayOutOfMemoryOrTerminate() {
  if (const std::exception_ptr exception = std::current_exception()) {
    try {
      std::rethrow_exception(exception);
    } catch (const std::bad_alloc&) {
      Say("out of memory");
      std::_Exit(StatusOf(kUsage));
    } catch (...) {
    }
  }
  terminate_by_default();
  std::abort();
}

void EndByOutOfMemory() { terminate_by_default = std::set_terminate(SayOutOfMemoryOrTerminate); }

}  // namespace
}  // namespace tamis::tools

int main(int argc, char** argv) {
  tamis::tools::os::PrepareStandardStreams();
  tamis::tools::RemoveTemporaryFilesOnSignals();
  tamis::tools::os::FailAtFileSizeLimit();
  tamis::tools::EndByOutOfMemory();
  return tamis::tools::RunAndReport(argc, argv);
}
