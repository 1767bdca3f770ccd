#include "text/units.h"

#include <tamis/hash.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <numeric>
#include <thread>

#include "tamis/detail/str_cat.h"
#include "text/words.h"

namespace tamis::text {
namespace {

constexpr uint64_t kBase = 0x9E3779B97F4A7C15;  // odd, so that multiplications lose no bits
constexpr std::string_view kOuterBlanks = " \t\r";
// The number of n-grams that are queried together before their units are judged in turn. A large
// query overlaps the accesses to memory, and leaves the blocks in the second-level cache.
constexpr size_t kCached = 2048;

// Returns the marks of n-grams of `words` words.
std::array<uint64_t, 8> MarksOf(size_t words) {
  std::array<uint64_t, 8> marks{};
  std::iota(marks.begin(), marks.end(), HashBytes(detail::StrCat("tamis n-grams ", words)));
  return marks;
}

}  // namespace

std::optional<UnitOptions> UnitOptions::Of(std::string_view unit, bool whole_documents) {
  UnitOptions options{.by_words = unit == "ngram",
                      .by_paragraphs = unit == "paragraph",
                      .whole_documents = whole_documents};
  if (options.by_words || options.by_paragraphs) return options;
  if (unit != "document" || !whole_documents) return std::nullopt;
  return options;
}

size_t FindAbsent(KnownKeys& known, const Keys& keys, Bitmap absent) {
  const size_t found = known.Contains(keys, absent);
  for (uint64_t& word : absent.words().first(BitmapWords(keys.size()))) word = ~word;
  if (const size_t last = keys.size() % 64; last != 0) {
    absent.words()[keys.size() / 64] &= (uint64_t{1} << last) - 1;
  }
  return keys.size() - found;
}

void InsertMarks(KnownKeys& known, size_t words) {
  uint64_t bits = 0;
  known.InsertIfAbsent(MarksOf(words), Bitmap({&bits, 1}));
}

std::vector<size_t> MarkedWords(const Queryable& filter, size_t words) {
  const auto has_marks = [&](size_t n) {
    const std::array<uint64_t, 8> marks = MarksOf(n);
    uint64_t bits = 0;
    return filter.Contains(marks, Bitmap({&bits, 1})) == marks.size();
  };
  if (has_marks(words)) return {words};
  std::vector<size_t> numbers;
  for (size_t n = 1; n <= kMostWords; ++n) {
    if (has_marks(n)) numbers.push_back(n);
  }
  return numbers;
}

std::string WordsText(std::span<const size_t> numbers) {
  constexpr size_t kShown = 8;
  std::string text = detail::StrCat(numbers.front());
  for (size_t i = 1; i < numbers.size(); ++i) {
    if (i == kShown) return text + ", ...";
    text += detail::StrCat(i + 1 < numbers.size() ? ", " : " or ", numbers[i]);
  }
  return text;
}

size_t Needed(size_t keys, double threshold) {
  // Subtracts a little, because 0.1 * 30, for example, is slightly more than 3.
  const double share = std::ceil(threshold * static_cast<double>(keys) - 1e-9);
  return std::max<size_t>(1, static_cast<size_t>(share));
}

Units::Units(const UnitOptions& options, unsigned threads)
    : options_(options), slices_(std::max(1U, threads)) {
  for (size_t i = 1; i < options_.words; ++i) oldest_factor_ *= kBase;
}

void Units::AddNgrams(std::string_view paragraph, Slice& slice) const {
  const size_t n = options_.words;
  std::vector<uint64_t>& ring = slice.last_words;
  ring.resize(n);
  uint64_t sum = 0;
  size_t count = 0, at = 0;
  Words words(paragraph);
  for (std::string_view word = words.Next(); !word.empty(); word = words.Next()) {
    const uint64_t hash = HashBytes(word);
    if (count >= n) sum -= ring[at] * oldest_factor_;
    sum = sum * kBase + hash;
    ring[at] = hash;
    if (++at == n) at = 0;
    if (++count >= n) slice.ngrams.push_back(sum + n);
  }
  if (count > 0 && count < n) slice.ngrams.push_back(sum + n);
}

void Units::Split(std::string_view text, Slice& slice) const {
  const auto num_keys = [&] {
    return options_.by_words ? slice.ngrams.size() : slice.strings.size();
  };
  Document document = {{num_keys(), 0}, slice.paragraphs.size(), 0};
  if (!options_.by_words && !options_.by_paragraphs) {
    slice.strings.push_back(text);
  } else {
    for (size_t begin = 0; begin <= text.size();) {
      const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
      Paragraph paragraph = {{num_keys(), 0}, begin, line.size()};
      if (options_.by_words) {
        AddNgrams(line, slice);
      } else if (const size_t first = line.find_first_not_of(kOuterBlanks); first != line.npos) {
        slice.strings.push_back(
            line.substr(first, line.find_last_not_of(kOuterBlanks) + 1 - first));
      }
      paragraph.keys = num_keys() - paragraph.first_key;
      slice.paragraphs.push_back(paragraph);
      begin += line.size() + 1;
    }
  }
  document.paragraphs = slice.paragraphs.size() - document.first_paragraph;
  document.keys = num_keys() - document.first_key;
  slice.documents.push_back(document);
}

void Units::Split(std::span<const std::string_view> texts) {
  uint64_t bytes = 0;
  for (const std::string_view text : texts) bytes += text.size() + 1;
  constexpr uint64_t kLeast = uint64_t{1} << 16;  // fewer bytes are not worth a thread
  const uint64_t per_slice = std::max(kLeast, bytes / slices_.size() + 1);
  std::vector<std::exception_ptr> errors(slices_.size());
  std::vector<std::jthread> threads;  // last, so that it ends first
  for (size_t s = slices_.size(), end = texts.size(); s-- > 0;) {
    size_t begin = end;
    for (uint64_t n = 0; begin > 0 && (n < per_slice || s == 0);) n += texts[--begin].size() + 1;
    Slice& slice = slices_[s];
    slice.documents.clear();
    slice.paragraphs.clear();
    slice.strings.clear();
    slice.ngrams.clear();
    const auto split = [this, texts, &slice, &error = errors[s], begin, end] {
      try {
        for (size_t i = begin; i < end; ++i) Split(texts[i], slice);
      } catch (...) {
        error = std::current_exception();
      }
    };
    if (s == 0) {
      split();
    } else if (begin < end) {
      threads.emplace_back(split);
    }
    end = begin;
  }
  threads.clear();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

Keys Units::keys() const {
  const Slice& slice = slices_.front();
  return options_.by_words ? Keys(slice.ngrams) : Keys(slice.strings);
}

void Units::JudgeTogether(KnownKeys& known) {
  strings_.clear();
  for (const Slice& slice : slices_) {
    strings_.insert(strings_.end(), slice.strings.begin(), slice.strings.end());
  }
  bits_.resize(BitmapWords(strings_.size()));
  const Bitmap fresh(bits_);
  known.InsertIfAbsent(strings_, fresh);
  size_t key = 0;
  for (Slice& slice : slices_) {
    ForEachUnitOf(slice, options_.whole_documents, [&](Unit& unit) {
      unit.repeated = !fresh.Test(key++);
      unit.share = unit.repeated ? 1 : 0;
    });
  }
}

void Units::JudgeOneByOne(KnownKeys& known) {
  for (Slice& slice : slices_) {
    size_t cached = 0;  // n-grams before this one are in the cache
    ForEachUnitOf(slice, options_.whole_documents, [&](Unit& unit) {
      if (options_.by_words && unit.first_key + unit.keys > cached) {
        const auto next = std::span(slice.ngrams).subspan(unit.first_key);
        const auto some = next.first(std::min(next.size(), std::max(kCached, unit.keys)));
        bits_.resize(BitmapWords(some.size()));
        known.Contains(some, Bitmap(bits_));
        cached = unit.first_key + some.size();
      }
      const Keys keys = options_.by_words
                            ? Keys(std::span(slice.ngrams).subspan(unit.first_key, unit.keys))
                            : Keys(std::span(slice.strings).subspan(unit.first_key, unit.keys));
      bits_.resize(BitmapWords(unit.keys));
      const size_t found = known.Contains(keys, Bitmap(bits_));
      unit.repeated = found >= Needed(unit.keys, options_.threshold);
      unit.share = static_cast<double>(found) / static_cast<double>(unit.keys);
      if (!unit.repeated) known.InsertIfAbsent(keys, Bitmap(bits_));
    });
  }
}

void Units::Judge(KnownKeys& known) {
  const bool one_key_each =
      !options_.by_words && (!options_.by_paragraphs || !options_.whole_documents);
  one_key_each ? JudgeTogether(known) : JudgeOneByOne(known);
  for (Slice& slice : slices_) {
    for (Document& document : slice.documents) document.fate = FateOf(slice, document);
  }
}

Fate Units::FateOf(const Slice& slice, const Document& document) const {
  if (options_.whole_documents) return document.repeated ? Fate::kLeftOut : Fate::kUnchanged;
  size_t some = 0, repeated = 0;
  for (const Paragraph& paragraph : slice.Of(document)) {
    some += paragraph.keys > 0 ? 1 : 0;
    repeated += paragraph.repeated ? 1 : 0;
  }
  if (repeated == 0) return Fate::kUnchanged;
  return repeated == some ? Fate::kLeftOut : Fate::kChanged;
}

Units::Judged Units::operator[](size_t i) const {
  const Slice* slice = slices_.data();
  for (; i >= slice->documents.size(); ++slice) i -= slice->documents.size();
  const Document& document = slice->documents[i];
  return {document, slice->Of(document)};
}

}  // namespace tamis::text
