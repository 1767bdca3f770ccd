#include "tools/options/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <numeric>
#include <sstream>
#include <utility>

#include "tamis/detail/str_cat.h"
#include "tools/options/exit_codes.h"
#include "tools/output/console.h"
#include "tools/output/format.h"

namespace tamis::tools {
namespace {

// The group of options that the help leaves out. CLI11 also hides groups with an empty name, but
// then its errors lack the names of the options.
constexpr char kHiddenGroup[] = "Hidden";

// Formats the help like the parser's own formatter, but leaves out which options exclude each
// other. If a user gives such options, the error names them.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() {
    column_width(24);
    KeepFooter(*this);
  }

  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    return group == kHiddenGroup ? "" : Formatter::make_group(group, is_positional, options);
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0) return "";  // a flag
    std::string text = option->get_positional() ? "" : " " + option->get_type_name();
    if (option->get_expected_max() > 1) text += " ...";
    return text;
  }

 private:
  // Newer versions of the parser would reflow the lines of the examples.
  template <typename Formatter>
  static void KeepFooter(Formatter& formatter) {
    if constexpr (requires { formatter.enable_footer_formatting(false); }) {
      formatter.enable_footer_formatting(false);
    }
  }
};

// Returns how many letters must be inserted, removed or replaced to turn `a` into `b`.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);  // row[j]: distance of a[0, i) and b[0, j)
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t exchanged = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min(exchanged, 1 + std::min(row[j], row[j + 1]));
    }
  }
  return row.back();
}

// Returns the end of an error about an unknown `word`: "; did you mean NAME?" if one of `names` is
// similar, otherwise "".
std::string IsMeant(std::string_view word, const std::vector<std::string>& names) {
  constexpr size_t kMostMistakes = 2;  // exchanging two letters counts as two mistakes
  constexpr size_t kBeginning = 3;     // a name is also matched by its first 3 letters or more
  const std::string* nearest = nullptr;
  size_t least = std::min(kMostMistakes + 1, word.size());
  for (const std::string& name : names) {
    const bool begins = word.size() >= kBeginning && name.starts_with(word);
    const size_t distance =
        begins ? std::min(kMostMistakes, Distance(word, name)) : Distance(word, name);
    if (distance >= least) continue;
    least = distance;
    nearest = &name;
  }
  return nearest == nullptr ? "" : "; did you mean " + *nearest + "?";
}

// Returns the error for arguments that `app` does not expect. `word` is the first of them.
std::string UnexpectedText(const CLI::App& app, const std::string& word) {
  if (word.size() > 1 && word[0] == '-') {
    const bool is_long = word[1] == '-';
    const std::string given = is_long ? word.substr(0, word.find('=')) : word;
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    if (std::find(names.begin(), names.end(), given) != names.end()) {
      return Quoted(given) + " must come after the command and before any \"--\"";
    }
    // The user may have forgotten a dash, as in "-fpr".
    return "unknown option " + Quoted(given) + IsMeant(is_long ? given : "-" + given, names);
  }
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  if (names.empty()) return "unexpected argument " + Quoted(word);
  return "unknown command " + Quoted(word) + IsMeant(word, names);
}

// Returns the option of `app` whose name begins the parser's message, or nullptr.
const CLI::Option* OptionOf(const CLI::App& app, const std::string& message) {
  std::string name = message.substr(0, message.find_first_of(": "));
  name.erase(0, name.find_first_not_of('-'));
  for (const CLI::Option* option : app.get_options()) {
    const std::vector<std::string>& longs = option->get_lnames();
    const std::vector<std::string>& shorts = option->get_snames();
    if (std::find(longs.begin(), longs.end(), name) != longs.end() ||
        std::find(shorts.begin(), shorts.end(), name) != shorts.end() ||
        (option->get_positional() && option->get_name() == name)) {
      return option;
    }
  }
  return nullptr;
}

// Returns the error for an option with too many values, or too few.
std::string CountText(const CLI::Option& option) {
  const std::string name = option.get_name();
  const size_t given = option.count();
  if (option.get_items_expected_max() == 0) return name + " takes no value";
  if (given == 0) return name + " needs a value";
  if (option.get_expected_max() > 1) {
    return detail::StrCat(name, ": ", option.get_expected_min(), " or more are needed, ", given,
                          given == 1 ? " is given" : " are given");
  }
  return detail::StrCat(name, " is given ", given, " times, but only one is allowed");
}

