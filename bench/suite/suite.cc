#include "bench/suite/suite.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <limits>
#include <stdexcept>

#include "bench/suite/accuracy.h"
#include "bench/suite/beside_writer.h"
#include "bench/suite/gpu_peer.h"
#include "bench/suite/turns.h"
#include "bench/suite/verify.h"
#include "bench/timing.h"
#include "bench/workload.h"
#include "tamis/backends.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/physical_memory.h"

namespace tamis::bench {
namespace {

constexpr size_t kMinRepetitions = 3;
constexpr uint64_t kLimitReads = uint64_t{4} << 20;

// The number of repetitions of each run of a mode, if time allows.
size_t MostRepetitions(Mode mode) {
  return mode == Mode::kQuick ? 7 : mode == Mode::kFull ? 11 : 9;
}

SizeLimits LimitsOf(const SuiteOptions& options) {
  SizeLimits limits{.physical_memory = PhysicalMemory()};
  if (options.mode != Mode::kFull) {  // larger filters take too long to build
    limits.llc_bytes = 64 * kMiB;
    limits.memory_bytes = 512 * kMiB;
  }
  const uint64_t most = options.max_bytes.value_or(std::numeric_limits<uint64_t>::max());
  limits.llc_bytes = std::min(limits.llc_bytes, most);
  limits.memory_bytes = std::min(limits.memory_bytes, most);
  return limits;
}

std::string SizeText(uint64_t bytes) {
  char text[32];
  if (bytes >= kMiB) {
    std::snprintf(text, sizeof(text), "%.0f MiB", static_cast<double>(bytes) / kMiB);
  } else {
    std::snprintf(text, sizeof(text), "%.0f KiB", static_cast<double>(bytes) / 1024);
  }
  return text;
}

bool AsksForStrings(const Contender& contender) {
  return std::any_of(contender.others.begin(), contender.others.end(),
                     [](const Case& c) { return c.form != KeyType::kU64; });
}

}  // namespace

Suite::Suite(const SuiteOptions& options, const Pinning& pinning, Sampler& sampler,
             Progress& progress)
    : options_(options),
      pinning_(pinning),
      sampler_(sampler),
      progress_(progress),
      subjects_(TamisSubjects()),
      start_ns_(NowNs(Time::kWall)) {
  backends_.push_back(&DefaultBackend());
  const char* const pinned = std::getenv("TAMIS_BACKEND");
  if ((pinned == nullptr || *pinned == '\0') && !ComparesSpeeds(options.mode)) {
    for (const Backend& backend : Backends()) {
      if (backend.name != backends_[0]->name) backends_.push_back(&backend);
    }
  }
  if (options.mode == Mode::kLive) {
    for (auto& subject : LiveSubjects()) subjects_.push_back(std::move(subject));
  }
  for (auto& peer : PeerSubjects()) {
    results_.peers.emplace_back(peer->kind(), peer->library());
    subjects_.push_back(std::move(peer));
  }
  results_.mode = ModeName(options.mode);
  results_.context = MachineFacts();
  const CacheSizes caches = MachineCaches();
  results_.caches = {caches.l1_data, caches.l2, caches.last_level};
  results_.memory_bytes = PhysicalMemory();
  results_.processors = pinning.processors();
  ChooseSizes();
}

Suite::~Suite() = default;

void Suite::ChooseSizes() {
  if (!options_.keys.empty()) {
    results_.sizes =
        SizesOfKeys(options_.keys, {.memory_bytes = options_.max_bytes.value_or(~uint64_t{0}),
                                    .physical_memory = results_.memory_bytes});
    if (results_.sizes.empty()) {
      throw std::runtime_error(
          "filters for these numbers of keys are too large for this machine or --max-bytes");
    }
    if (results_.sizes.size() < options_.keys.size()) {
      progress_.Say("some numbers of keys are left out, because their filters are too large");
    }
    return;
  }
  const auto& names = options_.sizes;
  const auto chosen = [&](const std::string& name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  };
  const SizeLimits limits = LimitsOf(options_);
  std::vector<SizeClass> sizes = SizeClasses(results_.caches, limits);
  if (!ComparesSpeeds(options_.mode)) {
    const std::vector<SizeClass> fixed = FixedSizes(limits);
    sizes.insert(sizes.end(), fixed.begin(), fixed.end());
  }
  for (const SizeClass& size : sizes) {
    if (chosen(size.name)) results_.sizes.push_back(size);
  }
  const bool any_gpu = std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name.starts_with(kGpuSizes);
  });
  if ((names.empty() || any_gpu) && !ComparesSpeeds(options_.mode)) OpenDevice();
}

