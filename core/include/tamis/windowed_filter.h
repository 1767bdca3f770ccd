// The last keys of a stream that never ends.
#ifndef TAMIS_WINDOWED_FILTER_H_
#define TAMIS_WINDOWED_FILTER_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tamis/engine.h"
#include "tamis/erasable_filter.h"
#include "tamis/error.h"
#include "tamis/filter.h"
#include "tamis/filter_kinds.h"
#include "tamis/hash.h"
#include "tamis/keys.h"
#include "tamis/memory.h"
#include "tamis/sizing.h"
#include "tamis/units.h"

namespace tamis {

namespace windowed {

inline constexpr uint32_t kMinFilters = 2;
inline constexpr uint32_t kMaxFilters = 64;  // a lookup may have to probe them all

}  // namespace windowed

struct WindowOptions {
  uint64_t window = 0;  // keys that are kept, at least 1
  double fpr = 0.01;    // of the whole, in [filters * kMinFpr, kMaxFpr]
  // Plain filters of the ring, in [2, 64]. More of them take less memory and longer lookups.
  uint32_t filters = 4;
  HashSpec hash = {};
  MemoryOptions memory = {};
  const Backend* backend = nullptr;  // nullptr: DefaultBackend()
};

// Keeps the last `window` keys or more, and forgets older ones: a ring of g plain filters, each for
// s = ceil(window / (g - 1)) keys. Keys go into the newest filter. As soon as it has s keys the
// oldest is cleared, and is the newest from then on.
//
// After any insertion the last `window` keys inserted are found, where a key that comes again
// counts from its latest insertion. For it goes into the newest filter unless that says it may be
// in, and is found from then on until g - 1 more filters have had their s keys. A key that the
// newest filter may have takes none of its room: repeats within a short time are free, and more
// than `window` keys are kept. A key that does not come again is forgotten, but for false
// positives, before max_keys() = g s others have gone in after it.
//
// Memory is that of g filters of class F for s keys at the rate 1 - (1 - fpr)^(1/g), about fpr / g:
// filters err for keys of their own, so that with all of them full the ring errs at the rate fpr.
// Before that it errs less. At 1e-6 classic filters take these bits for each key of the window:
//
//   filters    2      4      8      16     (a plain filter, which forgets nothing: 28.8)
//   bits       60.4   42.2   37.8   36.8
//
// but an absent key is probed in all of them. Windows of a few thousand keys and less take more at
// such rates: no Bloom filter has fewer than about sqrt(s / rate) bits.
//
// Whoever inserts the last key for which there is room clears a filter: writes bytes() / g bytes
// at once. Where no call may take so long, more filters make it shorter.
//
// F is SplitBlockBloomFilter, BloomFilter or another class that takes every key. Those that can
// erase may refuse one, and could not promise what this does.
//
// As with other filters, any number of threads may ask one that does not change; a change needs
// exclusive access. It cannot be saved. One that was moved from can only be assigned to.
template <typename F>
class WindowedFilter {
  static_assert(!std::is_base_of_v<ErasableFilter, F>,
                "tamis: a filter that can erase may refuse a key, which a window may not");

 public:
  // Throws Error(kInvalidArgument) for options out of range, and what the constructor of F throws.
  explicit WindowedFilter(const WindowOptions& options) : window_(options.window) {
    Check(options);
    const uint32_t g = options.filters;
    share_ = window_ / (g - 1) + (window_ % (g - 1) != 0);
    const FilterOptions made = {.capacity = share_,
                                .fpr = -std::expm1(std::log1p(-options.fpr) / g),
                                .hash = options.hash,
                                .memory = options.memory,
                                .backend = options.backend};
    filters_.reserve(g);
    while (filters_.size() < g) filters_.emplace_back(made);
  }

  uint64_t window() const noexcept { return window_; }
  // The most different keys that are kept.
  uint64_t max_keys() const noexcept { return share_ * filters_.size(); }
  // In no particular order.
  const std::vector<F>& filters() const noexcept { return filters_; }
  const HashSpec& hash() const noexcept { return filters_.front().hash(); }
  // Of all filters together.
  uint64_t bytes() const noexcept {
    uint64_t sum = 0;
    for (const F& filter : filters_) sum += filter.bytes();
    return sum;
  }
  // The false-positive rate at present: 1 - (1 - p1) (1 - p2) ... for what FprByCount says of the
  // filters. O(filters).
  double expected_fpr() const {
    double log_of_none = 0;
    for (const F& filter : filters_) log_of_none += std::log1p(-FprByCount(filter));
    return std::max(0.0, -std::expm1(log_of_none));  // and not -0
  }

