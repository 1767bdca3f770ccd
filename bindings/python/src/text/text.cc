// Decides about texts for tamis.text, with a filter in memory that processes may share.
#include <nanobind/stl/string.h>
#include <tamis/filters/sizing.h>
#include <tamis/key_types_text.h>
#include <tamis/live/concurrent_block_view.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/python/src/classes/options.h"
#include "bindings/python/src/classes/py_filter.h"
#include "bindings/python/src/classes/typed.h"
#include "bindings/python/src/keys/held_buffer.h"
#include "bindings/python/src/keys/one_key.h"
#include "bindings/python/src/text/text_classes.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "text/units.h"

namespace tamis::python {
namespace {

using text::Fate;

// The memory of a filter begins with a header, whose last 8 bytes count the inserted keys. The
// blocks follow.
constexpr size_t kHeaderBytes = 4096;
constexpr size_t kCountAt = kHeaderBytes - sizeof(uint64_t);

uint64_t NumBlocks(uint64_t capacity, double fpr) {
  return SplitBlockBlocks(std::max(capacity, text::kMinCapacity), fpr);
}

ConcurrentSplitBlockView ViewOf(const Py_buffer& memory) {
  auto* const begin = static_cast<std::byte*>(memory.buf);
  const auto bytes = static_cast<size_t>(memory.len);
  if (bytes < kHeaderBytes) throw nb::value_error("the memory is too small for a filter");
  return ConcurrentSplitBlockView({begin + kHeaderBytes, bytes - kHeaderBytes}, {},
                                  reinterpret_cast<uint64_t*>(begin + kCountAt));
}

// The keys in the memory.
class InMemory final : public text::KnownKeys {
 public:
  explicit InMemory(const ConcurrentSplitBlockView& view) : view_(view) {}

  size_t Contains(const Keys& keys, Bitmap found) override { return view_.Contains(keys, found); }
  size_t InsertIfAbsent(const Keys& keys, Bitmap fresh) override {
    return view_.InsertIfAbsent(keys, fresh);
  }

 private:
  const ConcurrentSplitBlockView& view_;
};

// The keys of a filter that does not change.
class InFilter final : public text::KnownKeys {
 public:
  explicit InFilter(const Queryable& filter) : filter_(filter) {}

  size_t Contains(const Keys& keys, Bitmap found) override { return filter_.Contains(keys, found); }
  size_t InsertIfAbsent(const Keys& keys, Bitmap fresh) override {
    return text::FindAbsent(*this, keys, fresh);
  }

 private:
  const Queryable& filter_;
};

// The memory of the units of longer texts is freed at once.
constexpr size_t kMostReused = size_t{1} << 20;

// Several threads may judge texts at the same time. The GIL protects `idle_`.
class PyDeduplicator {
 public:
  PyDeduplicator(const text::UnitOptions& options, nb::handle memory, nb::handle against)
      : options_(options) {
    if (memory.is_none()) {
      against_ = nb::borrow(against);
      const Queryable& filter = nb::cast<PyQueryable&>(against).queryable();
      RequireKeys(filter.key_types());
      if (options_.by_words) RequireWords(filter);
    } else {
      memory_ = std::make_unique<HeldBuffer>(memory, PyBUF_WRITABLE);
      view_.emplace(ViewOf(memory_->view()));
      InMemory known(*view_);
      if (options_.by_words) text::InsertMarks(known, options_.words);
    }
  }

  // Returns the text without its repeated paragraphs: `text` itself if nothing is repeated, and
  // None if it is left out.
  nb::object Clean(nb::handle text) {
    std::string_view bytes;
    if (!ReadText(text.ptr(), bytes)) throw nb::python_error();
    std::unique_ptr<text::Units> units = TakeIdle();
    std::string rest;
    Fate fate{};
    const auto judge = [&](text::KnownKeys& known) {
      const WithoutGil released;
      units->Split(std::span(&bytes, 1));
      units->Judge(known);
      const text::Units::Judged judged = (*units)[0];
      fate = judged.document.fate;
      if (fate == Fate::kChanged) rest = WithoutRepeated(bytes, judged.paragraphs);
    };
    if (view_) {
      InMemory known(*view_);
      judge(known);
    } else {
      auto& filter = nb::cast<PyQueryable&>(against_);
      const Locked lock(filter);
      InFilter known(filter.queryable());
      judge(known);
    }
    if (bytes.size() <= kMostReused) idle_.push_back(std::move(units));
    if (fate == Fate::kLeftOut) return nb::none();
    if (fate == Fate::kUnchanged) return nb::borrow(text);
    return nb::str(rest.data(), rest.size());
  }

