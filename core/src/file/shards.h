// Names and lengths of the shards of a file (core/FORMAT.md, "Shards of a file").
#ifndef TAMIS_CORE_SRC_FILE_SHARDS_H_
#define TAMIS_CORE_SRC_FILE_SHARDS_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace tamis::detail {

// Every shard but the last has a multiple of this many bytes, so that a mapping of it can begin
// where the mapping of the shard before it ends. No supported system has larger pages.
inline constexpr uint64_t kShardUnit = uint64_t{1} << 16;
// Names have four digits.
inline constexpr uint64_t kMaxShards = 10'000;

// Returns the number of shards of a file. Both lengths must be at least 1.
constexpr uint64_t NumShards(uint64_t file_bytes, uint64_t shard_bytes) {
  return (file_bytes - 1) / shard_bytes + 1;
}

// Returns whether the name of `path` ends in ".0000".
bool NamesFirstShard(const std::filesystem::path& path);

// Returns the first path that NamesFirstShard accepts among `path` and the targets of its symbolic
// links, in the order in which the system follows them. The other shards are beside that path.
std::optional<std::filesystem::path> FindFirstShard(std::filesystem::path path);

// Returns the path of shard `i`, below kMaxShards.
std::filesystem::path ShardPath(std::filesystem::path first, uint64_t i);

// The first of two or more shards, and their number by its header and its length.
struct ShardSet {
  std::filesystem::path first;
  uint64_t count;
};

// Returns the shards that a file named `path` belongs to. The name after the last shard counts as
// one of them. Follows links as FindFirstShard does. Other files with such names, such as whole
// filters named part.0000 and part.0001, belong to no shards.
std::optional<ShardSet> FindShardSet(const std::filesystem::path& path);

// Returns a sentence for the error of a file that is not the first shard but another one. Returns
// an empty string for all other files.
std::string ShardHint(const std::filesystem::path& path);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILE_SHARDS_H_
