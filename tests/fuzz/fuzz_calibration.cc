// Reads untrusted bytes as a calibration. For any bytes, the outcome is a FormatError or a
// calibration that an Engine can use, and that is unchanged when it is written and read again.
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tamis/engine/calibration.h"
#include "tamis/engine/engine.h"
#include "tamis/error.h"
#include "tamis/filters/filter_kinds.h"
#include "tests/fuzz/memory_file.h"

namespace tamis {
namespace {

namespace fs = std::filesystem;

// Returns a path in the folder for temporary files, which the caller of the target removes.
fs::path NewPath() {
  static const fs::path path =
      fs::temp_directory_path() / ("calibration-" + std::to_string(getpid()));
  return path;
}

std::string TextOf(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void RequireRoute(const CallRoute& route) {
  Require(route.backend != nullptr && route.threads >= 1);
  Require(std::isfinite(route.seconds) && route.seconds >= 0);
}

// Two filters of each kind without layers: a small and a larger one.
const std::vector<AnyFilter>& Filters() {
  static const std::vector<AnyFilter> filters = [] {
    std::vector<AnyFilter> made;
    for (const FilterKindInfo& info : FilterKinds()) {
      if (!info.is_plain()) continue;
      for (const uint64_t capacity : {1, 100'000}) {
        made.push_back(MakeFilter(info.kind, {.capacity = capacity}));
      }
    }
    return made;
  }();
  return filters;
}

void Use(const Calibration& calibration) {
  calibration.Validate();
  const Engine engine({.threads = 4, .calibration = calibration});
  for (const AnyFilter& filter : Filters()) {
    for (const uint64_t keys : {uint64_t{0}, uint64_t{1000}, uint64_t{1} << 40}) {
      for (const Engine::Operation operation :
           {Engine::Operation::kContains, Engine::Operation::kInsert}) {
        const Engine::CallPlan plan = engine.PlanCall(*filter, keys, operation);
        RequireRoute(plan.chosen);
        for (const CallRoute& route : plan.alternatives) {
          RequireRoute(route);
          Require(route.seconds >= plan.chosen.seconds);
        }
      }
    }
  }
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tamis;
  static MemoryFile file;
  const std::string path = file.Write(Bytes(data, data + size));
  try {
    const Calibration calibration = Calibration::Load(path);
    Use(calibration);
    calibration.Save(NewPath());
    const std::string written = TextOf(NewPath());
    const Calibration again = Calibration::Load(NewPath());
    Require(again.machine == calibration.machine && again.device == calibration.device);
    Require(again.points.size() == calibration.points.size());
    again.Save(NewPath());
    Require(TextOf(NewPath()) == written);
  } catch (const FormatError& error) {
    Require(error.offset() <= size);
  }
  return 0;
}
