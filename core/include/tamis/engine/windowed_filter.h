// A filter of the latest keys of an endless stream.
//
// See docs/contracts.md for the rules of all classes: answers, keys, threads, errors.
#ifndef TAMIS_ENGINE_WINDOWED_FILTER_H_
#define TAMIS_ENGINE_WINDOWED_FILTER_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tamis/changeable.h"
#include "tamis/file/file.h"
#include "tamis/filters/bloom_filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/hash.h"
#include "tamis/key_types.h"
#include "tamis/keys.h"
#include "tamis/memory.h"
#include "tamis/queryable.h"

namespace tamis {

class Engine;

namespace windowed {

inline constexpr uint32_t kMinFilters = 2;   // fewest filters of a window
inline constexpr uint32_t kMaxFilters = 64;  // a query may probe them all
// Longest time that a window can keep a key: a hundred years of 365 days.
inline constexpr std::chrono::nanoseconds kMaxSpan = std::chrono::hours(100 * 365 * 24);

}  // namespace windowed

// Options of a WindowedFilter.
struct WindowOptions {
  // Number of keys to keep, at least 1. With `span`, the number of different keys that are expected
  // in this time, for the size of the filters. If all of them may come at once, multiply this
  // number by `filters` - 1, so that one filter has room for them.
  uint64_t window = 0;
  // 0, or the time to keep a key, in [1 ns, kMaxSpan].
  std::chrono::nanoseconds span{0};
  double fpr = 0.01;  // rate of the whole window, in [filters * kMinFpr, kMaxFpr]
  // Plain filters in the ring, in [2, 64]. More filters take less memory and make queries slower.
  uint32_t filters = 4;
  HashSpec hash = {};                // the hash of the filters
  MemoryOptions memory = {};         // memory of each filter
  const Backend* backend = nullptr;  // nullptr: DefaultBackend()
};

// Keeps the latest `window` keys or more, or the keys of the latest `span` of time or more, and
// forgets older ones.
//
// A window is a ring of g plain filters, each for s = ceil(window / (g - 1)) keys. Keys are
// inserted into the newest filter. When a window by keys has s keys in it, the oldest filter is
// cleared and becomes the newest.
//
// After any insertion into a window by keys, the latest `window` keys are found. A key that comes
// again counts from its latest insertion: if the newest filter does not seem to have the key, the
// key is inserted into that filter. In any case, the key is found until g - 1 more filters have
// received their s keys. A key that the newest filter seems to have takes no room. So repeats
// within a short time take no room, and the window keeps more than `window` keys. A key that does
// not come again is forgotten, except for false positives, before max_keys() = g s other keys have
// been inserted after it.
//
// The memory is the memory of g filters of class F for s keys at the rate 1 - (1 - fpr)^(1/g),
// about fpr / g. The false positives of the filters are independent. So the ring has the rate fpr
// when all filters are full, and a lower rate before. At 1e-6, classic filters take this number of
// bits for each key of the window:
//
//   filters    2      4      8      16     (a plain filter that forgets nothing: 28.8)
//   bits       60.4   42.2   37.8   36.8
//
// A query of an absent key probes all filters. Windows of up to a few thousand keys take more
// memory at such rates, because no Bloom filter has fewer than about sqrt(s / rate) bits.
//
// The call that inserts the last key of a filter also clears the oldest filter, which writes
// bytes() / g bytes. With more filters, this takes less time.
//
// With `span`, a filter receives the keys of a generation instead, d = ceil(span / (g - 1)). The
// caller passes the time to Advance: nanoseconds since any origin, such as
// std::chrono::system_clock::now().time_since_epoch(). Generations begin at multiples of d. All
// other functions use the latest time that was passed. A key that was inserted at time t is found
// until the time t + span or later. It is forgotten, except for false positives, at the time t + g
// d at the latest. A key that comes again counts from its latest insertion. Memory does not grow:
// if a generation has more than s different keys, the rate rises (expected_fpr), and no key is
// forgotten early.
//
// Functions for many keys may throw std::bad_alloc.
template <typename F>
class WindowedFilter final : public Queryable, public Changeable {
  static_assert(std::is_same_v<F, SplitBlockBloomFilter> || std::is_same_v<F, BloomFilter>,
                "tamis: a window needs filters that have room for every key");