// Chooses the named sizes, in the order of the names. Keeps all sizes if none is named.
void Suite::ChooseGpuSizes() {
  const auto& names = options_.sizes;
  if (names.empty() || std::find(names.begin(), names.end(), kGpuSizes) != names.end()) return;
  gpu_schedule_.filter_bytes.clear();
  for (const std::string& name : names) {
    const std::optional<uint64_t> bytes = GpuSizeBytes(name);
    if (!bytes) continue;
    if (FitsGpu(*bytes, gpu_->memory_bytes())) {
      gpu_schedule_.filter_bytes.push_back(*bytes);
    } else {
      progress_.Say(name + " is left out, as it is too large for the GPU");
    }
  }
}

void Suite::OpenDevice() {
  try {
    gpu_ = OpenGpu();
  } catch (const Error& error) {
    progress_.Say(std::string("the GPU does not work: ") + error.what());
  }
  if (gpu_ != nullptr) {
    gpu_schedule_ = GpuScheduleFor(options_.mode, gpu_->memory_bytes());
    gpu_schedule_.filter = options_.filter;
    gpu_schedule_.repetitions = options_.repetitions.value_or(gpu_schedule_.repetitions);
    gpu_schedule_.peers = GpuPeerKinds();
    for (const GpuPeerKind& kind : gpu_schedule_.peers) {
      results_.peers.emplace_back(kind.name, kind.library);
    }
    ChooseGpuSizes();
    std::erase_if(gpu_schedule_.filter_bytes,
                  [&](uint64_t bytes) { return bytes > options_.max_bytes.value_or(bytes); });
    return;
  }
  std::string why = "this build has no CUDA";
  for (const MissingBackend& missing : MissingBackends()) {
    if (missing.name == "CUDA") why = missing.reason;
  }
  for (auto& [name, value] : results_.context) {
    if (name == "gpu") value += ", not measured: " + why;
  }
}

ScheduleInput Suite::Input() const {
  return {options_.mode, backends_, results_.processors, options_.filter};
}

LatencySchedule Suite::Latencies() const {
  return LatencyScheduleFor({.mode = options_.mode,
                             .sizes = results_.sizes,
                             .caches = results_.caches,
                             .processors = results_.processors,
                             .max_bytes = options_.max_bytes.value_or(~uint64_t{0}),
                             .backend = backends_[0],
                             .filter = options_.filter,
                             .repetitions = options_.repetitions});
}

Way Suite::BestWay(const Subject& subject, unsigned threads) const {
  if (subject.is_peer()) return {};
  return {backends_[0], threads};
}

std::vector<std::string> Suite::CaseNames() const {
  std::vector<std::string> names;
  for (const SizeClass& size : results_.sizes) {
    for (const Contender& contender : ContendersFor(size, subjects_, Input())) {
      for (const auto* cases : {&contender.builds, &contender.others}) {
        for (const Case& c : *cases) {
          names.push_back(CaseName(contender.subject->kind(), c, size, contender.huge_pages));
        }
      }
    }
  }
  for (const LatencyCase& c : Latencies().cases) {
    names.push_back(LatencyName(c, *backends_[0], results_.processors));
  }
  const std::vector<std::string> gpu_names = GpuCaseNames(gpu_schedule_);
  names.insert(names.end(), gpu_names.begin(), gpu_names.end());
  return names;
}

void Suite::Verify(bool any_on_host) {
  const Backend& portable = FindBackend("portable");
  for (const auto& subject : subjects_) {
    if (!any_on_host) break;
    progress_.Show("checking " + subject->kind() + " against portable", -1);
    if (subject->is_peer()) {
      if (const auto wrong = Disagreement(*subject, {}, portable)) {
        results_.refusals.push_back({"own", subject->kind(), *wrong});
      }
      continue;
    }
    std::erase_if(backends_, [&](const Backend* backend) {
      const auto wrong = Disagreement(*subject, {backend, 1}, portable);
      if (wrong) {
        results_.refusals.push_back({std::string(backend->name), subject->kind(), *wrong});
      }
      return wrong.has_value();
    });
  }
  for (const Refusal& refusal : results_.refusals) {
    progress_.Say("refused: " + refusal.kind + " with backend " + refusal.backend + ": " +
                  refusal.what);
    std::erase_if(subjects_, [&](const auto& subject) {
      return subject->is_peer() && subject->kind() == refusal.kind;
    });
  }
  if (backends_.empty()) throw std::runtime_error("no backend is left to measure");
  for (const Backend* const backend : backends_) results_.backends.emplace_back(backend->name);
  results_.default_backend = backends_[0]->name;
}

