#include "core/src/file/shards.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/src/file/file_format.h"
#include "core/src/file/header_fields.h"
#include "core/src/os/file.h"
#include "core/src/os/path_text.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/file/file_checks.h"

namespace tamis::detail {
namespace {

namespace fs = std::filesystem;

// Returns the number of a shard by its name, such as 12 for known.tamis.0012.
std::optional<uint64_t> ShardNumber(const fs::path& path) {
  const fs::path extension = path.extension();
  const auto& text = extension.native();
  if (text.size() != 5) return std::nullopt;
  uint64_t number = 0;
  for (const auto c : text.substr(1)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = 10 * number + static_cast<uint64_t>(c - '0');
  }
  return number;
}

// Returns the first result of find(name) that is not empty, where `name` is `path`, and then the
// targets of its symbolic links, in the order in which the system follows them.
template <typename Find>
auto FindOnTheWay(fs::path path, const Find& find) -> decltype(find(path)) {
  constexpr int kMaxLinks = 40;  // the same number as in Linux
  for (int links = 0; links <= kMaxLinks; ++links) {
    if (auto found = find(path)) return found;
    std::error_code error;
    const fs::path target = fs::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / target;
  }
  return std::nullopt;
}

// Returns the number of bytes of a filter or bank by its header. Throws FormatError.
uint64_t StatedBytes(std::span<const std::byte> start, const fs::path& path) {
  CheckFrame(start, {path});
  if (GetField<uint32_t>(start, offset::kFilterKind) != kBankFileKind) {
    return FileBytes(DecodeHeaderAt(start, 0, path));
  }
  return BankEnd(GetField<uint64_t>(start, offset::kPayloadLength),
                 GetField<uint64_t>(start, offset::kBankDirectoryLength));
}

// Returns nothing if the file at `first` is not the first of two or more shards, or is unreadable.
std::optional<ShardSet> SetOf(const fs::path& first) {
  try {
    const std::optional<os::FileStatus> status = os::StatusOf(first);
    if (!status || status->type != os::FileType::kRegular) return std::nullopt;
    if (status->bytes == 0 || status->bytes % kShardUnit != 0) return std::nullopt;
    std::byte start[kHeaderBytes2];
    if (os::File(first).Read(start, 0) != sizeof(start)) return std::nullopt;
    const uint64_t count = NumShards(StatedBytes(start, first), status->bytes);
    if (count < 2 || count > kMaxShards) return std::nullopt;
    return ShardSet{first, count};
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

bool NamesFirstShard(const fs::path& path) { return ShardNumber(path) == 0; }

std::optional<fs::path> FindFirstShard(fs::path path) {
  return FindOnTheWay(std::move(path), [](const fs::path& name) {
    return NamesFirstShard(name) ? std::optional(name) : std::nullopt;
  });
}

fs::path ShardPath(fs::path first, uint64_t i) {
  return std::move(first.replace_extension(std::to_string(kMaxShards + i).substr(1)));
}

std::optional<ShardSet> FindShardSet(const fs::path& path) {
  return FindOnTheWay(path, [](const fs::path& name) -> std::optional<ShardSet> {
    const std::optional<uint64_t> number = ShardNumber(name);
    if (!number) return std::nullopt;
    std::optional<ShardSet> set = SetOf(ShardPath(name, 0));
    return set && *number <= set->count ? set : std::nullopt;
  });
}

std::string ShardHint(const fs::path& path) {
  if (ShardNumber(path).value_or(0) == 0) return "";
  const std::optional<ShardSet> set = FindShardSet(path);
  if (!set) return "";
  return StrCat(". It is one of ", set->count, " shards: open the first, ", os::TextOf(set->first));
}

}  // namespace tamis::detail

namespace tamis {

std::vector<std::filesystem::path> ShardsOf(const std::filesystem::path& path) {
  const std::optional<std::filesystem::path> first = detail::FindFirstShard(path);
  const std::optional<detail::ShardSet> set = first ? detail::FindShardSet(*first) : std::nullopt;
  std::vector<std::filesystem::path> shards = {path};
  for (uint64_t i = 1; set && i < set->count; ++i) {
    shards.push_back(detail::ShardPath(set->first, i));
  }
  return shards;
}

}  // namespace tamis
