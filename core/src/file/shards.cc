#include "core/src/file/shards.h"

#include <string>
#include <system_error>
#include <utility>

namespace tamis::detail {

namespace fs = std::filesystem;

bool NamesFirstShard(const fs::path& path) { return path.extension() == ".0000"; }

std::optional<fs::path> FindFirstShard(fs::path path) {
  constexpr int kMaxLinks = 40;  // the same number as in Linux
  for (int links = 0; links <= kMaxLinks; ++links) {
    if (NamesFirstShard(path)) return path;
    std::error_code error;
    const fs::path target = fs::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / target;
  }
  return std::nullopt;
}

fs::path ShardPath(fs::path first, uint64_t i) {
  return std::move(first.replace_extension(std::to_string(kMaxShards + i).substr(1)));
}

}  // namespace tamis::detail
