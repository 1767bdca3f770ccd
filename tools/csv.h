// Records of comma- and tab-separated text.
#ifndef TAMIS_TOOLS_CSV_H_
#define TAMIS_TOOLS_CSV_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace tamis::tools {

struct CsvDialect {
  char delimiter = ',';
  // RFC 4180: a field may stand in double quotes; then it can hold delimiters, line ends, and
  // quotes written twice. Tab-separated text has no quotes.
  bool quotes = true;
};

// One record and one of its fields.
struct CsvRecord {
  size_t bytes = 0;             // with the line end; 0: the text ends before the record does
  size_t lines = 0;             // line ends in it
  std::string_view field;       // as it stands in the text, without enclosing quotes
  bool doubled_quotes = false;  // the field holds quotes written twice
  const char* error = nullptr;  // why there is no such field
};

// Reads the record that `text` begins with; `last` if no more text follows. Columns count from 0.
CsvRecord ReadCsvRecord(std::string_view text, bool last, const CsvDialect& dialect, size_t column);

// Appends `field` to `out` with its doubled quotes made single.
void AppendUnquoted(std::string_view field, std::string& out);

// `text` up to its line end, LF or CRLF.
std::string_view WithoutLineEnd(std::string_view text);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_CSV_H_
