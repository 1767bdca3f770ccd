// The `tamis` command: tells its sub-commands apart and turns their failures into exit statuses.
#include <tamis/error.h>
#include <tamis/version.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "tools/commands.h"
#include "tools/console.h"
#include "tools/exit_codes.h"
#include "tools/help_formatter.h"

namespace tamis::tools {
namespace {

constexpr char kFooter[] =
    "Examples:\n"
    "  tamis demo phones                             billions of phone numbers, from nothing\n"
    "  tamis build -o seen.tamis urls.txt            a filter from a file of lines\n"
    "  tamis query seen.tamis new.txt > known.txt    which of these lines may be in it?\n"
    "  tamis plan --n 5e9 --fpr 0.01                 how large would a filter be?\n"
    "`tamis COMMAND --help` tells more, with examples.\n"
    "\n"
    "Environment:\n"
    "  TAMIS_BACKEND  kernels to use, a name that `tamis backends` lists\n"
    "  TAMIS_THREADS  number of threads\n"
    "\n"
    "Exit status: 0 done, 1 no match (query --any), 2 wrong usage or bad input, 3 a failure of\n"
    "input or output, or a corrupt file.\n";

// What the parser has to say: help and version to standard output, errors as ours.
int ReportParse(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::Success)) {
    std::string message = error.what();
    std::replace(message.begin(), message.end(), '\n', ' ');
    std::string command = "tamis";
    for (const CLI::App* sub : app.get_subcommands()) {
      command += " " + sub->get_name();
      for (const CLI::App* below : sub->get_subcommands()) command += " " + below->get_name();
    }
    Say(message + " (see `" + command + " --help`)");
    return kUsage;
  }
  std::ostringstream text;
  app.exit(error, text, text);
  Print(text.str());
  return kDone;
}

int Run(int argc, char** argv) {
  CLI::App app(
      "tamis: is this key in that set? Approximate-membership filters for sets of billions, that\n"
      "never answer \"no\" for a key that is in.",
      "tamis");
  app.formatter(std::make_shared<HelpFormatter>());  // sub-commands take it over
  app.footer(kFooter);
  app.set_version_flag("--version", "tamis " TAMIS_VERSION_STRING);
  app.require_subcommand(0, 1);
  const std::vector<Command> commands = {
      AddBuild(app), AddQuery(app), AddErase(app),    AddInfo(app),       AddVerify(app),
      AddMerge(app), AddPlan(app),  AddBackends(app), AddDemoPhones(app),
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ReportParse(app, error);
  }
  for (const Command& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  Say("give a command, such as `tamis demo phones` (see `tamis --help`)");
  return kUsage;
}

int RunAndReport(int argc, char** argv) {
  try {
    return Run(argc, argv);
  } catch (const OutputClosed&) {
    return kFailure;
  } catch (const Error& error) {
    Say(error.what());
    return ExitCodeFor(error.code());
  } catch (const std::bad_alloc&) {
    Say("out of memory");
    return kUsage;
  } catch (const std::exception& error) {
    Say(error.what());
    return kFailure;
  }
}

}  // namespace
}  // namespace tamis::tools

int main(int argc, char** argv) {
  tamis::tools::ReserveStandardStreams();
  return tamis::tools::RunAndReport(argc, argv);
}
