// Inserts, erases, saves, loads, maps and merges for a chosen time, with filters of every kind, and
// compares them with the exact sets of their keys. No key may ever be missing, the rate must stay
// within the requested rate, and the process must not grow. The state is kept in a folder, from
// which the next run continues.
//
// Usage: tamis_soak FOLDER (--seconds N | --cycles N) [--seed lost|rate|memory]
//
// With --cycles, runs until this many keys were inserted and erased.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#ifdef __GLIBC__  // which the headers above define
#include <malloc.h>
#endif

#include "tamis/engine/engine.h"
#include "tamis/filters/any_filter.h"
#include "tamis/filters/erasable_filter.h"
#include "tamis/filters/serialize.h"
#include "tamis/filters/set_operations.h"
#include "tests/campaigns/fault_filters.h"

namespace tamis::campaigns {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kLive = 100'000;  // keys of a filter at a time
constexpr uint64_t kBatch = 10'000;
constexpr uint64_t kBatches = 20;  // per round; all checks follow each round
constexpr uint64_t kAsked = 100'000;
constexpr uint64_t kNeverIn = uint64_t{1} << 62;  // larger keys are only queried
constexpr double kFpr = 0.01;
constexpr uint64_t kMinRounds = 10;    // to measure the growth of memory
constexpr uint64_t kSeededRounds = 2;  // for defects that show in each round

struct Totals {
  uint64_t rounds = 0, cycles = 0, asked = 0, false_negatives = 0, absent = 0, hits = 0;
  // Refusals of a scalable filter that its documentation allows: erasures, and new keys that the
  // filter cannot distinguish from copies of other keys.
  uint64_t refused = 0, not_taken = 0;
  uint64_t findings = 0;
};

// One filter, and the keys in it.
class Subject {
 public:
  Subject(const Shape& shape, const fs::path& folder) : shape_(shape), filter_(New()) {
    std::ifstream in(folder / (shape.name() + ".keys"), std::ios::binary);
    if (in) {
      filter_ = Load(folder / (shape.name() + ".tamis"));
      Read(in, &next_, 1);
      Read(in, &random_, 1);
      live_.resize(kLive);
      Read(in, live_.data(), kLive);
      return;
    }
    while (live_.size() < kLive) live_.push_back(next_++);
    RequireChangeable(*filter_).Insert(Keys(KeysAt(live_)));
  }

  void Save(const fs::path& folder) const {
    filter_->Save(folder / (shape_.name() + ".tamis"));
    std::ofstream out(folder / (shape_.name() + ".keys"), std::ios::binary);
    Write(out, &next_, 1);
    Write(out, &random_, 1);
    Write(out, live_.data(), kLive);
  }

  void Round(const Engine& engine, const fs::path& file, const std::string& seed, Totals& totals) {
    if (filter_.As<ErasableFilter>() != nullptr) {
      for (uint64_t i = 0; i < kBatches; ++i) Churn(engine, totals);
    } else {
      Renew(engine, totals);
    }
    if (seed == "lost") EraseWithoutSaying();
    if (seed == "rate")
      RequireChangeable(*filter_).Insert(
          Keys(KeysOf(kNeverIn + kAsked * totals.rounds, kAsked / 10)));
    Check(*filter_, totals, "in memory");
    filter_->Save(file);
    Check(*Map(file, {.verify = Verify::kFull}), totals, "mapped");
    AnyFilter loaded = Load(file);
    if (Serialize(*loaded) != Serialize(*filter_)) Find(totals, "a file with other bytes");
    filter_ = std::move(loaded);
    const uint64_t hits = filter_->Count(KeysOf(kNeverIn + kAsked * totals.rounds, kAsked));
    totals.absent += kAsked;
    totals.hits += hits;
    // Five standard deviations above the expected number of hits.
    const double bound =
        kAsked * (shape_.layered ? kFpr : FilterFpr(shape_.kind, kLive, filter_->bytes()));
    if (static_cast<double>(hits) > bound + 5 * std::sqrt(bound) + 5) {
      Find(totals, "a rate of " + std::to_string(static_cast<double>(hits) / kAsked));
    }
  }

