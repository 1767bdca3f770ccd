#include "bench/suite/schedule.h"

#include <algorithm>
#include <regex>
#include <stdexcept>

namespace tamis::bench {
namespace {

constexpr int kHitPercents[] = {0, 100};           // these are measured in addition to 50
constexpr uint64_t kMostInL2 = uint64_t{2} << 20;  // bytes; used if the number of keys is given
constexpr uint32_t kCallKeys[] = {1, 64, 4096};

// The cases of one subject, without duplicates and without cases that it does not support.
class CaseList {
 public:
  explicit CaseList(const Subject& subject) : subject_(subject) {}

  void Add(const Case& c) {
    if (!subject_.Can(c.operation, c.form)) return;
    // Operations that a GPU does not support would run on the host's kernels, under the name of the
    // GPU.
    const bool batch = c.operation == Operation::kContains || c.operation == Operation::kSelect;
    if (IsAccelerator(c.backend) && (!batch || c.threads > 1)) return;
    if (std::find(cases_.begin(), cases_.end(), c) == cases_.end()) cases_.push_back(c);
  }
  std::vector<Case> Take() { return std::move(cases_); }

 private:
  const Subject& subject_;
  std::vector<Case> cases_;
};

using enum Operation;

// Adds cases that vary one axis at a time. If `deep` is true, adds all operations on all backends;
// a quick run adds only queries.
void AddStar(const ScheduleInput& input, bool deep, CaseList& list) {
  const Case base{.backend = input.backends[0]};
  for (const Operation operation : {kContains, kSelect, kOneKey, kInsert, kErase}) {
    list.Add({.operation = operation, .backend = base.backend});
  }
  for (const Backend* const backend : input.backends) {
    list.Add({.operation = kContains, .backend = backend});
    if (deep) list.Add({.operation = kInsert, .backend = backend});
  }
  for (const unsigned threads : ThreadCounts(input.processors)) {
    list.Add({.operation = kContains, .backend = base.backend, .threads = threads});
  }
  for (const int hits : kHitPercents) {
    list.Add({.operation = kContains, .backend = base.backend, .hit_percent = hits});
    if (deep) list.Add({.operation = kSelect, .backend = base.backend, .hit_percent = hits});
  }
  for (const KeyType form : kViewForms) {
    list.Add({.operation = kContains, .backend = base.backend, .form = form});
    if (deep) list.Add({.operation = kInsert, .backend = base.backend, .form = form});
  }
}

void AddProduct(const ScheduleInput& input, CaseList& list) {
  for (const Backend* const backend : input.backends) {
    for (const KeyType form : {KeyType::kU64, KeyType::kString16, KeyType::kUrl}) {
      for (const int hits : {0, 50, 100}) {
        for (const Operation operation : {kContains, kSelect, kOneKey}) {
          list.Add({.operation = operation, .backend = backend, .hit_percent = hits, .form = form});
        }
        for (const unsigned threads : ThreadCounts(input.processors)) {
          list.Add({.backend = backend, .threads = threads, .hit_percent = hits, .form = form});
        }
      }
      list.Add({.operation = kInsert, .backend = backend, .form = form});
      list.Add({.operation = kErase, .backend = backend, .form = form});
    }
  }
}

// Adds strings of several lengths, and small batches. The filter is in a cache, so that the cost of
// strings and calls is visible.
void AddStringsAndCalls(const Backend* backend, bool deep, CaseList& list) {
  for (const KeyType form : kColumnForms) {
    list.Add({.backend = backend, .form = form});
    if (deep) list.Add({.operation = kInsert, .backend = backend, .form = form});
  }
  for (const Operation operation : {kContains, kEngineContains}) {
    for (const uint32_t call_keys : kCallKeys) {
      list.Add({.operation = operation, .backend = backend, .call_keys = call_keys});
    }
  }
  list.Add({.operation = kEngineContains, .backend = backend});
}

void AddFew(const Backend* backend, bool deep, CaseList& list) {
  for (const Operation operation : {kContains, kOneKey, kInsert, kErase}) {
    list.Add({.operation = operation, .backend = backend});
  }
  if (!deep) return;
  for (const int hits : kHitPercents) list.Add({.backend = backend, .hit_percent = hits});
}

// Returns whether other libraries have this kind of filter.
bool HasPeers(std::string_view kind) {
  return kind == "split_block" || kind == "bloom" || kind == "fuse8";
}

// Returns whether `subject` is a concurrent kind or the plain kind of one.
bool IsPartOfPair(const Subject& subject, const Subjects& subjects) {
  if (subject.kind().starts_with(kConcurrentPrefix)) return true;
  const std::string concurrent = std::string(kConcurrentPrefix) + subject.kind();
  return std::any_of(subjects.begin(), subjects.end(),
                     [&](const auto& other) { return other->kind() == concurrent; });
}

// Adds the cases of one subject in a run that compares speeds.
void AddSpeeds(const ScheduleInput& input, Contender& contender) {
  const Subject& subject = *contender.subject;
  const Backend* const backend = subject.is_peer() ? nullptr : input.backends[0];
  const bool two_threads = !subject.is_peer() && input.processors >= 2;
  CaseList builds(subject), others(subject);
  builds.Add({.operation = kBuildOneKey, .backend = backend});
  if (two_threads) builds.Add({.operation = kBuild, .backend = backend, .threads = 2});
  builds.Add({.operation = kBuild, .backend = backend});
  others.Add({.backend = backend});
  if (two_threads) others.Add({.backend = backend, .threads = 2});
  for (const int hits : {50, 0, 100}) {
    if (hits != 50 && input.mode != Mode::kKinds) continue;
    others.Add({.backend = backend, .hit_percent = hits});
    others.Add({.operation = kOneKey, .backend = backend, .hit_percent = hits});
  }
  // This case is last, because it leaves other keys in a Bloom filter.
  if (two_threads)
    others.Add({.operation = kContainsBesideWriter, .backend = backend, .threads = 2});
  contender.builds = builds.Take();
  contender.others = others.Take();
}

// Returns the builds. The default build is last.
std::vector<Case> Builds(const ScheduleInput& input, const Subject& subject, bool all_backends,
                         bool threads, bool if_absent) {
  if (subject.is_peer()) return {{.operation = kBuild}};
  CaseList list(subject);
  const Backend* const best = input.backends[0];
  if (if_absent) list.Add({.operation = kBuildIfAbsent, .backend = best});
  for (const Backend* const backend : input.backends) {
    if (all_backends && backend != best) list.Add({.operation = kBuild, .backend = backend});
  }
  for (const unsigned count : ThreadCounts(input.processors)) {
    if (threads && count > 1) {
      list.Add({.operation = kBuild, .backend = best, .threads = count});
    }
  }
  list.Add({.operation = kBuild, .backend = best});
  return list.Take();
}

}  // namespace

std::string_view ModeName(Mode mode) noexcept {
  constexpr std::string_view kNames[] = {"quick", "default", "full", "peers", "kinds", "live"};
  return kNames[static_cast<size_t>(mode)];
}

NameFilter::NameFilter(const std::string& filter) {
  if (filter.empty()) return;
  negative_ = filter.front() == '-';  // Google Benchmark has the same rule
  try {
    pattern_.emplace(filter.substr(negative_), std::regex::extended);
  } catch (const std::regex_error& error) {
    throw std::invalid_argument("--benchmark_filter is \"" + filter +
                                "\", which is not a regular expression: " + error.what());
  }
}

bool NameFilter::Keeps(const std::string& name) const {
  return !pattern_ || std::regex_search(name, *pattern_) != negative_;
}

std::vector<unsigned> ThreadCounts(unsigned processors) {
  std::vector<unsigned> counts;
  for (unsigned count = 1; count < processors; count *= 2) counts.push_back(count);
  counts.push_back(processors);
  return counts;
}

std::vector<Contender> ContendersFor(const SizeClass& size, const Subjects& subjects,
                                     const ScheduleInput& input) {
  const bool in_l1 = size.name == "L1";
  const bool in_memory = size.name == "memory";
  const bool in_l2 = size.num_keys == 0 ? size.name == "L2" : size.bytes <= kMostInL2;
  const bool fixed = IsFixedSize(size.name);
  const bool small = in_l1 || size.name == "L2";
  const bool quick = input.mode == Mode::kQuick;
  const bool full = input.mode == Mode::kFull;
  std::vector<Contender> contenders;
  for (const auto& subject : subjects) {
    const bool first = subject == subjects.front();
    const bool peer = subject->is_peer();
    if (!first && (fixed || (quick && (in_l1 || in_memory)))) continue;
    if (!subject->Fits(size)) continue;

    Contender huge{.subject = subject.get()};
    if (ComparesSpeeds(input.mode)) {
      if (input.mode == Mode::kPeers ? !peer && !HasPeers(subject->kind()) : peer) continue;
      if (input.mode == Mode::kLive && !IsPartOfPair(*subject, subjects)) continue;
      AddSpeeds(input, huge);
      contenders.push_back(std::move(huge));
      continue;
    }
    CaseList list(*subject);
    if (peer) {
      AddFew(nullptr, !quick, list);
    } else if (fixed) {
      AddFew(input.backends[0], false, list);
    } else if (full) {
      AddProduct(input, list);
    } else if (first || !quick) {
      AddStar(input, !quick, list);
    } else {
      AddFew(input.backends[0], false, list);
    }
    if (in_l2 && !fixed && (first || full) && !peer)
      AddStringsAndCalls(input.backends[0], !quick, list);
    huge.others = list.Take();
    // Omits builds that show little, because builds take most of the time of a run. A small filter
    // is built before a second thread has started. If a filter is larger than the caches, all
    // backends wait for memory.
    huge.builds = fixed ? Builds(input, *subject, false, false, false)
                        : Builds(input, *subject, full || (first && !in_memory && !quick),
                                 !small && (first || full || (!quick && !in_memory)),
                                 quick ? first && in_l2 : !in_memory || full);
    contenders.push_back(std::move(huge));

    if (small || fixed || peer || (!full && !first)) continue;
    Contender plain{.subject = subject.get(), .huge_pages = false};
    CaseList few(*subject);
    if (quick) {
      few.Add({.backend = input.backends[0]});
    } else {
      AddFew(input.backends[0], full, few);
    }
    plain.others = few.Take();
    plain.builds = Builds(input, *subject, false, false, false);
    contenders.push_back(std::move(plain));
  }
  const NameFilter filter(input.filter);
  for (Contender& contender : contenders) {
    const auto drop = [&](const Case& c) {
      return !filter.Keeps(CaseName(contender.subject->kind(), c, size, contender.huge_pages));
    };
    std::erase_if(contender.builds, drop);
    std::erase_if(contender.others, drop);
  }
  std::erase_if(contenders, [](const Contender& contender) {
    return contender.builds.empty() && contender.others.empty();
  });
  return contenders;
}

}  // namespace tamis::bench
