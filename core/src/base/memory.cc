
#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "core/src/base/control_group.h"
#include "core/src/os/process.h"
#include "tamis/physical_memory.h"

namespace tamis {
namespace detail {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

// Returns the number in a file, or kNoLimit if the file has "max" or does not exist.
uint64_t ReadLimit(const fs::path& file) {
  std::ifstream in(file);
  uint64_t limit = 0;
  return in >> limit ? limit : kNoLimit;
}

// Returns the lowest limit from `group` up to the root. In a container, `group` may be a path of
// the host that does not exist in the container. Then only the root exists, and the root is the
// container's own group.
uint64_t LowestLimit(const fs::path& mount, fs::path group, const char* file) {
  uint64_t lowest = ReadLimit(mount / file);
  for (group = group.relative_path(); !group.empty(); group = group.parent_path()) {
    lowest = std::min(lowest, ReadLimit(mount / group / file));
  }
  return lowest;
}

bool HasMemory(const std::string& controllers) {
  return ("," + controllers + ",").find(",memory,") != std::string::npos;
}

}  // namespace

uint64_t ControlGroupMemoryLimit(const fs::path& membership, const fs::path& mount) {
  uint64_t lowest = kNoLimit;
  std::ifstream in(membership);
  // Each line is "hierarchy:controllers:/path"; version 2 has one line, without controllers.
  for (std::string hierarchy, controllers, group; std::getline(in, hierarchy, ':') &&
                                                  std::getline(in, controllers, ':') &&
                                                  std::getline(in, group);) {
    if (controllers.empty()) {
      lowest = std::min(lowest, LowestLimit(mount, group, "memory.max"));
    } else if (HasMemory(controllers)) {
      lowest = std::min(lowest, LowestLimit(mount / "memory", group, "memory.limit_in_bytes"));
    }
  }
  return lowest;
}

}  // namespace detail

uint64_t PhysicalMemory() noexcept {
  const uint64_t machine = os::MachineMemory();
  try {
    const uint64_t limit = detail::ControlGroupMemoryLimit("/proc/self/cgroup", "/sys/fs/cgroup");
    // Unlimited groups of version 1 have a limit larger than any machine.
    if (machine != 0) return std::min(machine, limit);
  } catch (...) {
    // There was not enough memory to read the limit. The size of the machine is still known.
  }
  return machine;
}

}  // namespace tamis
