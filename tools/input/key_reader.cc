#include "tools/input/key_reader.h"

#include <tamis/error.h>
#include <tamis/file/file_checks.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "tamis/detail/str_cat.h"
#include "tools/input/hex_key.h"
#include "tools/input/integer_key.h"
#include "tools/output/console.h"
#include "tools/output/format.h"

namespace tamis::tools {
namespace {

constexpr size_t kMaxRecordBytes = size_t{16} << 20;
constexpr size_t kGuessBytes = 4096;     // bytes of a record from which its separator is guessed
constexpr uint64_t kShapeRecords = 100;  // records that are enough to find the separator
constexpr size_t kNamesShown = 20;
constexpr const char* kEmptyKey = "an empty key";
constexpr const char* kOtherFields = "fewer or more fields than in the first record";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Returns the option for this separator.
std::string SeparatorOption(char separator) {
  return separator == '\t'  ? "--tsv"
         : separator == ',' ? "--csv"
                            : "--separator '" + std::string(1, separator) + "'";
}

std::vector<std::string> Fields(std::string_view record, const CsvDialect& dialect, bool trim) {
  std::vector<std::string> fields;
  CsvReader::ForEachField(record, dialect, [&](std::string_view field) {
    fields.emplace_back(trim ? WithoutBlanks(field) : field);
  });
  return fields;
}

}  // namespace

KeyReader::KeyReader(const InputOptions& options, Needs needs)
    : options_(options),
      needs_(needs),
      dialect_{options.tsv ? '\t' : options.separator.value_or(','),
               /*quotes=*/!options.tsv && !options.no_quotes, options.quoted_lines},
      column_number_(options.ColumnNumber()),
      keeps_empty_(options.keeps_empty()),
      keeps_bare_empty_(keeps_empty_ && !options.jsonl &&
                        !(options.reads_csv() && dialect_.quotes)),
      csv_(dialect_),
      json_(options.jsonl ? MakeJsonField(options.field) : nullptr) {
  options_.Check();
}

bool KeyReader::Next(KeyBatch& batch) {
  batch.are_integers = options_.u64 || options_.integers;
  batch.strings.clear();
  batch.integers.clear();
  batch.texts.clear();
  batch.raws.clear();
  batch.records.clear();
  batch.bad.clear();
  for (;;) {
    if (file_ != nullptr) {
      Parse(batch);
      if (batch.num_records() > 0) return true;
      if (!file_->last()) {
        Fill();
        continue;
      }
    }
    if (next_path_ == options_.paths.size()) return false;
    OpenNext();
  }
}

void KeyReader::OpenNext() {
  file_ = std::make_unique<InputFile>(options_.paths[next_path_]);
  ++next_path_;
  position_ = options_.u64 ? 0 : 1;
  begun_ = false;
  shape_ = {};
  if (options_.Recognizes(file_->name())) bytes_read_ += file_->Recognize(/*raw=*/options_.u64);
  if (options_.u64) return;
  while (!file_->last() && file_->text().size() < kByteOrderMark.size() &&
         kByteOrderMark.starts_with(file_->text())) {
    Fill();
  }
  if (!options_.as_is && file_->text().starts_with(kByteOrderMark)) {
    file_->Consume(kByteOrderMark.size());
  }
  column_ = column_number_.value_or(1) - 1;
  if (options_.header || !column_number_) ReadHeader();
}

void KeyReader::Fill() {
  if (file_->text().size() >= kMaxRecordBytes) {
    if (!begun_) RefuseCrLines(file_->text());
    CsvRecord record;
    record.error = "a record of more than 16 MiB";
    record.astray = csv_.in_quotes();
    record.quote_line = csv_.quote_line();
    CheckQuotes(record);
    throw Error(ErrorCode::kInvalidArgument,
                detail::StrCat(file_->name(), ":", position_, ": ", record.error));
  }
  bytes_read_ += file_->Fill();
}

void KeyReader::CheckQuotes(const CsvRecord& record) const {
  if (!record.astray) return;
  throw Error(ErrorCode::kInvalidArgument,
              detail::StrCat(
                  file_->name(), ":", position_ + record.quote_line,
                  ": records cannot be separated after the quote that opens here: ", record.error,
                  ". Fix it (a quote within quotes is written twice), or give --no-quotes to read "
                  "quotes as text"));
}

void KeyReader::ReadHeader() {
  CsvRecord record;
  for (;;) {
    record = csv_.Read(file_->text(), file_->last(), 0);
    if (record.bytes > 0 || file_->last()) break;
    Fill();
  }
  CheckQuotes(record);
  const std::string_view header = file_->text().substr(0, record.bytes);
  NoteFirst(header);
  if (record.error == nullptr && !WithoutLineEnd(header).empty()) {
    shape_.Fits(WithoutLineEnd(header), record.fields);
  }
  if (!column_number_ && !header.empty()) column_ = FindColumn(header);
  if (header_.empty()) {
    header_ = header;
    header_file_ = file_->name();
  } else if (needs_.records && !header.empty()) {
    CheckSameHeader(header);
  }
  position_ += record.lines;
  file_->Consume(record.bytes);
}

void KeyReader::CheckSameHeader(std::string_view header) const {
  if (WithoutLineEnd(header) == WithoutLineEnd(header_)) return;
  const std::vector<std::string> here = Fields(header, dialect_, options_.trim);
  const std::vector<std::string> first = Fields(header_, dialect_, options_.trim);
  if (here == first) return;
  const auto at = static_cast<size_t>(
      std::mismatch(here.begin(), here.end(), first.begin(), first.end()).first - here.begin());
  const auto name = [at](const std::vector<std::string>& fields) {
    return at < fields.size() ? Quoted(fields[at]) : "missing";
  };
  throw Error(ErrorCode::kInvalidArgument,
              detail::StrCat(file_->name(), ": its column ", at + 1, " is ", name(here),
                             ", but in ", header_file_, " it is ", name(first),
                             ": their records cannot share one header; query each file by itself"));
}

void KeyReader::RefuseCrLines(std::string_view text) const {
  if (options_.as_is || text.find('\n') != std::string_view::npos) return;
  // A CR at the end may be half of a CRLF.
  if (text.find('\r') >= text.size() - 1) return;
  throw Error(ErrorCode::kInvalidArgument,
              file_->name() + ": its lines end in CR alone, without LF: `tr '\\r' '\\n' < FILE | " +
                  "tamis ...` converts them, and --as-is reads the file as one line");
}

void KeyReader::NoteFirst(std::string_view record) {
  if (std::exchange(begun_, true)) return;
  RefuseCrLines(record);
  if (!format_hint_.empty()) return;
  record = record.substr(0, kGuessBytes);
  if (json_ != nullptr) {
    // One value over several lines, or one array of all records.
    if (!record.starts_with('[') && WithoutLineEnd(record) != "{") return;
    format_hint_ = ". " + file_->name() +
                   " seems to be one JSON value: `jq -c '.[]'` writes each element of an array on "
                   "a line of its own, and `jq -c .` each value";
    return;
  }
  const bool fields = options_.reads_csv() || options_.tsv;
  if (!fields && !options_.integers) return;
  const std::optional<char> guess = GuessSeparator(record);
  if (!guess || (fields && record.find(dialect_.delimiter) != std::string_view::npos)) return;
  format_hint_ = ". The first record of " + file_->name() +
                 " seems to have several columns: give " + SeparatorOption(*guess);
}

void KeyReader::CheckSeparator() const {
  // If the user has given --separator, it is not an error.
  const std::optional<char> other = shape_.other_separator();
  if (!other || options_.separator) return;
  throw Error(ErrorCode::kInvalidArgument,
              file_->name() + ": each record has only one field, but the same number of " +
                  Quoted({&*other, 1}) + ": give " + SeparatorOption(*other) +
                  (options_.tsv ? "" : ", or --separator ',' if this is intended"));
}

size_t KeyReader::FindColumn(std::string_view header) const {
  std::optional<size_t> found, again;
  std::string names;
  bool has_blanks = false;  // a name equals the wanted name except for blanks around it
  size_t columns = 0;
  CsvReader::ForEachField(header, dialect_, [&](std::string_view name) {
    const std::string_view bare = options_.trim ? WithoutBlanks(name) : name;
    if (bare == options_.column && !again) (found ? again : found) = columns;
    has_blanks = has_blanks || WithoutBlanks(name) == options_.column;
    if (columns < kNamesShown) names += (columns > 0 ? ", " : "") + Quoted(name);
    ++columns;
  });
  if (again) {
    const std::string first = std::to_string(*found + 1), second = std::to_string(*again + 1);
    throw Error(ErrorCode::kInvalidArgument, file_->name() + ": two columns are named " +
                                                 Quoted(options_.column) + ", number " + first +
                                                 " and " + second + ": give --header --column " +
                                                 first + ", or " + second);
  }
  if (found) return *found;
  if (columns > kNamesShown) names += " and " + WithCommas(columns - kNamesShown) + " more";
  throw Error(ErrorCode::kInvalidArgument,
              file_->name() + ": no column " + Quoted(options_.column) +
                  "; the columns are: " + names + (has_blanks ? ": give --trim" : format_hint_));
}

void KeyReader::Parse(KeyBatch& batch) {
  if (options_.u64) return ParseU64(batch);
  // Reserves memory for a whole window, so that pointers into the string stay valid.
  unquoted_.clear();
  if (options_.reads_csv() || options_.jsonl || options_.hex) {
    unquoted_.reserve((options_.hex ? 2 : 1) * file_->text().size());
  }
  while (batch.num_records() < needs_.max_batch && !file_->text().empty()) {
    const size_t bytes = ParseRecord(batch);
    if (bytes == 0) return;
    file_->Consume(bytes);
  }
  if (file_->last() && file_->text().empty()) CheckSeparator();
}

size_t KeyReader::ParseRecord(KeyBatch& batch) {
  const std::string_view text = file_->text();
  // An empty line is the same in every format. A fast path, because there may be 16 MiB of them.
  if (text.front() == '\n' && !keeps_bare_empty_) {
    NoteFirst(text.substr(0, 1));
    Reject(kEmptyKey, {}, batch);
    ++position_;
    return 1;
  }
  if (options_.reads_csv() || options_.tsv) {
    const CsvRecord record = csv_.Read(text, file_->last(), column_);
    if (record.bytes == 0) return 0;
    CheckQuotes(record);
    const std::string_view whole = text.substr(0, record.bytes);
    const std::string_view line = WithoutLineEnd(whole);
    NoteFirst(whole);
    if (record.error != nullptr) {
      Reject(line.empty() ? kEmptyKey : record.error, line, batch);
    } else if (!line.empty() && !shape_.Fits(line, record.fields)) {
      Reject(kOtherFields, line, batch);
    } else if (record.doubled_quotes) {
      const size_t begin = unquoted_.size();
      AppendUnquoted(record.field, unquoted_);
      Accept(std::string_view(unquoted_).substr(begin), record.quoted, whole, batch);
    } else {
      Accept(record.field, record.quoted, whole, batch);
    }
    if (shape_.records() == kShapeRecords) CheckSeparator();
    position_ += record.lines;
    return record.bytes;
  }
  const size_t bytes = lines_.Find(text, file_->last());
  if (bytes == 0) return 0;
  const std::string_view line = text.substr(0, bytes);
  NoteFirst(line);
  if (json_ != nullptr) {
    ParseJson(line, batch);
  } else {
    Accept(WithoutLineEnd(line), /*quoted=*/false, line, batch);
  }
  ++position_;
  return bytes;
}

void KeyReader::ParseJson(std::string_view line, KeyBatch& batch) {
  static_assert(InputFile::kPadding >= kJsonPadding);
  const std::string_view json = WithoutLineEnd(line);
  if (json.empty()) return Reject(kEmptyKey, {}, batch);
  const JsonValue value = json_->Find(json);
  if (value.error != nullptr) return Reject(value.error, json, batch);
  const size_t begin = unquoted_.size();
  unquoted_ += value.text;
  const size_t keys = batch.size();
  Accept(std::string_view(unquoted_).substr(begin), value.is_string, line, batch);
  if (needs_.raws && batch.size() > keys) batch.raws.push_back(value.raw);
}

void KeyReader::ParseU64(KeyBatch& batch) {
  const std::string_view text = file_->text();
  const size_t n = std::min(text.size() / sizeof(uint64_t), needs_.max_batch);
  batch.integers.resize(n);
  // The input is little-endian.
  if (n > 0) std::memcpy(batch.integers.data(), text.data(), n * sizeof(uint64_t));
  if (needs_.records) {
    for (size_t i = 0; i < n; ++i) {
      batch.records.push_back(text.substr(i * sizeof(uint64_t), sizeof(uint64_t)));
    }
  }
  counts_.AddKeys(n);
  file_->Consume(n * sizeof(uint64_t));
  position_ += n * sizeof(uint64_t);
  const std::string_view rest = file_->text();
  if (file_->last() && !rest.empty() && rest.size() < sizeof(uint64_t) && n < needs_.max_batch) {
    Reject("fewer than 8 bytes are left", rest, batch);
    file_->Consume(rest.size());
  }
}

void KeyReader::Accept(std::string_view key, bool quoted, std::string_view record,
                       KeyBatch& batch) {
  if (options_.trim) key = WithoutBlanks(key);
  if (key.empty() && !(quoted ? keeps_empty_ : keeps_bare_empty_)) {
    return Reject(kEmptyKey, key, batch);
  }
  if (batch.are_integers) {
    uint64_t value = 0;
    const char* error = ParseIntegerKey(key, value);
    if (error != nullptr) return Reject(error, key, batch);
    batch.integers.push_back(value);
    if (needs_.texts) batch.texts.push_back(key);
  } else if (options_.hex) {
    const size_t begin = unquoted_.size();
    const char* error = AppendHexKey(key, unquoted_);
    if (error != nullptr) return Reject(error, key, batch);
    batch.strings.push_back(std::string_view(unquoted_).substr(begin));
    if (needs_.texts) batch.texts.push_back(key);
  } else {
    batch.strings.push_back(key);
  }
  counts_.AddKeys(1);
  if (needs_.records) batch.records.push_back(record);
}

void KeyReader::Reject(const char* reason, std::string_view text, KeyBatch& batch) {
  batch.bad.push_back(batch.num_records());
  const bool is_first = reason == kEmptyKey ? counts_.AddEmpty() : counts_.AddBad();
  if (!options_.strict && !(needs_.report_bad && is_first)) return;
  std::string message =
      detail::StrCat(file_->name(), options_.u64 ? ": offset " : ":", position_, ": ", reason);
  if (!text.empty()) message += ": " + Quoted(text);
  if (options_.strict) throw Error(ErrorCode::kInvalidArgument, message);
  Say(message);
}

void KeyReader::Conclude(const char* consequence, bool some_key) const {
  // In raw integers, left-over bytes are an error: the input was cut short, or has another format.
  const MaxBad by_default = options_.u64 ? MaxBad{.count = 0} : MaxBad();
  counts_.Conclude({options_.max_bad.value_or(by_default), some_key, format_hint_, consequence});
}

}  // namespace tamis::tools
