// The dumps of cuckoo filters. fillCFHeader of cf.c writes the header, and CFHeader_Load reads it.
// The header is little-endian, without gaps: keys, buckets of the first layer, erased keys and
// layers (u64 each), bucket size, iterations and expansion (u16 each). The fingerprints follow.
#include <algorithm>
#include <bit>

#include "formats/src/redis/redis_chunks.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/formats/redis_cuckoo.h"

namespace tamis {

using detail::LoadAs;
using detail::RedisDump;
using detail::StoreAs;

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kCuckooSizeAt = 0;
constexpr uint64_t kBucketsAt = 8;
constexpr uint64_t kErasedAt = 16;
constexpr uint64_t kLayersAt = 24;
constexpr uint64_t kBucketSizeAt = 32;
constexpr uint64_t kIterationsAt = 34;
constexpr uint64_t kExpansionAt = 36;
constexpr uint64_t kCuckooHeaderBytes = 38;

// The decoded header.
struct CuckooHead {
  uint64_t size = 0;
  uint64_t erased = 0;
  uint16_t bucket_size = 0;
  uint16_t iterations = 0;
  uint16_t expansion = 0;
  std::vector<uint64_t> parts;  // the bytes of each layer
};

CuckooHead ReadCuckooHead(const RedisDump& dump) {
  if (dump.header_bytes() != kCuckooHeaderBytes) {
    dump.FailHeader(ErrorCode::kCorrupt, "header length",
                    std::min(kCuckooHeaderBytes, dump.header_bytes()),
                    detail::StrCat("is ", dump.header_bytes(), ", must be ", kCuckooHeaderBytes));
  }
  const std::vector<std::byte> header = dump.Header();
  const auto require = [&](bool good, const char* check, uint64_t at, uint64_t value,
                           const char* allowed) {
    if (good) return;
    dump.FailHeader(ErrorCode::kCorrupt, check, at,
                    detail::StrCat("is ", value, ", allowed: ", allowed));
  };
  CuckooHead head;
  const auto buckets = LoadAs<uint64_t>(header.data() + kBucketsAt);
  const auto layers = LoadAs<uint64_t>(header.data() + kLayersAt);
  const auto bucket_size = LoadAs<uint16_t>(header.data() + kBucketSizeAt);
  const auto iterations = LoadAs<uint16_t>(header.data() + kIterationsAt);
  const auto expansion = LoadAs<uint16_t>(header.data() + kExpansionAt);
  require(std::has_single_bit(buckets) && buckets <= RedisCuckooFilter::kMaxBuckets, "buckets",
          kBucketsAt, buckets, "powers of two up to 2^55");
  require(layers >= 1 && layers <= RedisCuckooFilter::kMaxLayers, "layers", kLayersAt, layers,
          "[1, 65535]");
  require(bucket_size >= 1 && bucket_size <= 255, "bucket size", kBucketSizeAt, bucket_size,
          "[1, 255]");
  require(iterations >= 1, "iterations", kIterationsAt, iterations, "[1, 65535]");
  // RedisBloom also loads other values, but never writes them.
  require(expansion <= 32768 && (expansion & (expansion - 1)) == 0, "expansion", kExpansionAt,
          expansion, "0 and powers of two up to 32768");
  require(expansion != 0 || layers == 1, "layers", kLayersAt, layers, "1 with an expansion of 0");
  uint64_t layer_buckets = buckets;
  for (uint64_t i = 0; i < layers; ++i) {
    if (i > 0) {
      require(expansion <= RedisCuckooFilter::kMaxBuckets / layer_buckets, "layers", kLayersAt,
              layers, "fewer, because the layers have more than 2^56 - 1 buckets");
      layer_buckets *= expansion;
    }
    head.parts.push_back(layer_buckets * bucket_size);
  }
  head.size = LoadAs<uint64_t>(header.data() + kCuckooSizeAt);
  head.erased = LoadAs<uint64_t>(header.data() + kErasedAt);
  head.bucket_size = bucket_size;
  head.iterations = iterations;
  head.expansion = expansion;
  return head;
}

}  // namespace

RedisCuckooFilter RedisCuckooFilter::Parse(const RedisDump& dump,
                                           const RedisCuckooLoadOptions& options) {
  const CuckooHead head = ReadCuckooHead(dump);
  dump.RequireParts(head.parts);

  RedisCuckooFilter filter(options.integers, options.max_expansions, options.memory,
                           options.backend);
  filter.bucket_size_ = head.bucket_size;
  filter.max_iterations_ = head.iterations;
  filter.expansion_ = head.expansion;
  filter.size_ = head.size;
  filter.erased_ = head.erased;
  std::vector<std::span<std::byte>> rooms;
  for (const uint64_t part : head.parts) {
    filter.layers_.push_back(filter.MakeLayer(part / head.bucket_size));
    rooms.push_back({filter.layers_.back().storage.data(), part});
  }
  dump.ReadParts(rooms);
  return filter;
}

std::vector<uint64_t> RedisCuckooFilter::PartsOfHeader(std::span<const std::byte> header) {
  const RedisChunk chunk = {1, {header.begin(), header.end()}};
  return ReadCuckooHead(RedisDump(std::span(&chunk, 1))).parts;
}

RedisCuckooFilter RedisCuckooFilter::FromChunks(std::span<const RedisChunk> chunks,
                                                const RedisCuckooLoadOptions& options) {
  return Parse(RedisDump(chunks), options);
}

RedisCuckooFilter RedisCuckooFilter::FromBytes(std::span<const std::byte> bytes,
                                               const RedisCuckooLoadOptions& options) {
  return Parse(RedisDump(bytes), options);
}

RedisCuckooFilter RedisCuckooFilter::Load(const fs::path& path,
                                          const RedisCuckooLoadOptions& options) {
  return Parse(RedisDump(path), options);
}

std::vector<std::byte> RedisCuckooFilter::Header() const {
  RequireWritable();
  std::vector<std::byte> header(kCuckooHeaderBytes);
  StoreAs(size_, header.data() + kCuckooSizeAt);
  StoreAs(layers_.front().num_buckets, header.data() + kBucketsAt);
  StoreAs(erased_, header.data() + kErasedAt);
  StoreAs(uint64_t{layers_.size()}, header.data() + kLayersAt);
  StoreAs(static_cast<uint16_t>(bucket_size_), header.data() + kBucketSizeAt);
  StoreAs(static_cast<uint16_t>(max_iterations_), header.data() + kIterationsAt);
  StoreAs(static_cast<uint16_t>(expansion_), header.data() + kExpansionAt);
  return header;
}

std::vector<std::span<const std::byte>> RedisCuckooFilter::Parts() const {
  std::vector<std::span<const std::byte>> parts;
  for (const Layer& layer : layers_) {
    parts.push_back({layer.storage.data(), layer.num_buckets * bucket_size_});
  }
  return parts;
}

uint64_t RedisCuckooFilter::serialized_bytes() const noexcept {
  uint64_t sum = detail::RedisHeaderBytes(kCuckooHeaderBytes);
  for (const Layer& layer : layers_) {
    sum += detail::RedisPartBytes(layer.num_buckets * bucket_size_);
  }
  return layers_.empty() ? 0 : sum;
}

std::vector<RedisChunk> RedisCuckooFilter::ToChunks() const {
  return detail::MakeRedisChunks(Header(), Parts());
}

void RedisCuckooFilter::Write(const ByteSink& write) const {
  detail::WriteRedisFile(Header(), Parts(), write);
}

}  // namespace tamis
