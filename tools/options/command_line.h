// What commands and options there are. Only command_line.cc includes the parser behind them, whose
// header takes seconds to compile.
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
  // What stands for its value in the help.
  const Option& Type(const std::string& name) const;
  // The heading in the help.
  const Option& Group(const std::string& name) const;
  // Leaves it out of the help.
  const Option& Hidden() const;
  const Option& OneOf(const std::vector<std::string>& values) const;
  const Option& NotEmpty() const;
  const Option& AtLeast(int values) const;
  const Option& Excludes(const Option& other) const;

 private:
  CLI::Option* option_;
};

// A program or one of its commands. Copies are the same one; what options set must live on.
class CommandLine {
 public:
  CommandLine(const std::string& program, const std::string& description,
              const std::string& version);

  CommandLine AddCommand(const std::string& name, const std::string& description) const;
  void RequireCommand() const;
  // The end of the help.
  void Footer(const std::string& text) const;

  Option Add(const std::string& names, std::string& value, const std::string& description) const;
  Option Add(const std::string& names, std::vector<std::string>& values,
             const std::string& description) const;
  Option AddFlag(const std::string& names, bool& flag, const std::string& description) const;
  // Of parse.h, `parse` turns the text into what is assigned to `value`.
  template <typename Value, typename T>
  Option Add(const std::string& names, Value& value, T (*parse)(std::string_view, std::string_view),
             const std::string& description) const {
    const std::string option = names.substr(names.rfind(',') + 1);
    return AddFunction(
        names, [&value, parse, option](const std::string& text) { value = parse(option, text); },
        description);
  }

  // Of the program. The exit status if that was all there is to do: help is printed, or an error
  // reported. Throws what `parse` throws.
  std::optional<int> Parse(int argc, char** argv) const;
  // Whether this command was given.
  bool given() const;

 private:
  explicit CommandLine(std::shared_ptr<CLI::App> app) : app_(std::move(app)) {}
  Option AddFunction(const std::string& names, std::function<void(const std::string&)> set,
                     const std::string& description) const;

  std::shared_ptr<CLI::App> app_;
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_OPTIONS_COMMAND_LINE_H_
