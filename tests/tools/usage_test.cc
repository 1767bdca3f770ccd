// Bad command lines of every command: one plain line that names the option, and status 2.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tools/command_test.h"

namespace tamis::tools::usage_test {

using UsageTest = CommandTest;

// Expects one plain line, without the parser's own phrases, which users do not understand.
void ExpectPlain(const std::string& script, const CommandResult& result, const std::string& name) {
  EXPECT_EQ(result.status, 2) << script << "\n" << result.out << result.err;
  EXPECT_EQ(result.NumLines(), 0U) << script << "\n" << result.out;
  EXPECT_EQ(Lines(result.err).size(), 1U) << script << "\n" << result.err;
  EXPECT_TRUE(result.ErrHas(name)) << script << "\n" << result.err;
  EXPECT_TRUE(result.ErrHas(" --help`)")) << script << "\n" << result.err;
  for (const char* raw :
       {"not expected", "At Most", "At Least", "At least", "required but", "Could not convert",
        "disallowed", "ubcommand", "not in {", "TEXT", "ould be true", "Error", "INI"}) {
    EXPECT_FALSE(result.ErrHas(raw)) << script << "\n" << result.err;
  }
}

class UsageOfCommandsTest : public CommandTest {
 protected:
  // Returns every command that does something, such as "bank build".
  std::vector<std::string> Commands() const {
    std::vector<std::string> commands;
    Append("", commands);
    return commands;
  }

 private:
  void Append(const std::string& command, std::vector<std::string>& commands) const {
    bool is_list = false;
    bool has_commands = false;
    for (const std::string& line : Lines(Ok("tamis" + command + " --help").out)) {
      if (is_list && line.starts_with("  ") && line.size() > 2 && line[2] != ' ') {
        has_commands = true;
        Append(command + " " + line.substr(2, line.find(' ', 2) - 2), commands);
      } else if (!line.starts_with(" ")) {
        is_list = line == "Subcommands:";
      }
    }
    if (!has_commands) commands.push_back(command);
  }
};

TEST_F(UsageOfCommandsTest, MistakesAreNamedInPlainWords) {
  size_t options = 0;
  for (const std::string& command : Commands()) {
    const std::string tamis = "tamis" + command;
    ExpectPlain(tamis, Sh(tamis + " --hepl"), "unknown option \"--hepl\"; did you mean --help?");
    for (const std::string& line : Lines(Ok(tamis + " --help").out)) {
      // Such as "  -n,--capacity N     keys to size for".
      const size_t begin = line.find("--");
      if (!line.starts_with("  -") || begin == std::string::npos) continue;
      const size_t end = line.find_first_of(" ", begin);
      const std::string option = line.substr(begin, end - begin);
      if (option == "--help" || end == std::string::npos) continue;
      ++options;
      const bool is_flag = line[end + 1] < 'A' || line[end + 1] > 'Z';
      if (is_flag) {
        const std::string script = tamis + " " + option + "=what";
        ExpectPlain(script, Sh(script), option + " takes no value");
      } else {
        const std::string script = tamis + " " + option;
        ExpectPlain(script, Sh(script), option + " needs a value");
      }
    }
  }
  EXPECT_GT(options, 100U);
}

TEST_F(UsageTest, MistakesOfSomeCommands) {
  Write("keys", "1\n");
  struct Case {
    const char* arguments;
    const char* error;
  };
  const Case cases[] = {
      {"plan --fprr 0.1", "unknown option \"--fprr\"; did you mean --fpr?"},
      {"plan -n 5 -fpr 0.1", "unknown option \"-fpr\"; did you mean --fpr?"},
      {"plan -n 5 --cap=0.1", "unknown option \"--cap\" ("},
      {"build -o x --cap=7 keys", "unknown option \"--cap\"; did you mean --capacity?"},
      {"plan --n 5 --n 6", "--n is given 2 times, but only one is allowed"},
      {"plan -n 5 -n 6 -n 7", "--n is given 3 times, but only one is allowed"},
      {"plan -n", "--n needs a value"},
      {"plan --n 5 --fpr=", "--fpr needs a value"},
      {"plan --n 5 --json=yes", "--json takes no value"},
      {"build -o x -q=5 keys", "unknown option \"-=5\""},
      {"build -o x --qiet keys", "unknown option \"--qiet\"; did you mean --quiet?"},
      {"plan", "--n is required"},
      {"plan 5", "unexpected argument \"5\""},
      {"plan --n 5 -- more", "unexpected argument \"more\""},
      {"merge -o x one", "FILE: 2 or more are needed, 1 is given"},
      {"merge -o x", "FILE is required"},
      {"bank", "a command is required (see `tamis bank --help`)"},
      {"bank biuld", "unknown command \"biuld\"; did you mean build?"},
      {"build -o x --kind blom keys", "is not one of split-block, "},
      {"build -o x --kind blom keys", "; did you mean bloom?"},
      {"build -o x --type blom keys", "; did you mean bloom?"},
      {"build -o x --type bloom --kind bloom keys", "--kind excludes --type"},
      {"dedup --empty yes keys", "--empty: \"yes\" is not one of keep, skip ("},
      {"build -o x --csv --tsv keys", "--csv excludes --tsv"},
      {"--json plan --n 5 --fpr 0.1", "\"--json\" must come after the command"},
      {"plan -- --n 5", "\"--n\" must come after the command and before any \"--\""},
      {"--thread 5", "unknown option \"--thread\" ("},
  };
  for (const Case& c : cases) {
    const std::string script = "tamis " + std::string(c.arguments);
    ExpectPlain(script, Sh(script), c.error);
  }
  EXPECT_FALSE(Exists("x"));
}

}  // namespace tamis::tools::usage_test
