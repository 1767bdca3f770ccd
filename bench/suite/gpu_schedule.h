// Which rows a run has on a GPU, and of how many keys: pure functions.
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

// A kind of filter of this library that a GPU has kernels for.
struct GpuKind {
  const char* name;
  bool can_be_full;  // hence built to its capacity, and erased from
  uint64_t max_bytes;
  std::unique_ptr<Filter> (*make)(uint64_t bytes);
};
std::span<const GpuKind> GpuKinds() noexcept;

// A filter of another library, which is there where its headers were handed in.
struct GpuPeerKind {
  const char* name;
  const char* library;
  bool can_be_full;
  uint64_t max_bytes;
  std::unique_ptr<GpuPeer> (*make)(uint64_t bytes);
};

// The backends of rows are the places of keys; of peers, which have them in device memory, none.
enum class GpuPlace : uint8_t { kDevice, kPinned, kHost };
const Backend* BackendOf(GpuPlace place) noexcept;

struct GpuSchedule {
  std::vector<uint64_t> filter_bytes;  // in the order of their turns: what matters most is first
  uint64_t batch_keys = 0;             // of queries and insertions in device memory
  uint64_t host_batch_keys = 0;        // of those in host memory
  size_t repetitions = 0;
  std::string filter;  // as ScheduleInput::filter
  std::span<const GpuPeerKind> peers = {};
};
GpuSchedule GpuScheduleFor(Mode mode, uint64_t memory_bytes);
// Whether filters of two kinds and of peers, and what is read for the limits, are in its memory.
constexpr bool FitsGpu(uint64_t bytes, uint64_t memory_bytes) { return bytes <= memory_bytes / 6; }

// "GPU_16MiB" for 16 MiB, and the other way: nothing for what is no such name of 4 KiB or more.
SizeClass GpuSizeOf(uint64_t bytes);
std::optional<uint64_t> GpuSizeBytes(std::string_view name);

// The cases of a kind at one size, in their order; none if it has no such filters.
std::vector<Case> GpuCases(const GpuKind& kind, const SizeClass& size, const NameFilter& filter);
std::vector<Case> GpuCases(const GpuPeerKind& kind, const SizeClass& size,
                           const NameFilter& filter);

// The names of the cases.
std::vector<std::string> GpuCaseNames(const GpuSchedule& schedule);

// How a batch is made use of by a row that changes a filter of `filter_keys`: in several passes of
// as many keys each, from different parts of the batch or, where they have to be those of the
// filter, from the same. One pass of a small filter would be over in microseconds, in which
// launches are most of it. `keys` <= batch_keys; of a filter with more keys than the batch there is
// one pass.
struct GpuPasses {
  uint64_t count;
  uint64_t keys;  // of each
};
inline constexpr uint64_t kMostGpuPasses = 64;
constexpr GpuPasses GpuPassesFor(uint64_t filter_keys, uint64_t batch_keys) {
  if (filter_keys == 0 || batch_keys == 0) return {0, 0};
  if (filter_keys >= batch_keys) return {1, batch_keys};
  const uint64_t whole = batch_keys / filter_keys;
  return {whole < kMostGpuPasses ? whole : kMostGpuPasses, filter_keys};
}

// Part `index` of a row of `total` keys, in batches.
struct GpuPart {
  uint64_t first;
  uint64_t keys;  // 0: there is no such part
};
constexpr GpuPart GpuPartOf(uint64_t total, uint64_t batch_keys, uint64_t index) {
  if (batch_keys == 0 || index >= total / batch_keys + (total % batch_keys != 0)) return {total, 0};
  const uint64_t first = index * batch_keys;
  return {first, total - first < batch_keys ? total - first : batch_keys};
}

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_GPU_SCHEDULE_H_