// Explains why the parser rejected a command line. `app` is the command that was given.
std::string ErrorText(const CLI::App& program, const CLI::App& app, const CLI::ParseError& error) {
  std::string message = error.what();
  std::replace(message.begin(), message.end(), '\n', ' ');
  std::vector<std::string> rest = program.remaining(/*recurse=*/true);
  rest.erase(std::remove(rest.begin(), rest.end(), "--"), rest.end());
  const CLI::Option* const option = OptionOf(app, message);
  switch (static_cast<CLI::ExitCodes>(error.get_exit_code())) {
    case CLI::ExitCodes::ExtrasError:
    case CLI::ExitCodes::RequiredError:
      // Reports an unknown argument before a missing option, because the argument may be this
      // option with a typing error.
      if (!rest.empty()) return UnexpectedText(app, rest[0]);
      return (option == nullptr ? "a command" : option->get_name()) + " is required";
    case CLI::ExitCodes::ArgumentMismatch:
      return option == nullptr ? message : CountText(*option);
    default:
      return message;  // from our checks of values, or "--a excludes --b"
  }
}

// Prints the help or version on standard output, and errors in the format of this command. Returns
// the exit status.
int Report(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::Success)) {
    const CLI::App* given = &app;
    std::string command = app.get_name();
    while (!given->get_subcommands().empty()) {
      given = given->get_subcommands().front();
      command += " " + given->get_name();
    }
    Say(ErrorText(app, *given, error) + " (see `" + command + " --help`)");
    return kUsage;
  }
  std::ostringstream text;
  app.exit(error, text, text);
  Print(text.str());
  return kDone;
}

}  // namespace

const Option& Option::Required() const {
  option_->required();
  return *this;
}

const Option& Option::Type(const std::string& name) const {
  option_->type_name(name);
  return *this;
}

const Option& Option::Group(const std::string& name) const {
  option_->group(name);
  return *this;
}

const Option& Option::Hidden() const { return Group(kHiddenGroup); }

const Option& Option::OneOf(const std::vector<std::string>& values) const {
  option_->check([values](const std::string& value) {
    if (std::find(values.begin(), values.end(), value) != values.end()) return std::string();
    std::string all;
    for (const std::string& known : values) all += (all.empty() ? "" : ", ") + known;
    return Quoted(value) + " is not one of " + all + IsMeant(value, values);
  });
  return *this;
}

const Option& Option::NotEmpty() const {
  option_->check(
      [](const std::string& value) { return std::string(value.empty() ? "\"\" is empty" : ""); });
  return *this;
}

const Option& Option::AtLeast(int values) const {
  option_->expected(-values);
  return *this;
}

const Option& Option::Excludes(const Option& other) const {
  option_->excludes(other.option_);
  return *this;
}

CommandLine::CommandLine(const std::string& program, const std::string& description,
                         const std::string& version)
    : app_(std::make_shared<CLI::App>(description, program)) {
  app_->formatter(std::make_shared<HelpFormatter>());  // sub-commands inherit it
  app_->set_version_flag("--version", version);
  app_->allow_windows_style_options(false);  // "/name" is a path
  app_->require_subcommand(0, 1);
}

CommandLine CommandLine::AddCommand(const std::string& name, const std::string& description) const {
  return CommandLine(std::shared_ptr<CLI::App>(app_, app_->add_subcommand(name, description)));
}

void CommandLine::RequireCommand() const { app_->require_subcommand(1); }

void CommandLine::Footer(const std::string& text) const { app_->footer(text); }

Option CommandLine::Add(const std::string& names, std::string& value,
                        const std::string& description) const {
  return Option(app_->add_option(names, value, description));
}

Option CommandLine::Add(const std::string& names, std::vector<std::string>& values,
                        const std::string& description) const {
  return Option(app_->add_option(names, values, description));
}

Option CommandLine::AddFlag(const std::string& names, bool& flag,
                            const std::string& description) const {
  return Option(app_->add_flag(names, flag, description)->disable_flag_override());
}

Option CommandLine::AddFunction(const std::string& names,
                                std::function<void(const std::string&)> set,
                                const std::string& description) const {
  return Option(app_->add_option_function<std::string>(names, std::move(set), description));
}

std::optional<int> CommandLine::Parse(int argc, char** argv) const {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return Report(*app_, error);
  }
  return std::nullopt;
}

bool CommandLine::given() const { return app_->parsed(); }

}  // namespace tamis::tools
