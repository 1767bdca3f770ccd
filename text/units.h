// Splits texts into units, and finds the units that occurred before. The command and the Python
// package both compile the sources of this folder, which is not a part of the library.
#ifndef TAMIS_TEXT_UNITS_H_
#define TAMIS_TEXT_UNITS_H_

#include <tamis/keys.h>
#include <tamis/queryable.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tamis::text {

inline constexpr uint64_t kWords = 13;
inline constexpr uint64_t kMostWords = 1000;
inline constexpr double kThreshold = 0.8;
// The false-positive rate of a filter of lines, documents or paragraphs. A false positive loses
// one.
inline constexpr double kFpr = 1e-6;
// The false-positive rate of a filter of n-grams. Many n-grams of a paragraph must be false
// positives at once.
inline constexpr double kNgramFpr = 1e-3;
// Smallest capacity of a new filter. A smaller filter would save hardly any memory, and its rate
// would be higher than the formulas for large filters predict.
inline constexpr uint64_t kMinCapacity = uint64_t{1} << 16;

struct UnitOptions {
  bool by_words = false;          // whether the keys are n-grams
  bool by_paragraphs = false;     // whether the keys are paragraphs
  bool whole_documents = true;    // whether the units are documents
  size_t words = kWords;          // of an n-gram, from 1 to kMostWords
  double threshold = kThreshold;  // share of the keys of a unit, in (0, 1]

  // Returns the options for a unit of the command: "document", "paragraph" or "ngram". Returns
  // std::nullopt for other names, and for documents that are not whole.
  static std::optional<UnitOptions> Of(std::string_view unit, bool whole_documents);
};

// The keys of the units that were new.
class KnownKeys {
 public:
  KnownKeys() = default;
  KnownKeys(const KnownKeys&) = delete;
  KnownKeys& operator=(const KnownKeys&) = delete;
  virtual ~KnownKeys() = default;

  // Like Queryable::Contains.
  virtual size_t Contains(const Keys& keys, Bitmap found) = 0;
  // Like ChangeableFilter::InsertIfAbsent. May throw if a key does not fit.
  virtual size_t InsertIfAbsent(const Keys& keys, Bitmap fresh) = 0;
};

// Sets the bits of the keys that `known` does not contain, and returns their number: the result of
// InsertIfAbsent where nothing is inserted.
size_t FindAbsent(KnownKeys& known, const Keys& keys, Bitmap absent);

// Keys of n-grams do not show how many words an n-gram has. So a filter of n-grams also contains
// the marks of this number: eight integers. A filter that is merged from several has the marks of
// all.
//
// Inserts the marks of n-grams of `words` words.
void InsertMarks(KnownKeys& known, size_t words);
// Returns {words} if the filter contains the marks of `words`. Otherwise returns all numbers whose
// marks it contains, ascending. If p is the false-positive rate, marks that were not inserted are
// found with probability p^8. Throws the errors of Contains.
std::vector<size_t> MarkedWords(const Queryable& filter, size_t words);

// Returns numbers of words for messages, such as "3, 5 or 13". Replaces numbers after the first
// eight by "...". Requires a number.
std::string WordsText(std::span<const size_t> numbers);

// Returns how many of `keys` keys of a unit must be known for the unit to be repeated.
size_t Needed(size_t keys, double threshold);

struct Unit {
  size_t first_key, keys;
  double share = 0;  // of the keys that were known
  bool repeated = false;
};

struct Paragraph : Unit {
  size_t begin, bytes;  // in the document, with blanks, without the line end
};

enum class Fate : uint8_t { kUnchanged, kChanged, kLeftOut };

struct Document : Unit {
  size_t first_paragraph, paragraphs;
  Fate fate = Fate::kUnchanged;  // kChanged: some paragraphs are repeated
};

// A unit is the part of a text that is new or repeated: a document or a paragraph. It has one or
// several keys: its own bytes, its paragraphs, or the n-grams of its words. A unit is repeated if
// at least a share of its keys has occurred in earlier units that were new.
//
// A paragraph is a line of the document, without blanks at its ends. If it has fewer words than an
// n-gram, all its words are one n-gram. A unit without keys is new. A document of paragraphs is
// left out if all its paragraphs with keys are repeated, and at least one is.
//
// The key of an n-gram is an integer: the polynomial sum of h(w_i) kBase^(n-1-i) mod 2^64 over its
// words w_0 to w_(n-1), plus n, where h is XXH3-64.
class Units {
 public:
  // At most `threads` threads split the texts of a call, at least 1. The result does not depend on
  // their number.
  explicit Units(const UnitOptions& options, unsigned threads = 1);

  // Replaces the texts by those of a batch, which must outlive their use.
  void Split(std::span<const std::string_view> texts);

  // Returns the keys of all units in order, for an object with one thread. The result is valid
  // until the next call of Split.
  Keys keys() const;

  // Finds the repeated units, in order, and inserts the keys of new units into `known`. Throws the
  // errors of `known`.
  void Judge(KnownKeys& known);

  // Calls visit(document) for all documents, in order.
  template <typename Visit>
  void ForEachDocument(const Visit& visit) const {
    for (const Slice& slice : slices_) {
      for (const Document& document : slice.documents) visit(document);
    }
  }
  // Calls visit(unit) for each unit that has keys, in order.
  template <typename Visit>
  void ForEachUnit(const Visit& visit) const {
    for (const Slice& slice : slices_) ForEachUnitOf(slice, options_.whole_documents, visit);
  }

  // Document `i` of the batch, and its paragraphs, which are empty if the documents are the keys.
  struct Judged {
    const Document& document;
    std::span<const Paragraph> paragraphs;
  };
  Judged operator[](size_t i) const;

 private:
  // The documents that one thread splits.
  struct Slice {
    std::vector<Document> documents;
    std::vector<Paragraph> paragraphs;
    std::vector<std::string_view> strings;  // the keys, unless they are n-grams
    std::vector<uint64_t> ngrams;           // the keys, if they are n-grams
    std::vector<uint64_t> last_words;       // hashes of the latest words, in a ring

    std::span<const Paragraph> Of(const Document& document) const {
      return std::span(paragraphs).subspan(document.first_paragraph, document.paragraphs);
    }
  };

  template <typename AnySlice, typename Visit>
  static void ForEachUnitOf(AnySlice& slice, bool whole_documents, const Visit& visit) {
    const auto visit_all = [&](auto& units) {
      for (auto& unit : units) {
        if (unit.keys > 0) visit(unit);
      }
    };
    whole_documents ? visit_all(slice.documents) : visit_all(slice.paragraphs);
  }

  void Split(std::string_view text, Slice& slice) const;
  void AddNgrams(std::string_view paragraph, Slice& slice) const;
  // For units of one key each, whose keys are strings.
  void JudgeTogether(KnownKeys& known);
  void JudgeOneByOne(KnownKeys& known);
  Fate FateOf(const Slice& slice, const Document& document) const;

  const UnitOptions options_;
  uint64_t oldest_factor_ = 1;  // kBase^(n-1)
  std::vector<Slice> slices_;
  std::vector<std::string_view> strings_;
  std::vector<uint64_t> bits_;
};

}  // namespace tamis::text

#endif  // TAMIS_TEXT_UNITS_H_