 private:
  template <typename T>
  static void Read(std::ifstream& in, T* to, size_t n) {
    in.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(n * sizeof(T)));
  }
  template <typename T>
  static void Write(std::ofstream& out, const T* from, size_t n) {
    out.write(reinterpret_cast<const char*>(from), static_cast<std::streamsize>(n * sizeof(T)));
  }

  AnyFilter New() const { return shape_.Make(kLive); }

  static std::vector<uint64_t> KeysAt(const std::vector<uint64_t>& numbers) {
    std::vector<uint64_t> keys(numbers.size());
    std::transform(numbers.begin(), numbers.end(), keys.begin(), KeyOf);
    return keys;
  }

  void Find(Totals& totals, const std::string& what) const {
    std::printf("FINDING: %s, round %llu: %s\n", shape_.name().c_str(),
                static_cast<unsigned long long>(totals.rounds), what.c_str());
    ++totals.findings;
  }

  // Erases random keys, and inserts the same number of new keys.
  void Churn(const Engine& engine, Totals& totals) {
    ErasableFilter& filter = *filter_.As<ErasableFilter>();
    for (uint64_t i = 0; i < kBatch; ++i) {  // moves them to the end of the list
      const uint64_t j = i + KeyOf(random_++) % (kLive - i);
      std::swap(live_[kLive - 1 - i], live_[kLive - 1 - j]);
    }
    const std::vector<uint64_t> out(live_.end() - kBatch, live_.end());
    std::vector<uint64_t> missing(kBatch);
    const size_t erased = engine.Erase(filter, Keys(KeysAt(out)), missing);
    missing.resize(kBatch - erased);
    if (!missing.empty() && !shape_.layered) Find(totals, "a key that is in cannot be erased");
    live_.resize(kLive - kBatch);
    for (const uint64_t i : missing) live_.push_back(out[i]);
    while (live_.size() < kLive) Fill(engine, filter, totals);
    totals.cycles += erased;
    totals.refused += missing.size();
  }

  // Inserts the missing number of new keys. If some are refused, there are fewer keys.
  void Fill(const Engine& engine, ErasableFilter& filter, Totals& totals) {
    const size_t before = live_.size();
    while (live_.size() < kLive) live_.push_back(next_++);
    const std::vector<uint64_t> numbers(live_.begin() + static_cast<ptrdiff_t>(before),
                                        live_.end());
    std::vector<uint64_t> refused(numbers.size());
    const size_t inserted = engine.Insert(filter, Keys(KeysAt(numbers)), refused);
    refused.resize(numbers.size() - inserted);
    if (refused.empty()) return;
    for (uint64_t& i : refused) i = numbers[i];
    // Refusals are rare by the documentation: at most one in a million here.
    totals.not_taken += refused.size();
    if (!shape_.layered || totals.not_taken > 3 + totals.cycles / 1'000'000) {
      Find(totals, "a key has no room");
      return;
    }
    if (filter.Count(KeysAt(refused)) != refused.size()) {
      Find(totals, "a key was refused that is not in");
    }
    std::erase_if(live_, [&](uint64_t number) {
      return std::binary_search(refused.begin(), refused.end(), number);
    });
  }

  // For filters without erasure: makes a new filter, in two parts if it can be merged.
  void Renew(const Engine& engine, Totals& totals) {
    for (uint64_t& number : live_) number = next_++;
    const std::vector<uint64_t> keys = KeysAt(live_);
    const size_t half = CanMerge(*filter_, *filter_) ? kLive / 2 : kLive;
    filter_ = New();
    engine.Insert(RequireChangeable(*filter_), Keys(std::span(keys).first(half)));
    if (half < kLive) {
      AnyFilter other = New();
      engine.Insert(RequireChangeable(*other), Keys(std::span(keys).subspan(half)));
      Merge(*filter_, *other);
    }
    totals.cycles += kLive;
  }

  void EraseWithoutSaying() {
    if (auto* const filter = filter_.As<ErasableFilter>()) filter->Erase(KeyOf(live_.front()));
  }

  void Check(const Filter& filter, Totals& totals, const char* where) const {
    const uint64_t missing = kLive - filter.Count(KeysAt(live_));
    totals.asked += kLive;
    totals.false_negatives += missing;
    if (missing != 0) Find(totals, std::to_string(missing) + " keys are missing, " + where);
  }