double Suite::Elapsed() const { return 1e-9 * (NowNs(Time::kWall) - start_ns_); }

double Suite::TurnsBudget() const { return options_.budget_seconds - Latencies().Seconds(); }

Results Suite::Run() {
  // This check comes first, because Verify takes a while.
  if (!results_.sizes.empty() && CaseNames().empty()) {
    throw std::runtime_error("nothing to measure matches \"" + options_.filter + "\"");
  }
  const auto has_cases = [&](const SizeClass& size) {
    return !ContendersFor(size, subjects_, Input()).empty();
  };
  const bool any = std::any_of(results_.sizes.begin(), results_.sizes.end(), has_cases);
  Verify(any || !Latencies().cases.empty());
  const bool any_on_gpu = !GpuCaseNames(gpu_schedule_).empty();
  for (const auto& subject : subjects_) {
    if (!any || ComparesSpeeds(options_.mode)) break;
    progress_.Show("false positives of " + subject->kind(), -1);
    const std::vector<Accuracy> points = MeasureAccuracy(*subject, BestWay(*subject, 1));
    results_.accuracy.insert(results_.accuracy.end(), points.begin(), points.end());
  }
  for (const SizeClass& size : results_.sizes) {
    auto contenders = ContendersFor(size, subjects_, Input());
    if (contenders.empty()) continue;
    turns_.emplace_back(size, std::move(contenders), !ComparesSpeeds(options_.mode));
  }
  // Sizes take turns as well. Otherwise a neighbour that uses the memory or a shared cache for
  // minutes would affect only one size.
  while (Turns* const turns = Next()) Repeat(*turns);
  for (Turns& turns : turns_) {
    for (Limit& limit : turns.limits) results_.limits.push_back(std::move(limit));
    for (Row& row : turns.rows) results_.rows.push_back(std::move(row));
  }
  turns_.clear();
  MeasureLatencies(Latencies(), *backends_[0], pinning_, progress_, results_);
  if (any_on_gpu) {
    const auto save = [&](const Results& so_far, const std::string& left) {
      if (!options_.save) return;
      Results unfinished = so_far;
      unfinished.seconds = Elapsed();
      unfinished.context.emplace_back("unfinished", "not measured: " + left);
      options_.save(std::move(unfinished));
    };
    MeasureGpu(*gpu_, gpu_schedule_, progress_, save, results_);
  }
  if (results_.rows.empty() && results_.latencies.empty()) {
    for (const auto& [name, value] : results_.context) {
      if (name == "gpu") throw std::runtime_error("nothing was measured; GPU: " + value);
    }
  }
  results_.seconds = Elapsed();
  results_.other_processors = other_load_.Processors();
  return std::move(results_);
}

void Suite::Repeat(Turns& turns) {
  const double start = NowNs(Time::kWall);
  MeasureLimits(turns);
  for (size_t i = 0; i < turns.contenders.size(); ++i) {
    // The order rotates, so that no contender always follows the same other one.
    const size_t turn = (i + turns.repetition) % turns.contenders.size();
    Turn(turns, turns.contenders[turn], turns.repetition == 0);
  }
  turns.reference.reset();  // only the first repetition checks
  turns.repetition_seconds = 1e-9 * (NowNs(Time::kWall) - start);
  turns.seconds += turns.repetition_seconds;
  ++turns.repetition;
}

Turns* Suite::Next() {
  const size_t most = options_.repetitions.value_or(MostRepetitions(options_.mode));
  const bool all = options_.repetitions || options_.budget_seconds <= 0;
  double reserved = 0;  // seconds that the minimum numbers of repetitions still need
  for (const Turns& turns : turns_) reserved += turns.SecondsUntil(kMinRepetitions);
  Turns* next = nullptr;
  for (Turns& turns : turns_) {
    if (turns.repetition >= most) continue;
    const bool fits = all || turns.repetition < kMinRepetitions ||
                      Elapsed() + reserved + turns.repetition_seconds <= TurnsBudget();
    if (fits && (next == nullptr || turns.seconds < next->seconds)) next = &turns;
  }
  return next;
}

