// The commands. Each function adds one command, or a command with subcommands, to the program.
// Command::run returns the exit status, or throws an exception that main() reports.
#ifndef TAMIS_TOOLS_COMMANDS_COMMANDS_H_
#define TAMIS_TOOLS_COMMANDS_COMMANDS_H_

#include <functional>
#include <vector>

#include "tools/options/command_line.h"

namespace tamis::tools {

struct Command {
  CommandLine line;
  std::function<int()> run;
};

Command AddBuild(const CommandLine& program);
Command AddQuery(const CommandLine& program);
Command AddDedup(const CommandLine& program);
Command AddErase(const CommandLine& program);
Command AddInfo(const CommandLine& program);
Command AddVerify(const CommandLine& program);
Command AddImport(const CommandLine& program);
Command AddExport(const CommandLine& program);
Command AddMerge(const CommandLine& program);
Command AddPlan(const CommandLine& program);
Command AddBackends(const CommandLine& program);
Command AddDemoPhones(const CommandLine& program);
std::vector<Command> AddBank(const CommandLine& program);
// Returns no commands if tamis is built without tamis::parquet.
std::vector<Command> AddParquet(const CommandLine& program);
// Returns no commands if tamis is built without tamis::redis.
std::vector<Command> AddRedis(const CommandLine& program);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_COMMANDS_COMMANDS_H_
