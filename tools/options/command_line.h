// Defines commands and options. Only command_line.cc includes the header of the parser CLI11,
// because compiling this header takes seconds.
#ifndef TAMIS_TOOLS_OPTIONS_COMMAND_LINE_H_
#define TAMIS_TOOLS_OPTIONS_COMMAND_LINE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tamis::tools {

class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  const Option& Required() const;
  // Sets the name of the option's value in the help.
  const Option& Type(const std::string& name) const;
  // Sets the heading under which the help lists the option.
  const Option& Group(const std::string& name) const;
  // Leaves the option out of the help.
  const Option& Hidden() const;
  const Option& OneOf(const std::vector<std::string>& values) const;
  const Option& NotEmpty() const;
  const Option& AtLeast(int values) const;
  const Option& Excludes(const Option& other) const;

 private:
  CLI::Option* option_;
};

// A program or one of its commands. Copies refer to the same command. Add and AddFlag store
// references to `value` and `flag`, which must outlive all copies.
class CommandLine {
 public:
  CommandLine(const std::string& program, const std::string& description,
              const std::string& version);

  CommandLine AddCommand(const std::string& name, const std::string& description) const;
  void RequireCommand() const;
  // Sets the text at the end of the help.
  void Footer(const std::string& text) const;

  Option Add(const std::string& names, std::string& value, const std::string& description) const;
  Option Add(const std::string& names, std::vector<std::string>& values,
             const std::string& description) const;
  Option AddFlag(const std::string& names, bool& flag, const std::string& description) const;
  // Adds an option whose text `parse` converts to `value`. See parse.h.
  template <typename Value, typename T>
  Option Add(const std::string& names, Value& value, T (*parse)(std::string_view, std::string_view),
             const std::string& description) const {
    const std::string option = names.substr(names.rfind(',') + 1);
    return AddFunction(
        names, [&value, parse, option](const std::string& text) { value = parse(option, text); },
        description);
  }

  // Parses the command line of the program. If the help was printed or an error was reported,
  // returns the exit status. Otherwise returns std::nullopt: the given command must run. Throws the
  // errors of the `parse` functions.
  std::optional<int> Parse(int argc, char** argv) const;
  // Returns whether this command was given.
  bool given() const;

 private:
  explicit CommandLine(std::shared_ptr<CLI::App> app) : app_(std::move(app)) {}
  Option AddFunction(const std::string& names, std::function<void(const std::string&)> set,
                     const std::string& description) const;

  std::shared_ptr<CLI::App> app_;
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_OPTIONS_COMMAND_LINE_H_
