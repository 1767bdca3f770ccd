#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>

#include "bench/suite/subject.h"
#include "tamis/detail/str_cat.h"
#include "tamis/live/concurrent_bloom.h"
#include "tamis/live/concurrent_cuckoo.h"

namespace tamis::bench {
namespace {

// A thread that waits for work, because starting a thread takes as long as inserting ten thousand
// keys.
class Colleague {
 public:
  Colleague() : thread_([this] { Loop(); }) {}
  ~Colleague() {
    Start({});
    thread_.join();
  }
  Colleague(const Colleague&) = delete;
  Colleague& operator=(const Colleague&) = delete;

  void Start(std::function<void()> work) {
    work_ = std::move(work);
    busy_ = true;
    busy_.notify_one();
  }
  bool busy() const noexcept { return busy_; }
  void Wait() const {
    while (busy_) {
    }
  }

 private:
  void Loop() {
    for (bool ends = false; !ends; busy_ = false) {
      busy_.wait(false);
      ends = !work_;
      if (work_) work_();
    }
  }

  std::function<void()> work_;
  std::atomic<bool> busy_ = false;
  std::thread thread_;
};

template <typename F>
class ConcurrentSubject final : public Subject {
 public:
  static constexpr bool kIsBloom = requires(F filter) { filter.filter(); };

  // `bits_per_key`: bits per key at the capacity. 0: the filter chooses its capacity.
  ConcurrentSubject(const std::string& plain, double bits_per_key)
      : Subject(std::string(kConcurrentPrefix) + plain), bits_per_key_(bits_per_key) {}

  std::string library() const override { return "tamis"; }
  bool Can(Operation operation, KeyType form) const override {
    switch (operation) {
      case Operation::kErase:
        return !kIsBloom;
      case Operation::kContainsBytes:
      case Operation::kEngineContains:
      case Operation::kBuildIfAbsent:
        return false;
      case Operation::kContains:
      case Operation::kSelect:
      case Operation::kInsert:
        return true;
      default:
        return form == KeyType::kU64;
    }
  }
  bool reinserts() const override { return kIsBloom; }

  void Open(std::pmr::memory_resource& memory, uint64_t bytes) override {
    filter_.emplace(OptionsOf(memory, bytes, bits_per_key_));
    backend_ = nullptr;
  }
  void Close() override {
    snapshot_.reset();
    filter_.reset();
  }

  uint64_t capacity() const override { return filter_->capacity(); }
  uint64_t bytes() const override { return filter_->bytes(); }
  std::optional<double> expected_fpr() const override { return filter_->expected_fpr(); }
  std::span<const std::byte> contents() const override {
    snapshot_.emplace(filter_->Snapshot());
    return snapshot_->payload();
  }

  void Clear() override { filter_->Clear(); }

  void Insert(const Keys& keys, Way way) override {
    Use(way.backend);
    if (way.one_key) {
      const uint64_t* const values = keys.data<uint64_t>();
      F& filter = *filter_;
      size_t done = 0;
      for (size_t i = 0; i < keys.size(); ++i) done += filter.Insert(values[i]);
      RequireAll(done, keys.size());
    } else if (way.threads == 1) {
      RequireAll(filter_->Insert(keys), keys.size());
    } else {
      // An engine splits the keys of a call in the same way.
      const std::span<const uint64_t> all(keys.data<uint64_t>(), keys.size());
      size_t done = 0;
      colleague().Start([&] { done = filter_->Insert(all.subspan(all.size() / 2)); });
      const size_t mine = filter_->Insert(all.first(all.size() / 2));
      colleague().Wait();
      RequireAll(mine + done, keys.size());
    }
  }
  void Erase(const Keys& keys, Way way) override {
    if constexpr (kIsBloom) {
      throw std::logic_error(kind() + " does not erase");
    } else {
      Use(way.backend);
      RequireAll(filter_->Erase(keys), keys.size());
    }
  }

  void Ask(Operation operation, const Keys& keys, Way way, Answers& answers) override {
    Use(way.backend);
    const F& filter = *filter_;
    if (operation == Operation::kOneKey) {
      const uint64_t* const values = keys.data<uint64_t>();
      for (size_t i = 0; i < keys.size(); ++i) answers.bytes[i] = filter.Contains(values[i]);
    } else if (operation == Operation::kSelect) {
      answers.num_rows = filter.Select(keys, std::span<uint32_t>(answers.rows));
    } else {
      filter.Contains(keys, Bitmap(answers.bits));
    }
  }
  bool AnswersInBits(Operation operation) const override {
    return operation == Operation::kContains;
  }

  double AskBesideWriter(const Keys& keys, const Keys& written, Answers& answers) override {
    constexpr size_t kCall = 2048;
    const std::span<const uint64_t> all(keys.data<uint64_t>(), keys.size());
    std::atomic<bool> writing = false, done = false;
    colleague().Start([&] {
      writing = true;
      if constexpr (kIsBloom) {
        filter_->Insert(written);
      } else {
        while (!done) {
          filter_->Erase(written);
          filter_->Insert(written);
        }
      }
    });
    while (!writing) {
    }
    double ns = 0;
    uint64_t asked = 0;
    for (size_t at = 0; !done; at = at + 2 * kCall > all.size() ? 0 : at + kCall) {
      const auto call = all.subspan(at, std::min(kCall, all.size()));
      const double call_ns =
          Nanoseconds(Time::kWall, [&] { filter_->Contains(call, Bitmap(answers.bits)); });
      if (!colleague().busy() && asked != 0) break;
      ns += call_ns;
      asked += call.size();
      // The writer of a Bloom filter ends when its keys are inserted.
      done = !kIsBloom && asked >= all.size();
    }
    done = true;
    colleague().Wait();
    return ns / static_cast<double>(asked) * static_cast<double>(all.size());
  }

 private:
  void Use(const Backend* backend) {
    if (backend == backend_ || backend == nullptr) return;
    auto plain = std::move(*filter_).Release();
    plain.set_backend(*backend);
    filter_.emplace(std::move(plain));
    backend_ = backend;
  }
  void RequireAll(size_t done, size_t keys) const {
    if (done == keys) return;
    throw std::runtime_error(detail::StrCat(kind(), " changed by ", done, " of ", keys, " keys"));
  }
  // The calling thread starts the colleague, so both may run on the same processors.
  Colleague& colleague() {
    if (!colleague_) colleague_ = std::make_unique<Colleague>();
    return *colleague_;
  }

  using Plain = decltype(std::declval<F&&>().Release());

  double bits_per_key_;
  std::optional<F> filter_;
  const Backend* backend_ = nullptr;
  mutable std::optional<Plain> snapshot_;
  std::unique_ptr<Colleague> colleague_;
};

}  // namespace

Subjects LiveSubjects() {
  Subjects subjects;
  const auto add = [&]<typename F>(std::in_place_type_t<F>, const char* plain,
                                   double bits_per_key) {
    subjects.push_back(std::make_unique<ConcurrentSubject<F>>(plain, bits_per_key));
  };
  add(std::in_place_type<ConcurrentSplitBlockBloomFilter>, "split_block", 12);
  add(std::in_place_type<ConcurrentCuckooFilter<8>>, "cuckoo8", 0);
  add(std::in_place_type<ConcurrentCuckooFilter<12>>, "cuckoo12", 0);
  add(std::in_place_type<ConcurrentCuckooFilter<16>>, "cuckoo16", 0);
  add(std::in_place_type<ConcurrentBloomFilter>, "bloom", 12);
  return subjects;
}

}  // namespace tamis::bench
