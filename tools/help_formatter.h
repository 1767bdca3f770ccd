// How --help looks.
#ifndef TAMIS_TOOLS_HELP_FORMATTER_H_
#define TAMIS_TOOLS_HELP_FORMATTER_H_

#include <CLI/CLI.hpp>
#include <string>

namespace tamis::tools {

// As the parser's own, less what clutters it: which option excludes which is told where it happens.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(24); }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0) return "";  // a flag
    std::string text = option->get_positional() ? "" : " " + option->get_type_name();
    if (option->get_expected_max() > 1) text += " ...";
    return text;
  }
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_HELP_FORMATTER_H_
