#include "bench/machine.h"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <stdexcept>

#include "bench/commit.h"
#include "bench/os/system.h"
#include "core/src/os/process.h"
#include "tamis/detail/str_cat.h"
#include "tamis/physical_memory.h"
#include "tamis/version.h"

namespace tamis::bench {
namespace {

std::string FirstLine(const std::string& path) {
  std::string line;
  std::getline(std::ifstream(path), line);
  return line;
}

// Returns "L1 32K, L2 2048K ...".
std::string Caches() {
  std::string text;
  for (const os::DataCache& cache : os::DataCaches()) {
    if (!text.empty()) text += ", ";
    text += detail::StrCat("L", cache.level, " ", cache.bytes >> 10, "K");
  }
  return text;
}

// Returns the name and the driver of the first GPU that nvidia-smi reports, or "none".
std::string Gpu() {
  const std::string gpu =
      os::FirstLineOf("nvidia-smi --query-gpu=name,driver_version --format=csv,noheader");
  return gpu.empty() ? "none" : gpu;
}

std::string Compiler() {
#ifdef __clang__
  return std::string("clang ") + __clang_version__;
#else
  return std::string("g++ ") + __VERSION__;
#endif
}

// Returns the date in UTC in the format of ISO 8601. The hour would show more about the person than
// about the machine.
std::string Date() {
  const std::tm parts = os::Utc(std::time(nullptr));
  char text[16] = "";
  std::strftime(text, sizeof(text), "%Y-%m-%d", &parts);
  return text;
}

std::string OrUnknown(const std::string& value) { return value.empty() ? "unknown" : value; }

}  // namespace

std::vector<std::pair<std::string, std::string>> MachineFacts() {
  return {
      {"date", Date()},
      {"processor", OrUnknown(tamis::os::ProcessorName())},
      {"processors", std::to_string(os::AllowedProcessors().size())},
      {"caches", OrUnknown(Caches())},
      {"memory", detail::StrCat(PhysicalMemory() >> 20, " MiB")},
      {"huge pages", OrUnknown(FirstLine("/sys/kernel/mm/transparent_hugepage/enabled"))},
      {"system", os::SystemVersion()},
      {"compiler", Compiler()},
      {"flags", TAMIS_BENCH_FLAGS},
      {"version", TAMIS_VERSION_STRING},
      {"commit", OrUnknown(kCommit)},
      {"frequency governor",
       OrUnknown(FirstLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))},
      {"gpu", Gpu()},
  };
}

CacheSizes MachineCaches() {
  CacheSizes sizes;
  for (const os::DataCache& cache : os::DataCaches()) {
    if (cache.level == 1) sizes.l1_data = cache.bytes;
    if (cache.level == 2) sizes.l2 = cache.bytes;
    sizes.last_level = std::max(sizes.last_level, cache.bytes);
  }
  if (sizes.l1_data == 0) sizes.l1_data = uint64_t{32} << 10;
  if (sizes.l2 == 0) sizes.l2 = std::max(sizes.last_level, uint64_t{1} << 20);
  if (sizes.last_level <= sizes.l1_data) sizes.last_level = uint64_t{8} << 20;
  return sizes;
}

Pinning::Pinning(std::optional<int> processor)
    : processor_(processor), allowed_(os::AllowedProcessors()) {
  PinTo(1);
}

void Pinning::PinTo(unsigned threads) const {
  if (!processor_) return;
  if (!os::RunOn(threads == 1 ? std::vector<int>{*processor_} : allowed_)) {
    throw std::runtime_error(detail::StrCat("cannot run on processor ", *processor_));
  }
}

}  // namespace tamis::bench
