// The axes of the suite: what is measured is one point on each of them.
#ifndef TAMIS_BENCH_SUITE_AXES_H_
#define TAMIS_BENCH_SUITE_AXES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/timing.h"
#include "tamis/backend.h"

namespace tamis::bench {

enum class Operation : uint8_t {
  kContains,  // a batch of queries, answers to a bitmap (or as bytes, where a peer has no bitmaps)
  kContainsBytes,         // the same, answers as bytes: on a GPU
  kSelect,                // a batch of queries, answers as the indices of the hits
  kOneKey,                // a loop over the function that asks for one key
  kEngineContains,        // kContains through an Engine, also on one thread
  kContainsBesideWriter,  // kContains on one thread while another one changes the filter
  kInsert,         // a batch of keys into a filter that is nearly full, so that it is full then
  kBuild,          // all keys into an empty filter
  kBuildOneKey,    // the same, one key a call
  kBuildIfAbsent,  // the same, which says of each key whether it was new
  kErase,          // a batch of keys out of a full filter
};

// Strings are views, scattered as a program has them, or a column: end to end, of lengths from half
// to one and a half of the mean that its name has.
enum class KeyType : uint8_t { kU64, kString16, kUrl, kColumn16, kColumn40, kColumn80, kColumn200 };
inline constexpr KeyType kViewForms[] = {KeyType::kString16, KeyType::kUrl};
inline constexpr KeyType kColumnForms[] = {KeyType::kColumn16, KeyType::kColumn40,
                                           KeyType::kColumn80, KeyType::kColumn200};

// The mean number of bytes of a column's strings; 0 of other forms.
constexpr size_t ColumnLength(KeyType form) {
  switch (form) {
    case KeyType::kColumn16:
      return 16;
    case KeyType::kColumn40:
      return 40;
    case KeyType::kColumn80:
      return 80;
    case KeyType::kColumn200:
      return 200;
    default:
      return 0;
  }
}

// "contains", "contains_bytes", "select", "one_key", "engine_contains", "contains_beside_writer",
// "insert", "build", "build_one_key", "build_if_absent", "erase".
std::string_view OperationName(Operation operation) noexcept;
// "u64", "string16", "url", "column16" ...
std::string_view KeyTypeName(KeyType form) noexcept;

constexpr bool IsLookup(Operation operation) {
  return operation == Operation::kContains || operation == Operation::kContainsBytes ||
         operation == Operation::kSelect || operation == Operation::kOneKey ||
         operation == Operation::kEngineContains || operation == Operation::kContainsBesideWriter;
}

// Whether it is a GPU, to which an Engine hands lookups and nothing else.
bool IsAccelerator(const Backend* backend) noexcept;

// One point on all axes but the kind of filter, the size and the huge pages, which all cases of a
// contender have in common.
struct Case {
  Operation operation = Operation::kContains;
  const Backend* backend = nullptr;  // nullptr for peers
  unsigned threads = 1;
  int hit_percent = 50;  // of lookups
  KeyType form = KeyType::kU64;
  uint32_t call_keys = 0;  // of one call, of lookups of integers in batches; 0: all of a pass

  // What one thread does is timed by its own clock, which stands still while others work.
  Time time() const noexcept {
    return threads == 1 && !IsAccelerator(backend) ? Time::kThread : Time::kWall;
  }

  friend bool operator==(const Case&, const Case&) = default;
};

// How large filters are, named after the cache that they fit in, or for how many keys they are.
struct SizeClass {
  std::string name;       // "L1", "L2", "LLC" or "memory"; "1MiB"; "1000000_keys"
  uint64_t bytes = 0;     // of a filter; of one with 12 bits per key if the keys are given
  uint64_t num_keys = 0;  // 0: as many as go into the bytes
};

// What the size classes follow from.
struct Caches {
  uint64_t l1 = 0;  // bytes of the first-level data cache
  uint64_t l2 = 0;
  uint64_t last_level = 0;  // may be l2
};

// Half of each cache, since keys and answers pass through it as well, and eight times the last one.
// The limits are for the time that builds take, and for memory: the suite uses a third of it.
struct SizeLimits {
  uint64_t llc_bytes = ~uint64_t{0};
  uint64_t memory_bytes = ~uint64_t{0};
  uint64_t physical_memory = 0;  // 0: unknown
};
std::vector<SizeClass> SizeClasses(const Caches& caches, const SizeLimits& limits);

// Sizes that are the same on every machine, so that any two runs have some in common.
struct FixedSize {
  const char* name;
  uint64_t bytes;
};
inline constexpr FixedSize kFixedSizes[] = {{"1MiB", uint64_t{1} << 20},
                                            {"64MiB", uint64_t{64} << 20}};
bool IsFixedSize(std::string_view name) noexcept;

// The fixed sizes that memory_bytes and physical_memory allow.
std::vector<SizeClass> FixedSizes(const SizeLimits& limits);

// Of filters for so many keys, those that memory_bytes and physical_memory allow.
std::vector<SizeClass> SizesOfKeys(std::span<const uint64_t> keys, const SizeLimits& limits);

// "split_block/contains/backend:AVX2/threads:1/size:L2/hits:50/keys:u64/huge_pages:on"; where a
// call does not have all keys, with "/call:64" before "/keys".
std::string CaseName(std::string_view kind, const Case& c, const SizeClass& size, bool huge_pages);

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_AXES_H_