double Suite::SecondsLeft() const {
  if (options_.budget_seconds <= 0) return -1;
  double least = 0;
  double most = 0;
  for (const Turns& turns : turns_) {
    if (turns.repetition == 0) return std::max(0.0, TurnsBudget() - Elapsed());
    least += turns.SecondsUntil(options_.repetitions.value_or(kMinRepetitions));
    most += turns.SecondsUntil(options_.repetitions.value_or(MostRepetitions(options_.mode)));
  }
  return std::clamp(TurnsBudget() - Elapsed(), least, most);
}

void Suite::MeasureLimits(Turns& turns) {
  progress_.Show(turns.size.name + " " + SizeText(turns.size.bytes) + ", limits", SecondsLeft());
  const int passes = static_cast<int>(std::clamp<uint64_t>(kLimitReads / turns.num_lines(), 1, 16));
  const auto measure = [&](bool huge_pages, unsigned threads) {
    pinning_.PinTo(threads);
    const LineLimit limit = turns.lines->Measure(
        turns.arena(huge_pages).memory().first(turns.size.bytes), passes, threads);
    pinning_.PinTo(1);
    turns.line_ns[{threads, huge_pages}] = limit.ns;
    turns.AddLimit({.name = "random_lines",
                    .size_class = turns.size.name,
                    .threads = threads,
                    .huge_pages = huge_pages,
                    .unit = "lines",
                    .method = std::string(limit.method)},
                   1e9 / limit.ns);
  };
  for (const unsigned threads : ThreadCounts(results_.processors)) {
    measure(true, threads);
  }
  if (turns.plain) measure(false, 1);
  const auto read_passes =
      static_cast<int>(std::clamp<uint64_t>(32 * kMiB / turns.size.bytes, 1, 1000));
  turns.AddLimit(
      {.name = "sequential_read", .size_class = turns.size.name, .unit = "bytes"},
      1e9 * SequentialReadRate(turns.arena(true).memory().first(turns.size.bytes), read_passes));
  turns.AddLimit({.name = "hash", .size_class = turns.size.name, .unit = "keys"},
                 1e9 / HashNs(*backends_[0], 32));
}

void Suite::Turn(Turns& turns, const Contender& contender, bool first) {
  Subject& subject = *contender.subject;
  subject.Open(turns.arena(contender.huge_pages), contender.bytes);
  if (contender.builds.empty()) {
    pinning_.PinTo(results_.processors);
    InsertIntegers(subject, *turns.keys, BestWay(subject, results_.processors));
    pinning_.PinTo(1);
  } else {
    MeasureBuilds(turns, contender);
  }
  // A static subject is built twice only for strings.
  if (!subject.is_static() || AsksForStrings(contender)) {
    InsertStrings(subject, *turns.keys, BestWay(subject, 1));
  }
  if (first) {
    turns.rates[{&subject, contender.huge_pages}] = {
        MeasureFpr(subject, BestWay(subject, 1), *turns.keys, *turns.answers).fpr,
        subject.expected_fpr()};
  }
  for (const Case& c : contender.others) MeasureCase(turns, contender, c, first);
  subject.Close();
  if (!first) return;
  const auto& rates = turns.rates[{&subject, contender.huge_pages}];
  for (Row& row : turns.rows) {
    if (row.kind != subject.kind() || row.huge_pages != contender.huge_pages) continue;
    row.fpr = rates.fpr;
    row.expected_fpr = rates.expected;
  }
}

void Suite::MeasureBuilds(Turns& turns, const Contender& contender) {
  Subject& subject = *contender.subject;
  const uint64_t n = NumBuiltIntegers(subject, *turns.keys);
  for (const Case& c : contender.builds) {
    Sample(turns, contender, c, n, [&] {
      subject.Clear();
      return InsertIntegers(subject, *turns.keys,
                            {.backend = c.backend,
                             .threads = c.threads,
                             .one_key = c.operation == Operation::kBuildOneKey,
                             .if_absent = c.operation == Operation::kBuildIfAbsent});
    });
  }
}

