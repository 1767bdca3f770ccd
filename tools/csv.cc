#include "tools/csv.h"

namespace tamis::tools {
namespace {

constexpr const char* kTooFewColumns = "too few columns";

// A record without quotes is a line.
void SplitLine(std::string_view line, char delimiter, size_t column, CsvRecord& record) {
  for (; column > 0; --column) {
    const size_t end = line.find(delimiter);
    if (end == std::string_view::npos) {
      record.error = kTooFewColumns;
      return;
    }
    line.remove_prefix(end + 1);
  }
  record.field = line.substr(0, line.find(delimiter));
}

// Where the quoted field that begins at text[begin - 1] ends: the position of the closing quote, or
// npos. Counts line ends and doubled quotes on the way.
size_t ClosingQuote(std::string_view text, size_t begin, CsvRecord& record, bool& doubled) {
  for (size_t i = begin; i < text.size(); ++i) {
    if (text[i] == '\n') ++record.lines;
    if (text[i] != '"') continue;
    if (i + 1 == text.size() || text[i + 1] != '"') return i;
    doubled = true;
    ++i;
  }
  return std::string_view::npos;
}

CsvRecord ReadQuoted(std::string_view text, bool last, char delimiter, size_t column) {
  CsvRecord record;
  size_t at = 0;
  for (size_t index = 0;; ++index) {
    std::string_view field;
    bool doubled = false;
    const bool quoted = at < text.size() && text[at] == '"';
    if (quoted) {
      const size_t close = ClosingQuote(text, at + 1, record, doubled);
      if (close == std::string_view::npos) {
        if (!last) return {};
        record.bytes = text.size();
        record.error = "a quote that is not closed";
        return record;
      }
      field = text.substr(at + 1, close - at - 1);
      at = close + 1;
    }
    // What follows a closing quote should be nothing.
    const char ends[] = {delimiter, '\n'};
    size_t end = text.find_first_of(std::string_view(ends, 2), at);
    if (end == std::string_view::npos) {
      if (!last) return {};
      end = text.size();
    }
    const bool more = end < text.size() && text[end] == delimiter;
    std::string_view rest = text.substr(at, end - at);
    if (!more && rest.ends_with('\r')) rest.remove_suffix(1);
    if (!quoted) field = rest;
    if (index == column) {
      if (quoted && !rest.empty()) record.error = "text after a closing quote";
      record.field = field;
      record.doubled_quotes = doubled;
    }
    at = end;
    if (more) {
      ++at;
      continue;
    }
    if (at < text.size()) {
      ++at;
      ++record.lines;
    }
    record.bytes = at;
    if (index < column) record.error = kTooFewColumns;
    return record;
  }
}

}  // namespace

std::string_view WithoutLineEnd(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

CsvRecord ReadCsvRecord(std::string_view text, bool last, const CsvDialect& dialect,
                        size_t column) {
  const size_t line_end = text.find('\n');
  const std::string_view line = text.substr(0, line_end);
  if (dialect.quotes && line.find('"') != std::string_view::npos) {
    return ReadQuoted(text, last, dialect.delimiter, column);
  }
  if (line_end == std::string_view::npos && !last) return {};
  CsvRecord record;
  record.lines = line_end == std::string_view::npos ? 0 : 1;
  record.bytes = line.size() + record.lines;
  SplitLine(WithoutLineEnd(line), dialect.delimiter, column, record);
  return record;
}

void AppendUnquoted(std::string_view field, std::string& out) {
  for (size_t i = 0; i < field.size(); ++i) {
    out += field[i];
    if (field[i] == '"') ++i;  // its twin
  }
}

}  // namespace tamis::tools
