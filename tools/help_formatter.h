// How --help looks.
#ifndef TAMIS_TOOLS_HELP_FORMATTER_H_
#define TAMIS_TOOLS_HELP_FORMATTER_H_

#include <CLI/CLI.hpp>
#include <string>

namespace tamis::tools {

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

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_HELP_FORMATTER_H_
