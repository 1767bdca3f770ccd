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
#include "tools/input/record_shape.h"

namespace tamis::tools {

// Successive records of an input. A record is a line, a CSV record or a raw integer; it is good if
// it holds a key.
struct KeyBatch {
  std::vector<std::string_view> strings;  // the keys, or ...
  std::vector<uint64_t> integers;         // ... the keys where they are integers
  std::vector<std::string_view> texts;    // ... and as they were written, unless raw, if asked for
  std::vector<std::string_view> records;  // each key's whole record with its line end, if asked for
  std::vector<size_t> bad;                // which records of the batch hold no key, ascending
  bool are_integers = false;

  size_t size() const { return are_integers ? integers.size() : strings.size(); }
  // Good records and bad ones.
  size_t num_records() const { return size() + bad.size(); }
  Keys keys() const { return are_integers ? Keys(integers) : Keys(strings); }
};

class KeyReader {
 public:
  struct Needs {
    bool records = false;                // fill KeyBatch::records
    bool texts = false;                  // fill KeyBatch::texts
    bool report_bad = true;              // say on standard error which records are bad
    size_t max_batch = size_t{1} << 20;  // records
  };

  KeyReader(const InputOptions& options, Needs needs);

  // Reads the next batch. Returns false after the last. Pointers in the batch stay valid until the
  // next call. Throws Error(kIo). Throws Error(kInvalidArgument) for
  // - a bad record, if options.strict is set
  // - a quote that is never closed, so that records cannot be separated
  // - a separator that no record has, if all records have another one
  // - a header that differs from the first
  // - a file whose lines end in CR alone
  bool Next(KeyBatch& batch);

  // The first header that was read, with its line end, if the options say that there is one.
  const std::string& header() const { return header_; }
  // Of the files, as they are packed.
  uint64_t bytes_read() const { return bytes_read_; }
  // Records without a key, and how many of these are empty.
  uint64_t num_bad() const { return counts_.without_key(); }
  uint64_t num_empty() const { return counts_.empty(); }

  // To be called at the end: says on standard error how many records hold no key, if there are any.
  // Throws Error(kInvalidArgument), with `consequence`, if none gave a key or more were bad than
  // options.max_bad; for an input without bad records and without keys only if there must be
  // `some_key`.
  void Conclude(const char* consequence, bool some_key) const;

 private:
  void OpenNext();
  void Fill();
  void ReadHeader();
  void CheckSameHeader(std::string_view header) const;
  size_t FindColumn(std::string_view header) const;
  void Parse(KeyBatch& batch);
  void ParseU64(KeyBatch& batch);
  // The length of the record that the text begins with, 0 if it is not complete, and its key.
  size_t ParseRecord(KeyBatch& batch);
  // Throws for an error that leaves in doubt where records begin.
  void CheckQuotes(const CsvRecord& record) const;
  void CheckSeparator() const;
  // To be called for the first record of each file, or how it begins.
  void NoteFirst(std::string_view record);
  // Throws if `text`, all that a file has, is lines that end in CR alone.
  void RefuseCrLines(std::string_view text) const;
  void Accept(std::string_view key, bool quoted, std::string_view record, KeyBatch& batch);
  void Reject(const char* reason, std::string_view text, KeyBatch& batch);

  const InputOptions options_;
  const Needs needs_;
  const CsvDialect dialect_;
  const std::optional<uint64_t> column_number_;  // nothing where it is a name
  const bool keeps_empty_;
  // Where fields may be quoted, one that is empty and is not holds nothing.
  const bool keeps_bare_empty_;
  size_t next_path_ = 0;
  std::unique_ptr<InputFile> file_;
  LineFinder lines_;
  CsvReader csv_;
  size_t column_ = 0;      // of the present file, from 0
  uint64_t position_ = 0;  // in the present file: the record's first line from 1, or raw its offset
  std::string header_;
  std::string header_file_;     // where that was
  bool begun_ = false;          // the present file's first record has been read
  std::string separator_hint_;  // a sentence, if another separator seems to be right for a file
  RecordShape shape_;           // of the present file
  std::string unquoted_;        // fields of the batch that do not stand in the text as they are
  uint64_t bytes_read_ = 0;
  LineCounts counts_;
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_KEY_READER_H_
