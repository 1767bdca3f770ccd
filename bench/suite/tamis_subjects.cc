#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>
#include <type_traits>

#include "bench/suite/subject.h"
#include "tamis/detail/str_cat.h"
#include "tamis/engine/build.h"
#include "tamis/engine/engine.h"
#include "tamis/filters/bloom_filter.h"
#include "tamis/filters/counting_filter.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tamis/filters/fuse_filter.h"
#include "tamis/filters/scalable_filter.h"
#include "tamis/filters/split_block_filter.h"

namespace tamis::bench {
namespace {

// Bits per key that a scalable filter of 1% needs at most, if its last layer is nearly full.
constexpr double kGrowingBits = 20;

template <typename Filter>
inline constexpr bool kErases = std::is_base_of_v<ErasableFilter, Filter>;

void RequireAll(size_t done, const Keys& keys, const char* what) {
  if (done == keys.size()) return;
  throw std::runtime_error(detail::StrCat(what, " ", done, " of ", keys.size(), " keys"));
}

// Whether the filter is made without a number of keys.
template <typename Filter>
inline constexpr bool kGrows = false;
template <typename Layer>
inline constexpr bool kGrows<ScalableFilter<Layer>> = true;

// An upper bound of the slots per key of a fuse filter, from 10^5 keys up.
constexpr double kFuseSlots = 1.19;
// The largest number of keys of a static filter. Building it needs 8 more bytes of memory per key.
constexpr uint64_t kMostStaticKeys = uint64_t{1} << 27;

template <typename F>
inline constexpr bool kIsStatic = requires {
  &F::BuildBy;
};

// Whether the subject plans the filter's size and number of keys, because the filter cannot.
template <typename F>
inline constexpr bool kIsPlanned = kGrows<F> || kIsStatic<F>;

// Returns options for a filter that doubles four times. Its five layers hold 31 times the keys of
// the first layer, and a few more.
ScalableOptions GrowingOptions(std::pmr::memory_resource& memory, uint64_t num_keys) {
  ScalableOptions options;
  options.initial_capacity = num_keys / 28 + 1;
  options.memory.resource = &memory;
  return options;
}

template <typename F>
class TamisSubject final : public Subject {
 public:
  // `bits_per_key`: bits per key at the capacity; 0: the filter chooses its capacity. `reinserts`:
  // see Subject.
  TamisSubject(const char* kind, double bits_per_key, bool reinserts)
      : Subject(kind), bits_per_key_(bits_per_key), reinserts_(reinserts) {}

  std::string library() const override { return "tamis"; }

  bool Can(Operation operation, KeyType form) const override {
    switch (operation) {
      case Operation::kContainsBesideWriter:
      case Operation::kContainsBytes:
        return false;
      case Operation::kErase:
        return kErases<F>;
      case Operation::kInsert:
        return reinserts_ || kErases<F>;
      case Operation::kBuildIfAbsent:
      case Operation::kBuildOneKey:
        return !kIsStatic<F> && form == KeyType::kU64;
      case Operation::kOneKey:
      case Operation::kEngineContains:
      case Operation::kBuild:
        return form == KeyType::kU64;
      default:
        return true;
    }
  }
  bool reinserts() const override { return reinserts_; }
  bool is_static() const override { return kIsStatic<F>; }
  bool Fits(const SizeClass& size) const override {
    if (!kIsStatic<F>) return true;
    return (size.num_keys != 0 ? size.num_keys : PlannedKeys(size.bytes / 2)) <= kMostStaticKeys;
  }

  void Open(std::pmr::memory_resource& memory, uint64_t bytes) override {
    if constexpr (kIsStatic<F>) {
      memory_ = &memory;
      planned_keys_ = std::min(PlannedKeys(bytes), kMostStaticKeys);
      planned_bytes_ = std::min(bytes, PlannedBytes(kMostStaticKeys));
    } else if constexpr (kGrows<F>) {
      planned_bytes_ = bytes;
      planned_keys_ = PlannedKeys(bytes);
      filter_.emplace(GrowingOptions(memory, planned_keys_));
    } else {
      filter_.emplace(OptionsOf(memory, bytes, bits_per_key_));
    }
  }
  void Close() override { filter_.reset(); }