  // One key. Integers are keys by their value widened to 64 bits (see Keys).
  bool Contains(uint64_t key) const noexcept { return ContainsHash(HashU64(key, hash())); }
  bool Contains(std::string_view key) const noexcept {
    return ContainsHash(HashBytes(key, hash()));
  }
  bool ContainsHash(uint64_t hash) const noexcept {
    return std::any_of(filters_.begin(), filters_.end(),
                       [hash](const F& filter) { return filter.ContainsHash(hash); });
  }

  // One key. Insert it, and return whether it is new: whether Contains was false.
  bool InsertIfAbsent(uint64_t key) { return InsertHashIfAbsent(HashU64(key, hash())); }
  bool InsertIfAbsent(std::string_view key) { return InsertHashIfAbsent(HashBytes(key, hash())); }
  bool InsertHashIfAbsent(uint64_t hash) {
    const bool is_new = !ContainsHash(hash);
    InsertHash(hash);
    return is_new;
  }

  void Insert(uint64_t key) { InsertHash(HashU64(key, hash())); }
  void Insert(std::string_view key) { InsertHash(HashBytes(key, hash())); }
  void InsertHash(uint64_t hash) {
    if (Newest().InsertHashIfAbsent(hash)) Turn();
  }

  // As those of Filter: {"a", "b"} would else be one string.
  void Insert(std::initializer_list<std::string_view> keys) { Insert(Keys(keys)); }
  bool Contains(std::initializer_list<std::string_view> keys) const = delete;
  template <detail::NoKey T>
  bool Contains(T) const = delete;
  template <detail::NoKey T>
  bool InsertIfAbsent(T) = delete;
  template <detail::NoKey T>
  void Insert(T) = delete;

  // Many keys, one after the other: bit i of `fresh` becomes whether key i was not found at its
  // turn, so one that comes twice within the window is new once. Nulls are not new. Returns how
  // many were new. `fresh` needs BitmapWords(n) words or more, of which exactly so many are
  // written. Runs on the threads and with the backend of `engine`, or, if that is nullptr, on the
  // calling thread. Throws Error(kInvalidArgument), with nothing changed, if `fresh` is too small,
  // and may throw std::bad_alloc.
  size_t InsertIfAbsent(Keys keys, Bitmap fresh, const Engine* engine = nullptr) {
    return Answer(keys, fresh, [&](Hashes hashes, std::span<uint64_t> bits) {
      Add(hashes.values, bits, engine);
    });
  }
  // The same without saying which were new.
  void Insert(Keys keys, const Engine* engine = nullptr) {
    std::vector<uint64_t> hashes(std::min(keys.size(), kSlice));
    for (size_t first = 0; first < keys.size(); first += kSlice) {
      const size_t n = HashKeys(SliceAt(keys, first), hash(), hashes);
      Add(std::span(hashes).first(n), {}, engine);
    }
  }

  // Sets one bit per key: "maybe" is 1. Returns the number of ones. `out`, `engine` and errors as
  // with InsertIfAbsent.
  size_t Contains(Keys keys, Bitmap out, const Engine* engine = nullptr) const {
    return Answer(keys, out, [&](Hashes hashes, std::span<uint64_t> bits) {
      std::vector<uint64_t> scratch(bits.size());
      for (const F& filter : filters_) AddFound(filter, hashes, bits, scratch, engine);
    });
  }

  // Forgets all keys.
  void Clear() {
    for (F& filter : filters_) filter.Clear();
  }

 private:
  static constexpr size_t kSlice = size_t{1} << 16;  // whole words of a bitmap

  static void Check(const WindowOptions& options) {
    const auto refuse = [](const std::string& what, const std::string& range) {
      throw Error(ErrorCode::kInvalidArgument, what + " is out of range " + range);
    };
    if (options.window < 1) refuse("a window of 0 keys", "[1, 2^64)");
    if (options.filters < windowed::kMinFilters || options.filters > windowed::kMaxFilters) {
      refuse("a window of " + std::to_string(options.filters) + " filters",
             "[" + std::to_string(windowed::kMinFilters) + ", " +
                 std::to_string(windowed::kMaxFilters) + "]");
    }
    const double least = options.filters * kMinFpr;
    if (!(options.fpr >= least && options.fpr <= kMaxFpr)) {  // true for NaN, too
      refuse("a false-positive rate of " + NumberText(options.fpr) + " of a window of " +
                 std::to_string(options.filters) + " filters",
             "[" + NumberText(least) + ", " + NumberText(kMaxFpr) + "]");
    }
  }

