// Dumps of RedisBloom filters: lists of chunks, in memory or in a file.
#ifndef TAMIS_FORMATS_SRC_REDIS_REDIS_CHUNKS_H_
#define TAMIS_FORMATS_SRC_REDIS_REDIS_CHUNKS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/src/base/function_ref.h"
#include "core/src/file/regular_file.h"
#include "tamis/error.h"
#include "tamis/formats/byte_sink.h"
#include "tamis/formats/redis_dump.h"

namespace tamis::detail {

// In a file, each chunk begins with its iterator and its number of bytes.
inline constexpr uint64_t kRedisFrameBytes = 16;
// Maximum number of bytes of one chunk: MAX_SCANDUMP_SIZE of rebloom.c.
inline constexpr uint64_t kRedisChunkBytes = 16 << 20;

// Reads a value at any address, aligned or not.
template <typename T>
T LoadAs(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}
template <typename T>
void StoreAs(T value, std::byte* to) noexcept {
  std::memcpy(to, &value, sizeof(value));
}

// A dump that can be read. Its iterators have been checked.
class RedisDump {
 public:
  // Throw FormatError for chunks that are not a dump. Their argument must outlive this object.
  explicit RedisDump(std::span<const RedisChunk> chunks);
  explicit RedisDump(std::span<const std::byte> bytes);
  // Reads the file at `path`, and also throws Error(kIo).
  explicit RedisDump(const std::filesystem::path& path);

  // Throws FormatError for a check that failed at byte `at` of the file of the dump.
  [[noreturn]] void Fail(ErrorCode code, const char* check, uint64_t at,
                         const std::string& problem) const;
  // Like Fail, with `at` as an offset in the header.
  [[noreturn]] void FailHeader(ErrorCode code, const char* check, uint64_t at,
                               const std::string& problem) const;

  // Return the size of the header, and the header. Only Header() reads it into memory.
  uint64_t header_bytes() const noexcept { return pieces_.front().bytes; }
  std::vector<std::byte> Header() const;

  // Throws FormatError unless the chunks have exactly the bytes of parts of these sizes, in order,
  // and no chunk has bytes of two parts. Throws Error(kOutOfMemory) for more bytes than the process
  // can allocate.
  void RequireParts(std::span<const uint64_t> parts) const;
  // Reads the parts into `rooms`, which must have the sizes of the parts. Call RequireParts first.
  void ReadParts(std::span<const std::span<std::byte>> rooms) const;

 private:
  struct Piece {
    uint64_t at;  // offset of its bytes in the file
    uint64_t bytes;
    const std::byte* memory;  // nullptr: it is in the file
  };

  // Adds one chunk. Throws FormatError if the chunk is invalid at this position.
  void Add(int64_t iterator, uint64_t at, uint64_t bytes, const std::byte* memory);
  // Adds the chunks of a file of `size` bytes, which read(out, offset) reads.
  void AddAll(uint64_t size, FunctionRef<void(std::span<std::byte>, uint64_t)> read,
              const std::byte* memory);
  void RequireHeader(uint64_t end) const;
  void Read(const Piece& piece, std::span<std::byte> out) const;

  std::filesystem::path name_;
  std::optional<RegularFile> file_;  // nothing if the chunks are in memory
  std::vector<Piece> pieces_;        // the header first
  uint64_t payload_bytes_ = 0;
  bool ended_ = false;
};

// Calls write(iterator, bytes) for the chunks into which RedisBloom divides a header and parts.
template <typename Write>
void ForEachRedisChunk(std::span<const std::byte> header,
                       std::span<const std::span<const std::byte>> parts, const Write& write) {
  int64_t iterator = 1;
  write(iterator, header);
  for (const std::span<const std::byte> part : parts) {
    for (uint64_t begin = 0; begin < part.size(); begin += kRedisChunkBytes) {
      const uint64_t n = std::min<uint64_t>(kRedisChunkBytes, part.size() - begin);
      iterator += static_cast<int64_t>(n);
      write(iterator, part.subspan(begin, n));
    }
  }
}

// Return these chunks, or write the file of them in pieces.
std::vector<RedisChunk> MakeRedisChunks(std::span<const std::byte> header,
                                        std::span<const std::span<const std::byte>> parts);
void WriteRedisFile(std::span<const std::byte> header,
                    std::span<const std::span<const std::byte>> parts, const ByteSink& write);

// Number of bytes in a file for a part, and for a header, which is one chunk.
constexpr uint64_t RedisPartBytes(uint64_t part) noexcept {
  return part + kRedisFrameBytes * ((part + kRedisChunkBytes - 1) / kRedisChunkBytes);
}
constexpr uint64_t RedisHeaderBytes(uint64_t header) noexcept { return kRedisFrameBytes + header; }

}  // namespace tamis::detail

#endif  // TAMIS_FORMATS_SRC_REDIS_REDIS_CHUNKS_H_
