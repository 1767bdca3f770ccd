#include "tools/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <numeric>
#include <sstream>
#include <utility>

#include "tools/console.h"
#include "tools/exit_codes.h"
#include "tools/format.h"

namespace tamis::tools {
namespace {

// As the parser's own, less what clutters it: which option excludes which is told where it happens.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() {
    column_width(24);
    KeepFooter(*this);
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0) return "";  // a flag
    std::string text = option->get_positional() ? "" : " " + option->get_type_name();
    if (option->get_expected_max() > 1) text += " ...";
    return text;
  }

 private:
  // Newer versions of the parser would fill the lines of the examples anew.
  template <typename Formatter>
  static void KeepFooter(Formatter& formatter) {
    if constexpr (requires { formatter.enable_footer_formatting(false); }) {
      formatter.enable_footer_formatting(false);
    }
  }
};

// How many letters must be put in, left out or exchanged for others to make `b` of `a`.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);  // of the beginnings of `b`, and of one of `a`
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

// A sentence, if the first thing after `app` is neither an option nor one of its commands.
std::string UnknownCommand(const CLI::App& app) {
  constexpr size_t kMostMistakes = 2;  // two letters that changed places are two
  const std::vector<const CLI::App*> commands =
      app.get_subcommands([](const CLI::App*) { return true; });
  const std::vector<std::string> rest = app.remaining();
  if (commands.empty() || rest.empty() || rest[0].starts_with('-')) return "";
  const auto distance = [&](const CLI::App* command) {
    return Distance(rest[0], command->get_name());
  };
  const CLI::App* const nearest = *std::min_element(
      commands.begin(), commands.end(),
      [&](const CLI::App* a, const CLI::App* b) { return distance(a) < distance(b); });
  return "there is no command " + Quoted(rest[0]) +
         (distance(nearest) <= kMostMistakes ? "; is " + nearest->get_name() + " meant?" : "");
}

// What the parser has to say: help and version to standard output, errors as ours.
int Report(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::Success)) {
    std::string message = error.what();
    std::replace(message.begin(), message.end(), '\n', ' ');
    const CLI::App* given = &app;
    std::string command = app.get_name();
    while (!given->get_subcommands().empty()) {
      given = given->get_subcommands().front();
      command += " " + given->get_name();
    }
    const std::string unknown = UnknownCommand(*given);
    Say((unknown.empty() ? message : unknown) + " (see `" + command + " --help`)");
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

const Option& Option::OneOf(const std::vector<std::string>& values) const {
  option_->check(CLI::IsMember(values));
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
  app_->formatter(std::make_shared<HelpFormatter>());  // sub-commands take it over
  app_->set_version_flag("--version", version);
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
  return Option(app_->add_flag(names, flag, description));
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
