// Filters that carry the keys of the build side of a hash join to the scan of the probe side.
//
// docs/join.md explains how an engine uses them.
#ifndef TAMIS_JOIN_JOIN_FILTER_H_
#define TAMIS_JOIN_JOIN_FILTER_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tamis/backend.h"
#include "tamis/engine/calibration.h"
#include "tamis/filters/sizing.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/hash.h"
#include "tamis/keys.h"
#include "tamis/queryable.h"

namespace tamis {

namespace detail {
struct JoinPartState;
struct JoinState;
}  // namespace detail

// Integers from `low` upwards to `high`, both included. Negative integers are converted as C++
// converts them, and the range wraps around at 2^64: {-5, 10} contains 16 integers.
struct JoinKeyRange {
  uint64_t low = 0;   // the smallest key
  uint64_t high = 0;  // the largest key

  JoinKeyRange() = default;
  template <std::integral Low, std::integral High>
  constexpr JoinKeyRange(Low first, High last)
      : low(static_cast<uint64_t>(first)), high(static_cast<uint64_t>(last)) {}

  // Returns the number of integers in the range minus 1.
  constexpr uint64_t span() const noexcept { return high - low; }
  // Returns whether the key is in [low, high].
  constexpr bool Contains(uint64_t key) const noexcept { return key - low <= span(); }

  friend bool operator==(const JoinKeyRange&, const JoinKeyRange&) = default;
};

// The keys of a join.
enum class JoinKeyType : uint8_t {
  kIntegers,  // integers; queries may also pass their hashes
  kHashes,    // strings, ready hashes, several columns (join_keys.h)
};

// The structure that answers queries.
enum class JoinForm : uint8_t {
  kNothing,  // answers "maybe" for every key
  kList,     // up to 64 keys
  kBitmap,   // one bit for each integer from the smallest to the largest key, or of the known range
  kBlocks,   // a split-block Bloom filter
};

// Returns "nothing", "list", "bitmap" or "blocks".
const char* JoinFormName(JoinForm form) noexcept;

// The maximum number of keys of a list.
inline constexpr size_t kMaxJoinListKeys = 64;

// All parts of a join must be made with the same options, on every machine: the options determine
// the memory layout of the parts.
struct JoinFilterOptions {
  uint64_t expected_keys = 0;                        // distinct keys of the build side; at least 1
  JoinKeyType key_type = JoinKeyType::kIntegers;     // the keys of the join
  std::optional<JoinKeyRange> range = std::nullopt;  // if set, all integer keys are in this range
  double fpr = kDefaultFpr;  // false-positive rate of kBlocks, in [kMinFpr, kMaxFpr]
  // Maximum bytes of each part, and of the completed filter.
  uint64_t max_bytes = uint64_t{64} << 20;
  // Maximum number of keys that a part without a bitmap keeps in full. While all parts keep theirs,
  // the completed filter may be a list, a bitmap, or blocks for the number of kept keys.
  uint64_t kept_keys = uint64_t{1} << 16;
  uint64_t l2_bytes = uint64_t{1} << 20;   // the second-level cache of a processor
  uint64_t l3_bytes = uint64_t{16} << 20;  // the third-level cache
  HashSpec hash = {};                      // HashKind::kXxh3 or kXxh64
  // The costs of split-block lookups. nullptr: the costs of a typical machine. Read only by the
  // constructor.
  const Calibration* calibration = nullptr;
  const Backend* backend = nullptr;  // nullptr: DefaultBackend()
};

// The level of the memory in which a structure fits.
enum class JoinPlace : uint8_t { kL2, kL3, kMemory };

// Returns "L2", "L3" or "memory".
const char* JoinPlaceName(JoinPlace place) noexcept;

// A structure for the keys, or the reason why it is impossible.
struct JoinCandidate {
  JoinForm form = JoinForm::kNothing;  // the structure
  uint64_t bytes = 0;                  // its memory
  JoinPlace place = JoinPlace::kL2;    // where this memory fits
  double ns_per_row = 0;   // predicted nanoseconds of a query for one row, in a large batch
  std::string error = {};  // why it is impossible; empty if possible

  // Returns whether the structure can be made.
  bool possible() const noexcept { return error.empty(); }
};

// A structure, its reason, and all structures that were compared.
struct JoinChoice {
  JoinForm form = JoinForm::kNothing;
  std::string reason;                     // one sentence
  std::vector<JoinCandidate> candidates;  // possible ones first, the best first
};

// A filter for the keys of the build side of a hash join.
//
// Threads or machines fill parts, parts are added in any order, and Complete publishes the filter.
// Before Complete has returned, every query answers "maybe" for every key that is not null. After
// that, the answer is "maybe" for every key of every part. A "no" is never wrong:
// - Complete throws if a part is missing. A part cannot be added twice.
// - Parts with another memory layout are refused.
// - A part that exceeds max_bytes, or cannot get memory, turns the whole filter into kNothing. A
// part
//   with a bitmap also does that if it gets a key outside of the known range.
//
// The contents of a part are fixed by the options: if the range is known and a bitmap is the best
// structure for expected_keys in it, a bitmap. Otherwise a part keeps its keys, with the smallest
// and the largest one. When it has kept_keys keys, it removes duplicates, if at least half of the
// keys are duplicates, and otherwise puts its keys into a split-block filter. So Complete chooses:
//
// | Parts | Completed filter |
// |---|---|
// | all have a bitmap | kBitmap |
// | all keep their keys | kList, kBitmap or kBlocks |
// | at least one has blocks | kBlocks |
// | at least one is beyond a limit | kNothing |
//
// Among the possible structures, those that fit the second-level cache come first, then those that
// fit the third-level cache. Among these the structure with the least time per row is chosen, then
// the smallest.
//
// Threads: any number of threads may call all functions at the same time, except for the
// destructor. Different threads may use different parts.
class JoinFilter final : public Queryable {
 public:
  class Part;

