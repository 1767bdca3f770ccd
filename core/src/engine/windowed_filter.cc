#include "tamis/engine/windowed_filter.h"

#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "core/src/bulk/batches.h"
#include "core/src/bulk/outcomes.h"
#include "core/src/bulk/output.h"
#include "core/src/bulk/valid_keys.h"
#include "tamis/detail/str_cat.h"
#include "tamis/engine/engine.h"
#include "tamis/error.h"
#include "tamis/filters/filter_kinds.h"
#include "tamis/filters/sizing.h"
#include "tamis/units.h"

namespace tamis {

using detail::Batch;
using detail::Outcomes;

namespace {

using std::chrono::nanoseconds;

constexpr size_t kSlice = size_t{1} << 16;  // keys to hash at a time

// Rounds down, also for negative times.
int64_t NumberOfGeneration(nanoseconds time, nanoseconds generation) {
  const int64_t quotient = time / generation;
  return quotient - (time % generation < nanoseconds(0) ? 1 : 0);
}

void CheckWindow(const WindowOptions& options) {
  const auto refuse = [](const std::string& what, const std::string& range) {
    throw Error(ErrorCode::kInvalidArgument, what + " is out of range " + range);
  };
  if (options.window < 1) refuse("a window of 0 keys", "[1, 2^64)");
  const std::string filters = detail::StrCat("a window of ", options.filters, " filters");
  if (options.filters < windowed::kMinFilters || options.filters > windowed::kMaxFilters) {
    refuse(filters, detail::StrCat("[", windowed::kMinFilters, ", ", windowed::kMaxFilters, "]"));
  }
  if (options.span < nanoseconds(0) || options.span > windowed::kMaxSpan) {
    refuse(detail::StrCat("a window of ", options.span.count(), " ns"),
           detail::StrCat("[0, ", windowed::kMaxSpan.count(), "]"));
  }
  const double least = options.filters * kMinFpr;
  if (!(options.fpr >= least && options.fpr <= kMaxFpr)) {  // also refuses NaN
    refuse("a false-positive rate of " + NumberText(options.fpr) + " of " + filters,
           "[" + NumberText(least) + ", " + NumberText(kMaxFpr) + "]");
  }
}

}  // namespace

template <typename F>
WindowedFilter<F>::WindowedFilter(const WindowOptions& options, std::vector<F> filters)
    : window_(options.window), span_(options.span), filters_(std::move(filters)) {
  CheckWindow(options);
  const uint32_t others = options.filters - 1;
  share_ = window_ / others + (window_ % others != 0);
  const bool by_time = span_ != nanoseconds(0);
  limit_ = by_time ? std::numeric_limits<uint64_t>::max() : share_;
  generation_ = span_ / others + nanoseconds(span_ % others != nanoseconds(0) ? 1 : 0);
}

template <typename F>
WindowedFilter<F>::WindowedFilter(const WindowOptions& options)
    : WindowedFilter(options, std::vector<F>()) {
  const uint32_t g = options.filters;
  const FilterOptions made = {.capacity = share_,
                              .fpr = -std::expm1(std::log1p(-options.fpr) / g),
                              .hash = options.hash,
                              .memory = options.memory,
                              .backend = options.backend};
  filters_.reserve(g);
  while (filters_.size() < g) filters_.emplace_back(made);
}

template <typename F>
uint64_t WindowedFilter<F>::bytes() const noexcept {
  uint64_t sum = 0;
  for (const F& filter : filters_) sum += filter.bytes();
  return sum;
}

template <typename F>
double WindowedFilter<F>::expected_fpr() const {
  double log_of_none = 0;
  for (const F& filter : filters_) log_of_none += std::log1p(-FprByCount(filter));
  return std::max(0.0, -std::expm1(log_of_none));  // never -0
}

template <typename F>
size_t WindowedFilter<F>::Contains(Keys keys, Bitmap out, const Engine* engine) const {
  const auto query = [&](const Keys& some, uint64_t* bits) { Query(some, bits, engine); };
  return detail::Answer(query, traits(), keys, out);
}

template <typename F>
size_t WindowedFilter<F>::InsertIfAbsent(Keys keys, Bitmap fresh, const Engine* engine) {
  return Apply(Change::kInsertIfAbsent, keys, detail::BitsFor(keys.size(), fresh), engine);
}

template <typename F>
size_t WindowedFilter<F>::Insert(Keys keys, const Engine* engine) {
  return Apply(Change::kInsert, keys, {}, engine);
}

template <typename F>
void WindowedFilter<F>::Clear() {
  for (F& filter : filters_) filter.Clear();
  time_.reset();
}

template <typename F>
void WindowedFilter<F>::Advance(nanoseconds now) {
  if (span_ == nanoseconds(0)) {
    throw Error(ErrorCode::kInvalidArgument,
                "a window by keys has no time: set WindowOptions::span");
  }
  if (time_ && now <= *time_) return;
  if (time_) {
    const auto begun = static_cast<uint64_t>(NumberOfGeneration(now, generation_)) -
                       static_cast<uint64_t>(NumberOfGeneration(*time_, generation_));
    for (uint64_t i = 0; i < std::min<uint64_t>(begun, filters_.size()); ++i) Turn();
  }
  time_ = now;
}

template <typename F>
void WindowedFilter<F>::Turn() {
  newest_ = (newest_ + 1) % filters_.size();
  if (Newest().inserted_count() != 0) Newest().Clear();
}

template <typename F>
void WindowedFilter<F>::Query(const Keys& keys, uint64_t* bits, const Engine* engine) const {
  const detail::Kernels& kernels = *traits().backend->kernels;
  std::vector<uint64_t> hashes(std::min(keys.size(), kSlice));
  for (size_t begin = 0; begin < keys.size(); begin += kSlice) {
    const Keys some = keys.Slice(begin, kSlice);
    detail::ForEachBatchAndNulls(
        kernels, some, hash(), detail::kUnlimited,
        [&](const Batch& batch, size_t at) { kernels.hash(batch, hashes.data() + at); });
    Find(Hashes{std::span(hashes).first(some.size())}, nullptr, bits + begin / 64, engine);
  }
  detail::ClearNulls(keys, 0, keys.size(), bits);
}

// Inserts the keys in pieces. A piece ends where the newest filter may become full, so that the
// oldest filter is only cleared between two pieces.
template <typename F>
size_t WindowedFilter<F>::Apply(Change change, const Keys& keys, const ChangeOutputs& outputs,
                                const Engine* engine) {
  const detail::Kernels& kernels = *traits().backend->kernels;
  std::vector<uint64_t> hashes(std::min(keys.size(), kSlice));
  uint64_t inserted[kSlice / 64], older[kSlice / 64];
  const auto insert = [&](std::span<const uint64_t> some, uint64_t first, Outcomes& outcomes) {
    size_t num_fresh = 0;
    for (size_t at = 0, n = 0; at < some.size(); at += n) {
      n = std::min<uint64_t>(limit_ - Newest().inserted_count(), some.size() - at);
      const Hashes piece{some.subspan(at, n)};
      const Bitmap out({inserted, BitmapWords(n)});
      engine != nullptr ? engine->InsertIfAbsent(Newest(), piece, out)
                        : Newest().InsertIfAbsent(piece, out);
      if (change == Change::kInsertIfAbsent) {
        Find(piece, &Newest(), older, engine);
        for (size_t i = 0; i < BitmapWords(n); ++i) inserted[i] &= ~older[i];
        outcomes.AddFresh(first + at, inserted, n);
        num_fresh += kernels.popcount(inserted, BitmapWords(n));
      }
      if (Newest().inserted_count() >= limit_) Turn();
    }
    return change == Change::kInsert ? some.size() : num_fresh;
  };
  return detail::ForValidKeys(
      keys, hash(), outputs, [&](uint64_t n, const detail::BatchSource& source, Outcomes outcomes) {
        uint64_t done = 0;
        for (uint64_t begin = 0; begin < n; begin += kSlice) {
          const size_t size = std::min<uint64_t>(kSlice, n - begin);
          source(kernels, begin, size, [&](const Batch& batch, uint64_t index) {
            kernels.hash(batch, hashes.data() + (index - begin));
          });
          done += insert(std::span(hashes).first(size), begin, outcomes);
        }
        return done;
      });
}

template <typename F>
void WindowedFilter<F>::Find(Hashes hashes, const F* except, uint64_t* bits,
                             const Engine* engine) const {
  const size_t words = BitmapWords(hashes.values.size());
  uint64_t found[kSlice / 64];
  const Bitmap out({found, words});
  std::fill_n(bits, words, 0);
  for (const F& filter : filters_) {
    if (&filter == except) continue;
    engine != nullptr ? engine->Contains(filter, hashes, out) : filter.Contains(hashes, out);
    for (size_t i = 0; i < words; ++i) bits[i] |= found[i];
  }
}

template class WindowedFilter<SplitBlockBloomFilter>;
template class WindowedFilter<BloomFilter>;

}  // namespace tamis
