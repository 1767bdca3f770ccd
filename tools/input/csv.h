// Reads records of comma- and tab-separated text.
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
  // RFC 4180: a field may be in double quotes. It can then contain delimiters, line ends, and
  // quotes written twice. If false, as for tab-separated text, quotes are text.
  bool quotes = true;
  // A quoted field of more lines is an error, because its closing quote is probably missing.
  size_t max_quoted_lines = 1000;
};

// One record and one of its fields.
struct CsvRecord {
  size_t bytes = 0;  // length with the line end; 0: the record is not complete
  size_t lines = 0;  // number of line ends in the record
  size_t fields = 0;
  std::string_view field;       // its unchanged text, without enclosing quotes
  bool quoted = false;          // the field is in quotes
  bool doubled_quotes = false;  // the field contains quotes written twice
  const char* error = nullptr;  // why the field is missing
  // Whether a record with an error has a quoted field with line ends. Then the end of the record is
  // unknown, because the opening quote may be a mistake.
  bool astray = false;
  size_t quote_line = 0;  // if `astray`: index of the record's line in which the field opens
};

// Finds the end of the first line of a text that comes in pieces. Looks at each byte once.
class LineFinder {
 public:
  // Returns the length of the line with its end, or 0 if the line is not complete. The next call
  // then continues, with a text that begins with the same bytes. `last`: no more text follows.
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

// Reads records from a text that comes in pieces. Looks at each byte a few times at most.
class CsvReader {
 public:
  explicit CsvReader(const CsvDialect& dialect) : dialect_(dialect) {}

  // Returns the first record of `text`, with its field in `column`, counted from 0. If the record
  // is not complete, the next call continues, with a text that begins with the same bytes. `last`:
  // no more text follows.
  CsvRecord Read(std::string_view text, bool last, size_t column);

  // Returns whether the text of the incomplete record ends inside a quoted field.
  bool in_quotes() const { return scan_.state == State::kQuoted; }
  // If in_quotes(), returns the index of the record's line in which the quoted field opens.
  size_t quote_line() const { return scan_.quote_line; }

  // Calls `visit` for every field of a complete record, without its quotes.
  static void ForEachField(std::string_view record, const CsvDialect& dialect,
                           const std::function<void(std::string_view)>& visit);

 private:
  enum class State : unsigned char {
    kStart,         // at the beginning of a field
    kPlain,         // in a field without quotes
    kQuoted,        // in quotes
    kQuote,         // after a quote that closes a quoted field or begins a doubled quote
    kQuoteReturn,   // after the closing quote and a CR
    kAfterClosing,  // in text after a closing quote, which should not be there
  };
  // How far the record has been read. Positions count from the beginning of the record.
  struct Progress {
    State state = State::kStart;
    size_t at = 0;
    size_t lines = 0;
    size_t column = 0;
    size_t begin = 0;       // start of the current field, or of the text in its quotes
    size_t closing = 0;     // position of the current field's closing quote
    size_t quote_line = 0;  // line in which the current field opened
    bool doubled = false;   // the current field contains quotes written twice
    bool spans = false;     // a quoted field of the record contains a line end
    size_t span_line = 0;  // line in which this field opens: the field in error, or the first field
    const char* error = nullptr;
    // The field in the wanted column.
    size_t field_begin = 0;
    size_t field_bytes = 0;
    bool field_doubled = false;
  };

  // Continues reading, and calls `on_field(begin, bytes)` at the end of each field. Returns true if
  // the record is complete, or if the record's end cannot be found because of an error.
  template <typename OnField>
  bool Scan(std::string_view text, bool last, OnField on_field);

  const CsvDialect dialect_;
  LineFinder lines_;
  Progress scan_;
};

// Returns the likely separator of the fields of `record`: the most frequent character outside
// quotes among comma, semicolon, tab and bar. Returns std::nullopt if the record contains none.
std::optional<char> GuessSeparator(std::string_view record);
// Counts how often `c` occurs in `record` outside quotes.
size_t CountUnquoted(std::string_view record, char c);

// Appends `field` to `out`. Replaces each doubled quote by one quote.
void AppendUnquoted(std::string_view field, std::string& out);

// Returns `text` without its line end, LF or CRLF.
inline std::string_view WithoutLineEnd(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_CSV_H_
