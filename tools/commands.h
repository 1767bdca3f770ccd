// The commands. Each function adds one, with its options, to the command line, and returns what
// runs it; that returns the exit status, or throws what main() reports.
#ifndef TAMIS_TOOLS_COMMANDS_H_
#define TAMIS_TOOLS_COMMANDS_H_

#include <CLI/CLI.hpp>
#include <functional>

namespace tamis::tools {

struct Command {
  CLI::App* app;
  std::function<int()> run;
};

Command AddBuild(CLI::App& app);
Command AddQuery(CLI::App& app);
Command AddErase(CLI::App& app);
Command AddInfo(CLI::App& app);
Command AddVerify(CLI::App& app);
Command AddMerge(CLI::App& app);
Command AddPlan(CLI::App& app);
Command AddBackends(CLI::App& app);
Command AddDemoPhones(CLI::App& app);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_COMMANDS_H_
