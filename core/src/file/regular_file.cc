#include "core/src/file/regular_file.h"

#include <algorithm>
#include <optional>

#include "core/src/file/file_format.h"
#include "core/src/file/shards.h"
#include "core/src/os/path_text.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis::detail {

namespace fs = std::filesystem;

RegularFile::RegularFile(const fs::path& path)
    : bytes_(files_.emplace_back(path).RegularBytes()), shard_bytes_(bytes_) {}

void RegularFile::OpenShards(uint64_t bytes) {
  if (bytes_ >= bytes) return;
  const std::optional<fs::path> first = FindFirstShard(path());
  if (!first) {
    if (shard_bytes_ == 0 || shard_bytes_ % kShardUnit != 0) return;
    ThrowFormatError(path(), ErrorCode::kCorrupt, "file length", shard_bytes_,
                     StrCat("the file has ", shard_bytes_, " bytes, must have ", bytes,
                            " by its header. If it is the first of several shards, its name must "
                            "have the form NAME.0000"));
  }
  const uint64_t n = shard_bytes_ == 0 ? 0 : NumShards(bytes, shard_bytes_);
  if (shard_bytes_ % kShardUnit != 0 || n == 0 || n > kMaxShards) {
    ThrowFormatError(path(), ErrorCode::kCorrupt, "file length", shard_bytes_,
                     StrCat("the file has ", shard_bytes_, " bytes, must have ", bytes,
                            " by its header. The first of several shards has a multiple of ",
                            kShardUnit, " bytes, and there are at most ", kMaxShards, " shards"));
  }
  for (uint64_t i = 1; i < n; ++i) {
    const os::File& shard = files_.emplace_back(ShardPath(*first, i));
    const uint64_t have = shard.RegularBytes();
    const uint64_t wanted = std::min(shard_bytes_, bytes - i * shard_bytes_);
    if (have == wanted) continue;
    ThrowFormatError(shard.path(), ErrorCode::kCorrupt, "shard length", std::min(have, wanted),
                     StrCat("the shard has ", have, " bytes, must have ", wanted,
                            " by the header and the length of ", os::TextOf(path())));
  }
  if (n < kMaxShards && os::StatusOf(ShardPath(*first, n))) {
    ThrowFormatError(ShardPath(*first, n), ErrorCode::kCorrupt, "shard length", 0,
                     StrCat("the file exists, but ", os::TextOf(path()), " is the first of ", n,
                            " shards by its header and length"));
  }
  // Links may have changed since the first shard was opened. The shards would then be mixed.
  const std::optional<os::FileStatus> named = os::StatusOf(*first);
  if (!named || named->identity != files_.front().Status().identity) {
    throw Error(
        ErrorCode::kBusy,
        os::TextOf(path()) + ": it was replaced while its shards were opened; open it again");
  }
  bytes_ = bytes;
}

void RegularFile::Read(std::span<std::byte> out, uint64_t offset) const {
  while (!out.empty()) {
    const size_t last = files_.size() - 1;
    const size_t i = last == 0 ? 0 : std::min<uint64_t>(offset / shard_bytes_, last);
    const uint64_t begin = i * shard_bytes_;
    const uint64_t end = i == last ? bytes_ : begin + shard_bytes_;
    const os::File& file = files_[i];
    const size_t n = i == last ? out.size() : std::min<uint64_t>(out.size(), end - offset);
    const size_t done = file.Read(out.first(n), offset - begin);
    if (done != n) {
      ThrowFormatError(file.path(), ErrorCode::kCorrupt, "file length",
                       std::min(file.Status().bytes, offset - begin + done),
                       StrCat("the file had ", end - begin,
                              " bytes when it was opened, and was cut short since"));
    }
    out = out.subspan(n);
    offset += n;
  }
}

}  // namespace tamis::detail
