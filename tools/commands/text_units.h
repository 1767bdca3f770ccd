// Compares documents, their paragraphs, or n-grams of their words, for `tamis dedup --unit`.
#ifndef TAMIS_TOOLS_COMMANDS_TEXT_UNITS_H_
#define TAMIS_TOOLS_COMMANDS_TEXT_UNITS_H_

#include <tamis/key_types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

  static constexpr uint64_t kWords = 13;
  static constexpr uint64_t kMostWords = 1000;
  static constexpr double kThreshold = 0.8;

  // Adds --unit, --remove, --ngrams and --threshold.
  void AddTo(const CommandLine& command);
  // Throws Error(kInvalidArgument) for options that do not fit together.
  void Check(const InputOptions& input) const;

  bool given() const { return !unit.empty(); }
  bool by_words() const { return unit == "ngram"; }
  bool annotates() const { return remove == "annotate"; }
  // Returns whether documents are kept or removed as a whole.
  bool whole_documents() const { return unit == "document" || remove == "document"; }
};

// A unit is the part of a text that is new or repeated: a document or a paragraph. It has one or
// several keys: its own bytes, its paragraphs, or the n-grams of its words. A unit is repeated if
// at least a share of its keys has occurred in earlier units that were new.
//
// A paragraph is a line of the document, without blanks at its ends. If it has fewer words than an
// n-gram, all its words are one n-gram. A unit without keys is new.
//
// The key of an n-gram is an integer: the polynomial sum of h(w_i) kBase^(n-1-i) mod 2^64 over its
// words w_0 to w_(n-1), plus n, where h is XXH3-64.
class TextUnits {
 public:
  struct Counts {
    uint64_t documents = 0;
    uint64_t written = 0;  // documents
    uint64_t changed = 0;  // documents that were written without some of their paragraphs
    uint64_t units = 0;    // units with keys
    uint64_t repeated = 0;
    double lost = 0;  // upper bound of the expected number of new units that are taken for repeated
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
  struct Paragraph {
    size_t begin, bytes;     // in the document, with blanks, without the line end
    size_t first_key, keys;  // in the keys of the slice
    double share = 0;        // of its keys that occurred before
    bool repeated = false;
  };
  enum class Fate : unsigned char { kUnchanged, kChanged, kLeftOut };
  struct Document {
    size_t first_paragraph, paragraphs;  // in the slice
    size_t first_key, keys;              // in the keys of the slice
    double share = 0;
    bool repeated = false;
    Fate fate = Fate::kUnchanged;
  };
  // The documents that one thread splits.
  struct Slice {
    std::vector<Document> documents;
    std::vector<Paragraph> paragraphs;
    std::vector<std::string_view> strings;  // the keys, unless they are n-grams
    std::vector<uint64_t> ngrams;           // the keys, if they are n-grams
    std::vector<uint64_t> last_words;       // hashes of the latest words, in a ring
  };

  void SplitAll(const KeyBatch& batch);
  void Split(std::string_view text, Slice& slice) const;
  void AddNgrams(std::string_view paragraph, Slice& slice) const;
  // Calls `visit` for each unit that has keys: documents or paragraphs, in order.
  template <typename Visit>
  void ForEachUnit(Visit visit);
  // For units of one key each, whose keys are strings.
  void JudgeTogether(SeenKeys& seen);
  void JudgeOneByOne(SeenKeys& seen);
  void AddLost(double fpr);
  Fate FateOf(const Slice& slice, const Document& document) const;
  std::string_view Annotated(const KeyBatch& batch, size_t i, const Slice& slice,
                             const Document& document);
  std::string_view WithoutRepeated(const KeyBatch& batch, size_t i, const Slice& slice,
                                   const Document& document);

  const TextOptions options_;
  const size_t words_;
  const double threshold_;
  uint64_t oldest_factor_ = 1;  // kBase^(n-1)
  std::vector<Slice> slices_;
  std::vector<std::string_view> strings_;
  std::vector<uint64_t> bits_;
  std::string record_;
  std::optional<double> fpr_;  // after the last batch
  Counts counts_;
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_COMMANDS_TEXT_UNITS_H_
