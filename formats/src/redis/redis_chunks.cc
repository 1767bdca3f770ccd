// Follows SBChain_GetEncodedChunk of sb.c and CF_GetEncodedChunk of cf.c, and the functions that
// load the chunks.
#include "formats/src/redis/redis_chunks.h"

#include <limits>

#include "core/src/file/file_format.h"
#include "tamis/detail/storage.h"
#include "tamis/detail/str_cat.h"

namespace tamis::detail {
namespace {

// The bytes before a chunk in a file.
struct Frame {
  std::byte bytes[kRedisFrameBytes];

  Frame(int64_t iterator, uint64_t size) noexcept {
    StoreAs(iterator, bytes);
    StoreAs(size, bytes + 8);
  }
};

}  // namespace

RedisDump::RedisDump(std::span<const RedisChunk> chunks) : name_("memory") {
  uint64_t at = 0;
  for (const RedisChunk& chunk : chunks) {
    at += kRedisFrameBytes;
    Add(chunk.iterator, at, chunk.bytes.size(), chunk.bytes.data());
    at += chunk.bytes.size();
  }
  RequireHeader(at);
}

RedisDump::RedisDump(std::span<const std::byte> bytes) : name_("memory") {
  const auto read = [&](std::span<std::byte> out, uint64_t offset) {
    std::memcpy(out.data(), bytes.data() + offset, out.size());
  };
  AddAll(bytes.size(), read, bytes.data());
}

RedisDump::RedisDump(const std::filesystem::path& path) : name_(path), file_(path) {
  const auto read = [&](std::span<std::byte> out, uint64_t offset) { file_->Read(out, offset); };
  AddAll(file_->bytes(), read, nullptr);
}

void RedisDump::Fail(ErrorCode code, const char* check, uint64_t at,
                     const std::string& problem) const {
  ThrowFormatError(name_, code, check, at, problem);
}

void RedisDump::FailHeader(ErrorCode code, const char* check, uint64_t at,
                           const std::string& problem) const {
  Fail(code, check, pieces_.front().at + at, problem);
}

void RedisDump::AddAll(uint64_t size, FunctionRef<void(std::span<std::byte>, uint64_t)> read,
                       const std::byte* memory) {
  for (uint64_t at = 0; at < size;) {
    if (size - at < kRedisFrameBytes) {
      Fail(ErrorCode::kCorrupt, "file length", size,
           StrCat("a chunk begins with ", kRedisFrameBytes, " bytes, but there are ", size - at));
    }
    std::byte frame[kRedisFrameBytes];
    read(frame, at);
    const auto iterator = LoadAs<int64_t>(frame);
    const auto bytes = LoadAs<uint64_t>(frame + 8);
    at += kRedisFrameBytes;
    if (bytes > size - at) {
      Fail(ErrorCode::kCorrupt, "file length", size,
           StrCat("a chunk of ", bytes, " bytes, but there are ", size - at));
    }
    Add(iterator, at, bytes, memory == nullptr ? nullptr : memory + at);
    at += bytes;
  }
  RequireHeader(size);
}

void RedisDump::Add(int64_t iterator, uint64_t at, uint64_t bytes, const std::byte* memory) {
  const uint64_t frame = at - kRedisFrameBytes;
  if (ended_) {
    Fail(ErrorCode::kCorrupt, "iterator", frame, "a chunk follows the last reply");
  }
  // The last reply of the server. A script that stores every reply also stores this one.
  ended_ = !pieces_.empty() && iterator == 0 && bytes == 0;
  if (ended_) return;
  if (bytes == 0) Fail(ErrorCode::kCorrupt, "chunk length", frame + 8, "is 0");
  const bool first = pieces_.empty();
  // The sum is below 2^64, because all chunks are in memory or in a file.
  const uint64_t wanted = first ? 1 : 1 + payload_bytes_ + bytes;
  if (iterator < 0 || static_cast<uint64_t>(iterator) != wanted) {
    Fail(ErrorCode::kCorrupt, "iterator", frame, StrCat("is ", iterator, ", must be ", wanted));
  }
  if (!first) payload_bytes_ += bytes;
  pieces_.push_back({at, bytes, memory});
}

void RedisDump::RequireHeader(uint64_t end) const {
  if (pieces_.empty()) {
    Fail(ErrorCode::kCorrupt, "file length", end, "the chunk with the header is missing");
  }
}

void RedisDump::Read(const Piece& piece, std::span<std::byte> out) const {
  if (piece.memory != nullptr) {
    std::memcpy(out.data(), piece.memory, out.size());
  } else {
    file_->Read(out, piece.at);
  }
}

std::vector<std::byte> RedisDump::Header() const {
  std::vector<std::byte> header(pieces_.front().bytes);
  Read(pieces_.front(), header);
  return header;
}

void RedisDump::RequireParts(std::span<const uint64_t> parts) const {
  uint64_t total = 0;
  for (const uint64_t part : parts) {
    if (part > std::numeric_limits<uint64_t>::max() - total) {
      total = std::numeric_limits<uint64_t>::max();
      break;
    }
    total += part;
  }
  if (total != payload_bytes_) {
    Fail(ErrorCode::kCorrupt, "chunks", pieces_.back().at + pieces_.back().bytes,
         StrCat("have ", payload_bytes_, " bytes of a filter of ", total));
  }
  size_t part = 0;
  uint64_t left = parts.empty() ? 0 : parts[0];
  for (size_t i = 1; i < pieces_.size(); ++i) {
    while (left == 0) left = parts[++part];
    if (pieces_[i].bytes > left) {
      Fail(ErrorCode::kCorrupt, "chunk length", pieces_[i].at - 8,
           StrCat("is ", pieces_[i].bytes, ", but only ", left, " bytes of part ", part,
                  " of the filter are left"));
    }
    left -= pieces_[i].bytes;
  }
  // Querying the available memory takes longer than reading a small filter.
  constexpr uint64_t kLargeBytes = 4 << 20;
  if (total >= kLargeBytes) Storage::RequireFits(total);
}

void RedisDump::ReadParts(std::span<const std::span<std::byte>> rooms) const {
  size_t part = 0;
  std::span<std::byte> left = rooms.empty() ? std::span<std::byte>() : rooms[0];
  for (size_t i = 1; i < pieces_.size(); ++i) {
    while (left.empty()) left = rooms[++part];
    Read(pieces_[i], left.first(pieces_[i].bytes));
    left = left.subspan(pieces_[i].bytes);
  }
}

std::vector<RedisChunk> MakeRedisChunks(std::span<const std::byte> header,
                                        std::span<const std::span<const std::byte>> parts) {
  std::vector<RedisChunk> chunks;
  ForEachRedisChunk(header, parts, [&](int64_t iterator, std::span<const std::byte> bytes) {
    chunks.push_back({iterator, {bytes.begin(), bytes.end()}});
  });
  return chunks;
}

void WriteRedisFile(std::span<const std::byte> header,
                    std::span<const std::span<const std::byte>> parts, const ByteSink& write) {
  ForEachRedisChunk(header, parts, [&](int64_t iterator, std::span<const std::byte> bytes) {
    write(Frame(iterator, bytes.size()).bytes);
    write(bytes);
  });
}

}  // namespace tamis::detail
