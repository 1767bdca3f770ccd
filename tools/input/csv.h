// Records of comma- and tab-separated text.
#ifndef TAMIS_TOOLS_INPUT_CSV_H_
#define TAMIS_TOOLS_INPUT_CSV_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tamis::tools {

struct CsvDialect {
  char delimiter = ',';
  // RFC 4180: a field may stand in double quotes; then it can hold delimiters, line ends, and
  // quotes written twice. Tab-separated text has no quotes.
  bool quotes = true;
  // A quoted field of more is taken for a quote that is not closed.
  size_t max_quoted_lines = 1000;
};

// One record and one of its fields.
struct CsvRecord {
  size_t bytes = 0;  // with the line end; 0: the text ends before the record does
  size_t lines = 0;  // line ends in it
  size_t fields = 0;
  std::string_view field;       // as it stands in the text, without enclosing quotes
  bool quoted = false;          // it stands in quotes
  bool doubled_quotes = false;  // the field holds quotes written twice
  const char* error = nullptr;  // why there is no such field
  // With an error: a quote that opens `quote_line` lines further down has taken in line ends that
  // it should not have. Which records it has swallowed cannot be told.
  bool astray = false;
  size_t quote_line = 0;
};

// Finds the end of the line that a text begins with, where the text comes in pieces. No byte is
// looked at twice.
class LineFinder {
 public:
  // The length of the line with its end, or 0 if it is not complete: then the next call goes on,
  // with a text that begins the same. `last` if no more text follows.
  size_t Find(std::string_view text, bool last) {
    const size_t end = text.find('\n', searched_);
    if (end == std::string_view::npos && !last) {
      searched_ = text.size();
      return 0;
    }
    searched_ = 0;
    return end == std::string_view::npos ? text.size() : end + 1;
  }

 private:
  size_t searched_ = 0;
};

// Reads records from a text that comes in pieces. No byte is looked at more than a few times.
class CsvReader {
 public:
  explicit CsvReader(const CsvDialect& dialect) : dialect_(dialect) {}

  // The record that `text` begins with, and its field in `column`, from 0. Where it is not complete
  // the next call goes on, with a text that begins the same. `last` if no more text follows.
  CsvRecord Read(std::string_view text, bool last, size_t column);

  // Whether the record that is not complete ends in quotes, and how many lines down these opened.
  bool in_quotes() const { return scan_.state == State::kQuoted; }
  size_t quote_line() const { return scan_.quote_line; }

  // Calls `visit` for every field of a complete record, without its quotes.
  static void ForEachField(std::string_view record, const CsvDialect& dialect,
                           const std::function<void(std::string_view)>& visit);

 private:
  enum class State : unsigned char {
    kStart,         // of a field
    kPlain,         // in a field without quotes
    kQuoted,        // in quotes
    kQuote,         // after a quote in quotes: the closing one, or the first of two
    kQuoteReturn,   // after the closing quote and a CR
    kAfterClosing,  // in text after a closing quote, which should not be there
  };
  // How far the record has been read; positions count from its begin.
  struct Progress {
    State state = State::kStart;
    size_t at = 0;
    size_t lines = 0;
    size_t column = 0;
    size_t begin = 0;       // of the present field, or of what is in its quotes
    size_t closing = 0;     // its closing quote
    size_t quote_line = 0;  // where its quotes opened
    bool doubled = false;   // it holds quotes written twice
    bool spans = false;     // a quoted field of the record holds a line end ...
    size_t span_line = 0;   // ... and opened here: the first, or the one with the error
    const char* error = nullptr;
    // The field that is asked for.
    size_t field_begin = 0;
    size_t field_bytes = 0;
    bool field_doubled = false;
  };

  // Reads on, and calls `on_field(begin, bytes)` at the end of each field. Whether the record is
  // complete, or an error makes going on useless.
  template <typename OnField>
  bool Scan(std::string_view text, bool last, OnField on_field);

  const CsvDialect dialect_;
  LineFinder lines_;
  Progress scan_;
};

// What seems to stand between the fields of `record`: of comma, semicolon, tab and bar the one that
// is there most often outside quotes, if any is.
std::optional<char> GuessSeparator(std::string_view record);
// How often `c` is there outside quotes.
size_t CountUnquoted(std::string_view record, char c);

// Appends `field` to `out` with its doubled quotes made single.
void AppendUnquoted(std::string_view field, std::string& out);

// `text` up to its line end, LF or CRLF.
inline std::string_view WithoutLineEnd(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_CSV_H_