  uint64_t inserted_count() const { return RequireView().inserted_count(); }
  double expected_fpr() const {
    return SplitBlockFpr(static_cast<double>(inserted_count()), RequireView().view().num_blocks());
  }

  // Returns a copy as a plain filter for `capacity` keys.
  SplitBlockBloomFilter Snapshot(uint64_t capacity, double fpr) const {
    const std::span<const std::byte> blocks = RequireView().view().blocks();
    SplitBlockBloomFilter copy({.capacity = std::max(capacity, text::kMinCapacity), .fpr = fpr});
    if (copy.bytes() != blocks.size()) throw nb::value_error("the memory is of other options");
    const SplitBlockView to = copy.mutable_view();
    const auto* const from = reinterpret_cast<const uint64_t*>(blocks.data());
    auto* const words = reinterpret_cast<uint64_t*>(to.mutable_blocks().data());
    for (size_t i = 0; i < blocks.size() / sizeof(uint64_t); ++i) {
      // atomic_ref takes no const before C++26.
      words[i] =
          std::atomic_ref<uint64_t>(const_cast<uint64_t&>(from[i])).load(std::memory_order_relaxed);
    }
    to.AddInserted(inserted_count());
    copy.set_key_types(inserted_count() > 0 ? KeyTypes(key_type()) : KeyTypes());
    return copy;
  }

 private:
  KeyType key_type() const { return options_.by_words ? KeyType::kInteger : KeyType::kBytes; }

  void RequireKeys(KeyTypes types) const {
    if (types.Admit(key_type())) return;
    throw Error(ErrorCode::kIncompatible,
                detail::StrCat("against: its keys are ", KeyTypesText(types), ", and not ",
                               options_.by_words ? "n-grams, which are integers" : "texts"));
  }

  void RequireWords(const Queryable& filter) const {
    const std::vector<size_t> marked = text::MarkedWords(filter, options_.words);
    if (marked == std::vector{options_.words}) return;
    if (!marked.empty()) {
      const std::string numbers = text::WordsText(marked);
      throw Error(ErrorCode::kIncompatible,
                  detail::StrCat("against: its n-grams have ", numbers, " words, and not ",
                                 options_.words, ": pass ngrams=", numbers));
    }
    const std::string warning = detail::StrCat(
        "against: the filter does not record the words of its n-grams; ngrams=", options_.words,
        " is assumed");
    // The levels are _start and __init__, which called this constructor, and their caller.
    if (PyErr_WarnEx(PyExc_RuntimeWarning, warning.c_str(), 3) < 0) throw nb::python_error();
  }

  const ConcurrentSplitBlockView& RequireView() const {
    if (!view_) throw nb::value_error("a step with `against` has no filter of its own");
    return *view_;
  }

  std::unique_ptr<text::Units> TakeIdle() {
    if (idle_.empty()) return std::make_unique<text::Units>(options_);
    std::unique_ptr<text::Units> units = std::move(idle_.back());
    idle_.pop_back();
    return units;
  }

  static std::string WithoutRepeated(std::string_view text,
                                     std::span<const text::Paragraph> paragraphs) {
    std::string rest;
    bool first = true;
    for (const text::Paragraph& paragraph : paragraphs) {
      if (paragraph.repeated) continue;
      if (!std::exchange(first, false)) rest += '\n';
      rest += text.substr(paragraph.begin, paragraph.bytes);
    }
    return rest;
  }