  uint64_t capacity() const override { return kIsPlanned<F> ? planned_keys_ : filter_->capacity(); }
  uint64_t bytes() const override {
    const bool planned = kIsPlanned<F> && (!filter_ || filter_->inserted_count() == 0);
    return planned ? planned_bytes_ : filter_->bytes();
  }
  std::optional<double> expected_fpr() const override { return filter_->expected_fpr(); }
  std::span<const std::byte> contents() const override {
    if constexpr (kGrows<F>) {
      contents_.clear();
      for (const auto& layer : filter_->layers()) {
        contents_.insert(contents_.end(), layer.payload().begin(), layer.payload().end());
      }
      return contents_;
    } else {
      return filter_->payload();
    }
  }

  void Clear() override {
    if constexpr (kIsStatic<F>) {
      filter_.reset();
    } else if constexpr (kGrows<F>) {  // Clear would not keep the memory of the layers
      const ScalableOptions options = filter_->options();
      filter_.reset();
      filter_.emplace(options);
    } else {
      filter_->Clear();
    }
  }

  void Insert(const Keys& keys, Way way) override {
    if constexpr (kIsStatic<F>) {
      throw std::logic_error(kind() + " does not change");
    } else if (way.one_key) {
      F& filter = *filter_;
      filter.set_backend(*way.backend);
      const uint64_t* const values = keys.data<uint64_t>();
      size_t done = 0;
      for (size_t i = 0; i < keys.size(); ++i) done += filter.Insert(values[i]);
      RequireAll(done, keys, "inserted");
    } else if (way.if_absent) {
      filter_->set_backend(*way.backend);
      fresh_.resize(BitmapWords(keys.size()));
      // Some new keys are false positives.
      const size_t done = filter_->InsertIfAbsent(keys, Bitmap(fresh_));
      if (done < keys.size() - keys.size() / 8) RequireAll(done, keys, "found new");
    } else if (way.threads == 1) {
      filter_->set_backend(*way.backend);
      RequireAll(filter_->Insert(keys), keys, "inserted");
    } else {
      RequireAll(EngineFor(way).Insert(*filter_, keys), keys, "inserted");
    }
  }

  void Erase(const Keys& keys, Way way) override {
    if constexpr (kErases<F>) {
      filter_->set_backend(*way.backend);
      RequireAll(way.threads == 1 ? filter_->Erase(keys) : EngineFor(way).Erase(*filter_, keys),
                 keys, "erased");
    } else {
      throw std::logic_error(kind() + " does not erase");
    }
  }

  void Build(const RepeatableSource& keys, Way way) override {
    if constexpr (kIsStatic<F>) {
      filter_.reset();  // gives its memory back
      const FilterOptions options = {.memory = {.resource = memory_}, .backend = way.backend};
      filter_.emplace(tamis::Build<F>(keys, options, way.threads == 1 ? nullptr : &EngineFor(way)));
    } else {
      Subject::Build(keys, way);
    }
  }

  void Ask(Operation operation, const Keys& keys, Way way, Answers& answers) override {
    F& filter = *filter_;
    filter.set_backend(*way.backend);
    const bool by_engine =
        way.threads > 1 || IsAccelerator(way.backend) || operation == Operation::kEngineContains;
    if (way.call_keys != 0) return AskInCalls(keys, way, by_engine, answers);
    if (operation == Operation::kOneKey) {
      const uint64_t* const values = keys.data<uint64_t>();
      for (size_t i = 0; i < keys.size(); ++i) answers.bytes[i] = filter.Contains(values[i]);
    } else if (operation == Operation::kSelect) {
      const std::span<uint32_t> rows(answers.rows);
      answers.num_rows =
          by_engine ? EngineFor(way).Select(filter, keys, rows) : filter.Select(keys, rows);
    } else if (by_engine) {
      EngineFor(way).Contains(filter, keys, Bitmap(answers.bits));
    } else {
      filter.Contains(keys, Bitmap(answers.bits));
    }
  }
  bool AnswersInBits(Operation operation) const override {
    return operation == Operation::kContains || operation == Operation::kEngineContains;
  }

