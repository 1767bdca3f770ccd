// tamis bank: many filters that are queried at once.
#include "tools/commands/bank.h"

namespace tamis::tools {

std::vector<Command> AddBank(const CommandLine& program) {
  const CommandLine bank =
      program.AddCommand("bank", "Combine thousands of filters, and query all of them at once.");
  bank.RequireCommand();
  bank.Footer(
      "Examples:\n"
      "  for f in logs/*.txt; do tamis build --for-bank -o ${f%.txt}.tamis $f; done\n"
      "  tamis bank build -o logs.bank logs/\n"
      "  tamis bank query logs.bank keys.txt    # lines KEY<tab>NAME\n");
  return {AddBankBuild(bank), AddBankAdd(bank), AddBankRemove(bank), AddBankInfo(bank),
          AddBankQuery(bank)};
}

}  // namespace tamis::tools
