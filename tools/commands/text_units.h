// Compares documents, their paragraphs, or n-grams of their words, for `tamis dedup --unit`.
#ifndef TAMIS_TOOLS_COMMANDS_TEXT_UNITS_H_
#define TAMIS_TOOLS_COMMANDS_TEXT_UNITS_H_

#include <tamis/keys.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "text/units.h"
#include "tools/commands/seen_keys.h"
#include "tools/input/input.h"
#include "tools/input/key_reader.h"
#include "tools/options/command_line.h"

namespace tamis::tools {

struct TextOptions {
  std::string unit;                 // "document", "paragraph" or "ngram"; empty: not text
  std::string remove;               // "paragraph", "document" or "annotate"; empty: by the unit
  std::optional<uint64_t> ngrams;   // words of an n-gram
  std::optional<double> threshold;  // share of the keys of a unit, in (0, 1]

  // Adds --unit, --remove, --ngrams and --threshold.
  void AddTo(const CommandLine& command);
  // Throws Error(kInvalidArgument) for options that do not fit together.
  void Check(const InputOptions& input) const;

  bool given() const { return !unit.empty(); }
  bool by_words() const { return unit == "ngram"; }
  bool annotates() const { return remove == "annotate"; }
  // Returns whether documents are kept or removed as a whole.
  bool whole_documents() const { return unit == "document" || remove == "document"; }
  // Requires given() and Check().
  text::UnitOptions units() const;
};

// Compares the texts of batches of records, and forms the records to write.
class TextUnits {
 public:
  struct Counts {
    uint64_t documents = 0;
    uint64_t written = 0;  // documents
    uint64_t changed = 0;  // documents that were written without some of their paragraphs
    uint64_t units = 0;    // units with keys
    uint64_t repeated = 0;
    double lost = 0;  // upper bound of the expected number of new units that are taken for repeated

    double at_most_lost() const { return std::min(lost, static_cast<double>(repeated)); }
  };

  // `threads` split texts into units, at least 1. The result does not depend on their number.
  TextUnits(const TextOptions& options, unsigned threads);

  // Compares the documents of the batch, in order, with all earlier ones. Inserts the keys of new
  // units into `seen`. Throws the errors of SeenKeys.
  void Compare(const KeyBatch& batch, SeenKeys& seen);

  // Returns document `i` of the batch in the form to be written, or "" if it is left out. The batch
  // must be the argument of the last call of Compare. The result is valid until the next call.
  std::string_view Record(const KeyBatch& batch, size_t i);

  const Counts& counts() const { return counts_; }
  // Continues the counts of an earlier run. Must be called before Compare.
  void ContinueFrom(const Counts& counts) { counts_ = counts; }

  // Returns the keys of the batch, in order, for an object with one thread. Compares and inserts
  // nothing. The result is valid until the next call.
  Keys KeysOf(const KeyBatch& batch);

 private:
  // `fpr` is the rate after the batch, which is the highest rate in it.
  void AddLost(double fpr);
  text::Fate FateOf(const text::Document& document) const;
  std::string_view Annotated(const KeyBatch& batch, size_t i, const text::Units::Judged& judged);
  std::string_view WithoutRepeated(const KeyBatch& batch, size_t i,
                                   const text::Units::Judged& judged);

  const TextOptions options_;
  const text::UnitOptions unit_options_;
  text::Units units_;
  std::string record_;
  Counts counts_;
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_COMMANDS_TEXT_UNITS_H_