  const text::UnitOptions options_;
  std::unique_ptr<HeldBuffer> memory_;
  std::optional<ConcurrentSplitBlockView> view_;  // of memory_
  nb::object against_;                            // if there is no memory
  std::vector<std::unique_ptr<text::Units>> idle_;
};

void Make(PyDeduplicator* self, const std::string& unit, bool whole_documents, Unsigned ngrams,
          double threshold, nb::handle memory, nb::handle against) {
  std::optional<text::UnitOptions> options = text::UnitOptions::Of(unit, whole_documents);
  const bool fits = options && ngrams.value >= 1 && ngrams.value <= text::kMostWords &&
                    threshold > 0 && threshold <= 1 && memory.is_none() != against.is_none();
  if (!fits) throw nb::value_error("invalid options: make a tamis.text.DedupFilter instead");
  options->words = ngrams.value;
  options->threshold = threshold;
  new (self) PyDeduplicator(*options, memory, against);
}

uint64_t MemoryBytes(Unsigned capacity, double fpr) {
  return kHeaderBytes + split_block::kBlockBytes * NumBlocks(capacity.value, fpr);
}

// Returns the keys of the n-grams of all texts, and their number in each text, as bytes of
// uint64_t.
nb::tuple Ngrams(const nb::list& texts, Unsigned words) {
  std::vector<std::string_view> views;
  for (const nb::handle text : texts) {
    if (!nb::isinstance<nb::str>(text)) throw nb::type_error("a text is a str");
    views.emplace_back();
    if (!ReadText(text.ptr(), views.back())) throw nb::python_error();
  }
  text::Units units({.by_words = true, .words = words.value});
  units.Split(views);
  std::vector<uint64_t> counts;
  units.ForEachDocument([&](const text::Document& document) { counts.push_back(document.keys); });
  const Keys keys = units.keys();
  return nb::make_tuple(nb::bytes(keys.data<uint64_t>(), keys.size() * sizeof(uint64_t)),
                        nb::bytes(counts.data(), counts.size() * sizeof(uint64_t)));
}

SplitBlockResult SnapshotOf(const PyDeduplicator& d, Unsigned capacity, double fpr) {
  return Wrap([&] {
    const WithoutGil released;
    return AnyFilter(d.Snapshot(capacity.value, fpr));
  }());
}

}  // namespace

void DefineText(nb::module_& m) {
  nb::class_<PyDeduplicator>(m, "Deduplicator", "Judges texts: see tamis.text.DedupFilter.")
      .def("__init__", Make, nb::arg("unit"), nb::arg("whole_documents"), nb::arg("ngrams"),
           nb::arg("threshold"), nb::arg("memory").none(), nb::arg("against").none())
      .def("clean", &PyDeduplicator::Clean, nb::arg("text"))
      .def("snapshot", SnapshotOf, nb::arg("capacity"), nb::arg("fpr"))
      .def_prop_ro("inserted_count", &PyDeduplicator::inserted_count)
      .def_prop_ro("expected_fpr", &PyDeduplicator::expected_fpr);
  m.def("memory_bytes", MemoryBytes, nb::arg("capacity"), nb::arg("fpr"),
        "Returns the size of the memory of a filter. Throws ValueError for a rate out of range.");
  m.def(
      "ngrams", Ngrams, nb::arg("texts"), nb::arg("words"),
      "Returns the keys of the n-grams of texts, and their number in each text: see tamis.spark.");
  m.def(
      "needed", [](Unsigned keys, double threshold) { return text::Needed(keys.value, threshold); },
      nb::arg("keys"), nb::arg("threshold"),
      "Returns how many keys of a text must be known for it to be repeated.");
  m.attr("COUNT_AT") = kCountAt;
  m.attr("WORDS") = text::kWords;
  m.attr("MOST_WORDS") = text::kMostWords;
  m.attr("MIN_CAPACITY") = text::kMinCapacity;
  m.attr("THRESHOLD") = text::kThreshold;
  m.attr("FPR") = text::kFpr;
  m.attr("NGRAM_FPR") = text::kNgramFpr;
}

}  // namespace tamis::python
