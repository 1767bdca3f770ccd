#include "bench/suite/gpu_schedule.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <vector>

#include "bench/workload.h"
#include "tamis/detail/str_cat.h"
#include "tamis/engine/build.h"
#include "tamis/engine/engine.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tamis/filters/fuse_filter.h"
#include "tamis/filters/split_block_filter.h"

namespace tamis::bench {
namespace {

// Backends that only name rows.
const Backend kPlaces[] = {
    {"CUDA:device", "keys and answers in device memory", nullptr},
    {"CUDA:pinned", "keys in pinned memory of the host", nullptr},
    {"CUDA:host", "keys in any memory of the host", nullptr},
};

// An upper bound from 10^5 keys up.
constexpr double kFuse8BitsPerKey = 9.5;

// A fuse filter of the first keys of the sequence, built on all threads.
std::unique_ptr<Filter> MakeFuse8(uint64_t bytes) {
  const auto n = static_cast<uint64_t>(8 * static_cast<double>(bytes) / kFuse8BitsPerKey);
  const auto visit_keys = [n](const std::function<void(Keys)>& visit) {
    std::vector<uint64_t> batch;
    for (uint64_t begin = 0; begin < n; begin += batch.size()) {
      batch.resize(std::min(kMiB, n - begin));
      for (size_t i = 0; i < batch.size(); ++i) batch[i] = KeyAt(begin + i);
      visit(batch);
    }
  };
  const Engine engine;
  return std::make_unique<FuseFilter<8>>(Build<FuseFilter<8>>(visit_keys, {}, &engine));
}

constexpr GpuKind kKinds[] = {
    {"split_block", false, ~uint64_t{0},
     [](uint64_t bytes) -> std::unique_ptr<Filter> {
       return std::make_unique<SplitBlockBloomFilter>(FilterOptions{.bytes = bytes});
     }},
    {"cuckoo16", true, 1024 * kMiB,
     [](uint64_t bytes) -> std::unique_ptr<Filter> {
       return std::make_unique<CuckooFilter<16>>(FilterOptions{.bytes = bytes});
     }},
    // The host needs 8 bytes per key in addition.
    {"fuse8", false, 512 * kMiB, MakeFuse8, true},
};

// Numbers of keys of calls that count hits and wait. The first takes a GPU a few microseconds, the
// second fills the GPU many times.
constexpr uint32_t kDeviceCallKeys[] = {1 << 20, 1 << 24};

// The sizes with figures published by others come first: for L2, for DRAM, and for cuckoo filters.
// The other sizes follow, beginning with those near the size of an L2.
constexpr uint64_t kAnchorBytes[] = {16 * kMiB, 1024 * kMiB, 512 * kMiB};
constexpr uint64_t kOtherBytes[] = {32 * kMiB,  8 * kMiB, kMiB,       64 * kMiB,
                                    128 * kMiB, 4 * kMiB, 256 * kMiB, 16384 * kMiB};

std::vector<Case> Lookups(const Backend* backend, Operation operation) {
  std::vector<Case> cases;
  for (const int hits : {0, 50, 100}) {
    cases.push_back({.operation = operation, .backend = backend, .hit_percent = hits});
  }
  return cases;
}

void Append(std::vector<Case>& to, const std::vector<Case>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void AddChanges(const Backend* backend, bool can_be_full, std::vector<Case>& cases) {
  using enum Operation;
  if (can_be_full) {
    cases.push_back({.operation = kErase, .backend = backend});
    // The build is last, because it refills the filter.
    cases.push_back({.operation = kBuild, .backend = backend});
  } else {
    cases.push_back({.operation = kInsert, .backend = backend});
  }
}

std::vector<Case> Kept(std::vector<Case> cases, const char* kind, const SizeClass& size,
                       const NameFilter& filter) {
  std::erase_if(cases, [&](const Case& c) { return !filter.Keeps(CaseName(kind, c, size, true)); });
  return cases;
}

}  // namespace

std::span<const GpuKind> GpuKinds() noexcept { return kKinds; }

const Backend* BackendOf(GpuPlace place) noexcept { return &kPlaces[static_cast<size_t>(place)]; }

SizeClass GpuSizeOf(uint64_t bytes) {
  const bool small = bytes % kMiB != 0;
  return {detail::StrCat("GPU_", small ? bytes >> 10 : bytes / kMiB, small ? "KiB" : "MiB"), bytes};
}

std::optional<uint64_t> GpuSizeBytes(std::string_view name) {
  constexpr std::string_view kPrefix = "GPU_";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  const int shift = name.ends_with("KiB") ? 10 : name.ends_with("MiB") ? 20 : 0;
  if (shift == 0) return std::nullopt;
  name.remove_suffix(3);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  if (number == 0 || number > uint64_t{1} << 30 || number << shift < 4096) return std::nullopt;
  return number << shift;
}

std::vector<Case> GpuCases(const GpuKind& kind, const SizeClass& size, const NameFilter& filter) {
  if (size.bytes > kind.max_bytes) return {};
  const Backend* const device = BackendOf(GpuPlace::kDevice);
  std::vector<Case> cases = Lookups(device, Operation::kContains);
  Append(cases, Lookups(device, Operation::kContainsBytes));
  for (const uint32_t call : kDeviceCallKeys)
    cases.push_back({.backend = device, .call_keys = call});
  cases.push_back({.backend = BackendOf(GpuPlace::kPinned)});
  cases.push_back({.backend = BackendOf(GpuPlace::kHost)});
  if (!kind.is_static) AddChanges(device, kind.can_be_full, cases);
  return Kept(std::move(cases), kind.name, size, filter);
}

std::vector<Case> GpuCases(const GpuPeerKind& kind, const SizeClass& size,
                           const NameFilter& filter) {
  if (size.bytes > kind.max_bytes) return {};
  std::vector<Case> cases = Lookups(nullptr, Operation::kContainsBytes);
  AddChanges(nullptr, kind.can_be_full, cases);
  return Kept(std::move(cases), kind.name, size, filter);
}

GpuSchedule GpuScheduleFor(Mode mode, uint64_t memory_bytes) {
  GpuSchedule schedule;
  const bool quick = mode == Mode::kQuick;
  schedule.batch_keys = quick ? 64 * kMiB : 256 * kMiB;
  schedule.host_batch_keys = 32 * kMiB;
  schedule.repetitions = quick ? 5 : 7;
  const auto add = [&](uint64_t bytes) {
    if (FitsGpu(bytes, memory_bytes)) schedule.filter_bytes.push_back(bytes);
  };
  for (const uint64_t bytes : kAnchorBytes) add(bytes);
  if (!quick) {
    for (const uint64_t bytes : kOtherBytes) add(bytes);
  }
  return schedule;
}

std::vector<std::string> GpuCaseNames(const GpuSchedule& schedule) {
  std::vector<std::string> names;
  const NameFilter filter(schedule.filter);
  const auto add = [&](const auto& kind, const SizeClass& size) {
    for (const Case& c : GpuCases(kind, size, filter)) {
      names.push_back(CaseName(kind.name, c, size, true));
    }
  };
  for (const uint64_t bytes : schedule.filter_bytes) {
    const SizeClass size = GpuSizeOf(bytes);
    for (const GpuKind& kind : kKinds) add(kind, size);
    for (const GpuPeerKind& kind : schedule.peers) add(kind, size);
  }
  return names;
}

}  // namespace tamis::bench