 public:
  // Throws Error(kInvalidArgument) for options out of range, and the errors of the constructor of
  // F.
  explicit WindowedFilter(const WindowOptions& options);

  // Saves the window with its time, in a file of a format of its own (core/FORMAT.md). Replaces the
  // whole file, or leaves it unchanged: see Filter::Save. Needs memory for one filter of the ring.
  void Save(const std::filesystem::path& path, const SaveOptions& options = {}) const;
  // Loads a file that Save wrote. The file must not be truncated during the call. Throws
  // FormatError with the failed check, if the file is damaged or its filters are not of class F,
  // and the errors of F::Load.
  static WindowedFilter Load(const std::filesystem::path& path, const LoadOptions& options = {});

  // Returns the number of latest keys that are kept, as in WindowOptions.
  uint64_t window() const noexcept { return window_; }
  // The time for which keys are kept. 0 for a window by keys.
  std::chrono::nanoseconds span() const noexcept { return span_; }
  // The time after which a key is certainly forgotten. 0 for a window by keys.
  std::chrono::nanoseconds max_age() const noexcept {
    return generation_ * static_cast<int64_t>(filters_.size());
  }
  // The maximum number of different keys in the window. With `span`, the number that the filters
  // are sized for.
  uint64_t max_keys() const noexcept { return share_ * filters_.size(); }
  // The latest time that Advance received. std::nullopt before the first call.
  std::optional<std::chrono::nanoseconds> time() const noexcept { return time_; }

  // Sets the time of a window by time, and forgets the keys of generations that have ended too long
  // ago. Clears up to all filters. A time before the latest one changes nothing: keys that are
  // inserted next count from the latest time, so they are kept longer. A time in the far future
  // forgets all keys, and the window then keeps all keys until that time; Clear repairs this. Keys
  // that were inserted before the first call count from its time. Throws Error(kInvalidArgument)
  // for a window by keys.
  void Advance(std::chrono::nanoseconds now);
  // The filters of the ring, in no particular order.
  const std::vector<F>& filters() const noexcept { return filters_; }
  // Returns the hash of the filters.
  const HashSpec& hash() const noexcept { return filters_.front().hash(); }
  // The sum over all filters.
  uint64_t bytes() const noexcept override;
  // The false-positive rate with the keys kept now: 1 - (1 - p1) (1 - p2) ... for the rates p1, p2,
  // ... that FprByCount returns for the filters. O(filters).
  double expected_fpr() const override;
  // The types of the keys in all filters of the ring. Contains KeyType::kUnknown if an early
  // version of tamis inserted a key.
  KeyTypes key_types() const noexcept override;
  QueryTraits traits() const noexcept override { return {.backend = &filters_.front().backend()}; }
  ChangeTraits change_traits() const noexcept override { return {.inserts_if_absent = true}; }

  // Query one key.
  bool Contains(uint64_t key) const noexcept { return ContainsHash(HashU64(key, hash())); }
  bool Contains(std::string_view key) const noexcept {
    return ContainsHash(HashBytes(key, hash()));
  }
  bool ContainsHash(uint64_t hash) const noexcept {
    return std::any_of(filters_.begin(), filters_.end(),
                       [hash](const F& filter) { return filter.ContainsHash(hash); });
  }
  using Queryable::Contains;

  // Insert one key, and return whether Contains was false for it before.
  bool InsertIfAbsent(uint64_t key) {
    return InsertOneIfAbsent(KeyType::kInteger, HashU64(key, hash()));
  }
  bool InsertIfAbsent(std::string_view key) {
    return InsertOneIfAbsent(KeyType::kBytes, HashBytes(key, hash()));
  }
  bool InsertHashIfAbsent(uint64_t hash) { return InsertOneIfAbsent(KeyType::kUnknown, hash); }
  // In contrast to other classes, also inserts keys that only older filters of the ring have. Such
  // a key counts from this insertion, and its bit in `fresh` is 0.
  using Changeable::InsertIfAbsent;