void Suite::MeasureCase(Turns& turns, const Contender& contender, const Case& c, bool first) {
  Subject& subject = *contender.subject;
  const Way way{.backend = c.backend, .threads = c.threads, .call_keys = c.call_keys};
  const Time time = c.time();
  Keys keys;
  std::function<double()> iterate;
  AskedKeys asked;
  if (c.operation == Operation::kContainsBesideWriter) {
    keys = turns.keys->Queries(c.form, c.hit_percent).keys;
    iterate = BesideWriter(subject, *turns.keys, keys, {c.backend}, *turns.answers);
  } else if (IsLookup(c.operation)) {
    asked = turns.keys->Queries(c.form, c.hit_percent);
    keys = asked.keys;
    iterate = [&] {
      return Nanoseconds(time, [&] { subject.Ask(c.operation, keys, way, *turns.answers); });
    };
  } else {
    keys = turns.keys->Last(turns.keys->NumIntegers(subject.capacity(), TakesStrings(subject)),
                            c.form);
    const auto insert = [&] { return Nanoseconds(time, [&] { subject.Insert(keys, way); }); };
    const auto erase = [&] { return Nanoseconds(time, [&] { subject.Erase(keys, way); }); };
    if (c.operation == Operation::kErase) {
      iterate = [erase, insert] {
        const double ns = erase();
        insert();
        return ns;
      };
    } else if (subject.reinserts()) {
      iterate = insert;
    } else {
      iterate = [erase, insert] {
        erase();
        return insert();
      };
    }
  }
  iterate();  // to warm up
  if (first && !asked.present.empty()) {
    if (const auto wrong = WrongAnswers(turns, contender, c, asked)) {
      throw std::runtime_error(CaseName(subject.kind(), c, turns.size, contender.huge_pages) +
                               ": " + *wrong);
    }
  }
  Sample(turns, contender, c, keys.size(), iterate);
}

std::optional<std::string> Suite::WrongAnswers(Turns& turns, const Contender& contender,
                                               const Case& c, const AskedKeys& asked) const {
  Subject& subject = *contender.subject;
  const Answers& answers = *turns.answers;
  const auto missed = FirstFalseNegative(subject, c.operation, answers, asked.present);
  if (missed) return detail::StrCat("a false negative for query ", *missed);
  const bool in_bits =
      c.operation == Operation::kContains || c.operation == Operation::kEngineContains;
  if (subject.is_peer() || !in_bits) return std::nullopt;
  const std::pair<const void*, const void*> whose(&contender, asked.present.data());
  if (!turns.reference || turns.reference_of != whose) {
    turns.reference_of = whose;
    turns.reference.emplace(asked.keys.size());
    subject.Ask(Operation::kContains, asked.keys, {&FindBackend("portable"), 1}, *turns.reference);
  }
  const auto& bits = turns.reference->bits;
  if (!std::equal(bits.begin(), bits.end(), answers.bits.begin())) {
    return "answers differ from portable's";
  }
  return std::nullopt;
}

void Suite::Sample(Turns& turns, const Contender& contender, const Case& c, uint64_t batch,
                   const std::function<double()>& iterate) {
  const Subject& subject = *contender.subject;
  Row& row = RowOf(turns, contender, c, batch);
  progress_.Show(detail::StrCat(turns.size.name, " ", SizeText(turns.size.bytes), ", repetition ",
                                turns.repetition + 1, ", ", row.name),
                 SecondsLeft());
  const auto bytes = static_cast<double>(subject.bytes());
  const double limit_ns = turns.LimitNs(c, contender.huge_pages);
  pinning_.PinTo(c.threads);
  const double clock_before = ChainedMultiplicationsPerNs();
  const double ns =
      sampler_.Sample(row.name, batch,
                      {{"bytes", bytes},
                       {"bits/key", 8 * bytes / static_cast<double>(subject.capacity())},
                       {"fpr", turns.rates[{contender.subject, contender.huge_pages}].fpr}},
                      limit_ns, iterate);
  const double clock = (clock_before + ChainedMultiplicationsPerNs()) / 2;
  pinning_.PinTo(1);
  row.ns_per_key.push_back(ns);
  row.filter_bytes = subject.bytes();  // before a build, only a planned size was known
  if (limit_ns > 0) row.share_of_limit.push_back(limit_ns / ns);
  if (!IsAccelerator(c.backend)) row.clock.push_back(clock);
}

Row& Suite::RowOf(Turns& turns, const Contender& contender, const Case& c, uint64_t batch) const {
  const Subject& subject = *contender.subject;
  const std::string name = CaseName(subject.kind(), c, turns.size, contender.huge_pages);
  const auto row = std::find_if(turns.rows.begin(), turns.rows.end(),
                                [&](const Row& other) { return other.name == name; });
  if (row != turns.rows.end()) return *row;
  turns.rows.push_back({.name = name,
                        .kind = subject.kind(),
                        .library = subject.library(),
                        .point = c,
                        .size_class = turns.size.name,
                        .huge_pages = contender.huge_pages,
                        .filter_bytes = subject.bytes(),
                        .num_keys = subject.capacity(),
                        .batch_keys = batch});
  return turns.rows.back();
}

}  // namespace tamis::bench
