#include "bench/suite/verify.h"

#include <algorithm>
#include <bit>
#include <exception>
#include <vector>

#include "bench/timing.h"
#include "tamis/detail/str_cat.h"

namespace tamis::bench {
namespace {

constexpr uint64_t kFilterBytes = uint64_t{150'000};
constexpr size_t kSlack = 1 << 20;  // kinds round up by different amounts
constexpr Operation kLookups[] = {Operation::kContains, Operation::kSelect, Operation::kOneKey};
constexpr KeyType kForms[] = {KeyType::kU64, KeyType::kString16, KeyType::kUrl};

// All results of one way to build and query a filter.
struct Trace {
  std::vector<std::pair<std::string, std::vector<std::byte>>> contents;
  std::vector<std::pair<std::string, std::vector<uint64_t>>> answers;
  std::string error;  // if not empty, building or querying failed, and nothing is compared
};

std::vector<uint64_t> Copy(const Subject& subject, Operation operation, const Answers& answers) {
  if (operation == Operation::kSelect) {
    return {answers.rows.begin(), answers.rows.begin() + answers.num_rows};
  }
  if (subject.AnswersInBits(operation)) return {answers.bits.begin(), answers.bits.end()};
  return {answers.bytes.begin(), answers.bytes.end()};
}

void Follow(Subject& subject, Way way, Arena& arena, Trace& trace) {
  subject.Open(arena, kFilterBytes);
  SuiteKeys keys(kFilterBytes, subject.capacity());
  const uint64_t integers = keys.NumIntegers(subject.capacity(), TakesStrings(subject));
  const auto keep = [&](const char* when) {
    const std::span<const std::byte> contents = subject.contents();  // may be a copy each time
    trace.contents.emplace_back(when, std::vector(contents.begin(), contents.end()));
  };
  if (subject.Can(Operation::kBuildOneKey, KeyType::kU64)) {
    InsertIntegers(subject, keys, {way.backend, 1, true});
    keep("filter that it builds with one key per call");
    subject.Clear();
  }
  if (subject.Can(Operation::kBuildIfAbsent, KeyType::kU64)) {
    InsertIntegers(subject, keys, {.backend = way.backend, .if_absent = true});
    keep("filter that it builds by InsertIfAbsent");
    subject.Clear();
  }
  InsertIntegers(subject, keys, way);
  InsertStrings(subject, keys, way);
  keep("filter that it builds");
  Answers answers(keys.num_queries(KeyType::kU64));
  for (const KeyType form : kForms) {
    const AskedKeys asked = keys.Queries(form, 50);
    for (const Operation operation : kLookups) {
      if (!subject.Can(operation, form)) continue;
      subject.Ask(operation, asked.keys, way, answers);
      const std::string name =
          std::string(OperationName(operation)) + " of " + std::string(KeyTypeName(form)) + " keys";
      trace.answers.emplace_back(name, Copy(subject, operation, answers));
      const auto missed = FirstFalseNegative(subject, operation, answers, asked.present);
      if (missed) trace.error = detail::StrCat(name, ": a false negative for query ", *missed);
    }
  }
  if (subject.Can(Operation::kErase, KeyType::kU64)) {
    subject.Erase(keys.Last(integers, KeyType::kU64), way);
    keep("filter after erasing");
  }
  if (subject.Can(Operation::kInsert, KeyType::kU64)) {
    subject.Insert(keys.Last(integers, KeyType::kU64), way);
    keep("filter after inserting again");
  }
}

Trace Traced(Subject& subject, Way way) {
  Trace trace;
  Arena arena(kFilterBytes + kSlack);
  try {
    Follow(subject, way, arena, trace);
  } catch (const std::exception& error) {
    trace.error = error.what();
  }
  subject.Close();
  return trace;
}

template <typename Entries>
std::optional<std::string> FirstDifference(const Entries& ours, const Entries& theirs) {
  for (size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) {
    if (ours[i].second != theirs[i].second) return ours[i].first + " differs from portable's";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> Disagreement(Subject& subject, Way way, const Backend& portable) {
  const Trace trace = Traced(subject, way);
  if (!trace.error.empty()) return trace.error;
  if (subject.is_peer()) return std::nullopt;
  const Trace reference = Traced(subject, {&portable, 1});
  if (auto difference = FirstDifference(trace.contents, reference.contents)) return difference;
  return FirstDifference(trace.answers, reference.answers);
}

bool TakesStrings(const Subject& subject) {
  return subject.Can(Operation::kContains, KeyType::kUrl);
}

uint64_t NumBuiltIntegers(const Subject& subject, const SuiteKeys& keys) {
  return keys.NumIntegers(subject.capacity(), TakesStrings(subject) && !subject.is_static());
}

double InsertIntegers(Subject& subject, SuiteKeys& keys, uint64_t n, Way way) {
  const Time time = way.threads == 1 ? Time::kThread : Time::kWall;
  double ns = 0;
  if (!subject.is_static()) {
    keys.ForEachSlice(n, [&](const Keys& slice) {
      ns += Nanoseconds(time, [&] { subject.Insert(slice, way); });
    });
    return ns;
  }
  // Counts all time except the time for making slices of keys.
  double start = NowNs(time);
  subject.Build(
      [&](const auto& visit) {
        ns += NowNs(time) - start;
        keys.ForEachSlice(
            n, [&](const Keys& slice) { ns += Nanoseconds(time, [&] { visit(slice); }); });
        start = NowNs(time);
      },
      way);
  return ns + NowNs(time) - start;
}

double InsertIntegers(Subject& subject, SuiteKeys& keys, Way way) {
  return InsertIntegers(subject, keys, NumBuiltIntegers(subject, keys), way);
}

void InsertStrings(Subject& subject, SuiteKeys& keys, Way way) {
  if (!TakesStrings(subject) || keys.string_forms().empty()) return;
  const auto each_form = [&](const auto& visit) {
    for (const KeyType form : keys.string_forms()) visit(keys.Last(0, form));
  };
  if (!subject.is_static()) {
    return each_form([&](const Keys& strings) { subject.Insert(strings, way); });
  }
  subject.Build(
      [&](const auto& visit) {
        keys.ForEachSlice(keys.NumIntegers(subject.capacity(), true), visit);
        each_form(visit);
      },
      way);
}

std::optional<size_t> FirstFalseNegative(const Subject& subject, Operation operation,
                                         const Answers& answers, std::span<const uint8_t> present) {
  const bool select = operation == Operation::kSelect;
  const bool in_bits = subject.AnswersInBits(operation);
  const uint32_t* row = answers.rows.data();
  const uint32_t* const end = row + answers.num_rows;
  for (size_t i = 0; i < present.size(); ++i) {
    while (select && row != end && *row < i) ++row;
    const bool answer = select    ? row != end && *row == i
                        : in_bits ? (answers.bits[i / 64] >> (i % 64)) & 1
                                  : answers.bytes[i] != 0;
    if (present[i] && !answer) return i;
  }
  return std::nullopt;
}

size_t CountHits(const Subject& subject, const Answers& answers, size_t queries) {
  size_t hits = 0;
  if (subject.AnswersInBits(Operation::kContains)) {
    for (size_t i = 0; i < BitmapWords(queries); ++i) {
      hits += static_cast<size_t>(std::popcount(answers.bits[i]));
    }
  } else {
    for (size_t i = 0; i < queries; ++i) hits += answers.bytes[i] != 0;
  }
  return hits;
}

}  // namespace tamis::bench
