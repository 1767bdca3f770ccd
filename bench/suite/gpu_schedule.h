// Chooses the rows of a run on a GPU and their numbers of keys, with pure functions.
#ifndef TAMIS_BENCH_SUITE_GPU_SCHEDULE_H_
#define TAMIS_BENCH_SUITE_GPU_SCHEDULE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/suite/axes.h"
#include "bench/suite/schedule.h"
#include "tamis/filters/filter.h"

namespace tamis::bench {

class GpuPeer;

// A kind of filter of this library with kernels for GPUs.
struct GpuKind {
  const char* name;
  bool can_be_full;  // if so, the filter is built to its capacity, and keys are erased
  uint64_t max_bytes;
  std::unique_ptr<Filter> (*make)(uint64_t bytes);
  bool is_static = false;  // `make` builds it from the first keys of the sequence KeyAt
};
std::span<const GpuKind> GpuKinds() noexcept;

// A filter of another library whose headers were passed at configure time.
struct GpuPeerKind {
  const char* name;
  const char* library;
  bool can_be_full;
  uint64_t max_bytes;
  std::unique_ptr<GpuPeer> (*make)(uint64_t bytes);
};

// Places of keys. They are the backends of rows. Rows of peers have no backend: their keys are in
// device memory.
enum class GpuPlace : uint8_t { kDevice, kPinned, kHost };
const Backend* BackendOf(GpuPlace place) noexcept;

struct GpuSchedule {
  std::vector<uint64_t> filter_bytes;  // the most important first
  uint64_t batch_keys = 0;             // keys of queries and insertions in device memory
  uint64_t host_batch_keys = 0;        // keys of queries in host memory
  size_t repetitions = 0;
  std::string filter;  // the text of a NameFilter
  std::span<const GpuPeerKind> peers = {};
};
GpuSchedule GpuScheduleFor(Mode mode, uint64_t memory_bytes);
// Returns whether the memory of the GPU has room for filters of three kinds, for filters of peers,
// and for the memory that is read to measure the limits.
constexpr bool FitsGpu(uint64_t bytes, uint64_t memory_bytes) { return bytes <= memory_bytes / 6; }

// Converts between a size and its name, such as 16 MiB and "GPU_16MiB". GpuSizeBytes returns
// nothing if `name` is not such a name, or is for less than 4 KiB.
SizeClass GpuSizeOf(uint64_t bytes);
std::optional<uint64_t> GpuSizeBytes(std::string_view name);

// Returns the cases of a kind at one size, in order. If the kind has no filters of that size,
// returns no cases.
std::vector<Case> GpuCases(const GpuKind& kind, const SizeClass& size, const NameFilter& filter);
std::vector<Case> GpuCases(const GpuPeerKind& kind, const SizeClass& size,
                           const NameFilter& filter);

// Returns the names of all cases.
std::vector<std::string> GpuCaseNames(const GpuSchedule& schedule);

// How a row uses a batch to change a filter of `filter_keys` keys: in several passes with `keys` <=
// batch_keys keys each, because a single pass over a small filter would take microseconds, mostly
// for launches. The passes use different parts of the batch or, if the keys must be in the filter,
// the same part. If the filter has more keys than the batch, there is one pass.
struct GpuPasses {
  uint64_t count;
  uint64_t keys;  // keys of each pass
};
inline constexpr uint64_t kMostGpuPasses = 64;
constexpr GpuPasses GpuPassesFor(uint64_t filter_keys, uint64_t batch_keys) {
  if (filter_keys == 0 || batch_keys == 0) return {0, 0};
  if (filter_keys >= batch_keys) return {1, batch_keys};
  const uint64_t whole = batch_keys / filter_keys;
  return {whole < kMostGpuPasses ? whole : kMostGpuPasses, filter_keys};
}

// Part `index` of a row of `total` keys that is split into batches.
struct GpuPart {
  uint64_t first;
  uint64_t keys;  // 0: part `index` does not exist
};
constexpr GpuPart GpuPartOf(uint64_t total, uint64_t batch_keys, uint64_t index) {
  if (batch_keys == 0 || index >= total / batch_keys + (total % batch_keys != 0)) return {total, 0};
  const uint64_t first = index * batch_keys;
  return {first, total - first < batch_keys ? total - first : batch_keys};
}

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_GPU_SCHEDULE_H_
