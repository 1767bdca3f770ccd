// The limit that Linux control groups set on the memory of this process.
#ifndef TAMIS_CORE_SRC_BASE_CONTROL_GROUP_H_
#define TAMIS_CORE_SRC_BASE_CONTROL_GROUP_H_

#include <cstdint>
#include <filesystem>

namespace tamis::detail {

// Returns the lowest limit, in bytes, of the group that `membership` (/proc/self/cgroup) names and
// of all groups above it, below `mount` (/sys/fs/cgroup). Reads version 2 (memory.max) and version
// 1 (memory/**/memory.limit_in_bytes). Returns UINT64_MAX if there is no limit or no such file.
uint64_t ControlGroupMemoryLimit(const std::filesystem::path& membership,
                                 const std::filesystem::path& mount);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BASE_CONTROL_GROUP_H_
