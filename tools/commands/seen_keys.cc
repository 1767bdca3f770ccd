#include "tools/commands/seen_keys.h"

#include <tamis/engine/windowed_filter.h>
#include <tamis/error.h>
#include <tamis/file/filter_kind_name.h>
#include <tamis/filters/bloom_filter.h>
#include <tamis/filters/filter_kinds.h>
#include <tamis/filters/split_block_filter.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "tools/output/format.h"
#include "tools/output/output_file.h"
#include "tools/output/progress.h"

namespace tamis::tools {
namespace {

// Returns the key number of a window by time, in WindowOptions. Its ring gives each filter a share
// of this number. All `capacity` keys may come in the time of one filter, so each filter needs room
// for all of them.
uint64_t RoomForBursts(uint64_t capacity, uint32_t filters) {
  const uint64_t shares = filters - 1;
  if (capacity > std::numeric_limits<uint64_t>::max() / shares) {
    throw Error(ErrorCode::kInvalidArgument,
                "--capacity " + WithCommas(capacity) + " is too large for a window");
  }
  return capacity * shares;
}

// For fewer keys, the time in which an engine chooses a route is worth more than its threads.
constexpr size_t kKeysForEngine = 4096;

size_t ContainsIn(const Filter& filter, const Engine& engine, const Keys& keys, Bitmap found) {
  return keys.size() < kKeysForEngine ? filter.Contains(keys, found)
                                      : engine.Contains(filter, keys, found);
}

// Returns the number of new keys that change the rate of an overfull filter only a little: a
// sixteenth of its capacity. A filter with more than 64 bits per key counts as one with 64, because
// otherwise all its bits would be read too often.
uint64_t NewKeysOfSimilarRate(const Filter& filter) {
  return std::max(filter.capacity(), filter.bytes() / 8) / 16;
}

uint64_t LargestBatchFor(const Filter& filter) {
  return std::clamp<uint64_t>(NewKeysOfSimilarRate(filter), 64, kMaxDedupBatch);
}

// Follows the false-positive rate of a filter.
class Rate {
 public:
  // Up to the capacity, the rate follows from the number of keys. InsertIfAbsent does not count new
  // keys that are false positives. So beyond the capacity, the rate is computed from the bits,
  // which takes O(bytes), after every half of a batch of new keys.
  double Of(const Filter& filter) {
    const uint64_t count = filter.inserted_count();
    if (count <= filter.capacity() || KindInfo(filter.kind()).has_layers) return FprByCount(filter);
    const double half_batch = static_cast<double>(NewKeysOfSimilarRate(filter)) / 2;
    if (count < count_ || static_cast<double>(count - count_) > (1 - rate_) * half_batch) {
      rate_ = filter.expected_fpr();
      count_ = count;
    }
    return rate_;
  }

 private:
  uint64_t count_ = 0;  // for which rate_ was computed
  double rate_ = 0;
};

class InFilter final : public SeenKeys {
 public:
  InFilter(ChangeableFilter& filter, const Engine& engine) : filter_(filter), engine_(engine) {}

  size_t Contains(const Keys& keys, Bitmap found) override {
    return ContainsIn(filter_, engine_, keys, found);
  }
  size_t InsertIfAbsent(const Keys& keys, Bitmap fresh) override {
    rejected_.resize(BitmapWords(keys.size()));
    const Bitmap rejected(rejected_);
    const size_t n = keys.size() < kKeysForEngine
                         ? filter_.InsertIfAbsent(keys, fresh, rejected)
                         : engine_.InsertIfAbsent(filter_, keys, fresh, rejected);
    if (std::any_of(rejected_.begin(), rejected_.end(), [](uint64_t word) { return word != 0; })) {
      throw Error(ErrorCode::kInvalidArgument,
                  "the filter is full with " + Counted(filter_.inserted_count(), "key") +
                      ", and was not saved: give a larger --capacity or --bytes, or another "
                      "--kind");
    }
    return n;
  }
  double Fpr() override { return rate_.Of(filter_); }
  uint64_t bytes() const override { return filter_.bytes(); }
  size_t LargestBatch() const override {
    return KindInfo(filter_.kind()).has_layers ? kMaxDedupBatch : LargestBatchFor(filter_);
  }

 private:
  ChangeableFilter& filter_;
  const Engine& engine_;
  Rate rate_;
  std::vector<uint64_t> rejected_;
};

class OnlyInFilter final : public SeenKeys {
 public:
  OnlyInFilter(const Filter& filter, const Engine& engine)
      : filter_(filter), engine_(engine), fpr_(filter.expected_fpr()) {}

  size_t Contains(const Keys& keys, Bitmap found) override {
    return ContainsIn(filter_, engine_, keys, found);
  }
  size_t InsertIfAbsent(const Keys& keys, Bitmap fresh) override {
    return text::FindAbsent(*this, keys, fresh);
  }
  double Fpr() override { return fpr_; }
  uint64_t bytes() const override { return filter_.bytes(); }
  size_t LargestBatch() const override { return kMaxDedupBatch; }

