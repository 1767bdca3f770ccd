#include "tools/commands/seen_keys.h"

#include <tamis/engine/windowed_filter.h>
#include <tamis/error.h>
#include <tamis/file/filter_kind_name.h>
#include <tamis/filters/bloom_filter.h>
#include <tamis/filters/filter_kinds.h>
#include <tamis/filters/split_block_filter.h>

#include <algorithm>
#include <vector>

#include "tools/output/format.h"

namespace tamis::tools {
namespace {

// For fewer keys, the time in which an engine chooses a route is worth more than its threads.
constexpr size_t kKeysForEngine = 4096;

size_t ContainsIn(const Filter& filter, const Engine& engine, const Keys& keys, Bitmap found) {
  return keys.size() < kKeysForEngine ? filter.Contains(keys, found)
                                      : engine.Contains(filter, keys, found);
}

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
  double Fpr() const override { return FprByCount(filter_); }
  uint64_t bytes() const override { return filter_.bytes(); }

 private:
  ChangeableFilter& filter_;
  const Engine& engine_;
  std::vector<uint64_t> rejected_;
};

class OnlyInFilter final : public SeenKeys {
 public:
  OnlyInFilter(const Filter& filter, const Engine& engine) : filter_(filter), engine_(engine) {}

  size_t Contains(const Keys& keys, Bitmap found) override {
    return ContainsIn(filter_, engine_, keys, found);
  }
  size_t InsertIfAbsent(const Keys& keys, Bitmap fresh) override {
    return text::FindAbsent(*this, keys, fresh);
  }
  double Fpr() const override { return filter_.expected_fpr(); }
  uint64_t bytes() const override { return filter_.bytes(); }

 private:
  const Filter& filter_;
  const Engine& engine_;
};

template <typename F>
class InWindow final : public SeenKeys {
 public:
  InWindow(const WindowOptions& options, const Engine& engine)
      : filter_(options), engine_(engine) {}

  size_t Contains(const Keys& keys, Bitmap found) override {
    return filter_.Contains(keys, found, &engine_);
  }
  size_t InsertIfAbsent(const Keys& keys, Bitmap fresh) override {
    return filter_.InsertIfAbsent(keys, fresh, &engine_);
  }
  double Fpr() const override { return filter_.expected_fpr(); }
  uint64_t bytes() const override { return filter_.bytes(); }

 private:
  WindowedFilter<F> filter_;
  const Engine& engine_;
};

}  // namespace

std::unique_ptr<SeenKeys> SeenIn(ChangeableFilter& filter, const Engine& engine) {
  return std::make_unique<InFilter>(filter, engine);
}

std::unique_ptr<SeenKeys> SeenOnlyIn(const Filter& filter, const Engine& engine) {
  return std::make_unique<OnlyInFilter>(filter, engine);
}

std::unique_ptr<SeenKeys> SeenInWindow(FilterKind kind, uint64_t window, double fpr,
                                       const Engine& engine) {
  const WindowOptions options{.window = window, .fpr = fpr};
  if (kind == BloomFilter::kKind) return std::make_unique<InWindow<BloomFilter>>(options, engine);
  if (kind == SplitBlockBloomFilter::kKind) {
    return std::make_unique<InWindow<SplitBlockBloomFilter>>(options, engine);
  }
  throw Error(ErrorCode::kInvalidArgument, std::string("--window needs --kind ") +
                                               FilterKindName(BloomFilter::kKind) + " or " +
                                               FilterKindName(SplitBlockBloomFilter::kKind));
}

}  // namespace tamis::tools
