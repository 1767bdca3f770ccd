#include "tools/commands/text_units.h"

#include <tamis/error.h>

#include <algorithm>
#include <cmath>

#include "tamis/detail/str_cat.h"
#include "tools/options/parse.h"
#include "tools/output/format.h"

namespace tamis::tools {

using text::Fate;

namespace {

// Returns an upper bound of the probability that at least `needed` of `keys` new keys are false
// positives: Chernoff's bound exp(-k D(m/k || p)) for the binomial distribution.
double FalselyRepeated(size_t keys, size_t needed, double p) {
  const double k = static_cast<double>(keys), q = static_cast<double>(needed) / k;
  if (p <= 0) return 0;
  if (q <= p) return 1;
  if (keys == 1) return p;
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
  if (ngrams.value_or(1) > text::kMostWords) refuse("--ngrams: an n-gram has at most 1,000 words");
  if (threshold && !by_words() && !(unit == "paragraph" && remove == "document")) {
    refuse("--threshold needs --unit ngram, or --unit paragraph --remove document");
  }
}

text::UnitOptions TextOptions::units() const {
  text::UnitOptions units = text::UnitOptions::Of(unit, whole_documents()).value();
  units.words = ngrams.value_or(text::kWords);
  units.threshold = threshold.value_or(text::kThreshold);
  return units;
}

TextUnits::TextUnits(const TextOptions& options, unsigned threads)
    : options_(options),
      unit_options_(options.given() ? options.units() : text::UnitOptions()),
      units_(unit_options_, threads) {}

Keys TextUnits::KeysOf(const KeyBatch& batch) {
  units_.Split(batch.strings);
  return units_.keys();
}

Fate TextUnits::FateOf(const text::Document& document) const {
  if (document.fate == Fate::kLeftOut && options_.annotates()) return Fate::kChanged;
  return document.fate;
}

// Each new unit that was recognized stands for q / (1 - q) new units that were not, where q is an
// upper bound of the probability of a false positive: see KeyCounts::Add.
void TextUnits::AddLost(double fpr) {
  units_.ForEachUnit([&](const text::Unit& unit) {
    ++counts_.units;
    counts_.repeated += unit.repeated ? 1 : 0;
    const size_t needed = text::Needed(unit.keys, unit_options_.threshold);
    if (FalselyRepeated(unit.keys, needed, fpr) > kBlindFpr) {
      counts_.lost += unit.repeated ? 1 : 0;
    } else if (!unit.repeated) {
      // A unit whose share is just below the threshold needs few false positives.
      const auto known =
          static_cast<size_t>(std::lround(unit.share * static_cast<double>(unit.keys)));
      const double lost = FalselyRepeated(unit.keys - known, needed - known, fpr);
      counts_.lost += lost < 1 ? lost / (1 - lost) : 1;
    }
  });
}

void TextUnits::Compare(const KeyBatch& batch, SeenKeys& seen) {
  units_.Split(batch.strings);
  units_.Judge(seen);
  AddLost(seen.Fpr());
  units_.ForEachDocument([&](const text::Document& document) {
    const Fate fate = FateOf(document);
    ++counts_.documents;
    counts_.written += fate != Fate::kLeftOut ? 1 : 0;
    counts_.changed += fate == Fate::kChanged ? 1 : 0;
  });
}

std::string_view TextUnits::Annotated(const KeyBatch& batch, size_t i,
                                      const text::Units::Judged& judged) {
  const std::string_view record = batch.records[i];
  const size_t end = record.find_last_not_of(" \t\r\n");
  if (record[end] != '}') return record;  // an array has no fields
  const char* before = ",\"tamis_repeated\":[[";
  record_ = record.substr(0, end);
  const auto add = [&](size_t begin, size_t bytes, double share) {
    record_ += detail::StrCat(before, begin, ",", begin + bytes, Format(",%.3g", share));
    before = "],[";
  };
  if (options_.whole_documents()) add(0, batch.strings[i].size(), judged.document.share);
  for (const text::Paragraph& paragraph : judged.paragraphs) {
    if (paragraph.repeated) add(paragraph.begin, paragraph.bytes, paragraph.share);
  }
  record_ += "]]";
  return record_ += record.substr(end);
}

std::string_view TextUnits::WithoutRepeated(const KeyBatch& batch, size_t i,
                                            const text::Units::Judged& judged) {
  const std::string_view record = batch.records[i], raw = batch.raws[i];
  const auto begin = static_cast<size_t>(raw.data() - record.data()) + 1;  // after the quote
  record_ = record.substr(0, begin);
  std::string_view rest = raw.substr(1, raw.size() - 2);
  const char* separator = nullptr;  // the line feed after the last paragraph that was written
  size_t separator_bytes = 0;
  for (const text::Paragraph& paragraph : judged.paragraphs) {
    const auto [at, bytes] = FindLineFeed(rest);
    if (!paragraph.repeated) {
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
  const text::Units::Judged judged = units_[i];
  const Fate fate = FateOf(judged.document);
  if (fate == Fate::kUnchanged) return batch.records[i];
  if (fate == Fate::kLeftOut) return {};
  return options_.annotates() ? Annotated(batch, i, judged) : WithoutRepeated(batch, i, judged);
}

}  // namespace tamis::tools
