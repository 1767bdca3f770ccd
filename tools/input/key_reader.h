// Turns input into batches of keys, in memory that does not grow with the input.
#ifndef TAMIS_TOOLS_INPUT_KEY_READER_H_
#define TAMIS_TOOLS_INPUT_KEY_READER_H_

#include <tamis/file/file_checks.h>
#include <tamis/keys.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/input/bad_lines.h"
#include "tools/input/csv.h"
#include "tools/input/input.h"
#include "tools/input/input_file.h"
#include "tools/input/json_field.h"
#include "tools/input/record_shape.h"

namespace tamis::tools {

// Consecutive records of an input. A record is a line, a CSV record or a raw integer. Records that
// contain a key are good, and other records are bad.
struct KeyBatch {
  std::vector<std::string_view> strings;  // the keys, unless they are integers
  std::vector<uint64_t> integers;         // the keys, if they are integers
  std::vector<std::string_view> texts;    // if Needs::texts: integers and --hex keys as written
  std::vector<std::string_view> raws;     // if Needs::raws: fields of JSON as written, with quotes
  std::vector<std::string_view> records;  // if Needs::records: good records with their line ends
  std::vector<size_t> bad;                // indices of the bad records of the batch, ascending
  bool are_integers = false;

  size_t size() const { return are_integers ? integers.size() : strings.size(); }
  // Returns the number of good and bad records.
  size_t num_records() const { return size() + bad.size(); }
  Keys keys() const { return are_integers ? Keys(integers) : Keys(strings); }
};

class KeyReader {
 public:
  struct Needs {
    bool records = false;                // fill KeyBatch::records
    bool texts = false;                  // fill KeyBatch::texts
    bool raws = false;                   // fill KeyBatch::raws if the input is JSON
    bool report_bad = true;              // print the bad records on standard error
    size_t max_batch = size_t{1} << 20;  // records
  };

  KeyReader(const InputOptions& options, Needs needs);

  // Reads the next batch. Returns false after the last. Pointers in the batch stay valid until the
  // next call. Throws Error(kIo). Throws Error(kInvalidArgument) for
  // - a bad record, if options.strict is set
  // - a quote that is never closed, so that records cannot be separated
  // - a separator that no record has, if all records have another separator
  // - a header that differs from the first
  // - a file whose lines end in CR alone
  bool Next(KeyBatch& batch);

  // Returns the first header that was read, with its line end, or "" if there is no header.
  const std::string& header() const { return header_; }
  // Returns how many bytes of the files were read. In compressed files these are compressed bytes.
  uint64_t bytes_read() const { return bytes_read_; }
  // Return the number of records without a key, and the number of empty records among them.
  uint64_t num_bad() const { return counts_.without_key(); }
  uint64_t num_empty() const { return counts_.empty(); }

  // Must be called after the last batch. If records lack a key, prints their number on standard
  // error. Throws Error(kInvalidArgument), with `consequence`, in the cases of
  // LineCounts::Conclude.
  void Conclude(const char* consequence, bool some_key) const;

 private:
  void OpenNext();
  void Fill();
  void ReadHeader();
  void CheckSameHeader(std::string_view header) const;
  size_t FindColumn(std::string_view header) const;
  void Parse(KeyBatch& batch);
  void ParseU64(KeyBatch& batch);
  // Reads the first record of the text. Returns its length, or 0 if it is not complete.
  size_t ParseRecord(KeyBatch& batch);
  void ParseJson(std::string_view line, KeyBatch& batch);
  // Throws for an error after which it is unknown where records begin.
  void CheckQuotes(const CsvRecord& record) const;
  void CheckSeparator() const;
  // Must be called with the first record of each file, or its beginning. Later calls do nothing.
  void NoteFirst(std::string_view record);
  // Throws if `text`, the whole contents of a file, consists of lines that end in CR alone.
  void RefuseCrLines(std::string_view text) const;
  void Accept(std::string_view key, bool quoted, std::string_view record, KeyBatch& batch);
  void Reject(const char* reason, std::string_view text, KeyBatch& batch);

  const InputOptions options_;
  const Needs needs_;
  const CsvDialect dialect_;
  const std::optional<uint64_t> column_number_;  // nullopt: the column has a name
  const bool keeps_empty_;
  // If fields may be quoted, an empty field without quotes is not a key.
  const bool keeps_bare_empty_;
  size_t next_path_ = 0;
  std::unique_ptr<InputFile> file_;
  LineFinder lines_;
  CsvReader csv_;
  const std::unique_ptr<JsonField> json_;  // nullptr unless lines are JSON texts
  size_t column_ = 0;                      // number of the column in the current file, from 0
  uint64_t position_ = 0;  // current line number, from 1, or current offset of a raw integer
  std::string header_;
  std::string header_file_;  // the file that has this header
  bool begun_ = false;       // the first record of the current file has been read
  std::string format_hint_;  // appended to errors if a file seems to have another format
  RecordShape shape_;        // shape of the current file's records
  std::string unquoted_;     // keys of the batch that differ from their text
  uint64_t bytes_read_ = 0;
  LineCounts counts_;
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_KEY_READER_H_
