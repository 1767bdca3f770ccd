#include "tools/input/csv.h"

#include <algorithm>
#include <utility>

namespace tamis::tools {
namespace {

constexpr const char* kTooFewColumns = "too few columns";

// Splits a record without quotes, which is one line.
void SplitLine(std::string_view line, char delimiter, size_t column, CsvRecord& record) {
  record.fields = 1 + static_cast<size_t>(std::count(line.begin(), line.end(), delimiter));
  if (record.fields <= column) {
    record.error = kTooFewColumns;
    return;
  }
  for (; column > 0; --column) line.remove_prefix(line.find(delimiter) + 1);
  record.field = line.substr(0, line.find(delimiter));
}

// Returns the position of the first `a` or `b` from `at` on, or the end of the text.
size_t FindEither(std::string_view text, size_t at, char a, char b) {
  while (at < text.size() && text[at] != a && text[at] != b) ++at;
  return at;
}

}  // namespace

std::optional<char> GuessSeparator(std::string_view record) {
  std::optional<char> guess;
  size_t most = 0;
  for (const char c : {',', ';', '\t', '|'}) {
    const size_t count = CountUnquoted(record, c);
    if (count > most) guess = c;
    most = std::max(most, count);
  }
  return guess;
}

size_t CountUnquoted(std::string_view record, char c) {
  size_t count = 0;
  bool quoted = false;
  for (const char other : record) {
    if (other == '"') quoted = !quoted;
    if (other == c && !quoted) ++count;
  }
  return count;
}

void AppendUnquoted(std::string_view field, std::string& out) {
  for (size_t i = 0; i < field.size(); ++i) {
    out += field[i];
    if (field[i] == '"') ++i;  // the second of the two quotes
  }
}

template <typename OnField>
bool CsvReader::Scan(std::string_view text, bool last, OnField on_field) {
  Progress& s = scan_;
  const auto end_field = [&](size_t end) {
    const bool plain = s.state == State::kStart || s.state == State::kPlain;
    on_field(s.begin, (plain ? end : s.closing) - s.begin);
  };
  const auto lose = [&](const char* error) {
    s.error = error;
    s.spans = true;
    s.span_line = s.quote_line;
    return true;
  };
  while (s.at < text.size()) {
    if (s.state == State::kQuoted) {
      s.at = FindEither(text, s.at, '"', '\n');
      if (s.at == text.size()) break;
      if (text[s.at++] == '"') {
        s.state = State::kQuote;
        s.closing = s.at - 1;
        continue;
      }
      if (!std::exchange(s.spans, true)) s.span_line = s.quote_line;
      if (++s.lines - s.quote_line < dialect_.max_quoted_lines) continue;
      return lose("a quoted field of more lines than --quoted-lines allows");
    }
    if (s.state == State::kPlain || s.state == State::kAfterClosing) {
      s.at = FindEither(text, s.at, dialect_.delimiter, '\n');
      if (s.at == text.size()) break;
    }
    const char c = text[s.at++];
    if (c == '"' && s.state == State::kStart && dialect_.quotes) {
      s.state = State::kQuoted;
      s.begin = s.at;
      s.quote_line = s.lines;
    } else if (c == '"' && s.state == State::kQuote) {
      s.state = State::kQuoted;
      s.doubled = true;
    } else if (c == '\n') {
      // Only a field without quotes can end with the CR of the line end.
      const bool plain_return =
          s.state == State::kPlain && s.at >= s.begin + 2 && text[s.at - 2] == '\r';
      end_field(s.at - (plain_return ? 2 : 1));
      ++s.lines;
      return true;
    } else if (c == dialect_.delimiter && s.state != State::kQuoteReturn) {
      end_field(s.at - 1);
      ++s.column;
      s.state = State::kStart;
      s.begin = s.at;
      s.doubled = false;
    } else if (s.state == State::kStart) {
      s.state = State::kPlain;
    } else if (s.state == State::kQuote && c == '\r') {
      s.state = State::kQuoteReturn;
    } else {
      s.state = State::kAfterClosing;
      if (s.error == nullptr) {
        s.error = "text after a closing quote";
        if (s.lines > s.quote_line) s.span_line = s.quote_line;
      }
      if (c == dialect_.delimiter) --s.at;
    }
  }
  if (!last) return false;
  if (s.state == State::kQuoted) return lose("a quote that is not closed");
  const bool plain_return = s.state == State::kPlain && text.ends_with('\r');
  end_field(s.at - (plain_return ? 1 : 0));
  return true;
}

CsvRecord CsvReader::Read(std::string_view text, bool last, size_t column) {
  CsvRecord record;
  if (scan_.at == 0) {
    const size_t bytes = lines_.Find(text, last);
    if (bytes == 0) return record;
    const std::string_view line = text.substr(0, bytes);
    if (!dialect_.quotes || line.find('"') == std::string_view::npos) {
      record.bytes = bytes;
      record.lines = line.ends_with('\n') ? 1 : 0;
      SplitLine(WithoutLineEnd(line), dialect_.delimiter, column, record);
      return record;
    }
  }
  const bool complete = Scan(text, last, [&](size_t begin, size_t bytes) {
    if (scan_.column != column) return;
    scan_.field_begin = begin;
    scan_.field_bytes = bytes;
    scan_.field_doubled = scan_.doubled;
  });
  if (!complete) return record;
  const Progress done = std::exchange(scan_, {});
  record.bytes = done.at;
  record.lines = done.lines;
  record.fields = done.column + 1;
  record.error = done.error;
  if (record.error == nullptr && done.column < column) record.error = kTooFewColumns;
  if (record.error == nullptr) {
    record.field = text.substr(done.field_begin, done.field_bytes);
    record.quoted = done.field_begin > 0 && text[done.field_begin - 1] == '"';
    record.doubled_quotes = done.field_doubled;
  } else if (done.spans) {
    record.astray = true;
    record.quote_line = done.span_line;
  }
  return record;
}

void CsvReader::ForEachField(std::string_view record, const CsvDialect& dialect,
                             const std::function<void(std::string_view)>& visit) {
  CsvReader reader(dialect);
  std::string unquoted;
  reader.Scan(record, /*last=*/true, [&](size_t begin, size_t bytes) {
    const std::string_view field = record.substr(begin, bytes);
    if (!reader.scan_.doubled) return visit(field);
    unquoted.clear();
    AppendUnquoted(field, unquoted);
    visit(unquoted);
  });
}

}  // namespace tamis::tools
