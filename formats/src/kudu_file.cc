// The message BlockBloomFilterPB (block_bloom_filter.proto): log_space_bytes = 1 (int32),
// bloom_data = 2 (bytes), always_false = 3 (bool), hash_algorithm = 4 (enum), hash_seed = 5
// (uint32). Kudu requires the first four fields, and writes all five.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "core/src/file/file_format.h"
#include "core/src/file/regular_file.h"
#include "formats/src/protobuf_reader.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/formats/kudu.h"

namespace tamis {

namespace fs = std::filesystem;

using detail::ProtobufField;
using detail::ProtobufReader;
using detail::WireType;

struct KuduBlockBloomFilter::Message {
  const fs::path& name;
  ProtobufReader::Read read;
  uint64_t size;
  std::optional<int32_t> log_space_bytes;
  uint64_t log_space_at = 0;
  std::optional<uint64_t> data_bytes;
  uint64_t data_at = 0;
  std::optional<bool> always_false;
  std::optional<uint32_t> hash_algorithm;
  uint64_t hash_algorithm_at = 0;
  uint32_t hash_seed = 0;

  Message(uint64_t size_of_all, const fs::path& name_of_it, ProtobufReader::Read read_it);

  uint32_t CheckedLogSpace() const;

  [[noreturn]] void Fail(ErrorCode code, const char* check, uint64_t at,
                         const std::string& problem) const {
    detail::ThrowFormatError(name, code, check, at, problem);
  }
};

namespace {

// HashAlgorithm of hash.proto. The other algorithms have 64-bit hashes and are not used for
// filters.
constexpr uint32_t kFastHash = 3;
constexpr uint64_t kMaxMessageBytes = 0x7FFF'FFFF;

constexpr std::byte Tag(int number, WireType type) {
  return static_cast<std::byte>(number << 3 | static_cast<int>(type));
}

void AppendVarint(std::vector<std::byte>& bytes, uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<std::byte>(value | 0x80));
  bytes.push_back(static_cast<std::byte>(value));
}

// The bytes before the blocks and the bytes after them.
std::vector<std::byte> BytesBefore(const KuduBlockBloomFilter& filter) {
  std::vector<std::byte> bytes = {Tag(1, WireType::kVarint)};
  AppendVarint(bytes, filter.log_space_bytes());
  bytes.push_back(Tag(2, WireType::kBytes));
  AppendVarint(bytes, filter.bytes());
  return bytes;
}

std::vector<std::byte> BytesBehind(const KuduBlockBloomFilter& filter) {
  std::vector<std::byte> bytes = {Tag(3, WireType::kVarint)};
  AppendVarint(bytes, filter.always_false() ? 1 : 0);
  bytes.push_back(Tag(4, WireType::kVarint));
  AppendVarint(bytes, kFastHash);
  bytes.push_back(Tag(5, WireType::kVarint));
  AppendVarint(bytes, filter.hash_seed());
  return bytes;
}

}  // namespace

// Like protobuf: the last occurrence of a field counts. A field of another type, or an unknown
// algorithm, is an unknown field.
KuduBlockBloomFilter::Message::Message(uint64_t size_of_all, const fs::path& name_of_it,
                                       ProtobufReader::Read read_it)
    : name(name_of_it), read(read_it), size(size_of_all) {
  if (size > kMaxMessageBytes) {
    Fail(
        ErrorCode::kCorrupt, "file length", kMaxMessageBytes,
        detail::StrCat("a message has at most ", kMaxMessageBytes, " bytes, but there are ", size));
  }
  ProtobufReader reader(size, read, name);
  for (ProtobufField field; reader.Next(field);) {
    if (field.number == 2 && field.type == WireType::kBytes) {
      data_bytes = field.value;
      data_at = field.contents_at;
    }
    if (field.type != WireType::kVarint) continue;
    const auto low = static_cast<uint32_t>(field.value);
    switch (field.number) {
      case 1:
        log_space_bytes = static_cast<int32_t>(low);
        log_space_at = field.at;
        break;
      case 3:
        always_false = field.value != 0;
        break;
      case 4:
        if (low > kFastHash) break;
        hash_algorithm = low;
        hash_algorithm_at = field.at;
        break;
      case 5:
        hash_seed = low;
        break;
      default:
        break;
    }
  }
}

uint32_t KuduBlockBloomFilter::Message::CheckedLogSpace() const {
  const auto missing = [this](const char* check) {
    Fail(ErrorCode::kCorrupt, check, size, "the field is missing");
  };
  if (!log_space_bytes) missing("log space");
  if (!data_bytes) missing("bloom data");
  if (!always_false) missing("always false");
  if (!hash_algorithm) missing("hash algorithm");
  if (*hash_algorithm != kFastHash) {
    Fail(ErrorCode::kUnsupported, "hash algorithm", hash_algorithm_at,
         detail::StrCat("is ", *hash_algorithm, "; allowed: ", kFastHash,
                        " (FAST_HASH), the only hash of Kudu's filters"));
  }
  constexpr auto kMost = static_cast<int32_t>(kMaxLogSpaceBytes);
  if (*log_space_bytes > kMost) {
    Fail(ErrorCode::kCorrupt, "log space", log_space_at,
         detail::StrCat("is ", *log_space_bytes, ", allowed: up to ", kMost));
  }
  // Kudu also raises smaller values to the least size.
  const auto log =
      static_cast<uint32_t>(std::max(*log_space_bytes, static_cast<int32_t>(kMinLogSpaceBytes)));
  if (*data_bytes != uint64_t{1} << log) {
    Fail(ErrorCode::kCorrupt, "bloom data", data_at,
         detail::StrCat("has ", *data_bytes, " bytes; a filter of 2^", log, " bytes has ",
                        uint64_t{1} << log));
  }
  return log;
}

KuduBlockBloomFilter KuduBlockBloomFilter::FromMessage(const Message& message, KuduType type,
                                                       const KuduLoadOptions& options) {
  KuduBlockBloomFilter filter(type, message.CheckedLogSpace(), message.hash_seed, options.memory,
                              options.backend);
  message.read(std::span(filter.storage_.data(), filter.bytes()), message.data_at);
  filter.always_false_ = *message.always_false;
  return filter;
}

KuduBlockBloomFilter KuduBlockBloomFilter::FromBytes(std::span<const std::byte> bytes,
                                                     KuduType type,
                                                     const KuduLoadOptions& options) {
  const auto read = [&](std::span<std::byte> out, uint64_t offset) {
    std::memcpy(out.data(), bytes.data() + offset, out.size());
  };
  const fs::path name = "memory";
  return FromMessage(Message(bytes.size(), name, read), type, options);
}

KuduBlockBloomFilter KuduBlockBloomFilter::Load(const fs::path& path, KuduType type,
                                                const KuduLoadOptions& options) {
  const detail::RegularFile file(path);
  const auto read = [&](std::span<std::byte> out, uint64_t offset) { file.Read(out, offset); };
  return FromMessage(Message(file.bytes(), path, read), type, options);
}

uint64_t KuduBlockBloomFilter::serialized_bytes() const noexcept {
  const auto varint = [](uint64_t value) {
    uint64_t n = 1;
    for (; value >= 0x80; value >>= 7) ++n;
    return n;
  };
  return 8 + varint(bytes()) + bytes() + varint(hash_seed_);
}

void KuduBlockBloomFilter::Write(const ByteSink& write) const {
  write(BytesBefore(*this));
  write(blocks());
  write(BytesBehind(*this));
}

}  // namespace tamis