  // Insert one key.
  void Insert(uint64_t key) { InsertOne(KeyType::kInteger, HashU64(key, hash())); }
  void Insert(std::string_view key) { InsertOne(KeyType::kBytes, HashBytes(key, hash())); }
  void InsertHash(uint64_t hash) { InsertOne(KeyType::kUnknown, hash); }
  using Changeable::Insert;

  // Without this overload, {"a", "b"} would be taken for one iterator pair.
  bool Contains(std::initializer_list<std::string_view> keys) const = delete;
  template <detail::NoKey T>
  bool Contains(T) const = delete;
  template <detail::NoKey T>
  bool InsertIfAbsent(T) = delete;
  template <detail::NoKey T>
  void Insert(T) = delete;

  // Do the same as the functions without `engine`, on its threads and with its backend. If `engine`
  // is nullptr, run on the calling thread with the backend of the window.
  size_t Contains(Keys keys, Bitmap out, const Engine* engine) const;
  size_t InsertIfAbsent(Keys keys, Bitmap fresh, const Engine* engine);
  size_t Insert(Keys keys, const Engine* engine);

  // Removes all keys, and forgets the time.
  void Clear();

 private:
  explicit WindowedFilter(const WindowOptions& options, std::vector<F> filters);

  F& Newest() noexcept { return filters_[newest_]; }
  void InsertOne(KeyType type, uint64_t hash) {
    F& newest = Newest();
    KeyTypes types = newest.key_types();
    if (!newest.InsertHashIfAbsent(hash)) return;
    types.Add(type);
    newest.set_key_types(types);
    if (newest.inserted_count() >= limit_) Turn();
  }
  bool InsertOneIfAbsent(KeyType type, uint64_t hash) {
    const bool is_new = !ContainsHash(hash);
    InsertOne(type, hash);
    return is_new;
  }
  // Clears the oldest filter, which becomes the newest.
  void Turn();

  void Query(const Keys& keys, uint64_t* bits) const override { Query(keys, bits, nullptr); }
  void Query(const Keys& keys, uint64_t* bits, const Engine* engine) const;
  size_t Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) override {
    return Apply(change, keys, outputs, nullptr);
  }
  size_t Apply(Change change, const Keys& keys, const ChangeOutputs& outputs, const Engine* engine);
  // Sets bit i if key i may be in a filter other than `except`.
  void Find(Hashes hashes, const F* except, uint64_t* bits, const Engine* engine) const;

  uint64_t window_;
  std::chrono::nanoseconds span_;
  uint64_t share_;                       // keys of each filter
  uint64_t limit_;                       // the next filter begins at this number of keys
  std::chrono::nanoseconds generation_;  // time of each filter
  std::optional<std::chrono::nanoseconds> time_;
  std::vector<F> filters_;
  size_t newest_ = 0;  // the filter after it is the oldest
};

extern template class WindowedFilter<SplitBlockBloomFilter>;
extern template class WindowedFilter<BloomFilter>;

// The header of a file that WindowedFilter::Save wrote.
struct WindowHeader {
  FilterKind kind;                               // of the filters
  uint32_t filters;                              // their number
  uint64_t window;                               // number of keys, as in WindowOptions
  std::chrono::nanoseconds span;                 // 0 for a window by keys
  std::optional<std::chrono::nanoseconds> time;  // the latest time that Advance received
};

// Returns whether a file begins like a file that WindowedFilter::Save wrote. The file may be
// incomplete. Throws Error(kIo).
bool IsWindow(const std::filesystem::path& path);
// Reads and checks the header of the file. Throws FormatError and Error(kIo) like Load.
WindowHeader ReadWindowHeader(const std::filesystem::path& path);

}  // namespace tamis

#endif  // TAMIS_ENGINE_WINDOWED_FILTER_H_
