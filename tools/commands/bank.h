// The commands of `tamis bank`.
#ifndef TAMIS_TOOLS_COMMANDS_BANK_H_
#define TAMIS_TOOLS_COMMANDS_BANK_H_

#include "tools/commands/commands.h"

namespace tamis::tools {

// Commands that change the members of a bank.
Command AddBankBuild(const CommandLine& bank);
Command AddBankAdd(const CommandLine& bank);
Command AddBankRemove(const CommandLine& bank);
// Commands that only read a bank.
Command AddBankInfo(const CommandLine& bank);
Command AddBankQuery(const CommandLine& bank);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_COMMANDS_BANK_H_