  // Throws Error(kInvalidArgument) for options out of range, and Error(kUnknownBackend).
  explicit JoinFilter(const JoinFilterOptions& options);
  ~JoinFilter() override;
  JoinFilter(const JoinFilter&) = delete;
  JoinFilter& operator=(const JoinFilter&) = delete;

  // Returns an empty part. Parts are numbered from 0; each number is added once.
  Part MakePart(uint32_t index) const;
  // Adds the keys of a part. Throws, and changes nothing:
  // - Error(kIncompatible) if the part has another memory layout; the message has both layouts,
  // - Error(kInvalidArgument) if the part was added before, or is moved-from,
  // - Error(kReadOnly) if the filter is complete,
  // - std::bad_alloc.
  void Add(Part&& part);
  // Chooses the structure and publishes it. Throws Error(kInvalidArgument) unless exactly the parts
  // 0 to `parts_expected` - 1 were added, Error(kReadOnly) if the filter is complete. Afterwards
  // the filter is as before the call. If memory runs out, the filter becomes complete as kNothing.
  void Complete(uint32_t parts_expected);

  // Returns whether Complete has returned.
  bool complete() const noexcept;
  // The structure that answers queries. kNothing before completion.
  JoinForm form() const noexcept;
  // The choice of Complete. Before completion, the choice for expected_keys that determined the
  // contents of the parts.
  JoinChoice choice() const;
  // Number of parts added.
  uint32_t parts_added() const;
  // The smallest and the largest key. For parts that have a bitmap: the known range. Empty before
  // completion, for hashes, for kNothing, and without keys unless the parts have a bitmap.
  std::optional<JoinKeyRange> range() const noexcept;
  // The split-block filter, for an Engine or a GPU. nullptr for other forms. Valid as long as this
  // object.
  const SplitBlockBloomFilter* blocks() const noexcept;
  // The hash for `Hashes` and HashColumns.
  const HashSpec& hash() const noexcept;

  QueryTraits traits() const noexcept override;
  KeyTypes key_types() const override;
  // Bytes of the completed structure. 0 before completion.
  uint64_t bytes() const override;
  double estimated_count() const override;
  // 0 for exact forms, 1 for kNothing.
  double expected_fpr() const override;

 private:
  // Throws Error(kInvalidArgument) if keys of a JoinKeyType::kIntegers filter are neither integers
  // nor hashes nor TimeKeys. A bitmap answers "maybe" for every hash.
  void Query(const Keys& keys, uint64_t* bits) const override;
  void QueryWideTimes(const Keys& keys, uint64_t* bits) const;

  std::unique_ptr<detail::JoinState> state_;
};

// The keys that one thread or machine has read. Filled by one thread at a time.
class JoinFilter::Part {
 public:
  Part(Part&&) noexcept;
  Part& operator=(Part&&) noexcept;
  ~Part();

  // Adds all keys that are not null. Throws Error(kInvalidArgument), before it changes the part,
  // for keys of a type that the join does not have: a join of integers accepts only integers.
  // Throws Error(kReadOnly) if the part is moved-from. If memory runs out, the part becomes
  // kNothing.
  void Insert(const Keys& keys);

  // Returns the number of the part.
  uint32_t index() const;
  // Returns the hash of the join.
  const HashSpec& hash() const;
  // Returns the form of the contents: kList for keys in full, otherwise kBitmap, kBlocks or
  // kNothing.
  JoinForm contents() const;
  // Number of keys inserted. Duplicates count; nulls do not.
  uint64_t inserted_count() const;
  // Bytes of the contents, at most max_bytes.
  uint64_t bytes() const;

  // Returns the part as bytes for another machine: join/FORMAT.md. Throws std::bad_alloc.
  std::vector<std::byte> Serialize() const;
  // Reads bytes from an untrusted source. Throws FormatError with the check and the offset, and
  // std::bad_alloc. The memory of the part is at most a small multiple of bytes.size().
  static Part FromBytes(std::span<const std::byte> bytes);

 private:
  friend class JoinFilter;
  explicit Part(std::unique_ptr<detail::JoinPartState> state);
  detail::JoinPartState& Usable() const;

  std::unique_ptr<detail::JoinPartState> state_;
};

}  // namespace tamis

#endif  // TAMIS_JOIN_JOIN_FILTER_H_
