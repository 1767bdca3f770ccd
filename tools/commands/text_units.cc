#include "tools/commands/text_units.h"

#include <tamis/error.h>
#include <tamis/hash.h>
#include <tamis/keys.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <span>
#include <thread>

#include "tamis/detail/str_cat.h"
#include "tools/input/words.h"
#include "tools/options/parse.h"
#include "tools/output/format.h"

namespace tamis::tools {
namespace {

constexpr uint64_t kBase = 0x9E3779B97F4A7C15;  // odd, so that multiplications lose no bits
constexpr std::string_view kOuterBlanks = " \t\r";

// Returns how many of `keys` keys must have occurred before.
size_t Needed(size_t keys, double threshold) {
  // Subtracts a little, because 0.1 * 30, for example, is slightly more than 3.
  const double share = std::ceil(threshold * static_cast<double>(keys) - 1e-9);
  return std::max<size_t>(1, static_cast<size_t>(share));
}

// Returns an upper bound of the probability that at least `needed` of `keys` new keys are false
// positives: Chernoff's bound exp(-k D(m/k || p)) for the binomial distribution.
double FalselyRepeated(size_t keys, size_t needed, double p) {
  const double k = static_cast<double>(keys), q = static_cast<double>(needed) / k;
  if (p <= 0) return 0;
  if (q <= p) return 1;
  const double rest = needed == keys ? 0 : (1 - q) * std::log((1 - q) / (1 - p));
  return std::exp(-k * (q * std::log(q / p) + rest));
}

// The position and length of the first line feed in a JSON string, as it is written.
struct LineFeed {
  size_t at, bytes;
};

// `text` is a part of a valid JSON string, without its quotes.
LineFeed FindLineFeed(std::string_view text) {
  for (size_t i = 0;; i += 2) {
    i = text.find('\\', i);
    if (i == std::string_view::npos) return {text.size(), 0};
    const std::string_view escape = text.substr(i + 1);
    if (escape.starts_with('n')) return {i, 2};
    if (escape.starts_with("u000a") || escape.starts_with("u000A")) return {i, 6};
  }
}

}  // namespace

void TextOptions::AddTo(const CommandLine& command) {
  command.Add("--unit", unit, "compare texts: whole documents, paragraphs, or n-grams of words")
      .OneOf({"document", "paragraph", "ngram"})
      .Type("UNIT");
  command
      .Add("--remove", remove,
           "what to leave out: repeated paragraphs, documents, or nothing (annotate)")
      .OneOf({"paragraph", "document", "annotate"})
      .Type("WHAT");
  command
      .Add("--ngrams", ngrams, ParsePositiveCount,
           "with --unit ngram: words of an n-gram (default: 13)")
      .Type("N");
  command
      .Add("--threshold", threshold, ParseShare,
           "share of n-grams (or paragraphs) that makes a text repeated (default: 0.8)")
      .Type("SHARE");
}

void TextOptions::Check(const InputOptions& input) const {
  const auto refuse = [](const char* reason) { throw Error(ErrorCode::kInvalidArgument, reason); };
  if (!given()) {
    if (!remove.empty() || ngrams || threshold) {
      refuse("--remove, --ngrams and --threshold need --unit");
    }
    return;
  }
  if (input.reads_csv() || input.tsv || input.integers || input.hex || input.u64 || input.trim) {
    refuse("--unit compares texts: give JSON lines (--jsonl --field), or lines, as they are");
  }
  if (unit == "document" && remove == "paragraph") {
    refuse("--unit document compares no paragraphs: leave out --remove paragraph");
  }
  if (annotates() && !input.jsonl) refuse("--remove annotate needs --jsonl");
  if (ngrams && !by_words()) refuse("--ngrams needs --unit ngram");
  if (ngrams.value_or(1) > kMostWords) refuse("--ngrams: an n-gram has at most 1,000 words");
  if (threshold && !by_words() && !(unit == "paragraph" && remove == "document")) {
    refuse("--threshold needs --unit ngram, or --unit paragraph --remove document");
  }
}

TextUnits::TextUnits(const TextOptions& options, unsigned threads)
    : options_(options),
      words_(options.ngrams.value_or(TextOptions::kWords)),
      threshold_(options.threshold.value_or(TextOptions::kThreshold)),
      slices_(std::max(1U, threads)) {
  for (size_t i = 1; i < words_; ++i) oldest_factor_ *= kBase;
}

void TextUnits::AddNgrams(std::string_view paragraph, Slice& slice) const {
  std::vector<uint64_t>& ring = slice.last_words;
  ring.resize(words_);
  uint64_t sum = 0;
  size_t count = 0, at = 0;
  Words words(paragraph);
  for (std::string_view word = words.Next(); !word.empty(); word = words.Next()) {
    const uint64_t hash = HashBytes(word);
    if (count >= words_) sum -= ring[at] * oldest_factor_;
    sum = sum * kBase + hash;
    ring[at] = hash;
    if (++at == words_) at = 0;
    if (++count >= words_) slice.ngrams.push_back(sum + words_);
  }
  if (count > 0 && count < words_) slice.ngrams.push_back(sum + words_);
}

void TextUnits::Split(std::string_view text, Slice& slice) const {
  const auto num_keys = [&] {
    return options_.by_words() ? slice.ngrams.size() : slice.strings.size();
  };
  Document document = {slice.paragraphs.size(), 0, num_keys(), 0};
  if (options_.unit == "document") {
    slice.strings.push_back(text);
  } else {
    for (size_t begin = 0; begin <= text.size();) {
      const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
      Paragraph paragraph = {begin, line.size(), num_keys(), 0};
      if (options_.by_words()) {
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

void TextUnits::SplitAll(const KeyBatch& batch) {
  uint64_t bytes = 0;
  for (const std::string_view text : batch.strings) bytes += text.size() + 1;
  constexpr uint64_t kLeast = uint64_t{1} << 16;  // fewer bytes are not worth a thread
  const uint64_t per_slice = std::max(kLeast, bytes / slices_.size() + 1);
  std::vector<std::exception_ptr> errors(slices_.size());
  std::vector<std::jthread> threads;  // last, so that it ends first
  for (size_t s = slices_.size(), end = batch.size(); s-- > 0;) {
    size_t begin = end;
    for (uint64_t n = 0; begin > 0 && (n < per_slice || s == 0);) {
      n += batch.strings[--begin].size() + 1;
    }
    Slice& slice = slices_[s];
    slice.documents.clear();
    slice.paragraphs.clear();
    slice.strings.clear();
    slice.ngrams.clear();
    const auto split = [this, &batch, &slice, &error = errors[s], begin, end] {
      try {
        for (size_t i = begin; i < end; ++i) Split(batch.strings[i], slice);
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

template <typename Visit>
void TextUnits::ForEachUnit(Visit visit) {
  for (Slice& slice : slices_) {
    if (options_.whole_documents()) {
      for (Document& document : slice.documents) {
        if (document.keys > 0) visit(slice, document);
      }
    } else {
      for (Paragraph& paragraph : slice.paragraphs) {
        if (paragraph.keys > 0) visit(slice, paragraph);
      }
    }
  }
}

void TextUnits::JudgeTogether(SeenKeys& seen) {
  strings_.clear();
  for (const Slice& slice : slices_) {
    strings_.insert(strings_.end(), slice.strings.begin(), slice.strings.end());
  }
  bits_.resize(BitmapWords(strings_.size()));
  const Bitmap fresh(bits_);
  seen.InsertIfAbsent(strings_, fresh);
  size_t key = 0;
  ForEachUnit([&](const Slice&, auto& unit) {
    unit.repeated = !fresh.Test(key++);
    unit.share = unit.repeated ? 1 : 0;
  });
}

void TextUnits::JudgeOneByOne(SeenKeys& seen) {
  ForEachUnit([&](const Slice& slice, auto& unit) {
    const Keys keys = options_.by_words()
                          ? Keys(std::span(slice.ngrams).subspan(unit.first_key, unit.keys))
                          : Keys(std::span(slice.strings).subspan(unit.first_key, unit.keys));
    bits_.resize(BitmapWords(unit.keys));
    const size_t found = seen.Contains(keys, Bitmap(bits_));
    unit.repeated = found >= Needed(unit.keys, threshold_);
    unit.share = static_cast<double>(found) / static_cast<double>(unit.keys);
    if (!unit.repeated) seen.InsertIfAbsent(keys, Bitmap(bits_));
  });
}

Keys TextUnits::KeysOf(const KeyBatch& batch) {
  SplitAll(batch);
  const Slice& slice = slices_.front();
  return options_.by_words() ? Keys(slice.ngrams) : Keys(slice.strings);
}

TextUnits::Fate TextUnits::FateOf(const Slice& slice, const Document& document) const {
  if (options_.whole_documents()) {
    if (!document.repeated) return Fate::kUnchanged;
    return options_.annotates() ? Fate::kChanged : Fate::kLeftOut;
  }
  size_t some = 0, repeated = 0;
  for (size_t i = 0; i < document.paragraphs; ++i) {
    const Paragraph& paragraph = slice.paragraphs[document.first_paragraph + i];
    some += paragraph.keys > 0 ? 1 : 0;
    repeated += paragraph.repeated ? 1 : 0;
  }
  if (repeated == 0) return Fate::kUnchanged;
  return repeated == some && !options_.annotates() ? Fate::kLeftOut : Fate::kChanged;
}

void TextUnits::AddLost(double fpr) {
  const double p = (*fpr_ + fpr) / 2;
  fpr_ = fpr;
  ForEachUnit([&](const Slice&, const auto& unit) {
    ++counts_.units;
    counts_.repeated += unit.repeated ? 1 : 0;
    if (unit.repeated) return;
    const double lost = FalselyRepeated(unit.keys, Needed(unit.keys, threshold_), p);
    counts_.lost += lost < 1 ? lost / (1 - lost) : 1;
  });
}

void TextUnits::Compare(const KeyBatch& batch, SeenKeys& seen) {
  SplitAll(batch);
  const bool one_key_each =
      !options_.by_words() && (options_.unit == "document" || !options_.whole_documents());
  if (!fpr_) fpr_ = seen.Fpr();
  one_key_each ? JudgeTogether(seen) : JudgeOneByOne(seen);
  AddLost(seen.Fpr());
  for (Slice& slice : slices_) {
    for (Document& document : slice.documents) {
      document.fate = FateOf(slice, document);
      ++counts_.documents;
      counts_.written += document.fate != Fate::kLeftOut ? 1 : 0;
      counts_.changed += document.fate == Fate::kChanged ? 1 : 0;
    }
  }
}

std::string_view TextUnits::Annotated(const KeyBatch& batch, size_t i, const Slice& slice,
                                      const Document& document) {
  const std::string_view record = batch.records[i];
  const size_t end = record.find_last_not_of(" \t\r\n");
  if (record[end] != '}') return record;  // an array has no fields
  const char* before = ",\"tamis_repeated\":[[";
  record_ = record.substr(0, end);
  const auto add = [&](size_t begin, size_t bytes, double share) {
    record_ += detail::StrCat(before, begin, ",", begin + bytes, Format(",%.3g", share));
    before = "],[";
  };
  if (options_.whole_documents()) add(0, batch.strings[i].size(), document.share);
  for (size_t j = 0; j < document.paragraphs; ++j) {
    const Paragraph& paragraph = slice.paragraphs[document.first_paragraph + j];
    if (paragraph.repeated) add(paragraph.begin, paragraph.bytes, paragraph.share);
  }
  record_ += "]]";
  return record_ += record.substr(end);
}

std::string_view TextUnits::WithoutRepeated(const KeyBatch& batch, size_t i, const Slice& slice,
                                            const Document& document) {
  const std::string_view record = batch.records[i], raw = batch.raws[i];
  const auto begin = static_cast<size_t>(raw.data() - record.data()) + 1;  // after the quote
  record_ = record.substr(0, begin);
  std::string_view rest = raw.substr(1, raw.size() - 2);
  const char* separator = nullptr;  // the line feed after the last paragraph that was written
  size_t separator_bytes = 0;
  for (size_t j = 0; j < document.paragraphs; ++j) {
    const auto [at, bytes] = FindLineFeed(rest);
    if (!slice.paragraphs[document.first_paragraph + j].repeated) {
      if (separator != nullptr) record_.append(separator, separator_bytes);
      record_ += rest.substr(0, at);
      separator = rest.data() + at;
      separator_bytes = bytes;
    }
    rest.remove_prefix(at + bytes);
  }
  return record_ += record.substr(begin + raw.size() - 2);
}

std::string_view TextUnits::Record(const KeyBatch& batch, size_t i) {
  size_t in_slice = i;
  const Slice* slice = slices_.data();
  for (; in_slice >= slice->documents.size(); ++slice) in_slice -= slice->documents.size();
  const Document& document = slice->documents[in_slice];
  if (document.fate == Fate::kUnchanged) return batch.records[i];
  if (document.fate == Fate::kLeftOut) return {};
  return options_.annotates() ? Annotated(batch, i, *slice, document)
                              : WithoutRepeated(batch, i, *slice, document);
}

}  // namespace tamis::tools