  static Keys SliceAt(const Keys& keys, size_t first) {
    return keys.Slice(first, std::min(kSlice, keys.size() - first));
  }

  // Calls answer(hashes, bits) for slices of the keys that are not null: it sets the bits of those
  // to be set in `out`, which are 0 before. Returns how many these are.
  template <typename Function>
  size_t Answer(const Keys& keys, Bitmap out, const Function& answer) const {
    const size_t words = BitmapWords(keys.size());
    if (out.words().size() < words) {
      throw Error(ErrorCode::kInvalidArgument,
                  "the output has " + std::to_string(out.words().size()) + " words, and " +
                      std::to_string(keys.size()) + " keys need " + std::to_string(words));
    }
    std::vector<uint64_t> hashes(std::min(keys.size(), kSlice)), packed;
    std::fill_n(out.words().begin(), words, 0);
    size_t ones = 0;
    for (size_t first = 0; first < keys.size(); first += kSlice) {
      const Keys slice = SliceAt(keys, first);
      const size_t n = HashKeys(slice, hash(), hashes);
      const std::span<uint64_t> bits = out.words().subspan(first / 64, BitmapWords(slice.size()));
      const Hashes some{std::span(hashes).first(n)};
      if (n == slice.size()) {
        answer(some, bits);
      } else {
        packed.assign(BitmapWords(n), 0);
        answer(some, packed);
        Spread(slice, packed, bits);
      }
      for (const uint64_t word : bits) ones += static_cast<size_t>(std::popcount(word));
    }
    return ones;
  }

  // The bits of valid keys, to where the keys are.
  static void Spread(const Keys& keys, std::span<const uint64_t> packed, std::span<uint64_t> bits) {
    for (size_t i = 0, next = 0; i < keys.size(); ++i) {
      if (!keys.IsValid(i)) continue;
      bits[i / 64] |= ((packed[next / 64] >> (next % 64)) & 1) << (i % 64);
      ++next;
    }
  }

  // Sets the bits of those that the filter has as well.
  static void AddFound(const F& filter, Hashes hashes, std::span<uint64_t> bits,
                       std::span<uint64_t> scratch, const Engine* engine) {
    if (engine != nullptr) {
      engine->Contains(filter, hashes, Bitmap(scratch));
    } else {
      filter.Contains(hashes, Bitmap(scratch));
    }
    for (size_t i = 0; i < BitmapWords(hashes.values.size()); ++i) bits[i] |= scratch[i];
  }

  // Inserts keys in their order, and sets the bits of those that are new, unless `bits` is empty.
  // They are cut where the newest filter may become full: so nothing is cleared within a piece.
  void Add(std::span<const uint64_t> hashes, std::span<uint64_t> bits, const Engine* engine) {
    std::vector<uint64_t> inserted(BitmapWords(hashes.size())), older, scratch;
    for (size_t at = 0; at < hashes.size();) {
      const uint64_t room = share_ - Newest().inserted_count();
      const size_t n = std::min<uint64_t>(room, hashes.size() - at);
      const Hashes piece{hashes.subspan(at, n)};
      if (engine != nullptr) {
        engine->InsertIfAbsent(Newest(), piece, Bitmap(inserted));
      } else {
        Newest().InsertIfAbsent(piece, Bitmap(inserted));
      }
      if (!bits.empty()) {
        older.assign(BitmapWords(n), 0);
        scratch.resize(older.size());
        for (const F& filter : filters_) {
          if (&filter != &Newest()) AddFound(filter, piece, older, scratch, engine);
        }
        for (size_t i = 0; i < older.size(); ++i)
          AddWord(inserted[i] & ~older[i], at + 64 * i, bits);
      }
      at += n;
      Turn();
    }
  }

  // Sets bits from bit `at` on.
  static void AddWord(uint64_t word, size_t at, std::span<uint64_t> bits) {
    if (word == 0) return;
    bits[at / 64] |= word << (at % 64);
    if (const uint64_t rest = at % 64 == 0 ? 0 : word >> (64 - at % 64); rest != 0) {
      bits[at / 64 + 1] |= rest;
    }
  }

  F& Newest() noexcept { return filters_[newest_]; }

  // Begins with another filter if the newest one is full.
  void Turn() {
    if (Newest().inserted_count() < share_) return;
    newest_ = (newest_ + 1) % filters_.size();
    Newest().Clear();
  }

  uint64_t window_;
  uint64_t share_;  // keys of each filter
  std::vector<F> filters_;
  size_t newest_ = 0;  // the one after it is the oldest
};

}  // namespace tamis

#endif  // TAMIS_WINDOWED_FILTER_H_
