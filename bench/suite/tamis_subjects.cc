#include <functional>
#include <map>
#include <stdexcept>
#include <type_traits>

#include "bench/suite/subject.h"
#include "tamis/bloom_filter.h"
#include "tamis/counting_filter.h"
#include "tamis/cuckoo_filter.h"
#include "tamis/engine.h"
#include "tamis/split_block_filter.h"

namespace tamis::bench {
namespace {

template <typename Filter>
inline constexpr bool kErases = std::is_base_of_v<ErasableFilter, Filter>;

void RequireAll(size_t done, const Keys& keys, const char* what) {
  if (done == keys.size()) return;
  throw std::runtime_error(std::string(what) + " " + std::to_string(done) + " of " +
                           std::to_string(keys.size()) + " keys");
}

template <typename F>
class TamisSubject final : public Subject {
 public:
  // `bits_per_key`: at its capacity; 0 leaves the capacity to the filter. `reinserts`: see Subject.
  TamisSubject(const char* kind, double bits_per_key, bool reinserts)
      : Subject(kind), bits_per_key_(bits_per_key), reinserts_(reinserts) {}

  std::string library() const override { return "tamis"; }

  bool Can(Operation operation, KeyForm form) const override {
    switch (operation) {
      case Operation::kErase:
        return kErases<F>;
      case Operation::kInsert:
        return reinserts_ || kErases<F>;
      case Operation::kOneKey:
      case Operation::kBuild:
      case Operation::kBuildOneKey:
        return form == KeyForm::kU64;
      default:
        return true;
    }
  }
  bool reinserts() const override { return reinserts_; }

  void Open(std::pmr::memory_resource& memory, uint64_t bytes) override {
    FilterOptions options;
    options.bytes = bytes;
    options.memory.resource = &memory;
    if (bits_per_key_ > 0) {
      options.capacity = static_cast<uint64_t>(8.0 * static_cast<double>(bytes) / bits_per_key_);
    }
    filter_.emplace(options);
  }
  void Close() override { filter_.reset(); }

  uint64_t capacity() const override { return filter_->capacity(); }
  uint64_t bytes() const override { return filter_->bytes(); }
  std::optional<double> expected_fpr() const override { return filter_->expected_fpr(); }
  std::span<const std::byte> contents() const override { return filter_->payload(); }

  void Clear() override { filter_->Clear(); }

  void Insert(const Keys& keys, Way way) override {
    if (way.one_key) {
      F& filter = *filter_;
      filter.set_backend(*way.backend);
      const uint64_t* const values = keys.data<uint64_t>();
      size_t done = 0;
      for (size_t i = 0; i < keys.size(); ++i) done += filter.Insert(values[i]);
      RequireAll(done, keys, "inserted");
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

  void Ask(Operation operation, const Keys& keys, Way way, Answers& answers) override {
    F& filter = *filter_;
    filter.set_backend(*way.backend);
    const bool by_engine = way.threads > 1 || IsAccelerator(way.backend);
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
    return operation == Operation::kContains;
  }

 private:
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
  std::map<std::pair<const Backend*, unsigned>, std::unique_ptr<Engine>> engines_;
};

}  // namespace

// The default kind first.
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
  return subjects;
}

}  // namespace tamis::bench
