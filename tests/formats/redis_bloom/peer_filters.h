// The filters in the sources of RedisBloom, used as in its commands.
#ifndef TAMIS_TESTS_FORMATS_REDIS_BLOOM_PEER_FILTERS_H_
#define TAMIS_TESTS_FORMATS_REDIS_BLOOM_PEER_FILTERS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tamis/formats/redis_dump.h"
#include "tests/formats/redis_test_recipes.h"

// C headers of RedisBloom, with a parameter called `template`.
#include <cstdlib>

#include "bloom/bloom.h"
#include "redismodule.h"
#define template prototype
#include "sb.h"
#undef template
extern "C" {
#include "cf.h"
}

namespace tamis {

constexpr size_t kPeerChunkBytes = 16 << 20;  // MAX_SCANDUMP_SIZE

inline std::vector<std::byte> PeerBytes(const char* from, size_t n) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(from);
  return {bytes, bytes + n};
}

// BF.*
class PeerBloom {
 public:
  explicit PeerBloom(const RedisBloomRecipe& recipe) {
    int error = 0;
    chain_ = SB_NewChain(recipe.capacity, std::min(recipe.error_rate, 0.25), recipe.flags,
                         recipe.growth, &error);
  }
  // BF.LOADCHUNK of all chunks. Not ok() if RedisBloom refuses one.
  explicit PeerBloom(std::span<const RedisChunk> chunks) {
    for (const RedisChunk& chunk : chunks) {
      const char* message = nullptr;
      const auto* const bytes = reinterpret_cast<const char*>(chunk.bytes.data());
      if (chain_ == nullptr) {
        chain_ = SB_NewChainFromHeader(bytes, chunk.bytes.size(), &message);
      } else if (SBChain_LoadEncodedChunk(chain_, chunk.iterator, bytes, chunk.bytes.size(),
                                          &message) != 0) {
        SBChain_Free(chain_);
        chain_ = nullptr;
      }
      if (chain_ == nullptr) return;
    }
  }
  PeerBloom(const PeerBloom&) = delete;
  PeerBloom& operator=(const PeerBloom&) = delete;
  ~PeerBloom() { SBChain_Free(chain_); }

  bool ok() const { return chain_ != nullptr; }
  // Returns 1 for a new key, 0 for a known key, and a negative number for errors.
  int Add(std::string_view key) { return SBChain_Add(chain_, key.data(), key.size()); }
  bool Check(std::string_view key) const {
    return SBChain_Check(chain_, key.data(), key.size()) != 0;
  }
  std::vector<RedisChunk> ScanDump() const {
    std::vector<RedisChunk> chunks;
    size_t n = 0;
    char* const header = SBChain_GetEncodedHeader(chain_, &n);
    chunks.push_back({SB_CHUNKITER_INIT, PeerBytes(header, n)});
    SB_FreeEncodedHeader(header);
    long long iterator = SB_CHUNKITER_INIT;
    while (const char* chunk = SBChain_GetEncodedChunk(chain_, &iterator, &n, kPeerChunkBytes)) {
      chunks.push_back({iterator, PeerBytes(chunk, n)});
    }
    return chunks;
  }

 private:
  SBChain* chain_ = nullptr;
};

// CF.*
class PeerCuckoo {
 public:
  PeerCuckoo(const RedisCuckooRecipe& recipe, uint32_t max_expansions)
      : max_expansions_(max_expansions) {
    ok_ = CuckooFilter_Init(&filter_, recipe.capacity, recipe.bucket_size, recipe.max_iterations,
                            recipe.expansion) == 0;
  }
  // CF.LOADCHUNK of all chunks.
  PeerCuckoo(std::span<const RedisChunk> chunks, uint32_t max_expansions)
      : max_expansions_(max_expansions) {
    if (chunks.empty() || chunks.front().bytes.size() != sizeof(CFHeader)) return;
    CuckooFilter* const loaded =
        CFHeader_Load(reinterpret_cast<const CFHeader*>(chunks.front().bytes.data()));
    if (loaded == nullptr) return;
    filter_ = *loaded;
    free(loaded);
    ok_ = true;
    for (const RedisChunk& chunk : chunks.subspan(1)) {
      ok_ = ok_ && CF_LoadEncodedChunk(&filter_, chunk.iterator,
                                       reinterpret_cast<const char*>(chunk.bytes.data()),
                                       chunk.bytes.size()) == REDISMODULE_OK;
    }
  }
  PeerCuckoo(const PeerCuckoo&) = delete;
  PeerCuckoo& operator=(const PeerCuckoo&) = delete;
  ~PeerCuckoo() {
    if (filter_.filters != nullptr) CuckooFilter_Free(&filter_);
  }

  bool ok() const { return ok_; }
  bool Add(std::string_view key) {
    return !Full() && CuckooFilter_Insert(&filter_, Hash(key)) == CuckooInsert_Inserted;
  }
  bool AddNx(std::string_view key) {
    return !Full() && CuckooFilter_InsertUnique(&filter_, Hash(key)) == CuckooInsert_Inserted;
  }
  bool Del(std::string_view key) { return CuckooFilter_Delete(&filter_, Hash(key)) == 1; }
  bool Exists(std::string_view key) const { return CuckooFilter_Check(&filter_, Hash(key)) != 0; }
  uint64_t Count(std::string_view key) const { return CuckooFilter_Count(&filter_, Hash(key)); }
  void Compact() { CuckooFilter_Compact(&filter_, true); }
  // For a filter without keys, returns the chunks for the append-only file.
  std::vector<RedisChunk> ScanDump() const {
    std::vector<RedisChunk> chunks;
    const CFHeader header = fillCFHeader(&filter_);
    chunks.push_back({1, PeerBytes(reinterpret_cast<const char*>(&header), sizeof(header))});
    long long position = 1;
    size_t n = 0;
    while (const char* chunk = CF_GetEncodedChunk(&filter_, &position, &n, kPeerChunkBytes)) {
      chunks.push_back({position, PeerBytes(chunk, n)});
    }
    return chunks;
  }

 private:
  static CuckooHash Hash(std::string_view key) {
    return CUCKOO_GEN_HASH(key.data(), static_cast<int>(key.size()));
  }
  bool Full() const { return filter_.numFilters >= max_expansions_; }

  CuckooFilter filter_ = {};
  uint32_t max_expansions_;
  bool ok_ = false;
};

}  // namespace tamis

#endif  // TAMIS_TESTS_FORMATS_REDIS_BLOOM_PEER_FILTERS_H_