 private:
  uint64_t PlannedKeys(uint64_t bytes) const {
    return static_cast<uint64_t>(8.0 * static_cast<double>(bytes) / bits_per_key_);
  }
  uint64_t PlannedBytes(uint64_t keys) const {
    return static_cast<uint64_t>(static_cast<double>(keys) * bits_per_key_ / 8.0);
  }

  // Queries with one bitmap per call. Bitmaps of less than a word are joined.
  void AskInCalls(const Keys& keys, Way way, bool by_engine, Answers& answers) {
    const std::span<uint64_t> words(answers.bits);
    const Engine* const engine = by_engine ? &EngineFor(way) : nullptr;
    const auto ask = [&](size_t at, size_t n, Bitmap bits) {
      if (engine != nullptr) {
        engine->Contains(*filter_, keys.Slice(at, n), bits);
      } else {
        filter_->Contains(keys.Slice(at, n), bits);
      }
    };
    if (way.call_keys % 64 == 0) {
      for (size_t at = 0; at < keys.size(); at += way.call_keys) {
        ask(at, std::min<size_t>(way.call_keys, keys.size() - at), Bitmap(words.subspan(at / 64)));
      }
      return;
    }
    if (way.call_keys != 1) throw std::logic_error("calls of some words of keys, or of one");
    uint64_t word = 0, bit = 0;
    for (size_t at = 0; at < keys.size(); ++at) {
      ask(at, 1, Bitmap(std::span(&bit, 1)));
      word |= bit << (at % 64);
      if (at % 64 < 63 && at + 1 < keys.size()) continue;
      words[at / 64] = word;
      word = 0;
    }
  }

  const Engine& EngineFor(Way way) {
    auto& engine = engines_[{way.backend, way.threads}];
    if (!engine) {
      engine =
          std::make_unique<Engine>(EngineOptions{.threads = way.threads, .backend = way.backend});
    }
    return *engine;
  }

  double bits_per_key_;
  bool reinserts_;
  std::optional<F> filter_;
  std::pmr::memory_resource* memory_ = nullptr;    // the memory of a static filter
  uint64_t planned_keys_ = 0, planned_bytes_ = 0;  // used only if kIsPlanned
  mutable std::vector<std::byte> contents_;
  std::vector<uint64_t> fresh_;
  std::map<std::pair<const Backend*, unsigned>, std::unique_ptr<Engine>> engines_;
};

}  // namespace

FilterOptions OptionsOf(std::pmr::memory_resource& memory, uint64_t bytes, double bits_per_key) {
  FilterOptions options;
  options.bytes = bytes;
  options.memory.resource = &memory;
  if (bits_per_key > 0) {
    options.capacity = static_cast<uint64_t>(8.0 * static_cast<double>(bytes) / bits_per_key);
  }
  return options;
}

// The default kind is first.
Subjects TamisSubjects() {
  Subjects subjects;
  const auto add = [&]<typename F>(std::in_place_type_t<F>, const char* kind, double bits_per_key,
                                   bool reinserts) {
    subjects.push_back(std::make_unique<TamisSubject<F>>(kind, bits_per_key, reinserts));
  };
  add(std::in_place_type<SplitBlockBloomFilter>, "split_block", 12, true);
  add(std::in_place_type<CuckooFilter<8>>, "cuckoo8", 0, false);
  add(std::in_place_type<CuckooFilter<12>>, "cuckoo12", 0, false);
  add(std::in_place_type<CuckooFilter<16>>, "cuckoo16", 0, false);
  add(std::in_place_type<BloomFilter>, "bloom", 12, true);
  add(std::in_place_type<CountingBloomFilter>, "counting", 48, false);
  add(std::in_place_type<ScalableFilter<SplitBlockBloomFilter>>, "scalable_split_block",
      kGrowingBits, false);
  add(std::in_place_type<FuseFilter<8>>, "fuse8", 8 * kFuseSlots, false);
  add(std::in_place_type<FuseFilter<12>>, "fuse12", 12 * kFuseSlots, false);
  add(std::in_place_type<FuseFilter<16>>, "fuse16", 16 * kFuseSlots, false);
  add(std::in_place_type<FuseFilter<32>>, "fuse32", 32 * kFuseSlots, false);
  return subjects;
}

}  // namespace tamis::bench