  Shape shape_;
  AnyFilter filter_;
  uint64_t next_ = 0, random_ = 0;
  std::vector<uint64_t> live_;
};

uint64_t ResidentBytes() {
#ifdef __GLIBC__
  malloc_trim(0);  // the memory that the allocator keeps varies between rounds
#endif
  std::ifstream in("/proc/self/statm");
  uint64_t size = 0, resident = 0;
  in >> size >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// Returns by how many percent the maximum of the second half exceeds the maximum of the first half.
double Growth(const std::vector<uint64_t>& resident) {
  const auto middle = resident.begin() + static_cast<ptrdiff_t>(resident.size() / 2);
  const uint64_t before = *std::max_element(resident.begin(), middle);
  const uint64_t after = *std::max_element(middle, resident.end());
  return 100 * (static_cast<double>(after) / static_cast<double>(before) - 1);
}

// Returns the newest state that was saved completely.
uint64_t LastState(const fs::path& folder) {
  uint64_t last = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("state-"))
      last = std::max<uint64_t>(last, std::strtoull(&name[6], nullptr, 10));
  }
  return last;
}

void SaveState(const fs::path& folder, uint64_t number, const std::vector<Subject>& subjects) {
  const fs::path partial = folder / "partial";
  fs::remove_all(partial);
  fs::create_directory(partial);
  for (const Subject& subject : subjects) subject.Save(partial);
  fs::rename(partial, folder / ("state-" + std::to_string(number)));
  fs::remove_all(folder / ("state-" + std::to_string(number - 1)));
}

int Run(const fs::path& folder, double seconds, uint64_t cycles, const std::string& seed) {
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const uint64_t state = LastState(folder);
  std::vector<Subject> subjects;
  for (const Shape& shape : Shapes()) {
    subjects.emplace_back(shape, folder / ("state-" + std::to_string(state)));
  }
  const Engine engine;
  Totals totals;
  std::vector<uint64_t> resident;  // after each round
  std::vector<std::unique_ptr<std::vector<char>>> kept;
  const bool shows_at_once = seed == "lost" || seed == "rate";
  const uint64_t min_rounds = shows_at_once ? kSeededRounds : kMinRounds;
  while (totals.rounds < min_rounds || (elapsed() < seconds && totals.cycles < cycles)) {
    for (Subject& subject : subjects) subject.Round(engine, folder / "f.tamis", seed, totals);
    if (seed == "memory") kept.push_back(std::make_unique<std::vector<char>>(1 << 20, 'x'));
    ++totals.rounds;
    resident.push_back(ResidentBytes());
  }
  const double growth = Growth(resident);
  if (growth >= 1) {
    std::printf("FINDING: resident memory grew by %.2f%%\n", growth);
    ++totals.findings;
  }
  SaveState(folder, state + 1, subjects);
  std::printf(
      "state=%llu rounds=%llu cycles=%llu asked=%llu false_negatives=%llu absent=%llu hits=%llu "
      "refused=%llu not_taken=%llu resident=%llu growth=%.2f findings=%llu\n",
      static_cast<unsigned long long>(state + 1), static_cast<unsigned long long>(totals.rounds),
      static_cast<unsigned long long>(totals.cycles), static_cast<unsigned long long>(totals.asked),
      static_cast<unsigned long long>(totals.false_negatives),
      static_cast<unsigned long long>(totals.absent), static_cast<unsigned long long>(totals.hits),
      static_cast<unsigned long long>(totals.refused),
      static_cast<unsigned long long>(totals.not_taken),
      static_cast<unsigned long long>(*std::ranges::max_element(resident)), growth,
      static_cast<unsigned long long>(totals.findings));
  return totals.findings == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tamis::campaigns

int main(int argc, char** argv) {
  if (argc != 4 && argc != 6) {
    std::fprintf(stderr, "usage: tamis_soak FOLDER (--seconds N | --cycles N) [--seed WHAT]\n");
    return 2;
  }
  const bool timed = std::strcmp(argv[2], "--seconds") == 0;
  const double seconds = timed ? std::atof(argv[3]) : HUGE_VAL;
  const uint64_t cycles = timed ? UINT64_MAX : std::strtoull(argv[3], nullptr, 10);
  return tamis::campaigns::Run(argv[1], seconds, cycles, argc == 6 ? argv[5] : "");
}