 private:
  const Filter& filter_;
  const Engine& engine_;
  const double fpr_;  // expected_fpr() reads the whole filter
};

std::chrono::nanoseconds Now() { return std::chrono::system_clock::now().time_since_epoch(); }

template <typename F>
class InWindow final : public SeenInWindow {
 public:
  InWindow(WindowedFilter<F> filter, const Engine& engine)
      : filter_(std::move(filter)), engine_(engine), rates_(filter_.filters().size()) {}

  size_t Contains(const Keys& keys, Bitmap found) override {
    Advance();
    return filter_.Contains(keys, found, &engine_);
  }
  size_t InsertIfAbsent(const Keys& keys, Bitmap fresh) override {
    Advance();
    const size_t n = filter_.InsertIfAbsent(keys, fresh, &engine_);
    highest_ = std::max(highest_, Fpr());
    return n;
  }
  double Fpr() override {
    double log_of_none = 0;
    for (size_t i = 0; i < rates_.size(); ++i) {
      log_of_none += std::log1p(-rates_[i].Of(filter_.filters()[i]));
    }
    return std::max(0.0, -std::expm1(log_of_none));  // never -0
  }
  uint64_t bytes() const override { return filter_.bytes(); }
  size_t LargestBatch() const override {
    return by_time() ? LargestBatchFor(filter_.filters().front()) : kMaxDedupBatch;
  }
  double HighestFpr() const override { return highest_; }
  KeyTypes key_types() const override { return filter_.key_types(); }
  double FprAtCapacity() const override {
    double log_of_none = 0;
    for (const F& f : filter_.filters()) {
      log_of_none += std::log1p(-FilterFpr(F::kKind, static_cast<double>(f.capacity()), f.bytes()));
    }
    return -std::expm1(log_of_none);
  }
  void Save(const std::string& path, bool quiet, const SaveOptions& options) const override {
    const Notice notice("saving " + path + " ...", quiet);
    filter_.Save(path, options);
    OutputIsSaved();
  }

 private:
  bool by_time() const { return filter_.span() != std::chrono::nanoseconds(0); }
  void Advance() {
    if (by_time()) filter_.Advance(Now());
  }

  WindowedFilter<F> filter_;
  const Engine& engine_;
  std::vector<Rate> rates_;  // of the filters
  double highest_ = 0;
};

template <typename F>
std::unique_ptr<SeenInWindow> WindowOf(WindowedFilter<F> filter, const Engine& engine) {
  return std::make_unique<InWindow<F>>(std::move(filter), engine);
}

}  // namespace

std::unique_ptr<SeenKeys> SeenIn(ChangeableFilter& filter, const Engine& engine) {
  return std::make_unique<InFilter>(filter, engine);
}

std::unique_ptr<SeenKeys> SeenOnlyIn(const Filter& filter, const Engine& engine) {
  return std::make_unique<OnlyInFilter>(filter, engine);
}

WindowSize SizeOf(const WindowHeader& header) {
  if (header.span == std::chrono::nanoseconds(0)) return {.keys = header.window};
  return {.span = std::chrono::duration_cast<std::chrono::seconds>(header.span)};
}

std::unique_ptr<SeenInWindow> MakeWindow(FilterKind kind, const WindowSize& size, uint64_t capacity,
                                         double fpr, const Engine& engine) {
  WindowOptions options{.window = size.keys, .span = size.span, .fpr = fpr};
  if (size.by_time()) options.window = RoomForBursts(capacity, options.filters);
  if (kind == BloomFilter::kKind) return WindowOf(WindowedFilter<BloomFilter>(options), engine);
  if (kind == SplitBlockBloomFilter::kKind) {
    return WindowOf(WindowedFilter<SplitBlockBloomFilter>(options), engine);
  }
  throw Error(ErrorCode::kInvalidArgument, std::string("--window needs --kind ") +
                                               FilterKindName(BloomFilter::kKind) + " or " +
                                               FilterKindName(SplitBlockBloomFilter::kKind));
}

std::unique_ptr<SeenInWindow> LoadWindow(const std::string& path, const WindowSize& size,
                                         const Engine& engine) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::kInvalidArgument, path + why);
  };
  if (!IsWindow(path)) {
    refuse(
        " was not saved by `tamis dedup --window`: leave out --window, or give another --filter");
  }
  const WindowHeader header = ReadWindowHeader(path);
  if (header.span % std::chrono::seconds(1) != std::chrono::nanoseconds(0)) {
    refuse(" is a window of " + WithCommas(static_cast<uint64_t>(header.span.count())) +
           " ns, which only a program can continue");
  }
  if (SizeOf(header) != size) {
    refuse(" is a window of another size: give --window " + WindowText(SizeOf(header)));
  }
  const std::chrono::nanoseconds time = header.time.value_or(std::chrono::nanoseconds(0));
  if (time > header.span && time - header.span > Now()) {
    const auto ahead = std::chrono::duration_cast<std::chrono::seconds>(time - Now());
    refuse(": its time is " + WithCommas(static_cast<uint64_t>(ahead.count())) +
           " s after the clock of this machine: set the clock, or remove the file to begin again");
  }
  return header.kind == BloomFilter::kKind
             ? WindowOf(WindowedFilter<BloomFilter>::Load(path), engine)
             : WindowOf(WindowedFilter<SplitBlockBloomFilter>::Load(path), engine);
}

}  // namespace tamis::tools
