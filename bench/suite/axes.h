// The axes of the suite. A measurement is one point on each axis.
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
  // A batch of queries. The answers are a bitmap, or bytes if a peer has no bitmaps.
  kContains,
  kContainsBytes,         // kContains on a GPU; the answers are bytes
  kSelect,                // a batch of queries; the answers are the indices of the hits
  kOneKey,                // a loop over the function that queries one key
  kEngineContains,        // kContains through an Engine, also on one thread
  kContainsBesideWriter,  // kContains on one thread while another thread changes the filter
  kInsert,                // inserts a batch of keys into a nearly full filter, so that it is full
  kBuild,                 // inserts all keys into an empty filter
  kBuildOneKey,           // kBuild, one key per call
  kBuildIfAbsent,         // kBuild that also returns which keys were new
  kErase,                 // erases a batch of keys from a full filter
};

// Strings are views scattered in memory, as in a program, or a column: one string after another,
// with lengths from half to one and a half of the mean in the name.
enum class KeyType : uint8_t { kU64, kString16, kUrl, kColumn16, kColumn40, kColumn80, kColumn200 };
inline constexpr KeyType kViewForms[] = {KeyType::kString16, KeyType::kUrl};
inline constexpr KeyType kColumnForms[] = {KeyType::kColumn16, KeyType::kColumn40,
                                           KeyType::kColumn80, KeyType::kColumn200};

// Returns the mean number of bytes of a column's strings, and 0 for other key types.
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

// Returns "contains", "contains_bytes", "select", "one_key", "engine_contains",
// "contains_beside_writer", "insert", "build", "build_one_key", "build_if_absent" or "erase".
std::string_view OperationName(Operation operation) noexcept;
// Returns "u64", "string16", "url", "column16" ...
std::string_view KeyTypeName(KeyType form) noexcept;

constexpr bool IsLookup(Operation operation) {
  return operation == Operation::kContains || operation == Operation::kContainsBytes ||
         operation == Operation::kSelect || operation == Operation::kOneKey ||
         operation == Operation::kEngineContains || operation == Operation::kContainsBesideWriter;
}

// Returns whether `backend` is a GPU. An Engine passes only queries to a GPU.
bool IsAccelerator(const Backend* backend) noexcept;

// A point on all axes except the kind of filter, the size and the huge pages. All cases of a
// contender share these three.
struct Case {
  Operation operation = Operation::kContains;
  const Backend* backend = nullptr;  // nullptr for peers
  unsigned threads = 1;
  int hit_percent = 50;  // percentage of the queried keys that are in the filter
  KeyType form = KeyType::kU64;
  // Number of keys per call, for batches of queries of integers. 0: a whole pass.
  uint32_t call_keys = 0;

  // One thread is timed by its own clock, which stands still while other threads use the processor.
  Time time() const noexcept {
    return threads == 1 && !IsAccelerator(backend) ? Time::kThread : Time::kWall;
  }

  friend bool operator==(const Case&, const Case&) = default;
};

// The size of filters. The name is the cache that they fit in, or their number of keys.
struct SizeClass {
  std::string name;  // "L1", "L2", "LLC" or "memory"; "1MiB"; "1000000_keys"
  // Bytes of a filter. If the number of keys is given, bytes of a filter with 12 bits per key.
  uint64_t bytes = 0;
  uint64_t num_keys = 0;  // 0: the number that fits into `bytes`
};

// The caches that the size classes are computed from.
struct Caches {
  uint64_t l1 = 0;  // bytes of the first-level data cache
  uint64_t l2 = 0;
  uint64_t last_level = 0;  // equals l2 without a third level
};

// Upper limits for the size classes, so that builds do not take too long and memory is sufficient.
// The suite uses a third of the physical memory.
struct SizeLimits {
  uint64_t llc_bytes = ~uint64_t{0};
  uint64_t memory_bytes = ~uint64_t{0};
  uint64_t physical_memory = 0;  // 0: unknown
};
std::vector<SizeClass> SizeClasses(const Caches& caches, const SizeLimits& limits);

// Sizes that are the same on every machine, so that any two runs have some sizes in common.
struct FixedSize {
  const char* name;
  uint64_t bytes;
};
inline constexpr FixedSize kFixedSizes[] = {{"1MiB", uint64_t{1} << 20},
                                            {"64MiB", uint64_t{64} << 20}};
bool IsFixedSize(std::string_view name) noexcept;

// Returns the fixed sizes that fit into memory_bytes and physical_memory.
std::vector<SizeClass> FixedSizes(const SizeLimits& limits);

// Returns the size classes of filters for these numbers of keys that fit into memory_bytes and
// physical_memory.
std::vector<SizeClass> SizesOfKeys(std::span<const uint64_t> keys, const SizeLimits& limits);

// Returns a name such as
// "split_block/contains/backend:AVX2/threads:1/size:L2/hits:50/keys:u64/huge_pages:on". If calls
// have fewer keys than a pass, it contains "/call:64" before "/keys".
std::string CaseName(std::string_view kind, const Case& c, const SizeClass& size, bool huge_pages);

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_AXES_H_
