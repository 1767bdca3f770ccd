#include "bench/suite/axes.h"

#include <algorithm>
#include <iterator>

#include "bench/workload.h"
#include "tamis/detail/str_cat.h"

namespace tamis::bench {
namespace {

constexpr uint64_t kMinBytes = 4096;
constexpr uint64_t kMostForKeys = uint64_t{1200} << 20;

// Returns the largest size of a filter in memory. There must be memory for the keys and for two
// such filters, one with huge pages and one without.
uint64_t MemoryShare(uint64_t physical_memory) {
  if (physical_memory == 0) return ~uint64_t{0};
  const uint64_t third = physical_memory / 3;
  return (third - std::min(kMostForKeys, third / 4)) / 2;
}

}  // namespace

std::string_view OperationName(Operation operation) noexcept {
  switch (operation) {
    case Operation::kContains:
      return "contains";
    case Operation::kContainsBytes:
      return "contains_bytes";
    case Operation::kSelect:
      return "select";
    case Operation::kOneKey:
      return "one_key";
    case Operation::kEngineContains:
      return "engine_contains";
    case Operation::kContainsBesideWriter:
      return "contains_beside_writer";
    case Operation::kInsert:
      return "insert";
    case Operation::kBuild:
      return "build";
    case Operation::kBuildOneKey:
      return "build_one_key";
    case Operation::kBuildIfAbsent:
      return "build_if_absent";
    case Operation::kErase:
      return "erase";
  }
  return "";
}

std::string_view KeyTypeName(KeyType form) noexcept {
  switch (form) {
    case KeyType::kU64:
      return "u64";
    case KeyType::kString16:
      return "string16";
    case KeyType::kUrl:
      return "url";
    case KeyType::kColumn16:
      return "column16";
    case KeyType::kColumn40:
      return "column40";
    case KeyType::kColumn80:
      return "column80";
    case KeyType::kColumn200:
      return "column200";
  }
  return "";
}

bool IsAccelerator(const Backend* backend) noexcept {
  // A library without accelerators has no field make_accelerator.
  const auto has = [](const auto* any) {
    if constexpr (requires { any->make_accelerator; }) {
      return any != nullptr && any->make_accelerator != nullptr;
    } else {
      return false;
    }
  };
  return has(backend);
}

std::vector<SizeClass> SizeClasses(const Caches& caches, const SizeLimits& limits) {
  const uint64_t most = MemoryShare(limits.physical_memory);
  std::vector<SizeClass> sizes = {{"L1", caches.l1 / 2}};
  if (caches.l2 < caches.last_level) sizes.push_back({"L2", caches.l2 / 2});
  sizes.push_back({"LLC", std::min(caches.last_level / 2, limits.llc_bytes)});
  sizes.push_back({"memory", std::min(8 * caches.last_level, limits.memory_bytes)});
  for (SizeClass& size : sizes) size.bytes = std::max(kMinBytes, std::min(size.bytes, most));
  return sizes;
}

bool IsFixedSize(std::string_view name) noexcept {
  return std::any_of(std::begin(kFixedSizes), std::end(kFixedSizes),
                     [&](const FixedSize& size) { return size.name == name; });
}

std::vector<SizeClass> FixedSizes(const SizeLimits& limits) {
  const uint64_t most = std::min(limits.memory_bytes, MemoryShare(limits.physical_memory));
  std::vector<SizeClass> sizes;
  for (const FixedSize& size : kFixedSizes) {
    if (size.bytes <= most) sizes.push_back({size.name, size.bytes});
  }
  return sizes;
}

std::vector<SizeClass> SizesOfKeys(std::span<const uint64_t> keys, const SizeLimits& limits) {
  const uint64_t most = std::min(limits.memory_bytes, MemoryShare(limits.physical_memory));
  std::vector<SizeClass> sizes;
  for (const uint64_t n : keys) {
    if (FilterBytes(n) <= most) sizes.push_back({detail::StrCat(n, "_keys"), FilterBytes(n), n});
  }
  return sizes;
}

std::string CaseName(std::string_view kind, const Case& c, const SizeClass& size, bool huge_pages) {
  std::string name(kind);
  name.append("/").append(OperationName(c.operation));
  name.append("/backend:").append(c.backend == nullptr ? "own" : c.backend->name);
  name += detail::StrCat("/threads:", c.threads, "/size:", size.name);
  if (IsLookup(c.operation)) name += detail::StrCat("/hits:", c.hit_percent);
  if (c.call_keys != 0) name += detail::StrCat("/call:", c.call_keys);
  name.append("/keys:").append(KeyTypeName(c.form));
  return name.append("/huge_pages:").append(huge_pages ? "on" : "off");
}

}  // namespace tamis::bench
